/* Workers that burn CPU time while they are sampled, and what their records must say of it. */
#ifndef JW_TESTS_UNIT_SAMPLER_BURNING_H
#define JW_TESTS_UNIT_SAMPLER_BURNING_H

#include "unit/sampler/clock_runs.h"

#define BURN_NS    (60 * JW_NS_PER_MS)
#define BUSY_COUNT 3

/* Of clocks: before the run begins and when it has begun, before the last sample, and after the run. */
static uint64_t serials[WORKERS_MAX], base_ns[WORKERS_MAX], begun_ns[WORKERS_MAX],
    seen_ns[WORKERS_MAX], last_ns[WORKERS_MAX];

static uint64_t clock_of(uint32_t tid)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns((int)tid, &cpu_ns));
    return cpu_ns;
}

/* The clock of a worker that burns goes on by so much, and a sample comes behind that: not the next one, which may have
 * been on its way. */
static void burn_worker(uint32_t worker, uint64_t used_ns)
{
    const struct taken *life = life_of(serials[worker]);

    while (clock_of(workers[worker].tid) < begun_ns[worker] + used_ns)
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
    seen_ns[worker] = clock_of(workers[worker].tid);
    rotate();
    for (const uint64_t count = life->cpu_count; life->cpu_count < count + 2; rotate())
        burn_until(own_cpu_ns() + JW_NS_PER_MS);
}

/* Workers that burn until they were sampled, and what their records say. */
static void burn_workers(enum sampler_cpu_engine cpu, uint64_t interval_ns)
{
    begin_workers(BUSY_COUNT, 2);
    for (uint32_t i = 0; i < worker_count; i++)
        base_ns[i] = clock_of(workers[i].tid);
    start_run(cpu, interval_ns, 0, NULL);
    for (uint32_t i = 0; i < worker_count; i++) {
        serials[i] = thread_serial(thread_find(workers[i].tid));
        begun_ns[i] = clock_of(workers[i].tid);
    }
    for (uint32_t i = 0; i < BUSY_COUNT; i++)
        burn_worker(i, BURN_NS * (i + 1));
    stop_run();
    for (uint32_t i = 0; i < worker_count; i++)
        last_ns[i] = clock_of(workers[i].tid);
    release_workers();
    join_workers();
}

/* Each sample's weight is what the clock went on since the one before: all together no more than the whole, and no less
 * than what was used before the last. */
static void expect_weights_of_clocks(void)
{
    for (uint32_t i = 0; i < worker_count; i++)
        cr_assert(le(u64, life_of(serials[i])->cpu_ns, last_ns[i] - base_ns[i]));
    for (uint32_t i = 0; i < BUSY_COUNT; i++)
        cr_assert(ge(u64, life_of(serials[i])->cpu_ns, seen_ns[i] - begun_ns[i]));
}

#endif
