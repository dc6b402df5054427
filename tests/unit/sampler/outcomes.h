/* What tests of whole runs begin with: generations, and the law that each signal has one outcome. */
#ifndef JW_TESTS_UNIT_SAMPLER_OUTCOMES_H
#define JW_TESTS_UNIT_SAMPLER_OUTCOMES_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "sampler/sampler_internal.h"

#define DRAIN_NS   (100 * JW_NS_PER_SECOND) /* guards: the machine may be busy */
#define OUTCOME_NS (300 * JW_NS_PER_SECOND)

static struct generations *generations;
static struct jw_error err;
static uint64_t signals_before, outcomes_before;

static uint64_t outcomes(void)
{
    uint64_t sum = jw_counter(JW_COUNT_SAMPLES);

    for (int id = 0; id < JW_COUNT_LIMIT; id++)
        if (jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared)
            sum += jw_counter((enum jw_counter_id)id);
    return sum;
}

/* A signal that was sent before the stop may be between its count and its outcome: it comes to one. */
static inline void expect_conservation(void)
{
    const uint64_t end_ns = jw_now_ns() + OUTCOME_NS;

    while (jw_counter(JW_COUNT_SIGNALS) - signals_before != outcomes() - outcomes_before) {
        cr_assert(jw_now_ns() < end_ns, "signals without an outcome, or with two");
        sched_yield();
    }
}

/*
 * The thread sanitizer hands a signal over at the next atomic access, with all signals blocked meanwhile. When a second one
 * comes just as it begins, it does so twice, one inside of the other, and takes the full mask of the outer for the thread's own:
 * from then on no signal comes. So whoever waits for signals of its own says again and again that it wants them.
 * Source: libsanitizer of gcc 12, ProcessPendingSignalsImpl in tsan_interceptors_posix.cpp.
 */
static inline void open_to_signals(void)
{
#if defined(__SANITIZE_THREAD__)
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGPROF);
    sigaddset(&ours, SIGVTALRM);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
#endif
}

static bool count_task(int tid, void *argument)
{
    (void)tid;
    ++*(int *)argument;
    return true;
}

/*
 * An emulator of processes has threads of its own in the task list, which must not be signalled: it dies of
 * that. On real hardware this process begins with one thread; on x86-64 nobody emulates, and sanitizers
 * add a thread that can be sampled.
 */
static void open_run(void)
{
    const struct generations_config config = {.memory_bytes = 0};
    int tasks = 0;

    if (strcmp(arch_facts.name, "aarch64") == 0 && os_tasks_each(count_task, &tasks, NULL) &&
        tasks > 1)
        cr_skip_test("an emulator's own threads cannot be sampled");
    generations = generations_open(&config, &err);
    cr_assert(generations != NULL, "%s", err.message);
    cr_assert(threads_open(&err), "%s", err.message);
    walk_open_none();
    signals_before = jw_counter(JW_COUNT_SIGNALS);
    outcomes_before = outcomes();
}

#endif
