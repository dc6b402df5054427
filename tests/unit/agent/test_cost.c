/* What a recording tells of jaywalk's own cost, over a pause. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "golden/made.h"
#include "jfr/jfr_reader.h"

static char directory[] = "/tmp/jaywalk-cost-XXXXXX";
static char path[64];
static struct jw_error err;
static struct recording *recording;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);

    const struct recording_config config = made_config(path, RECORDING_JFR);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(directory);
}

TestSuite(cost, .init = set_up, .fini = tear_down, .timeout = 1800);

/* Of the last jaywalk.SelfCost. */
static int64_t told(const char *name)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_value field;
    int64_t number = -1;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            if (strcmp(event.type_name, "jaywalk.SelfCost") == 0)
                cr_assert(jfr_value_field(&event.value, name, &field) &&
                          jfr_value_integer(&field, &number));
    jfr_reader_close(reader);
    return number;
}

static void turn(uint64_t took_ns)
{
    cost_turn(recording);
    cost_rotated(jw_now_ns() - took_ns);
}

Test(cost, rotations_before_a_pause_are_counted_to_the_last_one)
{
    cost_forget();
    cost_begin();
    turn(JW_NS_PER_MS);
    turn(JW_NS_PER_SECOND);
    cost_begin(); /* the session goes on */
    cost_turn(recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(eq(i64, told("rotations"), 2));
    cr_assert(ge(i64, told("rotationMax"), JW_NS_PER_SECOND));
    cr_assert(ge(i64, told("rotationTime"), JW_NS_PER_SECOND + JW_NS_PER_MS));
}

Test(cost, a_new_recording_begins_with_none)
{
    cost_forget();
    cost_begin();
    turn(JW_NS_PER_SECOND);
    cost_forget();
    cost_begin();
    cost_turn(recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(eq(i64, told("rotations"), 0));
    cr_assert(eq(i64, told("rotationMax"), 0));
}
