/* `jaywalk locks`: where locks are taken never, by one thread only, or after a wait. Context: tool. */
#include <stdio.h>

#include "cli/cli_locks_internal.h"

#define ROWS 10u

static bool read_line(const struct cli_values *values, size_t *top, struct jw_error *err)
{
    if (values->operands.count == 0) {
        jw_error_set(err,
                     "locks: a recording with a census of locks is needed (option locks=census of "
                     "start, profile and record); usage: %s",
                     cli_commands[CLI_COMMAND_LOCKS].usage);
        return false;
    }
    return values->top == NULL || cli_top_read(values->top, top, err);
}

static bool read_all(const struct cli_values *values, struct locks *all, struct jw_error *err)
{
    for (size_t i = 0; i < values->operands.count; i++) {
        const size_t before = all->count;

        if (!locks_read(all, values->operands.texts[i], values->is_quiet, err))
            return false;
        if (all->count > before)
            continue;
        jw_error_set(err,
                     "%s: no census of locks: record with the option locks=census (jaywalk -d 60 "
                     "--locks=census -f app.jfr PID), and let it end, or dump it while it runs",
                     values->operands.texts[i]);
        return false;
    }
    if (!locks_settle(all))
        jw_error_set(err, "no memory for who waited for whom");
    return err->message[0] == '\0';
}

int cli_locks(const struct cli_values *values)
{
    struct jw_error err = {{0}};
    struct locks *all = jw_alloc(sizeof *all);
    size_t top = ROWS;
    int status = CLI_FAILED;

    if (all == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    if (!read_line(values, &top, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_LOCKS], &err);
    } else if (read_all(values, all, &err)) {
        if (values->has_json)
            locks_json(all, stdout);
        else
            locks_text(all, top, stdout);
        status = cli_end_output(CLI_OK);
    } else {
        cli_complain("%s", err.message);
    }
    locks_close(all);
    jw_free(all);
    return status;
}
