/* System calls that signals of ours interrupt: no EINTR, no early end. */
#include "waits.h"

#include <linux/io_uring.h>
#include <sys/mman.h>

#include "support/task_state.h"

static void pause_briefly(void)
{
    const struct timespec pause = {.tv_nsec = 500000};

    nanosleep(&pause, NULL);
}

TestSuite(calls, .timeout = 1800, .fini = close_all);

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

Test(calls, m37_no_call_that_a_signal_of_ours_interrupts_ends_with_eintr_or_early)
{
    SKIP_WITH_TSAN();
    own_and_start();
    interrupt_each_call();
    cr_assert(jw_counter(JW_COUNT_CALLS_FINISHED) > 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_CUT) == 0);
}

struct sleeper {
    int (*run)(uint64_t ms);
    enum jw_counter_id counter; /* it sleeps again until a signal has made this rise */
    uint64_t counted;
    int error;
    _Atomic bool is_done;
    _Atomic bool is_released;
};

static void *sleep_short(void *argument)
{
    struct sleeper *sleeper = argument;

    do
        sleeper->error = sleeper->run(200);
    while (sleeper->error == 0 && jw_counter(sleeper->counter) == sleeper->counted);
    jw_store_relaxed(&sleeper->is_done, true);
    while (!jw_load_relaxed(&sleeper->is_released))
        sched_yield();
    return NULL;
}

/* Its error, after signals of ours, and `other` unless it is 0, came as long as it lasted. */
static int interrupt_sleeper(int (*run)(uint64_t ms), int other, enum jw_counter_id counter)
{
    struct sleeper sleeper = {
        .run = run, .error = -1, .counter = counter, .counted = jw_counter(counter)};
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
    cr_assert(interrupt_sleeper(call_nanosleep, 0, JW_COUNT_LOST_STOPPED) == 0);
    cr_assert(jw_load_relaxed(&taken) == 0 && jw_counter(JW_COUNT_LOST_STOPPED) > 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_CUT) == 0);
}

/* A ring of the kernel's, whose one completion is a time-out. The C library has no function for it; programs issue the
 * call as this one does. */
#if defined(__x86_64__)
struct ring {
    int fd;
    uint8_t *shared;
    struct io_uring_params params;
};

static bool open_ring(struct ring *ring)
{
    ring->fd = (int)syscall(SYS_io_uring_setup, 4, &ring->params);
    if (ring->fd < 0 || !(ring->params.features & IORING_FEAT_SINGLE_MMAP))
        return false;
    ring->shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
    return ring->shared != MAP_FAILED;
}

static void submit_timeout(struct ring *ring, const struct __kernel_timespec *time)
{
    struct io_uring_sqe *entry =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);

    cr_assert((void *)entry != MAP_FAILED);
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_TIMEOUT;
    entry->fd = -1;
    entry->addr = (uint64_t)(uintptr_t)time;
    entry->len = 1;
    *(uint32_t *)(ring->shared + ring->params.sq_off.array) = 0;
    /* order TEST_CALLS: releases the entry, for the kernel. */
    jw_store_release((_Atomic uint32_t *)(ring->shared + ring->params.sq_off.tail), 1);
    cr_assert(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1);
}

static int call_ring(uint64_t ms)
{
    const struct __kernel_timespec time = {.tv_nsec = (long long)(ms * 1000000)};
    struct ring ring = {0};
    register uint64_t flags __asm__("r10") = IORING_ENTER_GETEVENTS;
    register uint64_t no_mask __asm__("r8") = 0;
    register uint64_t no_bytes __asm__("r9") = 0;
    long result;

    cr_assert(open_ring(&ring));
    submit_timeout(&ring, &time);
    flags = IORING_ENTER_GETEVENTS;
    no_mask = no_bytes = 0;
    __asm__ volatile("mov $426, %%eax\n\tsyscall"
                     : "=a"(result)
                     : "D"((long)ring.fd), "S"(0L), "d"(1L), "r"(flags), "r"(no_mask), "r"(no_bytes)
                     : "rcx", "r11", "memory");
    close(ring.fd);
    return (int)-result;
}

Test(calls, m37_a_wait_for_the_completions_of_a_ring_goes_on)
{
    struct ring ring = {0};

    SKIP_WITH_TSAN();
    if (!open_ring(&ring))
        cr_skip_test("no io_uring here");
    own_and_start();
    cr_assert(interrupt_sleeper(call_ring, 0, JW_COUNT_CALLS_FINISHED) == 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_FINISHED) > 0 && jw_counter(JW_COUNT_CALLS_CUT) == 0);
}
#endif

/* While a call goes on ------------------------------------------------------------------------ */

struct waiter {
    int (*run)(uint64_t ms);
    _Atomic uint32_t tid;
    int error;
    sigset_t mask_after;
};

static void *run_waiter(void *argument)
{
    struct waiter *waiter = argument;

    jw_store_relaxed(&waiter->tid, thread_own_tid());
    waiter->error = waiter->run(LONG_MS);
    pthread_sigmask(SIG_SETMASK, NULL, &waiter->mask_after);
    return NULL;
}

/* Returns when a signal of ours found the thread in its call, and it waits in there again. */
static pthread_t start_cut(struct waiter *waiter)
{
    pthread_t thread;

    open_all(LONG_MS);
    pthread_create(&thread, NULL, run_waiter, waiter);
    while (jw_load_relaxed(&cut_count) == 0) {
        send_ours(thread, SIGPROF);
        pause_briefly();
    }
    while (!task_is_asleep(jw_load_relaxed(&waiter->tid)))
        sched_yield();
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

Test(calls, a_signal_of_ours_that_waited_for_the_end_of_a_call_leaves_its_eintr_alone)
{
    struct waiter waiter = {.run = call_epoll_wait};

    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    install_other(SIGUSR1, false, 0);
    own_and_start();
    const pthread_t thread = start_cut(&waiter);
    send_ours(thread, SIGVTALRM);
    send_ours(thread, SIGPROF);
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
    /* The first ones may come before its call has begun. */
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        pthread_kill(thread, SIGPROF);
        pause_briefly();
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

/* A signal that is ignored, and waits only because our handler blocks it, is none. */
Test(calls, a_signal_that_nobody_handles_interrupts_no_call)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    open_all(LONG_MS);
    cr_assert(interrupt_sleeper(call_epoll_wait, SIGCHLD, JW_COUNT_SIGNALS) == 0);
    cr_assert(interrupt_sleeper(call_nanosleep, SIGCHLD, JW_COUNT_SIGNALS) == 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_CUT) == 0);
}

Test(calls, a_signal_that_finds_no_call_finishes_none)
{
    own_and_start();
    for (int i = 0; i < 100; i++) {
        send_ours(pthread_self(), i % 2 ? SIGPROF : SIGVTALRM);
        while (jw_load_relaxed(&taken) <= i)
            usleep(1); /* where thread sanitizer delivers it */
    }
    cr_assert(jw_load_relaxed(&cut_count) == 0);
    cr_assert(jw_counter(JW_COUNT_CALLS_FINISHED) == 0 && jw_counter(JW_COUNT_CALLS_CUT) == 0);
}
