/* Samples from hooks: the gate, the thread, what is counted; hook. */
#include "sampler/sampler_hook.h"

#include <time.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "generation/context_record.h"
#include "generation/generation.h"
#include "sampler/sampler_internal.h"
#include "thread/thread_tls.h"

#define GATE_IS_OPEN  (UINT64_C(1) << 63)
#define CLOSE_STEP_NS (100 * JW_NS_PER_MS / 1000)

/* Of this and a sixteenth of it, x^4/720 is a third of a byte. */
#define SERIES_INTERVAL_MAX (UINT64_C(1) << 24)

/* order HOOK_GATE: who gets in acquires the configuration; who has left releases that nothing of it is used any more. */
static _Atomic uint64_t gate; /* hooks inside, and GATE_IS_OPEN */

bool sampler_hook_enter(void)
{
    /* order HOOK_GATE: acquires the configuration of the run that opened it. */
    if ((jw_add_acq_rel(&gate, 1) & GATE_IS_OPEN) != 0)
        return true;
    /* order HOOK_GATE: releases nothing; nobody was inside. */
    jw_sub_release(&gate, 1);
    return false;
}

void sampler_hook_leave(void)
{
    /* order HOOK_GATE: releases that this one is done with the run. */
    jw_sub_release(&gate, 1);
}

void sampler_hook_open(void)
{
    /* order HOOK_GATE: releases the configuration. */
    (void)jw_or_release(&gate, GATE_IS_OPEN);
}

bool sampler_hook_close(uint64_t deadline_ns)
{
    static const struct timespec step = {.tv_nsec = CLOSE_STEP_NS};

    /* order HOOK_GATE: releases nothing; from here on nobody gets in. */
    (void)jw_and_release(&gate, ~GATE_IS_OPEN);
    for (;;) {
        /* order HOOK_GATE: acquires that those who were inside are done. */
        if (jw_load_acquire(&gate) == 0)
            return true;
        if (jw_now_ns() >= deadline_ns)
            return false;
        nanosleep(&step, NULL);
    }
}

static void count_loss(enum sample_loss loss)
{
    switch (loss) {
    case SAMPLE_TAKEN:
        jw_count(JW_COUNT_HOOK_SAMPLES);
        break;
    case SAMPLE_NO_SCRATCH:
        jw_count(JW_COUNT_HOOK_LOST_NO_SCRATCH);
        break;
    case SAMPLE_NO_CELL:
        jw_count(JW_COUNT_HOOK_LOST_NO_CELL);
        break;
    case SAMPLE_STORE_FULL:
        jw_count(JW_COUNT_HOOK_LOST_STORE_FULL);
        break;
    case SAMPLE_PAYLOADS_FULL:
        jw_count(JW_COUNT_HOOK_LOST_PAYLOADS_FULL);
        break;
    case SAMPLE_EVENTS_FULL:
        jw_count(JW_COUNT_HOOK_LOST_EVENTS_FULL);
        break;
    }
}

/* What the user's own code chose to tell, or he by name: no sample, and as many as the program makes. */
static bool is_told(const struct sampler_hook *sample)
{
    return sample->kind == EVENT_DECLARED || sample->kind == EVENT_METHOD_TRACE ||
           sample->kind == EVENT_QUEUE_TIME || sample->kind == EVENT_TASK ||
           sample->kind == EVENT_IO || sample->kind == EVENT_CLASS;
}

/* That is not for a window of samples to choose. */
static bool is_in_window(const struct sampler_hook *sample)
{
    return is_told(sample) || sample_in_window();
}

static enum sampler_hook_end take(const struct sampler_hook *sample, uint64_t now_ns)
{
    const thread_index thread = thread_find(thread_own_tid());
    struct arch_context here;
    struct arch_regs regs;

    jw_count(JW_COUNT_HOOK_CALLS);
    if (thread == THREAD_NONE) {
        jw_count(JW_COUNT_HOOK_LOST_NO_THREAD);
        return SAMPLER_HOOK_LOST;
    }
    if (!thread_is_wanted(thread) || !is_in_window(sample)) {
        jw_count(JW_COUNT_HOOK_FILTERED);
        return SAMPLER_HOOK_FILTERED;
    }
    /* Walked and named for nothing, where its record would find no room, and the trace would take it from others. */
    if (is_told(sample) && !generations_has_spare(sampler.generations)) {
        count_loss(SAMPLE_EVENTS_FULL);
        return SAMPLER_HOOK_LOST;
    }
    arch_regs_here(&regs);
    arch_context_of_regs(&here, &regs);
    struct sample_order order = {
        .kind = sample->kind,
        .thread = thread,
        .weight_ns = sample->weight_ns,
        .number = sample->value,
        .state = sample->state,
        .hook = sample,
        .now_ns = now_ns,
    };
    count_loss(sample_from_hook(&here, &order));
    return order.loss == SAMPLE_TAKEN ? SAMPLER_HOOK_TAKEN : SAMPLER_HOOK_LOST;
}

void sampler_hook_name(uint64_t number, const char *name, size_t name_bytes)
{
    struct context_record record = {.virtual_thread = number};
    struct epoch_ticket ticket;

    if (!sampler_hook_enter())
        return;
    struct generation *generation =
        generation_try_enter(sampler.generations, thread_own_tid(), &ticket);
    if (generation != NULL) {
        record.virtual_name = dict_intern(generation->values, name, name_bytes);
        (void)context_record_intern(generation->contexts, &record);
        generation_leave(sampler.generations, &ticket);
    }
    sampler_hook_leave();
}

enum sampler_hook_end sampler_hook_ended(const struct sampler_hook *sample)
{
    enum sampler_hook_end end = SAMPLER_HOOK_SHUT;

    if (sampler_hook_enter()) {
        struct sample_cost cost;

        sample_cost_begin_hook(&cost);
        end = take(sample, cost.begin_ns);
        sample_cost_end(&cost, JW_COST_HOOK);
        sampler_hook_leave();
    }
    return end;
}

bool sampler_hook(const struct sampler_hook *sample)
{
    return sampler_hook_ended(sample) == SAMPLER_HOOK_TAKEN;
}

/* 1 - exp(-ratio), of which no digit is lost where the ratio is small: halved until a short series will do, and doubled again. */
static double chance_of(double ratio)
{
    unsigned halvings = 0;

    for (; ratio > 0.125; halvings++)
        ratio /= 2;
    double chance =
        ratio * (1 - ratio * (1. / 2) *
                         (1 - ratio * (1. / 3) *
                                  (1 - ratio * (1. / 4) *
                                           (1 - ratio * (1. / 5) * (1 - ratio * (1. / 6))))));
    for (; halvings > 0; halvings--)
        chance *= 2 - chance;
    return chance;
}

uint64_t sampler_hook_bytes(uint64_t object_bytes, uint64_t interval_bytes)
{
    if (object_bytes == 0 || interval_bytes == 0 || object_bytes / 64 >= interval_bytes)
        return object_bytes;
    /* With x = s/T: x / (1 - exp(-x)) = 1 + x/2 + x^2/12 - x^4/720 + ...; of what is left out less than half a byte is. */
    if (object_bytes <= interval_bytes / 16 && interval_bytes <= SERIES_INTERVAL_MAX)
        return interval_bytes +
               (object_bytes * (6 * interval_bytes + object_bytes) + 6 * interval_bytes) /
                   (12 * interval_bytes);
    return (uint64_t)((double)object_bytes /
                          chance_of((double)object_bytes / (double)interval_bytes) +
                      0.5);
}
