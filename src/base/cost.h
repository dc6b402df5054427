/*
 * cost - what jaywalk itself takes of the process that it profiles.
 *
 * For      handlers' times as a distribution, own CPU time, and the share of the process's CPU time that both are.
 * Callers  sampler (notes handlers), agent, recording, profile, export, cli.
 * Context  jw_cost_bucket: all. The rest: any, dump, control, tool.
 * Memory   the caller's.
 *
 * How long a handler took is elapsed time, of every handler: what kept it from running is in it. Its CPU time is read
 * from the thread's own clock by one handler of 64, chosen at random, and multiplied (of hooks, of which one of 256 does,
 * without what the reading takes); and by each that took longer than
 * JW_COST_LONG_NS, so that the longest is known by what it used, not by what others used meanwhile. What the kernel does to deliver
 * a signal and to return from it nobody can see from here: that is an estimate, JW_COST_CALLS_A_SIGNAL system calls, of
 * which one is measured at the start.
 */
#ifndef JW_BASE_COST_H
#define JW_BASE_COST_H

#include "base/jw.h"

/* Delivery of a signal, return from it, and what the timer or the sender adds, in system calls that do nothing. Source:
 * a thread that signals itself, 3.7 us where a system call takes 0.22 us, docs/self-measurement.md. */
#define JW_COST_CALLS_A_SIGNAL 16u

/* One handler, or hook, of so many reads its own CPU clock. */
#define JW_COST_MEASURED_OF      64u
#define JW_COST_HOOK_MEASURED_OF 256u

/* Elapsed: of a handler that took less, its CPU time is taken to be all of it where the longest is looked for. */
#define JW_COST_LONG_NS 1000000u

/* Four buckets to each power of two, up to 2^40 ns. */
#define JW_COST_STEPS   4u
#define JW_COST_BUCKETS (40u * JW_COST_STEPS)

enum jw_cost_clock {
    JW_COST_CPU,  /* handlers of signals of the CPU clock */
    JW_COST_WALL, /* of the wall clock */
    JW_COST_HOOK, /* samples that no signal stands behind: of allocations */
    JW_COST_CLOCK_LIMIT
};

/* Of the handlers of one clock. Nanoseconds, elapsed, but for measured_cpu_ns and longest_cpu_ns. */
struct jw_cost_times {
    uint64_t count;
    uint64_t elapsed_ns;
    uint64_t measured_count;  /* of them, those that read their CPU clock */
    uint64_t measured_cpu_ns; /* and what it said, a reading included */
    uint64_t longest_cpu_ns;  /* none used more CPU time */
    uint64_t buckets[JW_COST_BUCKETS];
};

/* Of a process, since some time: what is said of it in one line. */
struct jw_cost_sums {
    uint64_t process_ns;  /* CPU time by the clock of the process */
    uint64_t handlers_ns; /* and in hooks */
    uint64_t kernel_ns;   /* estimate */
    uint64_t own_ns;      /* of jaywalk's own threads, by their clocks */
    uint64_t median_ns;   /* of a handler of either clock, elapsed; without any, of a hook */
    uint64_t high_ns;     /* 99 of 100 took no longer */
};

/* Since the recording began. */
struct jw_cost {
    uint64_t process_ns;
    uint64_t agent_ns;  /* CPU time of the agent's thread, which writes */
    uint64_t clock_ns;  /* and of the sampler's, which turns */
    uint64_t signal_ns; /* of the kernel, for each signal: an estimate */
    struct jw_cost_times handlers[JW_COST_CLOCK_LIMIT];
    uint64_t
        rotations; /* turns of the agent's thread in which a generation was closed, or was to be */
    uint64_t rotation_ns, rotation_max_ns;  /* elapsed, writing included */
    uint64_t interval_ns, wall_interval_ns; /* in force at this moment; 0: no such clock */
};

/* In which bucket this duration counts. Inline: handlers. */
JW_SIGNAL_SAFE static inline uint32_t jw_cost_bucket(uint64_t duration_ns)
{
    const uint64_t duration = duration_ns < JW_COST_STEPS ? JW_COST_STEPS : duration_ns;
    const uint32_t octave = 63 - (uint32_t)__builtin_clzll(duration);
    const uint32_t bucket =
        octave * JW_COST_STEPS + ((uint32_t)(duration >> (octave - 2)) & (JW_COST_STEPS - 1));

    return bucket < JW_COST_BUCKETS ? bucket : JW_COST_BUCKETS - 1;
}

/* No duration in this bucket is so long, and none in those below. */
uint64_t jw_cost_bucket_end_ns(uint32_t bucket);

/* What so many of a thousand handlers did not exceed: 500 is the median, 1000 the longest. Exact to a quarter of a
 * power of two, never too small; 0: there was none. */
uint64_t jw_cost_percentile_ns(const struct jw_cost_times *times, uint32_t per_mille);

/* CPU time of all of them, from those that measured it; elapsed time while there are none. */
uint64_t jw_cost_cpu_ns(const struct jw_cost_times *times);

/* What one handler takes lately: the mean of those of either clock that measured it, of the last JW_COST_RECENT at least, as far as
 * there were so many. `recent` is all zeroes at first, also where sums begin anew. While none has measured it: elapsed time. */
#define JW_COST_RECENT 32u
struct jw_cost_recent {
    uint64_t count[2], cpu_ns[2]; /* sums as they were at two times before */
};
uint64_t jw_cost_recent_ns(struct jw_cost_recent *recent, const struct jw_cost *cost);

/* Counts only rise: what came since `before`, but for the longest, which stays; and of two sets of handlers together. */
void jw_cost_since(struct jw_cost_times *times, const struct jw_cost_times *before);
void jw_cost_add(struct jw_cost_times *times, const struct jw_cost_times *other);

void jw_cost_sum_up(const struct jw_cost *cost, struct jw_cost_sums *out);

/* All that jaywalk took: handlers, kernel, own threads. */
uint64_t jw_cost_own_ns(const struct jw_cost_sums *sums);

/*
 * "0.12 % of the CPU time of the process: 0.05 % in handlers (median 1.9 us, 99 % below 14 us), 0.02 % for signals in
 * the kernel (estimated), 0.05 % own threads". Returns `text`, cut to fit.
 */
const char *jw_cost_sentence(const struct jw_cost_sums *sums, char *text, size_t room_bytes);

#endif
