/*
 * Answers to the command jaywalk: what a command to the agent has to say goes, besides the number that
 * Agent_OnAttach gives, into a file that the command made for it and names in option `answer`; control.
 * Lines of text, the last one "= CODE". A text that is long goes into a second such file, option `show`. What a
 * command of the program itself (Java API) is answered goes into memory instead, long texts behind the lines. There
 * is room for one of each command that waits, of the one at work and of the one that arrives.
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
#define SHOW_LIMIT_BYTES   ((size_t)64 << 20)

/* Owners of an answer that no thread has. */
enum { ANSWER_FREE = 0, ANSWER_PARKED = -1 };

static struct answer {
    _Atomic int owner; /* thread id */
    int fd;
    int show_fd;                  /* -1: none */
    struct answer_memory *memory; /* instead of both; NULL: none */
    size_t used_bytes;
    size_t shown_bytes;
} answers[COMMANDS_WAITING + 2];

static struct answer *owned_by(int owner)
{
    for (size_t i = 0; i < JW_COUNT_OF(answers); i++) {
        /* order ANSWER_OWNER: acquires the descriptors that the last owner set, or has closed. */
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

/* -1 and `err`: not such a file. */
static int open_file(const char *option, const char *path, struct jw_error *err)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const char *why = fd < 0 ? strerror(errno) : why_not(fd);

    if (why == NULL)
        return fd;
    jw_error_set(err, "%s=%.200s: %s; this option is for the command jaywalk", option, path, why);
    if (fd >= 0)
        close(fd);
    return -1;
}

bool answer_open(const struct options *options, struct jw_error *err)
{
    const int fd = open_file("answer", options->answer, err);
    if (fd < 0)
        return false;

    const int show_fd = options->show[0] == '\0' ? -1 : open_file("show", options->show, err);
    struct answer *answer = owned_by(ANSWER_FREE);
    if (answer == NULL)
        jw_error_set(err, "too many commands at once; try again");
    if (answer == NULL || (show_fd < 0 && options->show[0] != '\0')) {
        close(fd);
        if (show_fd >= 0)
            close(show_fd);
        return false;
    }
    answer->fd = fd;
    answer->show_fd = show_fd;
    answer->memory = NULL;
    answer->used_bytes = answer->shown_bytes = 0;
    set_owner(answer, os_gettid());
    return true;
}

bool answer_open_memory(struct answer_memory *memory, struct jw_error *err)
{
    struct answer *answer = owned_by(ANSWER_FREE);

    *memory = (struct answer_memory){0};
    os_wake_init(&memory->done);
    if (answer == NULL) {
        jw_error_set(err, "too many commands at once; try again");
        return false;
    }
    answer->memory = memory;
    answer->fd = answer->show_fd = -1;
    answer->used_bytes = answer->shown_bytes = 0;
    set_owner(answer, os_gettid());
    return true;
}

/* False: there is no memory. */
static bool keep(struct answer_memory *memory, const char *text, size_t length_bytes)
{
    const size_t needed_bytes = memory->used_bytes + length_bytes;

    if (needed_bytes > memory->room_bytes) {
        const size_t room_bytes = 2 * needed_bytes + 1024;
        char *larger = jw_realloc_for(JW_MEMORY_WRITING, memory->text, room_bytes);

        if (larger == NULL)
            return false;
        memory->text = larger;
        memory->room_bytes = room_bytes;
    }
    memcpy(memory->text + memory->used_bytes, text, length_bytes);
    memory->used_bytes = needed_bytes;
    return true;
}

bool answer_is_gone(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* False: not all of it. */
static bool put(int fd, const char *text, size_t length_bytes)
{
    while (length_bytes > 0) {
        const ssize_t written = write(fd, text, length_bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length_bytes -= (size_t)written;
    }
    return true;
}

bool answer_say(const char *line, size_t length_bytes)
{
    struct answer *answer = owned_by(os_gettid());

    if (answer == NULL)
        return false;
    if (answer->memory != NULL)
        (void)keep(answer->memory, line, length_bytes);
    else if (answer->used_bytes + length_bytes <= ANSWER_LIMIT_BYTES)
        (void)put(answer->fd, line, length_bytes);
    answer->used_bytes += length_bytes;
    return true;
}

bool answer_takes_text(void)
{
    const struct answer *answer = owned_by(os_gettid());

    return answer != NULL && (answer->memory != NULL || answer->show_fd >= 0);
}

bool answer_show(void *context, const void *bytes, size_t length_bytes, struct jw_error *err)
{
    struct answer *answer = owned_by(os_gettid());

    (void)context;
    if (answer == NULL || (answer->memory == NULL && answer->show_fd < 0)) {
        jw_error_set(err, "nobody takes the text; name a file with file=NAME");
        return false;
    }
    if (answer->shown_bytes + length_bytes > SHOW_LIMIT_BYTES) {
        jw_error_set(err, "the text has more than %zu MiB; write it into a file with file=NAME",
                     SHOW_LIMIT_BYTES >> 20);
        return false;
    }
    if (answer->memory != NULL && !keep(answer->memory, bytes, length_bytes)) {
        jw_error_set(err, "no memory is left for the text; write it into a file with file=NAME");
        return false;
    }
    if (answer->memory == NULL && !put(answer->show_fd, bytes, length_bytes)) {
        jw_error_set(err, "/tmp of the JVM takes no more of the text: %s", strerror(errno));
        return false;
    }
    answer->shown_bytes += length_bytes;
    return true;
}

void answer_end(int code)
{
    struct answer *answer = owned_by(os_gettid());
    char line[32];

    if (answer == NULL)
        return;
    if (answer->memory != NULL) {
        struct answer_memory *memory = answer->memory;

        memory->code = code;
        set_owner(answer, ANSWER_FREE);
        os_wake_post(&memory->done); /* from here on it is not ours */
        return;
    }
    if (answer->show_fd >= 0)
        close(answer->show_fd);
    (void)put(answer->fd, line, (size_t)snprintf(line, sizeof line, "= %d\n", code));
    close(answer->fd);
    set_owner(answer, ANSWER_FREE);
}

int answer_park(void)
{
    struct answer *answer = owned_by(os_gettid());

    if (answer == NULL)
        return ANSWER_NONE;
    set_owner(answer, ANSWER_PARKED);
    return (int)(answer - answers);
}

void answer_adopt(int answer)
{
    if (answer == ANSWER_NONE)
        return;
    /* order ANSWER_OWNER: acquires what the thread that parked it left there. */
    if (JW_INVARIANT(jw_load_acquire(&answers[answer].owner) == ANSWER_PARKED))
        set_owner(&answers[answer], os_gettid());
}
