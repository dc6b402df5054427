/* `jaywalk leaks`: what of the heap grew from one set of live objects to another, and where it was allocated. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_leaks_internal.h"
#include "options/options_value.h"

#define ROWS 10u

static bool read_line(const struct cli_values *values, struct leaks *leaks, struct leaks_look *look,
                      struct jw_error *err)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_LEAKS];

    look->top = ROWS;
    leaks->least_pauses = 1;
    if (values->operands.count == 0 || values->operands.count > 2) {
        jw_error_set(err, "leaks: %s; usage: %s",
                     values->operands.count == 0
                         ? "a recording with live objects is needed (option live of start, profile "
                           "and record)"
                         : "two recordings at most, the one before and the one after",
                     command->usage);
        return false;
    }
    if (values->age != NULL) {
        const enum options_value_status status =
            options_value_count(values->age, strlen(values->age), &leaks->least_pauses);

        if (status != OPTIONS_VALUE_OK) {
            jw_error_set(err,
                         "--age: '%.100s' %s; give a number of pauses of the collector, such as 3",
                         values->age, options_value_status_text(status));
            return false;
        }
    }
    return values->top == NULL || cli_top_read(values->top, &look->top, err);
}

/* Of one file both; of two the last set of each. */
static bool read_sets(const struct cli_values *values, struct leaks *leaks, struct leaks_look *look,
                      struct jw_error *err)
{
    const char *const *paths = values->operands.texts;
    struct leaks_sets sets[LEAKS_SIDES];
    const size_t count = values->operands.count;

    for (size_t i = 0; i < count; i++) {
        if (!leaks_find_sets(paths[i], &sets[i], values->is_quiet, err))
            return false;
    }
    if (count == 2) {
        look->paths[LEAKS_BEFORE] = paths[0];
        look->paths[LEAKS_AFTER] = paths[1];
        return leaks_read(leaks, LEAKS_BEFORE, paths[0], sets[0].last_ns, values->is_quiet, err) &&
               leaks_read(leaks, LEAKS_AFTER, paths[1], sets[1].last_ns, values->is_quiet, err);
    }
    look->paths[LEAKS_AFTER] = paths[0];
    if (sets[0].count > 1) {
        look->paths[LEAKS_BEFORE] = paths[0];
        if (!leaks_read(leaks, LEAKS_BEFORE, paths[0], sets[0].first_ns, values->is_quiet, err))
            return false;
    }
    return leaks_read(leaks, LEAKS_AFTER, paths[0], sets[0].last_ns, values->is_quiet, err);
}

static bool has_objects(const struct leaks *leaks, const struct leaks_look *look,
                        enum leaks_side side, struct jw_error *err)
{
    if (look->paths[side] == NULL || leaks->all[side].samples + leaks->young[side].samples > 0)
        return true;
    jw_error_set(err,
                 "%s: no live objects: record with the option live (jaywalk -d 60 --live=8192 "
                 "PID), on JDK 11 or later, and let it end, or dump it while it runs",
                 look->paths[side]);
    return false;
}

int cli_leaks(const struct cli_values *values)
{
    struct jw_error err = {{0}};
    struct leaks *leaks = jw_alloc(sizeof *leaks);
    struct leaks_look look = {.top = ROWS};
    int status = CLI_FAILED;

    if (leaks == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    if (!read_line(values, leaks, &look, &err)) {
        status = cli_usage_error(&cli_commands[CLI_COMMAND_LEAKS], &err);
    } else if (read_sets(values, leaks, &look, &err) &&
               has_objects(leaks, &look, LEAKS_AFTER, &err)) {
        leaks_settle(leaks);
        if (values->has_json)
            leaks_json(leaks, &look, stdout);
        else
            leaks_text(leaks, &look, stdout);
        status = cli_end_output(CLI_OK);
    } else {
        cli_complain("%s", err.message);
    }
    leaks_close(leaks);
    jw_free(leaks);
    return status;
}
