/* Engine `wall`: a sample that the sampler thread asked for; handler. */
#include "base/atomics.h"
#include "base/counters.h"
#include "os/os_timer.h"
#include "sampler/engine_wall_internal.h"

struct wall_shared *wall_shared;

bool engine_wall_claims(thread_index thread)
{
    return wall_shared != NULL && jw_load_relaxed(&wall_shared[thread].is_sent) != 0;
}

static JW_SIGNAL_SAFE void note_clock(thread_index thread)
{
    uint64_t cpu_ns;

    if (os_thread_cpu_ns((int)thread_tid(thread), &cpu_ns))
        jw_store_relaxed(&wall_shared[thread].cpu_ns, cpu_ns);
}

void engine_wall_note_wait(thread_index thread)
{
    if (wall_shared != NULL)
        note_clock(thread);
}

void engine_wall_take(const void *ucontext, thread_index thread)
{
    struct wall_shared *shared = wall_shared == NULL ? NULL : &wall_shared[thread];
    uint32_t asked = WALL_ASKED;

    if (shared != NULL)
        jw_store_relaxed(&shared->is_sent, 0);
    /* order WALL_STATE: acquires the weight that was asked for. */
    if (shared == NULL || !jw_cas_acq_rel(&shared->state, &asked, WALL_TAKING)) {
        jw_count(JW_COUNT_SPARED_UNASKED);
        return;
    }
    struct sample_order order = {
        .kind = EVENT_WALL_SAMPLE,
        .thread = thread,
        .weight_ns = jw_load_relaxed(&shared->weight_ns),
        .number = jw_load_relaxed(&shared->number) + 1,
        .turns = jw_load_relaxed(&shared->turns),
    };
    const bool is_taken = sample_take(ucontext, &order);
    if (is_taken) {
        jw_store_relaxed(&shared->number, order.number);
        jw_store_relaxed(&shared->has_waited, order.state != JW_STATE_RUNNING);
        jw_count_add(JW_COUNT_WALL_TURNS, order.turns);
    }
    /* Last: what we used ourselves is no sign that the thread went on. */
    note_clock(thread);
    /* order WALL_STATE: releases the number and the clock. */
    jw_store_release(&shared->state, is_taken ? WALL_NONE : WALL_LOST);
}
