/* Numbers of descriptors that are closed and used again at once, and at times nearly used up. Whoever still used an old
 * number would close, read or write what is somebody else's now. */
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD 24
#define MANY 512
#define LEFT 64 /* for all others */

/* A descriptor, and by what it is known to be the one that was opened. */
struct held {
    int fd;
    int kind;
    dev_t device;
    ino_t inode;
    uint64_t value; /* of an eventfd, or the byte in a pipe */
    int other;      /* end of the pipe */
};

enum { CLOSED, EVENT, PIPE, FILE_OF_OWN };

static void open_one(struct storm *storm, struct held *held, uint64_t *random)
{
    struct stat status;
    int ends[2];
    char name[4200];
    uint8_t byte;

    held->kind = 1 + (int)chaos_random_below(random, 3);
    held->value = 1 + chaos_random_below(random, 200);
    held->other = -1;
    byte = (uint8_t)held->value;
    switch (held->kind) {
    case EVENT:
        held->fd = eventfd((unsigned)held->value, EFD_CLOEXEC | EFD_NONBLOCK);
        break;
    case PIPE:
        held->fd = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 ? ends[0] : -1;
        held->other = held->fd < 0 ? -1 : ends[1];
        if (held->fd >= 0 && write(ends[1], &byte, 1) != 1)
            storm_violated(storm, "write to an empty pipe: %s", strerror(errno));
        break;
    default:
        snprintf(name, sizeof name, "%s/file", storm->directory);
        held->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
        break;
    }
    if (held->fd < 0 || fstat(held->fd, &status) != 0) {
        STORM_EXPECT(storm, errno == EMFILE || errno == ENFILE, "no descriptor: %s",
                     strerror(errno));
        held->kind = CLOSED;
        return;
    }
    held->device = status.st_dev;
    held->inode = status.st_ino;
}

/* m69: still ours, still open, and nobody took or added anything. */
static void close_one(struct storm *storm, struct held *held)
{
    struct stat status;
    uint64_t value = 0;
    uint8_t bytes[2] = {0};

    if (held->kind == CLOSED)
        return;
    STORM_EXPECT(storm,
                 fstat(held->fd, &status) == 0 && status.st_dev == held->device &&
                     status.st_ino == held->inode,
                 "descriptor %d is another one now", held->fd);
    if (held->kind == EVENT)
        STORM_EXPECT(
            storm, read(held->fd, &value, sizeof value) == sizeof value && value == held->value,
            "an eventfd gives %lu, not %lu", (unsigned long)value, (unsigned long)held->value);
    if (held->kind == PIPE)
        STORM_EXPECT(storm, read(held->fd, bytes, 2) == 1 && bytes[0] == held->value,
                     "a pipe gives another byte than was written");
    STORM_EXPECT(storm, close(held->fd) == 0, "close of %d: %s", held->fd, strerror(errno));
    if (held->other >= 0)
        STORM_EXPECT(storm, close(held->other) == 0, "close of %d: %s", held->other,
                     strerror(errno));
    held->kind = CLOSED;
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    struct held held[HELD];

    memset(held, 0, sizeof held);
    while (storm_goes_on(storm)) {
        for (int turn = 0; turn < 50; turn++) {
            struct held *one = &held[chaos_random_below(&random, HELD)];

            close_one(storm, one);
            open_one(storm, one, &random);
        }
        /* Over another one, as programs do with their logs: its number goes on, as something else. */
        for (int turn = 0; turn < 5; turn++) {
            struct held *one = &held[chaos_random_below(&random, HELD)];
            const int fd = one->fd;

            close_one(storm, one);
            open_one(storm, one, &random);
            if (one->kind == EVENT && fd >= 0 && one->fd != fd && fcntl(fd, F_GETFD) == -1) {
                /* The lowest free number may be `fd` itself for some other thread: only F_DUPFD asks first. */
                const int copy = fcntl(one->fd, F_DUPFD_CLOEXEC, fd);

                if (copy >= 0) {
                    close(one->fd);
                    one->fd = copy;
                }
            }
        }
        storm_did(storm, 55);
        chaos_sleep_us(500);
    }
    for (int i = 0; i < HELD; i++)
        close_one(storm, &held[i]);
    return NULL;
}

/* Nearly all that the process may have, for a moment; some are left, as no other storm is about this. */
static void use_up(struct storm *storm)
{
    int fds[MANY];
    int used = 0;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    while (used < MANY) {
        fds[used] = eventfd(0, EFD_CLOEXEC);
        if (fds[used] < 0)
            break;
        used++;
        if ((rlim_t)fds[used - 1] + LEFT >= limit.rlim_cur)
            break;
    }
    chaos_burn_us(3000);
    for (int i = 0; i < used; i++)
        STORM_EXPECT(storm, close(fds[i]) == 0, "close of %d: %s", fds[i], strerror(errno));
    storm_did(storm, used);
}

void descriptors_round(struct storm *storm)
{
    use_up(storm);
    storm_threads(storm, 2 * storm->intensity, churn, storm);
}
