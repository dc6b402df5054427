/* Moments of a recording, as --from and --to say them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cli/cli_contexts_internal.h"

#define START_NS (1700000000 * JW_NS_PER_SECOND) /* 2023-11-14 22:13:20 UTC */
#define END_NS   (START_NS + 3600 * JW_NS_PER_SECOND)

static struct jw_error err;

static void in_utc(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
}

TestSuite(cli_window, .init = in_utc, .timeout = 1800);

static int64_t ms_of(const char *text)
{
    struct profile_time time;

    cr_assert(profile_time_read("from", text, true, &time, &err), "%s: %s", text, err.message);
    return ((int64_t)profile_time_at(&time, START_NS, END_NS, 0) - (int64_t)START_NS) /
           (int64_t)JW_NS_PER_MS;
}

Test(cli_window, moments_are_said_in_many_ways)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"90", 90000},
        {"90s", 90000},
        {"250ms", 250},
        {"2.5s", 2500},
        {"0.001s", 1},
        {"1.5m", 90000},
        {"1m30s", 90000},
        {"1h2m3s4ms", 3723004},
        {"-30s", 3570000},
        {"-1h", 0},
        {"22:13:20", 0},
        {"22:14", 40000},
        {"22:13:20.250", 250},
        {"9:00", 38800000},   /* not within: of the nearest day */
        {"12:00", -36800000}, /* likewise */
        {"2023-11-14T22:13:21", 1000},
        {"2023-11-14 22:13:21.5", 1500},
        {"2023-11-14T22:13:21Z", 1000},
        {"1700000001000", 1000},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++)
        cr_expect_eq(ms_of(cases[i].text), cases[i].ms, "%s: %lld", cases[i].text,
                     (long long)ms_of(cases[i].text));
}

Test(cli_window, a_day_of_another_place_is_that_of_this_one)
{
    setenv("TZ", "America/New_York", 1);
    tzset();
    if (ms_of("17:13:20") !=
        0) /* without tables of places TZ is UTC, where this is five hours before */
        cr_expect_eq(ms_of("17:13:20"), -5 * 3600 * 1000);
    cr_expect_eq(ms_of("2023-11-14T22:13:21Z"), 1000);
}

Test(cli_window, what_is_no_moment_is_refused_with_what_would_be_one)
{
    static const char *const cases[] = {
        "",
        "s",
        "-",
        "1x",
        "1s2",
        "1.s",
        ".5s",
        "--1s",
        "25:00",
        "1:2",
        "12:60",
        "12:00:99",
        "1m30",
        "1 s",
        "1e3s",
        "99999999999h",
        "+5s",
        "12:0",
        "0x10",
        "2023-13-01T00:00",
        "2023-11-14",
        "2023-11-14T",
        "2023-11-14T22:13:21X",
        "12:00:00Z",
    };
    struct profile_time time;

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_expect_not(profile_time_read("from", cases[i], true, &time, &err), "'%s' is taken",
                      cases[i]);
        cr_expect_not_null(strstr(err.message, "is no time; give one since the start"));
        cr_expect_not_null(strstr(err.message, "one before the end (-30s)"));
    }
}

Test(cli_window, what_begins_before_the_epoch_is_the_epoch)
{
    const struct profile_time early = {.kind = PROFILE_TIME_BEFORE_END,
                                       .ns = 20 * JW_NS_PER_SECOND};
    const struct profile_time none = {.kind = PROFILE_TIME_ANY};

    cr_expect_eq(profile_time_at(&early, 0, 10 * JW_NS_PER_SECOND, 7), 0);
    cr_expect_eq(profile_time_at(&none, 0, 10 * JW_NS_PER_SECOND, 7), 7);
}
