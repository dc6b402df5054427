/*
 * cost - what jaywalk itself takes of the process that it profiles.
 *
 * For      handlers' times as a distribution, own CPU time, and the share of the process's CPU time that both are.
 * Callers  sampler (notes handlers), agent, recording, profile, export, cli.
 * Context  jw_cost_bucket: all. The rest: any, dump, control, tool.
 * Memory   the caller's.
 *
 * How long a handler took is elapsed time, of every handler: what kept it from running is in it. Its CPU time is read
 * from the thread's own clock by one handler of 64, chosen at random (of hooks one of 256, without what the reading
 * takes), and by each that took JW_COST_LONG_NS or more, so that the longest is known by what it used, not by what others used
 * meanwhile. What the kernel does to deliver a signal and to return from it nobody can see from here: that is an
 * estimate, JW_COST_CALLS_A_SIGNAL system calls, of which one is measured at the start.
 *
 * What those that were measured took stands for the others of the same octave of elapsed time alone, never for all: how many
 * there were in it is known. So one that an interrupt or a page fault hit for 10 ms counts for the few that took as long, not
 * for 256 that took a microsecond. None is said to have used more CPU time than time passed, nor all of them more than the process
 * has used.
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

/* Elapsed: who took less seldom waited for a processor in that time. So its CPU time is taken to be all of it where nothing
 * better is known. */
#define JW_COST_LONG_OCTAVE 17u
#define JW_COST_LONG_NS     (UINT64_C(1) << JW_COST_LONG_OCTAVE)

/* Four buckets to each power of two, up to 2^40 ns. */
#define JW_COST_STEPS   4u
#define JW_COST_OCTAVES 40u
#define JW_COST_BUCKETS (JW_COST_OCTAVES * JW_COST_STEPS)

/* So many of an octave that were measured tell what the others took; of fewer it is said that they may not. */
#define JW_COST_ENOUGH 8u

enum jw_cost_clock {
    JW_COST_CPU,  /* handlers of signals of the CPU clock */
    JW_COST_WALL, /* of the wall clock */
    JW_COST_HOOK, /* samples that no signal stands behind: of allocations */
    JW_COST_CLOCK_LIMIT
};

/* Of the handlers of one clock. Nanoseconds, elapsed, but for the measured and longest_cpu_ns. */
struct jw_cost_times {
    uint64_t count;
    uint64_t elapsed_ns;
    uint64_t longest_cpu_ns; /* none used more CPU time */
    uint64_t buckets[JW_COST_BUCKETS];
    /* Those that read their CPU clock, by octave of elapsed time; and what it said, no more than time passed. */
    struct jw_cost_measured {
        uint64_t count;
        uint64_t cpu_ns;
    } measured[JW_COST_OCTAVES];
};

/* Of a process, since some time: what is said of it in one line. */
struct jw_cost_sums {
    uint64_t process_ns;  /* CPU time by the clock of the process */
    uint64_t handlers_ns; /* and in hooks */
    uint64_t doubt_ns;    /* by so much that may be wrong; 0: by little */
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

JW_SIGNAL_SAFE static inline uint32_t jw_cost_octave(uint64_t duration_ns)
{
    return jw_cost_bucket(duration_ns) / JW_COST_STEPS;
}

/* No duration in this bucket is so long, and none in those below. */
uint64_t jw_cost_bucket_end_ns(uint32_t bucket);

/* What so many of a thousand handlers did not exceed: 500 is the median, 1000 the longest. Exact to a quarter of a
 * power of two, never too small; 0: there was none. */
uint64_t jw_cost_percentile_ns(const struct jw_cost_times *times, uint32_t per_mille);

/* Notes that one which took so long measured its CPU time. */
void jw_cost_measure(struct jw_cost_times *times, uint64_t elapsed_ns, uint64_t cpu_ns);

/* Of those in this octave and above: how many measured their CPU time, and what it was together. */
struct jw_cost_measured jw_cost_measured_from(const struct jw_cost_times *times, uint32_t octave);

/*
 * CPU time of all of them, from those that measured it: octave by octave of elapsed time. Of an octave in which none did: elapsed
 * time below JW_COST_LONG_NS; above it, where one waited rather than ran, what the shorter ones took on average. Of no octave more
 * than the elapsed time of those in it, to the ends of their buckets; nor of all.
 * `doubt_ns` (or NULL): by so much it may be wrong, where few or none of an octave of long ones were measured.
 */
uint64_t jw_cost_cpu_ns(const struct jw_cost_times *times, uint64_t *doubt_ns);

/* What one handler takes lately: by those of either clock since JW_COST_RECENT of them at least measured it, as far as
 * there were so many. `recent` is all zeroes at first, also where sums begin anew. */
#define JW_COST_RECENT 32u
struct jw_cost_recent {
    struct jw_cost_times before[2]; /* sums as they were at two times before */
};
uint64_t jw_cost_recent_ns(struct jw_cost_recent *recent, const struct jw_cost *cost);

/* Counts only rise: what came since `before`, but for the longest, which stays; and of two sets of handlers together. */
void jw_cost_since(struct jw_cost_times *times, const struct jw_cost_times *before);
void jw_cost_add(struct jw_cost_times *times, const struct jw_cost_times *other);

/* Handlers, kernel and own threads are never more than the process. */
void jw_cost_sum_up(const struct jw_cost *cost, struct jw_cost_sums *out);

/* Whether doubt_ns is so much that it has to be said: a quarter of the figure, and a hundredth of the process. */
bool jw_cost_is_doubtful(const struct jw_cost_sums *sums);

/* All that jaywalk took: handlers, kernel, own threads. */
uint64_t jw_cost_own_ns(const struct jw_cost_sums *sums);

/*
 * "0.12 % of the CPU time of the process: 0.05 % in handlers (median 1.9 us, 99 % below 14 us), 0.02 % for signals in
 * the kernel (estimated), 0.05 % own threads". Before the median, where it is much: "give or take 0.40 %". Returns `text`, cut to fit.
 */
const char *jw_cost_sentence(const struct jw_cost_sums *sums, char *text, size_t room_bytes);

#endif
