/* What handlers are noted to take: all of them as elapsed time, a part by their CPU clock. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <time.h>

#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"

TestSuite(sample_cost, .timeout = 1800);

static struct jw_cost_measured measured_of(const struct jw_cost_times *times)
{
    return jw_cost_measured_from(times, 0);
}

/* Of handlers, the long ones are measured all. */
static struct jw_cost_measured random_of(const struct jw_cost_times *times)
{
    const struct jw_cost_measured longer = jw_cost_measured_from(times, JW_COST_LONG_OCTAVE);
    const struct jw_cost_measured all = measured_of(times);

    return (struct jw_cost_measured){all.count - longer.count, all.cpu_ns - longer.cpu_ns};
}

Test(sample_cost, there_is_none_before_the_first_handler)
{
    struct jw_cost_times times;

    sampler_cost(JW_COST_CPU, &times);
    cr_assert(eq(u64, times.count, 0));
    cr_assert(eq(u64, jw_cost_percentile_ns(&times, 1000), 0));
    cr_assert(eq(u64, jw_cost_cpu_ns(&times, NULL), 0));
}

Test(sample_cost, each_clock_has_its_own_and_the_counter_has_both)
{
    const uint64_t before_ns = jw_counter(JW_COUNT_HANDLER_NS);
    struct jw_cost_times cpu, wall;

    sample_cost_note(JW_COST_CPU, 1000);
    sample_cost_note(JW_COST_CPU, 3000);
    sample_cost_note(JW_COST_WALL, 7000);
    sampler_cost(JW_COST_CPU, &cpu);
    sampler_cost(JW_COST_WALL, &wall);
    cr_assert(eq(u64, cpu.count, 2));
    cr_assert(eq(u64, cpu.elapsed_ns, 4000));
    cr_assert(eq(u64, wall.count, 1));
    cr_assert(eq(u64, wall.elapsed_ns, 7000));
    cr_assert(eq(u64, jw_counter(JW_COUNT_HANDLER_NS) - before_ns, 11000));
}

/* The law of signals, and HANDLER_NS, know nothing of hooks. */
Test(sample_cost, hooks_have_their_own)
{
    const uint64_t before_ns = jw_counter(JW_COUNT_HANDLER_NS);
    struct jw_cost_times cpu, hook;
    struct sample_cost cost;

    sample_cost_note(JW_COST_HOOK, 1500);
    sampler_cost(JW_COST_HOOK, &hook);
    sampler_cost(JW_COST_CPU, &cpu);
    cr_assert(eq(u64, hook.count, 1));
    cr_assert(eq(u64, hook.elapsed_ns, 1500));
    cr_assert(eq(u64, cpu.count, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_HANDLER_NS), before_ns));
    for (int i = 0; i < 64000; i++) {
        sample_cost_begin_hook(&cost);
        sample_cost_end(&cost, JW_COST_HOOK);
    }
    sampler_cost(JW_COST_HOOK, &hook);
    /* One in 256 at random, 250; further off than half or twice of it is chance in 10^15 runs. */
    cr_assert(ge(u64, measured_of(&hook).count, 125));
    cr_assert(le(u64, measured_of(&hook).count, 500));
}

static uint64_t clock_of_thread_ns(int tid)
{
    uint64_t cpu_ns = 0;

    return os_thread_cpu_ns(tid, &cpu_ns) ? cpu_ns : 0;
}

/* So many hooks; whether some of them were measured, and what those took, on average. */
static bool mean_of_hooks(uint64_t *mean_ns)
{
    struct jw_cost_times before, after;

    sampler_cost(JW_COST_HOOK, &before);
    for (int i = 0; i < 4000; i++) {
        struct sample_cost cost;

        sample_cost_begin_hook(&cost);
        sample_cost_end(&cost, JW_COST_HOOK);
    }
    sampler_cost(JW_COST_HOOK, &after);
    jw_cost_since(&after, &before);
    const struct jw_cost_measured measured = measured_of(&after);
    if (measured.count == 0)
        return false;
    *mean_ns = measured.cpu_ns / measured.count;
    return true;
}

/*
 * Only those hooks that are measured read that clock, so a reading is no part of what the others take. The least of many means: what
 * comes between now and then, an interrupt or the translation of an emulator, is in some of them and not in all; a reading would be in each.
 */
Test(sample_cost, the_readings_are_no_part_of_what_a_hook_takes)
{
    const int tid = os_gettid();
    uint64_t least_reading_ns = UINT64_MAX, least_mean_ns = UINT64_MAX, mean_ns;

    for (int round = 0; round < 64; round++) {
        for (int i = 0; i < 16; i++) {
            const uint64_t before_ns = clock_of_thread_ns(tid);
            const uint64_t reading_ns = clock_of_thread_ns(tid) - before_ns;

            least_reading_ns = reading_ns < least_reading_ns ? reading_ns : least_reading_ns;
        }
        if (mean_of_hooks(&mean_ns) && mean_ns < least_mean_ns)
            least_mean_ns = mean_ns;
    }
    cr_assert(lt(u64, least_mean_ns, least_reading_ns));
}

/* One in 64 at random; of 64,000 that is 1,000, and less than half of it once in the age of the universe. */
Test(sample_cost, some_are_measured_by_their_own_cpu_clock)
{
    struct jw_cost_times times;

    for (int i = 0; i < 64000; i++) {
        struct sample_cost cost;

        sample_cost_begin(&cost);
        sample_cost_end(&cost, JW_COST_CPU);
    }
    sampler_cost(JW_COST_CPU, &times);
    cr_assert(eq(u64, times.count, 64000));
    const struct jw_cost_measured at_random = random_of(&times);
    cr_assert(ge(u64, at_random.count, 500));
    cr_assert(le(u64, at_random.count, 2000));
    cr_assert(ge(u64, at_random.cpu_ns, at_random.count));
}

/* However dear the readings are: each that is measured has used no more than time passed, and all of them so, too. */
Test(sample_cost, none_used_more_than_time_passed)
{
    struct jw_cost_times cpu, hook;

    for (int i = 0; i < 64000; i++) {
        struct sample_cost cost;

        sample_cost_begin(&cost);
        sample_cost_end(&cost, JW_COST_CPU);
        sample_cost_begin_hook(&cost);
        sample_cost_end(&cost, JW_COST_HOOK);
    }
    sampler_cost(JW_COST_CPU, &cpu);
    sampler_cost(JW_COST_HOOK, &hook);
    for (uint32_t i = 0; i < JW_COST_OCTAVES; i++) {
        const uint64_t end_ns = jw_cost_bucket_end_ns((i + 1) * JW_COST_STEPS - 1);

        cr_assert(le(u64, cpu.measured[i].cpu_ns, cpu.measured[i].count * end_ns));
        cr_assert(le(u64, hook.measured[i].cpu_ns, hook.measured[i].count * end_ns));
    }
    cr_assert(le(u64, jw_cost_cpu_ns(&cpu, NULL), cpu.elapsed_ns));
    cr_assert(le(u64, jw_cost_cpu_ns(&hook, NULL), hook.elapsed_ns));
}

/* A handler has read its clock before anybody knew that it would be long. */
Test(sample_cost, every_long_handler_is_measured)
{
    const uint64_t waited_ns = 3 * JW_COST_LONG_NS;
    struct jw_cost_times times;
    struct sample_cost cost;

    for (int i = 0; i < 20; i++) {
        sample_cost_begin(&cost);
        nanosleep(&(struct timespec){0, (long)waited_ns}, NULL);
        sample_cost_end(&cost, JW_COST_WALL);
    }
    sampler_cost(JW_COST_WALL, &times);
    cr_assert(eq(u64, jw_cost_measured_from(&times, JW_COST_LONG_OCTAVE).count, 20));
}

static uint64_t own_cpu_ns(void)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns(os_gettid(), &cpu_ns));
    return cpu_ns;
}

static uint64_t longest_cpu_ns(enum jw_cost_clock clock)
{
    struct jw_cost_times times;

    sampler_cost(clock, &times);
    return times.longest_cpu_ns;
}

/* Whoever waits has used nothing, whichever of 64 it is. */
Test(sample_cost, the_longest_is_known_by_its_own_cpu_time)
{
    const uint64_t waited_ns = 5 * JW_NS_PER_MS, used_ns = 20 * JW_NS_PER_MS;
    struct sample_cost cost;

    for (int i = 0; i < 3; i++) {
        const uint64_t before_ns = own_cpu_ns();

        sampler_cost_begin();
        sample_cost_begin(&cost);
        nanosleep(&(struct timespec){0, (long)waited_ns}, NULL);
        sample_cost_end(&cost, JW_COST_WALL);
        cr_assert(le(u64, longest_cpu_ns(JW_COST_WALL), own_cpu_ns() - before_ns));
    }
    sample_cost_begin(&cost);
    for (const uint64_t before_ns = own_cpu_ns(); own_cpu_ns() - before_ns < used_ns;) {
    }
    sample_cost_end(&cost, JW_COST_CPU);
    cr_assert(ge(u64, longest_cpu_ns(JW_COST_CPU), used_ns));

    sample_cost_begin(&cost);
    sample_cost_end(&cost, JW_COST_CPU);
    cr_assert(ge(u64, longest_cpu_ns(JW_COST_CPU), used_ns));
    sampler_cost_begin();
    cr_assert(eq(u64, longest_cpu_ns(JW_COST_CPU), 0));
}
