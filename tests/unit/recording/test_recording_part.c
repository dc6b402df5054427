/* Which samples of a graph count: what is refused. What is counted is compared with files by tests/golden/test_live_and_file_parts.c. */
#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "golden/made.h"
#include "recording/recording_internal.h"

static struct jw_error err;

TestSuite(recording_part, .timeout = 300);

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
    refuse(&turned, RECORDING_SHOWS_CPU, "from=30s is not before to=10s");
}

Test(recording_part, states_are_of_samples_that_have_one)
{
    const struct recording_part_config part = {.state = "parked"};

    refuse(&part, RECORDING_SHOWS_ALLOC, "state: allocations and waits for locks have none");
    refuse(&part, RECORDING_SHOWS_LOCK, "state: allocations and waits for locks have none");
}

/* A time of day that is past is that of tomorrow: so late the session may still run. */
Test(recording_part, a_time_of_day_is_the_next_one)
{
    struct recording_config config = made_config(NULL, RECORDING_TEXT);
    char text[16];
    const time_t past = (time_t)(jw_wall_ns() / JW_NS_PER_SECOND) - 3600;
    struct tm moment;

    cr_assert_not_null(localtime_r(&past, &moment));
    strftime(text, sizeof text, "%H:%M:%S", &moment);
    config.part.from = text;

    struct recording *recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    cr_expect_gt(recording->graph.part.begin_ns, jw_now_ns() + 20 * 3600 * JW_NS_PER_SECOND);
    recording_drop(recording);
}
