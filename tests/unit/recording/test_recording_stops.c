/* What a recording tells of where safepoints would have stopped threads. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"

static char directory[] = "/tmp/jaywalk-stops-XXXXXX";
static char path[64];
static struct jw_error err;
static struct recording *recording;
static struct generations *generations;

/* What is said of a pc. */
enum {
    PC_SAME = 0,
    PC_RETURN,
    PC_LATER,
    PC_OTHER_LINE,
    PC_OTHER_CODE,
    PC_UNKNOWN,
    PC_NAMELESS,
    PC_MANY
};

static struct recording_code code(const char *class_name, const char *name, int32_t bci)
{
    return (struct recording_code){
        .class_name = made_text(class_name),
        .name = made_text(name),
        .line_table = {(const char *)made_lines, sizeof made_lines},
        .bci = bci,
    };
}

static bool tell_stop(void *context, uintptr_t pc, struct recording_stop *out)
{
    static char many[32];

    (void)context;
    *out =
        (struct recording_stop){.kind = RECORDING_STOP_AT,
                                .root = code("app/Hot", pc == PC_OTHER_CODE ? "main" : "spin", 0)};
    switch (pc) {
    case PC_RETURN:
        out->kind = RECORDING_STOP_CALLER;
        out->is_here = true;
        return true;
    case PC_LATER:
        out->at = code("app/Hot", "later", 20);
        return true;
    case PC_OTHER_LINE:
    case PC_OTHER_CODE:
        out->at = code("app/Hot", "spin", 0);
        return true;
    case PC_NAMELESS:
        return true;
    default:
        if (pc < PC_MANY)
            return false;
        snprintf(many, sizeof many, "m%lu", (unsigned long)(pc - PC_MANY));
        out->at = code("app/Many", many, 0);
        return true;
    }
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);

    struct recording_config config = made_config(path, RECORDING_JFR);
    config.sources.stop = tell_stop;
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    rmdir(directory);
}

TestSuite(recording_stops, .init = set_up, .fini = tear_down, .timeout = 1800);

/* Of Hot.spin at line 12, compiled, called by Hot.main at line 10; its registers stand at `pc`. */
static void put_sample(unsigned kind, uint16_t flags, uintptr_t pc)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t trace_flags;
    const uint32_t count = made_fill(generation, kind, frames, &trace_flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    record->kind = EVENT_CPU_SAMPLE;
    record->flags = flags;
    record->value = pc;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = MADE_WEIGHT_NS;
    record->trace = store_put(generation->traces, frames, count, trace_flags);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void put(unsigned count, uintptr_t pc)
{
    while (count-- > 0)
        put_sample(0, EVENT_TOP_KNOWN, pc);
}

static void finish(void)
{
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
}

/* The last row of this method and line, as "sampled/stopped"; "none". */
static const char *row_of(const char *method, int64_t line)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    static char told[64];
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_text text = {0};

    strcpy(told, "none");
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value field;
            int64_t numbers[3];
            static const char *const names[] = {"lineNumber", "sampled", "stopped"};

            if (strcmp(event.type_name, "jaywalk.SafepointBias") != 0)
                continue;
            for (size_t i = 0; i < JW_COUNT_OF(names); i++)
                cr_assert(jfr_value_field(&event.value, names[i], &field) &&
                          jfr_value_integer(&field, &numbers[i]));
            cr_assert(jfr_value_field(&event.value, "method", &field) &&
                      jfr_value_text(&field, &text));
            if (strcmp(text.text, method) == 0 && numbers[0] == line)
                snprintf(told, sizeof told, "%lld/%lld", (long long)numbers[1],
                         (long long)numbers[2]);
        }
    jfr_text_free(&text);
    jfr_reader_close(reader);
    return told;
}

static uint64_t counted(enum jw_counter_id id)
{
    return jw_counter(id);
}

Test(recording_stops, each_sample_counts_where_it_was_and_where_it_would_have_stopped)
{
    put(5, PC_RETURN);
    put(7, PC_LATER);
    put(3, PC_OTHER_LINE);
    put(2, PC_SAME);
    finish();
    cr_expect_str_eq(row_of("app.Hot.spin", 12), "17/2");
    cr_expect_str_eq(row_of("app.Hot.spin", 10), "0/3");
    cr_expect_str_eq(row_of("app.Hot.main", 10), "0/5");
    cr_expect_str_eq(row_of("app.Hot.later", 400), "0/7");
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_TOLD), 17));
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_AT_POLL), 5));
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_OTHER_METHOD), 12));
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_OTHER_LINE), 3));
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_UNTOLD), 0));
}

Test(recording_stops, code_that_is_another_by_now_is_not_told)
{
    put(2, PC_OTHER_CODE);
    put(3, PC_UNKNOWN);
    put(4, PC_NAMELESS);
    finish();
    cr_expect_str_eq(row_of("app.Hot.spin", 12), "none");
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_TOLD), 0));
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_UNTOLD), 9));
}

Test(recording_stops, samples_of_which_nothing_is_known_are_passed_over)
{
    put_sample(0, 0, PC_LATER);                /* another walker's */
    put_sample(92, EVENT_TOP_KNOWN, PC_LATER); /* no Java frame */
    put_sample(70, EVENT_TOP_KNOWN, PC_SAME);  /* a native method */
    finish();
    cr_expect_str_eq(row_of("app.Hot.copy", -1), "1/1");
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_TOLD), 1));
    cr_expect(eq(u64, counted(JW_COUNT_STOPS_UNTOLD), 0));
}

Test(recording_stops, sums_go_on_from_chunk_to_chunk)
{
    put(5, PC_LATER);
    made_turn(generations, recording);
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    put(4, PC_LATER);
    finish();
    cr_expect_str_eq(row_of("app.Hot.spin", 12), "9/0");
    cr_expect_str_eq(row_of("app.Hot.later", 400), "0/9");
}

Test(recording_stops, of_many_samples_a_part_is_looked_at)
{
    uint64_t before;

    for (int take = 0; take < 4; take++) {
        before = counted(JW_COUNT_STOPS_TOLD);
        put(3000, PC_LATER);
        made_turn(generations, recording);
    }
    before = counted(JW_COUNT_STOPS_TOLD) - before;
    cr_expect(before > 150 && before <= 256, "%llu of 3000", (unsigned long long)before);
    finish();
}

Test(recording_stops, of_more_lines_than_there_is_room_for_those_with_most_are_kept)
{
    for (uintptr_t i = 0; i < 6000; i++) {
        put(1, PC_MANY + i);
        if (i % 20 == 0)
            put(1, PC_LATER);
        if (i % 200 == 199)
            made_turn(generations, recording);
    }
    finish();
    cr_expect_str_eq(row_of("app.Hot.later", 400), "0/300");
    cr_expect_str_eq(row_of("app.Hot.spin", 12), "6300/0");
    /* What is told of is all. */
    const char *rest = row_of("[other methods]", -1);
    const int stopped = atoi(strchr(rest, '/') + 1);
    cr_expect(stopped >= 5900 && stopped < 6000, "%s", rest);
}
