/* How long a thread parks at most, in 32 bits and back. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/park_time.h"

#define NOW_MS  INT64_C(1795000000000)
#define NEAR_MS (INT64_C(1) << 30)

TestSuite(park_time, .timeout = 1800);

static int64_t timeout_of(int64_t ns)
{
    return jw_park_time(jw_park_code(false, ns, 0), NOW_MS).timeout_ns;
}

Test(park_time, what_has_no_end_has_none)
{
    cr_assert(eq(u32, jw_park_code(false, 0, NOW_MS), 0));
    cr_assert(eq(u32, jw_park_code(false, -1, NOW_MS), 0));
    cr_assert(eq(i64, jw_park_time(0, NOW_MS).timeout_ns, JW_PARK_NONE));
    cr_assert(eq(i64, jw_park_time(0, NOW_MS).until_ms, JW_PARK_NONE));
}

Test(park_time, below_half_a_second_it_is_exact)
{
    const int64_t times[] = {1, 999, 1000, 5000000, 536870911};

    for (size_t i = 0; i < JW_COUNT_OF(times); i++)
        cr_assert(eq(i64, timeout_of(times[i]), times[i]));
}

Test(park_time, above_it_is_cut_below_its_unit_and_never_more)
{
    cr_assert(eq(i64, timeout_of(536870912), 536870000));
    cr_assert(eq(i64, timeout_of(30000000000), 30000000000));
    for (int64_t ns = 1; ns < INT64_MAX / 3 && ns < 500000000000000000; ns = ns * 3 + 1) {
        const int64_t told = timeout_of(ns);

        cr_assert(told <= ns && ns - told <= ns / 500000, "%lld: %lld", (long long)ns,
                  (long long)told);
    }
    cr_assert(eq(i64, timeout_of(INT64_MAX), JW_PARK_NONE), "for good");
}

Test(park_time, an_absolute_time_is_exact_where_it_is_near_and_else_not_told)
{
    const int64_t distances[] = {0, 1, -1, 1000, -86400000, NEAR_MS - 1, 1 - NEAR_MS};

    for (size_t i = 0; i < JW_COUNT_OF(distances); i++) {
        const int64_t until_ms = NOW_MS + distances[i];
        const uint32_t code = jw_park_code(true, until_ms, NOW_MS);

        cr_assert(eq(i64, jw_park_time(code, NOW_MS).until_ms, until_ms));
        cr_assert(eq(i64, jw_park_time(code, NOW_MS).timeout_ns, JW_PARK_NONE));
        /* And a minute later, when the recording is written. */
        if (distances[i] > 60000 - NEAR_MS)
            cr_assert(eq(i64, jw_park_time(code, NOW_MS + 60000).until_ms, until_ms));
    }
    cr_assert(eq(u32, jw_park_code(true, NOW_MS + NEAR_MS, NOW_MS), 0));
    cr_assert(eq(u32, jw_park_code(true, NOW_MS - NEAR_MS, NOW_MS), 0));
    cr_assert(eq(u32, jw_park_code(true, INT64_MAX, NOW_MS), 0));
    cr_assert(eq(u32, jw_park_code(true, -1, NOW_MS), 0));
}
