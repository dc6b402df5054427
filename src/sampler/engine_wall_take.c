/* Engine `wall`: a sample that the sampler thread asked for; handler. */
#include "base/atomics.h"
#include "base/counters.h"
#include "os/os_timer.h"
#include "sampler/engine_wall_internal.h"

#define MISSES_MAX 8

struct wall_shared *wall_shared;

void wall_shared_renew(struct wall_shared *shared, uint64_t serial)
{
    if (jw_load_relaxed(&shared->serial) == serial)
        return;
    jw_store_relaxed(&shared->serial, serial);
    jw_store_relaxed(&shared->number, 0);
    jw_store_relaxed(&shared->has_waited, 0);
    jw_store_relaxed(&shared->missed, 0);
    jw_store_relaxed(&shared->is_inside, 0);
}

bool engine_wall_claims(thread_index thread)
{
    return wall_shared != NULL && jw_load_relaxed(&wall_shared[thread].is_sent) != 0;
}

bool engine_wall_is_asked(thread_index thread)
{
    return wall_shared != NULL && jw_load_relaxed(&wall_shared[thread].state) == WALL_ASKED;
}

/* Whether the sample can stand for the turns to come, while the thread does not run. One that a collection kept from
 * seeing Java is taken again, and some times only: there are threads that never show any. */
static JW_SIGNAL_SAFE bool shows_wait(struct wall_shared *shared, const struct sample_order *order)
{
    const uint32_t missed = order->is_java_missed ? jw_load_relaxed(&shared->missed) + 1 : 0;

    jw_store_relaxed(&shared->missed, missed < MISSES_MAX ? missed : 0);
    return order->state != JW_STATE_RUNNING && !order->is_passing &&
           (missed == 0 || missed == MISSES_MAX);
}

static JW_SIGNAL_SAFE void note_clock(thread_index thread)
{
    uint64_t cpu_ns;

    if (os_thread_cpu_ns((int)thread_tid(thread), &cpu_ns))
        jw_store_relaxed(&wall_shared[thread].cpu_ns, cpu_ns);
}

/* With the state TAKING: the sample, and what it leaves. */
static JW_SIGNAL_SAFE void take(const void *ucontext, struct wall_shared *shared,
                                struct sample_order *order)
{
    order->kind = EVENT_WALL_SAMPLE;
    order->number = jw_load_relaxed(&shared->number) + 1;
    const bool is_taken = sample_take(ucontext, order);
    if (is_taken) {
        jw_store_relaxed(&shared->number, order->number);
        jw_store_relaxed(&shared->has_waited, shows_wait(shared, order));
        jw_count_add(JW_COUNT_WALL_TURNS, order->turns);
    }
    /* Last: what we used ourselves is no sign that the thread went on. */
    note_clock(order->thread);
    /* order WALL_STATE: releases the number and the clock. */
    jw_store_release(&shared->state, is_taken ? WALL_NONE : WALL_LOST);
}

void engine_wall_take(const void *ucontext, thread_index thread)
{
    struct wall_shared *shared = wall_shared == NULL ? NULL : &wall_shared[thread];
    uint32_t asked = WALL_ASKED;

    if (shared != NULL) {
        jw_store_relaxed(&shared->is_sent, 0);
        jw_store_relaxed(&shared->is_inside, 0);
    }
    /* order WALL_STATE: acquires the weight that was asked for. */
    if (shared == NULL || !jw_cas_acq_rel(&shared->state, &asked, WALL_TAKING)) {
        jw_count(JW_COUNT_SPARED_UNASKED);
        return;
    }
    struct sample_order order = {
        .thread = thread,
        .weight_ns = jw_load_relaxed(&shared->weight_ns),
        .turns = jw_load_relaxed(&shared->turns),
    };
    take(ucontext, shared, &order);
}

/* Nobody asked, but nobody can later: the thread ran until now, and its last sample does not show where it waits. */
static JW_SIGNAL_SAFE void take_unasked(const void *ucontext, struct wall_shared *shared,
                                        thread_index thread)
{
    struct sample_order order = {.thread = thread, .turns = 1};
    uint32_t none = WALL_NONE;

    /* order WALL_STATE: acquires the end of the sample before. */
    if (!jw_cas_acq_rel(&shared->state, &none, WALL_TAKING))
        return;
    wall_shared_renew(shared, thread_serial(thread));
    jw_store_relaxed(&shared->weight_ns, 0);
    jw_store_relaxed(&shared->turns, 0);
    jw_count(JW_COUNT_SIGNALS);
    jw_count(JW_COUNT_WALL_ALONG);
    take(ucontext, shared, &order);
}

void engine_wall_enter_wait(const void *ucontext, thread_index thread, bool is_sampled)
{
    struct wall_shared *shared = &wall_shared[thread];

    if (!is_sampled)
        take_unasked(ucontext, shared, thread);
    note_clock(thread);
    jw_store_relaxed(&shared->is_inside, 1);
}

void engine_wall_leave_wait(thread_index thread)
{
    jw_store_relaxed(&wall_shared[thread].is_inside, 0);
}
