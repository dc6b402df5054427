/* Recordings in the dialects of other profilers: which types are in them, laid out how, and that no sample is lost by it. */
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

#define ROUNDS  3u
#define SAMPLES (100u * ROUNDS)
/* Of three threads one turn in the first round, then five in each. */
#define TURNS (3u + 3u * 5u * (ROUNDS - 1))

static char directory[] = "/tmp/jaywalk-dialects-XXXXXX";
static char path[64];
static struct jw_error err;
static struct jfr_check check;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    made_with_context = made_with_wall = true;
}

static void tear_down(void)
{
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_dialects, .init = set_up, .fini = tear_down, .timeout = 1800);

static void make(enum recording_dialect dialect, bool splits_wall, const char *counter)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.dialect = dialect;
    config.splits_wall = splits_wall;
    config.counter = counter;
    made_kind = counter == NULL ? EVENT_CPU_SAMPLE : EVENT_COUNTER_SAMPLE;
    cr_assert(made_recording(&config, 1, ROUNDS, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
}

static bool is_declared(const char *name)
{
    for (size_t i = 0; i < JFR_CHECK_TYPES_MAX; i++)
        if (strcmp(check.type_names[i], name) == 0)
            return true;
    return false;
}

/* What events of one type say, all together. */
struct told {
    size_t count;
    char fields[256]; /* those that were met, each with a space behind */
    char states[256]; /* likewise */
    int64_t samples, weights, spans;
    uint64_t largest_type; /* key of a type of frames */
    size_t frames;
};

static bool number_of(const struct jfr_value *value, const char *name, int64_t *out)
{
    struct jfr_value field;

    return jfr_value_field(value, name, &field) && jfr_value_integer(&field, out);
}

static void note_word(char words[256], const char *word)
{
    char whole[64];

    snprintf(whole, sizeof whole, "%s ", word);
    if (strstr(words, whole) == NULL)
        strncat(words, whole, 256 - strlen(words) - 1);
}

static void note_state(struct told *told, const struct jfr_value *event)
{
    struct jfr_text text = {0};
    struct jfr_value field;

    if (!jfr_value_field(event, "state", &field) || !jfr_value_text(&field, &text))
        return;
    note_word(told->states, text.text);
    jfr_text_free(&text);
}

static void note_stack(struct told *told, const struct jfr_value *event)
{
    struct jfr_value field;
    struct jfr_stack stack;
    struct jfr_stack_keys keys;

    if (!jfr_value_field(event, "stackTrace", &field) || jfr_value_key(&field) == 0)
        return;
    cr_assert(jfr_stack_begin(&field, &stack));
    while (jfr_stack_next_keys(&stack, &keys)) {
        told->frames++;
        if (keys.type_key > told->largest_type)
            told->largest_type = keys.type_key;
    }
}

static void note(struct told *told, const struct jfr_value *event)
{
    static const char *const names[] = {
        "sampledThread", "eventThread", "stackTrace", "state",    "mode",     "weight",
        "samples",       "timeSpan",    "carrier",    "traceId",  "spanId",   "localRootSpanId",
        "tenant",        "tag",         "endpoint",   "wallTime", "duration",
    };
    struct jfr_value field;
    int64_t number;

    told->count++;
    for (size_t i = 0; i < JW_COUNT_OF(names); i++)
        if (jfr_value_field(event, names[i], &field))
            note_word(told->fields, names[i]);
    told->samples += number_of(event, "samples", &number) ? number : 0;
    told->weights += number_of(event, "weight", &number) ? number : 0;
    told->spans += number_of(event, "timeSpan", &number) ? number : 0;
    note_state(told, event);
    note_stack(told, event);
}

static struct told read_type(const char *name)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct told told = {0};

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            if (strcmp(event.type_name, name) == 0)
                note(&told, &event.value);
    cr_assert_str_eq(err.message, "");
    jfr_reader_close(reader);
    return told;
}

/* Source: jfrconv of async-profiler 4.5 reads these fields one after the other, and has seven types of frames. */
Test(recording_dialects, async_profilers_events_have_its_fields_and_no_others)
{
    make(RECORDING_ASYNC_PROFILER, false, NULL);
    const struct told cpu = read_type("jdk.ExecutionSample");
    const struct told wall = read_type("profiler.WallClockSample");
    const struct told span = read_type("profiler.Span");

    cr_expect_eq(cpu.count, SAMPLES);
    cr_expect_str_eq(cpu.fields, "sampledThread stackTrace state ");
    cr_expect_str_eq(cpu.states, "STATE_DEFAULT ");
    cr_expect_gt(cpu.frames, SAMPLES);
    cr_expect_leq(cpu.largest_type, 6);
    cr_expect_eq(wall.samples, TURNS);
    cr_expect_str_eq(wall.fields, "sampledThread stackTrace state samples timeSpan ");
    cr_expect_str_eq(wall.states, "STATE_SLEEPING ");
    cr_expect_gt(wall.spans, 0);
    cr_expect_eq(span.count, 3 * ROUNDS);
    cr_expect_str_eq(span.fields, "eventThread tag duration ");
    cr_expect(!is_declared("jaywalk.WallClockSample") && !is_declared("jaywalk.Span"));
    cr_expect(!is_declared("jdk.NativeMethodSample") && !is_declared("datadog.MethodSample"));
}

Test(recording_dialects, datadogs_events_have_its_fields)
{
    make(RECORDING_DATADOG, false, NULL);
    const struct told cpu = read_type("datadog.ExecutionSample");
    const struct told wall = read_type("datadog.MethodSample");
    const struct told endpoint = read_type("datadog.Endpoint");

    cr_expect_eq(cpu.weights, SAMPLES);
    cr_expect_str_eq(cpu.fields,
                     "eventThread stackTrace state mode weight spanId localRootSpanId tenant ");
    cr_expect_str_eq(cpu.states, "STATE_RUNNABLE ");
    cr_expect_eq(wall.weights, TURNS);
    cr_expect_eq(endpoint.count, 3 * ROUNDS);
    cr_expect(!is_declared("jdk.ExecutionSample") && !is_declared("profiler.Span"));
}

Test(recording_dialects, turns_one_by_one_and_counters_are_told_in_each)
{
    make(RECORDING_ASYNC_PROFILER, true, NULL);
    cr_expect_eq(read_type("jdk.ExecutionSample").count, SAMPLES + TURNS);
    cr_expect_str_eq(read_type("jdk.ExecutionSample").states, "STATE_DEFAULT STATE_SLEEPING ");
    make(RECORDING_DATADOG, true, NULL);
    cr_expect_eq(read_type("datadog.ExecutionSample").weights, SAMPLES);
    cr_expect_eq(read_type("datadog.MethodSample").count, TURNS);
    make(RECORDING_ASYNC_PROFILER, false, "cache-misses");
    cr_expect_eq(read_type("jdk.ExecutionSample").count, SAMPLES);
    make(RECORDING_DATADOG, false, "cache-misses");
    cr_expect_eq(read_type("jaywalk.CounterSample").count, SAMPLES);
}

Test(recording_dialects, the_standard_one_has_no_type_of_others)
{
    make(RECORDING_STANDARD, false, NULL);
    cr_expect_eq(read_type("jdk.ExecutionSample").count + read_type("jdk.NativeMethodSample").count,
                 SAMPLES);
    cr_expect_eq(read_type("jaywalk.WallClockSample").samples, TURNS);
    for (size_t i = 0; i < JFR_CHECK_TYPES_MAX; i++) {
        cr_expect(strncmp(check.type_names[i], "profiler.", 9) != 0, "%s", check.type_names[i]);
        cr_expect(strncmp(check.type_names[i], "datadog.", 8) != 0, "%s", check.type_names[i]);
    }
}

/* Each type of the table belongs to a dialect, and no dialect has two of one name. */
Test(recording_dialects, no_dialect_has_two_types_of_one_name)
{
    for (size_t dialect = 0; dialect < JFR_DIALECT_LIMIT; dialect++) {
        for (size_t i = 0; i < jfr_row_count; i++) {
            const enum jfr_type type = jfr_rows[i].type;

            if (jfr_rows[i].kind == JFR_ROW_FIELD)
                continue;
            cr_expect(jfr_type_is_declared(JFR_DIALECT_STANDARD, type) ||
                          jfr_type_is_declared(JFR_DIALECT_ASYNC_PROFILER, type) ||
                          jfr_type_is_declared(JFR_DIALECT_DATADOG, type),
                      "%s", jfr_rows[i].name);
            for (size_t j = i + 1; j < jfr_row_count; j++)
                cr_expect(jfr_rows[j].kind == JFR_ROW_FIELD ||
                              strcmp(jfr_rows[i].name, jfr_rows[j].name) != 0 ||
                              !jfr_type_is_declared((enum jfr_dialect)dialect, type) ||
                              !jfr_type_is_declared((enum jfr_dialect)dialect, jfr_rows[j].type),
                          "%s", jfr_rows[i].name);
            const enum jfr_type in = jfr_type_in((enum jfr_dialect)dialect, type);
            cr_expect(in == JFR_TYPE_NONE || in == type ||
                          jfr_type_is_declared((enum jfr_dialect)dialect, in),
                      "%s", jfr_rows[i].name);
        }
    }
}
