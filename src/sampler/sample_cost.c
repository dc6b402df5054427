/* What handlers take, as histograms; noted in handlers, asked for anywhere. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_tls.h"

/* Relaxed: figures to show; nothing is read on their account. Of both clocks together the elapsed time is the counter
 * HANDLER_NS; that of hooks is not in it. */
static struct {
    _Atomic uint64_t wall_elapsed_ns;
    _Atomic uint64_t hook_elapsed_ns;
    _Atomic uint64_t longest_cpu_ns[JW_COST_CLOCK_LIMIT];
    _Atomic uint64_t buckets[JW_COST_CLOCK_LIMIT][JW_COST_BUCKETS];
    struct {
        _Atomic uint64_t count, cpu_ns;
    } measured[JW_COST_CLOCK_LIMIT][JW_COST_OCTAVES];
} costs;

static JW_SIGNAL_SAFE uint64_t own_cpu_ns(void)
{
    uint64_t cpu_ns;

    return os_thread_cpu_ns((int)thread_own_tid(), &cpu_ns) ? cpu_ns : 0;
}

void sample_cost_begin(struct sample_cost *cost)
{
    cost->begin_ns = jw_now_ns(); /* the reading is a part of what it takes */
    cost->cpu_ns = own_cpu_ns();
    cost->is_measured = jw_hash_word(cost->begin_ns) % JW_COST_MEASURED_OF == 0;
}

void sample_cost_begin_hook(struct sample_cost *cost)
{
    cost->begin_ns = jw_now_ns();
    cost->is_measured = jw_hash_word(cost->begin_ns) % JW_COST_HOOK_MEASURED_OF == 0;
    cost->cpu_ns = 0;
    if (!cost->is_measured)
        return;
    cost->cpu_ns = own_cpu_ns();
    cost->begin_ns = jw_now_ns();
}

void sample_cost_note(enum jw_cost_clock clock, uint64_t elapsed_ns)
{
    if (clock == JW_COST_HOOK)
        jw_add_relaxed(&costs.hook_elapsed_ns, elapsed_ns);
    else
        jw_count_add(JW_COUNT_HANDLER_NS, elapsed_ns);
    if (clock == JW_COST_WALL)
        jw_add_relaxed(&costs.wall_elapsed_ns, elapsed_ns);
    jw_add_relaxed(&costs.buckets[clock][jw_cost_bucket(elapsed_ns)], 1);
}

/* Who loses the swap has a longer one before him, so this ends. */
static JW_SIGNAL_SAFE void note_longest(enum jw_cost_clock clock, uint64_t cpu_ns)
{
    uint64_t longest_ns = jw_load_relaxed(&costs.longest_cpu_ns[clock]);

    while (cpu_ns > longest_ns &&
           !jw_cas_relaxed(&costs.longest_cpu_ns[clock], &longest_ns, cpu_ns)) {
    }
}

/*
 * What the thread used since `begin_ns` of its clock, in which so much time has passed: it has not used more, whatever readings and what they
 * have pushed out of caches add. A handler always reads that clock when it begins, so a reading is a part of what it takes; only
 * hooks that are measured do: of these it is taken off, by one more.
 */
static JW_SIGNAL_SAFE uint64_t used_since(uint64_t begin_ns, enum jw_cost_clock clock,
                                          uint64_t elapsed_ns)
{
    const uint64_t end_ns = own_cpu_ns();
    const uint64_t reading_ns = clock == JW_COST_HOOK ? own_cpu_ns() - end_ns : 0;
    const uint64_t used_ns = end_ns - begin_ns > reading_ns ? end_ns - begin_ns - reading_ns : 0;

    return used_ns < elapsed_ns ? used_ns : elapsed_ns;
}

void sample_cost_end(const struct sample_cost *cost, enum jw_cost_clock clock)
{
    const uint64_t elapsed_ns = jw_now_ns() - cost->begin_ns;
    const bool is_read = cost->cpu_ns != 0 && (cost->is_measured || elapsed_ns >= JW_COST_LONG_NS);
    const uint64_t cpu_ns = is_read ? used_since(cost->cpu_ns, clock, elapsed_ns) : elapsed_ns;

    sample_cost_note(clock, elapsed_ns);
    note_longest(clock, cpu_ns);
    if (!is_read)
        return;
    const uint32_t octave = jw_cost_octave(elapsed_ns);
    jw_add_relaxed(&costs.measured[clock][octave].cpu_ns, cpu_ns);
    jw_add_relaxed(&costs.measured[clock][octave].count, 1);
}

void sampler_cost_begin(void)
{
    for (int clock = 0; clock < JW_COST_CLOCK_LIMIT; clock++)
        jw_store_relaxed(&costs.longest_cpu_ns[clock], 0);
}

void sampler_cost(enum jw_cost_clock clock, struct jw_cost_times *out)
{
    const uint64_t wall_ns = jw_load_relaxed(&costs.wall_elapsed_ns);

    *out = (struct jw_cost_times){
        .elapsed_ns = clock == JW_COST_HOOK   ? jw_load_relaxed(&costs.hook_elapsed_ns)
                      : clock == JW_COST_WALL ? wall_ns
                                              : jw_counter(JW_COUNT_HANDLER_NS) - wall_ns,
        .longest_cpu_ns = jw_load_relaxed(&costs.longest_cpu_ns[clock]),
    };
    /* These before the buckets: no more of an octave are measured than there are. */
    for (uint32_t i = 0; i < JW_COST_OCTAVES; i++) {
        out->measured[i].count = jw_load_relaxed(&costs.measured[clock][i].count);
        out->measured[i].cpu_ns = jw_load_relaxed(&costs.measured[clock][i].cpu_ns);
    }
    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++) {
        out->buckets[i] = jw_load_relaxed(&costs.buckets[clock][i]);
        out->count += out->buckets[i];
    }
}
