/*
 * limits - when a command is one too many, and when a session's time is over: decisions without a clock.
 *
 * For      commands at a bounded rate; timeout= and loop=, whatever the clocks do.
 * Callers  agent.   Context  control, dump.   Memory  the caller's structs.
 */
#ifndef JW_AGENT_LIMITS_H
#define JW_AGENT_LIMITS_H

#include "base/jw.h"

#define LIMITS_PER_SECOND 10 /* commands, on average; as many at once after a pause */

/* All zeroes is a full bucket. */
struct limits_rate {
    uint64_t full_ns; /* of jw_now_ns: when the bucket is full again, had nobody taken since */
};

/* Takes one from the bucket; false: it is empty, and nothing was taken. */
bool limits_take(struct limits_rate *rate, uint64_t now_ns);

/*
 * When a session ends, or a loop turns: a time from now on, or a time of day of the local clock. A time of day
 * follows the wall clock when that is set; a duration does not. All zeroes: never.
 */
struct limits_deadline {
    uint64_t at_ns;      /* of jw_now_ns; 0: none */
    uint64_t at_wall_ns; /* of jw_wall_ns; 0: none */
};

/* `when`: of options, 0 is never. The first moment after now. */
struct limits_deadline limits_first(uint64_t when, uint64_t now_ns, uint64_t wall_ns);

/*
 * The moment after `last`, which is over. Turns keep their distance however late one of them is served; those
 * that were missed altogether are left out and not made up for.
 */
struct limits_deadline limits_next(uint64_t when, const struct limits_deadline *last,
                                   uint64_t now_ns, uint64_t wall_ns);

bool limits_is_over(const struct limits_deadline *deadline, uint64_t now_ns, uint64_t wall_ns);

#endif
