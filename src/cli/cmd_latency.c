/* `jaywalk latency`: how long calls of methods and requests took. Context: tool. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cli_latency_internal.h"

#define ROWS 20u

static bool read_line(const struct cli_values *values, struct latency_wish *wish,
                      struct jw_error *err)
{
    if (values->operands.count == 0) {
        jw_error_set(err,
                     "latency: a recording with times or counts is needed (options time, count, "
                     "endpoints, trace, queue and event=new: "
                     "of start, profile and record); usage: %s",
                     cli_commands[CLI_COMMAND_LATENCY].usage);
        return false;
    }
    if (!cli_part_read(values, wish->part, err) || !cli_bys_read(values, false, &wish->bys, err) ||
        (values->top != NULL && !cli_top_read(values->top, &wish->top, err)))
        return false;
    cli_part_tell(wish->part, wish->words, sizeof wish->words);
    wish->is_quiet = values->is_quiet;
    return true;
}

static bool read_all(const struct cli_values *values, struct latency *all,
                     const struct latency_wish *wish, struct jw_error *err)
{
    const char *const first = values->operands.texts[0];

    for (size_t i = 0; i < values->operands.count; i++)
        if (!latency_read(all, values->operands.texts[i], wish, err))
            return false;
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i]->all.count != 0)
            return true;
    if (all->unwanted == 0 && !all->has_sums) {
        jw_error_set(err,
                     "%s: no times or counts of methods, requests, tasks or objects: record with "
                     "the option time, count, "
                     "endpoints, trace, queue or event=new: (jaywalk -d 60 "
                     "--time='com.acme.Shop.*' PID)",
                     first);
        return false;
    }
    jw_error_set(err,
                 "%s: of %" PRIu64
                 " calls, requests and tasks none is of the part that was asked for: %s%s",
                 first, all->unwanted, wish->words,
                 all->has_sums ? "; what time=, count= and event=new: count has no parts" : "");
    if (!values->is_quiet)
        cli_tell_idle_part(first, wish->part);
    return false;
}

/* Something that was recorded one by one. */
static bool has_single(const struct latency *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (latency_is_single(all->rows[i]->kind) && all->rows[i]->all.count != 0)
            return true;
    return false;
}

static int show(const struct cli_values *values, struct latency *all, struct latency_wish *wish)
{
    struct jw_error err = {{0}};

    if (!read_line(values, wish, &err))
        return cli_usage_error(&cli_commands[CLI_COMMAND_LATENCY], &err);
    if (!read_all(values, all, wish, &err)) {
        cli_complain("%s", err.message);
        return CLI_FAILED;
    }
    if (values->has_json)
        latency_json(all, wish, stdout);
    else
        latency_text(all, wish, stdout);
    const int status = cli_end_output(CLI_OK);
    if (values->is_quiet)
        return status;
    cli_tell_idle_part(values->operands.texts[0], wish->part);
    if (wish->bys.count > 0 && !has_single(all))
        cli_complain(
            "%s: nothing to take apart by --by=%s: calls, requests and tasks are recorded one by "
            "one with the options trace, endpoints and queue; of time and count there is a sum "
            "for each method",
            values->operands.texts[0], wish->bys.items[0].name);
    return status;
}

int cli_latency(const struct cli_values *values)
{
    struct latency all = {0};
    struct latency_wish wish = {.part = jw_alloc(sizeof *wish.part), .top = ROWS};
    int status = CLI_FAILED;

    if (wish.part == NULL)
        cli_complain("no memory");
    else
        status = show(values, &all, &wish);
    latency_close(&all);
    jw_free(wish.part);
    return status;
}
