/* `jaywalk doctor`: whether a profile can be believed, and what to change. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "cli/cli_doctor_internal.h"

#define CLI_ASK_TIMEOUT   (60 * JW_NS_PER_SECOND)
#define CLI_METRICS_BYTES ((size_t)256 << 10)

/* A file that is there, or is called like a recording; a number is a process. */
static bool is_file(const char *word)
{
    const size_t length = strlen(word);

    if (length > 4 && strcmp(word + length - 4, ".jfr") == 0)
        return true;
    return word[strspn(word, "0123456789")] != '\0' && access(word, F_OK) == 0;
}

static int look_at_file(struct cli_doctor *doctor, const struct cli_values *values)
{
    struct jw_error err = {{0}};

    if (cli_doctor_read(doctor, values->operands.texts[0], values->is_quiet, &err))
        return CLI_OK;
    cli_complain("%s", err.message);
    return CLI_FAILED;
}

static int ask(struct cli_doctor *doctor, const struct cli_session *session, char *text)
{
    FILE *to = fmemopen(text, CLI_METRICS_BYTES, "w");

    if (to == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    const int status = cli_session_show(session, "metrics", CLI_ASK_TIMEOUT, to);
    fclose(to);
    if (status != CLI_OK)
        return status;
    cli_doctor_metrics(doctor, text);
    if (cli_session_ask(session, "status", CLI_ASK_TIMEOUT, text, CLI_METRICS_BYTES))
        cli_doctor_status(doctor, text);
    if (doctor->is_jaywalk)
        return CLI_OK;
    cli_complain("the agent in process %s tells nothing that is understood here: is it of another "
                 "version?",
                 session->name);
    return CLI_FAILED;
}

static int look_at_process(struct cli_doctor *doctor, const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_DOCTOR];
    char *text = jw_alloc(CLI_METRICS_BYTES);
    struct attach_target target;
    struct cli_session session;
    int status;

    if (text == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    status = cli_session_open(command, values, &target, &session);
    if (status == CLI_OK) {
        doctor->input = values->operands.texts[0];
        status = ask(doctor, &session, text);
        cli_session_close(&session);
    }
    jw_free(text);
    return status;
}

static int tell(const struct cli_doctor *doctor, const struct cli_values *values)
{
    if (values->has_json)
        cli_doctor_json(doctor, stdout);
    else
        cli_doctor_text(doctor, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_complain("standard output: %s", strerror(errno));
        return CLI_FAILED;
    }
    return values->is_strict && doctor->finding_count > 0 ? CLI_FAILED : CLI_OK;
}

int cli_doctor(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_DOCTOR];
    struct jw_error err = {{0}};

    if (values->operands.count != 1) {
        jw_error_set(&err, "doctor: %s; usage: %s",
                     values->operands.count == 0 ? "a recording or a process is needed"
                                                 : "one recording or process is taken",
                     command->usage);
        return cli_usage_error(command, &err);
    }

    struct cli_doctor *doctor = jw_alloc(sizeof *doctor);
    if (doctor == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    int status = is_file(values->operands.texts[0]) ? look_at_file(doctor, values)
                                                    : look_at_process(doctor, values);
    if (status == CLI_OK) {
        cli_doctor_judge(doctor);
        status = tell(doctor, values);
    }
    jw_free(doctor);
    return status;
}
