/* Percentiles of the handlers' time, against a sorted list of the same durations; sums and the sentence. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cost.h"
#include "base/hash.h"

TestSuite(cost, .timeout = 300);

#define DURATIONS 5000

static uint64_t durations[DURATIONS];
static struct jw_cost_times times;

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static void note(uint64_t duration_ns)
{
    times.count++;
    times.elapsed_ns += duration_ns;
    times.buckets[jw_cost_bucket(duration_ns)]++;
}

/* The smallest duration that at least so many of a thousand do not exceed. */
static uint64_t percentile(uint32_t per_mille)
{
    for (size_t i = 0; i < DURATIONS; i++)
        if ((i + 1) * 1000 >= (size_t)DURATIONS * per_mille)
            return durations[i];
    return durations[DURATIONS - 1];
}

Test(cost, percentiles_are_exact_to_a_quarter_of_a_power_of_two)
{
    for (size_t i = 0; i < DURATIONS; i++) {
        /* From 4 ns to a minute, all magnitudes alike. */
        durations[i] = 4 + (jw_hash_word(i) >> (28 + jw_hash_word(i + DURATIONS) % 34));
        note(durations[i]);
    }
    qsort(durations, DURATIONS, sizeof durations[0], by_value);
    for (uint32_t per_mille = 0; per_mille <= 1000; per_mille++) {
        const uint64_t exact = percentile(per_mille);
        const uint64_t said = jw_cost_percentile_ns(&times, per_mille);

        cr_assert(said >= exact && said <= exact + exact / 4 + 1, "%u: %lu for %lu", per_mille,
                  (unsigned long)said, (unsigned long)exact);
    }
}

Test(cost, each_duration_lies_below_the_end_of_its_bucket_and_not_below_the_one_before)
{
    for (int shift = 0; shift < 40; shift++)
        for (uint64_t around = 0; around < 3; around++) {
            const uint64_t duration_ns = ((uint64_t)1 << shift) + around - 1;
            const uint32_t bucket = jw_cost_bucket(duration_ns);

            cr_assert(duration_ns < jw_cost_bucket_end_ns(bucket) || duration_ns <= JW_COST_STEPS,
                      "%lu", (unsigned long)duration_ns);
            cr_assert(bucket == 0 || duration_ns >= jw_cost_bucket_end_ns(bucket - 1) ||
                          duration_ns <= JW_COST_STEPS,
                      "%lu", (unsigned long)duration_ns);
        }
    cr_assert(eq(u32, jw_cost_bucket(UINT64_MAX), JW_COST_BUCKETS - 1));
}

Test(cost, cpu_time_is_that_of_the_measured_for_all)
{
    note(1000);
    cr_assert(eq(u64, jw_cost_cpu_ns(&times), 1000), "elapsed time while nothing was measured");
    times = (struct jw_cost_times){
        .count = 640, .elapsed_ns = 999999, .measured_count = 10, .measured_cpu_ns = 20000};
    cr_assert(eq(u64, jw_cost_cpu_ns(&times), 1280000));
}

/* An hour of cheap handlers says nothing of dear ones that come now. */
Test(cost, what_a_handler_takes_lately_follows_what_it_takes)
{
    struct jw_cost cost = {.process_ns = 1};
    struct jw_cost_recent recent = {{0}, {0}};
    struct jw_cost_times *of_cpu = &cost.handlers[JW_COST_CPU];

    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 0));
    *of_cpu = (struct jw_cost_times){.count = 10, .elapsed_ns = 5000};
    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 500), "elapsed, for want of better");
    for (int i = 0; i < 10000; i++) {
        of_cpu->measured_count++;
        of_cpu->measured_cpu_ns += 2000;
        cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 2000));
    }
    for (uint32_t i = 0; i < 3 * JW_COST_RECENT; i++) {
        cost.handlers[JW_COST_WALL].measured_count++;
        cost.handlers[JW_COST_WALL].measured_cpu_ns += 90000;
        (void)jw_cost_recent_ns(&recent, &cost);
    }
    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 90000));
    for (int i = 0; i < 100; i++) {
        of_cpu->measured_count += 1000;
        of_cpu->measured_cpu_ns += 3000000;
        (void)jw_cost_recent_ns(&recent, &cost);
    }
    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 3000));
}

Test(cost, what_came_since_and_what_was_before_is_all)
{
    struct jw_cost_times before, all;

    note(100);
    note(2000);
    before = times;
    note(2000);
    times.longest_cpu_ns = 40;
    before.longest_cpu_ns = 30;
    all = times;
    jw_cost_since(&times, &before);
    cr_assert(eq(u64, times.count, 1));
    cr_assert(eq(u64, times.elapsed_ns, 2000));
    jw_cost_add(&times, &before);
    cr_assert(eq(int, memcmp(&times, &all, sizeof all), 0));
    before.longest_cpu_ns = 50;
    jw_cost_add(&times, &before);
    cr_assert(eq(u64, times.longest_cpu_ns, 50));
}

Test(cost, the_sentence_adds_up)
{
    struct jw_cost cost = {.process_ns = 10 * JW_NS_PER_SECOND,
                           .agent_ns = 5000000,
                           .clock_ns = 2000000,
                           .signal_ns = 1500};
    struct jw_cost_sums sums;
    char text[256];

    for (int i = 0; i < 1000; i++)
        note(i < 990 ? 1900 : 14000);
    times.measured_count = 10;
    times.measured_cpu_ns = 50000;
    cost.handlers[JW_COST_WALL] = times;
    jw_cost_sum_up(&cost, &sums);
    cr_assert(eq(u64, jw_cost_own_ns(&sums), 5000000 + 1500000 + 7000000));
    cr_assert_str_eq(
        jw_cost_sentence(&sums, text, sizeof text),
        "0.14 % of the CPU time of the process: 0.05 % in handlers (median 2.0 us, 99 % "
        "below 2.0 us), 0.02 % for signals in the kernel (estimated), 0.07 % own threads");
    sums.process_ns = 0;
    cr_assert(eq(int, strncmp(jw_cost_sentence(&sums, text, sizeof text), "0.00 %", 6), 0));
}

/* No signal stands behind them: the kernel took nothing, and without handlers their times are the ones that are told. */
Test(cost, hooks_are_in_the_sum_and_cost_the_kernel_nothing)
{
    struct jw_cost cost = {.process_ns = JW_NS_PER_SECOND, .signal_ns = 1500};
    struct jw_cost_sums sums;

    for (int i = 0; i < 1000; i++)
        note(1900);
    times.measured_count = 10;
    times.measured_cpu_ns = 20000;
    cost.handlers[JW_COST_HOOK] = times;
    jw_cost_sum_up(&cost, &sums);
    cr_assert(eq(u64, sums.handlers_ns, 2000000));
    cr_assert(eq(u64, sums.kernel_ns, 0));
    cr_assert(ge(u64, sums.median_ns, 1900));
}
