/* CPU samples by events of the kernel, on real threads. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "unit/sampler/burning.h"

#define INTERVAL_NS (500000)

static void open_perf(void)
{
    static struct jw_error why;

    open_run();
    if (!engine_cpu_perf_check(false, &why))
        cr_skip_test("NOT RUN: %s", why.message);
}

TestSuite(engine_cpu_perf, .init = open_perf, .timeout = 1800);

static uint32_t descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    uint32_t count = 0;

    cr_assert(directory != NULL);
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count;
}

Test(engine_cpu_perf, weights_of_a_thread_sum_to_its_clock_at_its_last_sample)
{
    const uint64_t unasked = jw_counter(JW_COUNT_THREADS_UNTIMED);

    burn_workers(SAMPLER_CPU_PERF, INTERVAL_NS);
    expect_weights_of_clocks();
    cr_assert(eq(u64, jw_counter(JW_COUNT_THREADS_UNTIMED), unasked));
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CPU_SIGNALS), 0));
}

/* Museum, row 41 and 69: there is none that a child could inherit, or that could be taken for one of the program's. */
Test(engine_cpu_perf, m41_no_descriptor_is_held)
{
    const uint32_t before = descriptors();

    start_run(SAMPLER_CPU_PERF, INTERVAL_NS, 0, NULL);
    cr_assert(engine_cpu_perf_has(thread_find((uint32_t)os_gettid())));
    cr_assert(eq(u32, descriptors(), before));
    burn_until(own_cpu_ns() + BURN_NS);
    stop_run();
    cr_assert(eq(u32, descriptors(), before));
    cr_assert(not(engine_cpu_perf_has(thread_find((uint32_t)os_gettid()))));
}

Test(engine_cpu_perf, after_a_stop_no_signal_comes)
{
    for (int round = 0; round < 20; round++) {
        start_run(SAMPLER_CPU_PERF, INTERVAL_NS, 0, NULL);
        burn_until(own_cpu_ns() + 2 * JW_NS_PER_MS);
        stop_run();

        const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
        burn_until(own_cpu_ns() + 2 * JW_NS_PER_MS);
        cr_assert(eq(u64, jw_counter(JW_COUNT_SIGNALS), signals));
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}

/* With no descriptor to be had every thread is sampled by its clock, at the interval asked for. Two are those of the workers' pipe,
 * one is the scan's. */
Test(engine_cpu_perf, m42_threads_that_are_refused_an_event_are_sampled_by_their_clock)
{
    const uint64_t untimed = jw_counter(JW_COUNT_THREADS_UNTIMED);
    const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct rlimit limit, few;

    cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &limit), 0));
    few = (struct rlimit){(rlim_t)lowest + 3, limit.rlim_max};
    cr_assert(eq(int, close(lowest), 0));
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &few), 0));
    burn_workers(SAMPLER_CPU_PERF, INTERVAL_NS);
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &limit), 0));
    cr_assert(ge(u64, jw_counter(JW_COUNT_THREADS_UNTIMED), untimed + worker_count));
    expect_weights_of_clocks();
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}

/* One signal is kept of all that a thread does not take: its sample stands for all the time. */
Test(engine_cpu_perf, a_thread_that_blocks_the_signal_loses_no_time)
{
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPROF);
    start_run(SAMPLER_CPU_PERF, INTERVAL_NS, 0, NULL);
    const uint64_t blocked_ns = own_cpu_ns();
    const struct taken *life = life_of(thread_serial(thread_find((uint32_t)os_gettid())));
    cr_assert(eq(int, pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0));
    rotate();
    const uint64_t count = life->cpu_count, lost = jw_counter(JW_COUNT_PERF_LOST);
    burn_until(own_cpu_ns() + BURN_NS);
    const uint64_t unblocked_ns = own_cpu_ns(), unblocked_at_ns = jw_now_ns();
    cr_assert(eq(int, pthread_sigmask(SIG_UNBLOCK, &blocked, NULL), 0));
    /* The ring was full long before, which the kernel tells beside its next record. */
    while (jw_counter(JW_COUNT_PERF_LOST) == lost)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    stop_run();
    cr_assert(ge(u64, life->cpu_ns, unblocked_ns - blocked_ns));
    /*
     * The one that was pending, and those that came since: of n whole intervals n + 1 at the most. By the clock on the wall: the kernel
     * ticks on where its host takes the processor.
     */
    cr_assert(le(u64, life->cpu_count - count, 2 + (jw_now_ns() - unblocked_at_ns) / INTERVAL_NS));
}

static void *burn_shortly(void *argument)
{
    (void)argument;
    burn_until(own_cpu_ns() + 2 * JW_NS_PER_MS);
    return NULL;
}

/* Their records are used again, and no signal of one that ended is taken for another's. */
Test(engine_cpu_perf, threads_come_and_go)
{
    start_run(SAMPLER_CPU_PERF, 200000, 0, NULL);
    for (int round = 0; round < 50; round++) {
        pthread_t threads[4];

        for (size_t i = 0; i < JW_COUNT_OF(threads); i++)
            cr_assert(eq(int, pthread_create(&threads[i], NULL, burn_shortly, NULL), 0));
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        sampler_scan();
        for (size_t i = 0; i < JW_COUNT_OF(threads); i++)
            pthread_join(threads[i], NULL);
        rotate();
    }
    stop_run();
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}

/* What the kernel was doing lies on top of the stack of who asked for it. */
static uint64_t with_kernel, kernel_below;
static uint64_t own_serial;

static void look_at_frames(const struct event_record *record, void *argument)
{
    struct generation *generation = argument;
    struct store_trace trace;
    bool was_kernel = true;

    if (record->thread_serial != own_serial)
        return;
    cr_assert(store_get(generation->traces, record->trace, &trace));
    with_kernel += jw_frame_kind_of(trace.frames[0]) == JW_FRAME_KERNEL;
    for (uint32_t i = 0; i < trace.frame_count; i++) {
        const bool is_kernel = jw_frame_kind_of(trace.frames[i]) == JW_FRAME_KERNEL;

        kernel_below += is_kernel && !was_kernel;
        was_kernel = is_kernel;
        if (is_kernel)
            cr_assert(ne(u64, jw_kernel_address(jw_frame_pc(trace.frames[i])), 0));
    }
}

static void take_with_frames(void)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        event_take(closed->events, look_at_frames, closed);
    (void)generations_retire(generations, take_late, NULL);
}

Test(engine_cpu_perf, frames_of_the_kernel_are_on_top_while_it_works_for_the_thread)
{
    static char zeros[1 << 20];
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    start_run(SAMPLER_CPU_PERF, INTERVAL_NS, 0, NULL);
    own_serial = thread_serial(thread_find((uint32_t)os_gettid()));
    while (with_kernel < 20) {
        for (const uint64_t begin_ns = own_cpu_ns(); own_cpu_ns() < begin_ns + BURN_NS;)
            cr_assert(lt(long, 0, (long)pread(zero, zeros, sizeof zeros, 0)));
        take_with_frames();
    }
    cr_assert(eq(u64, kernel_below, 0));
    stop_run();
}
