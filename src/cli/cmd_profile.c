/* profile: attach, sample for a while, write. Context: tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "cli/cli_internal.h"
#include "options/options.h"
#include "options/options_value.h"

#define CLI_DURATION_NS   (60 * JW_NS_PER_SECOND)
#define CLI_START_TIMEOUT (60 * JW_NS_PER_SECOND)
#define CLI_STOP_TIMEOUT  (60 * JW_NS_PER_SECOND)
#define CLI_SPARE_NS      (90 * JW_NS_PER_SECOND)
#define CLI_STEP_NS       (100 * JW_NS_PER_MS)

/* Questions for the progress line. */
#define CLI_ASK_FIRST_NS   (2 * JW_NS_PER_SECOND)
#define CLI_ASK_OFTEN_NS   (60 * JW_NS_PER_SECOND)
#define CLI_ASK_LATER_NS   (10 * JW_NS_PER_SECOND)
#define CLI_ASK_TIMEOUT_NS JW_NS_PER_SECOND

static bool cli_duration(const char *text, uint64_t *duration_ns, struct jw_error *err)
{
    *duration_ns = CLI_DURATION_NS;
    if (text == NULL)
        return true;

    const enum options_value_status status = options_value_period(text, strlen(text), duration_ns);
    if (status == OPTIONS_VALUE_OK && *duration_ns > 0 &&
        *duration_ns <= 30 * 86400 * JW_NS_PER_SECOND)
        return true;
    jw_error_set(
        err,
        "--duration: '%.100s' %s; allowed: a whole number with s, m, h or d after it (else "
        "seconds), from 1s to 30d; example: -d 30",
        text,
        status != OPTIONS_VALUE_OK ? options_value_status_text(status)
        : *duration_ns == 0        ? "is zero"
                                   : "is too large");
    return false;
}

/* A number in front of this word in a text. */
static bool cli_number_before(const char *text, const char *word, unsigned long long *number)
{
    const char *at = strstr(text, word);

    if (at == NULL || at == text || at[-1] < '0' || at[-1] > '9')
        return false;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    *number = strtoull(at, NULL, 10);
    return true;
}

void cli_progress_of_status(const char *status, char *text, size_t room)
{
    unsigned long long samples, lost;

    text[0] = '\0';
    if (!cli_number_before(status, " samples", &samples))
        return;
    if (cli_number_before(status, " lost", &lost) && lost > 0)
        snprintf(text, room, ", %llu samples, %llu lost", samples, lost);
    else
        snprintf(text, room, ", %llu samples", samples);
}

/* The progress line, where somebody watches. Each question to the agent wakes a thread of the JVM and leaves
 * some 200 bytes in its list of agents, so they become rarer. */
struct cli_watch {
    bool is_watched;
    uint64_t asked_ns; /* since the beginning */
    char samples[80];
};

static void cli_watch_ask(const struct cli_session *session, struct cli_watch *watch,
                          uint64_t passed_ns)
{
    const uint64_t pause_ns = passed_ns < CLI_ASK_OFTEN_NS ? CLI_ASK_FIRST_NS : CLI_ASK_LATER_NS;
    char text[ATTACH_TEXT_BYTES + 1];

    if (passed_ns - watch->asked_ns < pause_ns)
        return;
    watch->asked_ns = passed_ns;
    if (cli_session_ask(session, "status", CLI_ASK_TIMEOUT_NS, text, sizeof text))
        cli_progress_of_status(text, watch->samples, sizeof watch->samples);
}

static void cli_show(const struct cli_session *session, struct cli_watch *watch, uint64_t passed_ns,
                     uint64_t duration_ns)
{
    static const char *const bar = "####################";
    const unsigned share = (unsigned)(passed_ns * 20 / duration_ns);

    if (!watch->is_watched)
        return;
    cli_watch_ask(session, watch, passed_ns);

    char line[320];
    snprintf(line, sizeof line, "Profiling %s [%-20.*s] %llu of %llu s%s, Ctrl-C ends it",
             session->name, (int)(share > 20 ? 20 : share), bar,
             (unsigned long long)(passed_ns / JW_NS_PER_SECOND),
             (unsigned long long)(duration_ns / JW_NS_PER_SECOND), watch->samples);
    cli_put_progress(line, STDERR_FILENO);
}

/* Until the time is over, a signal comes in (taken), or the process ends (false). */
static bool cli_wait(const struct cli_session *session, uint64_t duration_ns, bool is_watched)
{
    const uint64_t begun_ns = jw_now_ns();
    struct cli_watch watch = {.is_watched = is_watched};
    bool is_alive = true;

    for (uint64_t passed_ns = 0; passed_ns < duration_ns && is_alive;
         passed_ns = jw_now_ns() - begun_ns) {
        const uint64_t left_ns = duration_ns - passed_ns;

        cli_show(session, &watch, passed_ns, duration_ns);
        if (attach_wait(session->target, left_ns < CLI_STEP_NS ? left_ns : CLI_STEP_NS) ||
            !attach_is_alive(session->target))
            is_alive = false;
        else if (cli_signals_seen() > 0)
            break;
    }
    if (is_watched)
        fputs("\r\033[K", stderr);
    return is_alive;
}

/* The output that an agent string asks for: always its last option, and no value holds a comma. */
static const char *cli_file_in(const char *string)
{
    static const char key[] = ",file=";
    const char *at = strstr(string, key);

    return at == NULL ? "its file" : at + strlen(key);
}

/* Once ends the session and writes; who asks twice waits for nothing more. */
static bool cli_is_impatient(void)
{
    return cli_signals_seen() > 1;
}

int cli_profile_target(struct cli_session *session, const char *string, uint64_t duration_ns,
                       bool is_quiet, FILE *to)
{
    char last_word[OPTIONS_PATH_BYTES + 200];

    snprintf(last_word, sizeof last_word,
             "given up; process %s runs on, and as soon as it takes the command its agent ends the "
             "session and %s%s",
             session->name, session->shown_file != NULL ? "drops what it sampled" : "writes ",
             session->shown_file != NULL ? "" : cli_file_in(string));
    session->last_word = last_word;
    cli_signals_hold();
    session->target->is_given_up = cli_is_impatient;

    int status = cli_session_do(session, string, CLI_START_TIMEOUT, NULL);
    if (status == CLI_OK) {
        const bool is_watched = !is_quiet && isatty(STDERR_FILENO);

        if (cli_wait(session, duration_ns, is_watched)) {
            /* Without a file what was sampled comes here. */
            status = strstr(string, ",file=") == NULL
                         ? cli_session_show(session, "stop,quiet", CLI_STOP_TIMEOUT, to)
                         : cli_session_do(session, "stop", CLI_STOP_TIMEOUT, is_quiet ? NULL : to);
        } else {
            cli_complain("process %s ended first; unless it was killed, its agent wrote what there "
                         "was by then to %s",
                         session->name,
                         session->shown_file != NULL ? session->shown_file : cli_file_in(string));
        }
    }
    session->target->is_given_up = NULL;
    session->last_word = NULL;
    cli_signals_release(status != CLI_OK);
    return status;
}

/* A session whose command is killed ends by itself, after any start and stop that could still be under way. */
static void cli_add_timeout(struct cli_values *values, uint64_t duration_ns, char *text,
                            size_t room)
{
    struct cli_agent_options *options = &values->agent;

    for (size_t i = 0; i < options->count; i++) {
        if (strcmp(options->names[i], "timeout") == 0)
            return;
    }
    if (options->count == CLI_LIST_LIMIT)
        return;
    snprintf(text, room, "%llus",
             (unsigned long long)((duration_ns + CLI_SPARE_NS) / JW_NS_PER_SECOND));
    options->names[options->count] = "timeout";
    options->values[options->count++] = text;
}

int cli_profile(const struct cli_values *given)
{
    struct cli_values own = *given;
    const struct cli_values *values = &own;
    char timeout[32];
    const struct cli_command *command = &cli_commands[CLI_COMMAND_PROFILE];
    char string[CLI_STRING_BYTES];
    struct attach_target target;
    struct cli_session session;
    struct jw_error err = {{0}};
    uint64_t duration_ns;

    /* Mistakes first, before anybody else's process is touched. */
    if (!cli_duration(values->duration, &duration_ns, &err))
        return cli_usage_error(command, &err);
    cli_add_timeout(&own, duration_ns, timeout, sizeof timeout);
    if (!cli_agent_string(values, "PID", true, string, &err))
        return cli_usage_error(command, &err);

    int status = cli_session_find(command, values, &target, &session);
    if (status != CLI_OK)
        return status;
    /* Files of its own, or another user's: it could not write here, or not as us. */
    if (!cli_is_for_terminal(values) &&
        (target.has_own_files || (geteuid() == 0 && target.user != 0))) {
        status = cli_profile_apart(command, values, &session, duration_ns);
    } else if ((status = cli_session_enter(values, &session)) == CLI_OK) {
        status = cli_agent_string(values, session.name, true, string, &err)
                     ? cli_profile_target(&session, string, duration_ns, values->is_quiet, stdout)
                     : cli_usage_error(command, &err);
        if (status == CLI_OK)
            status = cli_end_output(status);
    }
    cli_session_close(&session);
    return status;
}
