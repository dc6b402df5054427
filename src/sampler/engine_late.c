/* Who keeps a safepoint waiting: the thread that watches, and the handlers of those that it asks; a thread of ours, handler, and
 * control and dump. */
#include <signal.h>
#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_tasks.h"
#include "os/os_timer.h"
#include "sampler/sampler_delays.h"
#include "sampler/sampler_internal.h"
#include "vm/vm_stack.h"
#include "vm/vm_thread.h"

/* Looks in a threshold; those at a safepoint that has been waited for longer come after an eighth of that time. */
#define LOOKS        4
#define LOOKS_LATER  8
#define LOOK_MOST_NS (50 * JW_NS_PER_MS)

/* For a thread of the last run that has not ended. */
#define LATE_END_NS JW_NS_PER_SECOND

/* Of the threads that still run, so many are asked at one look. */
#define ASKED_MAX 16

/* The JVM's thread that waits for all others, as the kernel lists it. */
#define VM_THREAD_NAME "VM Thread"

/* The last record and its thread in one word, which the later one wins. */
#define LAST_BITS 14

_Static_assert(THREAD_RECORDS_MAX <= 1u << LAST_BITS, "an index must fit");

/* order LATE_WATCHED: handlers acquire the rest with the number. */
static struct {
    _Atomic uint64_t number;  /* of the safepoint that is being waited for; 0: none */
    _Atomic uint64_t sync_ns; /* of before */
    _Atomic uint32_t records; /* relaxed: numbers of records */
    _Atomic uint32_t last;    /* relaxed: read when no handler can be at it any more */
} watched;

/* Relaxed: that a signal is on its way. */
static _Atomic uint32_t *asked;

/* The thread's last record in which it had not come to its poll yet (SAMPLER_DELAY_VALUE). Relaxed: LATE_LAST orders it. */
static _Atomic uint64_t *kept;

static struct {
    struct os_thread thread;
    struct os_wake wake;
    _Atomic uint32_t must_end;
    bool is_running; /* of control */
    uint64_t threshold_ns;
} watch = {.is_running = false};

/* A thread that was seen to be late, and what the kernel said of it then. */
struct late {
    thread_index thread;
    struct os_task_facts before;
};

/* Of the watching thread. */
static struct {
    struct vm_safepoint_look known; /* at the last look that saw none being waited for */
    struct late late[ASKED_MAX];
    uint32_t late_count;
    uint64_t slept_ns; /* it should have looked, and had no processor; until all had stopped */
    struct os_task_facts vm_before; /* of the JVM's own thread, when all had stopped */
    bool has_vm;
    int vm_tid; /* 0: not sought yet; -1: there is none */
} seen;

static struct sampler_delay ring[SAMPLER_DELAYS_MAX];
static _Atomic uint32_t put_count;   /* of the watching thread */
static _Atomic uint32_t taken_count; /* of the agent's thread */

bool sampler_delays_check(struct jw_error *err)
{
    return vm_safepoint_open_delays(err);
}

/* The handler's way ------------------------------------------------------------------------------ */

/* By the JVM's counters, which are read on the way out of the wait. */
static JW_SIGNAL_SAFE bool is_waited_for(uint64_t number, uint64_t sync_ns)
{
    struct vm_safepoint_look now;

    return number != 0 && vm_safepoint_look(&now) && now.count == number && now.sync_ns == sync_ns;
}

static JW_SIGNAL_SAFE void note_last(uint32_t record, thread_index thread)
{
    const uint32_t mine = record << LAST_BITS | thread;
    uint32_t last = jw_load_relaxed(&watched.last);

    /* order LATE_LAST: releases what the thread kept. */
    while (last < mine && !jw_cas_acq_rel(&watched.last, &last, mine))
        ;
}

bool engine_late_claims(thread_index thread)
{
    return asked != NULL && jw_load_relaxed(&asked[thread]) != 0;
}

/*
 * One that has come to its poll leaves no stack, which may be that of its caller by now; but that it was last is true, and where it was
 * before is with the record that it kept.
 */
static JW_SIGNAL_SAFE void take_late(const void *ucontext, struct sample_order *order,
                                     uint32_t record)
{
    struct arch_regs regs;

    arch_regs_read(ucontext, &regs);
    if (vm_thread_is_at_poll(thread_env(order->thread), regs.pc))
        jw_count(JW_COUNT_SPARED_LATE);
    else if (sample_take(ucontext, order))
        jw_store_relaxed(&kept[order->thread], order->number);
    note_last(record, order->thread);
}

static JW_SIGNAL_SAFE void take_if_late(const void *ucontext, thread_index thread)
{
    /* order LATE_WATCHED: acquires what the watching thread said of this safepoint. */
    const uint64_t number = jw_load_acquire(&watched.number);
    const enum vm_thread_delay delay = vm_thread_delay(thread_env(thread));

    /* It has come to its poll, or the signal to it, too late. */
    if (delay == VM_THREAD_DELAYS_NOT ||
        !is_waited_for(number, jw_load_relaxed(&watched.sync_ns))) {
        jw_count(JW_COUNT_SPARED_LATE);
        return;
    }
    const uint32_t record = (jw_add_relaxed(&watched.records, 1) + 1) & UINT16_MAX;
    struct sample_order order = {
        .kind = EVENT_LATE,
        .thread = thread,
        .number = SAMPLER_DELAY_VALUE(number, record),
        .state = (uint16_t)delay,
    };
    take_late(ucontext, &order, record);
}

void engine_late_take_asked(const void *ucontext, thread_index thread)
{
    if (engine_late_claims(thread)) {
        jw_store_relaxed(&asked[thread], 0);
        take_if_late(ucontext, thread);
        if (!engine_wall_is_asked(thread))
            return;
        /* Two signals that may have become one are two to the law. */
        jw_count(JW_COUNT_SIGNALS);
    }
    engine_wall_take(ucontext, thread);
}

/* The watching thread ---------------------------------------------------------------------------- */

static bool is_over(void)
{
    /* order LATE_END: acquires the decision of engine_late_stop. */
    return jw_load_acquire(&watch.must_end) != 0;
}

/* A safepoint is being waited for. Without the JVM's symbol that is known if one has begun since the last look, and no more. */
static bool sees_wait(struct vm_safepoint_look *now)
{
    const enum vm_safepoint_state state = vm_safepoint_state();

    if (!vm_safepoint_look(now))
        return false;
    if (state == VM_SAFEPOINT_UNTOLD)
        return now->count == seen.known.count + 1 && now->sync_ns == seen.known.sync_ns;
    return state == VM_SAFEPOINT_SYNCHRONIZING && is_waited_for(now->count, now->sync_ns) &&
           vm_safepoint_state() == VM_SAFEPOINT_SYNCHRONIZING;
}

static struct late *late_of(thread_index thread)
{
    for (uint32_t i = 0; i < seen.late_count; i++)
        if (seen.late[i].thread == thread)
            return &seen.late[i];
    return NULL;
}

static void note_late(thread_index thread)
{
    struct late *made = &seen.late[seen.late_count];

    if (late_of(thread) != NULL || seen.late_count == ASKED_MAX ||
        !os_task_facts((int)thread_tid(thread), &made->before))
        return;
    made->thread = thread;
    seen.late_count++;
}

static bool is_vm_thread(int tid, void *argument)
{
    char name[OS_TASK_NAME_BYTES];

    (void)argument;
    if (!os_task_name(tid, name) || strcmp(name, VM_THREAD_NAME) != 0)
        return true;
    seen.vm_tid = tid;
    return false;
}

/* Nobody runs any more, and the JVM still waits: its own thread has not seen that yet. */
static void note_vm_thread(void)
{
    struct jw_error err;

    if (seen.vm_tid == 0) {
        seen.vm_tid = -1;
        (void)!os_tasks_each(is_vm_thread, NULL, &err);
    }
    if (!seen.has_vm && seen.vm_tid > 0)
        seen.has_vm = os_task_facts(seen.vm_tid, &seen.vm_before);
}

static void ask(thread_index thread)
{
    note_late(thread);
    jw_store_relaxed(&asked[thread], 1);
    if (!os_signal_thread((int)thread_tid(thread), SIGVTALRM, sampler_cookie(thread)))
        jw_store_relaxed(&asked[thread], 0);
}

/*
 * Who still runs. No thread ends while the JVM waits for all (it holds its lock of threads), so what was read of them is true if it
 * still waits behind it; else this look says nothing.
 */
static void look_at_threads(struct sampler_delay *delay, uint64_t sync_ns)
{
    thread_index found[ASKED_MAX];
    uint32_t running = 0, found_count = 0;

    for (thread_index thread = 0; thread < threads_limit(); thread++) {
        const void *env = thread_is_live(thread) ? thread_env(thread) : NULL;

        if (env == NULL || vm_thread_delay(env) == VM_THREAD_DELAYS_NOT)
            continue;
        running++;
        if (found_count < ASKED_MAX && thread_is_wanted(thread))
            found[found_count++] = thread;
    }
    if (!is_waited_for(delay->number, sync_ns))
        return;
    const uint32_t room = delay->look_count < SAMPLER_DELAY_LOOKS_MAX ? delay->look_count
                                                                      : SAMPLER_DELAY_LOOKS_MAX - 1;
    delay->running[room] = running < UINT16_MAX ? (uint16_t)running : UINT16_MAX;
    delay->look_count++;
    if (running == 0)
        note_vm_thread();
    for (uint32_t i = 0; i < found_count; i++)
        ask(found[i]);
}

/* For how much longer than that it slept: it had no processor. */
static uint64_t wait_for(uint64_t ns)
{
    const uint64_t due_ns = jw_now_ns() + ns;

    (void)os_wake_wait(&watch.wake, due_ns);
    const uint64_t now_ns = jw_now_ns();
    return now_ns > due_ns ? now_ns - due_ns : 0;
}

static uint64_t step_ns(uint64_t since_ns)
{
    const uint64_t first_ns = watch.threshold_ns / LOOKS;
    const uint64_t later_ns = (jw_now_ns() - since_ns) / LOOKS_LATER;
    const uint64_t ns = later_ns > first_ns ? later_ns : first_ns;

    return ns < LOOK_MOST_NS ? ns : LOOK_MOST_NS;
}

static bool tell_facts(struct sampler_delay *delay, int tid, const struct os_task_facts *before)
{
    struct os_task_facts now;

    if (!os_task_facts(tid, &now) || now.cpu_ns < before->cpu_ns)
        return false;
    delay->facts = (struct sampler_delay_facts){
        .cpu_ns = now.cpu_ns - before->cpu_ns,
        .waited_ns = now.waited_ns - before->waited_ns,
        .minor_faults = now.minor_faults - before->minor_faults,
        .major_faults = now.major_faults - before->major_faults,
        .is_known = true,
    };
    return true;
}

static void tell_last(struct sampler_delay *delay)
{
    /* order LATE_LAST: acquires what the thread kept. */
    const uint32_t last = jw_load_acquire(&watched.last);
    const struct late *late = late_of(last & ((1u << LAST_BITS) - 1));

    if (last == 0)
        return;
    const uint64_t record = jw_load_relaxed(&kept[last & ((1u << LAST_BITS) - 1)]);
    if (record == SAMPLER_DELAY_VALUE(delay->number, record))
        delay->record = (uint16_t)record;
    if (delay->record == 0)
        delay->nobody = SAMPLER_DELAY_AT_POLL;
    if (late != NULL)
        (void)tell_facts(delay, (int)thread_tid(late->thread), &late->before);
}

/*
 * Nobody is named where the machine kept the one waiting that would have seen who it was, or that all had stopped. What the two waited
 * lies apart, so both add up.
 */
static void tell_starved(struct sampler_delay *delay)
{
    const struct sampler_delay_facts of_last = delay->facts;
    const bool is_told = seen.has_vm && tell_facts(delay, seen.vm_tid, &seen.vm_before);
    const uint64_t vm_ns = is_told ? delay->facts.waited_ns : 0;

    const bool is_starved = (seen.slept_ns + vm_ns) * 2 >= delay->reach_ns;

    if (is_starved && vm_ns > seen.slept_ns) {
        delay->nobody = SAMPLER_DELAY_OF_VM_THREAD;
        return;
    }
    delay->facts = of_last;
    if (is_starved)
        delay->nobody = SAMPLER_DELAY_UNWATCHED;
}

static void put(const struct sampler_delay *delay)
{
    const uint32_t count = jw_load_relaxed(&put_count);

    jw_count(JW_COUNT_SAFEPOINTS_SLOW);
    /* order LATE_ROOM: acquires that what lay there was taken. */
    if (count - jw_load_acquire(&taken_count) >= SAMPLER_DELAYS_MAX) {
        jw_count(JW_COUNT_SAFEPOINTS_UNTOLD);
        return;
    }
    ring[count % SAMPLER_DELAYS_MAX] = *delay;
    /* order LATE_RING: releases the delay. */
    jw_store_release(&put_count, count + 1);
}

/* Until all threads have stopped: the look that saw it. False: the session ends before. */
static bool wait_for_all(struct sampler_delay *delay, uint64_t sync_ns, uint64_t since_ns,
                         struct vm_safepoint_look *now)
{
    while (true) {
        const uint64_t slept_ns = wait_for(step_ns(since_ns));

        if (!vm_safepoint_look(now))
            return false;
        if (!seen.has_vm)
            seen.slept_ns += slept_ns;
        if (now->count != delay->number || now->sync_ns != sync_ns)
            return true;
        if (is_over())
            return false;
        look_at_threads(delay, sync_ns);
    }
}

/* Until they go on. */
static void wait_for_end(struct sampler_delay *delay, const struct vm_safepoint_look *before,
                         struct vm_safepoint_look *now)
{
    const uint64_t since_ns = jw_now_ns();

    while (now->count == delay->number && now->inside_ns == before->inside_ns && !is_over()) {
        (void)wait_for(step_ns(since_ns));
        if (!vm_safepoint_look(now))
            return;
    }
    delay->inside_ns = now->inside_ns - before->inside_ns;
}

static void begin_watch(uint64_t number, uint64_t sync_ns)
{
    seen.late_count = 0;
    seen.has_vm = false;
    jw_store_relaxed(&watched.sync_ns, sync_ns);
    jw_store_relaxed(&watched.records, 0);
    jw_store_relaxed(&watched.last, 0);
    /* order LATE_WATCHED: releases the rest. */
    jw_store_release(&watched.number, number);
}

/* Where the JVM does not say when it began: what was not after the first look was before. */
static uint64_t slept_before(uint64_t slept_ns, uint64_t reach_ns, uint64_t seen_ns)
{
    const uint64_t before_ns = reach_ns > seen_ns ? reach_ns - seen_ns : 0;

    return slept_ns < before_ns ? slept_ns : before_ns;
}

/* `slept_ns`: it should have looked so much sooner. One that has been waited for all that time is not waited with any longer. */
static void watch_one(const struct vm_safepoint_look *before, uint64_t slept_ns)
{
    const uint64_t since_ns = jw_now_ns();
    const uint64_t told_ns = vm_safepoint_begin_ns();
    const uint64_t began_ns = told_ns != 0 && told_ns <= since_ns ? told_ns : since_ns;
    const uint64_t age_ns = since_ns - began_ns;
    struct sampler_delay delay = {.number = before->count, .operation = vm_safepoint_operation()};
    struct vm_safepoint_look now;

    begin_watch(before->count, before->sync_ns);
    seen.slept_ns = slept_ns < age_ns ? slept_ns : age_ns;
    if (age_ns >= watch.threshold_ns / 2)
        look_at_threads(&delay, before->sync_ns);
    const bool is_reached = wait_for_all(&delay, before->sync_ns, since_ns, &now);
    /* order LATE_WATCHED: handlers that come now find nothing to look at. */
    jw_store_release(&watched.number, 0);
    if (!is_reached)
        return;
    seen.known = now;
    /* Where another one is waited for already, its number tells at the next look. */
    if (now.count == before->count + 1)
        seen.known.count = before->count;
    const uint64_t reached_ns = jw_now_ns();
    delay.reach_ns = now.sync_ns - before->sync_ns;
    if (delay.reach_ns < watch.threshold_ns)
        return;
    if (told_ns == 0)
        seen.slept_ns += slept_before(slept_ns, delay.reach_ns, reached_ns - since_ns);
    delay.begin_ns = told_ns == began_ns ? began_ns : reached_ns - delay.reach_ns;
    if (delay.begin_ns > since_ns)
        delay.begin_ns = since_ns;
    tell_last(&delay);
    if (delay.record == 0)
        tell_starved(&delay);
    wait_for_end(&delay, before, &now);
    put(&delay);
}

/* One that was reached since the last look and was not watched. Of several nobody can tell whose the time was. */
static void tell_missed(const struct vm_safepoint_look *now, uint64_t slept_ns)
{
    const struct vm_safepoint_look before = seen.known;
    const uint64_t count = now->count > before.count ? now->count - before.count : 1;
    struct sampler_delay delay = {
        .number = now->count,
        .reach_ns = now->sync_ns - before.sync_ns,
    };
    struct vm_safepoint_look ended = *now;

    seen.known = *now;
    if (delay.reach_ns < count * watch.threshold_ns)
        return;
    if (count > 1) {
        jw_count(JW_COUNT_SAFEPOINTS_SLOW);
        jw_count(JW_COUNT_SAFEPOINTS_UNTOLD);
        return;
    }
    if (slept_ns * 2 >= delay.reach_ns)
        delay.nobody = SAMPLER_DELAY_UNWATCHED;
    wait_for_end(&delay, &before, &ended);
    seen.known = ended;
    if (ended.count == now->count + 1)
        seen.known.count = now->count;
    delay.begin_ns = jw_now_ns() - delay.reach_ns - delay.inside_ns;
    put(&delay);
}

static void watch_until_end(void *argument)
{
    bool is_last = false;

    (void)argument;
    seen.vm_tid = 0;
    if (!vm_safepoint_look(&seen.known))
        return;
    while (!is_last) {
        struct vm_safepoint_look now = seen.known;
        const uint64_t slept_ns = wait_for(watch.threshold_ns / LOOKS);

        is_last = is_over();
        if (sees_wait(&now))
            watch_one(&now, slept_ns);
        else
            tell_missed(&now, slept_ns);
    }
}

bool sampler_delays_take(struct sampler_delay *out)
{
    const uint32_t count = jw_load_relaxed(&taken_count);

    /* order LATE_RING: acquires the delay. */
    if (count == jw_load_acquire(&put_count))
        return false;
    *out = ring[count % SAMPLER_DELAYS_MAX];
    /* order LATE_ROOM: releases its place. */
    jw_store_release(&taken_count, count + 1);
    return true;
}

/* Control ---------------------------------------------------------------------------------------- */

bool engine_late_open(struct jw_error *err)
{
    if (asked == NULL)
        asked = sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *asked, err);
    else
        sampler_wipe(asked, threads_capacity(), sizeof *asked);
    if (kept == NULL)
        kept = sampler_reserve(JW_MEMORY_THREADS, threads_capacity(), sizeof *kept, err);
    else
        sampler_wipe(kept, threads_capacity(), sizeof *kept);
    return asked != NULL && kept != NULL;
}

bool engine_late_start(uint64_t threshold_ns, struct jw_error *err)
{
    if (threshold_ns == 0)
        return true;
    if (!engine_late_stop(jw_now_ns() + LATE_END_NS)) {
        jw_error_set(
            err, "the thread that watched safepoints in the last run has not ended yet; try again");
        return false;
    }
    watch.threshold_ns = threshold_ns;
    jw_store_relaxed(&watch.must_end, 0);
    os_wake_init(&watch.wake);
    watch.is_running =
        os_thread_start(&watch.thread, SAMPLER_DELAYS_THREAD_NAME, watch_until_end, NULL, err);
    return watch.is_running;
}

bool engine_late_stop(uint64_t deadline_ns)
{
    if (!watch.is_running)
        return true;
    /* order LATE_END: releases the decision. */
    jw_store_release(&watch.must_end, 1);
    os_wake_post(&watch.wake);
    watch.is_running = !os_thread_join(&watch.thread, deadline_ns);
    return !watch.is_running;
}
