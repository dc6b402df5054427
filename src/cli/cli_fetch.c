/*
 * profile of a process that cannot write here, or not as us: what it writes in its own file system is fetched.
 * Context: tool.
 *
 *     parent  as who called            child  as the user of the process
 *       | opens the output               |
 *       | ------------- go ------------> | attaches, samples, ends the session
 *       | <---- descriptor of result --- | and takes the result's name away again
 *       | copies it into the output      |
 *       | ------------ done -----------> | says the last words, and ends
 *
 * So nothing with our rights ever touches what the process could have laid in its way, and nothing that the
 * process could get at has our rights. The parent believes of the descriptor only what the kernel says.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/clock.h"
#include "cli/cli_internal.h"
#include "options/options.h"
#include "os/os_output.h"

#define CLI_FETCH_MOST_BYTES (8ull << 30)
#define CLI_COPY_BYTES       ((size_t)256 * 1024)
#define CLI_LOOK_MS          100

/* What both know. */
struct cli_fetch {
    const struct cli_command *command;
    const struct cli_values *values;
    struct cli_session *session;
    uint64_t duration_ns;
    char path[OPTIONS_PATH_BYTES]; /* the output */
    int socket_fd;                 /* the own end */
    pid_t parent;
};

static bool cli_put_byte(int fd)
{
    ssize_t count;

    do
        count = send(fd, "", 1, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count == 1;
}

/* False: the other side has ended. */
static bool cli_get_byte(int fd)
{
    char byte;
    ssize_t count;

    do
        count = recv(fd, &byte, 1, 0);
    while (count < 0 && errno == EINTR);
    return count == 1;
}

union cli_descriptor_message {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool cli_send_descriptor(int socket_fd, int fd)
{
    char byte = 0;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    union cli_descriptor_message room = {.head = {.cmsg_len = CMSG_LEN(sizeof fd),
                                                  .cmsg_level = SOL_SOCKET,
                                                  .cmsg_type = SCM_RIGHTS}};
    const struct msghdr message = {.msg_iov = &data,
                                   .msg_iovlen = 1,
                                   .msg_control = room.bytes,
                                   .msg_controllen = sizeof room.bytes};
    ssize_t count;

    memcpy(CMSG_DATA(&room.head), &fd, sizeof fd);
    do
        count = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count == 1;
}

/* -1: the other side has ended without one. */
static int cli_receive_descriptor(int socket_fd)
{
    char byte;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    union cli_descriptor_message room = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof room.bytes};
    ssize_t count;
    int fd = -1;

    do
        count = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);

    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (count == 1 && head != NULL && head->cmsg_level == SOL_SOCKET &&
        head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

/* Child ------------------------------------------------------------------------------------------ */

/* The result keeps its ending, which names the format. */
static bool cli_inner_file(struct cli_fetch *fetch, char *path, size_t room, const char **name,
                           struct jw_error *err)
{
    const char *slash = strrchr(fetch->path, '/');
    const char *dot = strrchr(slash == NULL ? fetch->path : slash, '.');
    const bool is_plain = dot != NULL && strlen(dot) <= 16 && strpbrk(dot, ",%") == NULL;

    if (!cli_session_place(fetch->session, err))
        return false;
    const int length = snprintf(path, room, "%s/", fetch->session->place->path);
    snprintf(path + length, room - (size_t)length, "result%s", is_plain ? dot : "");
    *name = path + length;
    return true;
}

static int cli_child_samples(struct cli_fetch *fetch, FILE *words)
{
    struct cli_session *session = fetch->session;
    struct cli_values values = *fetch->values;
    char string[CLI_STRING_BYTES], inner[128];
    struct jw_error err = {{0}};
    const char *name;

    if (!cli_inner_file(fetch, inner, sizeof inner, &name, &err)) {
        cli_complain("%s", err.message);
        return CLI_TARGET;
    }
    values.file = inner;
    if (!cli_agent_string(&values, session->name, true, string, &err))
        return cli_usage_error(fetch->command, &err);
    session->inner_file = inner;
    session->shown_file = fetch->path;

    const int status =
        cli_profile_target(session, string, fetch->duration_ns, values.is_quiet, words);
    if (status != CLI_OK)
        return status;
    const int fd =
        attach_place_take(session->target, session->place, name, CLI_FETCH_MOST_BYTES, &err);
    if (fd < 0) {
        cli_complain("%s", err.message);
        return CLI_FAILED;
    }
    const bool is_done =
        cli_send_descriptor(fetch->socket_fd, fd) && cli_get_byte(fetch->socket_fd);
    close(fd);
    return is_done ? CLI_OK : CLI_FAILED;
}

static int cli_child(struct cli_fetch *fetch)
{
    char text[ATTACH_TEXT_BYTES] = "";
    sigset_t background;

    /* Ctrl-C comes through the parent, once; and the progress of a process in the background is shown. */
    (void)setpgid(0, 0);
    sigemptyset(&background);
    sigaddset(&background, SIGTTOU);
    sigprocmask(SIG_BLOCK, &background, NULL);
    if (!cli_get_byte(fetch->socket_fd))
        return CLI_OK;

    int status = cli_session_enter(fetch->values, fetch->session);
    if (status == CLI_OK) {
        FILE *words = fmemopen(text, sizeof text, "w");

        /* After the change of user, which forgets it: a parent that is killed ends the session, too. */
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != fetch->parent)
            status = CLI_FAILED;
        else
            status = cli_child_samples(fetch, words == NULL ? stdout : words);
        if (words != NULL)
            fclose(words);
    }
    cli_session_close(fetch->session);
    if (status == CLI_OK && (fputs(text, stdout) < 0 || fflush(stdout) != 0))
        status = CLI_FAILED;
    return status;
}

/* Parent ----------------------------------------------------------------------------------------- */

static bool cli_copy(int fd, struct os_output *output, const char *path, struct jw_error *err)
{
    struct stat file;
    char *bytes = jw_alloc(CLI_COPY_BYTES);
    uint64_t left_bytes;

    if (bytes == NULL || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        jw_error_set(err, "%s: what the process wrote cannot be read", path);
        jw_free(bytes);
        return false;
    }
    left_bytes = (uint64_t)file.st_size;
    while (left_bytes > 0) {
        const ssize_t count =
            read(fd, bytes, left_bytes < CLI_COPY_BYTES ? (size_t)left_bytes : CLI_COPY_BYTES);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            jw_error_set(err, "%s: what the process wrote ends too early: %s", path,
                         count == 0 ? "somebody cut it" : strerror(errno));
            break;
        }
        if (!os_output_append(output, bytes, (size_t)count, err))
            break;
        left_bytes -= (uint64_t)count;
    }
    jw_free(bytes);
    return left_bytes == 0;
}

/* Signals go on to the child, which ends the session; nobody else does. */
static void cli_wait_for_child(int socket_fd, pid_t child)
{
    struct pollfd wait = {.fd = socket_fd, .events = POLLIN};
    unsigned passed_on = 0;

    do {
        for (; passed_on < cli_signals_seen(); passed_on++)
            (void)kill(child, SIGTERM);
    } while (poll(&wait, 1, CLI_LOOK_MS) <= 0);
}

static int cli_end_child(pid_t child)
{
    int status = 0;
    unsigned passed_on = cli_signals_seen();

    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);

        if (ended == child || (ended < 0 && errno != EINTR))
            break;
        for (; passed_on < cli_signals_seen(); passed_on++)
            (void)kill(child, SIGTERM);
        (void)poll(NULL, 0, 5);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}

static int cli_parent(const struct cli_fetch *fetch, pid_t child)
{
    struct jw_error err = {{0}};
    struct os_output *output = os_output_open(fetch->path, NULL, &err);
    bool is_good = output != NULL && cli_put_byte(fetch->socket_fd);
    int fd = -1;

    if (is_good) {
        cli_wait_for_child(fetch->socket_fd, child);
        fd = cli_receive_descriptor(fetch->socket_fd);
    }
    if (fd >= 0) {
        is_good = cli_copy(fd, output, fetch->path, &err) && os_output_publish(output, &err);
        close(fd);
        if (is_good)
            (void)cli_put_byte(fetch->socket_fd);
    }
    os_output_close(output);
    close(fetch->socket_fd); /* tells a child that still waits */
    if (!is_good && err.message[0] != '\0')
        cli_complain("%s", err.message);

    const int status = cli_end_child(child);
    return status == CLI_OK && (fd < 0 || !is_good) ? CLI_FAILED : status;
}

int cli_profile_apart(const struct cli_command *command, const struct cli_values *values,
                      struct cli_session *session, uint64_t duration_ns)
{
    struct cli_fetch fetch = {.command = command,
                              .values = values,
                              .session = session,
                              .duration_ns = duration_ns,
                              .parent = getpid()};
    char pattern[OPTIONS_PATH_BYTES];
    struct jw_error err = {{0}};
    int ends[2];

    if (!cli_absolute(values->file == NULL ? "jaywalk-%p.jfr" : values->file, pattern,
                      sizeof pattern, &err) ||
        !options_file_name(pattern, session->target->pid, jw_wall_ns(), 0, fetch.path,
                           sizeof fetch.path, &err))
        return cli_usage_error(command, &err);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        cli_complain("no socket: %s", strerror(errno));
        return CLI_FAILED;
    }
    cli_signals_hold();
    fflush(stdout);

    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        fetch.socket_fd = ends[1];
        _exit(cli_child(&fetch));
    }
    close(ends[1]);
    fetch.socket_fd = ends[0];

    int status = CLI_FAILED;
    if (child > 0) {
        status = cli_parent(&fetch, child);
    } else {
        cli_complain("no further process: %s", strerror(errno));
        close(ends[0]);
    }
    cli_signals_release(false);
    return status;
}
