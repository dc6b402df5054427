/* Which samples of a graph count: what is refused. What is counted is compared with files by tests/golden/test_live_and_file_parts.c. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/made.h"
#include "recording/recording_internal.h"

static struct jw_error err;

static void in_utc(void)
{
    setenv("TZ", "UTC0", 1);
    tzset();
}

TestSuite(recording_part, .init = in_utc, .timeout = 1800);

static void refuse(const struct recording_part_config *part, enum recording_clock shows,
                   const char *words)
{
    struct recording_config config = made_config(NULL, RECORDING_TEXT);

    config.part = *part;
    config.shows = shows;
    err = (struct jw_error){{0}};
    cr_assert_null(recording_open(&config, &err));
    cr_assert_not_null(strstr(err.message, words), "%s", err.message);
}

Test(recording_part, moments_that_cannot_be_told_are_refused)
{
    const struct recording_part_config before_end = {.from = "-30s"};
    const struct recording_part_config none = {.to = "soon"};
    const struct recording_part_config turned = {.from = "30s", .to = "10s"};

    refuse(&before_end, RECORDING_SHOWS_CPU,
           "from: '-30s' is told from the end, which nobody knows");
    refuse(&none, RECORDING_SHOWS_CPU, "to: 'soon' is no time");
    cr_expect_null(strstr(err.message, "(-30s)"), "what is refused is not proposed: %s",
                   err.message);
    refuse(&turned, RECORDING_SHOWS_CPU, "from=30s is not before to=10s");
}

Test(recording_part, an_end_that_has_passed_is_said_without_a_begin_that_nobody_named)
{
    const struct recording_part_config dated = {.to = "2020-01-01T00:00:00"};
    const struct recording_part_config at_once = {.to = "0s"};
    const struct recording_part_config both = {.from = "10s", .to = "2020-01-01T00:00:00"};

    refuse(&dated, RECORDING_SHOWS_CPU, "to=2020-01-01T00:00:00 has passed already");
    refuse(&at_once, RECORDING_SHOWS_CPU, "to=0s has passed already");
    refuse(&both, RECORDING_SHOWS_CPU, "to=2020-01-01T00:00:00 has passed already");
}

Test(recording_part, states_are_of_samples_that_have_one)
{
    const struct recording_part_config part = {.state = "parked"};

    refuse(&part, RECORDING_SHOWS_ALLOC, "state: allocations and waits for locks have none");
    refuse(&part, RECORDING_SHOWS_LOCK, "state: allocations and waits for locks have none");
}

static const char *time_of_day(int64_t seconds_from_now, char text[16])
{
    const time_t moment_s = (time_t)(jw_wall_ns() / JW_NS_PER_SECOND) + seconds_from_now;
    struct tm moment;

    cr_assert_not_null(localtime_r(&moment_s, &moment));
    strftime(text, 16, "%H:%M:%S", &moment);
    return text;
}

/* The window of a graph that begins now. */
static void window_of(const struct recording_part_config *part, int64_t *begin_s, int64_t *end_s)
{
    struct recording_config config = made_config(NULL, RECORDING_TEXT);

    config.part = *part;
    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);

    const struct recording_part *found = &recording->graph.part;
    const int64_t opened_ns = (int64_t)recording->opened_ns;
    struct profile_about about = {.start_unix_ns = recording->opened_wall_ns,
                                  .duration_ns = 10 * JW_NS_PER_SECOND};

    *begin_s = found->begin_ns == 0 ? 0 : ((int64_t)found->begin_ns - opened_ns) / JW_NS_PER_SECOND;
    *end_s = found->end_ns == UINT64_MAX ? INT64_MAX
             : found->end_ns == 0        ? 0
                                         : ((int64_t)found->end_ns - opened_ns) / JW_NS_PER_SECOND;
    recording_part_cut(recording, &about);
    cr_expect_leq(about.duration_ns, 10 * JW_NS_PER_SECOND);
    if (*end_s <= *begin_s)
        cr_expect_eq(about.duration_ns, 0);
    recording_drop(recording);
}

#define IS_ABOUT(seconds, wanted) ((seconds) > (wanted)-600 && (seconds) <= (wanted))

/* A time of day that is past is that of tomorrow: so late the session may still run. Days have 23 to 25 hours. */
Test(recording_part, a_time_of_day_is_the_next_one)
{
    char from[16];
    const struct recording_part_config part = {.from = time_of_day(-3600, from)};
    int64_t begin_s, end_s;

    window_of(&part, &begin_s, &end_s);
    cr_expect_gt(begin_s, 20 * 3600);
    cr_expect_eq(end_s, INT64_MAX);
}

/* So that what is begun at 14:05 with from=14:05 begins. */
Test(recording_part, a_time_of_day_that_has_just_passed_is_now)
{
    char from[16];
    const struct recording_part_config part = {.from = time_of_day(-1, from)};
    int64_t begin_s, end_s;

    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(begin_s, 0);
}

Test(recording_part, an_end_that_is_a_time_of_day_is_the_first_one_after_the_begin)
{
    char from[16], to[16];
    const struct recording_part_config part = {.from = time_of_day(-3600, from),
                                               .to = time_of_day(1800, to)};
    int64_t begin_s, end_s;

    window_of(&part, &begin_s, &end_s);
    cr_expect_gt(begin_s, 20 * 3600);
    cr_expect_eq(end_s - begin_s, 5400);
}

/* Of a session that began two hours ago: what its start settled holds for each file. */
Test(recording_part, a_window_of_a_session_is_the_same_for_each_of_its_files)
{
    char from[16], to[16];
    struct recording_part_config part = {
        .from = time_of_day(-1800, from),
        .to = time_of_day(1800, to),
        .session_unix_ns = jw_wall_ns() - 7200 * JW_NS_PER_SECOND,
    };
    int64_t begin_s, end_s;

    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(begin_s, 0);
    cr_expect(IS_ABOUT(end_s, 1800), "%lld", (long long)end_s);

    part.to = NULL;
    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(begin_s, 0, "what has begun goes on");

    part.from = "10s";
    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(begin_s, 10, "since the file began");
}

Test(recording_part, a_later_file_of_a_session_may_have_no_samples)
{
    char from[16], to[16];
    struct recording_part_config part = {
        .from = time_of_day(-3600, from),
        .to = time_of_day(-1800, to),
        .session_unix_ns = jw_wall_ns() - 7200 * JW_NS_PER_SECOND,
    };
    int64_t begin_s, end_s;

    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(end_s, 0);
    part.from = "10s";
    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(end_s, 0);
    part.to = "2020-01-01T00:00:00";
    window_of(&part, &begin_s, &end_s);
    cr_expect_eq(end_s, 0);
}
