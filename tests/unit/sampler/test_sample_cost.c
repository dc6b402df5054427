/* Percentiles of the handler's time, against a sorted list of the same durations. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/counters.h"
#include "base/hash.h"
#include "sampler/sampler_internal.h"

TestSuite(sample_cost, .timeout = 60);

#define DURATIONS 5000

static uint64_t durations[DURATIONS];

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* The smallest duration that at least so many of a hundred do not exceed. */
static uint64_t percentile(size_t count, uint32_t pct)
{
    for (size_t i = 0; i < count; i++)
        if ((i + 1) * 100 >= count * pct)
            return durations[i];
    return durations[count - 1];
}

Test(sample_cost, there_is_none_before_the_first_sample)
{
    for (uint32_t pct = 0; pct <= 100; pct++)
        cr_assert(eq(u64, sampler_cost_ns(pct), 0));
}

Test(sample_cost, percentiles_are_exact_to_a_quarter_of_a_power_of_two)
{
    const uint64_t before = jw_counter(JW_COUNT_HANDLER_NS);
    uint64_t sum = 0;

    for (size_t i = 0; i < DURATIONS; i++) {
        /* From 4 ns to a minute, all magnitudes alike. */
        durations[i] = 4 + (jw_hash_word(i) >> (28 + jw_hash_word(i + DURATIONS) % 34));
        sum += durations[i];
        sample_cost_note(durations[i]);
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_HANDLER_NS), before + sum));
    qsort(durations, DURATIONS, sizeof durations[0], by_value);
    for (uint32_t pct = 0; pct <= 100; pct++) {
        const uint64_t exact = percentile(DURATIONS, pct);
        const uint64_t said = sampler_cost_ns(pct);

        cr_assert(said >= exact && said <= exact + exact / 4 + 1, "%u %%: %lu for %lu", pct,
                  (unsigned long)said, (unsigned long)exact);
    }
}

Test(sample_cost, the_shortest_and_the_longest_durations_are_kept_too)
{
    sample_cost_note(0);
    cr_assert(le(u64, sampler_cost_ns(100), 5));
    sample_cost_note(UINT64_MAX);
    cr_assert(le(u64, sampler_cost_ns(50), 5));
    cr_assert(ge(u64, sampler_cost_ns(100), UINT64_C(1) << 39));
}
