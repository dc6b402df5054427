/*
 * sampler - when to sample, and what to keep.
 *
 * For      CPU samples of every thread of the process: Java, GC, compiler, VM and native threads.
 * Callers  agent.
 * Context  sampler_start, sampler_stop: control. sampler_thread_*: hook. sampler_scan: dump.
 * Memory   scratch space for stacks under way, reserved by the first start, touched as used.
 *
 * Engine `cpu`: one timer on each thread's CPU clock, which signals that very thread. The kernel looks
 * at such timers once a scheduler tick (1 to 10 ms); what expired in between comes as the overrun of
 * the signal, so a sample stands for interval x (1 + overruns) of CPU time. The first expiration of a
 * thread lies at random within one interval: a thread that lives for less is sampled as often as its
 * CPU time says. Engine `itimer`: one timer of the process that signals some running thread.
 *
 * Threads are found by JVMTI thread events and by looking at the task list; nothing is patched.
 */
#ifndef JW_SAMPLER_SAMPLER_H
#define JW_SAMPLER_SAMPLER_H

#include "generation/generation.h"
#include "thread/thread.h"

struct sampler_config {
    struct generations *generations;
    uint64_t interval_ns;
    uint32_t depth_max; /* Java frames kept of a stack */
    bool is_itimer;
    bool with_native; /* native frames above Java frames, and of threads without Java */
};

/* Flags of an event_record of kind EVENT_CPU_SAMPLE. */
enum sampler_flag {
    SAMPLER_IN_NATIVE =
        1u << 0, /* the thread ran native code that Java does not wait in line for */
};

/* Samples arrive from here on. False: nothing runs, `err` says why. */
JW_MUST_CHECK bool sampler_start(const struct sampler_config *config, struct jw_error *err);

/* No timer is left; false when a handler is still at work after the deadline, whose memory must stay. */
JW_MUST_CHECK bool sampler_stop(uint64_t timeout_ns);

/* The calling thread is a Java thread that begins, or that is about to end. */
void sampler_thread_start(uint32_t tid, const struct thread_java *java);
void sampler_thread_end(uint32_t tid);

/* A Java thread that was there before: found by the agent, any thread. */
void sampler_thread_found(uint32_t tid, const struct thread_java *java);

/* Looks for threads that no event told of and for ones that are gone. */
void sampler_scan(void);

/* What samples took in the handler since the process started, at most so many of a hundred: 50 is the
 * median. Nanoseconds, exact to a quarter of a power of two; 0: no sample yet. Context: any. */
uint64_t sampler_cost_ns(uint32_t percentile_pct);

#endif
