/* Samples of what the kernel counts, on real threads: weights are counts, and no thread is held for ever. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit/sampler/outcomes.h"

#define PAGES      2000u
#define PAGE_BYTES ((size_t)sysconf(_SC_PAGESIZE))

static uint64_t counted, count_samples; /* of this thread */
static uint64_t own_serial;

static void take_counts(const struct event_record *record, void *argument)
{
    (void)argument;
    cr_assert(eq(u32, record->kind, EVENT_COUNTER_SAMPLE));
    cr_assert(ne(u32, record->trace, STORE_NONE));
    cr_assert(ge(u64, record->weight_ns, 1));
    if (record->thread_serial != own_serial)
        return;
    counted += record->weight_ns;
    count_samples++;
}

static bool take_counts_late(struct generation *generation, void *argument)
{
    event_take(generation->events, take_counts, argument);
    return true;
}

static void take_all(void)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        event_take(closed->events, take_counts, NULL);
    (void)generations_retire(generations, take_counts_late, NULL);
}

static void start_counting(const char *name, uint64_t interval)
{
    struct sampler_config config = {
        .generations = generations,
        .cpu = SAMPLER_CPU_PERF,
        .interval_ns = JW_NS_PER_MS,
        .depth_max = 64,
        .with_native = true,
        .is_counting = true,
    };

    cr_assert(os_perf_find(name, &config.counter, &err), "%s", err.message);
    if (!engine_cpu_perf_check_counter(&config.counter, &err))
        cr_skip_test("NOT RUN: %s", err.message);
    config.counter.period = interval;
    cr_assert(sampler_start(&config, &err), "%s", err.message);
    own_serial = thread_serial(thread_find((uint32_t)os_gettid()));
}

static void stop_counting(void)
{
    cr_assert(sampler_stop(DRAIN_NS));
    take_all();
    take_all();
    expect_conservation();
}

/* Each page once, and each for the first time: no huge ones. */
static void touch_pages(void)
{
    const size_t bytes = PAGES * PAGE_BYTES;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile unsigned char *pages = memory;

    cr_assert(ne(ptr, memory, MAP_FAILED));
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        pages[i * PAGE_BYTES] = 1;
    (void)munmap(memory, bytes);
}

TestSuite(engine_cpu_perf_count, .init = open_run, .timeout = 1800);

Test(engine_cpu_perf_count, weights_are_what_the_kernel_counted)
{
    start_counting("page-faults", 100);
    touch_pages();
    stop_counting();
    cr_assert(ge(u64, counted, PAGES - 100));
    cr_assert(ge(u64, count_samples, 1));
    cr_assert(le(u64, count_samples, counted / 100));
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}

/* Signals that are blocked fold into one, and its ring is soon full: the next sample stands for all. */
Test(engine_cpu_perf_count, a_thread_that_blocks_the_signal_loses_no_count)
{
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPROF);
    start_counting("page-faults", 1);
    cr_assert(eq(int, pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0));
    touch_pages();
    cr_assert(eq(int, pthread_sigmask(SIG_UNBLOCK, &blocked, NULL), 0));
    touch_pages();
    stop_counting();
    cr_assert(ge(u64, counted, PAGES));
}

static _Atomic uint32_t has_event;

static void *wait_long(void *argument)
{
    const uint32_t tid = (uint32_t)os_gettid();
    char byte;

    /* An event that is opened while it waits sees no switch. */
    while (thread_find(tid) == THREAD_NONE || !engine_cpu_perf_has(thread_find(tid)))
        ;
    jw_store_release(&has_event, 1);
    return read(*(int *)argument, &byte, 1) == 1 ? argument : NULL;
}

/*
 * Each sample of a thread that waits is a context switch, which is a sample: for ever, and at any speed, were its interval not doubled.
 * The thread gets what it waits for, though nobody scans: the agent's thread may wait for that very thread.
 */
Test(engine_cpu_perf_count, what_samples_themselves_bring_about_comes_to_an_end)
{
    const uint64_t before = jw_counter(JW_COUNT_PERF_SLOWED);
    pthread_t waiting;
    void *got = NULL;
    int ends[2];

    cr_assert(eq(int, pipe(ends), 0));
    start_counting("context-switches", 1);
    cr_assert(eq(int, pthread_create(&waiting, NULL, wait_long, &ends[0]), 0));
    while (jw_load_acquire(&has_event) == 0) {
        sampler_scan();
        usleep(1000);
    }
    while (jw_counter(JW_COUNT_PERF_SLOWED) == before)
        usleep(1000);
    cr_assert(eq(long, (long)write(ends[1], "x", 1), 1));
    cr_assert(eq(int, pthread_join(waiting, &got), 0));
    cr_assert(ne(ptr, got, NULL));
    stop_counting();
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}
