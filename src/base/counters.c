/* The counters of the process; every context. */
#include "base/counters.h"

#include "base/atomics.h"

const struct jw_counter_info jw_counter_infos[JW_COUNT_LIMIT] = {
#define JW_COUNTER(name, field, text) {#name, #field, text, false, false},
#define JW_LOSS(name, field, text)    {#name, #field, text, true, false},
#define JW_SPARED(name, field, text)  {#name, #field, text, false, true},
#include "base/counters.def"
#undef JW_COUNTER
#undef JW_LOSS
#undef JW_SPARED
};

static _Atomic uint64_t values[JW_COUNT_LIMIT];

void jw_count(enum jw_counter_id id)
{
    jw_count_add(id, 1);
}

void jw_count_add(enum jw_counter_id id, uint64_t amount)
{
    /* order COUNTER: releases, so that who sees an outcome also sees the signal counted before. */
    jw_add_release(&values[id], amount);
}

uint64_t jw_counter(enum jw_counter_id id)
{
    /* order COUNTER: acquires what jw_count_add released, all that was counted before. */
    return jw_load_acquire(&values[id]);
}
