/* jps and list: what there is to profile, and by what. Context: tool. */
#include <stdio.h>

#include "attach/attach.h"
#include "cli/cli_internal.h"
#include "options/options.h"

static int cli_refuse_operands(enum cli_command_id id, const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[id];
    struct jw_error err = {{0}};

    if (values->operands.count == 0)
        return CLI_OK;
    jw_error_set(&err, "%s: '%.100s' is too much; usage: %s", command->name,
                 values->operands.texts[0], command->usage);
    return cli_usage_error(command, &err);
}

static void cli_print_jvm(int pid, const char *name, void *argument)
{
    size_t *count = argument;

    (*count)++;
    printf("%d ", pid);
    cli_put(name, stdout);
    putchar('\n');
}

int cli_jps(const struct cli_values *values)
{
    const int status = cli_refuse_operands(CLI_COMMAND_JPS, values);

    if (status != CLI_OK)
        return status;
    struct jw_error err = {{0}};
    size_t count = 0, foreign_count;
    const bool is_whole = attach_each("/proc", cli_print_jvm, &count, &foreign_count, &err);
    const int flushed = cli_end_output(CLI_OK);
    if (!is_whole) {
        cli_complain("%s", err.message);
        return CLI_FAILED;
    }
    if (count == 0 && foreign_count > 0)
        cli_complain("no JVM that this user can see; %zu processes may be looked at by root or "
                     "their own user alone",
                     foreign_count);
    return flushed;
}

int cli_list_events(const struct cli_values *values)
{
    if (values->operands.count > 0)
        return cli_list_of(values);
    puts("Basic events:");
    for (uint64_t event = 0; event < OPTIONS_EVENT_PERF; event++)
        printf("  %s\n", options_event_name(event));
    puts("Counters, where the machine has them and the user may; 'jaywalk list PID' says which:");
    for (size_t i = 0; jw_perf_at(i) != NULL; i++)
        printf("  %-24s %s\n", jw_perf_at(i)->name, jw_perf_at(i)->text);
    puts("  rNNNN                    an event of the processor by its number, in hexadecimal\n"
         "  sched:sched_switch       a tracepoint of the kernel\n"
         "  kprobe:FUNCTION          a function of the kernel; kretprobe: on return\n"
         "  uprobe:/FILE:FUNCTION    a function of a library, or +0xOFFSET; uretprobe: on return\n"
         "  FUNCTION                 the same, of whichever library of the process has it");
    puts(
        "Methods, exceptions and objects of Java:\n"
        "  CLASS.METHOD             calls, also of those that match: com.acme.*.find*\n"
        "  exception[:CLASS]        exceptions: all, or of a class and what extends it; or "
        "com.acme.**\n"
        "  new:CLASS                objects of a class, or arrays (byte[]), that the application's "
        "code makes; or com.acme.**");
    return cli_end_output(CLI_OK);
}
