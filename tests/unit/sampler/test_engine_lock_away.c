/* Owners that are virtual threads on no carrier: which of them are given out, how often, and what counts. */
#include "unit/sampler/lock_puppets.h"

TestSuite(engine_lock_away, .init = open_locks, .fini = close_locks, .timeout = 1800);

static struct sampler_away given[8];
static bool is_soon;

static uint32_t take(uint32_t room)
{
    sampler_lock_look();
    return sampler_lock_away(given, room, &is_soon);
}

/* What was told is enough for a second. */
static void expect_nothing_new(void)
{
    const uint64_t told_ns = given[0].time_ns;

    cr_assert(take(8) == 0 || jw_now_ns() - told_ns >= JW_NS_PER_SECOND);
}

/* Puppet `who` waits for what a virtual thread has that nobody carries, and has for a while. */
static void want_away(uint32_t who, uint32_t whose)
{
    give_monitor(whose, FIRST_VIRT + whose);
    want(who, whose);
    age(under_way(who));
}

Test(engine_lock_away, an_owner_on_no_carrier_is_given_out_once_and_holds_while_it_has_the_lock)
{
    begin_run(1);
    want_away(0, 1);
    cr_assert(eq(u32, take(8), 1));
    cr_assert(is_soon);
    cr_assert(eq(u64, given[0].owner, FIRST_VIRT + 1));
    cr_assert(eq(u64, given[0].address, monitor_of(1)));
    cr_assert(not(given[0].is_park));
    cr_assert(sampler_lock_is_away(&given[0]));
    expect_nothing_new();
    (void)end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(eq(u32, take(8), 0));
    cr_assert(not(is_soon));
    end_run();
}

Test(engine_lock_away, who_has_let_go_meanwhile_is_not_told)
{
    begin_run(1);
    want_away(0, 1);
    cr_assert(eq(u32, take(8), 1));
    give_monitor(1, FIRST_VIRT + 2);
    cr_assert(not(sampler_lock_is_away(&given[0])));
    cr_assert(eq(u32, take(8), 1), "the next one is another");
    cr_assert(eq(u64, given[0].owner, FIRST_VIRT + 2));
    (void)end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(not(sampler_lock_is_away(&given[0])), "nobody waits any more");
    end_run();
}

Test(engine_lock_away, all_who_wait_for_one_lock_have_what_was_told_since_they_began)
{
    begin_run(1);
    want_away(0, 1);
    want_away(2, 1);
    cr_assert(eq(u32, take(8), 1), "one for both");
    cr_assert(sampler_lock_is_away(&given[0]));
    expect_nothing_new();
    want(3, 1);
    while (jw_now_ns() < jw_load_relaxed(&under_way(3)->begin_ns) + SAMPLER_AWAY_AFTER_NS)
        sched_yield();
    cr_assert(eq(u32, take(8), 1), "nothing was told of the owner since this one waits");
    for (uint32_t who = 0; who < 4; who++)
        if (who != 1)
            (void)end_wait(who, EVENT_LOCK_ENTER);
    end_run();
}

Test(engine_lock_away, no_more_are_given_out_than_there_is_room_and_the_others_come_next)
{
    uint64_t first;

    begin_run(1);
    want_away(0, 1);
    want_away(2, 3);
    const uint64_t before_ns = jw_now_ns();
    cr_assert(eq(u32, take(1), 1));
    first = given[0].owner;
    cr_assert(is_soon);
    cr_assert(eq(u32, take(1), 1));
    /* Behind a second the first one may be given out again. */
    cr_assert(given[0].owner != first || jw_now_ns() - before_ns >= JW_NS_PER_SECOND);
    (void)end_wait(0, EVENT_LOCK_ENTER);
    (void)end_wait(2, EVENT_LOCK_ENTER);
    end_run();
}

Test(engine_lock_away, threads_and_who_is_on_a_carrier_are_not)
{
    begin_run(1);
    want(0, 1); /* of a platform thread */
    age(under_way(0));
    cr_assert(eq(u32, take(8), 0));
    cr_assert(not(is_soon));
    carry(&puppets[3], FIRST_VIRT + 1);
    give_monitor(1, FIRST_VIRT + 1);
    cr_assert(eq(u32, take(8), 0), "it is asked by a signal");
    while (counted(JW_COUNT_LOCK_OWNERS) == 0)
        sched_yield();
    (void)end_wait(0, EVENT_LOCK_ENTER);
    end_run();
}

static void park(uint32_t who, uint64_t owner)
{
    struct sampler_lock wait = {.kind = EVENT_LOCK_PARK,
                                .monitor = 0x1000, /* nothing can be read there */
                                .address = 77,
                                .owner_number = owner,
                                .is_owner_virtual = true};

    have_done(&puppets[who], do_begin, &wait);
    age(engine_lock_of(puppets[who].number, EVENT_LOCK_PARK));
}

Test(engine_lock_away, whose_a_latch_is_the_latch_itself_may_say)
{
    begin_run(1);
    park(0, FIRST_VIRT);
    cr_assert(eq(u32, take(8), 1));
    cr_assert(given[0].is_park);
    cr_assert(eq(u64, given[0].owner, FIRST_VIRT), "as it was at the begin");
    cr_assert(sampler_lock_away_of(&given[0], FIRST_VIRT));
    carry(&puppets[2], FIRST_VIRT + 1);
    cr_assert(not(sampler_lock_away_of(&given[0], FIRST_VIRT + 1)), "it is on a carrier");
    cr_assert(not(sampler_lock_away_of(&given[0], 0)));
    cr_assert(sampler_lock_away_of(&given[0], FIRST_VIRT + 2));
    cr_assert(eq(u64, given[0].owner, FIRST_VIRT + 2));
    cr_assert(sampler_lock_is_away(&given[0]));
    (void)end_wait(0, EVENT_LOCK_PARK);
    cr_assert(not(sampler_lock_is_away(&given[0])));
    end_run();
}
