/* Percentiles of the handlers' time, against a sorted list of the same durations; sums and the sentence. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cost.h"
#include "base/hash.h"

TestSuite(cost, .timeout = 1800);

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

static void take(uint64_t elapsed_ns, uint64_t cpu_ns, bool is_measured)
{
    note(elapsed_ns);
    if (is_measured)
        jw_cost_measure(&times, elapsed_ns, cpu_ns);
}

Test(cost, cpu_time_is_that_of_the_measured_for_all_that_took_about_as_long)
{
    uint64_t doubt_ns;

    take(1000, 1000, false);
    cr_assert(ge(u64, jw_cost_cpu_ns(&times, &doubt_ns), 900),
              "elapsed time while nothing was measured");
    cr_assert(le(u64, jw_cost_cpu_ns(&times, &doubt_ns), 1000));
    cr_assert(eq(u64, doubt_ns, 0));
    times = (struct jw_cost_times){0};
    for (int i = 0; i < 640; i++)
        take(3000, 2200, i % 64 == 0);
    for (int i = 0; i < 100; i++)
        take(20000, 18000, i % 50 == 0);
    cr_assert(eq(u64, jw_cost_cpu_ns(&times, &doubt_ns), 640 * 2200 + 100 * 18000));
    cr_assert(eq(u64, doubt_ns, 0));
}

/* One hook of many is hit for 12 ms, and it is one of those that are measured: there was one such. */
Test(cost, one_that_took_long_does_not_stand_for_those_that_did_not)
{
    uint64_t doubt_ns;

    for (int i = 0; i < 256000; i++)
        take(1500, 1400, i % 256 == 0);
    take(12000000, 11000000, true);
    cr_assert(eq(u64, jw_cost_cpu_ns(&times, &doubt_ns), 256000 * 1400 + 11000000));
    cr_assert(eq(u64, doubt_ns, 0), "all of them were measured");
}

Test(cost, the_measured_do_not_stand_for_more_than_others_of_their_octave_took)
{
    /* All but the measured one are at the octave's begin; those that waited leave room in the elapsed time of all. */
    for (int i = 0; i < 1000; i++)
        take(1100, 1100, false);
    take(2000, 2000, true);
    for (int i = 0; i < 100; i++)
        take(100000, 100, true);
    const uint64_t said_ns = jw_cost_cpu_ns(&times, NULL);

    cr_expect(said_ns >= 1000 * 1024 + 100 * 100, "%lu", (unsigned long)said_ns);
    cr_expect(said_ns <= 1000 * 1280 + 2048 + 100 * 100, "%lu", (unsigned long)said_ns);
}

/* They were kept from running, as far as anybody knows; what nobody knows is said. */
Test(cost, long_ones_that_nobody_measured_are_in_doubt)
{
    uint64_t doubt_ns;

    for (int i = 0; i < 1000; i++)
        take(1500, 1400, i % 100 == 0);
    for (int i = 0; i < 10; i++)
        take(12000000, 0, false);
    cr_assert(eq(u64, jw_cost_cpu_ns(&times, &doubt_ns), 1010 * 1400));
    cr_assert(ge(u64, doubt_ns, 10 * 10000000));
    cr_assert(le(u64, doubt_ns, 10 * 15000000));
    /* With one of them measured, the other nine are still nearly as unsure. */
    jw_cost_measure(&times, 12000000, 6000000);
    cr_assert(eq(u64, jw_cost_cpu_ns(&times, &doubt_ns), 1000 * 1400 + 10 * 6000000));
    cr_assert(ge(u64, doubt_ns, 9 * 6000000));
    for (int i = 0; i < 7; i++)
        jw_cost_measure(&times, 12000000, 6000000);
    (void)jw_cost_cpu_ns(&times, &doubt_ns);
    cr_assert(eq(u64, doubt_ns, 0));
}

/* A busy machine: most take a microsecond, some wait for a processor for milliseconds, some of those are said to have used it, too. */
static void make_busy(uint64_t seed, uint64_t *truth_ns)
{
    times = (struct jw_cost_times){0};
    *truth_ns = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        const uint64_t chance = jw_hash_word(seed * 1000003 + i);
        const uint64_t ran_ns = 500 + chance % 2500;
        const uint64_t fate = (chance >> 20) % 10000;
        const uint64_t hit_ns = 1000000 + (chance >> 34) % 15000000;
        const uint64_t cpu_ns = fate == 0 ? ran_ns + hit_ns : ran_ns;

        *truth_ns += cpu_ns;
        take(fate < 10 ? ran_ns + hit_ns : ran_ns, cpu_ns, jw_hash_word(chance) % 256 == 0);
    }
}

Test(cost, of_made_busy_machines_it_is_as_far_from_the_truth_as_it_says)
{
    double said = 0, true_sum = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        uint64_t truth_ns, doubt_ns;

        make_busy(seed, &truth_ns);
        const uint64_t cpu_ns = jw_cost_cpu_ns(&times, &doubt_ns);
        const uint64_t off_ns = cpu_ns > truth_ns ? cpu_ns - truth_ns : truth_ns - cpu_ns;

        cr_assert(le(u64, cpu_ns, times.elapsed_ns));
        cr_assert(le(u64, off_ns, doubt_ns + truth_ns / 10),
                  "seed %lu: %lu for %lu, give or take %lu", (unsigned long)seed,
                  (unsigned long)cpu_ns, (unsigned long)truth_ns, (unsigned long)doubt_ns);
        said += (double)cpu_ns;
        true_sum += (double)truth_ns;
    }
    cr_assert(said > true_sum * 0.6, "%.0f for %.0f", said, true_sum);
    cr_assert(said < true_sum * 1.4, "%.0f for %.0f", said, true_sum);
}

/* An hour of cheap handlers says nothing of dear ones that come now. */
Test(cost, what_a_handler_takes_lately_follows_what_it_takes)
{
    struct jw_cost cost = {.process_ns = 1};
    struct jw_cost_recent recent = {0};

    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 0));
    for (int i = 0; i < 10; i++)
        take(500, 0, false);
    cost.handlers[JW_COST_CPU] = times;
    cr_assert(ge(u64, jw_cost_recent_ns(&recent, &cost), 400), "elapsed, for want of better");
    cr_assert(le(u64, jw_cost_recent_ns(&recent, &cost), 500));
    recent = (struct jw_cost_recent){0};
    times = (struct jw_cost_times){0};
    for (int i = 0; i < 10000; i++) {
        take(2100, 2000, true);
        cost.handlers[JW_COST_CPU] = times;
        cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 2000));
    }
    times = (struct jw_cost_times){0};
    for (uint32_t i = 0; i < 3 * JW_COST_RECENT; i++) {
        take(90000, 90000, true);
        cost.handlers[JW_COST_WALL] = times;
        (void)jw_cost_recent_ns(&recent, &cost);
    }
    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), 90000));
}

/* One of the few that are measured in a second has waited, or was hit: what is sampled is not made less for it. */
Test(cost, one_long_handler_is_not_taken_for_what_a_handler_takes_lately)
{
    struct jw_cost cost = {.process_ns = 1};
    struct jw_cost_recent recent = {0};

    for (int i = 0; i < 64 * 40; i++)
        take(4000, 4000, i % 64 == 0);
    take(20000000, 20000000, true);
    cost.handlers[JW_COST_CPU] = times;
    /* 4 us, and 20 ms once in 2,561. The mean of the 41 would be 490 us. */
    cr_assert(eq(u64, jw_cost_recent_ns(&recent, &cost), (2560 * 4000 + 20000000) / 2561));
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
    for (int i = 0; i < 10; i++) {
        jw_cost_measure(&times, 1900, 1800);
        jw_cost_measure(&times, 14000, 14000);
    }
    cost.handlers[JW_COST_WALL] = times;
    jw_cost_sum_up(&cost, &sums);
    cr_assert(eq(u64, jw_cost_own_ns(&sums), 990 * 1800 + 10 * 14000 + 1500000 + 7000000));
    cr_assert_str_eq(
        jw_cost_sentence(&sums, text, sizeof text),
        "0.10 % of the CPU time of the process: 0.02 % in handlers (median 2.0 us, 99 % "
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
    for (int i = 0; i < 10; i++)
        jw_cost_measure(&times, 1900, 1500);
    cost.handlers[JW_COST_HOOK] = times;
    jw_cost_sum_up(&cost, &sums);
    cr_assert(eq(u64, sums.handlers_ns, 1500000));
    cr_assert(eq(u64, sums.kernel_ns, 0));
    cr_assert(ge(u64, sums.median_ns, 1900));
}

/* Clocks that are read one after the other, estimates: whatever they say, a process has not used more than it has used. */
Test(cost, no_part_is_more_than_the_process_has_used)
{
    struct jw_cost cost = {
        .process_ns = 50000000, .agent_ns = 20000000, .clock_ns = 10000000, .signal_ns = 20000};
    struct jw_cost_sums sums;
    char text[256];

    for (int i = 0; i < 1000; i++)
        take(30000, 30000, true);
    cost.handlers[JW_COST_CPU] = times;
    jw_cost_sum_up(&cost, &sums);
    cr_assert(eq(u64, jw_cost_own_ns(&sums), 50000000));
    cr_assert(eq(u64, sums.own_ns, 30000000));
    cr_assert(eq(u64, sums.handlers_ns, 20000000));
    cr_assert(eq(u64, sums.kernel_ns, 0));
    cr_assert(eq(int, strncmp(jw_cost_sentence(&sums, text, sizeof text), "100.00 %", 8), 0));
}

Test(cost, much_doubt_is_said)
{
    struct jw_cost_sums sums = {.process_ns = JW_NS_PER_SECOND,
                                .handlers_ns = 40000000,
                                .doubt_ns = 11000000,
                                .median_ns = 1900,
                                .high_ns = 14000};
    char text[256];

    cr_assert_str_eq(
        jw_cost_sentence(&sums, text, sizeof text),
        "4.00 % of the CPU time of the process: 4.00 % in handlers (give or take 1.10 %, median "
        "1.9 "
        "us, 99 % below 14 us), 0.00 % for signals in the kernel (estimated), 0.00 % own threads");
    sums.doubt_ns = 9000000;
    cr_assert(not(jw_cost_is_doubtful(&sums)), "less than a quarter of it");
    sums.handlers_ns = 1000000;
    cr_assert(not(jw_cost_is_doubtful(&sums)), "not a hundredth of the process");
}
