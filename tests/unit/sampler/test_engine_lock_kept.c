/*
 * References that waits keep until they are over: each is given back once, whatever became of its wait. And owners that are known by
 * number: of locks of java.util.concurrent, and of monitors on no carrier.
 */
#include "unit/sampler/lock_puppets.h"

#include <sched.h>

TestSuite(engine_lock_kept, .init = open_locks, .fini = close_locks, .timeout = 1800);

struct kept {
    struct sampler_lock wait;
    vm_addr given_back;
};

static void do_keep(struct puppet *puppet, void *argument)
{
    struct kept *kept = argument;

    (void)puppet;
    kept->given_back = sampler_lock_begin(&kept->wait).monitor;
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

/* Whoever waits may come to say so long after: its record is not reaped before. */
Test(engine_lock_kept, an_owner_that_ends_is_known_as_long_as_it_is_waited_for)
{
    struct thread_info info;

    begin_run(1);
    want(0, 1);
    const uint64_t later = generations_number(generations) + 5;
    end_puppet(&puppets[1]);
    thread_end(puppets[1].index, generations_number(generations));
    (void)thread_exchange_timer(puppets[1].index, -1);
    sampler_lock_look();
    cr_assert(eq(u64, sampler_lock_outlive(later), jw_load_relaxed(&under_way(0)->begin_ns)));
    threads_reap(later);
    cr_assert(thread_info(puppets[1].index, &info));
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(eq(u32, ended.wait.owner, puppets[1].index));
    cr_assert(eq(u32, ended.wait.owner_serial, (uint32_t)info.serial));
    sampler_lock_look();
    cr_assert(eq(u64, sampler_lock_outlive(later + 5), UINT64_MAX));
    threads_reap(later + 1);
    cr_assert(not(thread_info(puppets[1].index, &info)));
    end_run();
}

/* ---- who waits ---- */

static void do_keep_waiter(struct puppet *puppet, void *argument)
{
    struct sampler_kept *left = argument;
    struct sampler_lock wait = {
        .kind = EVENT_LOCK_PARK, .monitor = left->monitor, .is_kept = true, .waiter = left->waiter};

    (void)puppet;
    *left = sampler_lock_begin(&wait);
}

/* What its begin gives back. */
static struct sampler_kept keep_waiter(uint32_t who, vm_addr latch, vm_addr waiter)
{
    struct sampler_kept left = {.monitor = latch, .waiter = waiter};

    have_done(&puppets[who], do_keep_waiter, &left);
    return left;
}

static void expect_kept(struct sampler_kept kept, vm_addr latch, vm_addr waiter)
{
    cr_assert(eq(u64, kept.monitor, latch));
    cr_assert(eq(u64, kept.waiter, waiter));
}

Test(engine_lock_kept, who_waits_is_given_back_once_with_what_is_waited_for)
{
    begin_run(1);
    expect_kept(keep_waiter(0, 0x1000, 0x2000), 0, 0);
    const struct ended ended = end_wait(0, EVENT_LOCK_PARK);
    cr_assert(ended.is_told);
    cr_assert(eq(u64, ended.wait.waiter, 0x2000));
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_PARK).wait.waiter, 0), "once");
    expect_kept(keep_waiter(0, 0x1000, 0x2000), 0, 0);
    expect_kept(keep_waiter(0, 0x3000, 0x4000), 0x1000, 0x2000);
    expect_kept(keep_waiter(0, 0x5000, 0), 0x3000, 0x4000);
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_PARK).wait.waiter, 0));
    end_run();
    expect_kept(keep_waiter(0, 0x1000, 0x2000), 0x1000, 0x2000);
    sampler_lock_let_go(note_let_go, &let_go);
    cr_assert(eq(u32, let_go.count, 0));
}

Test(engine_lock_kept, who_waits_at_the_end_is_let_go_of_once)
{
    begin_run(1);
    for (uint32_t who = 0; who < THREADS; who++)
        expect_kept(keep_waiter(who, 0x1000, 0x2000), 0, 0);
    end_run();
    for (int i = 0; i < 2; i++) {
        sampler_lock_let_go(note_let_go, &let_go);
        cr_assert(eq(u32, let_go.count, 2 * THREADS));
        cr_assert(eq(u64, let_go.sum, 0x3000 * THREADS));
    }
}

/* The place has a reference of a thread that nobody will end: it is not given to another wait with it. */
Test(engine_lock_kept, who_died_in_it_is_let_go_of_at_the_end)
{
    struct sampler_deadlocked found[2];

    begin_run(1);
    (void)keep_waiter(0, 0, 0x2000);
    end_puppet(&puppets[0]);
    thread_end(puppets[0].index, generations_number(generations));
    cr_assert(eq(u32, sampler_lock_turn(found, 2), 0));
    cr_assert(ne(ptr, engine_lock_of(puppets[0].number, EVENT_LOCK_PARK), NULL));
    end_run();
    sampler_lock_let_go(note_let_go, &let_go);
    cr_assert(eq(u32, let_go.count, 1));
    cr_assert(eq(u64, let_go.sum, 0x2000));
}

/* Two wait for each other, again and again; references are numbers, and their sum tells whether each was given back once. */
static _Atomic uint32_t are_seen; /* that they were found for the first time */
static _Atomic uint32_t are_done;

struct crossing {
    uint32_t own, rounds;
    uint64_t kept_sum, given_back_sum;
};

static void do_cross(struct puppet *puppet, void *argument)
{
    struct crossing *crossing = argument;

    (void)puppet;
    for (uint32_t i = 0; i < crossing->rounds; i++) {
        struct sampler_lock wait = {.kind = EVENT_LOCK_ENTER,
                                    .monitor = monitor_of(1 - crossing->own),
                                    .waiter = 2 * i + crossing->own + 1};

        crossing->kept_sum += wait.waiter;
        crossing->given_back_sum += sampler_lock_begin(&wait).waiter;
        age(under_way(crossing->own));
        while (jw_load_acquire(&are_seen) == 0)
            sched_yield();
        cr_assert(sampler_lock_end(EVENT_LOCK_ENTER, &wait));
        crossing->given_back_sum += wait.waiter;
    }
    jw_add_relaxed(&are_done, 1);
}

Test(engine_lock_kept, who_waits_is_given_to_the_end_or_to_who_has_found_the_deadlock)
{
    struct crossing crossings[2] = {{.own = 0, .rounds = 20000}, {.own = 1, .rounds = 20000}};
    struct sampler_deadlocked found[2];
    uint64_t taken_sum = 0;

    begin_run(1);
    for (uint32_t i = 0; i < 2; i++)
        tell_puppet(&puppets[i], do_cross, &crossings[i]);
    while (jw_load_relaxed(&are_done) < 2) {
        const uint32_t count = sampler_lock_turn(found, 2);

        for (uint32_t i = 0; i < count; i++)
            taken_sum += found[i].waiter;
        if (count != 0)
            jw_store_release(&are_seen, 1);
    }
    for (uint32_t i = 0; i < 2; i++)
        wait_for_puppet(&puppets[i]);
    end_run();
    cr_assert(ge(u64, taken_sum, 1));
    cr_assert(eq(u64, crossings[0].kept_sum + crossings[1].kept_sum,
                 crossings[0].given_back_sum + crossings[1].given_back_sum + taken_sum));
    sampler_lock_let_go(note_let_go, &let_go);
    cr_assert(eq(u32, let_go.count, 0));
}

/* ---- owners by number ---- */

static struct ended owned_by(uint64_t number)
{
    (void)keep(0, 0x1000, number);
    return end_wait(0, EVENT_LOCK_PARK);
}

static struct ended owned_by_virtual(uint64_t number)
{
    struct sampler_lock wait = {
        .kind = EVENT_LOCK_PARK, .owner_number = number, .is_owner_virtual = true};

    have_done(&puppets[0], do_begin, &wait);
    return end_wait(0, EVENT_LOCK_PARK);
}

Test(engine_lock_kept, an_owner_is_a_thread_or_a_virtual_one_wherever_it_is)
{
    begin_run(1);
    carry(&puppets[2], FIRST_VIRT);
    cr_assert(eq(u32, owned_by(puppets[1].number).wait.owner, puppets[1].index));
    cr_assert(eq(u64, owned_by_virtual(FIRST_VIRT).wait.owner_virtual, FIRST_VIRT));
    cr_assert(eq(u64, owned_by_virtual(FIRST_VIRT + 1).wait.owner_virtual, FIRST_VIRT + 1),
              "it is on no carrier");
    cr_assert(eq(u32, owned_by_virtual(FIRST_VIRT).wait.owner, THREAD_NONE));
    cr_assert(eq(u32, owned_by(FIRST_VIRT + 1).wait.owner, THREAD_NONE), "no thread has it");
    cr_assert(eq(u64, owned_by(FIRST_VIRT + 1).wait.owner_virtual, 0));
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
    cr_assert(eq(u64, away.wait.owner_virtual, FIRST_VIRT));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 1));
    carry(&puppets[2], FIRST_VIRT);
    const struct ended carried = owned_monitor(FIRST_VIRT);
    cr_assert(eq(u32, carried.wait.owner, THREAD_NONE));
    cr_assert(eq(u64, carried.wait.owner_virtual, FIRST_VIRT), "it is none the less");
    cr_assert(eq(u64, owned_monitor(puppets[2].number).wait.owner_virtual, 0),
              "the number of what carries is no virtual thread's");
    cr_assert(eq(u64, owned_monitor(OWN_ID).wait.owner_virtual, 0), "a thread of the JVM's own");
    cr_assert(eq(u64, owned_monitor(0).wait.owner_virtual, 0));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 2));
    end_run();
}
