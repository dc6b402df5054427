/* What a frame of a recording holds: its line, and its bytecode index where that is asked for or readers count on it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-frames-XXXXXX";
static char path[64];
static struct jw_error err;

/* What was met in the frames of a recording's samples. */
static struct met {
    unsigned with_index, without_index;
    unsigned java_lines, java_without, java_zero, native_zero, native_others;
} met;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
}

static void tear_down(void)
{
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_frames, .init = set_up, .fini = tear_down, .timeout = 300);

static void note_frame(const struct jfr_value *frame)
{
    struct jfr_text type = {0};
    struct jfr_value field;
    int64_t line = 99;

    if (jfr_value_field(frame, "bytecodeIndex", &field))
        met.with_index++;
    else
        met.without_index++;
    cr_assert(jfr_value_field(frame, "lineNumber", &field) && jfr_value_integer(&field, &line));
    cr_assert(jfr_value_field(frame, "type", &field) && jfr_value_text(&field, &type));
    if (strcmp(type.text, "Interpreted") == 0 || strcmp(type.text, "JIT compiled") == 0 ||
        strcmp(type.text, "Inlined") == 0) {
        met.java_lines += line > 0;
        met.java_without += line == -1;
        met.java_zero += line == 0;
    } else {
        met.native_zero += line == 0;
        met.native_others += line != 0;
    }
    jfr_text_free(&type);
}

static void note_stack(const struct jfr_value *event)
{
    struct jfr_value trace, frames, frame;
    struct jfr_array array;

    if (!jfr_value_field(event, "stackTrace", &trace) || jfr_value_key(&trace) == 0)
        return;
    cr_assert(jfr_value_field(&trace, "frames", &frames) && jfr_array_begin(&frames, &array));
    while (jfr_array_next(&array, &frame))
        note_frame(&frame);
}

static void make(enum recording_dialect dialect, bool has_bytecode_index)
{
    struct recording_config config = made_config(path, RECORDING_JFR);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_check check;

    config.dialect = dialect;
    config.has_bytecode_index = has_bytecode_index;
    cr_assert(made_recording(&config, 1, 1, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);

    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            note_stack(&event.value);
    jfr_reader_close(reader);
    cr_expect_gt(met.java_lines, 0);
    cr_expect_gt(met.java_without, 0);
    cr_expect_gt(met.native_zero, 0);
    cr_expect_eq(met.native_others, 0, "what has no line takes one byte");
}

Test(recording_frames, have_no_bytecode_index_where_nobody_asked)
{
    make(RECORDING_STANDARD, false);
    cr_expect_eq(met.java_zero, 0, "no line of Java code is called so");
    cr_expect_eq(met.with_index, 0);
    cr_expect_gt(met.without_index, 0);
}

Test(recording_frames, have_one_where_it_is_asked_for)
{
    make(RECORDING_STANDARD, true);
    cr_expect_gt(met.with_index, 0);
    cr_expect_eq(met.without_index, 0);
}

Test(recording_frames, have_one_where_readers_take_frames_field_by_field)
{
    make(RECORDING_ASYNC_PROFILER, false);
    cr_expect_gt(met.with_index, 0);
    cr_expect_eq(met.without_index, 0);
}
