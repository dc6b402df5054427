/* One request to the attach listener and its reply, each within a deadline; tool. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/attach_internal.h"
#include "base/clock.h"

#define CONNECT_TIMEOUT_NS (10 * JW_NS_PER_SECOND)
#define REPLY_BYTES        (ATTACH_TEXT_BYTES + 64)

#define LOOK_AGAIN_NS (200 * JW_NS_PER_MS)
#define LAST_WORDS_NS JW_NS_PER_SECOND /* for a JVM that takes no request any more */

/* True: the socket is ready. False and errno: ETIMEDOUT when the time is over, the caller gives up, or the process was
 * stopped and will not answer; else why nobody can wait. */
static bool wait_ready(const struct attach_target *target, int fd, short events,
                       uint64_t deadline_ns)
{
    for (;;) {
        const uint64_t now_ns = jw_now_ns();
        struct pollfd wait = {.fd = fd, .events = events};

        if (now_ns >= deadline_ns) {
            errno = ETIMEDOUT;
            return false;
        }
        const uint64_t left_ns = deadline_ns - now_ns;
        const int count =
            poll(&wait, 1,
                 (int)((left_ns < LOOK_AGAIN_NS ? left_ns : LOOK_AGAIN_NS) / JW_NS_PER_MS) + 1);
        if (count > 0)
            return true;
        if (count < 0 && errno != EINTR)
            return false;
        if (attach_is_given_up(target) || attach_is_stopped(target, NULL)) {
            errno = ETIMEDOUT;
            return false;
        }
    }
}

/* `is_refused`: it takes no more, and what it said can still be read. */
static bool send_all(const struct attach_target *target, int fd, const char *bytes,
                     size_t length_bytes, uint64_t deadline_ns, bool *is_refused)
{
    *is_refused = false;
    while (length_bytes > 0) {
        const ssize_t sent = send(fd, bytes, length_bytes, MSG_NOSIGNAL);

        if (sent > 0) {
            bytes += sent;
            length_bytes -= (size_t)sent;
        } else if (sent < 0 && errno == EPIPE) {
            *is_refused = true;
            return true;
        } else if (sent == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        } else if (!wait_ready(target, fd, POLLOUT, deadline_ns)) {
            return false;
        }
    }
    return true;
}

/* Until the JVM closes its end; what goes beyond the room is read and dropped, up to the deadline. */
static bool receive_all(const struct attach_target *target, int fd, char *bytes, size_t room_bytes,
                        size_t *length_bytes, uint64_t deadline_ns)
{
    char dropped[512];

    *length_bytes = 0;
    for (;;) {
        const bool is_full = *length_bytes == room_bytes;
        const ssize_t count = recv(fd, is_full ? dropped : bytes + *length_bytes,
                                   is_full ? sizeof dropped : room_bytes - *length_bytes, 0);

        if (count == 0 || (count < 0 && errno == ECONNRESET))
            return true;
        if (count > 0) {
            if (!is_full)
                *length_bytes += (size_t)count;
            if (jw_now_ns() < deadline_ns)
                continue;
            errno = ETIMEDOUT;
            return false;
        }
        if (errno != EAGAIN && errno != EINTR)
            return false;
        if (!wait_ready(target, fd, POLLIN, deadline_ns))
            return false;
    }
}

static bool exchange(const struct attach_target *target, const char *request, size_t length_bytes,
                     uint64_t timeout_ns, struct attach_reply *reply, struct jw_error *err)
{
    char bytes[REPLY_BYTES];
    size_t reply_bytes = 0;
    const int fd = attach_connect(target, jw_now_ns() + CONNECT_TIMEOUT_NS, err);

    if (fd < 0)
        return false;

    uint64_t deadline_ns = jw_now_ns() + timeout_ns;
    bool is_refused;
    bool is_done = send_all(target, fd, request, length_bytes, deadline_ns, &is_refused);
    if (is_refused && timeout_ns > LAST_WORDS_NS)
        deadline_ns = jw_now_ns() + LAST_WORDS_NS;
    is_done = is_done && receive_all(target, fd, bytes, sizeof bytes, &reply_bytes, deadline_ns);
    const int reason = errno;
    close(fd);
    if (!is_done && attach_is_stopped(target, err))
        return false;
    if (!is_done && attach_is_given_up(target)) {
        jw_error_set(err, "given up before process %d answered", target->pid);
        return false;
    }
    if (!is_done) {
        if (!attach_is_alive(target))
            jw_error_set(err, "process %d ended before it answered", target->pid);
        else if (reason != ETIMEDOUT)
            jw_error_set(err, "the connection to process %d failed: %s; %s", target->pid,
                         strerror(reason), attach_advice(reason));
        else if (is_refused)
            jw_error_set(err,
                         "process %d took no request and said nothing: its attach listener is "
                         "held up; try again",
                         target->pid);
        else
            jw_error_set(err,
                         "process %d did not answer in time: its attach listener serves one tool "
                         "at a time, or is held up; try again",
                         target->pid);
        return false;
    }
    if (!attach_parse_reply(bytes, reply_bytes, reply)) {
        const char *why = !attach_is_alive(target) ? "it has ended"
                          : reply_bytes == 0
                              ? "it is ending, or serves tools of its own user and group only"
                              : "try again";

        jw_error_set(err, "process %d answered with %zu bytes that are no reply of a JVM: %s",
                     target->pid, reply_bytes, why);
        return false;
    }
    return true;
}

/* Version 1 does for all but long arguments, and every JVM knows it. */
static int version_for(const struct attach_target *target, const char *const arguments[3],
                       struct jw_error *err)
{
    static const char *const question[3] = {"options"};
    struct attach_reply reply;
    char request[64];
    size_t longest_bytes = 0;

    for (int i = 0; i < 3; i++) {
        const size_t length_bytes = arguments[i] == NULL ? 0 : strlen(arguments[i]);

        longest_bytes = length_bytes > longest_bytes ? length_bytes : longest_bytes;
    }
    if (longest_bytes <= ATTACH_ARGUMENT_MAX_BYTES)
        return 1;

    const size_t length_bytes = attach_encode(1, "getversion", question, request, sizeof request);
    if (!exchange(target, request, length_bytes, CONNECT_TIMEOUT_NS, &reply, err))
        return 0;
    if (reply.status == 0 && reply.text[0] >= '2' && reply.text[0] <= '9')
        return 2;
    jw_error_set(
        err,
        "path and options come to %zu bytes, and this JVM takes %d in one piece (JDK 24 and newer "
        "take more); shorten paths, title or options",
        longest_bytes, ATTACH_ARGUMENT_MAX_BYTES);
    return 0;
}

bool attach_request(const struct attach_target *target, const char *command,
                    const char *const arguments[3], uint64_t timeout_ns, struct attach_reply *reply,
                    struct jw_error *err)
{
    const int version = version_for(target, arguments, err);
    char *request = version == 0 ? NULL : jw_alloc(ATTACH_REQUEST_BYTES);
    bool is_done = false;

    if (version == 0)
        return false;
    if (request == NULL) {
        jw_error_set(err, "no memory for a request of %d bytes", ATTACH_REQUEST_BYTES);
        return false;
    }
    const size_t length_bytes =
        attach_encode(version, command, arguments, request, ATTACH_REQUEST_BYTES);
    if (length_bytes == 0)
        jw_error_set(err, "the request is too long; shorten paths, title or options");
    else
        is_done = exchange(target, request, length_bytes, timeout_ns, reply, err);
    jw_free(request);
    return is_done;
}

/* One line of what others wrote, without what a terminal might obey. */
static void first_line(const char *text, char *line, size_t room_bytes)
{
    size_t used_bytes = 0;

    for (; *text != '\0' && used_bytes + 1 < room_bytes; text++) {
        if (*text == '\n' && text[1] == '\0')
            break;
        line[used_bytes++] = (char)(*text == '\n'                                  ? ' '
                                    : (unsigned char)*text < 0x20 || *text == 0x7f ? '?'
                                                                                   : *text);
    }
    line[used_bytes] = '\0';
}

bool attach_load(const struct attach_target *target, const char *library, const char *options,
                 uint64_t timeout_ns, int *code, struct jw_error *err)
{
    const char *const arguments[3] = {library, "true", options};
    struct attach_reply reply;
    char line[300];

    if (!attach_request(target, "load", arguments, timeout_ns, &reply, err))
        return false;
    if (reply.status == 0 && attach_parse_load(reply.text, code))
        return true;
    first_line(reply.text, line, sizeof line);
    /* Source: OpenJDK 25, jvmtiAgentList.cpp and jvmtiAgent.cpp: both texts, in English everywhere. */
    if (strstr(line, "EnableDynamicAgentLoading") != NULL)
        jw_error_set(err,
                     "process %d was started with -XX:-EnableDynamicAgentLoading, so it loads no "
                     "agent; start "
                     "it without that, or under 'jaywalk record'",
                     target->pid);
    else if (strstr(line, "live phase") != NULL)
        jw_error_set(err,
                     "the JVM of process %d is still starting or ending; nothing was done, try "
                     "again in a moment",
                     target->pid);
    else
        jw_error_set(err, "the JVM of process %d did not load %s (status %d)%s%s", target->pid,
                     library, reply.status, line[0] == '\0' ? "" : ": ", line);
    return false;
}
