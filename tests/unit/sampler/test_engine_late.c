/*
 * Who keeps a safepoint waiting: the watching thread and its signals on real threads, with the counters of a fake JVM and the states of
 * its Java threads. The test is the JVM: it says when a safepoint begins, is reached and ends.
 */
#include "unit/vm/fake_counters.h"

#include "sampler/sampler_delays.h"
#include "unit/sampler/clock_runs.h"
#include "vm/vm_thread.h"

#define THRESHOLD_NS (2 * JW_NS_PER_MS)
#define BUSY         2

static unsigned char java_threads[BUSY][4096];
static uint64_t safepoints, sync_ns, inside_ns;
static uint64_t serials[BUSY];
static uint64_t slow_before; /* safepoints told before the test proper */

/* Records of who was late, as they come. */
static struct {
    uint32_t of[BUSY];        /* by worker */
    struct event_record last; /* by its number */
} late;

static void set_number(int index, uint64_t value)
{
    /* In one store, as the JVM does: the engine reads meanwhile. */
    jw_store_release((_Atomic uint64_t *)(void *)(entry(index) + DATA_OFFSET), value);
}

static void set_state(uint32_t worker, const char *state)
{
    const uint32_t value = (uint32_t)constant_of(state);

    jw_store_release((_Atomic uint32_t *)(void *)(java_threads[worker] +
                                                  offset_of("JavaThread", "_thread_state")),
                     value);
}

static void *env_of(uint32_t worker)
{
    return java_threads[worker] + offset_of("JavaThread", "_anchor") + VM_ENV_AFTER_ANCHOR_BYTES;
}

static void open_late(void)
{
    open_fake(LAYOUT_17, "A");
    add_fields();
    put_counters(0);
    set_entry(0, "sun.rt.safepointSyncTime", 'J', 0);
    set_entry(2, "sun.rt.safepointTime", 'J', 0);
    vm_safepoint_open();
    cr_assert(sampler_delays_check(&err), "%s", err.message);
    for (uint32_t i = 0; i < BUSY; i++)
        memcpy(java_threads[i], fake.java_thread, sizeof java_threads[i]);
    open_run();
}

TestSuite(engine_late, .init = open_late, .timeout = 1800);

static void begin_safepoint(void)
{
    set_number(1, ++safepoints);
}

static void reach(uint64_t after_ns)
{
    set_number(0, sync_ns += after_ns);
}

static void end_safepoint(uint64_t after_ns)
{
    set_number(2, inside_ns += after_ns);
}

/* Safepoint after safepoint until the watching thread has told of so many. It may sleep through some; the next one takes longer then. */
static void delay_until(uint64_t told)
{
    uint64_t burn_ns = 2 * JW_NS_PER_MS;

    for (uint64_t before; (before = jw_counter(JW_COUNT_SAFEPOINTS_SLOW)) < told;) {
        begin_safepoint();
        burn_until(own_cpu_ns() + burn_ns);
        reach(20 * JW_NS_PER_MS);
        end_safepoint(1);
        burn_until(own_cpu_ns() + burn_ns / 2);
        if (jw_counter(JW_COUNT_SAFEPOINTS_SLOW) > before)
            burn_ns = 2 * JW_NS_PER_MS;
        else if (burn_ns < 64 * JW_NS_PER_MS)
            burn_ns *= 2;
    }
}

static void look_for_records(void);
static bool has_record_of(uint64_t number, uint64_t within_ns);
static void wait_for_rest(uint32_t worker);

/*
 * One that it has not slept through, as a thread that runs Java has left its stack: it is done with all those before, too. One that
 * had begun when it last looked for another is missed: then there is another one, but not before that is told or counted. Else
 * each look would find the next one begun, and miss it, for ever.
 */
static void delay_for_sure(void)
{
    struct sampler_delay delay = {.number = 0};
    bool is_seen = false;

    while (!is_seen) {
        set_state(0, "_thread_in_Java");
        begin_safepoint();
        is_seen = has_record_of(safepoints, 200 * JW_NS_PER_MS);
        const uint64_t slow = jw_counter(JW_COUNT_SAFEPOINTS_SLOW);

        set_state(0, "_thread_blocked");
        reach(20 * JW_NS_PER_MS);
        end_safepoint(1);
        while (jw_counter(JW_COUNT_SAFEPOINTS_SLOW) == slow)
            look_for_records();
        /* Else the ring is full after some of them. */
        while (delay.number != safepoints && sampler_delays_take(&delay))
            continue;
    }
    while (delay.number != safepoints)
        if (!sampler_delays_take(&delay))
            look_for_records();
    wait_for_rest(0);
}

/* The watching thread is at work from here on: it has seen one, which kept nobody waiting. */
static void begin_run(const char *state, const char *other_state)
{
    const char *const states[BUSY] = {state, other_state};

    const struct sampler_config config = {
        .generations = generations,
        .cpu = SAMPLER_CPU_NONE,
        .interval_ns = JW_NS_PER_SECOND,
        .late_ns = THRESHOLD_NS,
        .depth_max = 64,
        .with_native = true,
    };

    begin_workers(BUSY, 0);
    cr_assert(sampler_start(&config, &err), "%s", err.message);
    for (uint32_t i = 0; i < BUSY; i++) {
        const struct thread_java java = {.env = env_of(i), .java_id = i + 1, .name = "late"};

        thread_set_java(thread_find(workers[i].tid), &java);
        serials[i] = thread_serial(thread_find(workers[i].tid));
        set_state(i, "_thread_blocked");
    }
    delay_until(1);
    delay_for_sure();
    slow_before = jw_counter(JW_COUNT_SAFEPOINTS_SLOW);
    for (uint32_t i = 0; i < BUSY; i++)
        set_state(i, states[i]);
}

static void end_run(void)
{
    cr_assert(sampler_stop(DRAIN_NS));
    release_workers();
    join_workers();
    expect_conservation();
}

static void note(const struct event_record *record, void *argument)
{
    (void)argument;
    cr_assert_eq(record->kind, EVENT_LATE);
    cr_assert_neq(record->trace, STORE_NONE);
    for (uint32_t i = 0; i < BUSY; i++)
        late.of[i] += record->thread_serial == serials[i];
    if (record->value >= late.last.value)
        late.last = *record;
}

static bool note_late(struct generation *generation, void *argument)
{
    event_take(generation->events, note, argument);
    return true;
}

/* False: there is no room to rotate into yet, and what came since the last one is not noted. */
static bool note_all(void)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        event_take(closed->events, note, NULL);
    (void)generations_retire(generations, note_late, NULL);
    sched_yield();
    return closed != NULL;
}

static void look_for_records(void)
{
    (void)note_all();
}

static void wait_for_records(uint32_t worker, uint32_t more)
{
    const uint32_t wanted = late.of[worker] + more;

    while (late.of[worker] < wanted)
        look_for_records();
}

/* No signal to it is on its way, nor is it inside of the handler: for sure, if nobody asks any more. What it left is noted. */
static void wait_for_rest(uint32_t worker)
{
    while (engine_late_claims(thread_find(workers[worker].tid)))
        sched_yield();
    while (!note_all())
        continue;
    expect_conservation();
}

/* Of the safepoint before some may still be on their way. */
static bool has_record_of(uint64_t number, uint64_t within_ns)
{
    const uint64_t end_ns = jw_now_ns() + within_ns;

    while (late.last.value < SAMPLER_DELAY_VALUE(number, 1) && jw_now_ns() < end_ns)
        look_for_records();
    return late.last.value >= SAMPLER_DELAY_VALUE(number, 1);
}

static void wait_for_record_of(uint64_t number)
{
    while (!has_record_of(number, JW_NS_PER_SECOND))
        continue;
}

static void wait_for_delay(struct sampler_delay *out)
{
    while (!sampler_delays_take(out))
        look_for_records();
}

Test(engine_late, who_runs_java_or_the_jvm_leaves_its_stack_and_the_last_one_is_named)
{
    struct sampler_delay delay;

    begin_run("_thread_in_Java", "_thread_blocked");
    begin_safepoint();
    wait_for_records(0, 2);
    set_state(0, "_thread_blocked");
    set_state(1, "_thread_in_vm");
    wait_for_records(1, 2); /* the second is of a look that saw both as they are now */
    wait_for_rest(0);
    wait_for_records(1, 1);
    reach(50 * JW_NS_PER_MS);
    end_safepoint(3 * JW_NS_PER_MS);
    wait_for_delay(&delay);
    while (late.last.value < SAMPLER_DELAY_VALUE(delay.number, delay.record))
        look_for_records();
    cr_assert(eq(u64, delay.number, safepoints));
    cr_assert(eq(u64, delay.reach_ns, 50 * JW_NS_PER_MS));
    cr_assert_eq(delay.nobody, SAMPLER_DELAY_UNSEEN);
    cr_assert(ge(u32, delay.look_count, 2));
    cr_assert(eq(u32, delay.running[0], 1));
    cr_assert(delay.facts.is_known);
    cr_assert(eq(u64, late.last.thread_serial, serials[1]));
    cr_assert(eq(u32, late.last.state, VM_THREAD_DELAYS_IN_VM));
    end_run();
    cr_assert(not(sampler_delays_take(&delay)));
}

Test(engine_late, a_safepoint_that_is_reached_in_time_is_not_told)
{
    struct sampler_delay delay;

    begin_run("_thread_in_Java", "_thread_in_native");
    begin_safepoint();
    wait_for_record_of(safepoints);
    reach(THRESHOLD_NS - 1);
    end_safepoint(1);
    begin_safepoint();
    wait_for_record_of(safepoints);
    reach(THRESHOLD_NS);
    end_safepoint(1);
    wait_for_delay(&delay);
    end_run();
    cr_assert(eq(u64, delay.number, safepoints));
    cr_assert(not(sampler_delays_take(&delay)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_SAFEPOINTS_SLOW) - slow_before, 1));
}

Test(engine_late, where_nobody_runs_nobody_is_signalled_and_nobody_is_named)
{
    struct sampler_delay delay;

    begin_run("_thread_in_native", "_thread_blocked");
    /* Of signals that were asked for. One from before may come yet, whose claim the handler before it took: it counts as not asked for. */
    const uint64_t asked = jw_counter(JW_COUNT_SPARED_LATE);
    const uint64_t unasked = jw_counter(JW_COUNT_SPARED_UNASKED);
    const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
    const uint64_t taken = late.of[0] + late.of[1];
    do /* a slow one may have come and gone between two looks: counted, with nothing to tell of it */
        delay_until(jw_counter(JW_COUNT_SAFEPOINTS_SLOW) + 1);
    while (!sampler_delays_take(&delay));
    end_run();
    cr_assert(eq(u32, delay.record, 0));
    cr_assert_neq(delay.nobody, SAMPLER_DELAY_AT_POLL);
    look_for_records();
    cr_assert(eq(u64, jw_counter(JW_COUNT_SPARED_LATE), asked));
    cr_assert(le(u64, jw_counter(JW_COUNT_SIGNALS) - signals,
                 jw_counter(JW_COUNT_SPARED_UNASKED) - unasked));
    cr_assert(eq(u64, late.of[0] + late.of[1], taken));
}

/* As the fake tells it, which needs no time for it: between two looks, most likely. */
Test(engine_late, one_that_passes_between_two_looks_is_told_with_its_own_figures)
{
    struct sampler_delay delay;

    begin_run("_thread_blocked", "_thread_blocked");
    for (int i = 0; i < 20; i++) {
        begin_safepoint();
        reach(30 * JW_NS_PER_MS + safepoints);
        end_safepoint(2 * JW_NS_PER_MS + safepoints);
        wait_for_delay(&delay);
        cr_assert(eq(u64, delay.number, safepoints));
        cr_assert(eq(u64, delay.reach_ns, 30 * JW_NS_PER_MS + safepoints));
        cr_assert(eq(u64, delay.inside_ns, 2 * JW_NS_PER_MS + safepoints));
        cr_assert(eq(u32, delay.record, 0));
    }
    end_run();
}

static _Atomic uint32_t burn_on; /* relaxed: ends a loop */
static _Atomic uint32_t vm_tid;
static cpu_set_t one; /* processor */
static char vm_name[] = "VM Thread";

/* Two of these share a processor, so each waits for it. */
static void *burn(void *name)
{
    if (name != NULL) {
        cr_assert_eq(pthread_setname_np(pthread_self(), name), 0);
        jw_store_release(&vm_tid, (uint32_t)os_gettid());
    }
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    while (jw_load_relaxed(&burn_on))
        continue;
    return NULL;
}

/* The kernel says how long a thread waited for a processor. */
static uint64_t waited_ns_of_vm(void)
{
    struct os_task_facts facts;

    cr_assert(os_task_facts((int)jw_load_acquire(&vm_tid), &facts));
    return facts.waited_ns;
}

Test(engine_late, where_all_have_stopped_and_the_jvms_thread_had_no_processor_it_is_told_so)
{
    struct sampler_delay delay = {.nobody = SAMPLER_DELAY_UNSEEN};
    pthread_t threads[2];

    if (access("/proc/self/schedstat", R_OK) != 0)
        cr_skip("this kernel does not say what waited for a processor");
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    jw_store_relaxed(&burn_on, 1);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, burn, i == 0 ? vm_name : NULL), 0);
    while (jw_load_acquire(&vm_tid) == 0)
        sched_yield();
    begin_run("_thread_blocked", "_thread_in_native");
    while (delay.nobody != SAMPLER_DELAY_OF_VM_THREAD) {
        const uint64_t before_ns = waited_ns_of_vm();

        begin_safepoint();
        while (waited_ns_of_vm() < before_ns + 20 * JW_NS_PER_MS)
            look_for_records();
        reach(THRESHOLD_NS);
        end_safepoint(1);
        wait_for_delay(&delay);
    }
    end_run();
    jw_store_relaxed(&burn_on, 0);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    cr_assert(eq(u64, delay.number, safepoints));
    cr_assert(eq(u32, delay.record, 0));
    cr_assert(eq(u32, delay.running[0], 0));
    cr_assert(delay.facts.is_known);
    cr_assert(ge(u64, delay.facts.waited_ns * 2, delay.reach_ns));
}

/* Of the test proper; the counter of what is untold comes behind that of what is slow. */
static uint64_t put_since(uint64_t untold_before)
{
    const uint64_t untold = jw_counter(JW_COUNT_SAFEPOINTS_UNTOLD) - untold_before;

    return jw_counter(JW_COUNT_SAFEPOINTS_SLOW) - slow_before - untold;
}

Test(engine_late, of_more_than_the_ring_holds_the_rest_is_counted)
{
    struct sampler_delay delay;
    uint64_t taken = 0;

    begin_run("_thread_blocked", "_thread_blocked");
    /* Of several that pass between two looks none is told either, here and before. */
    const uint64_t untold_before = jw_counter(JW_COUNT_SAFEPOINTS_UNTOLD);
    while (put_since(untold_before) < SAMPLER_DELAYS_MAX)
        delay_until(jw_counter(JW_COUNT_SAFEPOINTS_SLOW) + 1);
    delay_until(jw_counter(JW_COUNT_SAFEPOINTS_SLOW) + 3);
    end_run();
    while (sampler_delays_take(&delay))
        taken++;
    cr_assert(eq(u64, taken, SAMPLER_DELAYS_MAX));
    cr_assert(eq(u64, jw_counter(JW_COUNT_SAFEPOINTS_UNTOLD) - untold_before,
                 jw_counter(JW_COUNT_SAFEPOINTS_SLOW) - slow_before - SAMPLER_DELAYS_MAX));
}

Test(engine_late, a_run_that_ends_while_a_safepoint_is_waited_for_leaves_none_of_it)
{
    struct sampler_delay delay;

    begin_run("_thread_in_Java", "_thread_blocked");
    begin_safepoint();
    wait_for_records(0, 1);
    end_run();
    cr_assert(not(sampler_delays_take(&delay)));
    /* And the next one begins with none. */
    cr_assert(eq(u64, jw_counter(JW_COUNT_SAFEPOINTS_SLOW) - slow_before, 0));
}
