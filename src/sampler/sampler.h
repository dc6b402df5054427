/*
 * sampler - when to sample, and what to keep.
 *
 * For      CPU and wall-clock samples of every thread of the process: Java, GC, compiler, VM and native threads.
 * Callers  agent.
 * Context  sampler_start, sampler_stop: control. sampler_thread_*: hook. sampler_scan: dump.
 * Memory   scratch space for stacks under way, reserved by the first start, touched as used.
 *
 * Engine `timer`: one timer on each thread's CPU clock, which signals that very thread. The kernel looks
 * at such timers once a scheduler tick (1 to 10 ms); what expired in between comes as the overrun of
 * the signal, so a sample stands for interval x (1 + overruns) of CPU time. The first expiration of a
 * thread lies at random within one interval: a thread that lives for less is sampled as often as its
 * CPU time says. Engine `itimer`: one timer of the process that signals some running thread.
 *
 * Engine `fine`: a thread of ours reads the clocks of the threads that ran lately once an interval, and signals
 * those that used up three quarters of one; the weight is what the thread's own clock went on since its last
 * sample, so weights of a thread add up to its clock. For intervals below a tick, and for single threads that
 * were refused a timer. Costs a turn each interval while anybody runs (docs/adr/0013), else one a tick. A thread that
 * begins to run after a pause may be noticed some turns late, and a signal that finds its thread waiting is
 * counted as SPARED_WAITING: both are in the weight of the next sample.
 *
 * Engine `perf`: an event of the kernel for each thread, which signals that very thread at each interval of CPU time, of any length, and
 * tells which of its functions ran then (docs/adr/0029). Weights are as those of `fine`. A thread that lives for less than an
 * interval is not sampled; one that is refused an event is sampled as by `fine`.
 *
 * With a counter engine `perf` samples that in place of CPU time, in records of a kind of their own: the weight is what the kernel had
 * counted at the sample, less what it had at the one before. No engine stands in for it. Samples themselves may be what is counted
 * (a probe in what a handler calls, delivery of signals): where a thread has less than 20 us of CPU time for each, or seems to get nowhere between them, its
 * interval is doubled, again and again.
 *
 * Engine `wall`: the same thread turns once a wall interval, at up to an eighth of it late, at random. A thread whose
 * clock went on since its last sample is signalled; one whose clock stood still (10 us are our own handler's) waits
 * where its last sample saw it, and gets a record of idle time instead, at the latest each second. Weights of a
 * thread add up to its life in the run. Limits: of each 10 ms, 16 signals (never fewer than 8 a turn); of each turn
 * one or two hundredths for readings, 400 of them at 10 ms. A thread beyond them is put off: its next sample stands for the time
 * since the last look, of which it may have waited a part. Beyond some 200 running threads, or 400 in all, at
 * 10 ms the look at a thread comes every few turns. A signal that is not taken within a second (the thread
 * blocks it), and what no sample came to until a thread's end, is recorded as unsampled (WALL_UNSAMPLED_NS).
 *
 * Threads are found by JVMTI thread events and by looking at the task list; nothing is patched.
 */
#ifndef JW_SAMPLER_SAMPLER_H
#define JW_SAMPLER_SAMPLER_H

#include "base/cost.h"
#include "generation/generation.h"
#include "os/os_perf.h"
#include "thread/thread.h"

#define SAMPLER_CLOCK_THREAD_NAME "jaywalk clock"

enum sampler_cpu_engine {
    SAMPLER_CPU_NONE,
    SAMPLER_CPU_TIMER,
    SAMPLER_CPU_FINE,
    SAMPLER_CPU_PERF,
    SAMPLER_CPU_ITIMER,
};

struct sampler_config {
    struct generations *generations;
    enum sampler_cpu_engine cpu;
    uint64_t interval_ns;      /* of CPU time */
    uint64_t wall_interval_ns; /* 0: no wall clock */
    uint64_t late_ns;          /* safepoints that are waited for so long are told of; 0: none */
    uint64_t lock_ns;          /* waits for Java locks that took so long are told of; 0: none */
    uint32_t depth_max;        /* Java frames kept of a stack */
    bool with_native;          /* native frames above Java frames, and of threads without Java */
    bool by_frame_pointer;     /* those, by the frame pointer alone */
    bool by_libunwind;         /* those, by libunwind (unwind_live_open before) */
    bool with_mixed;           /* native frames between Java frames and below them, too */
    bool with_receivers;       /* the class of the object on which a method is being looked up */
    bool with_compiled;        /* the method that a compiler thread compiles */
    bool with_addresses;       /* on top of all, the address of the interrupted instruction */
    bool with_carriers;        /* below a virtual thread's entry, the frames of its carrier */
    bool is_user_only;         /* of SAMPLER_CPU_PERF: nothing of the kernel */
    bool
        is_counting; /* SAMPLER_CPU_PERF samples `counter`, each `counter.period` events, and no CPU time */
    struct os_perf_event counter;
    uint32_t window;    /* samples in these states alone, of enum vm_safepoint_state; 0: always */
    const char *filter; /* as in thread_filter.h; NULL: every thread */
};

/* Flags of an event_record of a sample of either clock. */
enum sampler_flag {
    SAMPLER_IN_NATIVE =
        1u << 0, /* the thread ran native code that Java does not wait in line for */
};

/* The engine for CPU samples that far apart: timers, or `fine` below a tick of this kernel. */
enum sampler_cpu_engine sampler_cpu_for(uint64_t interval_ns);

/* Whether SAMPLER_CPU_PERF can be had in this process, for CPU time; `err` says why not, and what to try. */
JW_MUST_CHECK bool engine_cpu_perf_check(bool is_user_only, struct jw_error *err);
/* And for a counter. */
JW_MUST_CHECK bool engine_cpu_perf_check_counter(const struct os_perf_event *counter,
                                                 struct jw_error *err);

/* Samples arrive from here on. False: nothing runs, `err` says why. */
JW_MUST_CHECK bool sampler_start(const struct sampler_config *config, struct jw_error *err);

/* No timer is left; false when a handler, or the sampler thread, is still at work after the deadline, whose memory
 * must stay. */
JW_MUST_CHECK bool sampler_stop(uint64_t timeout_ns);

/* The calling thread is a Java thread that begins, or that is about to end. */
void sampler_thread_start(uint32_t tid, const struct thread_java *java);
void sampler_thread_end(uint32_t tid);

/* A Java thread that was there before: found by the agent, any thread. */
void sampler_thread_found(uint32_t tid, const struct thread_java *java);

/* The program added the calling thread to those of the filter, or took it away. Context: any, hook. */
void sampler_thread_asked(uint32_t tid);

/* A Java thread has got another name: the filter is asked again. Context: dump. */
void sampler_thread_renamed(thread_index thread, const char *java_name);

/* Looks for threads that no event told of and for ones that are gone. */
void sampler_scan(void);

/* What is in force at this moment; 0: no such clock. Context: any. */
void sampler_intervals(uint64_t *cpu_ns, uint64_t *wall_ns);

/* Other intervals from now on, of clocks that turn; not 0, and not of engines `timer` and `perf`, whose timers stay as they are.
 * Weights stay right: of `fine` and the wall clock they are differences of clocks; of itimer, the interval in force, also where
 * a signal that is pending was due by the one before.
 * Context: dump, while an engine runs. */
void sampler_set_intervals(uint64_t cpu_ns, uint64_t wall_ns);

/* What handlers of signals of this clock, or hooks, took since the process started (the longest: since sampler_cost_begin): from the engine's first instruction to its last,
 * spared and lost signals too. Not in it: entry and gate, some 50 ns; a system call that goes on. Context: any. */
void sampler_cost(enum jw_cost_clock clock, struct jw_cost_times *out);

/* A session begins, or goes on, with all engines stopped: the longest handler is looked for anew. Context: control. */
void sampler_cost_begin(void);

/* Memory that deep stacks, kept from sample to sample, have taken. Context: any. */
uint64_t sampler_deep_bytes(void);

#endif
