/* The next moment of a time of day, with clocks that the tests set. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "profile/profile_part.h"

#define SECOND JW_NS_PER_SECOND
#define HOUR   (3600 * SECOND)

static struct jw_error err;

static void in_berlin(void)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
}

TestSuite(profile_time, .init = in_berlin, .timeout = 1800);

static uint64_t next(const char *text, uint64_t least_ns)
{
    struct profile_time time;

    cr_assert(profile_time_read("from", text, false, &time, &err), "%s: %s", text, err.message);
    cr_assert_eq(time.kind, PROFILE_TIME_OF_DAY);
    return profile_time_next(&time, least_ns);
}

Test(profile_time, a_time_of_day_is_the_first_one_that_is_not_before)
{
    const uint64_t noon_ns = 1768474800 * SECOND; /* 2026-01-15 12:00 */

    cr_expect_eq(next("12:00", noon_ns), noon_ns);
    cr_expect_eq(next("12:00", noon_ns + 1), noon_ns + 24 * HOUR);
    cr_expect_eq(next("11:59:59", noon_ns), noon_ns + 24 * HOUR - SECOND);
    cr_expect_eq(next("12:00:00.5", noon_ns), noon_ns + SECOND / 2);
    cr_expect_eq(next("0:00", noon_ns), noon_ns + 12 * HOUR);
}

/* 2026-10-25: at 03:00 the clock goes back to 02:00, and from noon of the day before 25 hours pass until noon. */
Test(profile_time, a_day_of_25_hours_has_its_time_of_day_too)
{
    const uint64_t noon_ns = 1792836000 * SECOND; /* 2026-10-24 12:00 */

    cr_expect_eq(next("11:59:59", noon_ns), noon_ns + 25 * HOUR - SECOND);
    cr_expect_eq(next("12:00", noon_ns + 1), noon_ns + 25 * HOUR);
}

Test(profile_time, an_hour_that_comes_twice_is_the_one_that_is_next)
{
    const uint64_t two_ns = 1792886400 * SECOND; /* 2026-10-25 02:00, the first time */

    cr_expect_eq(next("2:30", two_ns), two_ns + HOUR / 2);
    cr_expect_eq(next("2:30", two_ns + HOUR / 2 + 1), two_ns + HOUR + HOUR / 2);
    cr_expect_eq(next("2:30", two_ns + HOUR), two_ns + HOUR + HOUR / 2);
    cr_expect_eq(next("2:30", two_ns + HOUR + HOUR / 2 + 1), two_ns + 25 * HOUR + HOUR / 2);
}

/* 2026-03-29: at 02:00 the clock goes to 03:00. */
Test(profile_time, a_day_of_23_hours_has_the_others)
{
    const uint64_t noon_ns = 1774695600 * SECOND; /* 2026-03-28 12:00 */

    cr_expect_eq(next("11:59:59", noon_ns), noon_ns + 23 * HOUR - SECOND);
    cr_expect_leq(next("2:30", noon_ns), noon_ns + 15 * HOUR);
}
