/*
 * Answers to the command jaywalk: what a command to the agent has to say goes, besides the number that
 * Agent_OnAttach gives, into a file that the command made for it and names in option `answer`; control.
 * Lines of text, the last one "= CODE". At most two are open: of the thread that was attached to, and of the
 * agent's own, which ends what takes longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/atomics.h"
#include "os/os_tasks.h"

#define ANSWER_LIMIT_BYTES 3500 /* of messages; the last line always has room */

/* Owners of an answer that no thread has. */
enum { ANSWER_FREE = 0, ANSWER_PARKED = -1 };

static struct answer {
    _Atomic int owner; /* thread id */
    int fd;
    size_t used_bytes;
} answers[2];

static struct answer *owned_by(int owner)
{
    for (size_t i = 0; i < JW_COUNT_OF(answers); i++) {
        /* order ANSWER_OWNER: acquires the descriptor that the last owner set, or has closed. */
        if (jw_load_acquire(&answers[i].owner) == owner)
            return &answers[i];
    }
    return NULL;
}

static void set_owner(struct answer *answer, int owner)
{
    /* order ANSWER_OWNER: releases what the answer holds to its next owner. */
    jw_store_release(&answer->owner, owner);
}

/* Empty, a plain file with one name, of our user and for nobody else: only such a one was made for us. */
static const char *why_not(int fd)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return strerror(errno);
    if (!S_ISREG(file.st_mode) || file.st_nlink != 1 || file.st_size != 0)
        return "not an empty file with one name";
    if (file.st_uid != geteuid() || (file.st_mode & 077) != 0)
        return "not a file of this user alone";
    return NULL;
}

bool answer_open(const char *path, struct jw_error *err)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const char *why = fd < 0 ? strerror(errno) : why_not(fd);
    struct answer *answer = owned_by(ANSWER_FREE);

    if (why == NULL && answer == NULL)
        why = "too many commands at once; try again";
    if (why != NULL) {
        jw_error_set(err, "answer=%.200s: %s; this option is for the command jaywalk", path, why);
        if (fd >= 0)
            close(fd);
        return false;
    }
    answer->fd = fd;
    answer->used_bytes = 0;
    set_owner(answer, os_gettid());
    return true;
}

static void put(const struct answer *answer, const char *text, size_t length_bytes)
{
    ssize_t written;

    do
        written = write(answer->fd, text, length_bytes);
    while (written < 0 && errno == EINTR);
}

bool answer_say(const char *line, size_t length_bytes)
{
    struct answer *answer = owned_by(os_gettid());

    if (answer == NULL)
        return false;
    if (answer->used_bytes + length_bytes <= ANSWER_LIMIT_BYTES)
        put(answer, line, length_bytes);
    answer->used_bytes += length_bytes;
    return true;
}

void answer_end(int code)
{
    struct answer *answer = owned_by(os_gettid());
    char line[32];

    if (answer == NULL)
        return;
    put(answer, line, (size_t)snprintf(line, sizeof line, "= %d\n", code));
    close(answer->fd);
    set_owner(answer, ANSWER_FREE);
}

void answer_park(void)
{
    struct answer *answer = owned_by(os_gettid());

    if (answer != NULL)
        set_owner(answer, ANSWER_PARKED);
}

void answer_adopt(void)
{
    struct answer *answer = owned_by(ANSWER_PARKED);

    if (answer != NULL)
        set_owner(answer, os_gettid());
}
