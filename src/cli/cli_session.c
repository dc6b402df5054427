/* A JVM, the agent beside the command, and what is said between the two. Context: tool. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/cli_internal.h"
#include "cli/cli_text_internal.h"

#define CLI_BUSY_NS      (5 * JW_NS_PER_SECOND)
#define CLI_BUSY_STEP_NS (150 * JW_NS_PER_MS)
#define CLI_LOOK_NS      (100 * JW_NS_PER_MS) /* between two looks at how far it is */

#define CLI_PROC "/proc"

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

    return !attach_each(CLI_PROC, cli_search_visit, &search, NULL, NULL) || search.found_count > 0;
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

        const bool is_whole = attach_each(CLI_PROC, cli_search_visit, &search, NULL, &err);
        if (search.found_count != 1 || !is_whole) {
            if (!is_whole)
                cli_complain("who is called '%.100s' cannot be told: %s", word, err.message);
            else if (search.found_count == 0)
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

int cli_session_find(const struct cli_command *command, const struct cli_values *values,
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
    if (status == CLI_OK)
        snprintf(session->name, sizeof session->name, "%d", target->pid);
    return status;
}

int cli_session_enter(const struct cli_values *values, struct cli_session *session)
{
    struct cli_library_source source;
    struct jw_error err = {{0}};
    const uid_t owner = cli_owner();

    if (cli_library_choose(values, session, &source, &err) &&
        attach_become(session->target, &err) && cli_library_bring(session, &source, owner, &err))
        return CLI_OK;
    /* Of one that is gone no library can be told: that is not the library's fault. */
    const bool has_ended = attach_has_ended(session->target, &err);
    cli_complain("%s", err.message);
    return has_ended ? CLI_TARGET : CLI_FAILED;
}

int cli_session_open(const struct cli_command *command, const struct cli_values *values,
                     struct attach_target *target, struct cli_session *session)
{
    int status = cli_session_find(command, values, target, session);

    if (status != CLI_OK)
        return status;
    status = cli_session_enter(values, session);
    if (status != CLI_OK)
        cli_session_close(session);
    return status;
}

bool cli_session_place(struct cli_session *session, struct jw_error *err)
{
    if (session->place != NULL)
        return true;
    session->place = jw_alloc(sizeof *session->place);
    if (session->place == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    if (attach_place_open(session->target, session->place, err))
        return true;
    jw_free(session->place);
    session->place = NULL;
    return false;
}

void cli_session_close(struct cli_session *session)
{
    if (session->place != NULL)
        attach_place_close(session->place);
    jw_free(session->place);
    session->place = NULL;
    attach_close(session->target);
}

bool cli_check_file(const struct cli_session *session, const struct cli_values *values,
                    struct jw_error *err)
{
    if (!session->target->has_own_files || values->file == NULL || values->file[0] == '/' ||
        strcmp(values->file, "-") == 0)
        return true;
    jw_error_set(err,
                 "process %s has a file system of its own (a container): give --file an absolute "
                 "path in there, such as /tmp/profile.html, and find it at /proc/%s/root/tmp",
                 session->name, session->name);
    return false;
}

void cli_put(const char *text, FILE *to)
{
    size_t left_bytes = strlen(text);

    while (left_bytes > 0) {
        const unsigned char byte = (unsigned char)*text;
        const size_t length_bytes = jw_utf8_length(text, left_bytes);
        const bool is_c1 = length_bytes == 2 && byte == 0xc2 && (unsigned char)text[1] < 0xa0;
        size_t step_bytes = length_bytes == 0 ? 1 : length_bytes;

        /* What is no UTF-8 may be a control character of a terminal that knows none. */
        if (length_bytes == 0 || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ||
            is_c1) {
            for (left_bytes -= step_bytes; step_bytes > 0; step_bytes--)
                fprintf(to, "\\x%02x", (unsigned char)*text++);
            continue;
        }
        fwrite(text, 1, step_bytes, to);
        text += step_bytes;
        left_bytes -= step_bytes;
    }
}

/* A line of the agent, with the output's name as people know it. */
static void cli_put_line(const struct cli_session *session, char *line, FILE *to)
{
    char *inner = session->inner_file == NULL ? NULL : strstr(line, session->inner_file);

    if (inner != NULL) {
        *inner = '\0';
        cli_put(line, to);
        cli_put(session->shown_file, to);
        line = inner + strlen(session->inner_file);
    }
    cli_put(line, to);
    fputc('\n', to);
}

/* Messages of the agent by line. What is neither a warning nor an error is what was asked for. */
static void cli_tell_answer(const struct cli_session *session, char *text, FILE *to)
{
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n');

        if (end != NULL)
            *end = '\0';
        if (strncmp(line, "error: ", 7) == 0 || strncmp(line, "warning: ", 9) == 0) {
            fputs("jaywalk: ", stderr);
            cli_put_line(session, strncmp(line, "error: ", 7) == 0 ? line + 7 : line, stderr);
        } else if (to != NULL) {
            cli_put_line(session, line, to);
        }
        if (end == NULL)
            break;
        line = end + 1;
    }
}

/* What JDK 8 answers has no reason in it. */
static bool cli_is_noexec(const struct attach_place *place)
{
    struct statvfs told;

    return fstatvfs(place->directory_fd, &told) == 0 && (told.f_flag & ST_NOEXEC) != 0;
}

/* Why the JVM did not load it, with what can be done where that is known. */
static void cli_complain_load(const struct cli_session *session, const struct jw_error *err)
{
    const bool is_ours = session->place != NULL && strstr(session->library, session->place->path);

    cli_complain(
        "%s%s", err->message,
        is_ours && (strstr(err->message, "failed to map") != NULL || cli_is_noexec(session->place))
            ? "; its /tmp lets nothing be run (noexec): put the library elsewhere into the "
              "container and name it with --libpath=PATH"
            : "");
}

static int cli_give_up(const struct cli_session *session)
{
    if (session->last_word != NULL)
        cli_complain("%s", session->last_word);
    else
        cli_complain("given up; 'jaywalk status %s' tells what became of it", session->name);
    return CLI_FAILED;
}

/* What goes to and fro for one command. */
struct cli_talk {
    struct attach_answer answer;
    struct attach_answer shown; /* long texts; its path is "": none is wanted */
    bool may_be_busy;           /* the agent's being busy is no failure yet */
    struct cli_progress
        *progress; /* not NULL: what is shown is how far it is, for somebody who watches */
};

#define CLI_CODE_BUSY 201  /* of the agent: nothing was done, try again */
#define CLI_BUSY      (-1) /* the status for that */

static bool cli_has_text(const struct attach_answer *shown)
{
    struct stat file;

    return shown->fd >= 0 && fstat(shown->fd, &file) == 0 && file.st_size > 0;
}

void cli_progress_of_classes(const char *text, char *line, size_t room)
{
    const char *end = strrchr(text, '\n'), *begin = end;
    char written[32], all[32];
    uint64_t numbers[3];

    line[0] = '\0';
    while (begin != NULL && begin > text && begin[-1] != '\n')
        begin--;
    for (size_t i = 0; i < JW_COUNT_OF(numbers); i++) {
        char *behind;

        if (begin == NULL || *begin < '0' || *begin > '9')
            return;
        numbers[i] = strtoull(begin, &behind, 10);
        begin = behind + (*behind == ' ');
    }
    cli_text_digits(numbers[0], written);
    cli_text_digits(numbers[1], all);
    snprintf(line, room, "%s of %s classes are written, in %" PRIu64 " batches", written, all,
             numbers[2]);
}

/* Whoever watches sees the last line of what was shown so far. */
static void cli_look(const struct cli_talk *talk)
{
    char text[256], line[160];
    const off_t length = lseek(talk->shown.fd, 0, SEEK_END);
    const off_t from = length < (off_t)sizeof text ? 0 : length - (off_t)(sizeof text - 1);
    const ssize_t count = length < 0 ? 0 : pread(talk->shown.fd, text, sizeof text - 1, from);

    text[count < 0 ? 0 : count] = '\0';
    cli_progress_of_classes(text, line, sizeof line);
    cli_progress_say(talk->progress, line);
}

/* As attach_answer_wait. */
static bool cli_await(const struct cli_session *session, const struct cli_talk *talk,
                      uint64_t timeout_ns, char *text, size_t room_bytes, int *code,
                      struct jw_error *err)
{
    const uint64_t deadline_ns = jw_now_ns() + timeout_ns;
    bool is_ended;

    if (talk->progress == NULL)
        return attach_answer_wait(session->target, &talk->answer, timeout_ns, text, room_bytes,
                                  code, err);
    for (;;) {
        const uint64_t now_ns = jw_now_ns();
        const uint64_t left_ns = now_ns < deadline_ns ? deadline_ns - now_ns : 0;

        is_ended = attach_answer_wait(session->target, &talk->answer,
                                      left_ns < CLI_LOOK_NS ? left_ns : CLI_LOOK_NS, text,
                                      room_bytes, code, err);
        if (is_ended || left_ns == 0 || err->message[0] != '\0' ||
            attach_is_given_up(session->target) || !attach_is_alive(session->target))
            break;
        cli_look(talk);
    }
    cli_progress_end(talk->progress);
    return is_ended;
}

static int cli_exchange(const struct cli_session *session, const struct cli_talk *talk,
                        const char *string, uint64_t timeout_ns, FILE *to)
{
    const struct attach_answer *answer = &talk->answer;
    char whole[CLI_STRING_BYTES + 256], text[ATTACH_TEXT_BYTES + 1];
    struct jw_error err = {{0}};
    int code = 0;
    int answered;

    snprintf(whole, sizeof whole, "%s%s%s,answer=%s", string,
             talk->shown.path[0] == '\0' ? "" : ",show=", talk->shown.path, answer->path);
    if (!attach_load(session->target, session->library, whole, timeout_ns, &code, &err)) {
        if (attach_is_given_up(session->target))
            return cli_give_up(session);
        cli_complain_load(session, &err);
        return CLI_TARGET;
    }
    cli_library_brought(session);
    if (cli_await(session, talk, code == 0 ? timeout_ns : 0, text, sizeof text, &answered, &err)) {
        if (talk->may_be_busy && (code == CLI_CODE_BUSY || answered == CLI_CODE_BUSY))
            return CLI_BUSY;
        /* Beside a text, messages are not of it. */
        cli_tell_answer(session, text,
                        talk->progress == NULL && cli_has_text(&talk->shown) ? stderr : to);
        return code == 0 && answered == 0 ? CLI_OK : CLI_FAILED;
    }
    cli_tell_answer(session, text, to);
    if (code != 0)
        cli_complain("the agent in process %s refuses (code %d) and does not say why: is %s of "
                     "another version?",
                     session->name, code, session->library);
    else if (err.message[0] != '\0')
        cli_complain("%s; 'jaywalk status %s' tells what became of the command", err.message,
                     session->name);
    else if (attach_is_given_up(session->target))
        return cli_give_up(session);
    else if (!attach_is_alive(session->target))
        cli_complain("process %s ended before the agent was done", session->name);
    else
        cli_complain("the agent in process %s was not done in %u s; ask 'jaywalk status %s'",
                     session->name, (unsigned)(timeout_ns / JW_NS_PER_SECOND), session->name);
    return CLI_FAILED;
}

static bool cli_has_signal(void)
{
    return cli_signals_seen() > 0;
}

/* A text of others: its names are those of the application. */
static bool cli_copy_shown(const struct attach_answer *shown, FILE *to)
{
    static char piece[64 * 1024];
    const int fd = fcntl(shown->fd, F_DUPFD_CLOEXEC, 0);
    FILE *from = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? NULL : fdopen(fd, "r");

    if (from == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (fgets(piece, sizeof piece, from) != NULL) {
        const size_t length = strlen(piece);

        /* The first half of a control character stays with the second. */
        if (length == sizeof piece - 1 && (unsigned char)piece[length - 1] == 0xc2) {
            piece[length - 1] = '\0';
            ungetc(0xc2, from);
        }
        cli_put(piece, to);
    }
    const bool is_good = !ferror(from) && !ferror(to);
    fclose(from);
    return is_good;
}

static int cli_talk_once(const struct cli_session *session, struct cli_talk *talk,
                         const char *string, uint64_t timeout_ns, FILE *to, FILE *text)
{
    const bool is_shown = text != NULL || talk->progress != NULL;
    struct jw_error err = {{0}};
    int status = CLI_TARGET;

    talk->shown = (struct attach_answer){.fd = -1, .directory_fd = -1};
    if (!attach_answer_open(session->target, &talk->answer, &err)) {
        cli_complain("%s", err.message);
        return CLI_TARGET;
    }
    if (!is_shown || attach_answer_open(session->target, &talk->shown, &err))
        status = cli_exchange(session, talk, string, timeout_ns, to);
    else
        cli_complain("%s", err.message);
    if (status == CLI_OK && text != NULL && !cli_copy_shown(&talk->shown, text)) {
        cli_complain("the agent's text cannot be read: %s", strerror(errno));
        status = CLI_FAILED;
    }
    if (is_shown)
        attach_answer_close(&talk->shown);
    attach_answer_close(&talk->answer);
    return status;
}

/* Ctrl-C waits until the files of the answer are gone again. An agent that is sent too many commands at once sends
 * some of them back: these come again, for a while. */
static int cli_talk(const struct cli_session *session, const char *string, uint64_t timeout_ns,
                    struct cli_progress *progress, FILE *to, FILE *text)
{
    const bool is_outermost = session->target->is_given_up == NULL;
    const uint64_t busy_until_ns = jw_now_ns() + CLI_BUSY_NS;
    struct cli_talk talk = {.progress = progress};
    int status;

    cli_signals_hold();
    if (is_outermost)
        session->target->is_given_up = cli_has_signal;
    do {
        talk.may_be_busy = jw_now_ns() < busy_until_ns;
        status = cli_talk_once(session, &talk, string, timeout_ns, to, text);
    } while (status == CLI_BUSY &&
             (attach_wait(session->target, CLI_BUSY_STEP_NS) || !cli_has_signal()));
    if (is_outermost)
        session->target->is_given_up = NULL;
    cli_signals_release(status != CLI_OK);
    return status == CLI_BUSY ? CLI_FAILED : status;
}

int cli_session_do(const struct cli_session *session, const char *string, uint64_t timeout_ns,
                   FILE *to)
{
    return cli_talk(session, string, timeout_ns, NULL, to, NULL);
}

int cli_session_watch(const struct cli_session *session, const char *string, uint64_t timeout_ns,
                      bool is_quiet, FILE *to)
{
    struct cli_progress progress;

    cli_progress_begin(&progress, is_quiet);
    return cli_talk(session, string, timeout_ns, progress.is_wanted ? &progress : NULL, to, NULL);
}

int cli_session_show(const struct cli_session *session, const char *string, uint64_t timeout_ns,
                     FILE *to)
{
    return cli_talk(session, string, timeout_ns, NULL, to, to);
}

bool cli_session_ask(const struct cli_session *session, const char *word, uint64_t timeout_ns,
                     char *text, size_t room)
{
    struct attach_answer answer;
    char string[256];
    bool is_answered = false;
    int code, answered;

    if (!attach_answer_open(session->target, &answer, NULL))
        return false;
    snprintf(string, sizeof string, "%s,answer=%s", word, answer.path);
    if (attach_load(session->target, session->library, string, timeout_ns, &code, NULL) &&
        code == 0)
        is_answered =
            attach_answer_wait(session->target, &answer, timeout_ns, text, room, &answered, NULL);
    attach_answer_close(&answer);
    return is_answered;
}
