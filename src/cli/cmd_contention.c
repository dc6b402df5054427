/* `jaywalk contention`: who waited for which locks, and for whom. Context: tool. */
#include <stdio.h>

#include "cli/cli_contention_internal.h"

#define ROWS 10u

static bool read_line(const struct cli_values *values, struct contention_look *look,
                      struct jw_error *err)
{
    if (values->operands.count == 0) {
        jw_error_set(err,
                     "contention: a recording with waits for locks is needed (option lock of "
                     "start, profile and record); usage: %s",
                     cli_commands[CLI_COMMAND_CONTENTION].usage);
        return false;
    }
    return values->top == NULL || cli_top_read(values->top, &look->top, err);
}

static bool read_all(const struct cli_values *values, struct contention *all, struct jw_error *err)
{
    for (size_t i = 0; i < values->operands.count; i++)
        if (!contention_read(all, values->operands.texts[i], err))
            return false;
    if (all->wait_count + all->deadlocked_count > 0) {
        if (contention_settle(all))
            return true;
        jw_error_set(err, "no memory");
        return false;
    }
    jw_error_set(err,
                 "%s: no waits for locks: record with the option lock (jaywalk -d 60 --lock=10us "
                 "PID)",
                 values->operands.texts[0]);
    return false;
}

int cli_contention(const struct cli_values *values)
{
    struct jw_error err = {{0}};
    struct contention *all = jw_alloc(sizeof *all);
    struct contention_look look = {.top = ROWS};
    int status = CLI_FAILED;

    if (all == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    if (!read_line(values, &look, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_CONTENTION], &err);
    } else if (read_all(values, all, &err)) {
        if (values->has_json)
            contention_json(all, &look, stdout);
        else
            contention_text(all, &look, stdout);
        status = cli_end_output(CLI_OK);
    } else {
        cli_complain("%s", err.message);
    }
    contention_close(all);
    jw_free(all);
    return status;
}
