/* The sampler thread, which turns for the engines that compare clocks, and ends events of the kernel that give their thread no rest;
 * control, and hook and dump for telling it of threads. */
#include <pthread.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "os/os_thread.h"
#include "sampler/sampler_internal.h"

/* For a thread of the last run that the kernel holds, as for the end of a probe. */
#define LATE_END_NS JW_NS_PER_SECOND

/* Threads that it was not told of yet: a stack, from which it takes all at once. */
struct newcomer {
    _Atomic uint32_t next;      /* relaxed: published with the head; index + 1 */
    _Atomic uint32_t is_listed; /* the exchange decides who lists it */
};

static struct newcomer *newcomers;
static _Atomic uint32_t newcomers_head; /* index + 1; 0: none */

static struct {
    pthread_mutex_t lock; /* around start and stop: the dump thread may start it, too */
    struct os_thread thread;
    struct os_wake wake;
    _Atomic uint32_t must_end;
    _Atomic uint32_t is_running; /* relaxed: a hint for who would tell it something */
    bool is_stuck;               /* it did not end in time: the next start waits for it once more */
} clock_thread = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The thread of the last run; nothing that it looks at changes before. */
static bool is_rid_of_last(struct jw_error *err)
{
    pthread_mutex_lock(&clock_thread.lock);
    if (clock_thread.is_stuck)
        clock_thread.is_stuck = !os_thread_join(&clock_thread.thread, jw_now_ns() + LATE_END_NS);
    const bool is_rid = !clock_thread.is_stuck;
    pthread_mutex_unlock(&clock_thread.lock);
    if (!is_rid)
        jw_error_set(err, "the sampler thread of the last run has not ended yet; try again");
    return is_rid;
}

bool sampler_clock_open(struct jw_error *err)
{
    if (!is_rid_of_last(err))
        return false;
    if (newcomers == NULL)
        newcomers = sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *newcomers, err);
    return newcomers != NULL && engine_wall_open(err) && engine_cpu_fine_open(err);
}

void sampler_clock_note(thread_index thread)
{
    struct newcomer *newcomer = &newcomers[thread];
    uint32_t head = jw_load_relaxed(&newcomers_head);

    /* Without the thread nobody takes them off; when it starts, its sweep finds them.
     * order CLOCK_LISTED: acquires the end of an earlier listing. */
    if (jw_load_relaxed(&clock_thread.is_running) == 0 ||
        jw_exchange_acq_rel(&newcomer->is_listed, 1) != 0)
        return;
    do
        jw_store_relaxed(&newcomer->next, head);
    /* order CLOCK_NEWCOMERS: releases the link to take_newcomers. */
    while (!jw_cas_acq_rel(&newcomers_head, &head, thread + 1));
}

void sampler_clock_wake(void)
{
    os_wake_post(&clock_thread.wake);
}

static void take_newcomers(void)
{
    /* order CLOCK_NEWCOMERS: acquires the links that sampler_clock_note released. */
    uint32_t head = jw_exchange_acq_rel(&newcomers_head, 0);

    while (head != 0) {
        const thread_index thread = head - 1;

        head = jw_load_relaxed(&newcomers[thread].next);
        /* order CLOCK_LISTED: releases the end of this listing. */
        jw_store_release(&newcomers[thread].is_listed, 0);
        engine_wall_note(thread);
        engine_cpu_fine_note(thread);
    }
}

static bool is_over(void)
{
    /* order CLOCK_END: acquires the decision of sampler_clock_stop. */
    return jw_load_acquire(&clock_thread.must_end) != 0;
}

static void turn_until_end(void *argument)
{
    (void)argument;
    while (!is_over()) {
        take_newcomers();
        engine_cpu_perf_reap(is_over);
        const uint64_t wall_ns = engine_wall_turn();
        const uint64_t fine_ns = engine_cpu_fine_turn();

        (void)os_wake_wait(&clock_thread.wake, wall_ns < fine_ns ? wall_ns : fine_ns);
    }
}

static bool start_locked(struct jw_error *err)
{
    if (jw_load_relaxed(&clock_thread.is_running) != 0)
        return true;
    jw_store_relaxed(&clock_thread.must_end, 0);
    os_wake_init(&clock_thread.wake);
    if (!os_thread_start(&clock_thread.thread, SAMPLER_CLOCK_THREAD_NAME, turn_until_end, NULL,
                         err))
        return false;
    jw_store_relaxed(&clock_thread.is_running, 1);
    return true;
}

bool sampler_clock_start_if(bool (*is_wanted)(void), struct jw_error *err)
{
    pthread_mutex_lock(&clock_thread.lock);
    const bool is_good = !is_wanted() || start_locked(err);
    pthread_mutex_unlock(&clock_thread.lock);
    return is_good;
}

bool sampler_clock_stop(uint64_t deadline_ns)
{
    pthread_mutex_lock(&clock_thread.lock);
    if (jw_load_relaxed(&clock_thread.is_running) != 0) {
        /* order CLOCK_END: releases the decision. */
        jw_store_release(&clock_thread.must_end, 1);
        os_wake_post(&clock_thread.wake);
        clock_thread.is_stuck = !os_thread_join(&clock_thread.thread, deadline_ns);
        if (!clock_thread.is_stuck)
            take_newcomers(); /* whoever is listed must be able to be listed again */
        jw_store_relaxed(&clock_thread.is_running, 0);
    }
    const bool is_stopped = !clock_thread.is_stuck;
    pthread_mutex_unlock(&clock_thread.lock);
    return is_stopped;
}
