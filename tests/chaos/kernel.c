/* System calls that work for long, or wait in rarer ways than those of waits.c: memory for files, several messages at
 * once, rings of the kernel's. None of them ends with EINTR because of the profiler. */
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES  ((off_t)64 << 20)
#define ENTRIES     8
#define TIMEOUT_MS  20
#define READ_MARK   7
#define BLOCK_BYTES 512

/* m37: room in a file of memory is given back whole when a signal comes before all of it is there. A program that tries
 * again would never get it. */
static void allocate_file(struct storm *storm)
{
    const int fd = memfd_create("chaos", MFD_CLOEXEC);

    if (fd < 0) {
        storm_violated(storm, "memfd_create: %s", strerror(errno));
        return;
    }
    STORM_EXPECT(storm, fallocate(fd, 0, 0, FILE_BYTES) == 0 || errno == ENOSPC, "fallocate: %s",
                 strerror(errno));
    close(fd);
}

static void receive_several(struct storm *storm)
{
    const struct timeval time = {.tv_usec = TIMEOUT_MS * 1000};
    char bytes[2][16];
    struct iovec parts[2] = {{bytes[0], 16}, {bytes[1], 16}};
    struct mmsghdr messages[2];
    int pair[2];
    int received;

    memset(messages, 0, sizeof messages);
    for (int i = 0; i < 2; i++) {
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) {
        storm_violated(storm, "socketpair: %s", strerror(errno));
        return;
    }
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    received = recvmmsg(pair[0], messages, 2, 0, NULL);
    STORM_EXPECT(storm, received == -1 && errno == EAGAIN, "recvmmsg: %d, %s", received,
                 strerror(errno));
    close(pair[0]);
    close(pair[1]);
}

/* A ring, as the kernel's interface has it, without a library. */
struct ring {
    int fd;
    struct io_uring_params params;
    uint8_t *submissions;
    uint8_t *completions;
    struct io_uring_sqe *entries;
    size_t submission_bytes;
    size_t completion_bytes;
};

static bool open_ring(struct ring *ring)
{
    memset(ring, 0, sizeof *ring);
    ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
    if (ring->fd < 0)
        return false;
    ring->submission_bytes = ring->params.sq_off.array + ring->params.sq_entries * sizeof(uint32_t);
    ring->completion_bytes =
        ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
    ring->submissions = mmap(NULL, ring->submission_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                             ring->fd, IORING_OFF_SQ_RING);
    ring->completions = mmap(NULL, ring->completion_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                             ring->fd, IORING_OFF_CQ_RING);
    ring->entries = mmap(NULL, ring->params.sq_entries * sizeof *ring->entries,
                         PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
    return ring->submissions != MAP_FAILED && ring->completions != MAP_FAILED &&
           (void *)ring->entries != MAP_FAILED;
}

static void close_ring(struct ring *ring)
{
    munmap(ring->submissions, ring->submission_bytes);
    munmap(ring->completions, ring->completion_bytes);
    munmap(ring->entries, ring->params.sq_entries * sizeof *ring->entries);
    close(ring->fd);
}

/* By a thread of the kernel's own, which is among those of this process while it waits for the bytes. */
static void submit_read(struct ring *ring, int fd, void *bytes, size_t length_bytes)
{
    _Atomic uint32_t *tail = (_Atomic uint32_t *)(ring->submissions + ring->params.sq_off.tail);
    uint32_t *order = (uint32_t *)(ring->submissions + ring->params.sq_off.array);
    const uint32_t slot = atomic_load(tail) & (ring->params.sq_entries - 1);
    struct io_uring_sqe *entry = &ring->entries[slot];

    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_READ;
    entry->flags = IOSQE_ASYNC;
    entry->fd = fd;
    entry->addr = (uint64_t)(uintptr_t)bytes;
    entry->len = (uint32_t)length_bytes;
    entry->off = UINT64_MAX;
    entry->user_data = READ_MARK;
    order[slot] = slot;
    atomic_fetch_add(tail, 1);
}

/* What the next completion says; false when there is none. */
static bool complete(struct ring *ring, int *result)
{
    _Atomic uint32_t *head = (_Atomic uint32_t *)(ring->completions + ring->params.cq_off.head);
    _Atomic uint32_t *tail = (_Atomic uint32_t *)(ring->completions + ring->params.cq_off.tail);
    const struct io_uring_cqe *entries =
        (const struct io_uring_cqe *)(ring->completions + ring->params.cq_off.cqes);

    if (atomic_load(head) == atomic_load(tail))
        return false;
    *result = entries[atomic_load(head) & (ring->params.cq_entries - 1)].res;
    atomic_fetch_add(head, 1);
    return true;
}

/* The call itself, as programs have it that use rings: the C library's syscall() leaves no trace of its number, so that it
 * cannot go on (docs/adr/0008). */
static long wait_for_one(const struct ring *ring)
{
#if defined(__x86_64__)
    register uint64_t flags __asm__("r10") = IORING_ENTER_GETEVENTS;
    register uint64_t no_mask __asm__("r8") = 0;
    register uint64_t no_bytes __asm__("r9") = 0;
    long result;

    __asm__ volatile("mov $426, %%eax\n\tsyscall"
                     : "=a"(result)
                     : "D"((long)ring->fd), "S"(0L), "d"(1L), "r"(flags), "r"(no_mask),
                       "r"(no_bytes)
                     : "rcx", "r11", "memory");
    return result;
#else
    while (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 0)
        ;
    return 0;
#endif
}

struct writer {
    struct storm *storm;
    int fd;
    uint64_t seed;
};

static void *write_late(void *argument)
{
    const struct writer *writer = argument;
    uint8_t bytes[BLOCK_BYTES];

    chaos_fill(bytes, sizeof bytes, writer->seed);
    chaos_burn_us(500);
    chaos_sleep_us(TIMEOUT_MS * 1000);
    STORM_EXPECT(writer->storm, write(writer->fd, bytes, sizeof bytes) == sizeof bytes, "write: %s",
                 strerror(errno));
    return NULL;
}

static void read_by_ring(struct storm *storm, struct ring *ring, uint64_t *random)
{
    struct writer writer = {.storm = storm, .seed = chaos_random(random)};
    uint8_t bytes[BLOCK_BYTES] = {0};
    pthread_t thread;
    int result = 0;
    int ends[2];
    long entered;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    writer.fd = ends[1];
    submit_read(ring, ends[0], bytes, sizeof bytes);
    STORM_EXPECT(storm, syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1,
                 "io_uring_enter, to submit: %s", strerror(errno));
    if (pthread_create(&thread, NULL, write_late, &writer) == 0) {
        entered = wait_for_one(ring);
        STORM_EXPECT(storm, entered == 0, "io_uring_enter: %s", strerror((int)-entered));
        pthread_join(thread, NULL);
        while (entered != 0)
            entered = wait_for_one(ring);
        STORM_EXPECT(storm,
                     complete(ring, &result) && result == BLOCK_BYTES &&
                         chaos_is_filled(bytes, sizeof bytes, writer.seed),
                     "a ring read %d bytes, or others", result);
    }
    close(ends[0]);
    close(ends[1]);
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    struct ring ring;
    /* Not everywhere: containers refuse rings more often than not. */
    const bool has_ring = open_ring(&ring);

    while (storm_goes_on(storm)) {
        const unsigned kind = (unsigned)chaos_random_below(&random, 8);

        if (kind == 0)
            allocate_file(storm);
        else if (kind < 4 || !has_ring)
            receive_several(storm);
        else
            read_by_ring(storm, &ring, &random);
        chaos_burn_us(300);
        storm_did(storm, 1);
    }
    if (has_ring)
        close_ring(&ring);
    return NULL;
}

void kernel_round(struct storm *storm)
{
    storm_threads(storm, 2 * storm->intensity, churn, storm);
}
