/* Which sampled objects a recording tells of as live, with what, and in which words. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"

#define OBJECTS 8u

static char directory[] = "/tmp/jaywalk-live-XXXXXX";
static char path[64], copy[64];
static struct jw_error err;
static struct recording *recording;
static struct generations *generations;
static bool is_gone[OBJECTS + 1]; /* by number */
static uint32_t level, age;

static bool tell_live(void *context, uint32_t slot, uint32_t number,
                      struct recording_live_state *out)
{
    (void)context;
    *out = (struct recording_live_state){age, level};
    return number >= 1 && number <= OBJECTS && slot == 7 * number && !is_gone[number];
}

static void open_as(enum recording_dialect dialect)
{
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.sources.live = tell_live;
    config.dialect = dialect;
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    snprintf(copy, sizeof copy, "%s/copy.jfr", directory);
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    unlink(copy);
    cr_expect(eq(int, rmdir(directory), 0), "something was left behind");
}

TestSuite(recording_live, .init = set_up, .fini = tear_down, .timeout = 1800);

/* An object of 100 bytes that stands for 1000, of which the sample says this number. */
static void put(uint32_t number)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t flags;
    const uint32_t count = made_fill(generation, 0, frames, &flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    record->kind = EVENT_ALLOC_SAMPLE;
    record->flags = (uint16_t)(7 * number);
    record->name = number;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = 1000;
    record->value = 100;
    record->class_name = dict_intern(generation->classes, "app/Kept", 8);
    record->trace = store_put(generation->traces, frames, count, flags);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static bool clear(struct generation *generation, void *argument)
{
    recording_take(argument, generation);
    return true;
}

/* Twice, so that what was in the generation before is nowhere any more. */
static void take(void)
{
    for (int i = 0; i < 2; i++) {
        struct generation *closed = generations_rotate(generations);

        cr_assert_not_null(closed);
        recording_take(recording, closed);
        (void)generations_retire(generations, clear, recording);
    }
    cr_assert(recording_flush(recording, &err), "%s", err.message);
}

struct told {
    size_t count, frames;
    int64_t weights, sizes, ages, first_ticks, last_ticks, times;
    double floats;
    char class_name[32], thread[32];
};

static int64_t integer(const struct jfr_value *event, const char *name)
{
    struct jfr_value field;
    int64_t number;

    return jfr_value_field(event, name, &field) && jfr_value_integer(&field, &number) ? number : 0;
}

static void text(const struct jfr_value *value, const char *name, char out[32])
{
    struct jfr_value field;
    struct jfr_text text = {0};

    if (jfr_value_field(value, name, &field) && jfr_value_text(&field, &text))
        snprintf(out, 32, "%s", text.text);
    jfr_text_free(&text);
}

static void note(struct told *told, const struct jfr_reader_event *event)
{
    struct jfr_value field, constant;
    struct jfr_stack stack;
    struct jfr_stack_keys keys;
    double weight;

    if (told->count++ == 0)
        told->first_ticks = event->start_ticks;
    told->last_ticks = event->start_ticks;
    told->weights += integer(&event->value, "weight");
    if (jfr_value_field(&event->value, "weight", &field) && jfr_value_number(&field, &weight))
        told->floats += weight;
    told->sizes += integer(&event->value, "allocationSize") + integer(&event->value, "size");
    told->ages += integer(&event->value, "collections") + integer(&event->value, "age");
    told->times += integer(&event->value, "allocationTime") > 0;
    if (jfr_value_field(&event->value, "objectClass", &field))
        text(&field, "name", told->class_name);
    if (jfr_value_field(&event->value, "eventThread", &field))
        text(&field, "javaName", told->thread);
    if (jfr_value_field(&event->value, "stackTrace", &field) &&
        jfr_value_constant(&field, &constant) && jfr_stack_begin(&constant, &stack))
        while (jfr_stack_next_keys(&stack, &keys))
            told->frames++;
}

static struct told read_type(const char *file, const char *name)
{
    struct jfr_reader *reader = jfr_reader_open(file, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct told told = {0};

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            if (strcmp(event.type_name, name) == 0)
                note(&told, &event);
    cr_assert_str_eq(err.message, "");
    jfr_reader_close(reader);
    return told;
}

static void close_recording(void)
{
    cr_assert(recording_close(recording, &err), "%s", err.message);
}

Test(recording_live, at_the_end_those_that_are_there_and_where_they_came_from)
{
    open_as(RECORDING_STANDARD);
    age = 5;
    for (uint32_t number = 1; number <= OBJECTS; number++)
        put(number);
    put(0); /* not watched */
    take();
    is_gone[2] = is_gone[5] = true;
    take();
    is_gone[8] = true; /* since the last turn */
    close_recording();

    const struct told live = read_type(path, "jaywalk.LiveObject");
    cr_expect(eq(u64, live.count, OBJECTS - 3));
    cr_expect(eq(i64, live.weights, 1000 * (OBJECTS - 3)));
    cr_expect(eq(i64, live.sizes, 100 * (OBJECTS - 3)));
    cr_expect(eq(i64, live.ages, 5 * (OBJECTS - 3)));
    cr_expect(eq(u64, live.frames, 2 * (OBJECTS - 3)));
    cr_expect(eq(i64, live.first_ticks, live.last_ticks), "a set has one time");
    cr_expect_str_eq(live.class_name, "app/Kept");
    cr_expect_str_eq(live.thread, "main");
    cr_expect(eq(u64, read_type(path, "jdk.ObjectAllocationSample").count, OBJECTS + 1));
}

Test(recording_live, one_that_was_gone_when_its_sample_was_taken_is_not_kept)
{
    open_as(RECORDING_STANDARD);
    put(1);
    put(2);
    is_gone[1] = true;
    take();
    is_gone[1] =
        false; /* another object has its number and slot: none does, but nobody may ask again */
    close_recording();
    cr_expect(eq(u64, read_type(path, "jaywalk.LiveObject").count, 1));
}

Test(recording_live, each_dump_has_a_set_and_the_next_one_its_own)
{
    open_as(RECORDING_STANDARD);
    put(1);
    put(2);
    take();
    cr_assert(recording_snapshot(recording, copy, &err), "%s", err.message);
    is_gone[1] = true;
    put(3);
    take();
    level = 3;
    close_recording();

    const struct told dump = read_type(copy, "jaywalk.LiveObject");
    const struct told all = read_type(path, "jaywalk.LiveObject");
    cr_expect(eq(u64, dump.count, 2));
    cr_expect(eq(u64, all.count, 4), "two of the dump, and two that are left");
    cr_expect(eq(i64, all.weights, 2 * 1000 + 2 * 8000), "thinned thrice, each stands for eight");
    cr_expect(all.last_ticks > dump.last_ticks);
}

Test(recording_live, in_the_words_of_async_profiler)
{
    open_as(RECORDING_ASYNC_PROFILER);
    put(1);
    put(2);
    take();
    close_recording();

    const struct told live = read_type(path, "profiler.LiveObject");
    cr_expect(eq(u64, live.count, 2));
    cr_expect(eq(i64, live.sizes, 2000), "what they stand for");
    cr_expect(eq(u64, (uint64_t)live.times, 2));
    const struct told made = read_type(path, "jdk.ObjectAllocationInNewTLAB");
    cr_expect(eq(u64, made.count, 2));
    cr_expect(eq(i64, made.sizes, 200));
    cr_expect(eq(u64, read_type(path, "jdk.ObjectAllocationSample").count, 0));
    cr_expect(eq(u64, read_type(path, "jaywalk.LiveObject").count, 0));
}

Test(recording_live, in_the_words_of_datadog)
{
    open_as(RECORDING_DATADOG);
    age = 4;
    put(1);
    put(2);
    take();
    close_recording();

    const struct told live = read_type(path, "datadog.HeapLiveObject");
    cr_expect(eq(u64, live.count, 2));
    cr_expect(eq(i64, live.sizes, 200));
    cr_expect(eq(i64, live.ages, 8));
    cr_expect(epsilon_eq(dbl, live.floats, 20, 0.001), "ten objects each");
    cr_expect(eq(u64, read_type(path, "datadog.ObjectSample").count, 2));
}
