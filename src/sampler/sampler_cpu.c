/* Readings of CPU clocks; dump, and hooks where threads begin and end. */
#include "sampler/sampler_cpu.h"

#include <pthread.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"

_Static_assert(sizeof(void *) >= sizeof(uint64_t), "a serial and an index must fit a pointer");

static uint64_t process_base_ns; /* constant while an engine runs */

/* Of threads that are ending: its destructor is the last that we see of them. Made once. */
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static bool has_exit_key;

static uint64_t ticket_of(thread_index thread)
{
    return thread_serial(thread) * THREAD_RECORDS_MAX + thread;
}

/* On the thread that ends, after all of its Java and of the JVM: what is left are libc and the kernel. */
static void look_last(void *ticket)
{
    const thread_index thread = (uint64_t)(uintptr_t)ticket % THREAD_RECORDS_MAX;
    uint64_t clock_ns;

    if (!thread_is_live(thread) || ticket_of(thread) != (uint64_t)(uintptr_t)ticket)
        return;
    if (os_thread_cpu_ns(os_gettid(), &clock_ns))
        thread_cpu_look(thread, clock_ns);
    /* Its pages are not to wait for the scan where threads come and go; but the kernel may take 400 ms to take a probe away,
     * for which no thread of the program is to wait. */
    if (!sampler.is_counting)
        (void)engine_cpu_perf_remove(thread);
}

static void make_exit_key(void)
{
    has_exit_key = pthread_key_create(&exit_key, look_last) == 0;
}

static void forget(thread_index thread, bool is_live, void *argument)
{
    (void)is_live;
    (void)argument;
    thread_cpu_forget(thread);
}

void sampler_cpu_start(void)
{
    (void)pthread_once(&exit_once, make_exit_key);
    threads_each(forget, NULL); /* another run told of them */
    process_base_ns = os_process_cpu_ns();
}

uint64_t sampler_process_cpu_ns(void)
{
    return os_process_cpu_ns() - process_base_ns;
}

uint64_t sampler_cpu_debt_ns(uint64_t clock_ns, uint64_t started_ns)
{
    const uint64_t most_ns = jw_now_ns() - started_ns;

    return clock_ns < most_ns ? clock_ns : most_ns;
}

static void mark_own(thread_index thread)
{
    if (os_thread_is_own((int)thread_tid(thread)))
        thread_cpu_mark(thread, THREAD_CPU_OWN);
}

void sampler_cpu_begin(thread_index thread, bool is_old, uint64_t started_ns)
{
    uint64_t clock_ns;

    if (!os_thread_cpu_ns((int)thread_tid(thread), &clock_ns))
        return;

    const uint64_t debt_ns = is_old ? 0 : sampler_cpu_debt_ns(clock_ns, started_ns);
    thread_cpu_begin(thread, clock_ns - debt_ns, clock_ns);
    mark_own(thread);
}

/* Where weights are differences of the thread's clock: where that stood at its last sample. */
static bool sampled_by_clock(thread_index thread, uint64_t *sampled_ns)
{
    if (engine_cpu_fine_has(thread))
        *sampled_ns = engine_cpu_fine_sampled_ns(thread);
    else if (engine_cpu_perf_has(thread))
        *sampled_ns = engine_cpu_perf_sampled_ns(thread);
    else
        return false;
    return true;
}

/* Samples of the old record cannot be told from what a timer would still have to tell: for timers an interval decides. */
static bool has_told(thread_index old, const struct thread_cpu *known, uint64_t clock_ns)
{
    uint64_t sampled_ns;

    return sampled_by_clock(old, &sampled_ns) ? sampled_ns != known->base_ns
                                              : clock_ns - known->base_ns >= sampler.interval_ns;
}

void sampler_cpu_hand_over(thread_index old, uint64_t clock_ns, uint64_t *base_ns)
{
    struct thread_cpu known;
    uint64_t sampled_ns;

    /* The clock of another thread that had this number stands anywhere. */
    if (!thread_cpu_get(old, &known) || clock_ns < known.clock_ns)
        return;
    if (!has_told(old, &known, clock_ns)) {
        *base_ns = known.base_ns;
        thread_cpu_forget(old);
    } else if (sampled_by_clock(old, &sampled_ns)) {
        /* Of its last sample, or of a look since, which may be in the ledger. */
        *base_ns = known.clock_ns;
    } else {
        *base_ns = clock_ns;
        thread_cpu_look(old, clock_ns);
    }
}

static void look(thread_index thread)
{
    uint64_t clock_ns;

    if (os_thread_cpu_ns((int)thread_tid(thread), &clock_ns))
        thread_cpu_look(thread, clock_ns);
}

bool sampler_cpu_look(thread_index thread)
{
    struct thread_cpu before;
    uint64_t clock_ns;

    /* In this order: of one and the same thread, what is read later is no less. */
    if (!thread_cpu_get(thread, &before) || !os_thread_cpu_ns((int)thread_tid(thread), &clock_ns))
        return true;
    if (clock_ns < before.clock_ns)
        return false;
    thread_cpu_look(thread, clock_ns);
    return true;
}

void sampler_cpu_end(thread_index thread)
{
    look(thread);
    if (has_exit_key && thread_tid(thread) == (uint32_t)os_gettid())
        (void)pthread_setspecific(exit_key, (void *)(uintptr_t)ticket_of(thread));
}

/* What sampler_cpu_each hands through threads_each. */
struct cpu_round {
    uint64_t oldest_generation;
    sampler_cpu_visit *visit;
    void *argument;
};

static void tell(thread_index thread, bool is_live, void *argument)
{
    const struct cpu_round *round = argument;
    const uint64_t short_ns = SAMPLER_SHORT_INTERVALS * sampler.interval_ns;
    struct thread_cpu known;

    if (is_live) {
        look(thread);
        mark_own(thread);
    }
    if (!thread_cpu_get(thread, &known))
        return;

    const uint64_t used_ns = known.clock_ns - known.base_ns;
    const bool is_ended = thread_is_done(thread, round->oldest_generation);
    const struct sampler_cpu cpu = {
        .thread = thread,
        .serial = thread_serial(thread),
        .used_ns = used_ns,
        .is_ended = is_ended,
        .is_short = is_ended && known.base_ns == 0 &&
                    used_ns < (short_ns > SAMPLER_SHORT_NS ? short_ns : SAMPLER_SHORT_NS),
        .is_own = (known.flags & THREAD_CPU_OWN) != 0,
        .is_refused = (known.flags & THREAD_CPU_REFUSED) != 0,
        .is_left_out = (known.flags & THREAD_CPU_OWN) == 0 && !thread_is_wanted(thread),
    };

    round->visit(&cpu, round->argument);
    if (is_ended)
        thread_cpu_forget(thread);
}

void sampler_cpu_each(uint64_t oldest_generation, sampler_cpu_visit *visit, void *argument)
{
    struct cpu_round round = {oldest_generation, visit, argument};

    threads_each(tell, &round);
}
