/* Messages to stderr or the log file; any context but handler and hook. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"

#define PREFIX        "[jaywalk] "
#define MESSAGE_BYTES 1024

static int log_fd = STDERR_FILENO;
static uint64_t lowest_level = OPTIONS_LOGLEVEL_INFO;

void agent_log_open(const struct options *options)
{
    lowest_level = options->is_quiet ? OPTIONS_LOGLEVEL_ERROR : options->loglevel;
    if (options->log[0] == '\0')
        return;

    /* Never through a symbolic link, never into somebody else's device or FIFO, closed in children. */
    const int fd = open(options->log,
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0) {
        agent_log(OPTIONS_LOGLEVEL_WARN, "cannot write log=%s: %s; messages go to stderr",
                  options->log, strerror(errno));
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

/* One write, so that lines of others do not get in between; a full pipe loses the message. */
static void put(const char *text, size_t length_bytes)
{
    ssize_t written;

    do
        written = write(log_fd, text, length_bytes);
    while (written < 0 && errno == EINTR);
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
