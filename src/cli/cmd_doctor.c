/* `jaywalk doctor`: whether a profile can be believed, and what to change. Context: tool. */
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

static int look_at_file(struct cli_doctor *doctor, const struct cli_values *values, size_t nth)
{
    struct jw_error err = {{0}};

    if (cli_doctor_read(doctor, values->operands.texts[nth], values->is_quiet, &err))
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
    return cli_end_output(values->is_strict && doctor->finding_count > 0 ? CLI_FAILED : CLI_OK);
}

static int look_at_one(struct cli_doctor *doctor, const struct cli_values *values)
{
    int status = is_file(values->operands.texts[0]) ? look_at_file(doctor, values, 0)
                                                    : look_at_process(doctor, values);

    if (status != CLI_OK)
        return status;
    cli_doctor_judge(doctor);
    return tell(doctor, values);
}

/* The verdict on each, then figures by JDK. One that cannot be read is complained of, and the others are told. */
static int look_at_several(struct cli_doctor *doctor, const struct cli_values *values)
{
    struct cli_doctor_jdks jdks = {.count = 0};
    bool is_first = true;
    int status = CLI_OK;

    if (values->has_json)
        cli_doctor_json_begin(stdout);
    for (size_t i = 0; i < values->operands.count; i++) {
        memset(doctor, 0, sizeof *doctor);
        if (look_at_file(doctor, values, i) != CLI_OK) {
            status = CLI_FAILED;
            continue;
        }
        cli_doctor_judge(doctor);
        cli_doctor_jdks_add(&jdks, &doctor->jdks);
        if (values->has_json)
            cli_doctor_json_next(doctor, is_first, stdout);
        else
            cli_doctor_verdict_text(doctor, stdout);
        is_first = false;
        if (values->is_strict && doctor->finding_count > 0)
            status = CLI_FAILED;
    }
    if (values->has_json)
        cli_doctor_json_end(&jdks, stdout);
    else if (jdks.count > 0) {
        cli_doctor_jdks_text(&jdks, stdout);
        fputs("\n'jaywalk doctor FILE' shows the page of one recording.\n", stdout);
    }
    return cli_end_output(status);
}

/* Several are taken of recordings alone. */
static bool are_operands_right(const struct cli_values *values, struct jw_error *err)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_DOCTOR];

    if (values->operands.count == 0) {
        jw_error_set(err, "doctor: a recording or a process is needed; usage: %s", command->usage);
        return false;
    }
    for (size_t i = 0; values->operands.count > 1 && i < values->operands.count; i++) {
        if (is_file(values->operands.texts[i]))
            continue;
        jw_error_set(err,
                     "doctor: %s is no recording that is there, and processes are asked one at a "
                     "time; usage: %s",
                     values->operands.texts[i], command->usage);
        return false;
    }
    return true;
}

int cli_doctor(const struct cli_values *values)
{
    struct jw_error err = {{0}};

    if (!are_operands_right(values, &err))
        return cli_usage_error(&cli_commands[CLI_COMMAND_DOCTOR], &err);

    struct cli_doctor *doctor = jw_alloc(sizeof *doctor);
    if (doctor == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    const int status =
        values->operands.count == 1 ? look_at_one(doctor, values) : look_at_several(doctor, values);
    jw_free(doctor);
    return status;
}
