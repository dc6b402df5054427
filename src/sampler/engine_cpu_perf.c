/*
 * Engine `perf`: an event of the kernel on the CPU clock of each thread, which signals it at each interval, and leaves in a ring
 * what the thread did in the kernel at that moment. Weights are what the thread's own clock went on since its last sample, so a
 * signal or a record that is lost costs no time. Hooks and the dump thread add and remove; handler for take and claims.
 *
 *     NONE -> OPENING -> READY <-> TAKING         (the thread's own handler)
 *                          |          |
 *                          |       LEAVING -> LEFT (the handler, on its way out)
 *                       CLOSING <--------------'   unmaps the ring, then NONE
 *
 * With a counter (sampler.is_counting) weights are what the kernel counted, instead of time; and the sampler thread, too, unmaps rings.
 *
 * The ring is unmapped by who moved READY or LEFT on to CLOSING: no handler is in it then, and none comes in.
 */
#include <signal.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_perf.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"

/* In place of a timer's number: the record is kept until the ring is gone. */
#define HAS_RING (-2)

/* A thread with a counter is looked at once in so many signals: did it have so much CPU time for each? Where it was found at the
 * very same place with the same in hand each time, it may have got nowhere: more must have gone by. */
#define LOOK_SIGNALS   512u
#define LEAST_NS       (20 * 1000)
#define LEAST_STILL_NS JW_NS_PER_MS
#define DOUBLINGS_MAX  40u /* of an interval; with the largest one, no number overflows */

/* As DWARF numbers them; those that there are. */
#define REGISTERS_MAX 31u

/* Numbers of descriptors, modulo this many bits. */
#define NUMBER_WORDS 1024u

enum perf_state {
    PERF_NONE,
    PERF_OPENING,
    PERF_READY,
    PERF_TAKING,
    PERF_LEAVING,
    PERF_LEFT,
    PERF_CLOSING
};

struct perf_thread {
    _Atomic uint32_t state;      /* enum perf_state: publishes the rest */
    _Atomic uint64_t sampled_ns; /* relaxed: the thread's clock at its last sample */
    struct os_perf_ring ring;
    /* Of a counter: */
    uint64_t sampled_count; /* what it stood at at the last sample */
    uint64_t doubled_serial;
    uint32_t doublings; /* of its interval, in the life with that serial */
    struct {
        uint64_t begin_ns, place;
        uint32_t signals;
        bool has_moved;
    } look;
};

static struct perf_thread *perf_threads;
/* Relaxed: that signals of ours carried in this process; a late one, of an event that is gone, is still nobody else's. */
static _Atomic uint64_t numbers[NUMBER_WORDS];
static _Atomic uint32_t
    leaving_count; /* relaxed: rings that wait to be unmapped; a hint for who looks */

static JW_SIGNAL_SAFE uint32_t word_of(int number)
{
    return (uint32_t)number / 64 % NUMBER_WORDS;
}

static JW_SIGNAL_SAFE uint64_t bit_of(int number)
{
    return UINT64_C(1) << (uint32_t)number % 64;
}

static void keep_number(int number)
{
    (void)jw_or_relaxed(&numbers[word_of(number)], bit_of(number));
}

bool engine_cpu_perf_open(struct jw_error *err)
{
    if (perf_threads == NULL)
        perf_threads =
            sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *perf_threads, err);
    return perf_threads != NULL;
}

bool engine_cpu_perf_check(bool is_user_only, struct jw_error *err)
{
    struct os_perf_event event = os_perf_cpu_clock(JW_NS_PER_SECOND, arch_facts.perf_sp_and_pc);

    event.is_user_only = is_user_only;
    return os_perf_check(&event, err);
}

bool engine_cpu_perf_check_counter(const struct os_perf_event *counter, struct jw_error *err)
{
    struct os_perf_event event = *counter;

    event.user_registers = arch_facts.perf_sp_and_pc;
    return os_perf_check(&event, err);
}

/* Of this thread, whose state is OPENING. */
static struct os_perf_event event_for(struct perf_thread *own, thread_index thread)
{
    if (!sampler.is_counting) {
        struct os_perf_event clock =
            os_perf_cpu_clock(sampler.interval_ns, arch_facts.perf_sp_and_pc);

        clock.is_user_only = sampler.is_user_only;
        return clock;
    }
    struct os_perf_event counter = sampler.counter;

    if (own->doubled_serial != thread_serial(thread))
        own->doublings = 0;
    counter.period <<= own->doublings;
    counter.user_registers = arch_facts.perf_sp_and_pc;
    counter.is_user_only = sampler.is_user_only;
    own->sampled_count = 0;
    own->look.signals = 0;
    return counter;
}

enum engine_timer engine_cpu_perf_add(thread_index thread, uint64_t base_ns)
{
    struct perf_thread *own = &perf_threads[thread];
    uint32_t state = PERF_NONE;
    struct jw_error err = {{0}};

    /* order PERF_STATE: acquires the end of the event before. */
    if (!jw_cas_acq_rel(&own->state, &state, PERF_OPENING))
        return ENGINE_TIMER_SET; /* another is at it */
    const struct os_perf_event event = event_for(own, thread);
    jw_store_relaxed(&own->sampled_ns, base_ns);
    (void)thread_exchange_timer(thread, HAS_RING);
    const enum os_perf_status status =
        os_perf_open(&own->ring, &event, (int)thread_tid(thread), SIGPROF, keep_number, &err);
    if (status != OS_PERF_OK)
        (void)thread_exchange_timer(thread, OS_TIMER_NONE);
    /* order PERF_STATE: releases the ring. */
    jw_store_release(&own->state, status == OS_PERF_OK ? PERF_READY : PERF_NONE);
    return status == OS_PERF_OK          ? ENGINE_TIMER_SET
           : status == OS_PERF_NO_THREAD ? ENGINE_TIMER_GONE
                                         : ENGINE_TIMER_REFUSED;
}

/* With the state CLOSING, which is the caller's. */
static void close_ring(thread_index thread)
{
    struct perf_thread *own = &perf_threads[thread];

    os_perf_close(&own->ring);
    (void)thread_exchange_timer(thread, OS_TIMER_NONE);
    /* order PERF_STATE: releases the end of the ring. */
    jw_store_release(&own->state, PERF_NONE);
}

bool engine_cpu_perf_remove(thread_index thread)
{
    struct perf_thread *own = perf_threads == NULL ? NULL : &perf_threads[thread];
    uint32_t state = own == NULL ? PERF_NONE : PERF_READY;

    while (state == PERF_READY || state == PERF_TAKING) {
        const uint32_t next = state == PERF_READY ? PERF_CLOSING : PERF_LEAVING;

        /* order PERF_STATE: acquires the ring, and what the last handler did in it. */
        if (!jw_cas_acq_rel(&own->state, &state, next))
            continue;
        if (next == PERF_CLOSING)
            close_ring(thread);
        else
            jw_add_relaxed(&leaving_count, 1);
        return true;
    }
    return state != PERF_NONE;
}

static void close_left(thread_index thread, bool is_live, void *argument)
{
    bool (*const is_over)(void) = *(bool (**)(void))argument;
    uint32_t state = PERF_LEFT;

    (void)is_live;
    if (is_over != NULL && is_over())
        return;
    /* order PERF_STATE: acquires what the last handler did in the ring. */
    if (!jw_cas_acq_rel(&perf_threads[thread].state, &state, PERF_CLOSING))
        return;
    close_ring(thread);
    jw_sub_relaxed(&leaving_count, 1);
}

void engine_cpu_perf_reap(bool (*is_over)(void))
{
    if (jw_load_relaxed(&leaving_count) != 0)
        threads_each(close_left, &is_over);
}

bool engine_cpu_perf_has(thread_index thread)
{
    /* order PERF_STATE: acquires where the thread's time begins. */
    const uint32_t state =
        perf_threads == NULL ? PERF_NONE : jw_load_acquire(&perf_threads[thread].state);

    return state == PERF_READY || state == PERF_TAKING;
}

uint64_t engine_cpu_perf_sampled_ns(thread_index thread)
{
    return jw_load_relaxed(&perf_threads[thread].sampled_ns);
}

/* Handler ---------------------------------------------------------------------------------------- */

bool engine_cpu_perf_claims(int number)
{
    return (jw_load_relaxed(&numbers[word_of(number)]) & bit_of(number)) != 0;
}

/*
 * Whether the kernel was asked for what a sample saw at the very place that the thread goes back to now: with the same stack
 * pointer, at this instruction, or behind the call that will be made again.
 */
static JW_SIGNAL_SAFE bool is_of_here(const struct os_perf_sample *sample,
                                      const struct arch_regs *regs)
{
    return sample->user_sp == regs->sp &&
           (sample->user_pc == regs->pc || sample->user_pc == regs->pc + arch_facts.syscall_bytes);
}

/* What the samples in a ring say together. */
struct perf_sum {
    uint64_t samples; /* and those that found no room */
    uint64_t count;   /* what the counter stood at at the last one */
    bool is_any;      /* else the handler before this one had seen them all */
};

/* Of several samples that one signal stands for each has the same chance. */
static JW_SIGNAL_SAFE struct perf_sum read_ring(const void *ucontext, struct perf_thread *own,
                                                struct sample_kernel *kernel)
{
    struct perf_sum sum = {0};
    struct os_perf_reading reading = {0};
    struct os_perf_sample sample;
    struct arch_regs regs;
    uint32_t match_count = 0;

    arch_regs_read(ucontext, &regs);
    kernel->ring = NULL;
    while (os_perf_next(&own->ring, &reading, &sample)) {
        sum.samples++;
        sum.count = sample.count;
        if (!is_of_here(&sample, &regs) || jw_hash_word(sample.count) % ++match_count != 0)
            continue;
        kernel->ring = &own->ring;
        kernel->sample = sample;
    }
    kernel->reading = reading;
    if (reading.lost_count > 0)
        jw_count_add(JW_COUNT_PERF_LOST, reading.lost_count);
    if (reading.throttled_count > 0)
        jw_count_add(JW_COUNT_PERF_THROTTLED, reading.throttled_count);
    sum.is_any = sum.samples > 0;
    sum.samples += reading.lost_count;
    return sum;
}

/* Counts exactly one outcome. */
static JW_SIGNAL_SAFE void take_count(const void *ucontext, thread_index thread,
                                      struct perf_thread *own, const struct sample_kernel *kernel,
                                      uint64_t count)
{
    struct sample_order order = {
        .kind = EVENT_COUNTER_SAMPLE,
        .thread = thread,
        .weight_ns = count - own->sampled_count,
        .kernel = kernel,
    };

    if (sample_take(ucontext, &order))
        own->sampled_count = count;
}

/* Counts exactly one outcome. Of user code alone each sample is an interval of it: the clock tells of the kernel's part, too. */
static JW_SIGNAL_SAFE void take(const void *ucontext, thread_index thread, struct perf_thread *own,
                                const struct sample_kernel *kernel, uint64_t samples)
{
    uint64_t clock_ns = 0;

    if (!os_thread_cpu_ns((int)thread_tid(thread), &clock_ns) ||
        clock_ns < jw_load_relaxed(&own->sampled_ns)) {
        jw_count(JW_COUNT_LOST_NO_THREAD);
        return;
    }
    struct sample_order order = {
        .kind = EVENT_CPU_SAMPLE,
        .thread = thread,
        .weight_ns = sampler.is_user_only ? samples * sampler.interval_ns
                                          : clock_ns - jw_load_relaxed(&own->sampled_ns),
        .kernel = kernel,
    };
    if (!sample_take(ucontext, &order))
        return; /* the next one stands for this time, too */
    jw_store_relaxed(&own->sampled_ns, clock_ns);
    /* It may end unseen: the ledger is not to know of less than was sampled. */
    thread_cpu_look(thread, clock_ns);
}

/* Where the thread goes back to, with all that it has in hand. */
static JW_SIGNAL_SAFE uint64_t place_of(const void *ucontext)
{
    struct arch_regs regs;
    uintptr_t value;

    arch_regs_read(ucontext, &regs);
    uint64_t place = jw_hash_word(regs.pc);
    for (unsigned number = 0; number < REGISTERS_MAX; number++) {
        if (arch_dwarf_register(ucontext, number, &value))
            place = jw_hash_word(place ^ value);
    }
    return place;
}

/*
 * Whether this counter leaves its thread no time for anything else. What a sample does may be what is counted: then the next signal
 * comes before the thread has moved, for ever. In any case some CPU time goes by for each, on machines of any speed.
 */
static JW_SIGNAL_SAFE bool is_too_often(const void *ucontext, thread_index thread,
                                        struct perf_thread *own)
{
    const uint64_t place = place_of(ucontext);
    uint64_t clock_ns = 0;

    if (own->look.signals == 0) {
        if (!os_thread_cpu_ns((int)thread_tid(thread), &own->look.begin_ns))
            return false;
        own->look.has_moved = false;
    } else if (place != own->look.place) {
        own->look.has_moved = true;
    }
    own->look.place = place;
    if (++own->look.signals < LOOK_SIGNALS)
        return false;
    own->look.signals = 0;
    return os_thread_cpu_ns((int)thread_tid(thread), &clock_ns) &&
           clock_ns - own->look.begin_ns <
               LOOK_SIGNALS * (own->look.has_moved ? LEAST_NS : LEAST_STILL_NS);
}

/*
 * True: the event is to end, and the next one has twice the interval. It is for the sampler thread to end it, which waits for nothing that
 * a thread of the program holds, while the agent's thread may wait for the very one that gets nowhere; and not for this handler, which the
 * kernel would let wait for the end of a probe. Signals that come until then are spared. The scan begins the next one.
 */
static JW_SIGNAL_SAFE bool slow_down(thread_index thread, struct perf_thread *own)
{
    if (own->doubled_serial != thread_serial(thread))
        own->doublings = 0;
    own->doubled_serial = thread_serial(thread);
    if (own->doublings == DOUBLINGS_MAX ||
        sampler.counter.period << own->doublings >= JW_PERF_INTERVAL_MAX)
        return false;
    own->doublings++;
    jw_count(JW_COUNT_PERF_SLOWED);
    return true;
}

void engine_cpu_perf_take(const void *ucontext, thread_index thread)
{
    struct perf_thread *own = perf_threads == NULL ? NULL : &perf_threads[thread];
    uint32_t state = PERF_READY;
    struct sample_kernel kernel;

    /* order PERF_STATE: acquires the ring. */
    if (own == NULL || !jw_cas_acq_rel(&own->state, &state, PERF_TAKING)) {
        jw_count(JW_COUNT_SPARED_UNASKED);
        return;
    }
    const struct perf_sum sum = read_ring(ucontext, own, &kernel);
    if (!sum.is_any)
        jw_count(JW_COUNT_SPARED_UNASKED); /* the sample before had seen it */
    else if (sampler.is_counting)
        take_count(ucontext, thread, own, &kernel, sum.count);
    else
        take(ucontext, thread, own, &kernel, sum.samples);
    os_perf_done(&own->ring, &kernel.reading);
    state = PERF_TAKING;
    if (sampler.is_counting && is_too_often(ucontext, thread, own) && slow_down(thread, own)) {
        /* order PERF_STATE: releases the end of what was done in the ring. Who removes it meanwhile has counted it. */
        if (jw_cas_acq_rel(&own->state, &state, PERF_LEAVING))
            jw_add_relaxed(&leaving_count, 1);
        jw_store_release(&own->state, PERF_LEFT);
        sampler_clock_wake();
        return;
    }
    /* order PERF_STATE: releases the end of what was done in the ring. */
    if (!jw_cas_acq_rel(&own->state, &state, PERF_READY))
        jw_store_release(&own->state, PERF_LEFT);
}
