/* Waits for locks in a recording, and what their owners did meanwhile: whose time is whose, over takes, chunks, and out of memory. */
#include "unit/recording/lock_records.h"

TestSuite(recording_locks, .init = set_up, .fini = tear_down, .timeout = 1800);

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

static void note_owner(uint32_t thread, uint32_t serial, void *argument)
{
    cr_assert(eq(u32, thread, WORKER));
    cr_assert(eq(u32, serial, WORKER + 1));
    (*(uint32_t *)argument)++;
}

Test(recording_locks, owners_that_are_still_to_be_told_are_known)
{
    uint32_t count = 0;

    open_locks();
    recording_lock_owners(recording, 0, note_owner, &count);
    cr_assert(eq(u32, count, 0));
    own(WORKER, LOCK, 1000, 0, false);
    own(WORKER, OTHER_LOCK, 3000, 0, false);
    turn();
    turn();
    recording_lock_owners(recording, base_ns, note_owner, &count);
    cr_assert(eq(u32, count, 2));
    recording_lock_owners(recording, base_ns + 2000 * US, note_owner, &count);
    cr_assert(eq(u32, count, 3));
    read_back();
}

Test(recording_locks, who_had_it_at_the_begin_is_the_owner_whoever_has_it_later)
{
    open_locks();
    wait_for(MAIN, 1000, 1100, MAIN);
    own(WORKER, LOCK, 1001, 0, false);
    turn();
    turn();
    read_back();
    cr_assert_str_eq(told.wait_owner, "main");
    cr_assert(eq(i64, told.held_ns, 0), "he was not seen to have it again");
}

Test(recording_locks, who_proved_that_he_had_it_is_the_owner_where_nobody_was_known)
{
    open_locks();
    wait_for(MAIN, 1000, 1100, NOBODY);
    own(WORKER, LOCK, 1001, 0, false);
    turn();
    turn();
    read_back();
    cr_assert_str_eq(told.wait_owner, "worker");
    cr_assert(eq(i64, told.held_ns, INT64_MIN), "nobody knows what was at the begin");
}

Test(recording_locks, an_owner_had_it_until_he_was_last_seen_to)
{
    open_locks();
    wait_for(MAIN, 1000, 1100, WORKER);
    own(WORKER, LOCK, 1020, 0, false);
    own(WORKER, LOCK, 1060, 0, false);
    own(MAIN, LOCK, 1070, 0, false); /* somebody else by then */
    own(WORKER, LOCK, 1080, 0, false);
    turn();
    turn();
    read_back();
    cr_assert(eq(i64, told.held_ns, 60 * (int64_t)US));
}

Test(recording_locks, the_agents_looks_count_as_well)
{
    open_locks();
    wait_share = EVENT_LOCK_SHARES / 5 * 4;
    wait_for(MAIN, 1000, 1100, WORKER);
    own(WORKER, LOCK, 1020, 0, false);
    turn();
    turn();
    read_back();
    cr_assert(eq(i64, told.held_ns, 80 * (int64_t)US));
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
    record->object = 77;
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

static void park(uint64_t at_us, uint32_t code, uint16_t flags)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = reserve(generation, MAIN, 60);

    record->kind = EVENT_LOCK;
    record->flags = EVENT_LOCK_PARK | EVENT_LOCK_HASH | flags;
    record->object = 78;
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
    park(1000, jw_park_code(false, 5000000, now_ms), 0);
    park(2000, jw_park_code(true, until_ms, now_ms), EVENT_LOCK_FREE);
    park(3000, 0, 0);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.parks, 3));
    cr_assert(told.park_frees[0] == 0 && told.park_frees[1] == 1 && told.park_frees[2] == 0);
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
