/* `jaywalk safepoints`: how long safepoints were waited for, and who kept them waiting, from recordings. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_safepoints_internal.h"

#define TOP_ROWS 10

/* Nothing is told, and nothing could have been: why, and what to do. */
static bool is_told(const struct cli_safepoints *all, const char *path)
{
    const struct cli_safepoint_side *own = &all->sides[CLI_SAFEPOINTS_OF_JAYWALK];
    const struct cli_safepoint_side *jvm = &all->sides[CLI_SAFEPOINTS_OF_JVM];

    if (own->count + jvm->count > 0 || jvm->is_told || all->threshold_ns > 0)
        return true;
    if (strncmp(all->off, "off:", 4) == 0)
        cli_complain("%s: safepoints were not watched: %s", path, all->off + 4);
    else if (all->is_jaywalk)
        cli_complain("%s: safepoints were not watched; start jaywalk with --ttsp (ttsp in the "
                     "agent's options)",
                     path);
    else
        cli_complain("%s: it holds nothing of safepoints; jaywalk tells of them with --ttsp, the "
                     "JVM's own recorder with jdk.SafepointBegin",
                     path);
    return false;
}

static int tell(struct cli_safepoints *all, const struct cli_values *values, size_t top)
{
    cli_safepoints_order(all);
    if (!(values->has_json ? cli_safepoints_json(all, stdout)
                           : cli_safepoints_text(all, top, stdout))) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    return cli_end_output(CLI_OK);
}

/* What could be read of a damaged file is told, and the status says that it is not all. */
static int look(struct cli_safepoints *all, const struct cli_values *values, struct cli_part *part,
                size_t top)
{
    int status = CLI_OK;

    cli_part_tell(part, all->part, sizeof all->part);

    for (size_t i = 0; i < values->operands.count && !all->is_out_of_memory; i++) {
        struct jw_error err = {{0}};

        if (cli_safepoints_read(all, values->operands.texts[i], part, values->is_quiet, &err))
            continue;
        cli_complain("%s", err.message);
        status = CLI_FAILED;
    }
    if (all->is_out_of_memory)
        return CLI_FAILED;
    const bool has_any = all->sides[0].count + all->sides[1].count > 0;
    if (status != CLI_OK && !has_any)
        return status;
    if (!is_told(all, values->operands.texts[0]))
        return CLI_FAILED;
    return tell(all, values, top) == CLI_OK ? status : CLI_FAILED;
}

int cli_safepoints(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_SAFEPOINTS];
    struct cli_safepoints *all = jw_alloc(sizeof *all);
    struct cli_part *part = jw_alloc(sizeof *part);
    struct jw_error err = {{0}};
    size_t top = TOP_ROWS;
    int status;

    if (all == NULL || part == NULL) {
        cli_complain("no memory");
        jw_free(all);
        jw_free(part);
        return CLI_FAILED;
    }
    if (values->operands.count == 0) {
        jw_error_set(&err, "safepoints: a recording is needed; usage: %s", command->usage);
        status = cli_usage_error(command, &err);
    } else if (!cli_part_read(values, part, &err) ||
               (values->top != NULL && !cli_top_read(values->top, &top, &err))) {
        status = cli_usage_error(command, &err);
    } else {
        status = look(all, values, part, top);
    }
    cli_safepoints_close(all);
    jw_free(all);
    jw_free(part);
    return status;
}
