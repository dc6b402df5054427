/* The end of a recording: a signal that came at the last moment has its outcome there. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"

static char directory[] = "/tmp/jaywalk-recording-XXXXXX";
static char path[64];
static struct jw_error err;

static int64_t last_count(const char *field_name)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    int64_t count = -1;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value value;

            if (strcmp(event.type_name, "jaywalk.Diagnostics") == 0 &&
                jfr_value_field(&event.value, field_name, &value))
                cr_assert(jfr_value_integer(&value, &count));
        }
    jfr_reader_close(reader);
    return count;
}

/* One whose thread got no processor between the two counts, while the recording was closed: that is all that sleeps here. */
#define LOOKS 100
static int looks;

int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
    (void)wanted;
    (void)rest;
    if (++looks == LOOKS)
        jw_count(JW_COUNT_LOST_STOPPED);
    return 0;
}

Test(recording_end, a_signal_under_way_is_waited_for, .timeout = 1800)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    struct recording_config config = made_config(path, RECORDING_JFR);
    struct recording *recording = recording_open(&config, &err);

    cr_assert_not_null(recording, "%s", err.message);
    jw_count(JW_COUNT_SIGNALS);
    cr_expect(recording_close(recording, &err), "%s", err.message);
    cr_expect_eq(looks, LOOKS, "what came is not looked for again");
    cr_expect_eq(last_count("signals"), 1);
    cr_expect_eq(last_count("lostStopped"), 1);
    cr_expect_eq(last_count("inFlight"), 0);
    unlink(path);
    rmdir(directory);
}
