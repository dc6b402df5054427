/*
 * What the agent says to the command; tool.
 *
 * The attach protocol brings back a number only. So the command makes a file in the target's /tmp, with
 * a name that nobody can guess, for its user alone; the agent opens it by name, the command reads by its
 * own descriptor, and takes the name away at the end. The last line, "= CODE", ends the answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach_internal.h"
#include "base/clock.h"

#define STEP_FIRST_NS (2 * JW_NS_PER_MS)
#define STEP_LAST_NS  (50 * JW_NS_PER_MS)

bool attach_answer_open(const struct attach_target *target, struct attach_answer *answer,
                        struct jw_error *err)
{
    memset(answer, 0, sizeof *answer);
    answer->fd = answer->directory_fd = -1;
    if (!attach_random_name(answer->name, sizeof answer->name, err))
        return false;
    snprintf(answer->path, sizeof answer->path, "/tmp/%s", answer->name);
    answer->directory_fd = attach_open_tmp(target);
    if (answer->directory_fd >= 0)
        answer->fd = openat(answer->directory_fd, answer->name,
                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (answer->fd >= 0)
        return true;
    const int reason = errno;
    if (attach_has_ended(target, err)) {
        attach_answer_close(answer);
        return false;
    }
    jw_error_set(err, "/tmp of process %d takes no file for the agent's answer: %s; %s",
                 target->pid, strerror(reason), attach_advice_tmp(reason));
    attach_answer_close(answer);
    return false;
}

/* The last line of a text that is complete: "= 200\n". Cuts it off. */
static bool cut_end(char *text, size_t length_bytes, int *code)
{
    if (length_bytes == 0 || text[length_bytes - 1] != '\n')
        return false;

    char *line = memrchr(text, '\n', length_bytes - 1);
    line = line == NULL ? text : line + 1;
    if (line[0] != '=' || line[1] != ' ')
        return false;

    char *end;
    const long value = strtol(line + 2, &end, 10);
    if (end == line + 2 || *end != '\n')
        return false;
    *code = (int)value;
    *line = '\0';
    return true;
}

bool attach_answer_read(const struct attach_answer *answer, char *text, size_t room_bytes,
                        int *code, struct jw_error *err)
{
    size_t length_bytes = 0;

    for (;;) {
        const ssize_t count = pread(answer->fd, text + length_bytes, room_bytes - 1 - length_bytes,
                                    (off_t)length_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            jw_error_set(err, "what the agent answers cannot be read (%s): %s", answer->path,
                         strerror(errno));
            text[0] = '\0';
            return false;
        }
        if (count == 0)
            break;
        length_bytes += (size_t)count;
    }
    text[length_bytes] = '\0';
    return memchr(text, '\0', length_bytes) == NULL && cut_end(text, length_bytes, code);
}

bool attach_answer_wait(const struct attach_target *target, const struct attach_answer *answer,
                        uint64_t timeout_ns, char *text, size_t room_bytes, int *code,
                        struct jw_error *err)
{
    const uint64_t deadline_ns = jw_now_ns() + timeout_ns;
    uint64_t step_ns = STEP_FIRST_NS;
    struct jw_error why = {{0}};

    for (;;) {
        if (attach_answer_read(answer, text, room_bytes, code, &why))
            return true;
        if (why.message[0] != '\0') {
            jw_error_set(err, "%s", why.message);
            return false;
        }
        if (jw_now_ns() >= deadline_ns || attach_is_given_up(target))
            return false;
        if (attach_wait(target, step_ns) || !attach_is_alive(target))
            return attach_answer_read(answer, text, room_bytes, code, err);
        step_ns = step_ns < STEP_LAST_NS ? step_ns * 2 : STEP_LAST_NS;
    }
}

void attach_answer_close(struct attach_answer *answer)
{
    if (answer->fd >= 0) {
        (void)unlinkat(answer->directory_fd, answer->name, 0);
        close(answer->fd);
    }
    if (answer->directory_fd >= 0)
        close(answer->directory_fd);
    answer->fd = answer->directory_fd = -1;
}
