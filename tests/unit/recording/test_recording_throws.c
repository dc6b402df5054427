/* Exceptions, from the generation to the file: the class stands on top, and the stack begins with what made it. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-throws-XXXXXX";
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

TestSuite(recording_throws, .init = set_up, .fini = tear_down, .timeout = 1800);

static struct recording *open_it(enum recording_format format)
{
    struct recording_config config;
    struct recording *recording;

    snprintf(path, sizeof path, "%s/out", directory);
    config = made_config(path, format);
    config.counter = "exception:Failed";
    config.shows = RECORDING_SHOWS_COUNTER;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

/* Made in a constructor, by two of its own. */
static void put_throw(unsigned flags, uint64_t count)
{
    static const char *const all[][2] = {{"io/jaywalk/ThrowEvents", "tell"},
                                         {"java/lang/JaywalkThrows", "made"},
                                         {"java/lang/Throwable", "<init>"},
                                         {"java/lang/Exception", "<init>"},
                                         {"Failed", "<init>"},
                                         {"Failed", "<init>"},
                                         {"Till", "<init>"},
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
    record->flags = (uint16_t)(EVENT_BY_HOOK | EVENT_OF_THROW | flags);
    record->class_name = dict_intern(generation->classes, "Failed", 6);
    record->thread_serial = 1;
    record->weight_ns = count;
    record->time_ns = jw_now_ns();
    record->trace = store_put(generation->traces, frames, JW_COUNT_OF(frames), STORE_WALKER_OWN);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void check_event(const struct jfr_reader_event *event)
{
    struct jfr_value field, name;
    struct jfr_text text = {0};
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_method method = {0};
    int64_t count = 0;

    cr_assert(jfr_value_field(&event->value, "count", &field) && jfr_value_integer(&field, &count));
    cr_assert_eq(count, 10);
    cr_assert(jfr_value_field(&event->value, "thrownClass", &field) &&
              jfr_value_field(&field, "name", &name) && jfr_value_text(&name, &text));
    cr_assert_str_eq(text.text, "Failed");
    cr_assert(jfr_value_field(&event->value, "stackTrace", &field) &&
              jfr_stack_begin(&field, &stack) && jfr_stack_next(&stack, &frame) &&
              jfr_method_read(&frame.method, &method));
    cr_assert_str_eq(method.class_name.text, "Till");
    cr_assert_str_eq(method.name.text, "<init>");
    jfr_method_free(&method);
    jfr_text_free(&text);
}

Test(recording_throws, an_event_names_the_class_and_begins_with_what_made_it)
{
    struct recording *recording = open_it(RECORDING_JFR);
    struct jfr_check check;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    unsigned exceptions = 0, errors = 0;

    put_throw(0, 10);
    put_throw(0, 10);
    put_throw(EVENT_OF_ERROR, 10);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);

    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        while (jfr_reader_next_event(reader, &event, &err)) {
            const bool is_exception = strcmp(event.type_name, "jdk.JavaExceptionThrow") == 0;
            const bool is_error = strcmp(event.type_name, "jdk.JavaErrorThrow") == 0;

            exceptions += is_exception;
            errors += is_error;
            if (is_exception || is_error)
                check_event(&event);
        }
    }
    jfr_reader_close(reader);
    cr_assert_eq(exceptions, 2);
    cr_assert_eq(errors, 1);
}

Test(recording_throws, a_graph_has_the_class_on_top)
{
    struct recording *recording = open_it(RECORDING_COLLAPSED);
    char text[256] = "";
    FILE *file;

    put_throw(0, 1);
    put_throw(0, 1);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    cr_assert(strstr(text, "Till.main;Till.<init>;Failed 2\n") != NULL, "%s", text);
}
