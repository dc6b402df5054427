/* Bytes from one thread to another through pipes, socket pairs and TCP, counts through eventfds, expirations of timerfds,
 * signals of signalfds: each comes once, in its order. */
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK_BYTES 4096

struct way {
    struct storm *storm;
    int in;
    int out;
    size_t wanted_bytes;
    uint64_t seed;
};

static uint8_t byte_of(size_t index, uint64_t seed)
{
    return (uint8_t)((index * 7 + (index >> 11)) ^ seed);
}

/* m37: a write may be short, and says so; it does not end with EINTR. */
static void *write_all(void *argument)
{
    const struct way *way = argument;
    uint64_t random = way->seed;
    uint8_t bytes[BLOCK_BYTES];
    size_t done_bytes = 0;

    while (done_bytes < way->wanted_bytes) {
        size_t block_bytes = 1 + (size_t)chaos_random_below(&random, BLOCK_BYTES);
        ssize_t written;

        if (block_bytes > way->wanted_bytes - done_bytes)
            block_bytes = way->wanted_bytes - done_bytes;
        for (size_t i = 0; i < block_bytes; i++)
            bytes[i] = byte_of(done_bytes + i, way->seed);
        written = write(way->out, bytes, block_bytes);
        if (written <= 0) {
            storm_violated(way->storm, "write: %s", strerror(errno));
            break;
        }
        done_bytes += (size_t)written;
        if (chaos_random_below(&random, 16) == 0)
            chaos_sleep_us((int64_t)chaos_random_below(&random, 2000));
    }
    return NULL;
}

/* m69: every byte, at its place. */
static void read_all(const struct way *way, uint64_t *random)
{
    uint8_t bytes[BLOCK_BYTES];
    size_t done_bytes = 0;

    while (done_bytes < way->wanted_bytes) {
        const size_t room_bytes = 1 + (size_t)chaos_random_below(random, BLOCK_BYTES);
        const struct iovec parts[2] = {{bytes, room_bytes / 2},
                                       {bytes + room_bytes / 2, room_bytes - room_bytes / 2}};
        const ssize_t length =
            chaos_random(random) & 1 ? read(way->in, bytes, room_bytes) : readv(way->in, parts, 2);

        if (length <= 0) {
            storm_violated(way->storm, "read at %zu of %zu bytes: %s", done_bytes,
                           way->wanted_bytes, length == 0 ? "end" : strerror(errno));
            return;
        }
        for (ssize_t i = 0; i < length; i++)
            if (bytes[i] != byte_of(done_bytes + (size_t)i, way->seed)) {
                storm_violated(way->storm, "byte %zu is %#x, not %#x", done_bytes + (size_t)i,
                               bytes[i], byte_of(done_bytes + (size_t)i, way->seed));
                return;
            }
        done_bytes += (size_t)length;
        if (chaos_random_below(random, 16) == 0)
            chaos_burn_us(300);
    }
}

static bool open_tcp(int ends[2])
{
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;

    ends[0] = ends[1] = -1;
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0 &&
        listen(listener, 4) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &length) == 0) {
        ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (ends[1] >= 0 && connect(ends[1], (struct sockaddr *)&address, length) == 0)
            ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    }
    if (listener >= 0)
        close(listener);
    return ends[0] >= 0;
}

static void transfer(struct storm *storm, uint64_t *random)
{
    struct way way = {.storm = storm, .seed = chaos_random(random) | 1};
    const unsigned kind = (unsigned)chaos_random_below(random, 3);
    int ends[2];
    bool is_open;
    pthread_t thread;

    if (kind == 0)
        is_open = pipe2(ends, O_CLOEXEC) == 0;
    else if (kind == 1)
        is_open = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    else
        is_open = open_tcp(ends);
    if (!is_open) {
        storm_violated(storm, "cannot open a way for bytes of kind %u: %s", kind, strerror(errno));
        return;
    }
    way.in = ends[0];
    way.out = ends[1];
    way.wanted_bytes = 1 + (size_t)chaos_random_below(random, 256 << 10);
    if (pthread_create(&thread, NULL, write_all, &way) == 0) {
        read_all(&way, random);
        /* A writer that waits for a reader that gave up ends by this. */
        close(way.in);
        pthread_join(thread, NULL);
    } else {
        close(way.in);
    }
    close(way.out);
}

struct counter {
    struct storm *storm;
    int fd;
    uint64_t wanted;
};

static void *add(void *argument)
{
    const struct counter *counter = argument;

    for (uint64_t i = 1; i <= counter->wanted; i++) {
        const uint64_t one = 1;

        STORM_EXPECT(counter->storm, write(counter->fd, &one, sizeof one) == sizeof one,
                     "write to an eventfd: %s", strerror(errno));
        if (i % 16 == 0)
            chaos_sleep_us(700);
    }
    return NULL;
}

static void count_events(struct storm *storm, uint64_t *random)
{
    const bool is_semaphore = chaos_random(random) & 1;
    struct counter counter = {.storm = storm, .wanted = 100};
    uint64_t sum = 0;
    pthread_t thread;

    counter.fd = eventfd(0, EFD_CLOEXEC | (is_semaphore ? EFD_SEMAPHORE : 0));
    if (counter.fd < 0 || pthread_create(&thread, NULL, add, &counter) != 0) {
        storm_violated(storm, "no eventfd: %s", strerror(errno));
        return;
    }
    while (sum < counter.wanted) {
        uint64_t some = 0;

        if (read(counter.fd, &some, sizeof some) != sizeof some) {
            storm_violated(storm, "read of an eventfd: %s", strerror(errno));
            break;
        }
        sum += some;
    }
    pthread_join(thread, NULL);
    STORM_EXPECT(storm, sum == counter.wanted, "an eventfd counted %lu of %lu", (unsigned long)sum,
                 (unsigned long)counter.wanted);
    close(counter.fd);
}

/* A timerfd's expirations are those of its time, no more, and the last is not early. */
static void count_expirations(struct storm *storm)
{
    const struct itimerspec every = {.it_interval.tv_nsec = CHAOS_MS, .it_value.tv_nsec = CHAOS_MS};
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const int64_t start_ns = chaos_now_ns();
    uint64_t sum = 0;

    if (fd < 0 || timerfd_settime(fd, 0, &every, NULL) != 0) {
        storm_violated(storm, "no timerfd: %s", strerror(errno));
        return;
    }
    while (sum < 30) {
        uint64_t some = 0;

        if (read(fd, &some, sizeof some) != sizeof some) {
            storm_violated(storm, "read of a timerfd: %s", strerror(errno));
            break;
        }
        sum += some;
        STORM_EXPECT(storm, (int64_t)sum * CHAOS_MS <= chaos_now_ns() - start_ns,
                     "a timerfd expired %lu times in %ld ns", (unsigned long)sum,
                     (long)(chaos_now_ns() - start_ns));
    }
    close(fd);
}

static void read_signals(struct storm *storm)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 6);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0) {
        storm_violated(storm, "no signalfd: %s", strerror(errno));
        return;
    }
    for (int i = 0; i < 20; i++)
        pthread_sigqueue(pthread_self(), SIGRTMIN + 6, (union sigval){.sival_int = i});
    for (int i = 0; i < 20; i++) {
        struct signalfd_siginfo info = {0};

        STORM_EXPECT(storm, read(fd, &info, sizeof info) == sizeof info && info.ssi_int == i,
                     "a signalfd gives %d for %d", info.ssi_int, i);
        chaos_burn_us(50);
    }
    close(fd);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);

    while (storm_goes_on(storm)) {
        switch (chaos_random_below(&random, 5)) {
        case 0:
            count_events(storm, &random);
            break;
        case 1:
            count_expirations(storm);
            break;
        case 2:
            read_signals(storm);
            break;
        default:
            transfer(storm, &random);
        }
        storm_did(storm, 1);
        chaos_sleep_us(1000);
    }
    return NULL;
}

void bytes_round(struct storm *storm)
{
    storm_threads(storm, 2 * storm->intensity, churn, storm);
}
