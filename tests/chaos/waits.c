/* System calls that wait, with a time-out or until another thread does something: none ends with EINTR, none early.
 * What is promised is docs/contexts.md and docs/adr/0008. */
#include "chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What one thread waits on; nothing ever comes. */
struct place {
    int pipe[2];
    int pair[2];
    int full[2]; /* written until nothing more fits */
    int epoll;
    int listener;
    int messages;
    int semaphores;
    mqd_t queue; /* -1 where there are none */
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_mutex_t held; /* by nobody who ends */
    uint32_t word;
};

static void set_timeout(int fd, int option, int ms)
{
    const struct timeval time = {.tv_usec = ms * 1000};

    setsockopt(fd, SOL_SOCKET, option, &time, sizeof time);
}

static mqd_t open_queue(void)
{
    static _Atomic int number;
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[64];
    mqd_t queue;

    snprintf(name, sizeof name, "/chaos-%d-%d", (int)getpid(), atomic_fetch_add(&number, 1));
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (queue != (mqd_t)-1)
        mq_unlink(name);
    return queue;
}

static bool open_place(struct place *place, int ms)
{
    pthread_condattr_t monotonic;
    char bytes[1024] = {0};

    memset(place, 0, sizeof *place);
    if (pipe2(place->pipe, O_CLOEXEC) != 0)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, place->pair) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, place->full) != 0)
        return false;
    while (send(place->full[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    set_timeout(place->pair[0], SO_RCVTIMEO, ms);
    set_timeout(place->full[0], SO_SNDTIMEO, ms);
    place->epoll = epoll_create1(EPOLL_CLOEXEC);
    place->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listen(place->listener, 1);
    set_timeout(place->listener, SO_RCVTIMEO, ms);
    place->messages = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    place->semaphores = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    place->queue = open_queue();
    sem_init(&place->semaphore, 0, 0);
    pthread_mutex_init(&place->mutex, NULL);
    pthread_mutex_init(&place->held, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&place->condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return true;
}

static void close_place(struct place *place)
{
    const int fds[] = {place->pipe[0], place->pipe[1], place->pair[0], place->pair[1],
                       place->full[0], place->full[1], place->epoll,   place->listener};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        close(fds[i]);
    msgctl(place->messages, IPC_RMID, NULL);
    semctl(place->semaphores, 0, IPC_RMID);
    if (place->queue != (mqd_t)-1)
        mq_close(place->queue);
}

static struct timespec span(int ms)
{
    return (struct timespec){.tv_nsec = ms * CHAOS_MS};
}

static struct timespec until(clockid_t clock, int ms)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_nsec += ms * CHAOS_MS;
    if (time.tv_nsec >= CHAOS_S) {
        time.tv_nsec -= CHAOS_S;
        time.tv_sec++;
    }
    return time;
}

static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

static int do_nanosleep(struct place *place, int ms)
{
    const struct timespec time = span(ms);

    (void)place;
    return error_of(nanosleep(&time, NULL));
}

static int do_sleep_until(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_MONOTONIC, ms);

    (void)place;
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int do_clock_nanosleep(struct place *place, int ms)
{
    const struct timespec time = span(ms);

    (void)place;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static int do_poll(struct place *place, int ms)
{
    struct pollfd fd = {.fd = place->pipe[0], .events = POLLIN};

    return error_of(poll(&fd, 1, ms));
}

static int do_ppoll(struct place *place, int ms)
{
    const struct timespec time = span(ms);
    struct pollfd fd = {.fd = place->pipe[0], .events = POLLIN};

    return error_of(ppoll(&fd, 1, &time, NULL));
}

static int do_select(struct place *place, int ms)
{
    struct timeval time = {.tv_usec = ms * 1000};
    fd_set set;

    (void)place;
    FD_ZERO(&set);
    return error_of(select(0, &set, NULL, NULL, &time));
}

static int do_pselect(struct place *place, int ms)
{
    const struct timespec time = span(ms);

    (void)place;
    return error_of(pselect(0, NULL, NULL, NULL, &time, NULL));
}

static int do_epoll(struct place *place, int ms)
{
    struct epoll_event event;

    return error_of(epoll_wait(place->epoll, &event, 1, ms));
}

static int do_recv(struct place *place, int ms)
{
    char byte;

    (void)ms;
    return error_of(recv(place->pair[0], &byte, 1, 0));
}

static int do_recvmsg(struct place *place, int ms)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    (void)ms;
    return error_of(recvmsg(place->pair[0], &message, 0));
}

static int do_read_socket(struct place *place, int ms)
{
    char byte;

    (void)ms;
    return error_of(read(place->pair[0], &byte, 1));
}

static int do_send(struct place *place, int ms)
{
    const char bytes[4096] = {0};

    (void)ms;
    return error_of(send(place->full[0], bytes, sizeof bytes, MSG_NOSIGNAL));
}

static int do_accept(struct place *place, int ms)
{
    (void)ms;
    return error_of(accept(place->listener, NULL, NULL));
}

static int do_sem_timedwait(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_REALTIME, ms);

    return error_of(sem_timedwait(&place->semaphore, &time));
}

static int do_cond_timedwait(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_MONOTONIC, ms);
    int error;

    pthread_mutex_lock(&place->mutex);
    error = pthread_cond_timedwait(&place->condition, &place->mutex, &time);
    pthread_mutex_unlock(&place->mutex);
    return error;
}

static int do_mutex_timedlock(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_REALTIME, ms);
    int error;

    /* The second time it is held: by this very thread, whom nobody will let go. */
    pthread_mutex_trylock(&place->held);
    error = pthread_mutex_timedlock(&place->held, &time);
    return error;
}

static int do_futex(struct place *place, int ms)
{
    const struct timespec time = span(ms);

    return error_of(syscall(SYS_futex, &place->word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0));
}

static int do_sigtimedwait(struct place *place, int ms)
{
    const struct timespec time = span(ms);
    sigset_t other;

    (void)place;
    sigemptyset(&other);
    sigaddset(&other, SIGRTMIN + 9);
    return error_of(sigtimedwait(&other, NULL, &time));
}

static int do_semtimedop(struct place *place, int ms)
{
    const struct timespec time = span(ms);
    struct sembuf down = {.sem_op = -1};

    return error_of(semtimedop(place->semaphores, &down, 1, &time));
}

static int do_mq_receive(struct place *place, int ms)
{
    const struct timespec time = until(CLOCK_REALTIME, ms);
    char bytes[8];

    if (place->queue == (mqd_t)-1) {
        chaos_sleep_us(ms * 1000);
        return ETIMEDOUT;
    }
    return error_of(mq_timedreceive(place->queue, bytes, sizeof bytes, NULL, &time));
}

/* `slack_ns`: sockets count in the kernel's ticks, and the clock of the day may be slewed. `is_by_ticks`: a virtual
 * machine may get several ticks late and at once; the clock of ticks is as late as they are. */
static const struct kind {
    const char *name;
    int (*call)(struct place *place, int ms);
    int expected;
    int64_t slack_ns;
    bool is_by_ticks;
} kinds[] = {
    {"nanosleep", do_nanosleep, 0, 0, false},
    {"clock_nanosleep until", do_sleep_until, 0, 0, false},
    {"clock_nanosleep", do_clock_nanosleep, 0, 0, false},
    {"poll", do_poll, 0, 0, false},
    {"ppoll", do_ppoll, 0, 0, false},
    {"select", do_select, 0, 0, false},
    {"pselect", do_pselect, 0, 0, false},
    {"epoll_wait", do_epoll, 0, 0, false},
    {"recv", do_recv, EAGAIN, 10 * CHAOS_MS, true},
    {"recvmsg", do_recvmsg, EAGAIN, 10 * CHAOS_MS, true},
    {"read", do_read_socket, EAGAIN, 10 * CHAOS_MS, true},
    {"send", do_send, EAGAIN, 10 * CHAOS_MS, true},
    {"accept", do_accept, EAGAIN, 10 * CHAOS_MS, true},
    {"sem_timedwait", do_sem_timedwait, ETIMEDOUT, CHAOS_MS / 10, false},
    {"pthread_cond_timedwait", do_cond_timedwait, ETIMEDOUT, 0, false},
    {"pthread_mutex_timedlock", do_mutex_timedlock, ETIMEDOUT, CHAOS_MS / 10, false},
    {"futex", do_futex, ETIMEDOUT, 0, false},
    {"sigtimedwait", do_sigtimedwait, EAGAIN, 0, false},
    {"semtimedop", do_semtimedop, EAGAIN, 0, false},
    {"mq_timedreceive", do_mq_receive, ETIMEDOUT, CHAOS_MS / 10, false},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static int64_t time_of(bool is_by_ticks)
{
    struct timespec now;

    clock_gettime(is_by_ticks ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &now);
    return now.tv_sec * CHAOS_S + now.tv_nsec;
}

/* m37: whatever signals of the profiler's come meanwhile. */
static void wait_once(struct storm *storm, struct place *place, const struct kind *kind, int ms)
{
    const int64_t start_ns = time_of(kind->is_by_ticks);
    const int error = kind->call(place, ms);
    const int64_t took_ns = time_of(kind->is_by_ticks) - start_ns;

    STORM_EXPECT(storm, error == kind->expected, "%s of %d ms: %s", kind->name, ms,
                 error == 0 ? "no error" : strerror(error));
    if (error == kind->expected)
        STORM_EXPECT(storm, took_ns >= ms * CHAOS_MS - kind->slack_ns,
                     "%s of %d ms ended after %ld us", kind->name, ms, (long)(took_ns / 1000));
}

/* Waits that another thread ends. */
struct served {
    struct storm *storm;
    struct place *place;
    int left;
};

static void *serve(void *argument)
{
    struct served *served = argument;
    struct {
        long type;
        char text[8];
    } message = {.type = 1};
    struct sembuf up = {.sem_op = 1};

    for (int i = 0; i < served->left; i++) {
        chaos_sleep_us(2000);
        STORM_EXPECT(served->storm, write(served->place->pipe[1], "x", 1) == 1, "write: %s",
                     strerror(errno));
        chaos_sleep_us(2000);
        msgsnd(served->place->messages, &message, sizeof message.text, 0);
        chaos_sleep_us(2000);
        semop(served->place->semaphores, &up, 1);
        chaos_sleep_us(2000);
        sem_post(&served->place->semaphore);
    }
    return NULL;
}

static void wait_for_others(struct storm *storm, struct place *place)
{
    struct served served = {.storm = storm, .place = place, .left = 5};
    struct {
        long type;
        char text[8];
    } message;
    struct sembuf down = {.sem_op = -1};
    pthread_t thread;
    char byte;

    if (pthread_create(&thread, NULL, serve, &served) != 0)
        return;
    for (int i = 0; i < served.left; i++) {
        STORM_EXPECT(storm, read(place->pipe[0], &byte, 1) == 1, "read of a pipe: %s",
                     strerror(errno));
        STORM_EXPECT(storm, msgrcv(place->messages, &message, sizeof message.text, 0, 0) >= 0,
                     "msgrcv: %s", strerror(errno));
        STORM_EXPECT(storm, semop(place->semaphores, &down, 1) == 0, "semop: %s", strerror(errno));
        STORM_EXPECT(storm, sem_wait(&place->semaphore) == 0, "sem_wait: %s", strerror(errno));
    }
    pthread_join(thread, NULL);
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    const int ms = 11 + (int)chaos_random_below(&random, 30);
    struct place place;

    if (!open_place(&place, ms)) {
        storm_violated(storm, "no place to wait on: %s", strerror(errno));
        return NULL;
    }
    while (storm_goes_on(storm)) {
        wait_once(storm, &place, &kinds[chaos_random_below(&random, KINDS)], ms);
        /* So that there are signals under way when the next one begins. */
        chaos_burn_us((int64_t)chaos_random_below(&random, 600));
        if (chaos_random_below(&random, 20) == 0)
            wait_for_others(storm, &place);
        storm_did(storm, 1);
    }
    close_place(&place);
    return NULL;
}

void waits_round(struct storm *storm)
{
    storm_threads(storm, 8 * storm->intensity, churn, storm);
}
