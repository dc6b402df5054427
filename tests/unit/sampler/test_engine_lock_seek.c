/* Waits whose owner nothing tells: who is searched for, and what holds of whoever was found. */
#include "unit/sampler/lock_puppets.h"

TestSuite(engine_lock_seek, .init = open_locks, .fini = close_locks, .timeout = 1800);

#define UNNAMED 1 /* as the JVM writes it */
#define OBJECT  0x7000

static void want_unnamed(uint32_t who, uint32_t whose)
{
    struct sampler_lock wait = {.kind = EVENT_LOCK_ENTER,
                                .monitor = monitor_of(whose),
                                .address = monitor_of(whose),
                                .object = OBJECT + who};

    put_pointer(monitors_of[whose], OBJECT_AT, &weak); /* which is in nobody's lock stack */
    give_monitor(whose, UNNAMED);
    have_done(&puppets[who], do_begin, &wait);
}

static struct sampler_sought seek_one(void)
{
    struct sampler_sought sought[2];

    cr_assert(eq(u32, sampler_lock_seek(sought, 2), 1));
    return sought[0];
}

/* Of a wait of puppet 0 for what puppet 1 has, which is found out. */
static struct sampler_sought find_it(uint64_t carried)
{
    want_unnamed(0, 1);
    age(under_way(0));
    const struct sampler_sought one = seek_one();
    sampler_lock_found(&one, puppets[1].index, carried);
    return one;
}

Test(engine_lock_seek, a_wait_that_lasts_is_given_out_once_with_its_object)
{
    struct sampler_sought sought[2];

    begin_run(1);
    want_unnamed(0, 1);
    be_young(under_way(0));
    cr_assert(eq(u32, sampler_lock_seek(sought, 2), 0), "it is young");
    age(under_way(0));
    age(under_way(0));
    cr_assert(eq(u32, sampler_lock_seek(sought, 0), 0), "there is no room for it");
    const struct sampler_sought one = seek_one();
    cr_assert(eq(u64, one.object, OBJECT));
    cr_assert(eq(u64, one.monitor, monitor_of(1)));
    cr_assert(sampler_lock_is_sought(&one));
    cr_assert(eq(u32, sampler_lock_seek(sought, 2), 0));
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(eq(u64, ended.wait.object, 0), "it is whose it was given to");
    cr_assert(eq(u32, ended.wait.owner, THREAD_NONE));
    cr_assert(not(sampler_lock_is_sought(&one)));
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_SOUGHT), 1));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_FOUND), 0));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNSOUGHT), 0));
}

Test(engine_lock_seek, who_was_found_is_the_owner_from_the_begin_and_is_asked)
{
    begin_run(1);
    (void)find_it(0);
    while (counted(JW_COUNT_LOCK_OWNERS) == 0)
        sched_yield();
    const uint64_t before_ns = jw_now_ns();
    sampler_lock_look();
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    end_run();
    cr_assert(eq(u32, ended.wait.owner, puppets[1].index));
    cr_assert(eq(u32, ended.wait.owner_serial, (uint32_t)thread_serial(puppets[1].index)));
    cr_assert(ge(u64, ended.wait.begin_ns + ended.wait.seen_ns, before_ns));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_FOUND), 1));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 0), "not at the begin");
}

Test(engine_lock_seek, a_virtual_owner_is_told_by_its_number_and_answers_where_it_runs)
{
    begin_run(1);
    cr_assert(eq(u64, sampler_lock_carried(puppets[1].index), 0));
    carry(&puppets[1], FIRST_VIRT);
    cr_assert(eq(u64, sampler_lock_carried(puppets[1].index), FIRST_VIRT));
    (void)find_it(FIRST_VIRT);
    while (counted(JW_COUNT_LOCK_OWNERS) == 0)
        sched_yield();
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    end_run();
    cr_assert(eq(u64, ended.wait.owner_virtual, FIRST_VIRT));
    cr_assert(eq(u32, ended.wait.owner, THREAD_NONE));
}

Test(engine_lock_seek, a_virtual_owner_on_no_carrier_is_told_as_long_as_the_monitor_names_nobody)
{
    begin_run(1);
    want_unnamed(0, 1);
    age(under_way(0));
    const struct sampler_sought one = seek_one();
    sampler_lock_found_away(&one, FIRST_VIRT);
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(eq(u64, ended.wait.owner_virtual, FIRST_VIRT));
    cr_assert(eq(u32, ended.wait.owner, THREAD_NONE));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_FOUND), 1));

    want_unnamed(0, 1);
    age(under_way(0));
    const struct sampler_sought other = seek_one();
    give_monitor(1, puppets[2].number); /* who comes next has a name */
    sampler_lock_found_away(&other, FIRST_VIRT);
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_ENTER).wait.owner_virtual, 0));
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_FOUND), 1));
}

/* So many objects, of which the last one is what is waited for. */
static void fill_lock_stack(uint32_t who, uint32_t count)
{
    const uint32_t top = LOCK_STACK_AT + FIRST_AT + count * 8;

    memcpy(puppets[who].java + LOCK_STACK_AT + TOP_AT, &top, sizeof top);
    if (count > 0)
        put_word(puppets[who].java, LOCK_STACK_AT + FIRST_AT + (count - 1) * 8, (uint64_t)locked);
}

Test(engine_lock_seek, whom_a_carrier_runs_owns_what_is_in_its_lock_stack_wherever_he_goes)
{
    struct sampler_sought sought[2];

    begin_run(1);
    weak = locked;
    fill_lock_stack(1, 1);
    carry(&puppets[1], FIRST_VIRT);
    want_unnamed(0, 1);
    carry(&puppets[1], puppets[1].number);
    fill_lock_stack(1, 0);
    age(under_way(0));
    cr_assert(eq(u32, sampler_lock_seek(sought, 2), 0), "nothing is to be searched for");
    cr_assert(engine_lock_keeps_found(under_way(0), under_way(0)->begin_ns));
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_ENTER).wait.owner_virtual, FIRST_VIRT));

    /* A thread that carries nobody owns it itself. */
    fill_lock_stack(1, 1);
    want_unnamed(0, 1);
    cr_assert(eq(u32, end_wait(0, EVENT_LOCK_ENTER).wait.owner, puppets[1].index));
    fill_lock_stack(1, 0);
    end_run();
}

/* What runs on that thread by now is somebody else. */
Test(engine_lock_seek, what_another_virtual_thread_does_on_the_carrier_is_not_told)
{
    begin_run(1);
    want_unnamed(0, 1);
    age(under_way(0));
    const struct sampler_sought one = seek_one();
    carry(&puppets[1], FIRST_VIRT + 1);
    sampler_lock_found(&one, puppets[1].index, FIRST_VIRT);
    while (counted(JW_COUNT_SPARED_LOCK) == 0)
        sched_yield();
    (void)end_wait(0, EVENT_LOCK_ENTER);
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNERS), 0));
}

Test(engine_lock_seek, who_has_let_go_is_not_found_nor_seen_to_have_it_still)
{
    begin_run(1);
    want_unnamed(0, 1);
    age(under_way(0));
    const struct sampler_sought one = seek_one();
    give_monitor(1, puppets[2].number); /* who comes next has a name */
    cr_assert(not(sampler_lock_is_sought(&one)));
    sampler_lock_found(&one, puppets[1].index, 0);
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_FOUND), 0));
    cr_assert(eq(u32, end_wait(0, EVENT_LOCK_ENTER).wait.owner, THREAD_NONE));

    (void)find_it(0);
    const uint64_t found_ns = jw_now_ns();
    give_monitor(1, puppets[2].number);
    sampler_lock_look();
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(eq(u32, ended.wait.owner, puppets[1].index), "it was his when it began");
    cr_assert(le(u64, ended.wait.begin_ns + ended.wait.seen_ns, found_ns));
    end_run();
}

Test(engine_lock_seek, what_was_found_of_one_wait_is_not_of_the_next)
{
    begin_run(1);
    const struct sampler_sought one = find_it(0);
    (void)end_wait(0, EVENT_LOCK_ENTER);
    want_unnamed(0, 1);
    cr_assert(eq(u32, engine_lock_at(one.place)->key, under_way(0)->key), "the same place");
    sampler_lock_found(&one, puppets[2].index, 0); /* late */
    cr_assert(eq(u32, end_wait(0, EVENT_LOCK_ENTER).wait.owner, THREAD_NONE));
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_FOUND), 1));
}

Test(engine_lock_seek, who_waits_for_the_same_monitor_waits_for_the_same_owner)
{
    struct sampler_sought sought[2];
    struct ended ended;

    begin_run(1);
    want_unnamed(2, 1);
    be_young(under_way(2));
    want_unnamed(0, 1);
    age(under_way(0));
    const struct sampler_sought one = seek_one();
    age(under_way(2));
    sampler_lock_found(&one, puppets[1].index, 0);
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_SHARED), 1));
    want_unnamed(3, 1); /* comes later */
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 1));
    age(under_way(3));
    cr_assert(eq(u32, sampler_lock_seek(sought, 2), 0), "nobody has to be searched for");
    const uint64_t before_ns = jw_now_ns();
    sampler_lock_look();
    const uint32_t waiting[] = {0, 2, 3};
    for (size_t i = 0; i < JW_COUNT_OF(waiting); i++) {
        ended = end_wait(waiting[i], EVENT_LOCK_ENTER);
        cr_assert(eq(u32, ended.wait.owner, puppets[1].index));
        cr_assert(ge(u64, ended.wait.begin_ns + ended.wait.seen_ns, before_ns));
    }
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNSOUGHT), 0));
    end_run();
}

/* The wait that told it must go on, and the monitor must be that one, and unnamed. */
Test(engine_lock_seek, what_is_over_tells_nobody_else_whose_it_is)
{
    begin_run(1);
    (void)find_it(0);
    want_unnamed(2, 3);
    cr_assert(eq(u32, end_wait(2, EVENT_LOCK_ENTER).wait.owner, THREAD_NONE), "another monitor");
    give_monitor(1, puppets[3].number);
    want_unnamed(2, 0);
    cr_assert(eq(u64, engine_lock_shared(monitor_of(1)).value, 0), "it has an owner by name");
    (void)end_wait(2, EVENT_LOCK_ENTER);
    (void)end_wait(0, EVENT_LOCK_ENTER);
    want_unnamed(2, 1);
    cr_assert(eq(u32, end_wait(2, EVENT_LOCK_ENTER).wait.owner, THREAD_NONE), "it is over");
    end_run();
}

Test(engine_lock_seek, what_nobody_came_to_is_counted_where_it_was_long_enough)
{
    begin_run(1);
    want_unnamed(0, 1);
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    const uint64_t was_long = ended.wait.duration_ns >= SAMPLER_SEEK_AFTER_NS;
    cr_assert(eq(u64, ended.wait.object, OBJECT), "the caller's to let go");
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNSOUGHT), was_long));
    want_unnamed(0, 1);
    age(under_way(0));
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_ENTER).wait.object, OBJECT));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNSOUGHT), was_long + 1));
    end_run();
}

static void do_begin_again(struct puppet *puppet, void *argument)
{
    struct sampler_lock wait = {.kind = EVENT_LOCK_ENTER, .monitor = monitor_of(2)};

    (void)puppet;
    *(struct sampler_kept *)argument = sampler_lock_begin(&wait);
}

static void note_kept(vm_addr reference, void *argument)
{
    *(uint64_t *)argument += reference;
}

Test(engine_lock_seek, what_no_end_gives_back_goes_with_the_next_wait_or_the_session)
{
    struct sampler_kept left = {0};
    uint64_t sum = 0;

    begin_run(1);
    want_unnamed(0, 1);
    have_done(&puppets[0], do_begin_again, &left);
    cr_assert(eq(u64, left.object, OBJECT));
    (void)end_wait(0, EVENT_LOCK_ENTER);
    want_unnamed(2, 1);
    end_run();
    sampler_lock_let_go(note_kept, &sum);
    cr_assert(eq(u64, sum, OBJECT + 2));
    sampler_lock_let_go(note_kept, &sum);
    cr_assert(eq(u64, sum, OBJECT + 2), "once");
}

Test(engine_lock_seek, a_deadlock_over_monitors_whose_owners_were_found_is_told)
{
    struct sampler_deadlocked dead[4];
    struct sampler_sought sought[2];

    begin_run(1);
    want_unnamed(0, 1);
    want_unnamed(1, 0);
    age(under_way(0));
    age(under_way(1));
    cr_assert(eq(u32, sampler_lock_turn(dead, 4), 0), "nobody knows");
    cr_assert(eq(u32, sampler_lock_seek(sought, 2), 2));
    for (uint32_t i = 0; i < 2; i++)
        sampler_lock_found(&sought[i], puppets[sought[i].monitor == monitor_of(1)].index, 0);
    cr_assert(eq(u32, sampler_lock_turn(dead, 4), 2));
    for (uint32_t i = 0; i < 2; i++)
        cr_assert(eq(u64, dead[i].who + dead[i].owner_who, 2 * FIRST_OWN + 1));
    cr_assert(ne(u64, dead[0].who, dead[1].who));
    end_run();
}
