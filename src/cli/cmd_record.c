/*
 * record: run a Java program under the agent. Context: tool.
 *
 * The agent goes in as an option right behind the launcher's name. A variable (JAVA_TOOL_OPTIONS) would
 * reach every JVM that the program starts in turn, all of them writing to one file, and has each of them say
 * so. The command gives way to the program, whose status, signals and terminal are its own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_internal.h"

static bool cli_is_launcher(const char *word)
{
    const char *slash = strrchr(word, '/');

    return strcmp(slash == NULL ? word : slash + 1, "java") == 0;
}

static size_t cli_count(char *const *words)
{
    size_t count = 0;

    while (words[count] != NULL)
        count++;
    return count;
}

static int cli_execute(char **words, char *agent)
{
    const size_t count = cli_count(words);
    char **arguments = jw_alloc(jw_mul_bytes(count + 2, sizeof *arguments));

    if (arguments == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    arguments[0] = words[0];
    arguments[1] = agent;
    for (size_t i = 1; i < count; i++)
        arguments[i + 1] = words[i];
    execvp(words[0], arguments);
    cli_complain("%s: %s", words[0], strerror(errno));
    jw_free(arguments);
    return CLI_FAILED;
}

int cli_record(const struct cli_values *values)
{
    static const char flag[] = "-agentpath:";
    const struct cli_command *command = &cli_commands[CLI_COMMAND_RECORD];
    char agent[sizeof flag + CLI_PATH_BYTES + CLI_STRING_BYTES];
    char library[CLI_PATH_BYTES], string[CLI_STRING_BYTES];
    struct jw_error err = {{0}};

    if (values->words == NULL || values->words[0] == NULL) {
        jw_error_set(&err, "record: which program? Usage: %s", command->usage);
        return cli_usage_error(command, &err);
    }
    if (!cli_library(values, library, &err) || !cli_agent_string(values, "%p", false, string, &err))
        return cli_usage_error(command, &err);
    if (strchr(library, '=') != NULL) {
        jw_error_set(&err, "%.300s: a JVM cannot load a library whose path holds =; move it",
                     library);
        return cli_usage_error(command, &err);
    }
    snprintf(agent, sizeof agent, "%s%s=%s", flag, library, string);
    if (!cli_is_launcher(values->words[0])) {
        jw_error_set(
            &err,
            "record: '%.100s' is not java; for a script that calls java, set JAVA_TOOL_OPTIONS to "
            "-agentpath:%.200s=start,file=profile-%%p.jfr in its environment",
            values->words[0], library);
        return cli_usage_error(command, &err);
    }
    return cli_execute(values->words, agent);
}
