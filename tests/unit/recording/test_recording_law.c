/* The conservation law of each chunk, with each term counted by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"

#define CHUNKS_MAX 8

/* The last jaywalk.Conservation of each chunk. */
struct told {
    int64_t chunk, signals, entered, carried_in, carried_out, carried_most, samples, lost_reentry,
        spared_waiting, idle, turns, sampled_turns, idle_turns, events;
};

static char directory[] = "/tmp/jaywalk-law-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct recording *recording;
static struct told told[CHUNKS_MAX];

static void set_up(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);

    const struct recording_config config = made_config(path, RECORDING_JFR);
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static void tear_down(void)
{
    generations_close(generations);
    unlink(path);
    rmdir(directory);
}

TestSuite(recording_law, .init = set_up, .fini = tear_down, .timeout = 1800);

static int64_t number_of(const struct jfr_reader_event *event, const char *name)
{
    struct jfr_value field;
    int64_t number = INT64_MIN;

    cr_assert(jfr_value_field(&event->value, name, &field), "no field %s", name);
    cr_assert(jfr_value_integer(&field, &number));
    return number;
}

static size_t read_back(void)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    size_t count = 0;

    cr_assert_not_null(reader, "%s", err.message);
    for (; jfr_reader_next_chunk(reader, &chunk, &err); count++)
        while (jfr_reader_next_event(reader, &event, &err))
            if (strcmp(event.type_name, "jaywalk.Conservation") == 0 && count < CHUNKS_MAX)
                told[count] = (struct told){
                    .chunk = number_of(&event, "chunk"),
                    .signals = number_of(&event, "signals"),
                    .entered = number_of(&event, "entered"),
                    .carried_in = number_of(&event, "carriedIn"),
                    .carried_out = number_of(&event, "carriedOut"),
                    .carried_most = number_of(&event, "carriedMost"),
                    .samples = number_of(&event, "samples"),
                    .lost_reentry = number_of(&event, "lostReentry"),
                    .spared_waiting = number_of(&event, "sparedWaiting"),
                    .idle = number_of(&event, "idle"),
                    .turns = number_of(&event, "turns"),
                    .sampled_turns = number_of(&event, "sampledTurns"),
                    .idle_turns = number_of(&event, "idleTurns"),
                    .events = number_of(&event, "events"),
                };
    jfr_reader_close(reader);
    return count;
}

/* What a handler leaves in the generation that it has entered. */
static void put_record(struct generation *generation, enum event_kind kind, uint64_t number,
                       uint32_t turns)
{
    const jw_frame frame = jw_frame_mark(JW_MARK_GC_ACTIVE);
    struct event_record *record = event_reserve(generation->events);

    record->kind = (uint16_t)kind;
    record->thread_serial = 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = 5;
    record->value = number;
    record->sample_count = turns;
    record->trace = store_put(generation->traces, &frame, 1, 0);
    event_commit(record);
}

static void sample(enum event_kind kind, uint64_t number, uint32_t turns)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);

    if (kind != EVENT_WALL_IDLE)
        jw_count(JW_COUNT_SIGNALS);
    put_record(generation, kind, number, turns);
    generation_leave(generations, &ticket);
    if (kind != EVENT_WALL_IDLE)
        jw_count(JW_COUNT_SAMPLES);
}

static bool take_late(struct generation *generation, void *argument)
{
    recording_take(argument, generation);
    return true;
}

/* A turn of the agent, with so many handlers at work. */
static void turn(uint64_t inside)
{
    const struct recording_cut before = {jw_counter(JW_COUNT_SIGNALS), inside};
    struct generation *closed = generations_rotate(generations);

    cr_assert_not_null(closed);
    recording_cut(recording, closed, &before);
    generations_take_late_before(generations, closed, take_late, recording);
    recording_take(recording, closed);
    (void)generations_retire(generations, take_late, recording);
    cr_assert(recording_tick(recording, &err), "%s", err.message);
}

static void end_chunk(void)
{
    cr_assert(recording_roll(recording, &err), "%s", err.message);
}

static void expect_law(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct told *it = &told[i];

        cr_expect_eq(it->chunk, (int64_t)i + 1);
        cr_expect_eq(it->signals, it->samples + it->lost_reentry + it->spared_waiting, "chunk %zu",
                     i);
        cr_expect_eq(it->signals, it->entered + it->carried_in - it->carried_out, "chunk %zu", i);
        cr_expect(it->carried_out >= 0 && it->carried_out <= it->carried_most, "chunk %zu", i);
        cr_expect_eq(it->carried_in, i == 0 ? 0 : told[i - 1].carried_out, "chunk %zu", i);
        cr_expect_eq(it->turns, it->sampled_turns + it->idle_turns, "chunk %zu", i);
    }
}

Test(recording_law, m58_each_chunk_tells_what_became_of_the_signals_of_its_samples)
{
    sample(EVENT_CPU_SAMPLE, 0, 0);
    sample(EVENT_CPU_SAMPLE, 0, 0);
    jw_count_add(JW_COUNT_SIGNALS, 3);
    jw_count(JW_COUNT_LOST_REENTRY);
    jw_count_add(JW_COUNT_SPARED_WAITING, 2);
    turn(0);
    end_chunk();
    sample(EVENT_CPU_SAMPLE, 0, 0);
    turn(0);
    cr_assert(recording_close(recording, &err));

    cr_assert_eq(read_back(), 2);
    expect_law(2);
    cr_expect_eq(told[0].signals, 5);
    cr_expect_eq(told[0].samples, 2);
    cr_expect_eq(told[0].events, 2);
    cr_expect_eq(told[0].lost_reentry, 1);
    cr_expect_eq(told[0].spared_waiting, 2);
    cr_expect_eq(told[1].signals, 1);
    cr_expect_eq(told[1].samples, 1);
    cr_expect_eq(told[1].lost_reentry, 0);
}

Test(recording_law, m58_a_signal_under_way_is_carried_to_the_chunk_that_has_its_sample)
{
    struct epoch_ticket ticket;
    struct generation *entered = generation_enter(generations, MADE_TID, &ticket);

    jw_count(JW_COUNT_SIGNALS);
    turn(1);
    end_chunk();
    sample(EVENT_CPU_SAMPLE, 0, 0);
    turn(1);
    end_chunk();
    /* It commits into a generation that was written two chunks ago, where another one is still inside. */
    struct epoch_ticket other;
    cr_assert_not_null(generation_enter(generations, MADE_TID + 1, &other));
    put_record(entered, EVENT_CPU_SAMPLE, 0, 0);
    generation_leave(generations, &ticket);
    jw_count(JW_COUNT_SAMPLES);
    turn(0);
    end_chunk();
    generation_leave(generations, &other);
    turn(0);
    cr_assert(recording_close(recording, &err));

    cr_assert_eq(read_back(), 4);
    expect_law(4);
    cr_expect_eq(told[0].carried_out, 1);
    cr_expect_eq(told[1].carried_out, 1);
    cr_expect_eq(told[1].samples, 1);
    cr_expect_eq(told[2].carried_out, 0);
    cr_expect_eq(told[2].signals, 1);
    cr_expect_eq(told[2].entered, 0);
    cr_expect_eq(told[3].signals, 0);
}

/* An attribute that is named ends the chunk between the cut and the records that it is about. */
Test(recording_law, m58_a_chunk_that_ends_before_a_take_tells_of_the_cut_before)
{
    sample(EVENT_CPU_SAMPLE, 0, 0);
    turn(0);
    sample(EVENT_CPU_SAMPLE, 0, 0);
    made_attributes = 1;
    turn(0);
    cr_assert(recording_close(recording, &err));

    cr_assert_eq(read_back(), 2);
    expect_law(2);
    cr_expect_eq(told[0].samples, 1);
    cr_expect_eq(told[0].carried_out, 0);
    cr_expect_eq(told[1].samples, 1);
}

Test(recording_law, turns_of_the_wall_clock_are_those_of_samples_and_of_waits)
{
    sample(EVENT_WALL_SAMPLE, 1, 2);
    sample(EVENT_WALL_IDLE, 1, 7);
    sample(EVENT_WALL_IDLE, 0, 3);
    sample(EVENT_CPU_SAMPLE, 0, 0);
    turn(0);
    cr_assert(recording_close(recording, &err));

    cr_assert_eq(read_back(), 1);
    expect_law(1);
    cr_expect_eq(told[0].samples, 2);
    cr_expect_eq(told[0].idle, 2);
    cr_expect_eq(told[0].turns, 12);
    cr_expect_eq(told[0].sampled_turns, 2);
    cr_expect_eq(told[0].events, 4);
}
