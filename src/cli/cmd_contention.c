/* `jaywalk contention`: who waited for which locks, and for whom. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_contention_internal.h"

#define ROWS 10u

static bool read_instance(const char *text, uint32_t *only, struct jw_error *err)
{
    char *end;

    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number > 0 &&
        number <= UINT32_MAX) {
        *only = (uint32_t)number;
        return true;
    }
    jw_error_set(
        err, "--instance: '%.100s' is no number of an object; the table By object has them", text);
    return false;
}

static bool read_line(const struct cli_values *values, struct contention *all,
                      struct contention_look *look, struct cli_part *part, struct jw_error *err)
{
    if (values->operands.count == 0) {
        jw_error_set(err,
                     "contention: a recording with waits for locks is needed (option lock of "
                     "start, profile and record); usage: %s",
                     cli_commands[CLI_COMMAND_CONTENTION].usage);
        return false;
    }
    return cli_part_read(values, part, err) &&
           (values->instance == NULL || read_instance(values->instance, &all->only, err)) &&
           (values->top == NULL || cli_top_read(values->top, &look->top, err));
}

#define WORDS_BYTES 512u

static void tell_part(const struct cli_part *part, uint32_t only, char words[WORDS_BYTES])
{
    cli_part_tell(part, words, WORDS_BYTES);
    const size_t used = strlen(words);

    if (only != 0)
        snprintf(words + used, WORDS_BYTES - used, "%sobject #%u", used == 0 ? "" : ", ", only);
}

/* Recorded, and nobody had to wait; or not recorded. */
static void complain_of_none(const struct contention *all, const char *path, struct jw_error *err)
{
    char threshold[CONTENTION_WORD_BYTES];

    if (all->threshold_ns <= 0) {
        jw_error_set(err,
                     "%s: no waits for locks: record with the option lock (jaywalk -d 60 "
                     "--lock=10us PID)",
                     path);
        return;
    }
    contention_time(all->threshold_ns, threshold);
    jw_error_set(err, "%s: no waits for locks: it was recorded with lock, and none took %s", path,
                 threshold);
}

static bool read_all(const struct cli_values *values, struct contention *all, struct cli_part *part,
                     struct jw_error *err)
{
    char filters[512];

    cli_filters_tell(values, filters, sizeof filters);
    for (size_t i = 0; i < values->operands.count; i++)
        if (!contention_read(all, values->operands.texts[i], part, values->is_quiet, err))
            return false;
    if (all->wait_count + all->deadlocked_count == 0) {
        complain_of_none(all, values->operands.texts[0], err);
        return false;
    }
    if (!contention_settle(all)) {
        jw_error_set(err, "no memory");
        return false;
    }
    if (all->unwanted < all->wait_count || all->deadlocked_count > 0)
        return true;
    jw_error_set(err, "%s: the filters left nothing of %zu waits of that time:%s",
                 values->operands.texts[0], all->wait_count, filters);
    if (!values->is_quiet)
        cli_tell_idle_part(values->operands.texts[0], part);
    return false;
}

int cli_contention(const struct cli_values *values)
{
    struct jw_error err = {{0}};
    struct contention *all = jw_alloc(sizeof *all);
    char words[WORDS_BYTES] = "";
    struct contention_look look = {.top = ROWS, .part = words};
    struct cli_part *part = jw_alloc(sizeof *part);
    int status = CLI_FAILED;

    if (all == NULL || part == NULL) {
        cli_complain("no memory");
        jw_free(all);
        jw_free(part);
        return CLI_FAILED;
    }
    if (!read_line(values, all, &look, part, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_CONTENTION], &err);
    } else if (read_all(values, all, part, &err)) {
        tell_part(part, all->only, words);
        if (values->has_json)
            contention_json(all, &look, stdout);
        else
            contention_text(all, &look, stdout);
        status = cli_end_output(CLI_OK);
        if (!values->is_quiet)
            cli_tell_idle_part(values->operands.texts[0], part);
    } else {
        cli_complain("%s", err.message);
    }
    contention_close(all);
    jw_free(all);
    jw_free(part);
    return status;
}
