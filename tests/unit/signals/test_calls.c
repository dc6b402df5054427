/* System calls that signals of ours interrupt: no EINTR, no early end; what others interrupt stays so. */
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

static void note(const struct signals_event *event)
{
    if (arch_syscall_state(event->ucontext) == ARCH_SYSCALL_CUT)
        jw_add_relaxed(&cut_count, 1);
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

static bool is_emulated(void)
{
    static const uintptr_t none[ARCH_SYSCALL_ARGUMENTS];

    return arch_syscall_issue(SYS_restart_syscall, none) != -EINTR;
}

static void send_ours(pthread_t thread, int signo)
{
    const union sigval value = {.sival_ptr = (void *)signals_cookie(1)};

    cr_assert(pthread_sigqueue(thread, signo, value) == 0);
}

static void pause_briefly(void)
{
    const struct timespec pause = {.tv_nsec = 500000};

    nanosleep(&pause, NULL);
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

/* These have no time-out. */
static int call_msgrcv(uint64_t ms)
{
    struct {
        long type;
        char text[8];
    } message;

    (void)ms;
    return error_of(msgrcv(queue, &message, sizeof message.text, 0, 0));
}

static int call_pipe_read(uint64_t ms)
{
    char byte;

    (void)ms;
    return error_of(read(ends[0], &byte, 1));
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
#endif
};

TestSuite(calls, .timeout = 120, .fini = close_all);

/* Whatever the clock of a time-out, it counts no faster than this one; sockets count in ticks of the
 * kernel, whose first one may be nearly over. */
#define TICK_NS (10 * JW_NS_PER_MS)

struct run {
    const struct call *call;
    int times;
    _Atomic bool is_done;
    _Atomic bool is_released; /* a thread that is gone cannot be signalled */
    int wrong_error;          /* -1: none */
    uint64_t shortest_ns;
};

static void *run_calls(void *argument)
{
    struct run *run = argument;

    for (int done = 0; done < run->times;) {
        const int cuts = jw_load_relaxed(&cut_count);
        const uint64_t start_ns = jw_now_ns();
        const int error = run->call->run(SHORT_MS);
        const uint64_t took_ns = jw_now_ns() - start_ns;

        if (error != run->call->timed_out)
            run->wrong_error = error;
        if (took_ns < run->shortest_ns)
            run->shortest_ns = took_ns;
        /* Calls that no signal found do not count. */
        if (jw_load_relaxed(&cut_count) != cuts)
            done++;
    }
    /* order TEST_CALLS: releases what was found. */
    jw_store_release(&run->is_done, true);
    while (!jw_load_relaxed(&run->is_released))
        sched_yield();
    return NULL;
}

static void interrupt_each_call(void)
{
    open_all(SHORT_MS);
    for (size_t i = 0; i < JW_COUNT_OF(calls); i++) {
        struct run run = {
            .call = &calls[i], .times = 4, .wrong_error = -1, .shortest_ns = UINT64_MAX};
        const uint64_t least_ns =
            SHORT_MS * JW_NS_PER_MS - (calls[i].timed_out == EAGAIN ? TICK_NS : 0);
        pthread_t thread;

        if (is_emulated() && calls[i].is_resumed)
            continue;
        pthread_create(&thread, NULL, run_calls, &run);
        /* order TEST_CALLS: acquires what was found. */
        for (int n = 0; !jw_load_acquire(&run.is_done); n++) {
            send_ours(thread, n % 2 ? SIGPROF : SIGVTALRM);
            pause_briefly();
        }
        jw_store_relaxed(&run.is_released, true);
        pthread_join(thread, NULL);
        cr_assert(run.wrong_error < 0, "%s: %s", calls[i].name, strerror(run.wrong_error));
        cr_assert(run.shortest_ns >= least_ns, "%s: early, after %lu ns", calls[i].name,
                  (unsigned long)run.shortest_ns);
    }
}

Test(calls, no_call_that_a_signal_of_ours_interrupts_ends_with_eintr_or_early)
{
    SKIP_WITH_TSAN();
    own_and_start();
    interrupt_each_call();
    cr_assert(jw_counter(JW_COUNT_CALLS_FINISHED) > 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_CUT) == 0);
}

struct sleeper {
    int (*run)(uint64_t ms);
    int error;
    _Atomic bool is_done;
    _Atomic bool is_released;
};

static void *sleep_short(void *argument)
{
    struct sleeper *sleeper = argument;

    sleeper->error = sleeper->run(200);
    jw_store_relaxed(&sleeper->is_done, true);
    while (!jw_load_relaxed(&sleeper->is_released))
        sched_yield();
    return NULL;
}

/* Its error, after signals of ours, and `other` unless it is 0, came as long as it lasted. */
static int interrupt_sleeper(int (*run)(uint64_t ms), int other)
{
    struct sleeper sleeper = {.run = run, .error = -1};
    pthread_t thread;

    pthread_create(&thread, NULL, sleep_short, &sleeper);
    while (!jw_load_relaxed(&sleeper.is_done)) {
        send_ours(thread, SIGPROF);
        if (other != 0)
            pthread_kill(thread, other);
        pause_briefly();
    }
    jw_store_relaxed(&sleeper.is_released, true);
    pthread_join(thread, NULL);
    return sleeper.error;
}

Test(calls, a_late_signal_that_finds_the_engine_stopped_interrupts_nothing_either)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    signals_stop();
    cr_assert(interrupt_sleeper(call_nanosleep, 0) == 0 && jw_load_relaxed(&taken) == 0);
    cr_assert(jw_counter(JW_COUNT_LOST_STOPPED) > 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_CUT) == 0);
}

/* While a call goes on ------------------------------------------------------------------------ */

struct waiter {
    int (*run)(uint64_t ms);
    int error;
    sigset_t mask_after;
};

#define LONG_MS (1000 * 1000)

static void *run_waiter(void *argument)
{
    struct waiter *waiter = argument;

    waiter->error = waiter->run(LONG_MS);
    pthread_sigmask(SIG_SETMASK, NULL, &waiter->mask_after);
    return NULL;
}

/* Returns when a signal of ours found the thread in its call. */
static pthread_t start_cut(struct waiter *waiter)
{
    pthread_t thread;

    open_all(LONG_MS);
    pthread_create(&thread, NULL, run_waiter, waiter);
    while (jw_load_relaxed(&cut_count) == 0) {
        send_ours(thread, SIGPROF);
        pause_briefly();
    }
    return thread;
}

Test(calls, nobody_waits_for_a_call_that_goes_on_and_it_gets_its_result_afterwards)
{
    struct waiter waiter = {.run = call_poll};

    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    const pthread_t thread = start_cut(&waiter);
    signals_stop();
    cr_assert(signals_drain(60 * JW_NS_PER_SECOND));
    cr_assert(write(ends[1], "x", 1) == 1);
    pthread_join(thread, NULL);
    cr_assert(waiter.error == 0);
    cr_assert(sigismember(&waiter.mask_after, SIGPROF) == 0);
    cr_assert(sigismember(&waiter.mask_after, SIGVTALRM) == 0);
}

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

Test(calls, a_signal_of_somebody_else_still_interrupts_a_call_that_goes_on)
{
    struct waiter waiter = {.run = call_poll};

    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    install_other(SIGUSR1, false, SA_RESTART);
    own_and_start();
    const pthread_t thread = start_cut(&waiter);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    cr_assert(waiter.error == EINTR && jw_load_relaxed(&other_count) == 1);
}

Test(calls, a_foreign_profiling_signal_interrupts_as_it_always_did)
{
    struct waiter waiter = {.run = call_poll};
    pthread_t thread;

    SKIP_WITH_TSAN();
    install_other(SIGPROF, false, 0);
    own_and_start();
    open_all(LONG_MS);
    pthread_create(&thread, NULL, run_waiter, &waiter);
    while (waiter.error != EINTR && jw_counter(JW_COUNT_FOREIGN_SIGNALS) < 2) {
        pthread_kill(thread, SIGPROF);
        pause_briefly();
        if (pthread_tryjoin_np(thread, NULL) == 0)
            break;
    }
    cr_assert(waiter.error == EINTR && jw_load_relaxed(&other_count) > 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_FINISHED) == 0);
}

static void note_cleanup(void *argument)
{
    *(bool *)argument = true;
}

static bool was_cleaned;

static int call_poll_with_cleanup(uint64_t ms)
{
    int error;

    pthread_cleanup_push(note_cleanup, &was_cleaned);
    error = call_poll(ms);
    pthread_cleanup_pop(0);
    return error;
}

Test(calls, a_thread_can_be_cancelled_while_its_call_goes_on)
{
    struct waiter waiter = {.run = call_poll_with_cleanup};
    void *result = NULL;

    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    const pthread_t thread = start_cut(&waiter);
    cr_assert(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    cr_assert(result == PTHREAD_CANCELED && was_cleaned);
    signals_stop();
    cr_assert(signals_drain(60 * JW_NS_PER_SECOND));
}

static sigjmp_buf out;

static void leave_by_jump(int signo)
{
    (void)signo;
    siglongjmp(out, 1);
}

static int call_poll_until_jump(uint64_t ms)
{
    return sigsetjmp(out, 1) == 0 ? call_poll(ms) : 77;
}

Test(calls, a_handler_may_jump_out_of_a_call_that_goes_on)
{
    struct waiter waiter = {.run = call_poll_until_jump};
    struct sigaction action = {.sa_handler = leave_by_jump};

    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    sigaction(SIGUSR1, &action, NULL);
    own_and_start();
    const pthread_t thread = start_cut(&waiter);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    cr_assert(waiter.error == 77 && sigismember(&waiter.mask_after, SIGPROF) == 0);
    signals_stop();
    cr_assert(signals_drain(60 * JW_NS_PER_SECOND));
}

/* Both at once --------------------------------------------------------------------------------- */

struct target {
    int (*run)(uint64_t ms);
    int times;
    _Atomic uint32_t tid;
    _Atomic int started;
    _Atomic int ended;
    _Atomic int round; /* one signal of ours must not be left for the next call */
    int wrong_error;
};

static void *be_target(void *argument)
{
    struct target *target = argument;

    jw_store_relaxed(&target->tid, thread_own_tid());
    for (int i = 1; i <= target->times; i++) {
        while (jw_load_relaxed(&target->round) < i)
            sched_yield();
        jw_store_relaxed(&target->started, i);
        const int error = target->run(LONG_MS);
        if (error != EINTR)
            target->wrong_error = error;
        jw_store_relaxed(&target->ended, i);
    }
    while (jw_load_relaxed(&target->round) <= target->times)
        sched_yield();
    return NULL;
}

/* True when the thread sleeps in the kernel. */
static bool is_asleep(uint32_t tid)
{
    char path[64];
    char text[256] = "";

    snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
    FILE *file = fopen(path, "r");
    const size_t length_bytes = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);

    if (file != NULL)
        fclose(file);
    const char *behind_name = length_bytes == 0 ? NULL : strrchr(text, ')');
    return behind_name != NULL && behind_name[2] == 'S';
}

static void send_both(pthread_t thread, int other, bool is_ours_first, int ours)
{
    if (is_ours_first)
        send_ours(thread, ours);
    pthread_kill(thread, other);
    if (!is_ours_first)
        send_ours(thread, ours);
}

/* Numbers below ours and above, in both orders, with a handler that blocks ours and one that does
 * not: each time the call must end with EINTR. One that does not waits until the test times out. */
static void send_pairs(int (*run)(uint64_t ms), int times, int flags)
{
    const int others[] = {SIGUSR1, SIGRTMIN + 5};

    for (int variant = 0; variant < 8; variant++) {
        struct target target = {.run = run, .times = times};
        const int other = others[variant & 1];
        pthread_t thread;

        install_other(other, variant & 4, flags);
        pthread_create(&thread, NULL, be_target, &target);
        for (int i = 1; i <= times; i++) {
            const int taken_before = jw_load_relaxed(&taken);

            jw_store_relaxed(&target.round, i);
            while (jw_load_relaxed(&target.started) < i || !is_asleep(jw_load_relaxed(&target.tid)))
                sched_yield();
            send_both(thread, other, variant & 2, i % 2 ? SIGPROF : SIGVTALRM);
            while (jw_load_relaxed(&target.ended) < i || jw_load_relaxed(&taken) == taken_before)
                sched_yield();
        }
        jw_store_relaxed(&target.round, times + 1);
        pthread_join(thread, NULL);
        cr_assert(target.wrong_error == 0, "variant %d: %s", variant, strerror(target.wrong_error));
    }
}

/* The kernel's own restart block says whose EINTR it is: exact at any moment, on any processor. */
Test(calls, a_signal_of_somebody_else_together_with_ours_interrupts_sleeps_polls_and_futexes)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    open_all(LONG_MS);
    send_pairs(call_nanosleep, 450, 0);
    send_pairs(call_poll, 450, 0);
    send_pairs(call_futex, 400, SA_RESTART);
}

static void stay_on_one_processor(void)
{
    cpu_set_t here;

    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    cr_assert(sched_setaffinity(0, sizeof here, &here) == 0);
}

/* Here both must be there before the thread runs again: on the sender's processor. */
Test(calls, a_signal_of_somebody_else_together_with_ours_interrupts_the_other_calls_too)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    stay_on_one_processor();
    own_and_start();
    open_all(LONG_MS);
    send_pairs(call_epoll_wait, 450, 0);
    send_pairs(call_select, 450, SA_RESTART);
    send_pairs(call_recv, 200, 0);
    send_pairs(call_msgrcv, 200, 0);
}

Test(calls, a_signal_without_restart_together_with_ours_interrupts_a_call_that_ours_restarts)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    stay_on_one_processor();
    own_and_start();
    open_all(LONG_MS);
    send_pairs(call_pipe_read, 500, 0);
}

Test(calls, our_handlers_put_off_what_others_send_and_nothing_that_the_thread_raises)
{
    static const int raised[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    struct sigaction now;

    own_and_start();
    sigaction(SIGVTALRM, NULL, &now);
    cr_assert(sigismember(&now.sa_mask, SIGUSR1) == 1 && sigismember(&now.sa_mask, SIGIO) == 1);
    for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
        cr_assert(sigismember(&now.sa_mask, signo) == 1, "signal %d", signo);
    for (size_t i = 0; !WITH_TSAN && i < JW_COUNT_OF(raised); i++)
        cr_assert(sigismember(&now.sa_mask, raised[i]) == 0, "signal %d", raised[i]);
}

/* A signal that is ignored, and waits only because our handler blocks it, is none. */
Test(calls, a_signal_that_nobody_handles_interrupts_no_call)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    open_all(LONG_MS);
    cr_assert(interrupt_sleeper(call_epoll_wait, SIGCHLD) == 0);
    cr_assert(interrupt_sleeper(call_nanosleep, SIGCHLD) == 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_CUT) == 0);
}
