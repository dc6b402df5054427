/* Messages to stderr or the log file; any context but handler and hook. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"

#define PREFIX        "[jaywalk] "
#define MESSAGE_BYTES 1024

static int log_fd = STDERR_FILENO;
static uint64_t lowest_level = OPTIONS_LOGLEVEL_INFO;

/* NULL, or why what was opened is no log of ours. */
static const char *why_not(int fd)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return strerror(errno);
    if (!S_ISREG(file.st_mode))
        return "it is no regular file";
    if (file.st_nlink != 1)
        return "it has more than one name (hard links)";
    if (file.st_uid != geteuid())
        return "it belongs to another user";
    return NULL;
}

void agent_log_open(const struct options *options)
{
    lowest_level = options->is_quiet ? OPTIONS_LOGLEVEL_ERROR : options->loglevel;
    if (options->log[0] == '\0')
        return;

    /* Never through a symbolic link, never into somebody else's file, a device or a FIFO; closed in children. */
    const int fd =
        open(options->log,
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    const char *why = fd < 0 ? strerror(errno) : why_not(fd);
    if (why != NULL) {
        agent_log(OPTIONS_LOGLEVEL_WARN, "cannot write log=%s: %s; messages go %s", options->log,
                  why, log_fd == STDERR_FILENO ? "to stderr" : "on into the log file of before");
        if (fd >= 0)
            close(fd);
        return;
    }
    if (log_fd == STDERR_FILENO) {
        log_fd = fd;
        return;
    }
    /* Another thread may be about to write: the number must never be somebody else's in between. */
    if (dup3(fd, log_fd, O_CLOEXEC) < 0)
        agent_log(OPTIONS_LOGLEVEL_WARN, "cannot change to log=%s: %s", options->log,
                  strerror(errno));
    close(fd);
}

/* The same pipe by a descriptor of our own, on which no write waits: to say so of the host's own one would change it for
 * the host, and for all who have it too. -1: it is not to be had. */
static int open_again(int fd)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/*
 * A message in one write, so that lines of others do not get in between. A pipe or socket that nobody reads loses the rest:
 * neither the session nor the exit of the JVM may wait for who was to read it. That there was room for it a moment
 * ago says little: others write into it, too.
 */
static void put(const char *text, size_t length_bytes)
{
    struct stat file = {0};
    const bool is_known = fstat(log_fd, &file) == 0;
    const int again = is_known && S_ISFIFO(file.st_mode) ? open_again(log_fd) : -1;
    struct pollfd log = {.fd = again < 0 ? log_fd : again, .events = POLLOUT};

    while (length_bytes > 0 && poll(&log, 1, 0) == 1 && (log.revents & POLLOUT) != 0) {
        /* So much a pipe takes at once that takes anything. Source: pipe(7), poll in fs/pipe.c. */
        const size_t part_bytes = length_bytes < PIPE_BUF ? length_bytes : PIPE_BUF;
        const ssize_t written = S_ISSOCK(file.st_mode)
                                    ? send(log.fd, text, part_bytes, MSG_DONTWAIT | MSG_NOSIGNAL)
                                    : write(log.fd, text, part_bytes);

        if (written < 0 && errno != EINTR)
            break;
        if (written > 0) {
            text += written;
            length_bytes -= (size_t)written;
        }
    }
    if (again >= 0)
        close(again);
}

void agent_log(enum options_loglevel level, const char *format, ...)
{
    static const char *const names[] = {
        [OPTIONS_LOGLEVEL_DEBUG] = "debug: ",
        [OPTIONS_LOGLEVEL_INFO] = "",
        [OPTIONS_LOGLEVEL_WARN] = "warning: ",
        [OPTIONS_LOGLEVEL_ERROR] = "error: ",
    };
    char text[MESSAGE_BYTES];
    va_list arguments;

    if (level >= OPTIONS_LOGLEVEL_NONE)
        return;
    int length = snprintf(text, sizeof text, PREFIX "%s", names[level]);
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length - 1, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof text - 2)
        length = (int)sizeof text - 2;
    text[length++] = '\n';

    /* Who asked is told, and nobody else. */
    const size_t prefix_bytes = sizeof PREFIX - 1;
    if (level > OPTIONS_LOGLEVEL_DEBUG &&
        answer_say(text + prefix_bytes, (size_t)length - prefix_bytes))
        return;
    if (level < lowest_level)
        return;

    put(text, (size_t)length);
}

void agent_log_text(const char *text)
{
    const size_t length_bytes = strlen(text);

    if (!answer_say(text, length_bytes))
        put(text, length_bytes);
}
