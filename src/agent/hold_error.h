/*
 * hold_error - how far the time that a place was held may be off, where a sample of its holds was timed.
 *
 * Callers  census.c.   Context  any.   Memory   none.
 */
#ifndef JW_AGENT_HOLD_ERROR_H
#define JW_AGENT_HOLD_ERROR_H

#include "base/jw.h"

struct instrument_lock_site;

/* In 95 of 100 cases the sum is right within that; 0 where all holds were timed, or all were as long. */
uint64_t hold_error_ns(const struct instrument_lock_site *site);

#endif
