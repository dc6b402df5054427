/*
 * lock_records - waits for locks and samples of their owners, put into a recording, and what the file then says.
 *
 * For      test_recording_locks, test_recording_deadlocks.   Context  tool.
 */
#ifndef JW_TESTS_UNIT_RECORDING_LOCK_RECORDS_H
#define JW_TESTS_UNIT_RECORDING_LOCK_RECORDS_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/park_time.h"
#include "golden/made.h"
#include "jfr/jfr_reader.h"
#include "support/jfr_check.h"

#define OWNERS_MAX 4096u /* recording_lock_owners.c: samples of owners that are kept */
#define US         (JW_NS_PER_MS / 1000)
#define LOCK       0x7f31c8001000u
#define OTHER_LOCK 0x7f31c8002000u

enum { MAIN, WORKER, NOBODY = UINT16_MAX };

static char directory[] = "/tmp/jaywalk-locks-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct recording *recording;
static struct recording_config config;
static uint64_t base_ns;    /* times of a test count from here */
static uint16_t wait_share; /* of its waits */

static inline void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    config = made_config(path, RECORDING_JFR);
}

static inline void tear_down(void)
{
    jw_alloc_fail_after(0);
    generations_close(generations);
    unlink(path);
    cr_expect(eq(int, rmdir(directory), 0), "something was left behind");
}

static inline void open_locks(void)
{
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    base_ns = jw_now_ns();
}

static inline void turn(void)
{
    made_turn(generations, recording);
}

/* ---- what is put in ---- */

static inline struct event_record *reserve(struct generation *generation, uint32_t thread,
                                           unsigned kind)
{
    jw_frame frames[80];
    uint32_t flags;
    const uint32_t count = made_fill(generation, kind, frames, &flags);
    struct event_record *record = event_reserve(generation->events);

    cr_assert_not_null(record);
    record->thread_index = thread;
    record->thread_serial = thread + 1;
    record->trace = store_put(generation->traces, frames, count, flags);
    record->class_name = dict_intern(generation->classes, "app/Lock", 8);
    return record;
}

/* A stack of the thread, which has the lock; `is_late`: its handler comes to its end behind the next turn. */
static inline void own(uint32_t thread, uint64_t address, uint64_t at_us, unsigned kind,
                       bool is_late)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, thread, kind);

    record->kind = EVENT_LOCK_OWNER;
    record->time_ns = base_ns + at_us * US;
    record->value = address;
    if (is_late)
        turn();
    event_commit(record);
    generation_leave(generations, &ticket);
}

static inline void wait_for(uint32_t thread, uint64_t from_us, uint64_t to_us, uint32_t owner)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, thread, 60);

    record->kind = EVENT_LOCK;
    record->flags = EVENT_LOCK_ENTER;
    record->time_ns = base_ns + from_us * US;
    record->weight_ns = (to_us - from_us) * US;
    record->value = LOCK;
    record->share = wait_share;
    record->object = 77;
    record->state = (uint16_t)(owner + 1);
    record->name = owner + 1; /* the serial of the thread with this index */
    event_commit(record);
    generation_leave(generations, &ticket);
}

/* ---- what the file says ---- */

struct piece {
    uint64_t start_ticks;
    int64_t duration_ns;
    char owner[32], waiter[32], class_name[32], top[32];
};

static struct {
    struct piece pieces[OWNERS_MAX + 16];
    size_t count, waits, deadlocked, parks;
    int64_t park_timeouts[4], park_untils[4];
    int64_t sum_ns, waited_ns, dead_ns;
    char dead_thread[32], dead_class[32];
    int64_t dead_lines[80];
    char dead_types[80][16];
    size_t dead_frames;
    bool dead_truncated;
    char wait_owner[32], dead_owner[32], dead_top[32];
    int64_t wait_owner_number, held_ns;
    int64_t park_frees[4];
} told;

static inline int64_t number(const struct jfr_value *event, const char *name)
{
    struct jfr_value field;
    int64_t value;

    return jfr_value_field(event, name, &field) && jfr_value_integer(&field, &value) ? value : -1;
}

static inline void text_of(const struct jfr_value *event, const char *field_name, const char *name,
                           char out[32])
{
    struct jfr_value field, inner;
    struct jfr_text text = {0};

    out[0] = '\0';
    if (jfr_value_field(event, field_name, &field) && jfr_value_field(&field, name, &inner) &&
        jfr_value_text(&inner, &text))
        snprintf(out, 32, "%s", text.text);
    jfr_text_free(&text);
}

static inline void top_of(const struct jfr_value *event, char out[32])
{
    struct jfr_value trace;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_method method = {0};

    out[0] = '\0';
    if (jfr_value_field(event, "stackTrace", &trace) && jfr_stack_begin(&trace, &stack) &&
        jfr_stack_next(&stack, &frame) && jfr_method_read(&frame.method, &method))
        snprintf(out, 32, "%s", method.name.text);
    jfr_method_free(&method);
}

/* All frames of a deadlocked thread. */
static inline void note_frames(const struct jfr_value *event)
{
    struct jfr_value trace;
    struct jfr_stack stack;
    struct jfr_stack_frame frame;
    struct jfr_text type = {0};

    told.dead_frames = 0;
    if (!jfr_value_field(event, "stackTrace", &trace) || !jfr_stack_begin(&trace, &stack))
        return;
    told.dead_truncated = number(&trace, "truncated") == 1;
    while (jfr_stack_next(&stack, &frame)) {
        const size_t i = told.dead_frames++;

        cr_assert(lt(sz, i, JW_COUNT_OF(told.dead_types)));
        told.dead_lines[i] = frame.line;
        if (frame.type.reader != NULL && jfr_value_text(&frame.type, &type))
            snprintf(told.dead_types[i], sizeof told.dead_types[i], "%s", type.text);
    }
    jfr_text_free(&type);
}

static inline void note(const struct jfr_reader_event *event)
{
    if (strcmp(event->type_name, "jdk.JavaMonitorEnter") == 0) {
        told.waits++;
        cr_assert(eq(i64, number(&event->value, "instance"), 77));
        told.waited_ns += number(&event->value, "duration");
        told.held_ns = number(&event->value, "heldAtLeast");
        text_of(&event->value, "previousOwner", "javaName", told.wait_owner);
        struct jfr_value owner;
        if (jfr_value_field(&event->value, "previousOwner", &owner))
            told.wait_owner_number = number(&owner, "javaThreadId");
    } else if (strcmp(event->type_name, "jdk.ThreadPark") == 0) {
        told.park_timeouts[told.parks] = number(&event->value, "timeout");
        cr_assert(eq(i64, number(&event->value, "instance"), 78));
        told.park_frees[told.parks] = number(&event->value, "unowned");
        told.park_untils[told.parks++] = number(&event->value, "until");
        cr_assert(eq(i64, number(&event->value, "address"), (uint32_t)LOCK));
    } else if (strcmp(event->type_name, "jaywalk.Deadlock") == 0) {
        told.deadlocked++;
        told.dead_ns = number(&event->value, "duration");
        text_of(&event->value, "owner", "javaName", told.dead_owner);
        text_of(&event->value, "eventThread", "javaName", told.dead_thread);
        text_of(&event->value, "lockClass", "name", told.dead_class);
        top_of(&event->value, told.dead_top);
        note_frames(&event->value);
    } else if (strcmp(event->type_name, "jaywalk.LockOwner") == 0) {
        struct piece *piece = &told.pieces[told.count++];

        cr_assert(le(sz, told.count, JW_COUNT_OF(told.pieces)));
        piece->start_ticks = (uint64_t)event->start_ticks;
        piece->duration_ns = number(&event->value, "duration");
        told.sum_ns += piece->duration_ns;
        text_of(&event->value, "eventThread", "javaName", piece->owner);
        text_of(&event->value, "waiter", "javaName", piece->waiter);
        text_of(&event->value, "lockClass", "name", piece->class_name);
        top_of(&event->value, piece->top);
        cr_assert(eq(i64, number(&event->value, "address"), LOCK));
        cr_assert(eq(i64, number(&event->value, "instance"), 77));
    }
}

static inline void read_back(void)
{
    static struct jfr_check check;
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;

    cr_assert(recording_close(recording, &err), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err))
        while (jfr_reader_next_event(reader, &event, &err))
            note(&event);
    cr_assert_str_eq(err.message, "");
    jfr_reader_close(reader);
}

#endif
