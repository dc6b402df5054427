/* What a frame of a recording holds: its line, and what readers count on. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "jfr/jfr_types.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-frames-XXXXXX";
static char path[64];
static struct jw_error err;

/* What was met in the frames of a recording's samples. */
static struct met {
    unsigned frames, keyed, in_line;
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

TestSuite(recording_frames, .init = set_up, .fini = tear_down, .timeout = 1800);

static void note_frame(const struct jfr_value *frame)
{
    struct jfr_text type = {0};
    struct jfr_value field;
    int64_t line = 99, index;

    met.frames++;
    cr_assert(jfr_value_field(frame, "bytecodeIndex", &field) && jfr_value_integer(&field, &index));
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
    struct jfr_value trace, frames, frame, bare;
    struct jfr_array array;
    struct jfr_stack stack;

    if (!jfr_value_field(event, "stackTrace", &trace) || jfr_value_key(&trace) == 0)
        return;
    cr_assert(jfr_value_field(&trace, "frames", &frames) && jfr_array_begin(&frames, &array));
    cr_expect_str_eq(jfr_value_type_name(&frames), "jdk.types.StackFrame");
    cr_assert(jfr_stack_begin(&trace, &stack));
    *(stack.is_keyed ? &met.keyed : &met.in_line) += 1;
    while (jfr_array_next(&array, &frame)) {
        cr_assert_eq(jfr_value_shape(&frame, &bare), JFR_SHAPE_OBJECT);
        note_frame(&bare);
    }
}

static bool has_frames_in_line;

static void make(enum recording_dialect dialect)
{
    struct recording_config config = made_config(path, RECORDING_JFR);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_check check;

    config.dialect = dialect;
    config.has_frames_in_line = has_frames_in_line;
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

/* Source: JMC 8.1 to 10, SpecificReaders.StackFrame2Reader: a frame with fewer fields, or in another order, spoils the whole file for it. */
static const char *const fields_of_jmc[] = {"method", "lineNumber", "bytecodeIndex", "type"};

Test(recording_frames, have_the_fields_that_readers_count_on_in_their_order)
{
    size_t row = 0, field = 0;

    while (row < jfr_row_count && (jfr_rows[row].kind == JFR_ROW_FIELD ||
                                   strcmp(jfr_rows[row].name, "jdk.types.StackFrame") != 0))
        row++;
    for (row++; row < jfr_row_count && jfr_rows[row].kind == JFR_ROW_FIELD; row++, field++) {
        cr_assert_lt(field, JW_COUNT_OF(fields_of_jmc));
        cr_expect_str_eq(jfr_rows[row].name, fields_of_jmc[field]);
    }
    cr_expect_eq(field, JW_COUNT_OF(fields_of_jmc));
    make(RECORDING_STANDARD);
    cr_expect_eq(met.java_zero, 0, "no line of Java code is called so");
    cr_expect_gt(met.frames, 0);
}

Test(recording_frames, have_them_in_the_words_of_others_too)
{
    make(RECORDING_ASYNC_PROFILER);
    cr_expect_gt(met.frames, 0);
}

Test(recording_frames, are_constants_of_their_own)
{
    make(RECORDING_STANDARD);
    cr_expect_gt(met.keyed, 0);
    cr_expect_eq(met.in_line, 0);
}

Test(recording_frames, stand_in_stacks_where_that_is_asked_for)
{
    has_frames_in_line = true;
    make(RECORDING_STANDARD);
    cr_expect_gt(met.in_line, 0);
    cr_expect_eq(met.keyed, 0);
}

Test(recording_frames, stand_in_stacks_where_readers_look_for_them_there)
{
    make(RECORDING_DATADOG);
    cr_expect_gt(met.in_line, 0);
    cr_expect_eq(met.keyed, 0);
}

/* Text of all frames of all samples, one a line. */
static char *told_by(bool in_line)
{
    struct recording_config config = made_config(path, RECORDING_JFR);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_value trace;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_method method = {.name = {.text = NULL}};
    struct jfr_text type = {0};
    char *text;
    size_t text_bytes;

    config.has_frames_in_line = in_line;
    cr_assert(made_recording(&config, 1, 1, &err), "%s", err.message);
    FILE *out = open_memstream(&text, &text_bytes);
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert(out != NULL && reader != NULL, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            if (!jfr_value_field(&event.value, "stackTrace", &trace) ||
                !jfr_stack_begin(&trace, &stack))
                continue;
            fprintf(out, "%s%s\n", event.type_name, stack.is_truncated ? " truncated" : "");
            while (jfr_stack_next(&stack, &frame)) {
                cr_assert(jfr_method_read(&frame.method, &method));
                cr_assert(jfr_value_text(&frame.type, &type));
                fprintf(out, "  %s.%s%s:%lld %s\n", method.class_name.text, method.name.text,
                        method.descriptor.text, (long long)frame.line, type.text);
            }
        }
    jfr_reader_close(reader);
    jfr_method_free(&method);
    jfr_text_free(&type);
    fclose(out);
    return text;
}

Test(recording_frames, are_the_same_wherever_they_stand)
{
    char *keyed = told_by(false), *in_line = told_by(true);

    cr_expect_gt(strlen(keyed), 1000);
    cr_expect_str_eq(keyed, in_line);
    free(keyed);
    free(in_line);
}
