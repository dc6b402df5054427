/* Start, stop and the threads in between; control, hook and dump. The engines' way in: handler. */
#include "sampler/sampler.h"

#include <signal.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "os/os_timer.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_cpu.h"
#include "thread/thread_tls.h"
#include "vm/vm.h"

/* Task list is read again when the process used this much CPU since, or this long went by: a thread that
 * no event told of can burn no more than that unseen. */
#define SCAN_AFTER_CPU_NS (10 * JW_NS_PER_MS)
#define SCAN_AFTER_NS     (2000 * JW_NS_PER_MS)
/* And never so often that reading it costs more than a half per cent of a processor. */
#define SCAN_SHARE 200

/* A record that the scan makes again and again for a tid that renew_record ends is one more race lost. */
#define RENEW_TRIES 4

struct sampler_config sampler;

/* order SAMPLER_RUN: hooks acquire the configuration that sampler_start released. */
static _Atomic uint32_t is_running;

/* Of the scanning thread alone, reset by sampler_start. */
static struct {
    uint32_t round;
    bool
        is_first; /* no list was read to its end yet: what it shows used its CPU before the start */
    uint64_t process_cpu_ns;
    uint64_t last_ns, next_ns;
} scan;

static uint64_t started_ns; /* constant while an engine runs */

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
    const thread_index thread = thread_find(thread_own_tid());

    if (thread == THREAD_NONE) {
        jw_count(JW_COUNT_LOST_NO_THREAD);
        return;
    }
    sample_take(event->ucontext, thread, sampler.interval_ns);
}

static const struct signals_engine timer_engine JW_SIGNAL_TABLE = {take_from_timer};
static const struct signals_engine itimer_engine JW_SIGNAL_TABLE = {take_from_itimer};

static bool is_on(void)
{
    /* order SAMPLER_RUN: acquires the configuration and the table of threads. */
    return jw_load_acquire(&is_running) != 0;
}

static bool runs_timers(void)
{
    return is_on() && !sampler.is_itimer;
}

/*
 * Whoever stops the sampler, or ends the record, first says so and then takes the timer away; here it is
 * the other way round. So one of the two sees the other, and no timer outlives both.
 */
static void add_timer(thread_index thread, enum engine_thread kind)
{
    if (!runs_timers())
        return;
    engine_cpu_timer_add(thread, kind, started_ns);
    if (!runs_timers() || !thread_is_live(thread))
        engine_cpu_timer_remove(thread);
}

static void end_record(thread_index thread)
{
    thread_end(thread, generations_number(sampler.generations));
    engine_cpu_timer_remove(thread);
}

/* Of an earlier run: a tid may have gone to another thread since. */
static void end_old_record(thread_index thread, bool is_live, void *argument)
{
    (void)argument;
    if (is_live)
        end_record(thread);
}

bool sampler_start(const struct sampler_config *config, struct jw_error *err)
{
    if (!threads_open(err) || !sample_scratch_open(err) || !signals_own(SIGPROF, err) ||
        !signals_own_faults(err))
        return false;

    uintptr_t jvm_begin;
    uintptr_t jvm_end;
    if (vm_text_range(&jvm_begin, &jvm_end))
        signals_trust_handlers(jvm_begin, jvm_end);
    sampler = *config;
    started_ns = jw_now_ns();
    scan.round = 0;
    scan.is_first = true;
    scan.process_cpu_ns = os_process_cpu_ns();
    scan.last_ns = scan.next_ns = 0;
    threads_each(end_old_record, NULL);
    sampler_cpu_start();
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
    signals_expect_itimer(false); /* from now on such a signal is somebody else's */
    return is_drained;
}

/* The task list may show a thread before it tells of itself, and an old record of its tid may stand:
 * both give way, since a Java thread's record is filled once. */
static thread_index renew_record(uint32_t tid)
{
    bool is_new = false;
    thread_index thread = THREAD_NONE;
    uint64_t clock_ns = 0;
    const bool has_clock = os_thread_cpu_ns((int)tid, &clock_ns);
    uint64_t base_ns = clock_ns - sampler_cpu_debt_ns(clock_ns, started_ns);

    for (int try = 0; try < RENEW_TRIES && !is_new; try++) {
        const thread_index old = thread_find(tid);

        if (old != THREAD_NONE) {
            sampler_cpu_hand_over(old, clock_ns, &base_ns);
            end_record(old);
        }
        thread = thread_add(tid, &is_new);
    }
    if (is_new && has_clock)
        thread_cpu_begin(thread, base_ns, clock_ns);
    return thread;
}

void sampler_thread_start(uint32_t tid, const struct thread_java *java)
{
    /* A start under way looks for all threads when it is on. */
    const thread_index thread = is_on() ? renew_record(tid) : THREAD_NONE;

    if (thread == THREAD_NONE)
        return;
    thread_set_java(thread, java);
    if (!os_thread_is_own((int)tid))
        add_timer(thread, ENGINE_THREAD_NEW);
}

void sampler_thread_found(uint32_t tid, const struct thread_java *java)
{
    bool is_new;
    const thread_index thread = thread_add(tid, &is_new);

    if (thread == THREAD_NONE)
        return;
    thread_set_java(thread, java);
    if (!is_new)
        return;
    sampler_cpu_begin(thread, false, started_ns);
    add_timer(thread, ENGINE_THREAD_NEW);
}

void sampler_thread_end(uint32_t tid)
{
    /* Records of a run that ended are of no use to the next one. */
    const thread_index thread = is_on() ? thread_find(tid) : THREAD_NONE;

    /* Its last CPU time, in native code on the way out, still counts: the scan takes the timer away. */
    if (thread == THREAD_NONE)
        return;
    thread_end_java(thread);
    sampler_cpu_end(thread);
}

/* A Java thread reads its own clock when it ends; any other may be seen for the last time right now. */
static bool is_still_the_same(thread_index thread)
{
    return thread_env(thread) != NULL || sampler_cpu_look(thread);
}

static bool visit_task(int tid, void *argument)
{
    bool is_new;
    thread_index thread = thread_add((uint32_t)tid, &is_new);

    (void)argument;
    if (thread != THREAD_NONE && !is_new && !is_still_the_same(thread)) {
        end_record(thread);
        thread = thread_add((uint32_t)tid, &is_new);
    }
    if (thread == THREAD_NONE)
        return true;
    thread_set_scan_stamp(thread, scan.round);
    if (is_new)
        sampler_cpu_begin(thread, scan.is_first, started_ns);
    if (os_thread_is_own(tid))
        return true; /* it takes no signals */
    if (is_new)
        add_timer(thread, scan.is_first ? ENGINE_THREAD_NEW : ENGINE_THREAD_LATE);
    else if (!thread_has_timer(thread)) /* the user's limit was used up then, or a hook is at it */
        add_timer(thread, ENGINE_THREAD_AGAIN);
    return true;
}

static void end_unseen(thread_index thread, bool is_live, void *argument)
{
    (void)argument;
    if (is_live && thread_scan_stamp(thread) != scan.round &&
        !os_task_is_alive((int)thread_tid(thread)))
        end_record(thread);
}

void sampler_scan(void)
{
    const uint64_t now_ns = jw_now_ns();
    const uint64_t process_cpu_ns = os_process_cpu_ns();

    if (scan.round != 0 &&
        (now_ns < scan.next_ns || (process_cpu_ns - scan.process_cpu_ns < SCAN_AFTER_CPU_NS &&
                                   now_ns - scan.last_ns < SCAN_AFTER_NS)))
        return;
    scan.round++;
    if (os_tasks_each(visit_task, NULL, NULL)) {
        scan.is_first = false;
        threads_each(end_unseen, NULL);
    } else {
        jw_count(JW_COUNT_SCANS_FAILED);
    }
    scan.last_ns = now_ns;
    scan.process_cpu_ns = process_cpu_ns;
    scan.next_ns = now_ns + (jw_now_ns() - now_ns) * SCAN_SHARE;
}
