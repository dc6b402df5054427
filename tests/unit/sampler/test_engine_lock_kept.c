/*
 * References that waits keep until they are over: each is given back once, whatever became of its wait. And owners that are known by
 * number: of locks of java.util.concurrent, and of monitors on no carrier.
 */
#include "unit/sampler/lock_puppets.h"

TestSuite(engine_lock_kept, .init = open_locks, .fini = close_locks, .timeout = 300);

struct kept {
    struct sampler_lock wait;
    vm_addr given_back;
};

static void do_keep(struct puppet *puppet, void *argument)
{
    struct kept *kept = argument;

    (void)puppet;
    kept->given_back = sampler_lock_begin(&kept->wait);
}

/* What its begin gives back. */
static vm_addr keep(uint32_t who, vm_addr reference, uint64_t owner_number)
{
    struct kept kept = {.wait = {.kind = EVENT_LOCK_PARK,
                                 .monitor = reference,
                                 .is_kept = true,
                                 .owner_number = owner_number}};

    have_done(&puppets[who], do_keep, &kept);
    return kept.given_back;
}

static struct {
    uint32_t count;
    vm_addr sum;
} let_go;

static void note_let_go(vm_addr reference, void *argument)
{
    cr_assert(eq(ptr, argument, &let_go));
    let_go.count++;
    let_go.sum += reference;
}

Test(engine_lock_kept, the_end_gives_it_back_told_or_not)
{
    static const uint64_t thresholds_ns[] = {1, UINT64_MAX};

    for (size_t i = 0; i < JW_COUNT_OF(thresholds_ns); i++) {
        begin_run(thresholds_ns[i]);
        cr_assert(eq(u64, keep(0, 0x1000, 0), 0));
        const struct ended ended = end_wait(0, EVENT_LOCK_PARK);
        cr_assert(eq(int, ended.is_told, i == 0));
        cr_assert(ended.wait.is_kept);
        cr_assert(eq(u64, ended.wait.monitor, 0x1000));
        cr_assert(not(end_wait(0, EVENT_LOCK_PARK).wait.is_kept), "once");
        end_run();
    }
    sampler_lock_let_go(note_let_go, &let_go);
    cr_assert(eq(u32, let_go.count, 0));
}

Test(engine_lock_kept, what_is_not_kept_is_not_given_back)
{
    begin_run(1);
    begin_wait(0, EVENT_LOCK_PARK, 0x1000, 1);
    cr_assert(not(end_wait(0, EVENT_LOCK_PARK).wait.is_kept));
    cr_assert(eq(u64, keep(0, 0x2000, 0), 0), "nor is what had the place before");
    (void)end_wait(0, EVENT_LOCK_PARK);
    begin_wait(0, EVENT_LOCK_PARK, 0x3000, 1);
    cr_assert(eq(u64, keep(0, 0x4000, 0), 0), "nor of a wait that did not end");
    (void)end_wait(0, EVENT_LOCK_PARK);
    end_run();
    sampler_lock_let_go(note_let_go, &let_go);
    cr_assert(eq(u32, let_go.count, 0));
}

Test(engine_lock_kept, the_next_wait_gives_back_that_of_one_that_never_ended)
{
    begin_run(1);
    cr_assert(eq(u64, keep(0, 0x1000, 0), 0));
    cr_assert(eq(u64, keep(0, 0x2000, 0), 0x1000));
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_PARK).wait.monitor, 0x2000));
    end_run();
}

Test(engine_lock_kept, a_wait_that_nobody_takes_gives_back_its_own)
{
    begin_run(1);
    end_run();
    cr_assert(eq(u64, keep(0, 0x1000, 0), 0x1000));
    cr_assert(not(end_wait(0, EVENT_LOCK_PARK).wait.is_kept));
}

Test(engine_lock_kept, waits_under_way_at_the_end_are_let_go_of_once)
{
    begin_run(1);
    for (uint32_t who = 0; who < THREADS; who++)
        cr_assert(eq(u64, keep(who, 0x1000 << who, 0), 0));
    end_run();
    for (int i = 0; i < 2; i++) {
        sampler_lock_let_go(note_let_go, &let_go);
        cr_assert(eq(u32, let_go.count, THREADS));
        cr_assert(eq(u64, let_go.sum, 0x1000 * ((1 << THREADS) - 1)));
    }
    begin_run(1);
    cr_assert(not(end_wait(0, EVENT_LOCK_PARK).wait.is_kept));
    end_run();
}

/* Nobody there can let go of it: it waits for the end of the session, and is no wait any more. */
Test(engine_lock_kept, that_of_a_thread_that_died_in_it_is_let_go_of_at_the_end)
{
    struct sampler_deadlocked found[2];

    begin_run(1);
    (void)keep(0, 0x1000, 0);
    struct lock_wait *wait = engine_lock_of(puppets[0].number, EVENT_LOCK_PARK);
    cr_assert(ne(ptr, wait, NULL));
    end_puppet(&puppets[0]);
    thread_end(puppets[0].index, generations_number(generations));
    cr_assert(eq(u32, sampler_lock_turn(found, 2), 0));
    cr_assert(eq(u64, jw_load_relaxed(&wait->begin_ns), 0));
    end_run();
    sampler_lock_let_go(note_let_go, &let_go);
    cr_assert(eq(u32, let_go.count, 1));
    cr_assert(eq(u64, let_go.sum, 0x1000));
}

/* ---- owners by number ---- */

static struct ended owned_by(uint64_t number)
{
    (void)keep(0, 0x1000, number);
    return end_wait(0, EVENT_LOCK_PARK);
}

Test(engine_lock_kept, an_owner_is_a_thread_or_what_carries_it)
{
    begin_run(1);
    carry(&puppets[2], FIRST_VIRT);
    cr_assert(eq(u32, owned_by(puppets[1].number).wait.owner, puppets[1].index));
    cr_assert(eq(u32, owned_by(FIRST_VIRT).wait.owner, puppets[2].index));
    cr_assert(eq(u32, owned_by(FIRST_VIRT + 1).wait.owner, THREAD_NONE), "it is on no carrier");
    carry(&puppets[2], puppets[2].number);
    carry(&puppets[3], FIRST_VIRT);
    cr_assert(eq(u32, owned_by(FIRST_VIRT).wait.owner, puppets[3].index), "it has moved on");
    carry(&puppets[3], puppets[3].number);
    cr_assert(eq(u32, owned_by(FIRST_VIRT).wait.owner, THREAD_NONE));
    cr_assert(eq(u32, owned_by(0).wait.owner, THREAD_NONE));
    end_run();
}

static struct ended owned_monitor(uint64_t number)
{
    give_monitor(1, number);
    want(0, 1);
    return end_wait(0, EVENT_LOCK_ENTER);
}

Test(engine_lock_kept, an_owner_of_a_monitor_on_no_carrier_is_told_by_its_number)
{
    begin_run(1);
    const struct ended away = owned_monitor(FIRST_VIRT);
    cr_assert(eq(u32, away.wait.owner, THREAD_NONE));
    cr_assert(eq(u32, away.wait.owner_serial, 0));
    cr_assert(eq(u64, away.wait.owner_away, FIRST_VIRT));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 1));
    carry(&puppets[2], FIRST_VIRT);
    const struct ended carried = owned_monitor(FIRST_VIRT);
    cr_assert(eq(u32, carried.wait.owner, puppets[2].index));
    cr_assert(eq(u64, carried.wait.owner_away, 0));
    cr_assert(eq(u64, owned_monitor(puppets[2].number).wait.owner_away, 0),
              "the number of what carries is no virtual thread's");
    cr_assert(eq(u64, owned_monitor(OWN_ID).wait.owner_away, 0), "a thread of the JVM's own");
    cr_assert(eq(u64, owned_monitor(0).wait.owner_away, 0));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 2));
    end_run();
}
