/*
 * clock - the one clock of a recording: CLOCK_MONOTONIC, in nanoseconds.
 *
 * For      sample times, deadlines.   Context  all (clock_gettime is async-signal-safe on Linux).
 */
#ifndef JW_BASE_CLOCK_H
#define JW_BASE_CLOCK_H

#include "base/jw.h"

#define JW_NS_PER_SECOND 1000000000ull
#define JW_NS_PER_MS     1000000ull

JW_SIGNAL_SAFE uint64_t jw_now_ns(void); /* CLOCK_MONOTONIC */
uint64_t jw_wall_ns(void);               /* CLOCK_REALTIME, since the Unix epoch */

#endif
