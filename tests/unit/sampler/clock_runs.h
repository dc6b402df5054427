/* Runs of the engines that compare clocks: real threads, real signals, generations, and no JVM. */
#ifndef JW_TESTS_UNIT_SAMPLER_CLOCK_RUNS_H
#define JW_TESTS_UNIT_SAMPLER_CLOCK_RUNS_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "support/task_state.h"
#include "unit/sampler/outcomes.h"

#define WORKERS_MAX 64

#define SAMPLES_TOLD 512

/* What the records say of one life of a thread record. */
struct taken {
    uint64_t serial;
    uint64_t cpu_ns, cpu_count;   /* samples of the CPU clock */
    uint64_t wall_ns, wall_count; /* samples of the wall clock ... */
    uint64_t idle_ns, idle_count; /* ... and records that go on with one */
    uint64_t unsampled_ns, turns; /* ... and with none; all three */
    uint64_t last_number, wrong_numbers;
    uint64_t turns_after[SAMPLES_TOLD]; /* of records that go on with the sample of this number */
    uint64_t states[JW_STATE_LIMIT];
};

#define LIVES_MAX 4096

static struct taken lives[LIVES_MAX];
static uint32_t life_count;

static struct taken *life_of(uint64_t serial)
{
    for (uint32_t i = 0; i < life_count; i++)
        if (lives[i].serial == serial)
            return &lives[i];
    cr_assert(life_count < LIVES_MAX);
    lives[life_count] = (struct taken){.serial = serial};
    return &lives[life_count++];
}

static inline void start_run(enum sampler_cpu_engine cpu, uint64_t interval_ns, uint64_t wall_ns,
                             const char *filter)
{
    const struct sampler_config config = {
        .generations = generations,
        .cpu = cpu,
        .interval_ns = interval_ns,
        .wall_interval_ns = wall_ns,
        .depth_max = 64,
        .with_native = true,
        .filter = filter,
    };

    cr_assert(sampler_start(&config, &err), "%s", err.message);
}

static void take_one(const struct event_record *record, void *argument)
{
    struct taken *life = life_of(record->thread_serial);
    struct thread_info info;

    (void)argument;
    cr_assert(thread_info(record->thread_index, &info), "a record that is free has an event");
    cr_assert(eq(u64, info.serial, record->thread_serial));
    switch (record->kind) {
    case EVENT_CPU_SAMPLE:
        cr_assert(ne(u32, record->trace, STORE_NONE));
        life->cpu_ns += record->weight_ns;
        life->cpu_count++;
        return;
    case EVENT_WALL_SAMPLE:
        cr_assert(ne(u32, record->trace, STORE_NONE));
        cr_assert(lt(u32, record->state, JW_STATE_LIMIT));
        life->wall_ns += record->weight_ns;
        life->wall_count++;
        life->states[record->state]++;
        life->wrong_numbers += record->value == 0;
        break;
    case EVENT_WALL_IDLE:
        cr_assert(eq(u32, record->trace, STORE_NONE));
        *(record->value == 0 ? &life->unsampled_ns : &life->idle_ns) += record->weight_ns;
        life->idle_count++;
        if (record->value < SAMPLES_TOLD)
            life->turns_after[record->value] += record->sample_count;
        break;
    default:
        cr_assert(false, "a record of kind %u", record->kind);
    }
    cr_assert(ge(u32, record->sample_count, 1));
    life->turns += record->sample_count;
    if (record->value > life->last_number)
        life->last_number = record->value;
}

static bool take_late(struct generation *generation, void *argument)
{
    event_take(generation->events, take_one, argument);
    return true;
}

static uint64_t oldest_generation(void)
{
    uint64_t oldest = UINT64_MAX;

    for (int buffer = 0; buffer < EPOCH_BUFFERS; buffer++) {
        enum epoch_state state;
        const struct generation *generation = generations_at(generations, buffer, &state);

        if (state != EPOCH_FREE && generation->number < oldest)
            oldest = generation->number;
    }
    return oldest;
}

static void take_closed(void)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        event_take(closed->events, take_one, NULL);
    (void)generations_retire(generations, take_late, NULL);
}

/* One rotation, as the dump thread makes it. */
static void rotate(void)
{
    take_closed();
    threads_reap(oldest_generation());
}

/* With no engine running this takes all that is left. */
static inline void stop_run(void)
{
    cr_assert(sampler_stop(DRAIN_NS));
    rotate();
    rotate();
    expect_conservation();
}

static uint64_t own_cpu_ns(void)
{
    uint64_t cpu_ns = 0;

    cr_assert(os_thread_cpu_ns(os_gettid(), &cpu_ns));
    return cpu_ns;
}

static void burn_until(uint64_t cpu_ns)
{
    while (own_cpu_ns() < cpu_ns)
        ;
}

/* Threads that wait or burn until they may end. ----------------------------------------------------- */

struct worker {
    _Atomic int is_burning; /* a signal that comes now finds it running */
    _Atomic int is_through; /* nothing is left to do but to wait */
    pthread_t thread;
    bool is_busy;
    bool blocks_signal;
    bool
        polls; /* waits in a call that ends with EINTR under any handler, and goes on inside ours */
    uint32_t tid;
};

static struct worker workers[WORKERS_MAX];
static uint32_t worker_count;
static pthread_barrier_t all_begun, all_ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic bool may_end;
static int poll_ends[2];

static void wait_for_end(struct worker *worker)
{
    if (worker->polls) {
        jw_store_relaxed(&worker->is_through, 1);
        struct pollfd end = {.fd = poll_ends[0], .events = POLLIN};

        cr_assert(eq(int, poll(&end, 1, -1), 1),
                  "a call that our signal interrupted did not go on");
        return;
    }
    pthread_mutex_lock(&lock);
    jw_store_relaxed(&worker->is_through, 1); /* from here on it sleeps in the wait alone */
    while (!jw_load_relaxed(&may_end))
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* With its own mask, again and again: open_to_signals has the reason. */
static void burn_to_end(const sigset_t *mask)
{
    for (uint64_t i = 0; !jw_load_relaxed(&may_end); i++) {
#if defined(__SANITIZE_THREAD__)
        if (i % (1 << 20) == 0)
            pthread_sigmask(SIG_SETMASK, mask, NULL);
#else
        (void)mask;
#endif
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    sigset_t blocked, mask;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGVTALRM);
    if (worker->blocks_signal)
        pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    worker->tid = (uint32_t)os_gettid();
    pthread_barrier_wait(&all_begun);
    jw_store_relaxed(&worker->is_burning, worker->is_busy);
    if (worker->is_busy)
        burn_to_end(&mask);
    wait_for_end(worker);
    if (worker->blocks_signal)
        pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    pthread_barrier_wait(&all_ended);
    pthread_barrier_wait(&all_ended);
    return NULL;
}

/* The busy ones burn and the idle ones wait already on return: no sample sees them on the way. */
static void begin_workers(uint32_t busy_count, uint32_t idle_count)
{
    worker_count = busy_count + idle_count;
    pthread_barrier_init(&all_begun, NULL, worker_count + 1);
    pthread_barrier_init(&all_ended, NULL, worker_count + 1);
    cr_assert(eq(int, pipe(poll_ends), 0));
    for (uint32_t i = 0; i < worker_count; i++) {
        workers[i].is_busy = i < busy_count;
        jw_store_relaxed(&workers[i].is_burning, 0);
        jw_store_relaxed(&workers[i].is_through, 0);
        cr_assert(eq(int, pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0));
    }
    pthread_barrier_wait(&all_begun);
    for (uint32_t i = 0; i < busy_count; i++)
        while (!jw_load_relaxed(&workers[i].is_burning))
            sched_yield();
    for (uint32_t i = busy_count; i < worker_count; i++)
        while (!jw_load_relaxed(&workers[i].is_through) || !task_is_asleep(workers[i].tid))
            sched_yield();
}

/* They do nothing from here on. */
static void release_workers(void)
{
    pthread_mutex_lock(&lock);
    jw_store_relaxed(&may_end, true);
    cr_assert(eq(int, (int)write(poll_ends[1], "x", 1), 1));
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&all_ended);
}

static void join_workers(void)
{
    pthread_barrier_wait(&all_ended);
    for (uint32_t i = 0; i < worker_count; i++)
        pthread_join(workers[i].thread, NULL);
}

#endif
