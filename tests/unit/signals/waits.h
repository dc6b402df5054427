/*
 * waits - system calls that wait for what never comes, and an engine that counts which of them a signal
 *         of ours interrupted. A part of each test file of it: everything is static.
 */
#ifndef JW_TESTS_WAITS_H
#define JW_TESTS_WAITS_H

#include <criterion/criterion.h>

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "signals/signals.h"
#include "support/emulated.h"
#include "thread/thread_tls.h"

/* Thread sanitizer also fills the mask of every handler. */
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN        true
#define SKIP_WITH_TSAN() cr_skip_test("thread sanitizer puts off signals of a thread that waits")
#else
#define WITH_TSAN        false
#define SKIP_WITH_TSAN() ((void)0)
#endif

/* An emulator of processes has no restart_syscall, and an order of its own for signals. */
#define SKIP_EMULATED()                                                                            \
    do {                                                                                           \
        if (is_emulated())                                                                         \
            cr_skip_test("the emulator knows no restart_syscall");                                 \
    } while (0)

static struct jw_error err;
static _Atomic int cut_count; /* signals of ours that found a call cut */
static _Atomic int taken;
static _Atomic int sent_inside; /* a signal that comes while the engine has ours; 0: none */

static void note(const struct signals_event *event)
{
    if (arch_syscall_state(event->ucontext) == ARCH_SYSCALL_CUT)
        jw_add_relaxed(&cut_count, 1);
    if (jw_load_relaxed(&sent_inside) != 0)
        pthread_kill(pthread_self(), jw_load_relaxed(&sent_inside));
    jw_count(JW_COUNT_SAMPLES);
    jw_add_relaxed(&taken, 1);
}

static const struct signals_engine engine JW_SIGNAL_TABLE = {.take = note};

static void own_and_start(void)
{
    cr_assert(signals_own(SIGPROF, &err), "%s", err.message);
    cr_assert(signals_own(SIGVTALRM, &err), "%s", err.message);
    cr_assert(signals_own_faults(&err), "%s", err.message);
    signals_start(&engine);
}

static void send_ours(pthread_t thread, int signo)
{
    const union sigval value = {.sival_ptr = (void *)signals_cookie(1)};

    cr_assert(pthread_sigqueue(thread, signo, value) == 0);
}

/* The calls ------------------------------------------------------------------------------------ */

#define SHORT_MS 15

/* What the calls wait on: nothing ever comes. */
static int ends[2];
static int pair[2];
static int epoll_fd;
static int listener;
static int queue;
static int semaphores;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint32_t futex_word;

static void open_all(uint64_t wait_ms)
{
    const struct timeval time = {.tv_sec = (time_t)(wait_ms / 1000),
                                 .tv_usec = (suseconds_t)(wait_ms % 1000 * 1000)};

    cr_assert(pipe(ends) == 0);
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    cr_assert(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
    cr_assert((epoll_fd = epoll_create1(0)) >= 0);
    cr_assert((listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
    cr_assert(listen(listener, 1) == 0);
    cr_assert(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
    queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
    semaphores = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    cr_assert(sem_init(&semaphore, 0, 0) == 0);
}

static void close_all(void)
{
    if (queue > 0)
        msgctl(queue, IPC_RMID, NULL);
    if (semaphores > 0)
        semctl(semaphores, 0, IPC_RMID);
}

static struct timespec time_of(uint64_t ms)
{
    return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
}

static struct timespec time_until(clockid_t clock, uint64_t ms)
{
    struct timespec until;

    clock_gettime(clock, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

/* 0, or the error. */
static int error_of(long result)
{
    return result < 0 ? errno : 0;
}

static int call_nanosleep(uint64_t ms)
{
    const struct timespec time = time_of(ms);
    struct timespec rest;

    return error_of(nanosleep(&time, &rest));
}

static int call_clock_nanosleep(uint64_t ms)
{
    const struct timespec time = time_of(ms);

    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static int call_clock_nanosleep_until(uint64_t ms)
{
    const struct timespec until = time_until(CLOCK_MONOTONIC, ms);

    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int call_usleep(uint64_t ms)
{
    return error_of(usleep((useconds_t)ms * 1000));
}

static int call_poll(uint64_t ms)
{
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};

    return error_of(poll(&fd, 1, (int)ms));
}

static int call_ppoll(uint64_t ms)
{
    const struct timespec time = time_of(ms);
    struct pollfd fd = {.fd = ends[0], .events = POLLIN};

    return error_of(ppoll(&fd, 1, &time, NULL));
}

static int call_select(uint64_t ms)
{
    struct timeval time = {.tv_sec = (time_t)(ms / 1000),
                           .tv_usec = (suseconds_t)(ms % 1000 * 1000)};
    fd_set set;

    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    return error_of(select(ends[0] + 1, &set, NULL, NULL, &time));
}

static int call_pselect(uint64_t ms)
{
    const struct timespec time = time_of(ms);

    return error_of(pselect(0, NULL, NULL, NULL, &time, NULL));
}

static int call_epoll_wait(uint64_t ms)
{
    struct epoll_event event;

    return error_of(epoll_wait(epoll_fd, &event, 1, (int)ms));
}

static int call_recv(uint64_t ms)
{
    char byte;

    (void)ms;
    return error_of(recv(pair[0], &byte, 1, 0));
}

__attribute__((unused)) static int call_recvmmsg(uint64_t ms)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

    (void)ms;
    return error_of(recvmmsg(pair[0], &message, 1, 0, NULL));
}

static int call_read(uint64_t ms)
{
    char byte;

    (void)ms;
    return error_of(read(pair[0], &byte, 1));
}

static int call_accept(uint64_t ms)
{
    (void)ms;
    return error_of(accept(listener, NULL, NULL));
}

static int call_sem_timedwait(uint64_t ms)
{
    const struct timespec until = time_until(CLOCK_REALTIME, ms);

    return error_of(sem_timedwait(&semaphore, &until));
}

static int call_cond_timedwait(uint64_t ms)
{
    const struct timespec until = time_until(CLOCK_REALTIME, ms);
    int error;

    pthread_mutex_lock(&mutex);
    error = pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return error;
}

/* Through the C library's syscall(), where the number is in no instruction. */
static int call_futex(uint64_t ms)
{
    const struct timespec time = time_of(ms);

    return error_of(syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0));
}

static int call_sigtimedwait(uint64_t ms)
{
    const struct timespec time = time_of(ms);
    sigset_t other;

    sigemptyset(&other);
    sigaddset(&other, SIGUSR2);
    return error_of(sigtimedwait(&other, NULL, &time));
}

__attribute__((unused)) static int call_semtimedop(uint64_t ms)
{
    const struct timespec time = time_of(ms);
    struct sembuf down = {.sem_op = -1};

    return error_of(semtimedop(semaphores, &down, 1, &time));
}

static const struct call {
    const char *name;
    int (*run)(uint64_t ms);
    int timed_out;   /* what it gives when its time is over */
    bool is_resumed; /* by restart_syscall, whatever the machine */
} calls[] = {
    {"nanosleep", call_nanosleep, 0, true},
    {"clock_nanosleep", call_clock_nanosleep, 0, true},
    {"clock_nanosleep until", call_clock_nanosleep_until, 0, false},
    {"usleep", call_usleep, 0, true},
    {"poll", call_poll, 0, false},
    {"ppoll", call_ppoll, 0, false},
    {"select", call_select, 0, false},
    {"pselect", call_pselect, 0, false},
    {"epoll_wait", call_epoll_wait, 0, false},
    {"recv", call_recv, EAGAIN, false},
    {"read", call_read, EAGAIN, false},
    {"accept", call_accept, EAGAIN, false},
    {"sem_timedwait", call_sem_timedwait, ETIMEDOUT, true},
    {"pthread_cond_timedwait", call_cond_timedwait, ETIMEDOUT, true},
    {"futex", call_futex, ETIMEDOUT, true},
    {"sigtimedwait", call_sigtimedwait, EAGAIN, false},
#if !defined(__aarch64__) /* its first argument is in no other register there: left alone */
    {"semtimedop", call_semtimedop, EAGAIN, false},
    {"recvmmsg", call_recvmmsg, EAGAIN, false},
#endif
};

#define LONG_MS (1000 * 1000) /* longer than any test */

/* A signal of somebody else's ------------------------------------------------------------------ */

static _Atomic int other_count;

static void on_other(int signo)
{
    (void)signo;
    jw_add_relaxed(&other_count, 1);
}

static void install_other(int signo, bool with_full_mask, int flags)
{
    struct sigaction action = {.sa_handler = on_other, .sa_flags = flags};

    if (with_full_mask)
        sigfillset(&action.sa_mask);
    cr_assert(sigaction(signo, &action, NULL) == 0);
}

#endif
