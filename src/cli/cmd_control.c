/* start, stop, status and version: one word to the agent in a JVM. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "base/version.h"
#include "cli/cli_internal.h"

#define CLI_COMMAND_TIMEOUT (60 * JW_NS_PER_SECOND)

static int cli_simple(enum cli_command_id id, const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[id];
    struct attach_target target;
    struct cli_session session;
    int status = cli_session_open(command, values, &target, &session);

    if (status != CLI_OK)
        return status;
    status = cli_session_do(&session, command->name, CLI_COMMAND_TIMEOUT, stdout);
    cli_session_close(&session);
    return cli_end_output(status);
}

/* An action with options; `takes_text`: what is no file comes to the standard output. */
static int cli_act(enum cli_command_id id, const struct cli_values *values, bool takes_text,
                   const struct cli_ask *ask)
{
    const struct cli_command *command = &cli_commands[id];
    char string[CLI_STRING_BYTES];
    struct attach_target target;
    struct cli_session session;
    struct jw_error err = {{0}};

    /* Mistakes first, before anybody else's process is touched. */
    if (!cli_agent_command(values, ask, string, &err))
        return cli_usage_error(command, &err);

    int status = cli_session_open(command, values, &target, &session);
    if (status != CLI_OK)
        return status;

    const struct cli_ask named = {ask->action, ask->pid_text == NULL ? NULL : session.name,
                                  ask->is_quiet};
    if (!cli_check_file(&session, values, &err) || !cli_agent_command(values, &named, string, &err))
        status = cli_usage_error(command, &err);
    else if (takes_text && strstr(string, ",file=") == NULL)
        status = cli_session_show(&session, string, CLI_COMMAND_TIMEOUT, stdout);
    else
        status = cli_session_do(&session, string, CLI_COMMAND_TIMEOUT, stdout);
    cli_session_close(&session);
    return cli_end_output(status);
}

int cli_start(const struct cli_values *values)
{
    const bool is_recording =
        values->file == NULL && values->format != NULL && strcmp(values->format, "jfr") == 0;
    const struct cli_ask ask = {"start", is_recording ? "PID" : NULL, true};

    return cli_act(CLI_COMMAND_START, values, false, &ask);
}

int cli_resume(const struct cli_values *values)
{
    const struct cli_ask ask = {"resume", NULL, true};

    return cli_act(CLI_COMMAND_RESUME, values, false, &ask);
}

int cli_stop(const struct cli_values *values)
{
    const struct cli_ask ask = {"stop", NULL, false};

    return cli_act(CLI_COMMAND_STOP, values, true, &ask);
}

int cli_dump(const struct cli_values *values)
{
    const struct cli_ask ask = {"dump", NULL, false};

    return cli_act(CLI_COMMAND_DUMP, values, true, &ask);
}

int cli_metrics(const struct cli_values *values)
{
    const struct cli_ask ask = {"metrics", NULL, false};

    return cli_act(CLI_COMMAND_METRICS, values, true, &ask);
}

int cli_status(const struct cli_values *values)
{
    return cli_simple(CLI_COMMAND_STATUS, values);
}

int cli_version(const struct cli_values *values)
{
    if (values->operands.count > 0)
        return cli_simple(CLI_COMMAND_VERSION, values);
    puts("jaywalk " JAYWALK_VERSION);
    return cli_end_output(CLI_OK);
}

int cli_list_of(const struct cli_values *values)
{
    return cli_simple(CLI_COMMAND_LIST, values);
}
