/*
 * sampler_pace - how much longer intervals must be than asked for, to keep within a budget.
 *
 * For      overhead=1%: what jaywalk takes may be no more than such a share of the process's CPU time.
 * Callers  agent, sampler.
 * Context  dump. Pure: nothing is read, nothing waited for.
 * Memory   the caller's.
 *
 * Once a turn it is told what jaywalk took, and what the process used. What longer intervals lessen (handlers, signals, the
 * thread that turns) is held to what the rest (the thread that writes) leaves of the budget, and never to less than a quarter
 * of it: a profile is not given up for a cost that it does not cause. Above that intervals are stretched at once, by what is
 * too much and a tenth more, between a quarter and four times. Below half of it for three turns in a row they are shrunk,
 * to where four fifths of it are expected, by half at the most. In between nothing changes: so what is steady stays, and
 * what comes back comes back slowly. What the rest takes comes in bursts (names, chunks): it counts as its mean over the last
 * eight turns or so, else intervals would swing with them.
 */
#ifndef JW_SAMPLER_SAMPLER_PACE_H
#define JW_SAMPLER_SAMPLER_PACE_H

#include "base/jw.h"

#define SAMPLER_PACE_ONE 1000u /* stretch of intervals as they were asked for */

struct sampler_pace {
    uint64_t budget_ppm; /* of the process's CPU time */
    uint64_t most;       /* stretch that is never exceeded, at least SAMPLER_PACE_ONE */
    uint64_t stretch;    /* in thousandths: 2500 makes 10 ms of 4 ms */
    uint32_t calm_turns; /* in a row with less than half of the budget */
    uint64_t share_ppm;  /* of the last turn, all of it */
    uint64_t fixed_ns,
        used_ns; /* sums in which each turn counts for an eighth less than the one after it */
};

void sampler_pace_begin(struct sampler_pace *pace, uint64_t budget_ppm, uint64_t most);

/* A turn, all in ns of CPU time: `used_ns` of the process, jaywalk's included; of jaywalk's, `steered_ns` that goes with the
 * intervals, and `fixed_ns` that does not. True: the stretch has changed. While the process hardly runs, `used_ns` should
 * be no less than some small part of the time that went by: a thread that turns is much of nothing. */
bool sampler_pace_turn(struct sampler_pace *pace, uint64_t steered_ns, uint64_t fixed_ns,
                       uint64_t used_ns);

/* What is steered takes more than twice what it may: nobody need wait for the end of the turn. */
bool sampler_pace_is_far(const struct sampler_pace *pace, uint64_t steered_ns, uint64_t used_ns);

/* A time as it was asked for, in thousandths as long: no longer than `longest_ns`, unless that was asked for. */
uint64_t sampler_pace_stretched_ns(uint64_t asked_ns, uint64_t stretch, uint64_t longest_ns);

#endif
