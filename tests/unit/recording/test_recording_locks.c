/* Waits for locks in a recording, and what their owners did meanwhile: whose time is whose, over takes, chunks, and out of memory. */
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

enum { MAIN, WORKER };

static char directory[] = "/tmp/jaywalk-locks-XXXXXX";
static char path[64];
static struct jw_error err;
static struct generations *generations;
static struct recording *recording;
static struct recording_config config;
static uint64_t base_ns; /* times of a test count from here */

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&(struct generations_config){0}, &err);
    cr_assert_not_null(generations, "%s", err.message);
    config = made_config(path, RECORDING_JFR);
}

static void tear_down(void)
{
    jw_alloc_fail_after(0);
    generations_close(generations);
    unlink(path);
    cr_expect(eq(int, rmdir(directory), 0), "something was left behind");
}

TestSuite(recording_locks, .init = set_up, .fini = tear_down, .timeout = 300);

static void open_locks(void)
{
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    base_ns = jw_now_ns();
}

static void turn(void)
{
    made_turn(generations, recording);
}

/* ---- what is put in ---- */

static struct event_record *reserve(struct generation *generation, uint32_t thread, unsigned kind)
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
static void own(uint32_t thread, uint64_t address, uint64_t at_us, unsigned kind, bool is_late)
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

static void wait_for(uint32_t thread, uint64_t from_us, uint64_t to_us, uint32_t owner)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, thread, 60);

    record->kind = EVENT_LOCK;
    record->flags = EVENT_LOCK_ENTER;
    record->time_ns = base_ns + from_us * US;
    record->weight_ns = (to_us - from_us) * US;
    record->value = LOCK;
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
    int64_t wait_owner_number;
} told;

static int64_t number(const struct jfr_value *event, const char *name)
{
    struct jfr_value field;
    int64_t value;

    return jfr_value_field(event, name, &field) && jfr_value_integer(&field, &value) ? value : -1;
}

static void text_of(const struct jfr_value *event, const char *field_name, const char *name,
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

static void top_of(const struct jfr_value *event, char out[32])
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
static void note_frames(const struct jfr_value *event)
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

static void note(const struct jfr_reader_event *event)
{
    if (strcmp(event->type_name, "jdk.JavaMonitorEnter") == 0) {
        told.waits++;
        told.waited_ns += number(&event->value, "duration");
        text_of(&event->value, "previousOwner", "javaName", told.wait_owner);
        struct jfr_value owner;
        if (jfr_value_field(&event->value, "previousOwner", &owner))
            told.wait_owner_number = number(&owner, "javaThreadId");
    } else if (strcmp(event->type_name, "jdk.ThreadPark") == 0) {
        told.park_timeouts[told.parks] = number(&event->value, "timeout");
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
    }
}

static void read_back(void)
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

static void expect_piece(size_t at, int64_t us, const char *top)
{
    cr_assert(lt(sz, at, told.count));
    cr_expect(eq(i64, told.pieces[at].duration_ns, us * (int64_t)US));
    cr_expect_str_eq(told.pieces[at].top, top);
    cr_expect_str_eq(told.pieces[at].owner, "worker");
    cr_expect_str_eq(told.pieces[at].waiter, "main");
    cr_expect_str_eq(told.pieces[at].class_name, "app/Lock");
}

/* ---- whose time ---- */

Test(recording_locks, the_time_of_a_wait_is_shared_out_among_the_samples_in_it)
{
    open_locks();
    wait_for(MAIN, 1000, 1100, WORKER); /* a ring has its records in any order */
    own(WORKER, LOCK, 1060, 60, false);
    own(WORKER, LOCK, 1020, 0, false);
    own(WORKER, OTHER_LOCK, 1030, 0, false);
    own(WORKER, LOCK, 1101, 0, false);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 2));
    expect_piece(0, 60, "spin"); /* up to the next sample, and what was before the first one */
    expect_piece(1, 40, "memcpy");
    cr_assert(eq(u64, told.pieces[1].start_ticks - told.pieces[0].start_ticks, 60 * US));
    cr_assert_str_eq(told.wait_owner, "worker");
}

Test(recording_locks, several_who_wait_at_once_have_each_their_own_time)
{
    open_locks();
    own(WORKER, LOCK, 1050, 0, false);
    for (uint64_t i = 0; i < 5; i++)
        wait_for(MAIN, 1000 + i, 1100 + i, WORKER);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.waits, 5));
    cr_assert(eq(sz, told.count, 5));
    cr_assert(eq(i64, told.sum_ns, 500 * (int64_t)US));
    cr_assert(eq(i64, told.waited_ns, told.sum_ns));
}

/* An owner is asked once in a millisecond: what it did just before stands for it. */
Test(recording_locks, a_sample_from_just_before_stands_for_the_owner_at_the_begin)
{
    open_locks();
    own(WORKER, LOCK, 1000, 0, false);
    wait_for(MAIN, 2000, 2100, WORKER);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 1));
    expect_piece(0, 100, "spin");
}

Test(recording_locks, one_from_earlier_or_of_another_thread_does_not)
{
    open_locks();
    own(WORKER, LOCK, 1000, 0, false);
    wait_for(MAIN, 2001, 2100, WORKER);
    own(MAIN, LOCK, 5000, 0, false);
    wait_for(MAIN, 5500, 5600, WORKER);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.waits, 2));
    cr_assert(eq(sz, told.count, 0));
    cr_assert_str_eq(told.wait_owner, "worker", "who had it at the begin");
}

Test(recording_locks, who_proved_that_he_had_it_is_the_owner)
{
    open_locks();
    wait_for(MAIN, 1000, 1100, MAIN); /* so it seemed at the begin */
    own(WORKER, LOCK, 1001, 0, false);
    turn();
    turn();
    read_back();
    cr_assert_str_eq(told.wait_owner, "worker");
}

/* A virtual thread on no carrier. Its number is not that of the thread with this index. */
Test(recording_locks, an_owner_on_no_carrier_is_told_by_its_number)
{
    struct epoch_ticket ticket;

    open_locks();
    own(MAIN, LOCK, 1000, 0, false); /* near, but somebody else's */
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, MAIN, 60);
    record->kind = EVENT_LOCK;
    record->flags = EVENT_LOCK_ENTER | EVENT_LOCK_VIRTUAL;
    record->time_ns = base_ns + 1500 * US;
    record->weight_ns = 100 * US;
    record->value = LOCK;
    record->state = MAIN + 1;
    record->name = MAIN + 1;
    event_commit(record);
    generation_leave(generations, &ticket);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.waits, 1));
    cr_assert(eq(sz, told.count, 0));
    cr_assert_str_eq(told.wait_owner, "");
    cr_assert(eq(i64, told.wait_owner_number, ((int64_t)(MAIN + 1) << 32) + MAIN + 1));
}

/* ---- parks ---- */

static void park(uint64_t at_us, uint32_t code)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, MAIN, 60);

    record->kind = EVENT_LOCK;
    record->flags = EVENT_LOCK_PARK | EVENT_LOCK_HASH;
    record->time_ns = base_ns + at_us * US;
    record->weight_ns = 100 * US;
    record->value = (uint64_t)code << 32 | (uint32_t)LOCK;
    event_commit(record);
    generation_leave(generations, &ticket);
}

Test(recording_locks, a_park_has_its_timeout_or_its_end_and_the_hash_of_its_object)
{
    const int64_t now_ms = (int64_t)(jw_wall_ns() / JW_NS_PER_MS), until_ms = now_ms + 3600000;

    open_locks();
    park(1000, jw_park_code(false, 5000000, now_ms));
    park(2000, jw_park_code(true, until_ms, now_ms));
    park(3000, 0);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.parks, 3));
    cr_assert(eq(i64, told.park_timeouts[0], 5000000));
    cr_assert(eq(i64, told.park_untils[0], INT64_MIN));
    cr_assert(eq(i64, told.park_timeouts[1], INT64_MIN));
    cr_assert(eq(i64, told.park_untils[1], until_ms));
    cr_assert(eq(i64, told.park_timeouts[2], INT64_MIN));
    cr_assert(eq(i64, told.park_untils[2], INT64_MIN));
}

/* ---- while generations and chunks change ---- */

Test(recording_locks, samples_of_earlier_takes_and_chunks_are_of_a_wait_that_ends_later)
{
    open_locks();
    own(WORKER, LOCK, 1020, 0, false);
    turn();
    own(WORKER, LOCK, 1060, 60, false);
    turn();
    cr_assert(recording_roll(recording, &err), "%s", err.message);
    turn();
    turn(); /* nothing of those generations is left */
    wait_for(MAIN, 1000, 1100, WORKER);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 2));
    expect_piece(0, 60, "spin");
    expect_piece(1, 40, "memcpy");
}

Test(recording_locks, a_handler_that_ends_behind_a_turn_is_heard_by_the_waits_after_it)
{
    open_locks();
    own(WORKER, LOCK, 1020, 0, true);
    turn();
    wait_for(MAIN, 1000, 1100, WORKER);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 1));
    expect_piece(0, 100, "spin");
}

Test(recording_locks, more_than_are_kept_push_out_the_older_half_and_are_counted)
{
    const uint64_t dropped_before = jw_counter(JW_COUNT_LOCK_OWNERS_DROPPED);

    open_locks();
    /* Newest first, so that it is their time that says which are old; each take has a part of them. */
    for (uint64_t i = 0; i < OWNERS_MAX + 1; i++) {
        own(WORKER, LOCK, 1000 + OWNERS_MAX - i, i == OWNERS_MAX ? 60 : 0, false);
        if (i % 1000 == 999)
            turn();
    }
    turn();
    wait_for(MAIN, 900, 10000, WORKER);
    turn();
    turn();
    read_back();
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OWNERS_DROPPED) - dropped_before, OWNERS_MAX / 2));
    cr_assert(eq(sz, told.count, OWNERS_MAX / 2 + 1));
    cr_assert(eq(i64, told.sum_ns, 9100 * (int64_t)US));
    cr_expect_str_eq(told.pieces[0].top, "memcpy",
                     "the last that came is the oldest, and found room");
    cr_expect(eq(i64, told.pieces[0].duration_ns, (100 + OWNERS_MAX / 2 + 1) * (int64_t)US));
    cr_expect(eq(i64, told.pieces[1].duration_ns, (int64_t)US));
}

/* ---- without memory ---- */

Test(recording_locks, whatever_allocation_fails_no_time_is_told_twice)
{
    for (unsigned fail_at = 1; fail_at < 120; fail_at++) {
        memset(&told, 0, sizeof told);
        open_locks();
        own(WORKER, LOCK, 1020, 0, false);
        own(WORKER, LOCK, 1060, 60, false);
        own(WORKER, LOCK, 1010, 0, false);
        own(WORKER, LOCK, 3000, 0, false);
        wait_for(MAIN, 1000, 1100, WORKER);
        wait_for(MAIN, 2900, 3050, WORKER);
        jw_alloc_fail_after(fail_at);
        turn();
        turn();
        jw_alloc_fail_after(0);
        if (!recording_close(recording, &err)) /* it says so */
            continue;
        struct jfr_reader *reader = jfr_reader_open(path, &err);
        struct jfr_reader_chunk chunk;
        struct jfr_reader_event event;

        cr_assert_not_null(reader, "%s", err.message);
        while (jfr_reader_next_chunk(reader, &chunk, &err))
            while (jfr_reader_next_event(reader, &event, &err))
                note(&event);
        jfr_reader_close(reader);
        for (size_t i = 0; i < told.count; i++)
            cr_assert(told.pieces[i].duration_ns >= 0 &&
                          told.pieces[i].duration_ns <= 150 * (int64_t)US,
                      "allocation %u: %lld ns", fail_at, (long long)told.pieces[i].duration_ns);
        cr_assert(told.sum_ns <= told.waited_ns, "allocation %u", fail_at);
    }
}

/* ---- deadlocks ---- */

static uint32_t deadlocks_to_tell;
static struct recording_deadlocked what_is_told; /* beside what all have */

static bool tell_deadlocked(void *context, struct recording_deadlocked *out)
{
    (void)context;
    if (deadlocks_to_tell == 0)
        return false;
    *out = what_is_told;
    out->number = 1;
    out->begin_ns = base_ns;
    out->found_ns = base_ns + 5000 * US;
    out->address = LOCK;
    out->thread = MAIN;
    out->serial = MAIN + 1;
    out->owner = WORKER;
    out->owner_serial = WORKER + 1;
    deadlocks_to_tell--;
    return true;
}

/* It has waited until it was found: not from then on. */
Test(recording_locks, a_deadlocked_thread_has_the_newest_stack_that_is_known_of_it)
{
    config.sources.deadlocked = tell_deadlocked;
    open_locks();
    own(MAIN, OTHER_LOCK, 1000, 0, false);
    own(MAIN, OTHER_LOCK, 3000, 60, false);
    own(MAIN, OTHER_LOCK, 2000, 0, false);
    own(WORKER, LOCK, 4000, 0, false);
    deadlocks_to_tell = 1;
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.deadlocked, 1));
    cr_assert(eq(i64, told.dead_ns, 5000 * (int64_t)US));
    cr_assert_str_eq(told.dead_owner, "worker");
    cr_assert_str_eq(told.dead_top, "memcpy");
}

#define TEXT(literal) ((struct recording_text){literal, sizeof literal - 1})

static const struct recording_told_frame told_frames[] = {
    {.class_name = TEXT("app/Shop"),
     .name = TEXT("take"),
     .descriptor = TEXT("(I)V"),
     .line = 50,
     .bci = 9},
    {.class_name = TEXT("app/Shop"),
     .name = TEXT("wait0"),
     .descriptor = TEXT("()V"),
     .line = -1,
     .bci = -1,
     .is_native = true},
};

/* Nobody could ask it for a sample: what the JVM says of it stands there. */
Test(recording_locks, a_virtual_thread_in_a_deadlock_has_what_was_told_of_it)
{
    config.sources.deadlocked = tell_deadlocked;
    what_is_told = (struct recording_deadlocked){
        .virtual_number = 77,
        .owner_virtual_number = 78,
        .virtual_name = TEXT("left-first"),
        .owner_virtual_name = TEXT("right-first"),
        .class_name = TEXT("app/Latch"),
        .frames = told_frames,
        .frame_count = JW_COUNT_OF(told_frames),
        .is_truncated = true,
    };
    open_locks();
    own(WORKER, LOCK, 4000, 0, false); /* of another class */
    deadlocks_to_tell = 2;             /* the same again, in another chunk */
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.deadlocked, 2));
    cr_assert_str_eq(told.dead_thread, "left-first");
    cr_assert_str_eq(told.dead_owner, "right-first");
    cr_assert_str_eq(told.dead_class, "app/Latch");
    cr_assert_str_eq(told.dead_top, "take");
    cr_assert(eq(sz, told.dead_frames, JW_COUNT_OF(told_frames)));
    cr_assert(eq(i64, told.dead_lines[0], 50));
    cr_assert_str_eq(told.dead_types[0], "Java", "the JVM does not say whether it was compiled");
    cr_assert(eq(i64, told.dead_lines[1], 0));
    cr_assert_str_eq(told.dead_types[1], "Native");
    cr_assert(told.dead_truncated);
}

Test(recording_locks, of_a_virtual_thread_of_which_nothing_is_told_there_is_its_number)
{
    config.sources.deadlocked = tell_deadlocked;
    what_is_told = (struct recording_deadlocked){.virtual_number = 77, .owner_virtual_number = 78};
    open_locks();
    own(MAIN, OTHER_LOCK, 3000, 60, false); /* of its carrier, which is not its own */
    deadlocks_to_tell = 1;
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.deadlocked, 1));
    cr_assert_str_eq(told.dead_thread, "");
    cr_assert_str_eq(told.dead_top, "");
    cr_assert_str_eq(told.dead_class, "");
}
