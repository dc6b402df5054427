/*
 * figure - a count since the start that is also told since the last clear.
 *
 * For      what lies in a table that is cleared again and again: what it refused must not vanish with it.
 * Callers  dict, store.
 * Context  jw_figure_add: handler, hook, any, where nobody clears meanwhile.  jw_figure_clear: dump, with nobody
 *          adding.  jw_figure_total, jw_figure_now: all, at any time.
 * Memory   the owner's; all zero is a good beginning.
 * Progress wait-free.
 *
 * The total alone is ever added to; a clear only notes where it stood. So both figures are exact at each moment,
 * and the total never falls.
 */
#ifndef JW_BASE_FIGURE_H
#define JW_BASE_FIGURE_H

#include "base/atomics.h"
#include "base/jw.h"

struct jw_figure {
    _Atomic uint64_t total;    /* relaxed: nothing is concluded from it but the figure */
    _Atomic uint64_t at_clear; /* what `total` was */
};

JW_SIGNAL_SAFE static inline void jw_figure_add(struct jw_figure *figure, uint64_t amount)
{
    jw_add_relaxed(&figure->total, amount);
}

JW_SIGNAL_SAFE static inline uint64_t jw_figure_total(const struct jw_figure *figure)
{
    return jw_load_relaxed(&figure->total);
}

/* Since the last clear. */
JW_SIGNAL_SAFE static inline uint64_t jw_figure_now(const struct jw_figure *figure)
{
    /* order FIGURE: acquires the total that jw_figure_clear saw, so that the difference is none below zero. */
    const uint64_t at_clear = jw_load_acquire(&figure->at_clear);

    return jw_load_relaxed(&figure->total) - at_clear;
}

static inline void jw_figure_clear(struct jw_figure *figure)
{
    /* order FIGURE: releases the total that was just seen. */
    jw_store_release(&figure->at_clear, jw_load_relaxed(&figure->total));
}

#endif
