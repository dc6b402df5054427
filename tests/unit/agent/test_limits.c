/* Rates and deadlines, with clocks that the tests set. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "agent/limits.h"
#include "base/clock.h"
#include "options/options.h"

#define SECOND JW_NS_PER_SECOND
#define HOUR   (3600 * SECOND)

/* 2026-01-15 09:59:59 UTC */
static const uint64_t wall_ns = 1768471199ull * JW_NS_PER_SECOND;
static const uint64_t now_ns = 1000 * JW_NS_PER_SECOND;

static void set_up(void)
{
    setenv("TZ", "UTC0", 1);
    tzset();
}

TestSuite(limits, .init = set_up, .timeout = 1800);

Test(limits, a_burst_is_taken_and_no_more)
{
    struct limits_rate rate = {0};

    for (int i = 0; i < LIMITS_PER_SECOND; i++)
        cr_assert(limits_take(&rate, now_ns), "%d", i);
    cr_assert(!limits_take(&rate, now_ns));
    cr_assert(!limits_take(&rate, now_ns + SECOND / LIMITS_PER_SECOND - 1));
    cr_assert(limits_take(&rate, now_ns + SECOND / LIMITS_PER_SECOND));
    cr_assert(!limits_take(&rate, now_ns + SECOND / LIMITS_PER_SECOND));
}

Test(limits, a_storm_gets_its_rate_whatever_it_asks_for)
{
    struct limits_rate rate = {0};
    unsigned taken = 0;

    for (uint64_t at_ns = now_ns; at_ns < now_ns + 100 * SECOND; at_ns += 7 * JW_NS_PER_MS)
        taken += limits_take(&rate, at_ns);
    cr_assert_geq(taken, 100 * LIMITS_PER_SECOND);
    cr_assert_leq(taken, 101 * LIMITS_PER_SECOND);
}

Test(limits, a_refusal_costs_nothing)
{
    struct limits_rate rate = {0};

    while (limits_take(&rate, now_ns))
        ;
    for (int i = 0; i < 1000; i++)
        cr_assert(!limits_take(&rate, now_ns));
    cr_assert(limits_take(&rate, now_ns + SECOND / LIMITS_PER_SECOND));
}

static uint64_t at(unsigned hour, unsigned minute, unsigned second)
{
    return OPTIONS_TIME_OF_DAY | (hour * 3600 + minute * 60 + second);
}

Test(limits, never_is_never_over)
{
    const struct limits_deadline never = limits_first(0, now_ns, wall_ns);

    cr_assert(!limits_is_over(&never, UINT64_MAX, UINT64_MAX));
}

Test(limits, a_duration_does_not_mind_the_wall_clock)
{
    const struct limits_deadline deadline = limits_first(30 * SECOND, now_ns, wall_ns);

    cr_assert(!limits_is_over(&deadline, now_ns + 30 * SECOND - 1, UINT64_MAX));
    cr_assert(limits_is_over(&deadline, now_ns + 30 * SECOND, 0));
}

Test(limits, a_time_of_day_is_the_next_one_strictly_after_now)
{
    cr_assert_eq(limits_first(at(10, 0, 0), now_ns, wall_ns).at_wall_ns, wall_ns + SECOND);
    cr_assert_eq(limits_first(at(9, 59, 59), now_ns, wall_ns).at_wall_ns, wall_ns + 24 * HOUR);
    cr_assert_eq(limits_first(at(9, 59, 58), now_ns, wall_ns).at_wall_ns,
                 wall_ns + 24 * HOUR - SECOND);
    cr_assert_eq(limits_first(at(0, 0, 0), now_ns, wall_ns).at_wall_ns,
                 wall_ns + 14 * HOUR + SECOND);
}

Test(limits, a_time_of_day_is_that_of_the_local_clock_also_when_it_changes)
{
    /* 2026-03-29: at 02:00 the clock goes to 03:00; the day has 23 hours. */
    const uint64_t before_ns = 1774735200ull * SECOND; /* 2026-03-28 23:00 in Berlin */

    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    cr_assert_eq(limits_first(at(12, 0, 0), now_ns, before_ns).at_wall_ns, before_ns + 12 * HOUR);
}

Test(limits, a_time_of_day_follows_a_clock_that_is_set)
{
    const struct limits_deadline deadline = limits_first(at(10, 0, 0), now_ns, wall_ns);

    cr_assert(!limits_is_over(&deadline, UINT64_MAX, wall_ns - HOUR), "set back: it is not yet");
    cr_assert(limits_is_over(&deadline, now_ns, wall_ns + HOUR), "set forward: it is past");
}

Test(limits, turns_keep_their_distance_when_one_is_served_late)
{
    struct limits_deadline turn = limits_first(10 * SECOND, now_ns, wall_ns);

    for (unsigned i = 1; i <= 100; i++) {
        cr_assert_eq(turn.at_ns, now_ns + i * 10 * SECOND);
        turn = limits_next(10 * SECOND, &turn, turn.at_ns + 3 * SECOND, wall_ns);
    }
}

Test(limits, turns_that_were_missed_altogether_are_left_out)
{
    const struct limits_deadline turn = limits_first(10 * SECOND, now_ns, wall_ns);
    const uint64_t late_ns = now_ns + 47 * SECOND;
    const struct limits_deadline next = limits_next(10 * SECOND, &turn, late_ns, wall_ns);

    cr_assert_eq(next.at_ns, late_ns + 10 * SECOND);
    cr_assert(!limits_is_over(&next, late_ns, wall_ns));
}

Test(limits, a_turn_of_the_day_comes_once_a_day)
{
    const struct limits_deadline turn = limits_first(at(10, 0, 0), now_ns, wall_ns);
    const struct limits_deadline next =
        limits_next(at(10, 0, 0), &turn, now_ns + SECOND, turn.at_wall_ns);

    cr_assert_eq(next.at_wall_ns, turn.at_wall_ns + 24 * HOUR);
}
