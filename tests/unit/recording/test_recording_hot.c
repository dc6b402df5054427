/* Which frames have the small keys: those that fill stacks, not those that came first; methods, where stacks have frames in line. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "recording/recording_names_internal.h"
#include "support/jfr_check.h"

#define STACKS 80
#define MANY   100

static char directory[] = "/tmp/jaywalk-hot-XXXXXX";
static char path[64];
static struct jw_error err;

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

TestSuite(recording_hot, .init = set_up, .fini = tear_down, .timeout = 1800);

/* A stack of a method that is in no other, called by one that is in all. */
static void put_stack(struct generations *generations, unsigned number)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    char name[16];

    cr_assert_not_null(record);
    snprintf(name, sizeof name, "once%u", number);
    const jw_frame frames[] = {
        jw_frame_java(JW_FRAME_COMPILED,
                      made_method(generation, "app/Once", name, "()V", 2, 9, false), 0),
        jw_frame_java(JW_FRAME_COMPILED,
                      made_method(generation, "app/Often", "run", "()V", 2, 9, false), 0),
    };
    record->kind = EVENT_CPU_SAMPLE;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = MADE_WEIGHT_NS;
    record->trace = store_put(generation->traces, frames, JW_COUNT_OF(frames), 0);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void (*put)(struct generations *generations, unsigned number) = put_stack;

static uint64_t varint_at(const unsigned char *at)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7, at++) {
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (*at < 0x80)
            return value;
    }
}

/* Calls back for each frame of each sample, with its number from the top, and what stands there of it first. */
static void each_frame(void (*visit)(unsigned frame, uint64_t key))
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_value field;
    struct jfr_stack stack;
    struct jfr_stack_keys keys;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            if (strcmp(event.type_name, "jdk.ExecutionSample") != 0)
                continue;
            cr_assert(jfr_value_field(&event.value, "stackTrace", &field));
            cr_assert(jfr_stack_begin(&field, &stack));
            for (unsigned i = 0; jfr_stack_next_keys(&stack, &keys); i++)
                visit(i, varint_at(keys.bytes));
        }
    jfr_reader_close(reader);
}

static uint64_t largest[2];
static bool is_used[RECORDING_SMALL_KEYS + 1];

static void note_largest(unsigned frame, uint64_t key)
{
    if (key > largest[frame])
        largest[frame] = key;
}

static void note_small(unsigned frame, uint64_t key)
{
    (void)frame;
    if (key <= RECORDING_SMALL_KEYS)
        is_used[key] = true;
}

/* The largest key of a frame of this number from the top. */
static uint64_t largest_key(unsigned frame)
{
    each_frame(note_largest);
    return largest[frame];
}

static unsigned small_keys(void)
{
    unsigned count = 0;

    each_frame(note_small);
    for (size_t i = 0; i < JW_COUNT_OF(is_used); i++)
        count += is_used[i];
    return count;
}

static bool is_in_line;

static void make(unsigned stack_count)
{
    const struct generations_config memory = {0};
    struct recording_config config = made_config(path, RECORDING_JFR);

    config.has_frames_in_line = is_in_line;
    struct generations *generations = generations_open(&memory, &err);
    struct recording *recording = recording_open(&config, &err);
    struct jfr_check check;

    cr_assert(generations != NULL && recording != NULL, "%s", err.message);
    for (unsigned i = 0; i < stack_count; i++)
        put(generations, i);
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
}

Test(recording_hot, a_frame_that_fills_stacks_takes_one_byte_and_those_met_before_do_not)
{
    make(STACKS);
    cr_expect_eq(largest_key(1), 1);
    cr_expect_gt(largest_key(0), RECORDING_SMALL_KEYS + STACKS - 1);
}

Test(recording_hot, so_do_methods_where_frames_stand_in_line)
{
    is_in_line = true;
    make(STACKS);
    cr_expect_eq(largest_key(1), 1);
    cr_expect_gt(largest_key(0), RECORDING_SMALL_KEYS + STACKS - 1);
}

Test(recording_hot, few_stacks_spend_no_small_key)
{
    make(STACKS / 4);
    cr_expect_gt(largest_key(1), RECORDING_SMALL_KEYS);
}

/* As put_stack, below native code that is in all of them. */
static void put_native_stack(struct generations *generations, unsigned number)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    char name[16];

    cr_assert_not_null(record);
    snprintf(name, sizeof name, "once%u", number);
    const jw_frame frames[] = {
        jw_frame_native(0x1000),
        jw_frame_java(JW_FRAME_COMPILED,
                      made_method(generation, "app/Once", name, "()V", 2, 9, false), 0),
    };
    record->kind = EVENT_CPU_SAMPLE;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = MADE_WEIGHT_NS;
    record->trace = store_put(generation->traces, frames, JW_COUNT_OF(frames), 0);
    event_commit(record);
    generation_leave(generations, &ticket);
}

Test(recording_hot, native_code_that_fills_stacks_takes_one_byte_too)
{
    put = put_native_stack;
    make(STACKS);
    cr_expect_eq(largest_key(0), 1);
    cr_expect_gt(largest_key(1), RECORDING_SMALL_KEYS + STACKS - 1);
}

/* One of many methods, each of which is in as many stacks, called from a place of its own. */
static void put_stack_of_many(struct generations *generations, unsigned number)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    char name[16];

    cr_assert_not_null(record);
    snprintf(name, sizeof name, "often%u", number % MANY);
    const jw_frame frames[] = {
        jw_frame_java(JW_FRAME_COMPILED,
                      made_method(generation, "app/Often", name, "()V", 2, 9, false), 0),
        jw_frame_java(JW_FRAME_COMPILED,
                      made_method(generation, "app/Once", "run", "()V", 2, 9, false), (int)number),
    };
    record->kind = EVENT_CPU_SAMPLE;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = MADE_WEIGHT_NS;
    record->trace = store_put(generation->traces, frames, JW_COUNT_OF(frames), 0);
    event_commit(record);
    generation_leave(generations, &ticket);
}

Test(recording_hot, what_comes_first_leaves_half_of_the_small_keys)
{
    put = put_stack_of_many;
    make(MANY * 40);
    cr_expect_eq(small_keys(), (RECORDING_SMALL_KEYS + 1) / 2);
}
