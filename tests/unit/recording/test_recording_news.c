/* Objects by their class, from the generation to the file: the class stands on top, and the stack begins with what makes it, be it a constructor of that class. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

static char directory[] = "/tmp/jaywalk-news-XXXXXX";
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

TestSuite(recording_news, .init = set_up, .fini = tear_down, .timeout = 1800);

static struct recording *open_it(enum recording_format format)
{
    struct recording_config config;
    struct recording *recording;

    snprintf(path, sizeof path, "%s/out", directory);
    config = made_config(path, format);
    config.counter = "new:Order";
    config.shows = RECORDING_SHOWS_COUNTER;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    return recording;
}

/* An order that is made by a constructor of another one. */
static void put_new(uint64_t count)
{
    static const char *const all[][2] = {{"io/jaywalk/NewEvents", "tell"},
                                         {"java/lang/JaywalkNews", "told"},
                                         {"java/lang/JaywalkNews", "made"},
                                         {"Order", "<init>"},
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
    record->flags = EVENT_BY_HOOK | EVENT_OF_NEW;
    record->class_name = dict_intern(generation->classes, "Order", 5);
    record->thread_serial = 1;
    record->weight_ns = count;
    record->time_ns = jw_now_ns();
    record->trace = store_put(generation->traces, frames, JW_COUNT_OF(frames), STORE_WALKER_OWN);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static struct recording_text text_of(const char *text)
{
    return (struct recording_text){text, strlen(text)};
}

static void check_class_and_count(const struct jfr_reader_event *event, const char *expected,
                                  int64_t expected_count)
{
    struct jfr_value field, name;
    struct jfr_text text = {0};
    int64_t count = 0;

    cr_assert(jfr_value_field(&event->value, "count", &field) && jfr_value_integer(&field, &count));
    cr_assert_eq(count, expected_count);
    cr_assert(jfr_value_field(&event->value, "objectClass", &field) &&
              jfr_value_field(&field, "name", &name) && jfr_value_text(&name, &text));
    cr_assert_str_eq(text.text, expected);
    jfr_text_free(&text);
}

static void check_method(const struct jfr_value *value, const char *class_name, const char *name)
{
    struct jfr_method method = {0};

    cr_assert(jfr_method_read(value, &method));
    cr_assert_str_eq(method.class_name.text, class_name);
    cr_assert_str_eq(method.name.text, name);
    jfr_method_free(&method);
}

static unsigned samples, counts;

static void check_event(const struct jfr_reader_event *event)
{
    struct jfr_value field;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;

    if (strcmp(event->type_name, "jaywalk.NewObject") == 0) {
        samples++;
        check_class_and_count(event, "Order", 10);
        cr_assert(jfr_value_field(&event->value, "stackTrace", &field) &&
                  jfr_stack_begin(&field, &stack) && jfr_stack_next(&stack, &frame));
        check_method(&frame.method, "Order", "<init>");
    } else if (strcmp(event->type_name, "jaywalk.ObjectCount") == 0) {
        counts++;
        check_class_and_count(event, counts == 1 ? "Order" : "[I", counts == 1 ? 42 : 7);
        cr_assert_eq(jfr_value_field(&event->value, "method", &field), counts == 1);
        if (counts == 1)
            check_method(&field, "Till", "buy");
    }
}

Test(recording_news, events_name_class_and_maker_and_a_class_of_many_makers_has_none)
{
    struct recording *recording = open_it(RECORDING_JFR);
    const struct recording_count by_one = {.made = text_of("Order"),
                                           .class_name = text_of("Till"),
                                           .name = text_of("buy"),
                                           .descriptor = text_of("()V"),
                                           .count = 42};
    const struct recording_count by_many = {.made = text_of("[I"),
                                            .class_name = text_of(""),
                                            .name = text_of(""),
                                            .descriptor = text_of(""),
                                            .count = 7};
    struct jfr_check check;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    put_new(10);
    put_new(10);
    made_turn(generations, recording);
    recording_put_count(recording, &by_one);
    recording_put_count(recording, &by_many);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);

    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        while (jfr_reader_next_event(reader, &event, &err))
            check_event(&event);
    }
    jfr_reader_close(reader);
    cr_assert_eq(samples, 2);
    cr_assert_eq(counts, 2);
}

Test(recording_news, a_graph_has_the_class_on_top)
{
    struct recording *recording = open_it(RECORDING_COLLAPSED);
    char text[256] = "";
    FILE *file;

    put_new(1);
    put_new(1);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    cr_assert(strstr(text, "Till.main;Order.<init>;Order 2\n") != NULL, "%s", text);
}
