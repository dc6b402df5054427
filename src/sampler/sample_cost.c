/* What handlers take, as histograms; noted in handlers, asked for anywhere. */
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_tls.h"

/* Relaxed: figures to show; nothing is read on their account. Of both clocks together the elapsed time is the counter
 * HANDLER_NS. */
static struct {
    _Atomic uint64_t wall_elapsed_ns;
    _Atomic uint64_t measured_count[JW_COST_CLOCK_LIMIT];
    _Atomic uint64_t measured_cpu_ns[JW_COST_CLOCK_LIMIT];
    _Atomic uint64_t buckets[JW_COST_CLOCK_LIMIT][JW_COST_BUCKETS];
} costs;

static JW_SIGNAL_SAFE uint64_t own_cpu_ns(void)
{
    uint64_t cpu_ns;

    return os_thread_cpu_ns((int)thread_own_tid(), &cpu_ns) ? cpu_ns : 0;
}

void sample_cost_begin(struct sample_cost *cost)
{
    cost->begin_ns = jw_now_ns();
    cost->cpu_ns = 0;
    if (jw_hash_word(cost->begin_ns) % JW_COST_MEASURED_OF != 0)
        return;
    cost->cpu_ns = own_cpu_ns();
    cost->begin_ns = jw_now_ns();
}

void sample_cost_note(enum jw_cost_clock clock, uint64_t elapsed_ns)
{
    jw_count_add(JW_COUNT_HANDLER_NS, elapsed_ns);
    if (clock == JW_COST_WALL)
        jw_add_relaxed(&costs.wall_elapsed_ns, elapsed_ns);
    jw_add_relaxed(&costs.buckets[clock][jw_cost_bucket(elapsed_ns)], 1);
}

void sample_cost_end(const struct sample_cost *cost, enum jw_cost_clock clock)
{
    sample_cost_note(clock, jw_now_ns() - cost->begin_ns);
    if (cost->cpu_ns == 0)
        return;
    jw_add_relaxed(&costs.measured_cpu_ns[clock], own_cpu_ns() - cost->cpu_ns);
    jw_add_relaxed(&costs.measured_count[clock], 1);
}

void sampler_cost(enum jw_cost_clock clock, struct jw_cost_times *out)
{
    const uint64_t wall_ns = jw_load_relaxed(&costs.wall_elapsed_ns);

    *out = (struct jw_cost_times){
        .elapsed_ns = clock == JW_COST_WALL ? wall_ns : jw_counter(JW_COUNT_HANDLER_NS) - wall_ns,
        .measured_count = jw_load_relaxed(&costs.measured_count[clock]),
        .measured_cpu_ns = jw_load_relaxed(&costs.measured_cpu_ns[clock]),
    };
    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++) {
        out->buckets[i] = jw_load_relaxed(&costs.buckets[clock][i]);
        out->count += out->buckets[i];
    }
}
