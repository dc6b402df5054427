/* `jaywalk latency`: how long calls of methods and requests took. Context: tool. */
#include <stdio.h>

#include "cli/cli_latency_internal.h"

#define ROWS 20u

static bool read_line(const struct cli_values *values, size_t *top, struct jw_error *err)
{
    if (values->operands.count == 0) {
        jw_error_set(err,
                     "latency: a recording with times or counts is needed (options time, count, "
                     "endpoints, trace and queue "
                     "of start, profile and record); usage: %s",
                     cli_commands[CLI_COMMAND_LATENCY].usage);
        return false;
    }
    return values->top == NULL || cli_top_read(values->top, top, err);
}

static bool read_all(const struct cli_values *values, struct latency *all, struct jw_error *err)
{
    for (size_t i = 0; i < values->operands.count; i++)
        if (!latency_read(all, values->operands.texts[i], err))
            return false;
    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i]->all.count != 0)
            return true;
    jw_error_set(
        err,
        "%s: no times or counts of methods, requests or tasks: record with the option time, count, "
        "endpoints, trace or queue (jaywalk -d 60 "
        "--time='com.acme.Shop.*' PID)",
        values->operands.texts[0]);
    return false;
}

int cli_latency(const struct cli_values *values)
{
    struct latency all = {0};
    struct jw_error err = {{0}};
    size_t top = ROWS;
    int status = CLI_FAILED;

    if (!read_line(values, &top, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_LATENCY], &err);
    } else if (read_all(values, &all, &err)) {
        if (values->has_json)
            latency_json(&all, top, stdout);
        else
            latency_text(&all, top, stdout);
        status = cli_end_output(CLI_OK);
    } else {
        cli_complain("%s", err.message);
    }
    latency_close(&all);
    return status;
}
