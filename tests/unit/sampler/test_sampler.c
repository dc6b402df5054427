/* Whole samples of native threads: real timers, real signals, generations, and no JVM. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "sampler/rounds_internal.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_pace.h"
#include "support/task_state.h"
#include "unit/sampler/outcomes.h"

#define INTERVAL_NS   JW_NS_PER_MS
#define TICK_NS       (10 * JW_NS_PER_MS) /* the longest one that a kernel may have */
#define THREADS_COUNT 3
#define INDEX_BITS    14

/* Thread sanitizer keeps signals back, one of a kind: their overruns are gone. */
#if defined(__SANITIZE_THREAD__)
#define KEEPS_OVERRUNS false
#else
#define KEEPS_OVERRUNS true
#endif

/* What the records say of each thread record. */
static struct {
    uint64_t serial, weight_ns, count;
} taken[THREAD_RECORDS_MAX];
static uint64_t taken_count, wrong_serials;

TestSuite(sampler, .init = open_run, .timeout = 1800);

static void start(uint64_t interval_ns, enum sampler_cpu_engine cpu)
{
    const struct sampler_config config = {
        .generations = generations,
        .interval_ns = interval_ns,
        .depth_max = 64,
        .cpu = cpu,
        .with_native = true,
    };

    cr_assert(sampler_start(&config, &err), "%s", err.message);
}

static void take_one(const struct event_record *record, void *argument)
{
    const thread_index thread = record->thread_index;

    (void)argument;
    cr_assert(eq(u32, record->kind, EVENT_CPU_SAMPLE));
    cr_assert(lt(u32, thread, THREAD_RECORDS_MAX));
    cr_assert(ne(u32, record->trace, STORE_NONE));
    if (taken[thread].count > 0 && taken[thread].serial != record->thread_serial)
        wrong_serials++;
    taken[thread].serial = record->thread_serial;
    taken[thread].weight_ns += record->weight_ns;
    taken[thread].count++;
    taken_count++;
}

static bool take_late(struct generation *generation, void *argument)
{
    event_take(generation->events, take_one, argument);
    return true;
}

/* Takes all records; with no engine running this empties every generation. */
static void take_all(void)
{
    for (int turn = 0; turn < 2; turn++) {
        struct generation *closed = generations_rotate(generations);

        cr_assert(closed != NULL);
        event_take(closed->events, take_one, NULL);
        (void)generations_retire(generations, take_late, NULL);
    }
}

/* While engines run: what has come out of the handlers. */
static void take_some(void)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        event_take(closed->events, take_one, NULL);
    (void)generations_retire(generations, take_late, NULL);
}

static void stop(void)
{
    cr_assert(sampler_stop(DRAIN_NS));
}

static uint64_t own_cpu_ns(void)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns(os_gettid(), &cpu_ns));
    return cpu_ns;
}

static void burn_until(uint64_t cpu_ns)
{
    open_to_signals();
    while (own_cpu_ns() < cpu_ns)
        ;
}

static void expect_no_timer(thread_index index, bool is_live, void *argument)
{
    (void)is_live;
    (void)argument;
    cr_assert(not(thread_has_timer(index)));
}

/* No timer is left: a thread may burn for long without one more signal. */
static void expect_silence(void)
{
    threads_each(expect_no_timer, NULL);
    burn_until(own_cpu_ns() + 2 * TICK_NS); /* one may still be on its way */
    const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
    burn_until(own_cpu_ns() + 5 * TICK_NS);
    cr_assert(eq(u64, jw_counter(JW_COUNT_SIGNALS), signals));
}

/* Threads that wait, burn so much, wait again, burn as long as they must, and wait until they may end. */
struct worker {
    pthread_t thread;
    uint64_t burn_ns;
    uint32_t tid;
    /* Of its clock: before the run began, when it had begun, before the last sample, and after the run. */
    uint64_t base_ns, begun_ns, seen_ns, last_ns;
};
static pthread_barrier_t ready, go, done, again, end;
static _Atomic bool must_burn_on;

static void *work(void *argument)
{
    struct worker *worker = argument;

    worker->tid = (uint32_t)os_gettid();
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&go);
    burn_until(own_cpu_ns() + worker->burn_ns);
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&again);
    while (jw_load_relaxed(&must_burn_on))
        ;
    pthread_barrier_wait(&end);
    return NULL;
}

static struct worker workers[THREADS_COUNT];

static void begin_workers(uint64_t burn_ns)
{
    pthread_barrier_t *const barriers[] = {&ready, &go, &done, &again, &end};

    for (size_t i = 0; i < JW_COUNT_OF(barriers); i++)
        pthread_barrier_init(barriers[i], NULL, THREADS_COUNT + 1);
    for (size_t i = 0; i < THREADS_COUNT; i++) {
        workers[i].burn_ns = burn_ns * (i + 1);
        cr_assert(eq(int, pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0));
    }
    pthread_barrier_wait(&ready);
}

static void join_workers(void)
{
    pthread_barrier_wait(&end);
    for (size_t i = 0; i < THREADS_COUNT; i++)
        pthread_join(workers[i].thread, NULL);
}

static void end_workers(void)
{
    pthread_barrier_wait(&again);
    join_workers();
}

Test(sampler, m58_each_signal_is_a_sample_or_one_named_loss)
{
    const uint64_t samples = jw_counter(JW_COUNT_SAMPLES);

    begin_workers(100 * JW_NS_PER_MS);
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&done);
    stop();
    end_workers();
    take_all();
    expect_conservation();
    cr_assert(eq(u64, taken_count, jw_counter(JW_COUNT_SAMPLES) - samples));
    cr_assert(ge(u64, taken_count, 1));
    cr_assert(eq(u64, wrong_serials, 0));
    expect_silence();
    expect_conservation();
}

static uint64_t clock_of(const struct worker *worker)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns((int)worker->tid, &cpu_ns));
    return cpu_ns;
}

/* The worker's clock goes on by so much, and a sample comes behind that: not the next one, which may have been on its way. */
static void burn_worker(struct worker *worker, uint64_t used_ns)
{
    const thread_index index = thread_find(worker->tid);

    while (clock_of(worker) < worker->begun_ns + used_ns)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    worker->seen_ns = clock_of(worker);
    take_some();
    for (const uint64_t count = taken[index].count; taken[index].count < count + 2; take_some())
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
}

/* Lets the workers burn until they were sampled, and ends the run. What is used behind its last sample is in none; where in
 * an interval the first one comes is left to chance. */
static void expect_weights_of_clocks(void)
{
    thread_index found[THREADS_COUNT];

    jw_store_relaxed(&must_burn_on, true);
    pthread_barrier_wait(&again);
    for (size_t i = 0; i < THREADS_COUNT; i++) {
        found[i] = thread_find(workers[i].tid);
        burn_worker(&workers[i], 150 * JW_NS_PER_MS * (i + 1));
    }
    jw_store_relaxed(&must_burn_on, false);
    stop();
    for (size_t i = 0; i < THREADS_COUNT; i++)
        workers[i].last_ns = clock_of(&workers[i]);
    join_workers();
    take_all();
    for (size_t i = 0; i < THREADS_COUNT; i++) {
        const struct worker *worker = &workers[i];
        const uint64_t weight_ns = taken[found[i]].weight_ns;

        cr_assert(weight_ns + INTERVAL_NS >= worker->seen_ns - worker->begun_ns &&
                      weight_ns <= worker->last_ns - worker->base_ns + INTERVAL_NS,
                  "%lu ns in %lu samples, for %lu ns to %lu ns", (unsigned long)weight_ns,
                  (unsigned long)taken[found[i]].count,
                  (unsigned long)(worker->seen_ns - worker->begun_ns),
                  (unsigned long)(worker->last_ns - worker->base_ns));
    }
}

Test(sampler, weights_sum_to_the_cpu_clock_of_each_thread)
{
    if (!KEEPS_OVERRUNS)
        cr_skip_test("thread sanitizer keeps signals back");
    begin_workers(0);
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&done);
    for (size_t i = 0; i < THREADS_COUNT; i++)
        workers[i].base_ns = clock_of(&workers[i]);
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    for (size_t i = 0; i < THREADS_COUNT; i++)
        workers[i].begun_ns = clock_of(&workers[i]);
    expect_weights_of_clocks();
}

/* What a thread used before the scan found it comes with its first sample. It waits meanwhile: what it would use between the
 * look at its clock and the timer is lost. */
Test(sampler, a_thread_that_is_found_late_is_sampled_for_all_its_time)
{
    if (!KEEPS_OVERRUNS)
        cr_skip_test("thread sanitizer keeps signals back");
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    begin_workers(50 * JW_NS_PER_MS);
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&done);
    for (size_t i = 0; i < THREADS_COUNT; i++)
        while (!task_is_asleep(workers[i].tid))
            sched_yield();
    for (size_t i = 0; i < THREADS_COUNT; i++)
        while (thread_find(workers[i].tid) == THREAD_NONE) {
            burn_until(own_cpu_ns() + JW_NS_PER_MS);
            sampler_scan();
        }
    expect_weights_of_clocks();
}

/* The first look at the task list may miss a thread that has long been there. */
Test(sampler, a_thread_older_than_the_run_that_is_found_late_owes_no_more_than_the_run)
{
    thread_index found;

    begin_workers(150 * JW_NS_PER_MS);
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&done);
    const uint64_t before_ns = jw_now_ns();
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    thread_end(thread_find(workers[THREADS_COUNT - 1].tid), generations_number(generations));
    do {
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        sampler_scan();
        found = thread_find(workers[THREADS_COUNT - 1].tid);
    } while (found == THREAD_NONE);
    const uint64_t debt_ns = thread_take_debt(found);
    cr_assert(ge(u64, debt_ns, 1));
    cr_assert(le(u64, debt_ns, jw_now_ns() - before_ns));
    stop();
    end_workers();
}

Test(sampler, m43_it_starts_and_stops_two_hundred_times)
{
    begin_workers(400 * JW_NS_PER_MS);
    pthread_barrier_wait(&go);
    for (int i = 0; i < 200; i++) {
        start(100000, i % 10 == 9 ? SAMPLER_CPU_ITIMER : SAMPLER_CPU_TIMER);
        stop();
        expect_conservation();
        if (i % 20 == 0) {
            take_all();
            threads_reap(generations_number(generations));
        }
    }
    pthread_barrier_wait(&done);
    end_workers();
    take_all();
    expect_silence();
    expect_conservation();
}

Test(sampler, the_timer_of_the_process_samples_running_threads)
{
    begin_workers(150 * JW_NS_PER_MS);
    start(INTERVAL_NS, SAMPLER_CPU_ITIMER);
    threads_each(expect_no_timer, NULL);
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&done);
    stop();
    end_workers();
    take_all();
    expect_conservation();
    cr_assert(ge(u64, taken_count, 1));
    expect_silence();
}

/* The last turn of a run is after its engines: no timer stays that nobody takes down. */
Test(sampler, intervals_of_a_run_that_is_over_arm_nothing)
{
    struct itimerval found;

    start(INTERVAL_NS, SAMPLER_CPU_ITIMER);
    stop();
    sampler_set_intervals(2 * INTERVAL_NS, 0);
    cr_assert_eq(getitimer(ITIMER_PROF, &found), 0);
    cr_assert(found.it_value.tv_sec == 0 && found.it_value.tv_usec == 0, "a timer is armed");
}

/* After a run with it, the process' timer is whoever's sets it. */
Test(sampler, a_foreign_setitimer_signal_is_not_ours_after_a_run)
{
    start(INTERVAL_NS, SAMPLER_CPU_ITIMER);
    stop();
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    cr_assert(os_itimer_arm(JW_NS_PER_MS, &err), "%s", err.message);
    const uint64_t foreign = jw_counter(JW_COUNT_FOREIGN_SIGNALS);
    while (jw_counter(JW_COUNT_FOREIGN_SIGNALS) == foreign)
        burn_until(own_cpu_ns() + TICK_NS);
    os_itimer_disarm();
    stop();
    take_all();
    expect_conservation();
}

/* Threads that come and go ----------------------------------------------------------------------- */

static void *live_shortly(void *argument)
{
    const bool is_java = argument != NULL;
    const uint32_t tid = (uint32_t)os_gettid();
    const struct thread_java java = {.java_id = 7, .name = "short", .group = "main"};

    if (is_java)
        sampler_thread_start(tid, &java);
    burn_until(own_cpu_ns() + 2 * JW_NS_PER_MS);
    if (is_java)
        sampler_thread_end(tid);
    return NULL;
}

Test(sampler, m32_threads_may_come_and_go)
{
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    for (int round = 0; round < 100; round++) {
        pthread_t threads[4];

        for (uintptr_t i = 0; i < JW_COUNT_OF(threads); i++)
            cr_assert(eq(int, pthread_create(&threads[i], NULL, live_shortly, (void *)(i % 2)), 0));
        sampler_scan();
        for (size_t i = 0; i < JW_COUNT_OF(threads); i++)
            pthread_join(threads[i], NULL);
        if (round % 10 == 9) {
            take_all();
            threads_reap(generations_number(generations));
        }
    }
    stop();
    take_all();
    expect_conservation();
    expect_silence();
}

static _Atomic bool is_over;

/* A Java thread that attaches and detaches, and says so each time. */
static void *renew(void *argument)
{
    const struct thread_java java = {.java_id = 7, .name = "renewed", .group = "main"};
    const uint32_t tid = (uint32_t)os_gettid();

    *(_Atomic uint32_t *)argument = tid;
    pthread_barrier_wait(&ready);
    for (int i = 0; i < 3000; i++)
        sampler_thread_start(tid, &java);
    /* order TEST_OVER: releases nothing but the end. */
    jw_store_release(&is_over, true);
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&end);
    return NULL;
}

static void count_timer(thread_index index, bool is_live, void *argument)
{
    uint32_t *live_timers = argument;

    cr_assert(is_live || !thread_has_timer(index), "an ended record has a timer");
    *live_timers += is_live && thread_has_timer(index);
}

Test(sampler, a_thread_found_while_it_tells_of_itself_has_one_timer)
{
    static _Atomic uint32_t tid;
    const struct thread_java java = {.java_id = 7, .name = "found", .group = "main"};
    pthread_t thread;
    uint32_t timers_before = 0, timers = 0;

    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    threads_each(count_timer, &timers_before);
    cr_assert(eq(int, pthread_create(&thread, NULL, renew, (void *)(uintptr_t)&tid), 0));
    pthread_barrier_wait(&ready);
    /* order TEST_OVER: acquires nothing but the end. */
    while (!jw_load_acquire(&is_over))
        sampler_thread_found(jw_load_relaxed(&tid), &java);
    pthread_barrier_wait(&done);
    threads_each(count_timer, &timers);
    cr_assert(eq(u32, timers, timers_before + 1));
    stop();
    pthread_barrier_wait(&end);
    pthread_join(thread, NULL);
    expect_silence();
}

/* Payloads and losses ---------------------------------------------------------------------------- */

static uint32_t payload_of(thread_index thread)
{
    return (uint32_t)(thread_serial(thread) << INDEX_BITS) | thread;
}

Test(sampler, m32_a_late_signal_of_a_recycled_record_is_told_apart)
{
    bool is_new;

    start(JW_NS_PER_SECOND, SAMPLER_CPU_TIMER);
    const thread_index first = thread_add(4000000, &is_new);
    const uint32_t payload = payload_of(first);
    cr_assert(eq(u32, sampler_thread_of(payload), first));

    thread_end(first, 1);
    cr_assert(eq(u32, sampler_thread_of(payload), THREAD_NONE));
    threads_reap(2);
    const thread_index second = thread_add(4000001, &is_new);
    cr_assert(eq(u32, second, first));
    cr_assert(eq(u32, sampler_thread_of(payload), THREAD_NONE));
    cr_assert(eq(u32, sampler_thread_of(payload_of(second)), second));

    const uint64_t lost = jw_counter(JW_COUNT_LOST_NO_THREAD);
    const union sigval value = {.sival_ptr = (void *)signals_cookie(payload)};
    cr_assert(eq(int, sigqueue(getpid(), SIGPROF, value), 0));
    while (jw_counter(JW_COUNT_LOST_NO_THREAD) == lost)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_NO_THREAD), lost + 1));
    stop();
    expect_conservation();
}

Test(sampler, any_payload_names_a_live_record_or_none)
{
    start(JW_NS_PER_SECOND, SAMPLER_CPU_TIMER);
    for (uint32_t i = 0; i < 100000; i++) {
        const thread_index thread = sampler_thread_of((uint32_t)jw_hash_word(i));

        cr_assert(thread == THREAD_NONE || thread_is_live(thread));
    }
    stop();
}

Test(sampler, samples_without_room_to_walk_are_counted)
{
    static struct sample_scratch *all[2048];
    size_t count = 0;

    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    for (uint32_t tid = 1; tid < 100000 && count < JW_COUNT_OF(all); tid++) {
        struct sample_scratch *scratch = sample_scratch_take(tid);

        if (scratch != NULL)
            all[count++] = scratch;
    }
    for (size_t i = 0; i < count; i++) /* nobody gets the room of another */
        for (size_t j = 0; j < i; j++)
            cr_assert(all[i] != all[j]);

    const uint64_t lost = jw_counter(JW_COUNT_LOST_NO_SCRATCH);
    while (jw_counter(JW_COUNT_LOST_NO_SCRATCH) == lost)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);

    for (size_t i = 0; i < count; i++)
        sample_scratch_give(all[i]);
    const uint64_t samples = jw_counter(JW_COUNT_SAMPLES);
    while (jw_counter(JW_COUNT_SAMPLES) == samples)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    stop();
    take_all();
    expect_conservation();
}

/* A record of a run that ended says nothing of the thread that has its tid now. */
Test(sampler, records_of_an_earlier_run_are_not_used_again)
{
    const struct thread_java java = {.java_id = 7, .name = "old", .group = "main"};
    const uint32_t tid = (uint32_t)os_gettid();
    struct thread_info info;

    start(JW_NS_PER_SECOND, SAMPLER_CPU_TIMER);
    sampler_thread_start(tid, &java);
    const uint64_t serial = thread_serial(thread_find(tid));
    stop();
    start(JW_NS_PER_SECOND, SAMPLER_CPU_TIMER);
    cr_assert(ne(u64, thread_serial(thread_find(tid)), serial));
    cr_assert(thread_info(thread_find(tid), &info));
    cr_assert_str_eq(info.java_name, "");
    stop();
}

Test(sampler, hooks_that_come_while_nothing_runs_leave_nothing_behind)
{
    const struct thread_java java = {.java_id = 7, .name = "idle", .group = "main"};
    const uint32_t tid = (uint32_t)os_gettid();

    sampler_thread_start(tid, &java);
    sampler_thread_end(tid);
    start(INTERVAL_NS, SAMPLER_CPU_TIMER);
    stop();
    sampler_thread_start(tid, &java);
    sampler_thread_end(tid);
    expect_silence();
}

/* What a turn of the sampler's thread reads does not grow with the interval: so all that it takes gives way. */
Test(sampler, m52_a_turn_that_is_stretched_reads_as_many_clocks_as_before)
{
    const uint32_t asked = rounds_readings(10 * JW_NS_PER_MS);

    cr_assert(ge(u32, rounds_readings(100 * JW_NS_PER_MS), 2 * asked), "asked for, it reads more");
    start(10 * JW_NS_PER_MS, SAMPLER_CPU_FINE);
    cr_assert(eq(u64, sampler_stretch(), SAMPLER_PACE_ONE));
    cr_assert(eq(u32, rounds_readings(10 * JW_NS_PER_MS), asked));
    sampler_set_intervals(100 * JW_NS_PER_MS, 0);
    cr_assert(eq(u64, sampler_stretch(), 10 * SAMPLER_PACE_ONE));
    cr_assert(eq(u32, rounds_readings(100 * JW_NS_PER_MS), asked));
    stop();
}
