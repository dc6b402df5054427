/* Clocks of threads and of the process: what is seen of each life, and what is counted twice: nothing. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"

#define INTERVAL_NS (10 * JW_NS_PER_MS)
#define DRAIN_NS    (100 * JW_NS_PER_SECOND) /* a guard: the machine may be busy */

static struct generations *generations;
static struct jw_error err;

/* What sampler_cpu_each told last, by index; and how often a thread was told to have ended. */
static struct sampler_cpu told[THREAD_RECORDS_MAX];
static bool is_told[THREAD_RECORDS_MAX];
static uint32_t ends_told;

static void open_generations(void)
{
    const struct generations_config config = {.memory_bytes = 0};

    /* An emulator has threads of its own in the task list, and dies when they are signalled. */
    if (strcmp(arch_facts.name, "aarch64") == 0)
        cr_skip_test("not under an emulator");
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    walk_open_none();
}

TestSuite(sampler_cpu, .init = open_generations, .timeout = 1800);

static void start_with(const char *filter, uint64_t interval_ns)
{
    const struct sampler_config config = {
        .filter = filter,
        .generations = generations,
        .cpu = SAMPLER_CPU_TIMER,
        .interval_ns = interval_ns,
        .depth_max = 64,
        .with_native = true,
    };

    cr_assert(sampler_start(&config, &err), "%s", err.message);
}

static void start(void)
{
    start_with(NULL, INTERVAL_NS);
}

static void stop(void)
{
    cr_assert(sampler_stop(DRAIN_NS));
}

static void note(const struct sampler_cpu *cpu, void *argument)
{
    (void)argument;
    cr_assert(not(is_told[cpu->thread]), "one record was told twice in a round");
    told[cpu->thread] = *cpu;
    is_told[cpu->thread] = true;
    ends_told += cpu->is_ended;
}

static void each(uint64_t oldest_generation)
{
    memset(is_told, 0, sizeof is_told);
    sampler_cpu_each(oldest_generation, note, NULL);
}

static uint64_t cpu_ns_of(uint32_t tid)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns((int)tid, &cpu_ns));
    return cpu_ns;
}

static void burn(uint64_t duration_ns)
{
    const uint64_t end_ns = cpu_ns_of((uint32_t)os_gettid()) + duration_ns;

    while (cpu_ns_of((uint32_t)os_gettid()) < end_ns)
        ;
}

/* Burns until the scan has looked at the list of tasks again. */
static void scan(void)
{
    const uint32_t self = (uint32_t)os_gettid();
    const uint32_t stamp = thread_scan_stamp(thread_find(self));

    while (thread_scan_stamp(thread_find(self)) == stamp) {
        burn(JW_NS_PER_MS);
        sampler_scan();
    }
}

/* A thread that does `before`, waits, does `after`, waits, and ends with `last`. */
struct worker {
    pthread_t thread;
    void (*before)(void), (*after)(void), (*last)(void);
    uint32_t tid;
    uint64_t last_ns; /* of its clock, right before its end */
};

static pthread_barrier_t steps;

static void *work(void *argument)
{
    struct worker *worker = argument;

    worker->tid = (uint32_t)os_gettid();
    if (worker->before != NULL)
        worker->before();
    pthread_barrier_wait(&steps);
    pthread_barrier_wait(&steps);
    if (worker->after != NULL)
        worker->after();
    pthread_barrier_wait(&steps);
    pthread_barrier_wait(&steps);
    if (worker->last != NULL)
        worker->last();
    worker->last_ns = cpu_ns_of(worker->tid);
    return NULL;
}

static void step(void)
{
    pthread_barrier_wait(&steps);
}

static void begin(struct worker *worker)
{
    pthread_barrier_init(&steps, NULL, 2);
    cr_assert(eq(int, pthread_create(&worker->thread, NULL, work, worker), 0));
    step();
}

static void end(struct worker *worker)
{
    step();
    pthread_join(worker->thread, NULL);
}

/* Its record when the scan had found it, and the one that it has after `after`. */
static void find_then_go_on(struct worker *worker, thread_index *found, thread_index *later)
{
    begin(worker);
    while (thread_find(worker->tid) == THREAD_NONE)
        scan();
    *found = thread_find(worker->tid);
    step();
    step();
    *later = thread_find(worker->tid);
}

static void burn_much(void)
{
    burn(60 * JW_NS_PER_MS);
}

static void burn_little(void)
{
    burn(2 * JW_NS_PER_MS);
}

static void begin_java(void)
{
    const struct thread_java java = {.java_id = 7, .name = "worker", .group = "main"};

    sampler_thread_start((uint32_t)os_gettid(), &java);
}

static void burn_and_begin_java(void)
{
    burn_much();
    begin_java();
}

/* The signal of its timer may be due just then: it finds the record that it is of, not one that has ended. */
Test(sampler_cpu, a_record_that_gives_way_to_another_loses_no_signal_of_its_timer)
{
    start_with(NULL, JW_NS_PER_MS / 10);
    const uint64_t lost = jw_counter(JW_COUNT_LOST_NO_THREAD);
    const uint64_t samples = jw_counter(JW_COUNT_SAMPLES);

    for (int i = 0; i < 3000; i++) {
        begin_java();
        burn(JW_NS_PER_MS / 20);
    }
    stop();
    cr_assert(ge(u64, jw_counter(JW_COUNT_SAMPLES), samples + 1));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_NO_THREAD), lost));
}

static void live_and_die_as_java(void)
{
    burn_little();
    sampler_thread_end((uint32_t)os_gettid());
    burn_little();
}

Test(sampler_cpu, a_thread_that_is_older_than_the_run_counts_from_its_start)
{
    struct worker worker = {.before = burn_much, .after = burn_little};

    begin(&worker);
    const uint64_t before_ns = cpu_ns_of(worker.tid);
    start();
    step();
    step();
    each(0);
    const uint64_t after_ns = cpu_ns_of(worker.tid);
    const thread_index thread = thread_find(worker.tid);
    cr_assert(is_told[thread]);
    cr_assert(ge(u64, told[thread].used_ns, 2 * JW_NS_PER_MS));
    cr_assert(le(u64, told[thread].used_ns, after_ns - before_ns));
    cr_assert(not(told[thread].is_ended));
    end(&worker);
    stop();
}

Test(sampler_cpu, a_thread_that_is_found_late_counts_from_its_birth)
{
    struct worker worker = {.before = burn_much};

    start();
    begin(&worker);
    while (thread_find(worker.tid) == THREAD_NONE)
        scan();
    each(0);
    const thread_index thread = thread_find(worker.tid);
    cr_assert(ge(u64, told[thread].used_ns, 60 * JW_NS_PER_MS));
    cr_assert(le(u64, told[thread].used_ns, cpu_ns_of(worker.tid)));
    step();
    step();
    end(&worker);
    stop();
}

Test(sampler_cpu, a_java_thread_is_seen_until_after_its_end_and_told_once)
{
    struct worker worker = {.before = begin_java, .last = live_and_die_as_java};

    start();
    begin(&worker);
    const thread_index thread = thread_find(worker.tid);
    const uint64_t serial = thread_serial(thread);
    step();
    step();
    end(&worker);
    while (thread_is_live(thread))
        scan();
    each(0);
    cr_assert(is_told[thread]);
    cr_assert(not(told[thread].is_ended)); /* a record of it may still be taken */
    each(UINT64_MAX);
    cr_assert(eq(u64, told[thread].serial, serial));
    cr_assert(told[thread].is_ended);
    cr_assert(told[thread].is_short);
    cr_assert(ge(u64, told[thread].used_ns, worker.last_ns), "the end of a thread was not seen");
    cr_assert(eq(u32, ends_told, 1));
    each(UINT64_MAX);
    cr_assert(not(is_told[thread]));
    stop();
}

Test(sampler_cpu, a_thread_that_the_filter_leaves_out_is_told_so)
{
    struct worker worker = {.before = burn_little};
    char filter[16];
    thread_index thread, same;

    snprintf(filter, sizeof filter, "%d", os_gettid());
    start_with(filter, INTERVAL_NS);
    find_then_go_on(&worker, &thread, &same);
    each(0);
    cr_assert(is_told[thread]);
    cr_assert(told[thread].is_left_out);
    cr_assert(not(told[thread_find((uint32_t)os_gettid())].is_left_out));
    end(&worker);
    stop();
}

Test(sampler_cpu, a_native_thread_is_seen_as_the_last_scan_saw_it)
{
    struct worker worker = {.before = burn_much, .last = burn_little};

    start();
    begin(&worker);
    while (thread_find(worker.tid) == THREAD_NONE)
        scan();
    step();
    step();
    scan();
    const thread_index thread = thread_find(worker.tid);
    end(&worker);
    while (os_task_is_alive((int)worker.tid)) /* it may be joined a moment before */
        sched_yield();
    while (thread_is_live(thread))
        scan();
    each(UINT64_MAX);
    cr_assert(told[thread].is_ended);
    cr_assert(not(told[thread].is_short));
    cr_assert(ge(u64, told[thread].used_ns, 60 * JW_NS_PER_MS));
    cr_assert(le(u64, told[thread].used_ns, worker.last_ns));
    stop();
}

/* It had a record as a native thread; its time is split where it became a Java thread. */
Test(sampler_cpu, a_native_thread_that_attaches_counts_once)
{
    struct worker worker = {.before = burn_little, .after = burn_and_begin_java};
    thread_index native, java;

    start();
    find_then_go_on(&worker, &native, &java);
    cr_assert(ne(u32, java, native));
    each(0);
    cr_assert(is_told[native]);
    cr_assert(ge(u64, told[native].used_ns, 62 * JW_NS_PER_MS));
    cr_assert(le(u64, told[native].used_ns + told[java].used_ns, cpu_ns_of(worker.tid)));
    end(&worker);
    stop();
}

/* The list of tasks may show a Java thread before it tells of itself: that is not another thread. */
Test(sampler_cpu, a_thread_that_the_scan_found_first_has_all_of_its_time)
{
    struct worker worker = {.before = burn_little, .after = begin_java};
    thread_index native, java;

    start_with(NULL, JW_NS_PER_SECOND); /* who used one as a native thread is told as one */
    find_then_go_on(&worker, &native, &java);
    each(0);
    cr_assert(ne(u32, java, native));
    cr_assert(not(is_told[native]));
    cr_assert(ge(u64, told[java].used_ns, 2 * JW_NS_PER_MS));
    end(&worker);
    stop();
}

Test(sampler_cpu, a_clock_that_stands_lower_is_of_another_thread)
{
    struct worker worker = {.before = burn_little};

    start();
    begin(&worker);
    while (thread_find(worker.tid) == THREAD_NONE)
        scan();
    const thread_index thread = thread_find(worker.tid);
    const uint64_t serial = thread_serial(thread);
    thread_cpu_look(thread, JW_NS_PER_SECOND); /* the one before had this number, and used more */
    while (thread_find(worker.tid) == thread && thread_serial(thread) == serial)
        scan();
    each(0);
    cr_assert(ge(u64, told[thread].used_ns, JW_NS_PER_SECOND));
    const thread_index other = thread_find(worker.tid);
    cr_assert(ge(u64, told[other].used_ns, 2 * JW_NS_PER_MS));
    cr_assert(lt(u64, told[other].used_ns, JW_NS_PER_SECOND));
    step();
    step();
    end(&worker);
    stop();
}

Test(sampler_cpu, a_thread_without_a_timer_is_told_so)
{
    struct worker worker = {.before = burn_little};
    struct rlimit limit;
    const uint64_t untimed = jw_counter(JW_COUNT_THREADS_UNTIMED);

    start();
    cr_assert(getrlimit(RLIMIT_SIGPENDING, &limit) == 0);
    const struct rlimit none = {0, limit.rlim_max};
    cr_assert(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
    begin(&worker);
    while (thread_find(worker.tid) == THREAD_NONE)
        scan();
    cr_assert(setrlimit(RLIMIT_SIGPENDING, &limit) == 0);
    const thread_index thread = thread_find(worker.tid);
    cr_assert(not(thread_has_timer(thread)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_THREADS_UNTIMED), untimed + 1));
    each(0);
    cr_assert(told[thread].is_refused);
    cr_assert(ge(u64, told[thread].used_ns, 2 * JW_NS_PER_MS));
    cr_assert(engine_cpu_fine_has(thread)); /* its clock is compared instead */
    cr_assert(not(told[thread_find((uint32_t)os_gettid())].is_refused));
    step();
    step();
    end(&worker);
    stop();
}

Test(sampler_cpu, a_second_run_begins_with_nothing)
{
    const uint32_t self = (uint32_t)os_gettid();

    start();
    burn_much();
    each(0);
    cr_assert(ge(u64, told[thread_find(self)].used_ns, 60 * JW_NS_PER_MS));
    cr_assert(ge(u64, sampler_process_cpu_ns(), 60 * JW_NS_PER_MS));
    stop();
    const thread_index old = thread_find(self);
    const uint64_t before_ns = cpu_ns_of(self);
    const uint64_t process_before_ns = os_process_cpu_ns();
    start();
    each(UINT64_MAX);
    cr_assert(not(is_told[old] && told[old].serial != thread_serial(thread_find(self))));
    cr_assert(le(u64, told[thread_find(self)].used_ns, cpu_ns_of(self) - before_ns));
    cr_assert(le(u64, sampler_process_cpu_ns(), os_process_cpu_ns() - process_before_ns));
    cr_assert(eq(u32, ends_told, 0));
    stop();
}

static struct os_wake may_end;
static _Atomic uint32_t own_tid;

static void wait_for_end(void *argument)
{
    (void)argument;
    /* order TEST_OWN: releases the number to the test. */
    jw_store_release(&own_tid, (uint32_t)os_gettid());
    (void)os_wake_wait(&may_end, OS_WAKE_NEVER);
}

Test(sampler_cpu, threads_of_ours_are_told_apart_and_get_no_timer)
{
    static struct os_thread thread;

    os_wake_init(&may_end);
    cr_assert(os_thread_start(&thread, "jaywalk", wait_for_end, NULL, &err), "%s", err.message);
    /* order TEST_OWN: acquires the number. */
    while (jw_load_acquire(&own_tid) == 0)
        ;
    const uint32_t tid = jw_load_relaxed(&own_tid);
    cr_assert(os_thread_is_own((int)tid));
    cr_assert(not(os_thread_is_own(os_gettid())));
    cr_assert(not(os_thread_is_own(0)));
    start();
    const thread_index own = thread_find(tid);
    cr_assert(not(thread_has_timer(own)));
    cr_assert(thread_has_timer(thread_find((uint32_t)os_gettid())));
    os_wake_post(&may_end);
    cr_assert(os_thread_join(&thread, jw_now_ns() + DRAIN_NS));
    cr_assert(not(os_thread_is_own((int)tid)));
    each(0);
    cr_assert(told[own].is_own); /* also after its end */
    cr_assert(not(told[own].is_left_out));
    cr_assert(not(told[thread_find((uint32_t)os_gettid())].is_own));
    stop();
}
