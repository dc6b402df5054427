/* A window of samples that nobody says is open, as no JVM is there: signals have their outcome, and leave nothing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "os/os_timer.h"
#include "unit/sampler/outcomes.h"

#define INTERVAL_NS JW_NS_PER_MS

TestSuite(sampler_window, .init = open_run, .timeout = 1800);

static uint64_t left_count;

static void note(const struct event_record *record, void *argument)
{
    (void)record;
    (void)argument;
    left_count++;
}

static bool note_late(struct generation *generation, void *argument)
{
    event_take(generation->events, note, argument);
    return true;
}

static void take_all(void)
{
    for (int turn = 0; turn < 2; turn++) {
        struct generation *closed = generations_rotate(generations);

        cr_assert(closed != NULL);
        event_take(closed->events, note, NULL);
        (void)generations_retire(generations, note_late, NULL);
    }
}

static void burn(uint64_t ns)
{
    uint64_t begin_ns = 0, cpu_ns = 0;

    open_to_signals();
    cr_assert(os_thread_cpu_ns(os_gettid(), &begin_ns));
    while (cpu_ns < begin_ns + ns)
        cr_assert(os_thread_cpu_ns(os_gettid(), &cpu_ns));
}

static void spare_by(enum sampler_cpu_engine cpu)
{
    const struct sampler_config config = {
        .generations = generations,
        .interval_ns = INTERVAL_NS,
        .depth_max = 64,
        .cpu = cpu,
        .window = 7,
        .with_native = true,
    };

    cr_assert(sampler_start(&config, &err), "%s", err.message);
    while (jw_counter(JW_COUNT_SPARED_WINDOW) < 3)
        burn(INTERVAL_NS);
    cr_assert(sampler_stop(DRAIN_NS));
    take_all();
    expect_conservation();
    cr_assert(eq(u64, left_count, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_SAMPLES), 0));
}

Test(sampler_window, signals_of_timers_are_spared)
{
    spare_by(SAMPLER_CPU_TIMER);
}

Test(sampler_window, so_are_those_of_compared_clocks)
{
    spare_by(SAMPLER_CPU_FINE);
}
