/* How long samples take in the handler, as a histogram; noted in handlers, asked for anywhere. */
#include "base/atomics.h"
#include "base/counters.h"
#include "sampler/sampler_internal.h"

/* Four buckets to each power of two, up to 2^40 ns. */
#define STEPS        4
#define BUCKET_COUNT (40 * STEPS)

/* Relaxed: figures to show; nothing is read on their account. */
static _Atomic uint64_t buckets[BUCKET_COUNT];

void sample_cost_note(uint64_t duration_ns)
{
    const uint64_t duration = duration_ns < STEPS ? STEPS : duration_ns;
    const uint32_t octave = 63 - (uint32_t)__builtin_clzll(duration);
    const uint32_t step = (uint32_t)(duration >> (octave - 2)) & (STEPS - 1);
    const uint32_t bucket = octave * STEPS + step;

    jw_count_add(JW_COUNT_HANDLER_NS, duration_ns);
    jw_add_relaxed(&buckets[bucket < BUCKET_COUNT ? bucket : BUCKET_COUNT - 1], 1);
}

uint64_t sampler_cost_ns(uint32_t percentile_pct)
{
    uint64_t total = 0, passed = 0;

    for (uint32_t i = 0; i < BUCKET_COUNT; i++)
        total += jw_load_relaxed(&buckets[i]);
    for (uint32_t i = 0; i < BUCKET_COUNT && total > 0; i++) {
        const uint64_t count = jw_load_relaxed(&buckets[i]);

        passed += count;
        /* The upper edge of the bucket: no sample in it took longer. */
        if (count > 0 && passed * 100 >= total * percentile_pct)
            return (uint64_t)(STEPS + i % STEPS + 1) << (i / STEPS - 2);
    }
    return 0;
}
