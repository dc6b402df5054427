/* CPU samples by comparing clocks, on real threads. */
#include <sys/resource.h>

#include "unit/sampler/clock_runs.h"

#define INTERVAL_NS (500000)
#define BURN_NS     (60 * JW_NS_PER_MS)
#define BUSY_COUNT  3

TestSuite(engine_cpu_fine, .init = open_run, .timeout = 100);

static uint64_t serials[WORKERS_MAX], base_ns[WORKERS_MAX], last_ns[WORKERS_MAX];

static uint64_t clock_of(uint32_t tid)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns((int)tid, &cpu_ns));
    return cpu_ns;
}

/* Workers that used so much and wait, and what their records say. */
static void burn_workers(enum sampler_cpu_engine cpu, uint64_t interval_ns)
{
    for (uint32_t i = 0; i < BUSY_COUNT; i++)
        workers[i].burn_ns = BURN_NS * (i + 1);
    begin_workers(BUSY_COUNT, 2);
    for (uint32_t i = 0; i < worker_count; i++)
        base_ns[i] = clock_of(workers[i].tid);
    start_run(cpu, interval_ns, 0, NULL);
    for (uint32_t i = 0; i < worker_count; i++)
        serials[i] = thread_serial(thread_find(workers[i].tid));
    while (jw_load_relaxed(&burnt_count) < worker_count)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    stop_run();
    for (uint32_t i = 0; i < worker_count; i++)
        last_ns[i] = clock_of(workers[i].tid);
    release_workers();
    join_workers();
}

/* Each sample's weight is what the clock went on since the one before: all together no more than the whole. */
static void expect_weights_below_clocks(void)
{
    for (uint32_t i = 0; i < worker_count; i++)
        cr_assert(le(u64, life_of(serials[i])->cpu_ns, last_ns[i] - base_ns[i]));
}

Test(engine_cpu_fine, weights_of_a_thread_sum_to_its_clock_at_its_last_sample)
{
    burn_workers(SAMPLER_CPU_FINE, INTERVAL_NS);
    expect_weights_below_clocks();
    for (uint32_t i = 0; i < BUSY_COUNT; i++) {
        const struct taken *life = life_of(serials[i]);

        cr_assert(ge(u64, life->cpu_count, 1));
        /* A sampler thread that gets no processor on a busy machine looks late: weights grow, samples are
         * fewer. What no sample came to in time is the rest. */
        cr_assert(ge(u64, life->cpu_ns, workers[i].burn_ns / 2 + 1));
    }
    for (uint32_t i = BUSY_COUNT; i < worker_count; i++)
        cr_assert(eq(u64, life_of(serials[i])->cpu_count, 0));
}

Test(engine_cpu_fine, no_thread_has_a_timer_below_a_tick)
{
    cr_assert(eq(int, sampler_cpu_for(os_kernel_tick_ns()), SAMPLER_CPU_TIMER));
    cr_assert(eq(int, sampler_cpu_for(os_kernel_tick_ns() - 1), SAMPLER_CPU_FINE));
    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, NULL);
    cr_assert(not(thread_has_timer(thread_find((uint32_t)os_gettid()))));
    stop_run();
}

/* Timers pin a queued signal each: with none left every thread is sampled by its clock, at the interval asked for. */
Test(engine_cpu_fine, threads_that_are_refused_a_timer_are_sampled_by_their_clock)
{
    const struct rlimit none = {0, 0};
    const uint64_t untimed = jw_counter(JW_COUNT_THREADS_UNTIMED);

    cr_assert(eq(int, setrlimit(RLIMIT_SIGPENDING, &none), 0));
    burn_workers(SAMPLER_CPU_TIMER, 5 * JW_NS_PER_MS);
    cr_assert(ge(u64, jw_counter(JW_COUNT_THREADS_UNTIMED), untimed + worker_count));
    expect_weights_below_clocks();
    for (uint32_t i = 0; i < BUSY_COUNT; i++)
        cr_assert(ge(u64, life_of(serials[i])->cpu_count, 1));
    cr_assert(eq(u64, jw_counter(JW_COUNT_FOREIGN_SIGNALS), 0));
}

static void *burn_in_bursts(void *argument)
{
    const uint64_t until_ns = own_cpu_ns() + BURN_NS;

    *(_Atomic uint32_t *)argument = (uint32_t)os_gettid();
    while (own_cpu_ns() < until_ns) {
        const struct timespec pause = {.tv_nsec = 200000};

        burn_until(own_cpu_ns() + 100000);
        (void)nanosleep(&pause, NULL);
    }
    pthread_barrier_wait(&all_begun);
    pthread_barrier_wait(&all_ended);
    return NULL;
}

/* A thread that runs in bursts shorter than the interval: its signals find it waiting as often as not, and those are
 * no samples of what it did while it ran. */
Test(engine_cpu_fine, a_signal_that_finds_its_thread_waiting_leaves_its_time_to_the_next)
{
    static _Atomic uint32_t tid;
    pthread_t thread;

    pthread_barrier_init(&all_begun, NULL, 2);
    pthread_barrier_init(&all_ended, NULL, 2);
    start_run(SAMPLER_CPU_FINE, INTERVAL_NS, 0, NULL);
    cr_assert(eq(int, pthread_create(&thread, NULL, burn_in_bursts, (void *)(uintptr_t)&tid), 0));
    while (jw_load_relaxed(&tid) == 0 || thread_find(jw_load_relaxed(&tid)) == THREAD_NONE) {
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
        sampler_scan();
    }
    const uint64_t serial = thread_serial(thread_find(jw_load_relaxed(&tid)));
    pthread_barrier_wait(&all_begun);
    const uint64_t clock_ns = clock_of(jw_load_relaxed(&tid));
    stop_run();
    pthread_barrier_wait(&all_ended);
    pthread_join(thread, NULL);
    cr_assert(ge(u64, life_of(serial)->cpu_count, 1));
    cr_assert(le(u64, life_of(serial)->cpu_ns, clock_ns));
}

Test(engine_cpu_fine, signals_that_nobody_asked_for_are_named_losses)
{
    start_run(SAMPLER_CPU_FINE, JW_NS_PER_SECOND, 0, NULL);
    const thread_index own = thread_find((uint32_t)os_gettid());
    const uint64_t lost = jw_counter(JW_COUNT_SPARED_UNASKED);

    cr_assert(os_signal_thread(os_gettid(), SIGPROF, sampler_cookie(own)));
    while (jw_counter(JW_COUNT_SPARED_UNASKED) == lost)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    stop_run();
}
