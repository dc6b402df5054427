/* Calls that are sampled, from the generation to the file: counters that no signal stands behind, whose stacks begin in the method. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-calls-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    cr_expect(rmdir(directory) == 0, "something was left behind");
}

TestSuite(recording_calls, .init = set_up, .fini = tear_down, .timeout = 1800);

static struct recording *open_it(enum recording_format format)
{
    struct recording_config config;
    struct recording *recording;

    snprintf(path, sizeof path, "%s/out", directory);
    config = made_config(path, format);
    config.counter = "Till.pay";
    config.shows = RECORDING_SHOWS_COUNTER;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

static void put_call(uint64_t calls)
{
    static const char *const all[][2] = {{"io/jaywalk/CallEvents", "tell"},
                                         {"java/lang/JaywalkCalls", "told"},
                                         {"java/lang/JaywalkCalls", "called"},
                                         {"Till", "pay"},
                                         {"Till", "main"}};
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    jw_frame frames[JW_COUNT_OF(all)];

    for (size_t i = 0; i < JW_COUNT_OF(all); i++)
        frames[i] =
            jw_frame_java(i == 0 ? JW_FRAME_JAVA_NATIVE : JW_FRAME_COMPILED,
                          made_method(generation, all[i][0], all[i][1], "()V", 2, 9, true), 0);
    record->kind = EVENT_COUNTER_SAMPLE;
    record->flags = EVENT_BY_HOOK;
    record->thread_serial = 1;
    record->weight_ns = calls;
    record->time_ns = jw_now_ns();
    record->trace = store_put(generation->traces, frames, JW_COUNT_OF(frames), STORE_WALKER_OWN);
    event_commit(record);
    generation_leave(generations, &ticket);
}

Test(recording_calls, an_event_says_how_many_calls_and_its_stack_begins_in_the_method)
{
    struct recording *recording = open_it(RECORDING_JFR);
    struct jfr_check check;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    unsigned seen = 0;

    put_call(100);
    put_call(100);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);

    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct jfr_value field;
            struct jfr_stack stack;
            struct jfr_stack_frame frame;
            struct jfr_method method = {0};
            int64_t count = 0;

            if (strcmp(event.type_name, "jaywalk.CallSample") != 0)
                continue;
            seen++;
            cr_assert(jfr_value_field(&event.value, "count", &field) &&
                      jfr_value_integer(&field, &count));
            cr_assert_eq(count, 100);
            cr_assert(jfr_value_field(&event.value, "stackTrace", &field) &&
                      jfr_stack_begin(&field, &stack) && jfr_stack_next(&stack, &frame) &&
                      jfr_method_read(&frame.method, &method));
            cr_assert_str_eq(method.class_name.text, "Till");
            cr_assert_str_eq(method.name.text, "pay");
            jfr_method_free(&method);
        }
    }
    jfr_reader_close(reader);
    cr_assert_eq(seen, 2);
}

Test(recording_calls, a_graph_counts_them)
{
    struct recording *recording = open_it(RECORDING_COLLAPSED);
    char text[256] = "";
    FILE *file;

    put_call(1);
    put_call(1);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    cr_assert(strstr(text, "Jaywalk") == NULL && strstr(text, "CallEvents") == NULL, "%s", text);
    cr_assert(strstr(text, "pay") != NULL && strstr(text, " 2\n") != NULL, "%s", text);
}
