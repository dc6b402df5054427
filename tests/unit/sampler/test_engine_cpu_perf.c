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
    if (!engine_cpu_perf_check(&why))
        cr_skip_test("NOT RUN: %s", why.message);
}

TestSuite(engine_cpu_perf, .init = open_perf, .timeout = 300);

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
    const uint64_t unblocked_ns = own_cpu_ns();
    cr_assert(eq(int, pthread_sigmask(SIG_UNBLOCK, &blocked, NULL), 0));
    /* The ring was full long before, which the kernel tells beside its next record. */
    while (jw_counter(JW_COUNT_PERF_LOST) == lost)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    stop_run();
    cr_assert(ge(u64, life->cpu_ns, unblocked_ns - blocked_ns));
    cr_assert(le(u64, life->cpu_count - count, 1 + (own_cpu_ns() - unblocked_ns) / INTERVAL_NS));
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
