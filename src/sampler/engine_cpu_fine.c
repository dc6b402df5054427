/*
 * Engine `fine`: CPU samples more often than timers can be had, and where none can be had at all. The sampler
 * thread reads clocks and signals whoever used up an interval; the handler reads the thread's own clock, and what
 * that one went on since the last sample is the weight. Sampler thread; handler for take and claims.
 */
#include <signal.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_timer.h"
#include "sampler/rounds_internal.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"

/* Turns and clocks are never quite in step: less than a whole interval must do, or every other turn is missed. */
#define NEED_OF_4 3

/* A thread whose signal found it waiting is signalled again after a quarter of an interval of CPU time, or when it
 * is seen running. */
#define AGAIN_PART 4

/* With nobody running for so many turns, turns come half as often, down to one a tick. */
#define CALM_TURNS 64

#define JITTER_PART 8

enum fine_state { FINE_NONE, FINE_ASKED, FINE_TAKING };

struct fine_thread {
    _Atomic uint64_t serial;     /* of the life that it is about; 0: none. Publishes the rest */
    _Atomic uint64_t sampled_ns; /* relaxed: the thread's clock at its last sample */
    _Atomic uint64_t
        waiting_ns; /* relaxed: at the last signal that found it waiting; 0: none since a sample */
    _Atomic uint32_t state;   /* enum fine_state */
    _Atomic uint32_t is_sent; /* relaxed: a signal is on its way, asked for still or given up */
    /* Of the sampler thread, and of who adds a thread. Relaxed: where its look at the life before ends late, the one signal
     * comes sooner or later. */
    _Atomic uint64_t need_ns;   /* of CPU time, for the next signal */
    _Atomic uint64_t looked_ns; /* its clock at the last look */
};

static struct fine_thread *fine_threads;
static struct rounds rounds;

static struct {
    _Atomic uint32_t is_wanted;  /* relaxed: some thread is to be sampled so in this run */
    uint64_t period_ns, tick_ns; /* between turns at this time, and at the most */
    uint64_t deadline_ns;
    uint32_t calm_turns;
} fine;

bool engine_cpu_fine_open(struct jw_error *err)
{
    if (fine_threads == NULL)
        fine_threads =
            sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *fine_threads, err);
    return fine_threads != NULL && rounds_open(&rounds, err);
}

void engine_cpu_fine_start(uint64_t interval_ns)
{
    sampler_wipe(fine_threads, threads_capacity(), sizeof *fine_threads);
    rounds_reset(&rounds);
    jw_store_relaxed(&fine.is_wanted, 0);
    fine.period_ns = interval_ns;
    fine.tick_ns = os_kernel_tick_ns();
    fine.deadline_ns = 0;
    fine.calm_turns = 0;
}

bool engine_cpu_fine_is_wanted(void)
{
    return jw_load_relaxed(&fine.is_wanted) != 0;
}

void engine_cpu_fine_add(thread_index thread, uint64_t base_ns)
{
    struct fine_thread *own = &fine_threads[thread];

    jw_store_relaxed(&own->sampled_ns, base_ns);
    jw_store_relaxed(&own->waiting_ns, 0);
    jw_store_relaxed(&own->state, FINE_NONE);
    jw_store_relaxed(&own->is_sent, 0);
    jw_store_relaxed(&own->looked_ns, 0);
    /* Anywhere in (0, interval]: whoever lives shorter than one interval is sampled as he deserves. */
    jw_store_relaxed(&own->need_ns, 1 + jw_hash_word(thread_serial(thread) ^ jw_now_ns()) %
                                            sampler_cpu_interval_ns());
    /* order FINE_THREAD: releases where the thread's time begins. */
    jw_store_release(&own->serial, thread_serial(thread));
    if (jw_load_relaxed(&fine.is_wanted) == 0) {
        jw_store_relaxed(&fine.is_wanted, 1);
        sampler_clock_wake();
    }
}

void engine_cpu_fine_remove(thread_index thread)
{
    /* order FINE_THREAD: releases nothing; what comes from now on is not asked for. */
    if (fine_threads != NULL)
        jw_store_release(&fine_threads[thread].serial, 0);
}

bool engine_cpu_fine_has(thread_index thread)
{
    /* order FINE_THREAD: acquires where the thread's time begins. */
    return fine_threads != NULL &&
           jw_load_acquire(&fine_threads[thread].serial) == thread_serial(thread);
}

uint64_t engine_cpu_fine_sampled_ns(thread_index thread)
{
    return jw_load_relaxed(&fine_threads[thread].sampled_ns);
}

void engine_cpu_fine_note(thread_index thread)
{
    rounds_note(&rounds, thread);
}

/* Handler ---------------------------------------------------------------------------------------- */

bool engine_cpu_fine_claims(thread_index thread)
{
    return fine_threads != NULL && jw_load_relaxed(&fine_threads[thread].is_sent) != 0;
}

/* Counts exactly one outcome. */
static JW_SIGNAL_SAFE void take(const void *ucontext, thread_index thread, struct fine_thread *own,
                                uint64_t clock_ns)
{
    /* What it used before it began to wait is left to a sample of when it runs. */
    if (clock_ns == 0 || arch_syscall_state(ucontext) != ARCH_SYSCALL_NONE) {
        jw_store_relaxed(&own->waiting_ns, clock_ns);
        jw_count(JW_COUNT_SPARED_WAITING);
        return;
    }
    const uint64_t sampled_ns = jw_load_relaxed(&own->sampled_ns);
    /* The number was another thread's when it was asked. */
    if (clock_ns < sampled_ns) {
        jw_count(JW_COUNT_LOST_NO_THREAD);
        return;
    }
    struct sample_order order = {
        .kind = EVENT_CPU_SAMPLE,
        .thread = thread,
        .weight_ns = clock_ns - sampled_ns,
    };
    if (!sample_take(ucontext, &order))
        return; /* the next one stands for this time, too */
    jw_store_relaxed(&own->sampled_ns, clock_ns);
    jw_store_relaxed(&own->waiting_ns, 0);
    /* It may end unseen: the ledger is not to know of less than was sampled. */
    thread_cpu_look(thread, clock_ns);
}

void engine_cpu_fine_take(const void *ucontext, thread_index thread, uint64_t clock_ns)
{
    struct fine_thread *own = fine_threads == NULL ? NULL : &fine_threads[thread];
    uint32_t asked = FINE_ASKED;

    if (own != NULL)
        jw_store_relaxed(&own->is_sent, 0);
    /* order FINE_STATE: acquires the end of the sample before. */
    if (own == NULL || !jw_cas_acq_rel(&own->state, &asked, FINE_TAKING)) {
        jw_count(JW_COUNT_SPARED_UNASKED);
        return;
    }
    take(ucontext, thread, own, clock_ns);
    /* order FINE_STATE: releases the clock at this sample to the sampler thread. */
    jw_store_release(&own->state, FINE_NONE);
}

/* Sampler thread --------------------------------------------------------------------------------- */

static void ask(thread_index thread, struct fine_thread *own)
{
    uint32_t asked = FINE_ASKED;

    jw_store_relaxed(&own->need_ns, sampler_cpu_interval_ns() / 4 * NEED_OF_4);
    jw_store_relaxed(&own->is_sent, 1);
    /* order FINE_STATE: releases nothing that the handler reads. */
    jw_store_release(&own->state, FINE_ASKED);
    if (os_signal_thread((int)thread_tid(thread), SIGPROF, sampler_cookie(thread)))
        jw_count(JW_COUNT_CPU_SIGNALS);
    else
        (void)jw_cas_relaxed(&own->state, &asked, FINE_NONE);
}

/* A signal at this moment would find it waiting again, as far as can be told. */
static bool is_waiting_still(thread_index thread, const struct fine_thread *own, uint64_t clock_ns)
{
    const uint64_t waiting_ns = jw_load_relaxed(&own->waiting_ns);
    uint64_t later_ns = 0;

    return waiting_ns != 0 && clock_ns - waiting_ns < sampler_cpu_interval_ns() / AGAIN_PART &&
           (!os_thread_cpu_ns((int)thread_tid(thread), &later_ns) || later_ns == clock_ns);
}

/* A clock that stands lower than at the last sample is that of a thread which got the number of one that ended: it is
 * not asked before the scan has seen that. */
static bool is_due(const struct fine_thread *own, uint64_t clock_ns)
{
    const uint64_t sampled_ns = jw_load_relaxed(&own->sampled_ns);

    return clock_ns >= sampled_ns && clock_ns - sampled_ns >= jw_load_relaxed(&own->need_ns);
}

static enum rounds_found visit(thread_index thread)
{
    struct fine_thread *own = &fine_threads[thread];
    uint64_t clock_ns;

    if (!engine_cpu_fine_has(thread) || !thread_is_live(thread) ||
        !os_thread_cpu_ns((int)thread_tid(thread), &clock_ns))
        return ROUNDS_NOTHING;

    const enum rounds_found found =
        clock_ns == jw_load_relaxed(&own->looked_ns) ? ROUNDS_STILL : ROUNDS_RAN;
    jw_store_relaxed(&own->looked_ns, clock_ns);
    /* order FINE_STATE: acquires the clock at the last sample. */
    if (jw_load_acquire(&own->state) == FINE_NONE && is_due(own, clock_ns) &&
        !is_waiting_still(thread, own, clock_ns))
        ask(thread, own);
    return found;
}

/* Turns are an interval apart while anybody runs. */
static void set_pace(bool has_run)
{
    if (has_run || fine.period_ns < sampler_cpu_interval_ns()) {
        fine.period_ns = sampler_cpu_interval_ns();
        fine.calm_turns = 0;
    } else if (++fine.calm_turns >= CALM_TURNS && fine.period_ns < fine.tick_ns) {
        fine.period_ns *= 2;
        fine.calm_turns = 0;
    }
}

uint64_t engine_cpu_fine_turn(void)
{
    if (!engine_cpu_fine_is_wanted())
        return OS_WAKE_NEVER;

    const uint64_t now_ns = jw_now_ns();
    if (now_ns < fine.deadline_ns)
        return fine.deadline_ns;

    const uint64_t ran_before = rounds.ran_count;
    rounds_turn(&rounds, rounds_readings(fine.period_ns), visit);
    set_pace(rounds.ran_count != ran_before);
    /* From the last deadline on, so that turns do not drift; one that was missed is missed. */
    fine.deadline_ns = (now_ns - fine.deadline_ns < fine.period_ns ? fine.deadline_ns : now_ns) +
                       fine.period_ns - fine.period_ns / JITTER_PART / 2 +
                       rounds_random(&rounds) % (fine.period_ns / JITTER_PART);
    return fine.deadline_ns;
}
