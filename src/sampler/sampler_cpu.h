/*
 * sampler_cpu - the CPU clocks of the run: of its threads, and of the process that they add up to.
 *
 * For      the ledger, which sets them against the weights of the samples.
 * Callers  agent.
 * Context  dump.
 * Memory   none.
 *
 * A thread's clock is read when it gets its record; by the scan, unless the thread is going to tell of its
 * end; by the thread itself when it ends; and by each sampler_cpu_each. What a thread uses after the last
 * of these, nobody can see but the clock of the process: a thread that tells of its end leaves the
 * kernel's part of it, any other what it used since the last scan.
 */
#ifndef JW_SAMPLER_SAMPLER_CPU_H
#define JW_SAMPLER_SAMPLER_CPU_H

#include "thread/thread.h"

struct sampler_cpu {
    thread_index thread;
    uint64_t serial;
    uint64_t used_ns; /* since the start of the run, or its own */
    bool is_ended;    /* told for the last time: nothing can name its record any more */
    bool is_short;   /* was born and ended in the run, with less CPU than SAMPLER_SHORT_INTERVALS */
    bool is_own;     /* a thread of jaywalk's, which is never sampled */
    bool is_refused; /* no timer could be made for it, at least for a time */
    bool is_left_out; /* none of ours, and the filter of the run does not name it, or no more */
};

/* Whoever ends with less CPU time than so many intervals, or than this, lived short: what the kernel leaves
 * of it, a tick and an interval at most, is a large part of the whole. */
#define SAMPLER_SHORT_INTERVALS 5
#define SAMPLER_SHORT_NS        50000000

/*
 * Reads the clocks of all threads and tells each thread of the run; one that ended comes for the last time
 * when its record ended before `oldest_generation`, and must come before the record is reaped.
 */
typedef void sampler_cpu_visit(const struct sampler_cpu *cpu, void *argument);
void sampler_cpu_each(uint64_t oldest_generation, sampler_cpu_visit *visit, void *argument);

/* CPU time that the process used since the start of the run. May stand a kernel tick behind for each
 * thread that runs at the moment. */
uint64_t sampler_process_cpu_ns(void);

#endif
