/* attach, list and detach of `jaywalk probe`: one line to the agent in a JVM each. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "cli/cli_probe_internal.h"

/* Classes are written anew in small pieces, and a detach waits for threads that are inside. */
#define TIMEOUT_NS (300 * JW_NS_PER_SECOND)
#define LIST_BYTES ((size_t)1 << 20)

static int find_jvm(const struct cli_values *values, struct attach_target *target,
                    struct cli_session *session)
{
    struct cli_values one = *values;

    one.operands = (struct cli_operand_list){.texts = values->operands.texts + 1, .count = 1};
    return cli_session_find(&cli_commands[CLI_COMMAND_PROBE], &one, target, session);
}

/* The agent's string ends a value at a comma. */
static bool has_comma(const char *what, const char *text)
{
    if (strchr(text, ',') == NULL)
        return false;
    cli_complain("%s %s: a comma ends a value of the agent; give it another name", what, text);
    return true;
}

/* `asked`: the agent string, but for options that the user gave. */
static int tell_agent(const struct cli_values *values, struct cli_session *session,
                      const char *asked)
{
    const struct cli_ask ask = {.action = asked};
    struct jw_error err = {{0}};
    char string[CLI_STRING_BYTES];

    if (!cli_agent_command(values, &ask, string, &err))
        return cli_usage_error(&cli_commands[CLI_COMMAND_PROBE], &err);

    int status = cli_session_enter(values, session);

    if (status == CLI_OK)
        status = cli_session_watch(session, string, TIMEOUT_NS, values->is_quiet, stdout);
    return status;
}

/*
 * A file as the process finds it: `path` is absolute there. `ours` is where we find the same file; a process in a container has files
 * of its own. `what`: "probe" or "rules"
 */
static bool find_file(const char *what, const char *file, const struct attach_target *target,
                      char *path, char *ours)
{
    if (target->has_own_files) {
        if (file[0] != '/') {
            cli_complain("process %d has a file system of its own (a container): put the %s in "
                         "there and give its absolute path, such as /tmp/%s",
                         target->pid, what, what[0] == 'p' ? "probe.jar" : "shop.rules");
            return false;
        }
        snprintf(path, CLI_PATH_BYTES, "%s", file);
        snprintf(ours, CLI_PATH_BYTES, "%s/root%s", target->place, file);
        return true;
    }
    if (realpath(file, path) == NULL) {
        cli_complain("%s: cannot be opened: %s", file, strerror(errno));
        return false;
    }
    snprintf(ours, CLI_PATH_BYTES, "%s", path);
    return !has_comma(what, path);
}

/* What cannot be is told before anybody else's process is touched. */
static bool is_probe(const char *path, const char *rules)
{
    struct probe *probe = cli_probe_read(path);
    struct probe_replaced replaced;
    const bool is_one = probe != NULL && cli_probe_replace(probe, rules, &replaced);

    probe_close(probe);
    return is_one;
}

/* The agent string, for files as the process finds them. False: it was told why not. */
static bool write_attach(const struct cli_values *values, const struct attach_target *target,
                         char string[CLI_STRING_BYTES])
{
    char path[CLI_PATH_BYTES], ours[CLI_PATH_BYTES];
    char rules_path[CLI_PATH_BYTES], our_rules[CLI_PATH_BYTES];
    const bool has_rules = values->rules != NULL;

    if (!find_file("probe", values->operands.texts[2], target, path, ours) ||
        (has_rules && !find_file("rules", values->rules, target, rules_path, our_rules)) ||
        !is_probe(ours, has_rules ? our_rules : NULL))
        return false;
    snprintf(string, CLI_STRING_BYTES, "probe-attach,probe=%s%s%s", path,
             has_rules ? ",rules=" : "", has_rules ? rules_path : "");
    return true;
}

int cli_probe_attach(const struct cli_values *values)
{
    char string[CLI_STRING_BYTES];
    struct attach_target target;
    struct cli_session session;
    int status = find_jvm(values, &target, &session);

    if (status != CLI_OK)
        return status;
    status =
        write_attach(values, &target, string) ? tell_agent(values, &session, string) : CLI_FAILED;
    cli_session_close(&session);
    return status;
}

int cli_probe_detach(const struct cli_values *values)
{
    const char *name = values->operands.texts[2];
    char string[CLI_STRING_BYTES];
    struct attach_target target;
    struct cli_session session;

    if (has_comma("probe", name))
        return CLI_FAILED;

    int status = find_jvm(values, &target, &session);
    if (status != CLI_OK)
        return status;
    snprintf(string, sizeof string, "probe-detach,name=%.1000s", name);
    status = tell_agent(values, &session, string);
    cli_session_close(&session);
    return status;
}

/* The answer into `text`; the status for the shell. */
static int fetch(const struct cli_session *session, char *text, size_t room_bytes)
{
    FILE *to = fmemopen(text, room_bytes, "w");

    if (to == NULL) {
        cli_complain("no memory for the agent's answer");
        return CLI_FAILED;
    }
    const int status = cli_session_show(session, "probe-list", TIMEOUT_NS, to);
    if (fclose(to) == 0)
        return status;
    cli_complain("the agent's answer is longer than %zu bytes", room_bytes);
    return CLI_FAILED;
}

static int show_list(const struct cli_session *session)
{
    struct jw_error err = {{0}};
    char *text = jw_alloc(LIST_BYTES);

    if (text == NULL) {
        cli_complain("no memory for the agent's answer");
        return CLI_FAILED;
    }
    int status = fetch(session, text, LIST_BYTES);
    if (status == CLI_OK && !cli_probe_put_list(text, stdout, &err)) {
        cli_complain("%s", err.message);
        status = CLI_FAILED;
    }
    jw_free(text);
    return status;
}

int cli_probe_list(const struct cli_values *values)
{
    struct attach_target target;
    struct cli_session session;
    int status = find_jvm(values, &target, &session);

    if (status != CLI_OK)
        return status;
    status = cli_session_enter(values, &session);
    if (status == CLI_OK)
        status = values->has_json ? cli_session_show(&session, "probe-list", TIMEOUT_NS, stdout)
                                  : show_list(&session);
    cli_session_close(&session);
    return status;
}
