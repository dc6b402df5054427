/* Start, stop and the threads in between; control, hook and dump. The engines' way in: handler. */
#include "sampler/sampler.h"

#include <signal.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"

/* Task list is read again when the process used this much CPU since, or this long went by: a thread that
 * no event told of can burn no more than that unseen. */
#define SCAN_AFTER_CPU_NS (10 * JW_NS_PER_MS)
#define SCAN_AFTER_NS     (2000 * JW_NS_PER_MS)
/* And never so often that reading it costs more than a half per cent of a processor. */
#define SCAN_SHARE 200

struct sampler_config sampler;

/* order SAMPLER_RUN: hooks acquire the configuration that sampler_start released. */
static _Atomic uint32_t is_running;

/* Of the scanning thread alone, reset by sampler_start. */
static struct {
    uint32_t round;
    uint64_t process_cpu_ns;
    uint64_t last_ns, next_ns;
} scan;

static JW_SIGNAL_SAFE void take_from_timer(const struct signals_event *event)
{
    const thread_index thread = engine_cpu_timer_thread(event->payload);

    if (thread == THREAD_NONE) {
        jw_count(JW_COUNT_LOST_NO_THREAD);
        return;
    }
    if (event->overruns > 0)
        jw_count_add(JW_COUNT_TIMER_OVERRUNS, event->overruns);
    sample_take(event->ucontext, thread,
                sampler.interval_ns * (1 + (uint64_t)event->overruns) + thread_take_debt(thread));
}

static JW_SIGNAL_SAFE void take_from_itimer(const struct signals_event *event)
{
    const thread_index thread = thread_find((uint32_t)os_gettid());

    if (thread == THREAD_NONE) {
        jw_count(JW_COUNT_LOST_NO_THREAD);
        return;
    }
    sample_take(event->ucontext, thread, sampler.interval_ns);
}

static const struct signals_engine timer_engine JW_SIGNAL_TABLE = {take_from_timer};
static const struct signals_engine itimer_engine JW_SIGNAL_TABLE = {take_from_itimer};

static bool runs_timers(void)
{
    /* order SAMPLER_RUN: acquires the configuration. */
    return jw_load_acquire(&is_running) != 0 && !sampler.is_itimer;
}

bool sampler_start(const struct sampler_config *config, struct jw_error *err)
{
    if (!threads_open(err) || !sample_scratch_open(err) || !signals_own(SIGPROF, err) ||
        !signals_own_faults(err))
        return false;

    sampler = *config;
    scan.round = 1;
    scan.process_cpu_ns = os_process_cpu_ns();
    scan.last_ns = scan.next_ns = 0;
    signals_start(config->is_itimer ? &itimer_engine : &timer_engine);
    if (config->is_itimer) {
        signals_expect_itimer(true);
        if (!os_itimer_arm(config->interval_ns, err)) {
            signals_expect_itimer(false);
            signals_stop();
            return false;
        }
    }
    /* order SAMPLER_RUN: releases the configuration. */
    jw_store_release(&is_running, 1);
    sampler_scan();
    return true;
}

static void remove_timer(thread_index thread, bool is_live, void *argument)
{
    (void)is_live;
    (void)argument;
    engine_cpu_timer_remove(thread);
}

bool sampler_stop(uint64_t timeout_ns)
{
    /* order SAMPLER_RUN: pairs with the hooks' look; one that was already inside is swept below. */
    jw_store_release(&is_running, 0);
    if (sampler.is_itimer)
        os_itimer_disarm();
    threads_each(remove_timer, NULL);
    signals_stop();
    const bool is_drained = signals_drain(timeout_ns);
    threads_each(remove_timer, NULL);
    return is_drained;
}

void sampler_thread_start(uint32_t tid, const struct thread_java *java)
{
    const thread_index replaced = thread_find(tid);
    bool is_new;

    /* A record is there when the task list was read first: its timer must not run beside the new. */
    if (replaced != THREAD_NONE)
        engine_cpu_timer_remove(replaced);
    const thread_index thread = thread_add(tid, false, &is_new);
    if (thread == THREAD_NONE)
        return;
    thread_set_java(thread, java);
    if (runs_timers())
        engine_cpu_timer_add(thread);
}

void sampler_thread_found(uint32_t tid, const struct thread_java *java)
{
    bool is_new;
    const thread_index thread = thread_add(tid, true, &is_new);

    if (thread == THREAD_NONE)
        return;
    thread_set_java(thread, java);
    if (is_new && runs_timers())
        engine_cpu_timer_add(thread);
}

void sampler_thread_end(uint32_t tid)
{
    const thread_index thread = thread_find(tid);

    /* Its last CPU time, in native code on the way out, still counts: the scan takes the timer away. */
    if (thread != THREAD_NONE)
        thread_end_java(thread);
}

static bool visit_task(int tid, void *argument)
{
    const bool is_first = *(const bool *)argument;
    bool is_new;
    const thread_index thread = thread_add((uint32_t)tid, true, &is_new);

    if (thread == THREAD_NONE)
        return true;
    thread_set_scan_stamp(thread, scan.round);
    if (!is_new && !is_first)
        return true;
    if (is_new && !is_first) {
        uint64_t unseen_ns = 0;

        if (os_thread_cpu_ns(tid, &unseen_ns))
            thread_set_debt(thread, unseen_ns);
    }
    if (runs_timers())
        engine_cpu_timer_add(thread);
    return true;
}

static void end_unseen(thread_index thread, bool is_live, void *argument)
{
    (void)argument;
    if (!is_live || thread_scan_stamp(thread) == scan.round ||
        os_task_is_alive((int)thread_tid(thread)))
        return;

    struct generations_stats stats;
    generations_stats(sampler.generations, &stats);
    engine_cpu_timer_remove(thread);
    thread_end(thread, stats.number);
}

void sampler_scan(void)
{
    const uint64_t now_ns = jw_now_ns();
    const uint64_t process_cpu_ns = os_process_cpu_ns();
    bool is_first = scan.last_ns == 0;

    if (!is_first &&
        (now_ns < scan.next_ns || (process_cpu_ns - scan.process_cpu_ns < SCAN_AFTER_CPU_NS &&
                                   now_ns - scan.last_ns < SCAN_AFTER_NS)))
        return;
    scan.round++;
    if (os_tasks_each(visit_task, &is_first, NULL))
        threads_each(end_unseen, NULL);
    scan.last_ns = now_ns;
    scan.process_cpu_ns = process_cpu_ns;
    scan.next_ns = now_ns + (jw_now_ns() - now_ns) * SCAN_SHARE;
}
