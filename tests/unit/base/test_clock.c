/* The clocks: the same units and the same origin as the system's. */
#include "base/clock.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <time.h>

TestSuite(clock, .timeout = 1800);

static uint64_t system_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

Test(clock, a_reading_lies_between_two_of_the_system)
{
    const uint64_t before_ns = system_ns(CLOCK_MONOTONIC);
    const uint64_t now_ns = jw_now_ns();

    cr_assert(ge(u64, now_ns, before_ns));
    cr_assert(le(u64, now_ns, system_ns(CLOCK_MONOTONIC)));
}

Test(clock, the_wall_clock_counts_from_the_unix_epoch)
{
    cr_assert(ge(u64, jw_wall_ns(), 1700000000ull * JW_NS_PER_SECOND + 1));
    cr_assert(lt(u64, jw_wall_ns(), 7000000000ull * JW_NS_PER_SECOND));
}

Test(clock, time_does_not_run_backwards)
{
    uint64_t last_ns = jw_now_ns();

    for (int i = 0; i < 10000; i++) {
        const uint64_t now_ns = jw_now_ns();

        cr_assert(ge(u64, now_ns, last_ns));
        last_ns = now_ns;
    }
}
