/*
 * counters - one number for everything that was dropped, mended or put off.
 *
 * For      saying what happened, in `status`, `metrics` and in each recording.
 * Callers  every room.
 * Context  jw_count, jw_count_add, jw_counter: all. The rest: any, dump, control, tool.
 * Memory   static.
 * Progress wait-free.
 */
#ifndef JW_BASE_COUNTERS_H
#define JW_BASE_COUNTERS_H

#include "base/jw.h"

enum jw_counter_id {
#define JW_COUNTER(name, field, text) JW_COUNT_##name,
#define JW_LOSS(name, field, text)    JW_COUNT_##name,
#define JW_SPARED(name, field, text)  JW_COUNT_##name,
#include "base/counters.def"
#undef JW_COUNTER
#undef JW_LOSS
#undef JW_SPARED
    JW_COUNT_LIMIT
};

struct jw_counter_info {
    const char *name;  /* SIGNALS */
    const char *field; /* signals: of the event and the metric */
    const char *text;  /* what one unit means */
    bool is_loss;      /* a term of the conservation law */
    bool
        is_spared; /* as well: a signal that no sample was to be had of, and nothing is lost with */
};

extern const struct jw_counter_info jw_counter_infos[JW_COUNT_LIMIT];

JW_SIGNAL_SAFE void jw_count(enum jw_counter_id id);
JW_SIGNAL_SAFE void jw_count_add(enum jw_counter_id id, uint64_t amount);

/* Value since the process started. A reader that wants the conservation law to hold reads the
 * outcomes (SAMPLES, losses, spared ones) before SIGNALS: each outcome comes after its signal. */
JW_SIGNAL_SAFE uint64_t jw_counter(enum jw_counter_id id);

#endif
