/* Deadlocks in a recording: names, classes and stacks of their threads; and what the JVM told of owners. */
#include "unit/recording/lock_records.h"

TestSuite(recording_deadlocks, .init = set_up, .fini = tear_down, .timeout = 1800);

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
Test(recording_deadlocks, a_deadlocked_thread_has_the_newest_stack_that_is_known_of_it)
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
Test(recording_deadlocks, a_virtual_thread_in_a_deadlock_has_what_was_told_of_it)
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

static struct recording_told_owner told_owner(uint64_t address, uint64_t at_us)
{
    return (struct recording_told_owner){
        .time_ns = base_ns + at_us * US,
        .address = address,
        .virtual_number = 77,
        .virtual_name = TEXT("sleeper"),
        .class_name = TEXT("app/Latch"),
        .frames = told_frames,
        .frame_count = JW_COUNT_OF(told_frames),
    };
}

/* Nor could who has a lock and is on no carrier. */
Test(recording_deadlocks, what_was_told_of_an_owner_has_its_share_of_the_wait)
{
    open_locks();
    own(WORKER, LOCK, 1020, 0, false);
    struct recording_told_owner owner = told_owner(LOCK, 1060);
    recording_lock_owner(recording, &owner);
    owner = told_owner(OTHER_LOCK, 1070);
    recording_lock_owner(recording, &owner);
    turn(); /* it is kept until the wait is over */
    turn();
    wait_for(MAIN, 1000, 1100, NOBODY);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 2));
    cr_expect(eq(i64, told.pieces[1].duration_ns, 40 * (int64_t)US));
    cr_expect_str_eq(told.pieces[1].owner, "sleeper");
    cr_expect_str_eq(told.pieces[1].top, "take");
    cr_expect_str_eq(told.pieces[1].waiter, "main");
    cr_expect_str_eq(told.wait_owner, "worker", "who proved it first");
}

/* A handler that interrupts native code, or the JVM, tells its number alone: what it is called may be told later, before the wait is over. */
Test(recording_deadlocks, an_owner_that_was_on_a_carrier_first_has_the_name_that_was_told_later)
{
    struct epoch_ticket ticket;

    open_locks();
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    const struct context_record mounted = {.virtual_thread = 77};
    struct event_record *record = reserve(generation, WORKER, 0);
    record->kind = EVENT_LOCK_OWNER;
    record->time_ns = base_ns + 1020 * US;
    record->value = LOCK;
    record->context = context_record_intern(generation->contexts, &mounted);
    event_commit(record);
    generation_leave(generations, &ticket);
    turn();
    const struct recording_told_owner owner = told_owner(LOCK, 1060);
    recording_lock_owner(recording, &owner);
    wait_for(MAIN, 1000, 1100, NOBODY);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 2));
    cr_expect_str_eq(told.pieces[0].owner, "sleeper");
    cr_expect_str_eq(told.pieces[1].owner, "sleeper");
    cr_expect_str_eq(told.wait_owner, "sleeper");
}

Test(recording_deadlocks, an_owner_for_which_there_is_no_room_is_counted)
{
    const uint64_t before = jw_counter(JW_COUNT_LOCK_OWNERS_DROPPED);

    open_locks();
    const struct recording_told_owner owner = told_owner(LOCK, 1060);
    jw_alloc_fail_after(1);
    recording_lock_owner(recording, &owner);
    jw_alloc_fail_after(0);
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOCK_OWNERS_DROPPED) - before, 1));
    wait_for(MAIN, 1000, 1100, NOBODY);
    turn();
    turn();
    read_back();
    cr_assert(eq(sz, told.count, 0));
}

Test(recording_deadlocks, of_a_virtual_thread_of_which_nothing_is_told_there_is_its_number)
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
