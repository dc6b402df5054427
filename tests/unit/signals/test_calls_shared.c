/* System calls that a signal of somebody else's interrupts together with ours: the EINTR is his. */
#include "support/task_state.h"
#include "waits.h"

TestSuite(calls_shared, .timeout = 1800, .fini = close_all);

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

static void send_both(pthread_t thread, int other, bool is_ours_first, int ours)
{
    if (is_ours_first)
        send_ours(thread, ours);
    pthread_kill(thread, other);
    if (!is_ours_first)
        send_ours(thread, ours);
}

/* The call went on although the other's handler has run: with both signals taken the thread sleeps. */
static bool is_swallowed(const struct target *target, int taken_before, int others_before)
{
    return jw_load_relaxed(&taken) != taken_before &&
           jw_load_relaxed(&other_count) != others_before &&
           task_is_asleep(jw_load_relaxed(&target->tid));
}

/* Numbers below ours and above, in both orders, with a handler that blocks ours and one that does
 * not: each time the call must end with EINTR. Returns how often it went on instead. */
static int send_pairs(int (*run)(uint64_t ms), int times, int flags)
{
    const int others[] = {SIGUSR1, SIGRTMIN + 5};
    int swallowed = 0;

    for (int variant = 0; variant < 8; variant++) {
        struct target target = {.run = run, .times = times};
        const int other = others[variant & 1];
        pthread_t thread;

        install_other(other, variant & 4, flags);
        if (jw_load_relaxed(&sent_inside) != 0)
            jw_store_relaxed(&sent_inside, other);
        pthread_create(&thread, NULL, be_target, &target);
        for (int i = 1; i <= times; i++) {
            const int taken_before = jw_load_relaxed(&taken);
            const int others_before = jw_load_relaxed(&other_count);

            jw_store_relaxed(&target.round, i);
            while (jw_load_relaxed(&target.started) < i ||
                   !task_is_asleep(jw_load_relaxed(&target.tid)))
                sched_yield();
            if (jw_load_relaxed(&sent_inside) != 0)
                send_ours(thread, i % 2 ? SIGPROF : SIGVTALRM);
            else
                send_both(thread, other, variant & 2, i % 2 ? SIGPROF : SIGVTALRM);
            while (jw_load_relaxed(&target.ended) < i || jw_load_relaxed(&taken) == taken_before) {
                if (is_swallowed(&target, taken_before, others_before)) {
                    swallowed++;
                    pthread_kill(thread, other);
                    while (jw_load_relaxed(&target.ended) < i)
                        sched_yield();
                }
                sched_yield();
            }
        }
        jw_store_relaxed(&target.round, times + 1);
        pthread_join(thread, NULL);
        cr_assert(target.wrong_error == 0, "variant %d: %s", variant, strerror(target.wrong_error));
    }
    return swallowed;
}

/*
 * Between the look for other signals and the call that is issued again lie some instructions (docs/adr/0008).
 * On a busy machine a thread may stop just there: one in 100,000 pairs was seen to. Without the look it is each.
 */
static void send_pairs_to_issued(int (*run)(uint64_t ms), int times, int flags)
{
    const int swallowed = send_pairs(run, times, flags);

    cr_assert(swallowed <= 8 * times / 100, "%d of %d", swallowed, 8 * times);
}

/* The kernel's own restart block says whose EINTR it is: exact at any moment, on any processor. */
Test(calls_shared, a_signal_of_somebody_else_together_with_ours_interrupts_sleeps_polls_and_futexes)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    open_all(LONG_MS);
    cr_assert_eq(send_pairs(call_nanosleep, 450, 0), 0);
    cr_assert_eq(send_pairs(call_poll, 450, 0), 0);
    cr_assert_eq(send_pairs(call_futex, 400, SA_RESTART), 0);
}

static void stay_on_one_processor(void)
{
    cpu_set_t here;

    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    cr_assert(sched_setaffinity(0, sizeof here, &here) == 0);
}

/* Here both must be there before the thread runs again: on the sender's processor. */
Test(calls_shared, a_signal_of_somebody_else_together_with_ours_interrupts_the_other_calls_too)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    stay_on_one_processor();
    own_and_start();
    open_all(LONG_MS);
    send_pairs_to_issued(call_epoll_wait, 450, 0);
    send_pairs_to_issued(call_select, 450, SA_RESTART);
    send_pairs_to_issued(call_recv, 200, 0);
    send_pairs_to_issued(call_msgrcv, 200, 0);
}

Test(calls_shared, a_signal_without_restart_together_with_ours_interrupts_a_call_that_ours_restarts)
{
    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    stay_on_one_processor();
    own_and_start();
    open_all(LONG_MS);
    send_pairs_to_issued(call_pipe_read, 500, 0);
}

Test(calls_shared, a_signal_of_somebody_else_while_ours_is_handled_interrupts_every_call)
{
    static const struct {
        int (*run)(uint64_t ms);
        int flags;
    } all[] = {{call_nanosleep, 0}, {call_poll, SA_RESTART},
               {call_futex, 0},     {call_epoll_wait, SA_RESTART},
               {call_select, 0},    {call_recv, SA_RESTART},
               {call_msgrcv, 0},    {call_sigtimedwait, 0},
               {call_pipe_read, 0}};

    SKIP_WITH_TSAN();
    SKIP_EMULATED();
    own_and_start();
    open_all(LONG_MS);
    jw_store_relaxed(&sent_inside, SIGUSR1);
    for (size_t i = 0; i < JW_COUNT_OF(all); i++)
        cr_assert_eq(send_pairs(all[i].run, 140, all[i].flags), 0);
}

Test(calls_shared, our_handlers_put_off_what_others_send_and_nothing_that_the_thread_raises)
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
