/* A JVM, the agent beside the command, and what is said between the two. Context: tool. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "cli/cli_internal.h"

#define CLI_PROC         "/proc"
#define CLI_LIBRARY_NAME "libjaywalk.so"

/* JVMs that a name means. */
struct cli_search {
    const char *wanted;
    unsigned found_count;
    int pid; /* the first */
    char list[400];
};

static void cli_search_visit(int pid, const char *name, void *argument)
{
    struct cli_search *search = argument;
    const size_t used = strlen(search->list);

    if (pid == getpid() || !attach_is_called(name, search->wanted))
        return;
    if (search->found_count++ == 0)
        search->pid = pid;
    snprintf(search->list + used, sizeof search->list - used, "%s%d (%.60s)", used == 0 ? "" : ", ",
             pid, name);
}

bool cli_is_jvm_name(const char *name)
{
    struct cli_search search = {.wanted = name};

    attach_each(CLI_PROC, cli_search_visit, &search);
    return search.found_count > 0;
}

/* A process id as a person writes it; 0: it is none. */
static int cli_pid(const char *word)
{
    char *end;

    if (word[0] < '1' || word[0] > '9')
        return 0;
    errno = 0;
    const long number = strtol(word, &end, 10);
    return errno == 0 && *end == '\0' && number <= INT32_MAX ? (int)number : 0;
}

static int cli_find_target(const char *word, struct attach_target *target)
{
    struct jw_error err = {{0}};
    int pid = cli_pid(word);

    if (pid == 0) {
        struct cli_search search = {.wanted = word};

        attach_each(CLI_PROC, cli_search_visit, &search);
        if (search.found_count != 1) {
            if (search.found_count == 0)
                cli_complain(
                    "no JVM that this user can see is called '%.100s'; 'jaywalk jps' lists "
                    "them",
                    word);
            else
                cli_complain("'%.100s' means %u JVMs: %s; name one by its number", word,
                             search.found_count, search.list);
            return CLI_TARGET;
        }
        pid = search.pid;
    }
    if (attach_open(CLI_PROC, pid, target, &err))
        return CLI_OK;
    cli_complain("%s", err.message);
    return CLI_TARGET;
}

/* The command may be installed anywhere: its library lies in ../lib. */
bool cli_library(const struct cli_values *values, char *path, struct jw_error *err)
{
    char wanted[CLI_PATH_BYTES + sizeof "/../lib/" CLI_LIBRARY_NAME];

    if (values->library != NULL) {
        snprintf(wanted, sizeof wanted, "%s", values->library);
    } else {
        char command[CLI_PATH_BYTES];
        const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);

        command[length < 0 ? 0 : length] = '\0';
        char *slash = strrchr(command, '/');
        if (slash != NULL)
            *slash = '\0';
        snprintf(wanted, sizeof wanted, "%s/../lib/" CLI_LIBRARY_NAME, command);
    }
    if (realpath(wanted, path) != NULL)
        return true;
    jw_error_set(err, "%.300s: %s; name the library with --libpath=PATH", wanted, strerror(errno));
    return false;
}

/* Who could have replaced this command, which runs already. */
static uid_t cli_owner(void)
{
    struct stat file;

    return stat("/proc/self/exe", &file) == 0 ? file.st_uid : 0;
}

static bool cli_session_library(const struct cli_values *values, struct cli_session *session,
                                struct jw_error *err)
{
    if (session->target->has_own_files && values->library != NULL) {
        /* A path over there means nothing here, so it is not resolved. */
        snprintf(session->library, sizeof session->library, "%s", values->library);
        return true;
    }
    return cli_library(values, session->library, err);
}

int cli_session_open(const struct cli_command *command, const struct cli_values *values,
                     struct attach_target *target, struct cli_session *session)
{
    struct jw_error err = {{0}};

    *session = (struct cli_session){.target = target};
    if (values->operands.count != 1) {
        jw_error_set(&err, "%s: %s; usage: %s", command->name,
                     values->operands.count == 0
                         ? "which process? Name it by number, main class or "
                           "jar ('jaywalk jps' lists them)"
                         : "one process is taken",
                     command->usage);
        return cli_usage_error(command, &err);
    }

    const int status = cli_find_target(values->operands.texts[0], target);
    if (status != CLI_OK)
        return status;
    snprintf(session->name, sizeof session->name, "%d", target->pid);

    const bool has_library = cli_session_library(values, session, &err);
    const uid_t owner = cli_owner();
    if (has_library && attach_become(target, &err) &&
        attach_check_library(target, session->library, owner, &err))
        return CLI_OK;
    cli_complain("%s", err.message);
    attach_close(target);
    return CLI_FAILED;
}

void cli_session_close(struct cli_session *session)
{
    attach_close(session->target);
}

bool cli_check_file(const struct cli_session *session, const struct cli_values *values,
                    struct jw_error *err)
{
    if (!session->target->has_own_files || (values->file != NULL && values->file[0] == '/'))
        return true;
    jw_error_set(err,
                 "process %s has a file system of its own (a container): give --file an absolute "
                 "path in there, such as /tmp/profile.html, and find it at /proc/%s/root/tmp",
                 session->name, session->name);
    return false;
}

void cli_put(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        const bool is_c1 = byte == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80;

        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f || is_c1)
            fprintf(to, "\\x%02x", byte);
        else
            fputc(byte, to);
        if (is_c1)
            fprintf(to, "\\x%02x", (unsigned char)*++text);
    }
}

/* Messages of the agent by line. What is neither a warning nor an error is what was asked for. */
static void cli_tell_answer(char *text, FILE *to)
{
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n');

        if (end != NULL)
            *end = '\0';
        if (strncmp(line, "error: ", 7) == 0 || strncmp(line, "warning: ", 9) == 0) {
            fputs("jaywalk: ", stderr);
            cli_put(strncmp(line, "error: ", 7) == 0 ? line + 7 : line, stderr);
            fputc('\n', stderr);
        } else if (to != NULL) {
            cli_put(line, to);
            fputc('\n', to);
        }
        if (end == NULL)
            break;
        line = end + 1;
    }
}

static int cli_exchange(const struct cli_session *session, const struct attach_answer *answer,
                        const char *string, uint64_t timeout_ns, FILE *to)
{
    char whole[CLI_STRING_BYTES + 128], text[ATTACH_TEXT_BYTES + 1];
    struct jw_error err = {{0}};
    int code = 0;
    int answered;

    snprintf(whole, sizeof whole, "%s,answer=%s", string, answer->path);
    if (!attach_load(session->target, session->library, whole, timeout_ns, &code, &err)) {
        cli_complain("%s", err.message);
        return CLI_TARGET;
    }
    if (attach_answer_wait(session->target, answer, code == 0 ? timeout_ns : 0, text, sizeof text,
                           &answered)) {
        cli_tell_answer(text, to);
        return code == 0 && answered == 0 ? CLI_OK : CLI_FAILED;
    }
    cli_tell_answer(text, to);
    if (code != 0)
        cli_complain("the agent in process %s refuses (code %d) and does not say why: is %s of "
                     "another version?",
                     session->name, code, session->library);
    else if (!attach_is_alive(session->target))
        cli_complain("process %s ended before the agent was done", session->name);
    else
        cli_complain("the agent in process %s was not done in %u s; ask 'jaywalk status %s'",
                     session->name, (unsigned)(timeout_ns / JW_NS_PER_SECOND), session->name);
    return CLI_FAILED;
}

/* Those that end the command; one that the caller ignores (nohup) stays ignored. */
void cli_hold_signals(sigset_t *ends, sigset_t *before)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;

    sigemptyset(ends);
    for (size_t i = 0; i < JW_COUNT_OF(numbers); i++) {
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(ends, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, ends, before);
}

/* Ctrl-C waits until the file of the answer is gone again: each step has a deadline. */
int cli_session_do(const struct cli_session *session, const char *string, uint64_t timeout_ns,
                   FILE *to)
{
    struct attach_answer answer;
    struct jw_error err = {{0}};
    sigset_t ends, before;
    int status;

    cli_hold_signals(&ends, &before);
    if (attach_answer_open(session->target, &answer, &err)) {
        status = cli_exchange(session, &answer, string, timeout_ns, to);
        attach_answer_close(&answer);
    } else {
        cli_complain("%s", err.message);
        status = CLI_TARGET;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
