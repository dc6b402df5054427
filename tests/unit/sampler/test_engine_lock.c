/*
 * Waits for locks: the table of those under way, what owners leave meanwhile, and deadlocks. The Java threads of a fake JVM are real
 * threads that wait when the test says so; whose a monitor is the test says, too.
 */
#include "unit/sampler/lock_puppets.h"

TestSuite(engine_lock, .init = open_locks, .fini = close_locks, .timeout = 1800);

/* ---- what was left in the generations ---- */

static struct {
    uint32_t count;
    struct event_record last;
} left;

static void note(const struct event_record *record, void *argument)
{
    (void)argument;
    cr_assert(eq(int, record->kind, EVENT_LOCK_OWNER));
    left.count++;
    left.last = *record;
}

static bool note_late(struct generation *generation, void *argument)
{
    event_take(generation->events, note, argument);
    return true;
}

static void look_for_records(void)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        event_take(closed->events, note, NULL);
    (void)generations_retire(generations, note_late, NULL);
}

/* ---- the table ---- */

Test(engine_lock, a_wait_is_told_once_as_it_began)
{
    struct sampler_lock wait = {
        .kind = EVENT_LOCK_WAIT, .monitor = monitor_of(1), .address = 77, .timeout_ms = 20};

    begin_run(1);
    const uint64_t before_ns = jw_now_ns();
    have_done(&puppets[0], do_begin, &wait);
    const uint64_t begun_ns = jw_now_ns();
    const struct ended ended = end_wait(0, EVENT_LOCK_WAIT);
    const uint64_t after_ns = jw_now_ns();

    cr_assert(ended.is_told);
    cr_assert(eq(int, ended.wait.kind, EVENT_LOCK_WAIT));
    cr_assert(eq(u64, ended.wait.monitor, monitor_of(1)));
    cr_assert(eq(u64, ended.wait.address, 77));
    cr_assert(eq(u32, ended.wait.timeout_ms, 20));
    cr_assert(ended.wait.begin_ns >= before_ns && ended.wait.begin_ns <= begun_ns);
    cr_assert(ended.wait.begin_ns + ended.wait.duration_ns <= after_ns);
    cr_assert(eq(u32, ended.wait.owner, THREAD_NONE), "who waits to be notified waits for nobody");
    cr_assert(not(end_wait(0, EVENT_LOCK_WAIT).is_told), "it is over");
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_WAITS), 1));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNBEGUN), 1));
}

Test(engine_lock, what_is_shorter_than_the_threshold_is_counted_alone)
{
    begin_run(UINT64_MAX);
    begin_wait(0, EVENT_LOCK_PARK, 0, 1);
    cr_assert(not(end_wait(0, EVENT_LOCK_PARK).is_told));
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_WAITS), 1));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_SHORT), 1));
}

/* Coming out of Object.wait a thread enters the monitor again: the one wait lies in the other. */
Test(engine_lock, waits_of_other_kinds_and_of_other_threads_are_others)
{
    begin_run(1);
    for (uint32_t who = 0; who < THREADS; who++)
        for (uint32_t kind = 0; kind < LOCK_KINDS - 1; kind++)
            begin_wait(who, (enum event_lock)kind, 0, 10 * who + kind);
    for (uint32_t kind = 0; kind < LOCK_KINDS - 1; kind++)
        for (uint32_t who = THREADS; who-- > 0;) {
            const struct ended ended = end_wait(who, (enum event_lock)kind);

            cr_assert(ended.is_told);
            cr_assert(eq(int, ended.wait.kind, (enum event_lock)kind));
            cr_assert(eq(u64, ended.wait.address, 10 * who + kind));
        }
    end_run();
}

Test(engine_lock, a_wait_of_before_the_session_is_counted_and_not_told)
{
    begin_run(1);
    begin_wait(0, EVENT_LOCK_PARK, 0, 1);
    end_run();
    begin_wait(1, EVENT_LOCK_PARK, 0, 2);
    cr_assert(not(end_wait(1, EVENT_LOCK_PARK).is_told), "nobody asks");
    begin_run(1);
    cr_assert(not(end_wait(0, EVENT_LOCK_PARK).is_told));
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNBEGUN), 1));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_WAITS), 0));
}

Test(engine_lock, one_that_never_ended_gives_its_place_to_the_next_of_its_thread)
{
    begin_run(1);
    begin_wait(0, EVENT_LOCK_ENTER, 0, 1);
    struct lock_wait *place = under_way(0);
    begin_wait(0, EVENT_LOCK_ENTER, 0, 2);
    cr_assert(eq(ptr, under_way(0), place));
    cr_assert(eq(u64, end_wait(0, EVENT_LOCK_ENTER).wait.address, 2));
    cr_assert(eq(ptr, under_way(0), NULL));
    end_run();
}

/* Virtual threads, of which one carrier begins as many waits as one likes. */
#define MORE_THAN_FIT (SAMPLER_LOCKS_MAX + 500)

struct crowd {
    uint32_t told, wrong;
    uint64_t begins_ns[MORE_THAN_FIT];
};

static void do_begin_crowd(struct puppet *puppet, void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < MORE_THAN_FIT; i++) {
        const struct sampler_lock wait = {.kind = EVENT_LOCK_ENTER, .address = i + 1};

        carry(puppet, FIRST_VIRT + i);
        sampler_lock_begin(&wait);
    }
}

static void do_end_crowd(struct puppet *puppet, void *argument)
{
    struct crowd *crowd = argument;

    for (uint32_t i = 0; i < MORE_THAN_FIT; i++) {
        struct sampler_lock wait;

        carry(puppet, FIRST_VIRT + i);
        if (!sampler_lock_end(EVENT_LOCK_ENTER, &wait))
            continue;
        crowd->begins_ns[crowd->told++] = wait.begin_ns;
        crowd->wrong += wait.address != i + 1;
    }
}

static int by_number(const void *left_of, const void *right_of)
{
    const uint64_t a = *(const uint64_t *)left_of, b = *(const uint64_t *)right_of;

    return a < b ? -1 : a > b;
}

Test(engine_lock, a_full_table_refuses_counts_and_is_used_again)
{
    static struct crowd crowd;

    begin_run(1);
    for (uint64_t round = 1; round <= 3; round++) {
        crowd.told = 0;
        have_done(&puppets[0], do_begin_crowd, NULL);
        const uint64_t refused = counted(JW_COUNT_LOCK_NO_ROOM);
        /* They end on another carrier. */
        have_done(&puppets[1], do_end_crowd, &crowd);
        cr_assert(ge(u64, refused, round * (MORE_THAN_FIT - SAMPLER_LOCKS_MAX)));
        cr_assert(eq(u64, round * MORE_THAN_FIT - refused, counted(JW_COUNT_LOCK_WAITS)));
        cr_assert(eq(u64, counted(JW_COUNT_LOCK_UNBEGUN), refused));
        cr_assert(eq(u32, crowd.wrong, 0));
        cr_assert(eq(u64, refused % round, 0), "who found none finds none again: nothing is left");
        qsort(crowd.begins_ns, crowd.told, sizeof crowd.begins_ns[0], by_number);
        for (uint32_t i = 1; i < crowd.told; i++)
            cr_assert(lt(u64, crowd.begins_ns[i - 1], crowd.begins_ns[i]), "one begin for two");
    }
    for (uint32_t place = 0; place < SAMPLER_LOCKS_MAX; place++)
        cr_assert(eq(u64, jw_load_relaxed(&engine_lock_at(place)->key), 0));
    end_run();
}

/* ---- threads that die ---- */

Test(engine_lock, the_wait_of_a_thread_that_died_in_it_is_given_up)
{
    struct sampler_deadlocked found[2];

    begin_run(1);
    want(0, 1);
    want(2, 1);
    cr_assert(eq(u32, sampler_lock_turn(found, 2), 0));
    cr_assert(ne(ptr, under_way(0), NULL), "it lives");
    end_puppet(&puppets[0]);
    thread_end(puppets[0].index, generations_number(generations));
    cr_assert(eq(u32, sampler_lock_turn(found, 2), 0));
    cr_assert(eq(ptr, under_way(0), NULL));
    cr_assert(ne(ptr, under_way(2), NULL));
    end_run();
}

Test(engine_lock, a_virtual_thread_outlives_the_carrier_that_it_began_on)
{
    struct sampler_deadlocked found[2];

    begin_run(1);
    carry(&puppets[0], FIRST_VIRT);
    want(0, 1);
    end_puppet(&puppets[0]);
    thread_end(puppets[0].index, generations_number(generations));
    cr_assert(eq(u32, sampler_lock_turn(found, 2), 0));
    carry(&puppets[2], FIRST_VIRT);
    const struct ended ended = end_wait(2, EVENT_LOCK_ENTER);
    cr_assert(ended.is_told);
    cr_assert(eq(u64, ended.wait.address, monitor_of(1)));
    end_run();
}

/* ---- owners ---- */

Test(engine_lock, the_owner_leaves_its_stack_and_is_named)
{
    begin_run(1);
    want(0, 1);
    while (counted(JW_COUNT_LOCK_OWNERS) == 0)
        sched_yield();
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    end_run();
    look_for_records();
    look_for_records();
    cr_assert(eq(u32, ended.wait.owner, puppets[1].index));
    cr_assert(eq(u32, ended.wait.owner_serial, (uint32_t)thread_serial(puppets[1].index)));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 1));
    cr_assert(eq(u32, left.count, 1));
    cr_assert(eq(u64, left.last.value, monitor_of(1)));
    cr_assert(eq(u64, left.last.thread_serial, thread_serial(puppets[1].index)));
    cr_assert(ne(u32, left.last.trace, STORE_NONE));
    cr_assert(left.last.time_ns >= ended.wait.begin_ns &&
              left.last.time_ns <= ended.wait.begin_ns + ended.wait.duration_ns);
}

/* What the agent's thread has seen of the last wait that began. */
static uint64_t seen_ns(enum event_lock kind)
{
    const struct ended ended = end_wait(0, kind);

    cr_assert(ended.is_told);
    cr_assert(le(u64, ended.wait.seen_ns, ended.wait.duration_ns));
    return ended.wait.seen_ns;
}

Test(engine_lock, an_owner_who_still_has_it_is_seen_to)
{
    begin_run(1);
    want(0, 1);
    cr_assert(eq(u64, seen_ns(EVENT_LOCK_ENTER), 0), "nobody looked");
    want(0, 1);
    const uint64_t before_ns = jw_now_ns();
    sampler_lock_look();
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(ge(u64, ended.wait.begin_ns + ended.wait.seen_ns, before_ns));
    cr_assert(le(u64, ended.wait.seen_ns, ended.wait.duration_ns));
    want(0, 1);
    cr_assert(eq(u64, seen_ns(EVENT_LOCK_ENTER), 0), "that was the wait before");
    end_run();
}

Test(engine_lock, an_owner_who_has_let_go_is_not_seen_to_have_it)
{
    begin_run(1);
    want(0, 1);
    give_monitor(1, puppets[2].number);
    sampler_lock_look();
    cr_assert(eq(u64, seen_ns(EVENT_LOCK_ENTER), 0));
    give_monitor(2, 0);
    begin_wait(0, EVENT_LOCK_ENTER, monitor_of(2), 5);
    give_monitor(2, puppets[1].number);
    sampler_lock_look();
    cr_assert(eq(u64, seen_ns(EVENT_LOCK_ENTER), 0), "whose it was is not known");
    begin_wait(0, EVENT_LOCK_WAIT, monitor_of(1), 5);
    sampler_lock_look();
    cr_assert(eq(u64, seen_ns(EVENT_LOCK_WAIT), 0), "it waits for nobody");
    end_run();
}

Test(engine_lock, a_virtual_owner_is_seen_wherever_it_is)
{
    begin_run(1);
    carry(&puppets[2], FIRST_VIRT);
    give_monitor(1, FIRST_VIRT);
    want(0, 1);
    carry(&puppets[2], puppets[2].number);
    carry(&puppets[3], FIRST_VIRT);
    const uint64_t before_ns = jw_now_ns();
    sampler_lock_look();
    const struct ended ended = end_wait(0, EVENT_LOCK_ENTER);
    cr_assert(eq(u64, ended.wait.owner_virtual, FIRST_VIRT));
    cr_assert(ge(u64, ended.wait.begin_ns + ended.wait.seen_ns, before_ns));
    end_run();
}

/* Asked while the owner cannot answer; by the time it can, `change` has made the question idle. */
static void ask_and_change(void (*change)(void))
{
    static char block;

    begin_run(1);
    have_done(&puppets[1], do_block, &block);
    want(0, 1);
    cr_assert(engine_lock_claims(puppets[1].index), "it was asked");
    change();
    have_done(&puppets[1], do_block, NULL);
    while (counted(JW_COUNT_SPARED_LOCK) == 0)
        sched_yield();
    end_run();
    look_for_records();
    look_for_records();
    cr_assert(eq(u32, left.count, 0));
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNERS), 0));
}

static void have_wait_end(void)
{
    cr_assert(end_wait(0, EVENT_LOCK_ENTER).is_told);
}

Test(engine_lock, who_is_asked_when_the_wait_is_over_says_nothing)
{
    ask_and_change(have_wait_end);
}

static void have_lock_let_go(void)
{
    give_monitor(1, puppets[2].number);
}

Test(engine_lock, who_has_let_go_when_it_is_asked_says_nothing)
{
    ask_and_change(have_lock_let_go);
}

static void have_place_used_again(void)
{
    have_wait_end();
    give_monitor(2, 0); /* nobody is asked for this one */
    begin_wait(0, EVENT_LOCK_ENTER, monitor_of(2), 5);
}

Test(engine_lock, who_does_not_have_what_the_place_is_for_by_now_says_nothing)
{
    ask_and_change(have_place_used_again);
}

/* The owner has no processor meanwhile; another one waits for the same lock, too soon to ask again. */
Test(engine_lock, a_question_goes_over_to_who_still_waits)
{
    static char block;

    begin_run(1);
    have_done(&puppets[1], do_block, &block);
    want(0, 1);
    want(2, 1);
    have_wait_end();
    have_done(&puppets[1], do_block, NULL);
    while (counted(JW_COUNT_SPARED_LOCK) == 0)
        sched_yield();
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNERS), 1));
}

static void do_many_waits(struct puppet *puppet, void *argument)
{
    const struct sampler_lock wait = {
        .kind = EVENT_LOCK_ENTER, .monitor = monitor_of(1), .address = monitor_of(1)};

    (void)puppet;
    for (uint32_t i = 0; i < *(uint32_t *)argument; i++) {
        struct sampler_lock told;

        sampler_lock_begin(&wait);
        cr_assert(sampler_lock_end(EVENT_LOCK_ENTER, &told));
    }
}

/* Three times more at the most, where the wait was over before it could answer. */
Test(engine_lock, an_owner_is_asked_once_in_a_millisecond_and_each_other_wait_is_counted)
{
    uint32_t waits = 4000;

    begin_run(1);
    const uint64_t begin_ns = jw_now_ns();
    tell_puppet(&puppets[2], do_many_waits, &waits);
    tell_puppet(&puppets[3], do_many_waits, &waits);
    have_done(&puppets[0], do_many_waits, &waits);
    wait_for_puppet(&puppets[2]);
    wait_for_puppet(&puppets[3]);
    const uint64_t took_ns = jw_now_ns() - begin_ns;
    end_run();
    const uint64_t asked = 3 * waits - counted(JW_COUNT_LOCK_NOT_ASKED);
    cr_assert(eq(u64, counted(JW_COUNT_LOCK_OWNED), 3 * waits));
    cr_assert(ge(u64, asked, 1));
    cr_assert(le(u64, asked, 4 * (took_ns / JW_NS_PER_MS + 1)));
    cr_assert(le(u64, counted(JW_COUNT_SPARED_LOCK), asked), "each question is one signal at most");
    cr_assert(le(u64, counted(JW_COUNT_LOCK_OWNERS), counted(JW_COUNT_SPARED_LOCK)));
}

/* ---- deadlocks ---- */

Test(engine_lock, a_cycle_of_waits_that_is_young_is_not_told)
{
    struct sampler_deadlocked found[8];

    begin_run(1);
    for (uint32_t who = 0; who < 3; who++)
        want(who, (who + 1) % 3);
    const uint32_t count = sampler_lock_turn(found, 8);
    const bool is_old = jw_now_ns() - jw_load_relaxed(&under_way(2)->begin_ns) >= JW_NS_PER_SECOND;
    cr_assert(count == 0 || is_old, "it may yet end");
    for (uint32_t who = 0; who < 3; who++)
        (void)end_wait(who, EVENT_LOCK_ENTER);
    end_run();
}

Test(engine_lock, a_cycle_of_waits_is_told_once_whole)
{
    struct sampler_deadlocked found[8];

    begin_run(1);
    for (uint32_t who = 0; who < 3; who++)
        want(who, (who + 1) % 3);
    for (uint32_t who = 0; who < 3; who++)
        age(under_way(who));
    cr_assert(eq(u32, sampler_lock_turn(found, 2), 0), "there is no room for all of it");
    cr_assert(eq(u32, sampler_lock_turn(found, 8), 3));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t who = (uint32_t)(found[i].who - FIRST_OWN);

        cr_assert(lt(u32, who, 3));
        seen |= 1u << who;
        cr_assert(eq(u32, found[i].number, 1));
        cr_assert(eq(u64, found[i].address, monitor_of((who + 1) % 3)));
        cr_assert(eq(u64, found[i].owner_who, FIRST_OWN + (who + 1) % 3));
        cr_assert(eq(u64, found[i].owner_who, found[(i + 1) % 3].who));
        cr_assert(eq(u32, found[i].thread, puppets[who].index));
        cr_assert(not(found[i].is_virtual));
    }
    cr_assert(eq(u32, seen, 7));
    cr_assert(eq(u32, sampler_lock_turn(found, 8), 0), "told once");
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_DEADLOCKS), 1));
}

Test(engine_lock, a_chain_is_no_deadlock_and_its_last_owner_is_asked_again)
{
    struct sampler_deadlocked found[8];

    begin_run(1);
    for (uint32_t who = 0; who < 3; who++) {
        want(who, who + 1);
        age(under_way(who));
    }
    cr_assert(eq(u32, sampler_lock_turn(found, 8), 0));
    const uint64_t before = counted(JW_COUNT_LOCK_OWNERS);
    /* The last one is asked again by each turn: at most once in a millisecond. */
    while (counted(JW_COUNT_LOCK_OWNERS) < before + 3)
        cr_assert(eq(u32, sampler_lock_turn(found, 8), 0));
    end_run();
}

Test(engine_lock, a_virtual_thread_in_a_deadlock_is_told_as_one)
{
    struct sampler_deadlocked found[8];

    begin_run(1);
    carry(&puppets[0], FIRST_VIRT);
    want(0, 1);
    carry(&puppets[0], puppets[0].number); /* it has left its carrier */
    give_monitor(0, FIRST_VIRT);
    want(1, 0);
    age(under_way(1));
    age(engine_lock_of(FIRST_VIRT, EVENT_LOCK_ENTER));
    cr_assert(eq(u32, sampler_lock_turn(found, 8), 2));
    for (uint32_t i = 0; i < 2; i++)
        cr_assert(eq(int, found[i].is_virtual, found[i].who == FIRST_VIRT));
    end_run();
}

static void begin_kept(uint32_t who, uint32_t whose, vm_addr waiter)
{
    struct sampler_lock wait = {.kind = EVENT_LOCK_ENTER,
                                .monitor = monitor_of(whose),
                                .klass = (vm_addr)fake.klass,
                                .waiter = waiter};

    have_done(&puppets[who], do_begin, &wait);
}

/* Once it is told it is nobody's any more: the end of the wait gives back nothing. */
Test(engine_lock, the_class_of_the_lock_and_who_waits_are_told_with_a_deadlock)
{
    struct sampler_deadlocked found[8];

    begin_run(1);
    set_pointer(fake.klass, "Klass", "_name", fake.class_name);
    set_symbol(fake.class_name, "com/acme/Shelf");
    carry(&puppets[0], FIRST_VIRT);
    begin_kept(0, 1, 0x2000);
    carry(&puppets[0], puppets[0].number); /* it has left its carrier */
    give_monitor(0, FIRST_VIRT);
    begin_kept(1, 0, 0);
    age(under_way(1));
    age(engine_lock_of(FIRST_VIRT, EVENT_LOCK_ENTER));
    cr_assert(eq(u32, sampler_lock_turn(found, 8), 2));
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_str_eq(found[i].class_name, "com/acme/Shelf");
        cr_assert(eq(u64, found[i].waiter, found[i].who == FIRST_VIRT ? 0x2000 : 0));
        cr_assert(sampler_lock_goes_on(&found[i]));
    }
    carry(&puppets[2], FIRST_VIRT); /* somebody has made an end of it */
    const struct ended ended = end_wait(2, EVENT_LOCK_ENTER);
    cr_assert(ended.is_told);
    cr_assert(eq(u64, ended.wait.waiter, 0));
    for (uint32_t i = 0; i < 2; i++)
        cr_assert(eq(int, sampler_lock_goes_on(&found[i]), found[i].who != FIRST_VIRT));
    end_run();
}

Test(engine_lock, a_class_that_is_none_or_has_a_very_long_name_is_not_told)
{
    static _Alignas(8) unsigned char symbol[512], nothing[OBJECT_BYTES];
    static char name[SAMPLER_CLASS_BYTES + 1];
    struct sampler_deadlocked found[8];

    memset(name, 'x', SAMPLER_CLASS_BYTES);
    set_symbol(symbol, name);
    for (int i = 0; i < 3; i++) {
        const vm_addr klass = i == 0 ? 0 : i == 1 ? (vm_addr)nothing : (vm_addr)fake.klass;

        begin_run(1);
        set_pointer(fake.klass, "Klass", "_name", symbol);
        for (uint32_t who = 0; who < 2; who++) {
            struct sampler_lock wait = {
                .kind = EVENT_LOCK_ENTER, .monitor = monitor_of(1 - who), .klass = klass};

            have_done(&puppets[who], do_begin, &wait);
            age(under_way(who));
        }
        cr_assert(eq(u32, sampler_lock_turn(found, 8), 2));
        cr_assert_str_eq(found[0].class_name, "");
        for (uint32_t who = 0; who < 2; who++)
            (void)end_wait(who, EVENT_LOCK_ENTER);
        end_run();
    }
}

/* Each waits for the other's lock, but never both at once. */
static _Atomic uint32_t turn_of; /* 0, 1; 2: it is over */

static void do_take_turns(struct puppet *puppet, void *argument)
{
    const uint32_t own = puppet == &puppets[0] ? 0 : 1, rounds = *(uint32_t *)argument;
    const struct sampler_lock wait = {.kind = EVENT_LOCK_ENTER, .monitor = monitor_of(1 - own)};

    for (uint32_t i = 0; i < rounds; i++) {
        struct sampler_lock told;

        while (jw_load_acquire(&turn_of) != own)
            sched_yield();
        sampler_lock_begin(&wait);
        age(under_way(own));
        cr_assert(sampler_lock_end(EVENT_LOCK_ENTER, &told));
        jw_store_release(&turn_of, 1 - own);
    }
}

Test(engine_lock, waits_that_end_while_they_are_followed_are_no_deadlock)
{
    uint32_t rounds = 1000;
    struct sampler_deadlocked found[8];

    begin_run(1);
    for (uint32_t i = 0; i < 2; i++)
        tell_puppet(&puppets[i], do_take_turns, &rounds);
    for (uint32_t i = 0; counted(JW_COUNT_LOCK_WAITS) < 2 * rounds; i++) {
        cr_assert(eq(u32, sampler_lock_turn(found, 8), 0));
        if (i % 64 == 0)
            look_for_records(); /* generations go round meanwhile */
    }
    for (uint32_t i = 0; i < 2; i++)
        wait_for_puppet(&puppets[i]);
    end_run();
    cr_assert(eq(u64, counted(JW_COUNT_DEADLOCKS), 0));
}
