/* Start, stop and the threads in between; control, hook and dump. The engines' way in: handler. */
#include "sampler/sampler.h"

#include <signal.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "os/os_timer.h"
#include "sampler/sampler_hook.h"
#include "sampler/sampler_internal.h"
#include "sampler/sampler_pace.h"
#include "thread/thread_cpu.h"
#include "thread/thread_filter.h"
#include "thread/thread_tls.h"
#include "vm/vm.h"

/* Task list is read again when the process used this much CPU since, or this long went by: a thread that
 * no event told of can burn no more than that unseen. */
#define SCAN_AFTER_CPU_NS (10 * JW_NS_PER_MS)
#define SCAN_AFTER_NS     (2000 * JW_NS_PER_MS)
/* And never so often that reading it costs more than a half per cent of a processor; where intervals are stretched, for a
 * process that finds even this dear, as much more seldom. */
#define SCAN_SHARE 200

/* A record that the scan makes again and again for a tid that renew_record ends is one more race lost. */
#define RENEW_TRIES 4

#define INDEX_BITS 14
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

_Static_assert(THREAD_RECORDS_MAX == 1u << INDEX_BITS, "an index must fit");

struct sampler_config sampler;

/* Relaxed: each stands alone; what is due is taken by the interval that is seen then. */
static struct {
    _Atomic uint64_t cpu_ns, wall_ns;
} in_force;

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

/* A signal carries the number of its thread's record and the low bits of the record's serial, so that
 * one that comes late, after the record went to another thread, is told apart. */
static JW_SIGNAL_SAFE uint32_t payload_of(thread_index thread)
{
    return (uint32_t)thread_serial(thread) << INDEX_BITS | thread;
}

uintptr_t sampler_cookie(thread_index thread)
{
    return signals_cookie(payload_of(thread));
}

thread_index sampler_thread_of(uint32_t payload)
{
    const thread_index thread = payload & INDEX_MASK;

    return thread_is_live(thread) && payload_of(thread) == payload ? thread : THREAD_NONE;
}

/* The way of a signal -------------------------------------------------------------------------- */

static JW_SIGNAL_SAFE void take_from_timer(const struct signals_event *event, thread_index thread)
{
    if (event->overruns > 0)
        jw_count_add(JW_COUNT_TIMER_OVERRUNS, event->overruns);
    struct sample_order order = {
        .kind = EVENT_CPU_SAMPLE,
        .thread = thread,
        .weight_ns =
            sampler.interval_ns * (1 + (uint64_t)event->overruns) + thread_take_debt(thread),
    };
    (void)sample_take(event->ucontext, &order);
}

static JW_SIGNAL_SAFE void take_from_itimer(const struct signals_event *event, thread_index thread)
{
    struct sample_order order = {
        .kind = EVENT_CPU_SAMPLE,
        .thread = thread,
        .weight_ns = jw_load_relaxed(&in_force.cpu_ns),
    };

    (void)sample_take(event->ucontext, &order);
}

static JW_SIGNAL_SAFE bool is_of_process(const struct signals_event *event)
{
    return sampler.cpu == SAMPLER_CPU_ITIMER && event->signo == SIGPROF;
}

/* `clock_ns`: where the clock of the calling thread stood when the signal came; 0: not known. */
static JW_SIGNAL_SAFE void take_event(const struct signals_event *event, uint64_t clock_ns)
{
    const thread_index thread = event->is_bare || event->is_from_kernel || is_of_process(event)
                                    ? thread_find(thread_own_tid())
                                    : sampler_thread_of(event->payload);

    if (thread == THREAD_NONE)
        jw_count(JW_COUNT_LOST_NO_THREAD);
    else if (!thread_is_wanted(thread))
        jw_count(JW_COUNT_SPARED_FILTERED);
    else if (event->signo == SIGVTALRM)
        engine_lock_take_asked(event->ucontext, thread);
    else if (is_of_process(event))
        take_from_itimer(event, thread);
    else if (event->is_from_timer)
        take_from_timer(event, thread);
    else if (event->is_from_kernel || (event->is_bare && engine_cpu_perf_has(thread)))
        engine_cpu_perf_take(event->ucontext, thread);
    else
        engine_cpu_fine_take(event->ucontext, thread, clock_ns);
}

static JW_SIGNAL_SAFE void take(const struct signals_event *event)
{
    struct sample_cost cost;

    sample_cost_begin(&cost);
    take_event(event, cost.cpu_ns);
    sample_cost_end(&cost, event->signo == SIGVTALRM ? JW_COST_WALL : JW_COST_CPU);
}

static JW_SIGNAL_SAFE bool claims(int signo)
{
    const thread_index thread = thread_find(thread_own_tid());

    return thread != THREAD_NONE &&
           (signo == SIGVTALRM ? engine_wall_claims(thread) || engine_late_claims(thread) ||
                                     engine_lock_claims(thread)
                               : engine_cpu_fine_claims(thread) || engine_cpu_perf_has(thread));
}

static JW_SIGNAL_SAFE bool claims_number(int signo, int number)
{
    return signo == SIGPROF && engine_cpu_perf_claims(number);
}

static JW_SIGNAL_SAFE void waits(int signo, const void *ucontext, bool begins)
{
    const thread_index thread =
        sampler.wall_interval_ns == 0 ? THREAD_NONE : thread_find(thread_own_tid());

    if (thread == THREAD_NONE || !thread_is_wanted(thread))
        return;
    if (begins)
        engine_wall_enter_wait(ucontext, thread, signo == SIGVTALRM);
    else
        engine_wall_leave_wait(thread);
}

static const struct signals_engine engine JW_SIGNAL_TABLE = {take, claims, claims_number, waits};

/* Threads come and go ---------------------------------------------------------------------------- */

static bool is_on(void)
{
    /* order SAMPLER_RUN: acquires the configuration and the table of threads. */
    return jw_load_acquire(&is_running) != 0;
}

/* Engines for single threads are on, and none has this one. */
static bool is_left_out(thread_index thread)
{
    return (sampler.cpu == SAMPLER_CPU_TIMER || sampler.cpu == SAMPLER_CPU_FINE ||
            sampler.cpu == SAMPLER_CPU_PERF) &&
           !thread_has_timer(thread) && !engine_cpu_fine_has(thread);
}

static void remove_engines(thread_index thread)
{
    if (!engine_cpu_perf_remove(thread) && sampler.cpu != SAMPLER_CPU_PERF)
        engine_cpu_timer_remove(thread);
    engine_cpu_fine_remove(thread);
}

/* It is sampled for all of its time that counts; one that was left out until now, from now on. False: it is gone. */
static bool find_base(thread_index thread, enum engine_thread kind, uint64_t *base_ns)
{
    struct thread_cpu known;

    if (!os_thread_cpu_ns((int)thread_tid(thread), base_ns))
        return false;
    if (kind != ENGINE_THREAD_AGAIN && thread_cpu_get(thread, &known))
        *base_ns = known.base_ns;
    return true;
}

static void add_to_fine(thread_index thread, enum engine_thread kind)
{
    uint64_t base_ns;

    if (find_base(thread, kind, &base_ns))
        engine_cpu_fine_add(thread, base_ns);
}

static enum engine_timer add_to_perf(thread_index thread, enum engine_thread kind)
{
    uint64_t base_ns;

    return find_base(thread, kind, &base_ns) ? engine_cpu_perf_add(thread, base_ns)
                                             : ENGINE_TIMER_GONE;
}

/* Of a counter nothing takes the place: the scan tries it again. */
static void add_untimed(thread_index thread, enum engine_thread kind)
{
    struct thread_cpu known;
    const bool is_known = thread_cpu_get(thread, &known) && (known.flags & THREAD_CPU_REFUSED) != 0;

    thread_cpu_mark(thread, THREAD_CPU_REFUSED);
    if (!is_known)
        jw_count(JW_COUNT_THREADS_UNTIMED);
    if (!sampler.is_counting)
        add_to_fine(thread, kind);
}

static void add_to_cpu(thread_index thread, enum engine_thread kind)
{
    switch (sampler.cpu) {
    case SAMPLER_CPU_NONE:
    case SAMPLER_CPU_ITIMER:
        break;
    case SAMPLER_CPU_TIMER:
        if (engine_cpu_timer_add(thread, kind, started_ns) == ENGINE_TIMER_REFUSED)
            add_untimed(thread, kind);
        break;
    case SAMPLER_CPU_PERF:
        if (add_to_perf(thread, kind) == ENGINE_TIMER_REFUSED)
            add_untimed(thread, kind);
        break;
    case SAMPLER_CPU_FINE:
        add_to_fine(thread, kind);
        break;
    }
}

/*
 * Whoever stops the sampler, or ends the record, first says so and then takes the engines away; here it is
 * the other way round. So one of the two sees the other, and no timer outlives both.
 */
static void add_engines(thread_index thread, enum engine_thread kind)
{
    if (!is_on() || !thread_is_wanted(thread))
        return;
    add_to_cpu(thread, kind);
    if (!is_on() || !thread_is_live(thread) || !thread_is_wanted(thread))
        remove_engines(thread);
    sampler_clock_note(thread);
}

/* A thread has got a name: the filter may say otherwise now. */
static void settle(thread_index thread, enum engine_thread kind)
{
    if (!thread_is_wanted(thread))
        remove_engines(thread);
    else if (is_left_out(thread))
        add_engines(thread, kind);
}

static void end_record(thread_index thread)
{
    thread_end(thread, generations_number(sampler.generations));
    remove_engines(thread);
}

/*
 * The calling thread's, which gets another: what engines know of its clock is asked when no signal of it is taken any more, and
 * before they forget it. Its timer goes first: what that has sent comes before the call is back, and finds the record.
 */
static void hand_record_over(thread_index old, uint64_t *base_ns, uint64_t *clock_ns)
{
    engine_cpu_timer_remove(old);
    thread_end(old, generations_number(sampler.generations));
    if (os_thread_cpu_ns((int)thread_tid(old), clock_ns))
        sampler_cpu_hand_over(old, *clock_ns, base_ns);
    remove_engines(old);
}

/* Of an earlier run: a tid may have gone to another thread since. */
static void end_old_record(thread_index thread, bool is_live, void *argument)
{
    (void)argument;
    if (is_live)
        end_record(thread);
}

/* Start and stop ------------------------------------------------------------------------------- */

enum sampler_cpu_engine sampler_cpu_for(uint64_t interval_ns)
{
    return interval_ns < os_kernel_tick_ns() ? SAMPLER_CPU_FINE : SAMPLER_CPU_TIMER;
}

static bool needs_clock_thread(void)
{
    return is_on() && (sampler.wall_interval_ns != 0 || sampler.cpu == SAMPLER_CPU_FINE ||
                       sampler.is_counting || engine_cpu_fine_is_wanted());
}

static bool open_all(const struct sampler_config *config, struct jw_error *err)
{
    return threads_open(err) && sample_scratch_open(err) && sample_deep_open(err) &&
           sampler_clock_open(err) &&
           (config->cpu != SAMPLER_CPU_PERF || engine_cpu_perf_open(err)) &&
           thread_filter_set(config->filter, err) &&
           (config->late_ns == 0 || engine_late_open(err)) &&
           (config->lock_ns == 0 || engine_lock_open(err)) &&
           ((config->cpu == SAMPLER_CPU_NONE && config->wall_interval_ns == 0) ||
            signals_own(SIGPROF, err)) &&
           ((config->wall_interval_ns == 0 && config->late_ns == 0 && config->lock_ns == 0) ||
            signals_own(SIGVTALRM, err)) &&
           signals_own_faults(err);
}

bool sampler_start(const struct sampler_config *config, struct jw_error *err)
{
    if (!open_all(config, err))
        return false;

    uintptr_t jvm_begin, jvm_end;
    if (vm_text_range(&jvm_begin, &jvm_end))
        signals_trust_handlers(jvm_begin, jvm_end);
    sampler = *config;
    sampler.filter = NULL; /* the caller's */
    jw_store_relaxed(&in_force.cpu_ns, config->interval_ns);
    jw_store_relaxed(&in_force.wall_ns, config->wall_interval_ns);
    started_ns = jw_now_ns();
    scan.round = 0;
    scan.is_first = true;
    scan.process_cpu_ns = os_process_cpu_ns();
    scan.last_ns = scan.next_ns = 0;
    threads_each(end_old_record, NULL);
    sample_deep_start();
    sampler_cpu_start();
    engine_cpu_fine_start(config->interval_ns);
    engine_wall_start(config->wall_interval_ns);
    signals_start(&engine);
    if (config->cpu == SAMPLER_CPU_ITIMER) {
        signals_expect_itimer(true);
        if (!os_itimer_arm(config->interval_ns, err))
            goto fail;
    }
    /* order SAMPLER_RUN: releases the configuration. */
    jw_store_release(&is_running, 1);
    if (!engine_late_start(config->late_ns, err) ||
        !sampler_clock_start_if(needs_clock_thread, err))
        goto fail;
    sampler_scan();
    sampler_hook_open();
    return true;

fail:
    /* order SAMPLER_RUN: as in sampler_stop. */
    jw_store_release(&is_running, 0);
    (void)engine_late_stop(jw_now_ns() + JW_NS_PER_SECOND);
    os_itimer_disarm();
    signals_expect_itimer(false);
    signals_stop();
    return false;
}

void sampler_intervals(uint64_t *cpu_ns, uint64_t *wall_ns)
{
    *cpu_ns = sampler.cpu == SAMPLER_CPU_NONE || sampler.is_counting
                  ? 0
                  : jw_load_relaxed(&in_force.cpu_ns);
    *wall_ns = sampler.wall_interval_ns == 0 ? 0 : jw_load_relaxed(&in_force.wall_ns);
}

void sampler_set_intervals(uint64_t cpu_ns, uint64_t wall_ns)
{
    struct jw_error why = {{0}};

    /* Relaxed: starts, stops and this are the control's and the agent's thread's, one after the other. */
    if (jw_load_relaxed(&is_running) == 0)
        return;
    if (sampler.wall_interval_ns != 0)
        jw_store_relaxed(&in_force.wall_ns, wall_ns);
    switch (sampler.cpu) {
    case SAMPLER_CPU_NONE:
    case SAMPLER_CPU_TIMER:
    case SAMPLER_CPU_PERF:
        break;
    case SAMPLER_CPU_FINE:
        jw_store_relaxed(&in_force.cpu_ns, cpu_ns);
        break;
    case SAMPLER_CPU_ITIMER:
        if (os_itimer_arm(cpu_ns, &why))
            jw_store_relaxed(&in_force.cpu_ns, cpu_ns);
        break;
    }
    sampler_clock_wake();
}

uint64_t sampler_cpu_interval_ns(void)
{
    return jw_load_relaxed(&in_force.cpu_ns);
}

uint64_t sampler_wall_interval_ns(void)
{
    return jw_load_relaxed(&in_force.wall_ns);
}

uint64_t sampler_stretch(void)
{
    const bool has_cpu = sampler.cpu != SAMPLER_CPU_NONE && !sampler.is_counting;
    const uint64_t asked_ns = has_cpu ? sampler.interval_ns : sampler.wall_interval_ns;
    const uint64_t now_ns = jw_load_relaxed(has_cpu ? &in_force.cpu_ns : &in_force.wall_ns);

    return now_ns <= asked_ns || asked_ns == 0 ? SAMPLER_PACE_ONE
                                               : now_ns * SAMPLER_PACE_ONE / asked_ns;
}

static void remove_from_engines(thread_index thread, bool is_live, void *argument)
{
    (void)is_live;
    (void)argument;
    remove_engines(thread);
}

bool sampler_stop(uint64_t timeout_ns)
{
    const uint64_t deadline_ns = jw_now_ns() + timeout_ns;

    /* order SAMPLER_RUN: pairs with the hooks' look; one that was already inside is swept below. */
    jw_store_release(&is_running, 0);
    if (sampler.cpu == SAMPLER_CPU_ITIMER)
        os_itimer_disarm();
    const bool is_late_stopped = engine_late_stop(deadline_ns);
    const bool is_clock_stopped = sampler_clock_stop(deadline_ns) && is_late_stopped;
    const bool are_hooks_out = sampler_hook_close(deadline_ns);
    threads_each(remove_from_engines, NULL);
    engine_cpu_perf_reap(NULL); /* what the sampler thread left */
    signals_stop();
    const bool is_drained = signals_drain(timeout_ns);
    signals_expect_itimer(false); /* from now on such a signal is somebody else's */
    engine_cpu_perf_reap(NULL);
    if (is_clock_stopped && is_drained)
        engine_wall_settle();
    return is_clock_stopped && is_drained && are_hooks_out;
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

        if (old != THREAD_NONE)
            hand_record_over(old, &base_ns, &clock_ns);
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
    add_engines(thread, ENGINE_THREAD_NEW);
}

void sampler_thread_found(uint32_t tid, const struct thread_java *java)
{
    bool is_new;
    const thread_index thread = thread_add(tid, &is_new);

    if (thread == THREAD_NONE)
        return;
    thread_set_java(thread, java);
    if (!is_new) {
        settle(thread, ENGINE_THREAD_AGAIN);
        return;
    }
    sampler_cpu_begin(thread, false, started_ns);
    add_engines(thread, ENGINE_THREAD_NEW);
}

void sampler_thread_renamed(thread_index thread, const char *java_name)
{
    thread_rename(thread, java_name);
    settle(thread, ENGINE_THREAD_AGAIN);
}

void sampler_thread_asked(uint32_t tid)
{
    /* One that was not found yet is asked about when it is. */
    const thread_index thread = is_on() ? thread_find(tid) : THREAD_NONE;

    if (thread == THREAD_NONE)
        return;
    thread_ask_filter(thread);
    settle(thread, ENGINE_THREAD_AGAIN);
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
    if (is_new)
        add_engines(thread, scan.is_first ? ENGINE_THREAD_NEW : ENGINE_THREAD_LATE);
    else if (is_left_out(thread)) /* a hook is at it */
        add_engines(thread, ENGINE_THREAD_AGAIN);
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
    engine_cpu_perf_reap(NULL);
    if (os_tasks_each(visit_task, NULL, NULL)) {
        scan.is_first = false;
        threads_each(end_unseen, NULL);
    } else {
        jw_count(JW_COUNT_SCANS_FAILED);
    }
    scan.last_ns = now_ns;
    scan.process_cpu_ns = process_cpu_ns;
    scan.next_ns = now_ns + sampler_pace_stretched_ns((jw_now_ns() - now_ns) * SCAN_SHARE,
                                                      sampler_stretch(), SCAN_AFTER_NS);
    /* Some thread may have been refused its timer. */
    if (!sampler_clock_start_if(needs_clock_thread, NULL))
        jw_count(JW_COUNT_CLOCK_THREAD_REFUSED);
}
