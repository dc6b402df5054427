/* Safepoints that were long waited for, as a recording tells of them: delays and the records of who was last, in whatever order. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "vm/vm_thread.h"

#define VALUE(number, record) ((uint64_t)(number) << 16 | (record))
#define TOLD_MAX              200
#define BCI_OF_SPIN           8 /* made_fill */

static char directory[] = "/tmp/jaywalk-delays-XXXXXX";
static char path[64];
static struct jw_error err;
static struct recording *recording;
static struct generations *generations;
static struct recording_delay queue[TOLD_MAX];
static unsigned queue_count, queue_taken;

static bool tell_delay(void *context, struct recording_delay *out)
{
    (void)context;
    if (queue_taken == queue_count)
        return false;
    *out = queue[queue_taken++];
    return true;
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);

    struct recording_config config = made_config(path, RECORDING_JFR);
    config.sources.delay = tell_delay;
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

TestSuite(recording_delays, .init = set_up, .fini = tear_down, .timeout = 1800);

static void put_delay(uint64_t number, unsigned record, bool is_at_poll)
{
    queue[queue_count++] = (struct recording_delay){
        .number = number,
        .begin_ns = jw_now_ns(),
        .reach_ns = 20 * JW_NS_PER_MS + number,
        .inside_ns = 3 * JW_NS_PER_MS,
        .late_record = VALUE(number, record),
        .nobody = is_at_poll ? "poll" : "",
        .operation = "Halt",
        .running = "3 1",
        .is_used_known = !is_at_poll,
        .cpu_ns = 7,
        .waited_ns = 8,
        .minor_faults = 9,
        .major_faults = 10,
    };
}

/* The thread with this index left a stack: of Hot.spin (kind 0) or of Hot.copy (kind 70). */
static void put_record(uint64_t number, unsigned record_number, uint32_t thread, unsigned kind,
                       uint16_t state)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t trace_flags;
    const uint32_t count = made_fill(generation, kind, frames, &trace_flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    record->kind = EVENT_LATE;
    record->state = state;
    record->value = VALUE(number, record_number);
    record->thread_index = thread;
    record->thread_serial = thread + 1;
    record->time_ns = jw_now_ns();
    record->trace = store_put(generation->traces, frames, count, trace_flags);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static void finish(void)
{
    made_turn(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
}

static struct told {
    int64_t number, reach, inside, cpu, wait, minor, major, bci;
    char late_in[16], operation[32], running[32], thread[32], method[32];
} told[TOLD_MAX];

static void read_text(const struct jfr_value *value, const char *name, char *out, size_t room)
{
    struct jfr_text text = {0};
    struct jfr_value field;

    if (jfr_value_field(value, name, &field) && jfr_value_text(&field, &text))
        snprintf(out, room, "%s", text.text);
    jfr_text_free(&text);
}

static void read_event(const struct jfr_reader_event *event, struct told *out)
{
    const struct {
        const char *name;
        int64_t *to;
    } numbers[] = {{"safepointId", &out->number}, {"timeToReach", &out->reach},
                   {"timeInside", &out->inside},  {"cpuTime", &out->cpu},
                   {"waitTime", &out->wait},      {"minorFaults", &out->minor},
                   {"majorFaults", &out->major},  {"bytecodeIndex", &out->bci}};
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_value field, constant;

    *out = (struct told){0};
    for (size_t i = 0; i < JW_COUNT_OF(numbers); i++)
        cr_assert(jfr_value_field(&event->value, numbers[i].name, &field) &&
                      jfr_value_integer(&field, numbers[i].to),
                  "%s", numbers[i].name);
    read_text(&event->value, "lateIn", out->late_in, sizeof out->late_in);
    read_text(&event->value, "operation", out->operation, sizeof out->operation);
    read_text(&event->value, "stillRunning", out->running, sizeof out->running);
    if (jfr_value_field(&event->value, "eventThread", &field) &&
        jfr_value_constant(&field, &constant))
        read_text(&constant, "javaName", out->thread, sizeof out->thread);
    if (!jfr_value_field(&event->value, "stackTrace", &field) ||
        !jfr_value_constant(&field, &constant) || !jfr_stack_begin(&constant, &stack))
        return;
    while (jfr_stack_next(&stack, &frame)) {
        struct jfr_method method = {{0}, {0}, {0}};

        cr_assert(jfr_method_read(&frame.method, &method));
        if (out->method[0] == '\0' && strcmp(method.class_name.text, "app/Hot") == 0)
            snprintf(out->method, sizeof out->method, "%s", method.name.text);
        jfr_method_free(&method);
    }
}

/* How many there are; they are in `told`. */
static unsigned read_all(void)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    unsigned count = 0;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            if (strcmp(event.type_name, "jaywalk.SafepointDelay") == 0)
                read_event(&event, &told[count++]);
    jfr_reader_close(reader);
    return count;
}

Test(recording_delays, a_delay_and_the_record_of_who_was_last_are_one_event)
{
    put_delay(5, 2, false);
    put_record(5, 1, 0, 70, VM_THREAD_DELAYS_IN_VM);
    put_record(5, 2, 1, 0, VM_THREAD_DELAYS_IN_JAVA);
    finish();
    cr_assert_eq(read_all(), 1);
    cr_expect(eq(i64, told[0].number, 5));
    cr_expect(eq(i64, told[0].reach, 20000005));
    cr_expect(eq(i64, told[0].inside, 3000000));
    cr_expect(eq(i64, told[0].cpu, 7));
    cr_expect(eq(i64, told[0].wait, 8));
    cr_expect(eq(i64, told[0].minor, 9));
    cr_expect(eq(i64, told[0].major, 10));
    cr_expect(eq(i64, told[0].bci, BCI_OF_SPIN));
    cr_expect_str_eq(told[0].late_in, "Java");
    cr_expect_str_eq(told[0].operation, "Halt");
    cr_expect_str_eq(told[0].running, "3 1");
    cr_expect_str_eq(told[0].thread, "worker");
    cr_expect_str_eq(told[0].method, "spin");
    cr_expect(eq(u64, jw_counter(JW_COUNT_SAFEPOINTS_NOBODY), 0));
}

Test(recording_delays, a_record_that_was_taken_before_its_delay_ended_is_kept_for_it)
{
    put_record(5, 1, 0, 0, VM_THREAD_DELAYS_IN_JAVA);
    put_record(5, 2, 1, 70, VM_THREAD_DELAYS_IN_VM);
    made_turn(generations, recording);
    put_delay(5, 2, false);
    finish();
    cr_assert_eq(read_all(), 1);
    cr_expect_str_eq(told[0].late_in, "JVM");
    cr_expect_str_eq(told[0].thread, "worker");
    cr_expect_str_eq(told[0].method, "copy");
}

Test(recording_delays, an_older_record_never_takes_the_place_of_a_later_one)
{
    put_record(5, 2, 1, 0, VM_THREAD_DELAYS_IN_JAVA);
    put_record(5, 1, 0, 70, VM_THREAD_DELAYS_IN_VM);
    made_turn(generations, recording);
    put_delay(5, 2, false);
    finish();
    cr_assert_eq(read_all(), 1);
    cr_expect_str_eq(told[0].thread, "worker");
}

Test(recording_delays, a_record_of_another_chunk_or_another_safepoint_names_nobody)
{
    put_record(5, 1, 1, 0, VM_THREAD_DELAYS_IN_JAVA);
    put_record(6, 1, 1, 0, VM_THREAD_DELAYS_IN_JAVA);
    made_turn(generations, recording);
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    put_delay(5, 1, false); /* its keys were those of the chunk before */
    put_delay(7, 1, false);
    finish();
    cr_assert_eq(read_all(), 2);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_str_eq(told[i].late_in, "");
        cr_expect_str_eq(told[i].thread, "");
        cr_expect_str_eq(told[i].method, "");
    }
    cr_expect(eq(u64, jw_counter(JW_COUNT_SAFEPOINTS_NOBODY), 2));
}

Test(recording_delays, a_stack_may_come_one_take_later_and_no_later)
{
    put_delay(5, 1, false);
    put_delay(6, 1, false);
    made_turn(generations, recording);
    put_record(5, 1, 1, 0, VM_THREAD_DELAYS_IN_JAVA);
    made_turn(generations, recording);
    put_record(6, 1, 1, 0, VM_THREAD_DELAYS_IN_JAVA);
    finish();
    cr_assert_eq(read_all(), 2);
    cr_expect(eq(i64, told[0].number, 5));
    cr_expect_str_eq(told[0].thread, "worker");
    cr_expect(eq(i64, told[1].number, 6));
    cr_expect_str_eq(told[1].thread, "");
}

Test(recording_delays, who_was_seen_at_its_poll_alone_is_told_so_and_what_is_not_known_is_not_told)
{
    put_delay(5, 0, true);
    put_delay(6, 0, false);
    finish();
    cr_assert_eq(read_all(), 2);
    cr_expect_str_eq(told[0].late_in, "poll");
    cr_expect(eq(i64, told[0].cpu, INT64_MIN));
    cr_expect(eq(i64, told[0].wait, INT64_MIN));
    cr_expect(eq(i64, told[0].minor, -1));
    cr_expect(eq(i64, told[0].major, -1));
    cr_expect(eq(i64, told[0].bci, -1));
    cr_expect_str_eq(told[1].late_in, "");
    cr_expect(eq(u64, jw_counter(JW_COUNT_SAFEPOINTS_NOBODY), 2));
}

Test(recording_delays, of_more_than_there_is_room_for_the_rest_is_counted)
{
    for (uint64_t i = 1; i <= 150; i++)
        put_delay(i, 1, false); /* a stack may still come */
    finish();
    const unsigned count = read_all();
    cr_expect(eq(u64, count + jw_counter(JW_COUNT_SAFEPOINTS_UNTOLD), 150));
    cr_expect_eq(count, 128);
}

/* A sample of the CPU clock or of the wall clock: of Hot.spin, of worker. */
static void put_sample(uint16_t kind, uint16_t flags)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t trace_flags;
    const uint32_t count = made_fill(generation, 0, frames, &trace_flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    *record = (struct event_record){
        .kind = kind,
        .flags = flags,
        .thread_index = 1,
        .thread_serial = 2,
        .time_ns = jw_now_ns(),
        .weight_ns = MADE_WEIGHT_NS,
        .value = kind == EVENT_WALL_SAMPLE,
        .sample_count = kind == EVENT_WALL_SAMPLE,
        .trace = store_put(generation->traces, frames, count, trace_flags),
    };
    event_commit(record);
    generation_leave(generations, &ticket);
}

static char reasons[128]; /* of the events that count_of has seen */

/* Events of this type; the last one's thread, clock and method are in told[0]. */
static unsigned count_of(const char *type)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_value field, constant;
    struct jfr_stack stack;
    unsigned count = 0;

    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err)) {
            if (strcmp(event.type_name, type) != 0)
                continue;
            count++;
            cr_assert(jfr_value_field(&event.value, "sampledThread", &field) &&
                      jfr_value_constant(&field, &constant));
            read_text(&constant, "javaName", told[0].thread, sizeof told[0].thread);
            read_text(&event.value, "clock", told[0].late_in, sizeof told[0].late_in);
            if (jfr_value_has_field(&event.value, "reason")) {
                char reason[32];

                read_text(&event.value, "reason", reason, sizeof reason);
                strcat(strcat(reasons, reason), ";");
            }
            cr_assert(jfr_value_field(&event.value, "stackTrace", &field) &&
                      jfr_value_constant(&field, &constant) && jfr_stack_begin(&constant, &stack));
        }
    jfr_reader_close(reader);
    return count;
}

Test(recording_delays, a_sample_for_which_a_safepoint_waited_is_told_beside_itself)
{
    put_sample(EVENT_CPU_SAMPLE, EVENT_WAITED_FOR);
    put_sample(EVENT_CPU_SAMPLE, 0);
    finish();
    cr_expect_eq(count_of("jdk.ExecutionSample"), 2);
    cr_expect_eq(count_of("jaywalk.SafepointSample"), 1);
    cr_expect_str_eq(told[0].thread, "worker");
    cr_expect_str_eq(told[0].late_in, "cpu");
}

Test(recording_delays, a_sample_whose_poll_was_armed_otherwise_says_why)
{
    put_sample(EVENT_CPU_SAMPLE, EVENT_ASKED_BY_HANDSHAKE);
    put_sample(EVENT_WALL_SAMPLE, EVENT_ASKED_BY_WATERMARK);
    put_sample(EVENT_CPU_SAMPLE, EVENT_ASKED_BY_HANDSHAKE | EVENT_ASKED_BY_WATERMARK);
    put_sample(EVENT_CPU_SAMPLE, 0);
    finish();
    cr_expect_eq(count_of("jaywalk.SafepointSample"), 0);
    cr_expect_eq(count_of("jaywalk.PollSample"), 3);
    cr_expect_str_eq(reasons, "handshake;stack watermark;safepoint or handshake;");
}

Test(recording_delays, a_sample_of_the_wall_clock_likewise)
{
    put_sample(EVENT_WALL_SAMPLE, 0);
    put_sample(EVENT_WALL_SAMPLE, EVENT_WAITED_FOR);
    finish();
    cr_expect_eq(count_of("jaywalk.SafepointSample"), 1);
    cr_expect_str_eq(told[0].thread, "worker");
    cr_expect_str_eq(told[0].late_in, "wall");
}

Test(recording_delays, what_ended_before_the_recording_began_is_none_of_it)
{
    put_delay(5, 0, false);
    queue[0].begin_ns = 1;
    finish();
    cr_expect_eq(read_all(), 0);
}
