/* Wall-clock records in a recording: order, stacks that outlive their generation, times, turns. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"
#include "support/one_thread.h"

#define WALL    "jaywalk.WallClockSample"
#define MS      JW_NS_PER_MS
#define WAITING 60u /* kind of a stack that waits: Hot.main <- Hot.copy <- native */

static char directory[] = "/tmp/jaywalk-wall-XXXXXX";
static char path[64];
static struct jw_error err;
static struct jfr_check check;
static struct generations *generations;
static struct recording *recording;
static struct recording_config config;

/* What the file says of one wall event. */
struct told {
    char type[64];
    char thread[32];
    char state[40];
    char stack[256]; /* methods, leaf first, ';' behind each */
    int64_t start_ticks;
    int64_t samples;
    int64_t span_ns; /* timeSpan or wallTime */
    int64_t weight_ns;
    size_t chunk;
};

#define TOLD_MAX 4096
static struct told told[TOLD_MAX];
static size_t told_count;
static int64_t chunk_starts[64];

static void set_up(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);
    config = made_config(path, RECORDING_JFR);
}

static void tear_down(void)
{
    jw_alloc_fail_after(0);
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_wall, .init = set_up, .fini = tear_down, .timeout = 1800);

static void open_jfr(void)
{
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void turn(void)
{
    made_turn(generations, recording);
}

static void roll(void)
{
    cr_assert(recording_roll(recording, &err), "%s", err.message);
}

static void read_stack(const struct jfr_value *event, char text[256])
{
    struct jfr_value trace;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_method method = {0};
    size_t used = 0;

    text[0] = '\0';
    if (!jfr_value_field(event, "stackTrace", &trace))
        return;
    cr_assert(jfr_stack_begin(&trace, &stack));
    while (jfr_stack_next(&stack, &frame)) {
        cr_assert(jfr_method_read(&frame.method, &method));
        used += (size_t)snprintf(text + used, 256 - used, "%s.%s;", method.class_name.text,
                                 method.name.text);
    }
    jfr_method_free(&method);
}

static void read_text(const struct jfr_value *value, const char *field, char *out, size_t room)
{
    struct jfr_value inner;
    struct jfr_text text = {0};

    out[0] = '\0';
    if (jfr_value_field(value, field, &inner) && jfr_value_text(&inner, &text))
        snprintf(out, room, "%s", text.text);
    jfr_text_free(&text);
}

static int64_t read_number(const struct jfr_value *value, const char *field)
{
    struct jfr_value inner;
    int64_t number = 0;

    return jfr_value_field(value, field, &inner) && jfr_value_integer(&inner, &number) ? number : 0;
}

/* Closes the recording, looks the file over and reads its wall events and plain samples. */
static void read_back(void)
{
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    size_t chunk_count = 0;

    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    told_count = 0;
    for (; jfr_reader_next_chunk(reader, &chunk, &err); chunk_count++) {
        chunk_starts[chunk_count] = chunk.start_ticks;
        while (jfr_reader_next_event(reader, &event, &err)) {
            struct told *row = &told[told_count];
            struct jfr_value thread;

            if (strcmp(event.type_name, WALL) != 0 &&
                strcmp(event.type_name, "jdk.ExecutionSample") != 0)
                continue;
            cr_assert_lt(told_count, TOLD_MAX);
            snprintf(row->type, sizeof row->type, "%s", event.type_name);
            read_text(&event.value, "state", row->state, sizeof row->state);
            row->thread[0] = '\0';
            if (jfr_value_field(&event.value, "sampledThread", &thread))
                read_text(&thread, "osName", row->thread, sizeof row->thread);
            read_stack(&event.value, row->stack);
            row->start_ticks = event.start_ticks;
            row->samples = read_number(&event.value, "samples");
            row->span_ns =
                read_number(&event.value, "timeSpan") + read_number(&event.value, "wallTime");
            row->weight_ns = read_number(&event.value, "weight");
            row->chunk = chunk_count;
            told_count++;
        }
    }
    cr_assert_str_eq(err.message, "");
    jfr_reader_close(reader);
}

static int64_t last_count(const char *field_name)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    int64_t count = -1;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            if (strcmp(event.type_name, "jaywalk.Diagnostics") == 0)
                count = read_number(&event.value, field_name);
    jfr_reader_close(reader);
    return count;
}

static const char waiting_stack[] =
    "libc.so.6.memcpy;libc.so.6.libc.so.6;app/Hot.copy;app/Hot.main;";

static struct made_wall sample_of(uint32_t thread, uint64_t number)
{
    return (struct made_wall){.thread = thread,
                              .number = number,
                              .turns = 1,
                              .time_ns = jw_now_ns(),
                              .weight_ns = 1000,
                              .state = JW_STATE_SLEEPING};
}

static void put_sample(uint32_t thread, uint64_t number)
{
    const struct made_wall wall = sample_of(thread, number);

    made_wall(generations, &wall, WAITING);
}

static void put_idle(uint32_t thread, uint64_t number, uint32_t turns)
{
    struct made_wall wall = sample_of(thread, number);

    wall.is_idle = true;
    wall.turns = turns;
    wall.weight_ns = 1000ull * turns;
    made_wall(generations, &wall, 0);
}

Test(recording_wall, a_sample_says_thread_stack_state_turns_and_span)
{
    struct made_wall wall = sample_of(0, 1);

    open_jfr();
    roll();
    wall.time_ns = jw_now_ns() + 50 * MS;
    wall.weight_ns = 20 * MS;
    wall.turns = 2;
    made_wall(generations, &wall, WAITING);
    turn();
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].type, WALL);
    cr_expect_str_eq(told[0].thread, "java");
    cr_expect_str_eq(told[0].state, "STATE_SLEEPING");
    cr_expect_str_eq(told[0].stack, waiting_stack);
    cr_expect_eq(told[0].samples, 2);
    cr_expect_eq(told[0].span_ns, 20 * MS);
    cr_expect_eq(told[0].start_ticks, (int64_t)(wall.time_ns - wall.weight_ns));
}

Test(recording_wall, every_state_has_its_name)
{
    struct made_wall wall = sample_of(0, 1);

    open_jfr();
    for (int state = 0; state <= JW_STATE_LIMIT; state++) {
        wall.state = (enum jw_thread_state)state;
        wall.number++;
        made_wall(generations, &wall, WAITING);
    }
    turn();
    read_back();
    cr_assert_eq(told_count, JW_STATE_LIMIT + 1);
    for (int state = 0; state <= JW_STATE_LIMIT; state++)
        cr_expect_str_eq(told[state].state, jw_thread_state_name((enum jw_thread_state)state));
}

Test(recording_wall, idle_turns_find_their_sample_wherever_it_stands_in_the_take)
{
    open_jfr();
    put_idle(0, 7, 3); /* before its sample */
    put_sample(0, 7);
    put_sample(0, 8);
    put_idle(0, 8, 4);
    put_idle(0, 7, 5); /* after the next sample of the thread */
    turn();
    read_back();
    cr_assert_eq(told_count, 5);
    for (size_t i = 0; i < told_count; i++)
        cr_expect_str_eq(told[i].stack, waiting_stack, "event %zu: %s", i, told[i].stack);
    cr_expect_eq(last_count("wallIdleUnknown"), 0);
    cr_expect_eq(last_count("writtenTurns"), 14);
    cr_expect_eq(last_count("written"), 2);
    cr_expect_eq(last_count("signals"), 2);
    cr_expect_eq(last_count("inFlight"), 0);
}

Test(recording_wall, a_thread_waits_on_through_generations_and_chunks_that_are_whole_alone)
{
    open_jfr();
    put_sample(0, 1);
    turn();
    for (int chunk = 0; chunk < 5; chunk++) {
        roll();
        for (int round = 0; round < 4; round++) {
            made_sample(generations, (unsigned)(chunk * 10 + round)); /* other names meanwhile */
            put_idle(0, 1, 2);
            turn();
            cr_assert(recording_flush(recording, &err), "%s", err.message);
        }
    }
    read_back(); /* every reference of a chunk leads to a constant in it */
    size_t idle_count = 0;

    for (size_t i = 0; i < told_count; i++) {
        if (strcmp(told[i].type, WALL) != 0)
            continue;
        idle_count++;
        cr_expect_str_eq(told[i].stack, waiting_stack, "chunk %zu: %s", told[i].chunk,
                         told[i].stack);
    }
    cr_expect_eq(idle_count, 21);
    cr_expect_eq(last_count("wallIdleUnknown"), 0);
}

Test(recording_wall, a_late_sample_gives_the_turns_before_it_their_stack)
{
    struct made_wall late = sample_of(0, 1);

    open_jfr();
    late.late_for = recording;
    made_wall(generations, &late, WAITING); /* its generation was written without it */
    put_idle(0, 1, 6);
    turn(); /* the idle record first: then what was left behind */
    turn();
    read_back();
    cr_assert_eq(told_count, 2);
    cr_expect_str_eq(told[0].stack, waiting_stack);
    cr_expect_str_eq(told[1].stack, waiting_stack);
    cr_expect_eq(told[0].samples + told[1].samples, 7);
    cr_expect_eq(last_count("wallIdleUnknown"), 0);
}

Test(recording_wall, a_late_sample_is_not_taken_for_the_last_one)
{
    struct made_wall late = sample_of(0, 1);
    struct made_wall next = sample_of(0, 2);

    open_jfr();
    late.late_for = recording;
    made_wall(generations, &late, WAITING);
    made_wall(generations, &next, 0);
    turn();
    turn();
    put_idle(0, 2, 1);
    turn();
    read_back();
    cr_assert_eq(told_count, 3);
    cr_expect_str_eq(told[2].stack, "app/Hot.spin;app/Hot.main;");
}

static bool is_reaped;

static bool tell_until_reaped(void *context, uint32_t index, uint32_t serial,
                              struct recording_thread *out)
{
    return !is_reaped && made_tell_thread(context, index, serial, out);
}

static bool is_first(void *context, uint32_t index, uint32_t serial)
{
    (void)context;
    (void)serial;
    return index == 0;
}

Test(recording_wall, turns_whose_sample_was_lost_have_their_thread_though_it_ended)
{
    config.sources.thread = tell_until_reaped;
    open_jfr();
    put_idle(0, 1, 6); /* of a sample that was lost */
    turn();
    recording_give_up(recording, is_first, NULL);
    is_reaped = true;
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].thread, "java");
    cr_expect_eq(last_count("wallIdleUnknown"), 6);
}

Test(recording_wall, turns_whose_sample_never_comes_are_shown_as_that_at_the_end)
{
    open_jfr();
    put_idle(0, 5, 6);
    turn();
    turn();
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].stack, "jaywalk.[unknown wait];");
    cr_expect_eq(told[0].samples, 6);
    cr_expect_eq(last_count("wallIdleUnknown"), 6);
    cr_expect_eq(last_count("writtenTurns"), 6);
}

Test(recording_wall, turns_of_no_sample_at_all_are_shown_as_that)
{
    open_jfr();
    put_idle(0, 0, 6);
    turn();
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].stack, "jaywalk.[not sampled];");
    cr_expect_eq(last_count("wallIdleUnknown"), 0);
    cr_expect_eq(last_count("writtenTurns"), 6);
}

Test(recording_wall, idle_turns_that_say_no_state_have_that_of_their_sample)
{
    struct made_wall wall = sample_of(0, 1);

    open_jfr();
    wall.state = JW_STATE_PARKED;
    made_wall(generations, &wall, WAITING);
    turn();
    wall.is_idle = true;
    wall.state = JW_STATE_UNKNOWN;
    made_wall(generations, &wall, WAITING);
    wall.state = JW_STATE_NATIVE;
    made_wall(generations, &wall, WAITING);
    turn();
    read_back();
    cr_assert_eq(told_count, 3);
    cr_expect_str_eq(told[1].state, "STATE_PARKED");
    cr_expect_str_eq(told[2].state, "STATE_IN_NATIVE");
}

Test(recording_wall, another_life_of_a_thread_record_does_not_inherit_the_stack)
{
    struct epoch_ticket ticket;

    open_jfr();
    put_sample(0, 1);
    turn();

    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    record->kind = EVENT_WALL_IDLE;
    record->thread_serial = 77;
    record->value = 1;
    record->sample_count = 2;
    record->time_ns = jw_now_ns();
    event_commit(record);
    generation_leave(generations, &ticket);
    turn();
    read_back();
    cr_assert_eq(told_count, 2);
    cr_expect_str_eq(told[1].stack, "jaywalk.[unknown wait];");
    cr_expect_eq(last_count("wallIdleUnknown"), 2);
}

Test(recording_wall, without_batches_each_turn_is_a_plain_sample_in_its_place)
{
    struct made_wall wall = sample_of(0, 1);
    int64_t span_ns = 0;

    config.splits_wall = true;
    open_jfr();
    const uint64_t begin_ns = jw_now_ns();
    wall.time_ns = begin_ns + 10;
    wall.weight_ns = 10;
    made_wall(generations, &wall, WAITING);
    wall.is_idle = true;
    wall.turns = 3;
    wall.time_ns = begin_ns + 10 + 100;
    wall.weight_ns = 100;
    made_wall(generations, &wall, 0);
    made_sample(generations, 0);
    turn();
    read_back();
    cr_assert_eq(told_count, 5);
    static const uint64_t places[] = {10, 10 + 33, 10 + 66, 10 + 100};
    for (size_t i = 0; i < JW_COUNT_OF(places); i++) {
        cr_expect_str_eq(told[i].type, "jdk.ExecutionSample");
        cr_expect_str_eq(told[i].stack, waiting_stack);
        cr_expect_str_eq(told[i].state, "STATE_SLEEPING");
        cr_expect_eq(told[i].start_ticks, (int64_t)(begin_ns + places[i]), "turn %zu", i);
        cr_expect_eq(told[i].weight_ns, 0, "no CPU time");
        span_ns += told[i].span_ns;
    }
    cr_expect_eq(span_ns, 110);
    cr_expect_eq(told[4].weight_ns, (int64_t)MADE_WEIGHT_NS);
    cr_expect_eq(told[4].span_ns, 0, "a CPU sample is one");
    cr_expect_str_eq(told[4].state, "STATE_RUNNABLE");
    cr_expect_eq(last_count("writtenTurns"), 4);
    cr_expect_eq(last_count("written"), 2);
}

Test(recording_wall, turns_beyond_a_thousand_share_one_event_and_are_counted)
{
    struct made_wall wall = sample_of(0, 1);
    int64_t span_ns = 0;

    config.splits_wall = true;
    open_jfr();
    made_wall(generations, &wall, WAITING);
    wall.is_idle = true;
    wall.turns = 1234;
    wall.time_ns = jw_now_ns() + 5000 * MS;
    wall.weight_ns = 5000 * MS - 1;
    made_wall(generations, &wall, 0);
    turn();
    read_back();
    cr_assert_eq(told_count, 1 + 1000 + 1);
    for (size_t i = 1; i < told_count; i++)
        span_ns += told[i].span_ns;
    cr_expect_eq(span_ns, 5000 * MS - 1);
    cr_expect_str_eq(told[1001].type, WALL);
    cr_expect_eq(told[1001].samples, 234);
    cr_expect_eq(told[1001].start_ticks, told[1000].start_ticks);
    cr_expect_eq(last_count("wallTurnsBatched"), 234);
    cr_expect_eq(last_count("writtenTurns"), 1235);
}

Test(recording_wall, a_span_that_began_before_its_chunk_starts_with_it_and_keeps_its_time)
{
    struct made_wall wall = sample_of(0, 1);

    open_jfr();
    roll();
    const uint64_t before = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);
    wall.time_ns = jw_now_ns();
    wall.weight_ns = 100 * 1000 * MS;
    wall.turns = 5000;
    made_wall(generations, &wall, WAITING);
    turn();
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), before + 1);
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_eq(told[0].chunk, 1);
    cr_expect_eq(told[0].start_ticks, chunk_starts[1]);
    cr_expect_eq(told[0].span_ns, 100 * 1000 * MS);
    cr_expect_eq(told[0].samples, 5000);
}

Test(recording_wall, the_end_of_a_span_decides_how_far_its_chunk_reaches_back)
{
    struct made_wall wall = sample_of(0, 1);

    open_jfr();
    const uint64_t end_ns = jw_now_ns();
    roll();
    const uint64_t before = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);
    wall.time_ns = end_ns;
    wall.weight_ns = 1;
    made_wall(generations, &wall, WAITING);
    turn();
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_eq(chunk_starts[1], (int64_t)end_ns);
    cr_expect_eq(told[0].start_ticks, (int64_t)end_ns);
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), before + 1);
}

Test(recording_wall, what_came_before_the_recording_is_moved_into_it_and_counted_once)
{
    struct made_wall wall = sample_of(0, 1);

    open_jfr();
    const uint64_t before = jw_counter(JW_COUNT_EVENT_TIME_CLAMPED);
    wall.time_ns = 10;
    wall.weight_ns = 20; /* even before the clock began */
    made_wall(generations, &wall, WAITING);
    turn();
    cr_expect_eq(jw_counter(JW_COUNT_EVENT_TIME_CLAMPED), before + 1);
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_eq(told[0].start_ticks, chunk_starts[0]);
}

Test(recording_wall, each_allocation_may_fail_and_the_file_stays_sound)
{
    LEAVE_TO_ADDRESS_SANITIZER();

    bool is_done = false;
    config.splits_wall = true;
    for (uint64_t nth = 1; !is_done; nth++) {
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        recording = recording_open(&config, &err);
        bool is_good = recording != NULL;
        if (is_good) {
            for (uint64_t number = 1; number < 40; number++) {
                put_idle(0, number, 2);
                put_sample(0, number);
            }
            put_idle(1, 5, 1);
            made_turn(generations, recording);
            is_good = recording_roll(recording, &err);
            put_idle(0, 39, 1);
            made_turn(generations, recording);
            is_good = recording_close(recording, &err) && is_good;
        }
        is_done = is_good;
        jw_alloc_fail_after(0);
        cr_assert(is_good || strstr(err.message, "out of memory"), "%s", err.message);
        if (access(path, F_OK) == 0) {
            cr_expect(jfr_check_file(path, &check), "%s", check.problem);
            cr_assert_eq(unlink(path), 0);
        }
    }
}

static bool tell_bracketed(void *context, uintptr_t pc, struct recording_symbol *out)
{
    (void)context;
    *out = (struct recording_symbol){made_text("[vdso]"), {NULL, 0}};
    if (pc == 0x1000)
        out->symbol = made_text("clock_gettime");
    return true;
}

/* JMC takes a class name that begins with '[' for an array, and refuses "[vdso]". */
Test(recording_wall, a_library_in_brackets_is_not_the_class_of_an_array)
{
    config.sources.native_pc = tell_bracketed;
    open_jfr();
    put_sample(0, 1);
    turn();
    read_back();
    cr_assert_eq(told_count, 1);
    cr_expect_str_eq(told[0].stack, "vdso.clock_gettime;vdso.[vdso];app/Hot.copy;app/Hot.main;");
}
