/*
 * sampler_internal - shared by the engines and by the way of a sample.
 *
 * Memory   `sampler` is filled by sampler_start before any signal can come and constant until the
 *          engines are stopped and drained.
 */
#ifndef JW_SAMPLER_SAMPLER_INTERNAL_H
#define JW_SAMPLER_SAMPLER_INTERNAL_H

#include "base/thread_state.h"
#include "generation/method_record.h"
#include "os/os_perf.h"
#include "os/os_thread.h"
#include "sampler/sampler.h"
#include "sampler/sampler_cpu.h"
#include "signals/signals.h"
#include "vm/vm_object.h"
#include "vm/vm_string.h"
#include "walk/walk.h"

/* Frames of one stack: an address, those of the kernel on top, native ones, what they compile, a class, a stub, a mark, and Java. */
#define SAMPLE_FRAMES_MAX (OS_PERF_FRAMES_MAX + WALK_DEPTH_MAX + WALK_NATIVE_DEPTH_MAX + 7)

#define SAMPLE_MEMO_COUNT 256u

/* A method of the stack under way, so that recursion and the like are looked up once. */
struct sample_memo {
    jmethodID method; /* or Method*: within one stack all are of one kind */
    uint32_t stamp;   /* of the sample that it belongs to */
    dict_id id;
    bool has_code;
};

/* Room to walk and name one stack in. */
struct sample_scratch {
    _Atomic uint32_t is_taken;
    uint32_t stamp;        /* one more for each sample: what others left in `memo` does not count */
    bool are_names_dated;  /* the method cache is to hold nothing from before `names_date`: */
    bool is_cache_renewed; /* and does, since the first look of this sample */
    uint64_t now_ns;       /* when the sample under way was taken */
    uint64_t
        names_date; /* of the JVM's safepoints (vm_safepoint_date), read before the first name */
    struct sample_memo memo[SAMPLE_MEMO_COUNT];
    struct vm_call_frame java[WALK_DEPTH_MAX];
    struct walk_cache walk_cache;
    uintptr_t native_pcs[WALK_NATIVE_DEPTH_MAX];
    jw_frame frames[SAMPLE_FRAMES_MAX];
    struct vm_string virtual_name; /* of the mounted thread; "": none, or not known */
    unsigned char text[VM_NAME_BYTES_MAX];
    _Alignas(8) unsigned char record[METHOD_RECORD_MAX_BYTES];
};

/* A hook's stack is known again as a whole where no more than so many frames were walked. */
#define SAMPLE_AGAIN_FRAMES 6u

/* Hashes of a deep stack's outer part are kept of each so many frames. */
#define SAMPLE_HASHED_FRAMES 64u

/*
 * The last deep stack of a thread, and what its outer frames were called. All frames lie at the end of `frames`,
 * the Java ones of `past` last.
 */
struct sample_deep {
    _Atomic uint32_t is_taken;
    /* Relaxed, both: to find the likeliest; what a past says is proved before it counts. */
    _Atomic uint32_t tid;     /* 0: nobody's */
    _Atomic uint64_t used_ns; /* when a sample was last written down that had it */
    _Atomic uint64_t bytes;   /* relaxed, a figure: what was ever touched of it */
    /* Of what run and generation the ids in `frames` are; how many from the end on. */
    const struct generations *names_of;
    uint64_t names_run, names_generation;
    uint64_t names_date; /* as in the scratch, of the last sample; 0: none */
    uint32_t named_count;
    uint32_t interpreted_count; /* so far from the end there may be interpreted ones */
    /* The n-th: of the last n * SAMPLE_HASHED_FRAMES frames; of those that are named. */
    struct store_hash hashes[SAMPLE_FRAMES_MAX / SAMPLE_HASHED_FRAMES + 1];
    /* Of all frames that were named before the last sample: most often it is those that are named before the next. */
    struct store_hash kept_hash;
    /* The sample before, of a hook, whose trace lies in `frames`: what was walked of it, before what was kept. */
    struct {
        store_id trace; /* STORE_NONE: there is none, or it may not be known again */
        uint32_t flags, fresh, past;
        uintptr_t stub_pc;
        struct vm_call_frame frames[SAMPLE_AGAIN_FRAMES];
        vm_addr klass; /* of which the hook told; 0: by name, or of none */
        dict_id class_name;
    } last;
    bool is_again;       /* the sample under way has the trace of the one before */
    struct walk_top top; /* of a hook's walk that left `past` as it is */
    jw_frame frames[SAMPLE_FRAMES_MAX];
    struct walk_past past;
};

extern struct sampler_config sampler;

bool sample_scratch_open(struct jw_error *err);
JW_SIGNAL_SAFE struct sample_scratch *sample_scratch_take(uint32_t tid);
JW_SIGNAL_SAFE void sample_scratch_give(struct sample_scratch *scratch);

/*
 * sample_deep.c: room for deep stacks, fewer than threads: the one unused for longest gives way. _find: the calling
 * thread's, or NULL; _give: the end of it; _drop: for good. _claim: from now on it has one, if there is one to be had.
 */
JW_MUST_CHECK bool sample_deep_open(struct jw_error *err);
void sample_deep_start(void); /* a run begins: names of before mean nothing */
JW_SIGNAL_SAFE struct sample_deep *sample_deep_find(uint32_t tid);
JW_SIGNAL_SAFE void sample_deep_claim(uint32_t tid);
JW_SIGNAL_SAFE void sample_deep_give(struct sample_deep *deep);
JW_SIGNAL_SAFE void sample_deep_drop(struct sample_deep *deep);
/* After a walk with its past that ended with so many fresh frames. */
JW_SIGNAL_SAFE void sample_deep_keep(struct sample_deep *deep, struct walk_log *log,
                                     const struct walk_java_result *java,
                                     const struct vm_call_frame *fresh);
/* How many of the last `count` frames are already named for this generation; the rest must be named now. */
JW_SIGNAL_SAFE uint32_t sample_deep_named(struct sample_deep *deep,
                                          const struct generation *generation,
                                          const struct sample_scratch *scratch, uint32_t count);
/*
 * Of a hook, before the above: the trace that the sample before had, where this one is of the very same frames, and their names are those
 * that they had; else STORE_NONE. _note: this is what the next sample is compared with.
 */
JW_SIGNAL_SAFE store_id sample_deep_again(struct sample_deep *deep,
                                          const struct generation *generation,
                                          const struct sample_scratch *scratch,
                                          const struct walk_java_result *java, uint32_t flags);
JW_SIGNAL_SAFE void sample_deep_note(struct sample_deep *deep, const struct sample_scratch *scratch,
                                     const struct walk_java_result *java, uint32_t flags,
                                     store_id trace);
/* All `count` frames from the end are those of this sample, `kept` of them as they were named before. */
JW_SIGNAL_SAFE void sample_deep_hash(struct sample_deep *deep, uint32_t kept, uint32_t count,
                                     struct store_hash *out);

/* Before the first name of a sample: what was cached before the last safepoint does not count. */
JW_SIGNAL_SAFE void sample_names_begin(struct sample_scratch *scratch);

/* Whether a method is still the one that got this id in the generation. */
JW_SIGNAL_SAFE bool sample_method_is(const struct generation *generation, dict_id id,
                                     vm_addr method);

/* Id of a method in the generation, its names copied on first sight; DICT_NONE, and the mark that
 * says so in the stack, when it is unreadable or finds no room. Both are counted. */
JW_SIGNAL_SAFE dict_id sample_method(struct generation *generation, struct sample_scratch *scratch,
                                     vm_addr method, enum jw_mark *why);

struct sampler_hook;

/* Id of the class's name in `classes`; DICT_NONE when it finds no room (counted) or cannot be read. */
JW_SIGNAL_SAFE dict_id sample_class(struct generation *generation, struct sample_scratch *scratch,
                                    vm_addr klass);
/* The one that a hook tells of; DICT_NONE: none. `deep`, which may be NULL: its trace is found. */
JW_SIGNAL_SAFE dict_id sample_class_of_hook(struct generation *generation,
                                            struct sample_scratch *scratch,
                                            struct sample_deep *deep,
                                            const struct sampler_hook *hook);

/* What the kernel saw of the moment that a sample is of; lies in a ring until the sample is taken. */
struct sample_kernel {
    const struct os_perf_ring *ring; /* NULL: nothing that can be told to be of this moment */
    struct os_perf_sample sample;
    struct os_perf_reading reading;
};

/* Why there is no sample. */
enum sample_loss {
    SAMPLE_TAKEN,
    SAMPLE_NO_SCRATCH,
    SAMPLE_NO_CELL,
    SAMPLE_STORE_FULL,
    SAMPLE_PAYLOADS_FULL,
    SAMPLE_EVENTS_FULL,
};

/* What a sample stands for. */
struct sample_order {
    uint16_t kind;       /* enum event_kind */
    thread_index thread; /* the calling one */
    uint64_t weight_ns;
    uint64_t number;                    /* wall: as in struct event_record */
    uint32_t turns;                     /* wall */
    const struct sample_kernel *kernel; /* NULL: not asked for */
    vm_addr klass;                      /* whose name becomes class_name; 0: none */
    const struct sampler_hook *hook;    /* of sample_from_hook alone; else NULL */
    uint64_t now_ns;                    /* the clock, of who has just read it; 0: it is read */
    /* Found out by sample_take: */
    uint16_t state;      /* wall: enum jw_thread_state */
    bool is_passing;     /* wall: it waits for the JVM, for a moment */
    bool is_java_missed; /* there is Java on the stack, but it could not be walked at this moment */
    enum sample_loss loss;
};

/* Whether samples are wanted at this moment (begin=, end=). */
JW_SIGNAL_SAFE bool sample_in_window(void);

/* One sample, start to end: SAMPLES, or outside of the window SPARED_WINDOW, and true; or exactly one loss is counted. */
JW_SIGNAL_SAFE bool sample_take(const void *ucontext, struct sample_order *order);
/* The same from a hook, of Java frames alone; none of those counters is touched. */
enum sample_loss sample_from_hook(const struct arch_context *here, struct sample_order *order);

/* sample_mounted.c: the context of the virtual thread, or the thread's own: of a carrier whose virtual thread is not told there is none. */
JW_SIGNAL_SAFE dict_id sample_capture(struct generation *generation, uint64_t mounted,
                                      const struct vm_string *name);
/* Which virtual thread runs on this one, as vm_thread_mounted says, and what it is called where that can be told. */
JW_SIGNAL_SAFE uint64_t sample_find_mounted(const struct sample_order *order, const void *env,
                                            struct vm_string *name);
JW_SIGNAL_SAFE bool sample_is_of_carrier(const struct walk_java_result *java);

/* sample_state.c: what the calling thread was doing. `env` NULL: no Java thread; `java` and `frames`: of its walk. */
JW_SIGNAL_SAFE enum jw_thread_state sample_state(const void *ucontext, const void *env,
                                                 const struct walk_java_result *java,
                                                 const struct vm_call_frame *frames,
                                                 bool *is_passing);

/* sample_cost.c: around what a handler does, of a signal of this clock; _note: the elapsed part of it alone. */
struct sample_cost {
    uint64_t begin_ns;
    uint64_t cpu_ns;  /* of the thread's clock then; 0: it could not be read */
    bool is_measured; /* one of those whose CPU time is added up */
};
JW_SIGNAL_SAFE void sample_cost_begin(struct sample_cost *cost);
/* Of a hook: its CPU clock is read where it is one of those that are measured. */
void sample_cost_begin_hook(struct sample_cost *cost);
JW_SIGNAL_SAFE void sample_cost_end(const struct sample_cost *cost, enum jw_cost_clock clock);
JW_SIGNAL_SAFE void sample_cost_note(enum jw_cost_clock clock, uint64_t elapsed_ns);

/* What is known of a thread that gets its timer. */
enum engine_thread {
    ENGINE_THREAD_NEW,   /* its CPU time counts from now on */
    ENGINE_THREAD_LATE,  /* what it used since the start counts, too: as debt of its first sample */
    ENGINE_THREAD_AGAIN, /* was left out until now: its CPU time counts from now on */
};

/* sampler_cpu.c: a run begins, with no engine running. */
void sampler_cpu_start(void);
/* The time of this thread counts: from now on when it `is_old`, of before the run; else all of it. */
void sampler_cpu_begin(thread_index thread, bool is_old, uint64_t started_ns);
/* Reads the thread's clock. False: it is that of another thread with the same number. */
JW_MUST_CHECK bool sampler_cpu_look(thread_index thread);
/* The record `old` ends, and the calling thread, which has the same number and whose clock stands at
 * `clock_ns`, gets another one. If it is the same thread, `base_ns` becomes where its time begins to count
 * for the new record: the old one keeps what was sampled of it, or what is more than an interval. */
void sampler_cpu_hand_over(thread_index old, uint64_t clock_ns, uint64_t *base_ns);
/* The thread is about to end: when it is the calling one, its clock will be read once more on the way. */
void sampler_cpu_end(thread_index thread);
/* How much of what a thread's clock shows can be of the run: the list of tasks may pass over a thread while
 * others end, and the table may have been full, so one that is found late may be older. */
uint64_t sampler_cpu_debt_ns(uint64_t clock_ns, uint64_t started_ns);

/* sampler.c: the value that a signal to this thread carries, and the thread of a signal that came; THREAD_NONE when
 * its record went to another one since. */
uintptr_t sampler_cookie(thread_index thread);
JW_SIGNAL_SAFE thread_index sampler_thread_of(uint32_t payload);

/* sampler.c: intervals in force, which overhead= may change. Context: all. */
JW_SIGNAL_SAFE uint64_t sampler_cpu_interval_ns(void);
JW_SIGNAL_SAFE uint64_t sampler_wall_interval_ns(void);
/* And to those that were asked for, in thousandths. Context: any. */
uint64_t sampler_stretch(void);

/* engine_cpu_timer.c: the timer of a thread. `started_ns`: when the run began; a thread cannot have used more
 * CPU time in it than has gone by since. */
enum engine_timer {
    ENGINE_TIMER_SET,
    ENGINE_TIMER_REFUSED, /* try otherwise */
    ENGINE_TIMER_GONE,    /* no such thread any more */
};
JW_MUST_CHECK enum engine_timer engine_cpu_timer_add(thread_index thread, enum engine_thread kind,
                                                     uint64_t started_ns);
void engine_cpu_timer_remove(thread_index thread);

/*
 * engine_cpu_perf.c. The time of a thread counts from `base_ns` of its clock on. _remove: true when the thread has, or had until
 * now, an event; a handler inside it is waited for by _reap, which the dump thread, control and the sampler thread call; between two rings
 * it asks `is_over` (NULL: never) whether to leave the rest. _claims: whether signals with the number of this descriptor are, or were, those of an event of ours.
 */
JW_MUST_CHECK bool engine_cpu_perf_open(struct jw_error *err);
JW_MUST_CHECK enum engine_timer engine_cpu_perf_add(thread_index thread, uint64_t base_ns);
bool engine_cpu_perf_remove(thread_index thread);
void engine_cpu_perf_reap(bool (*is_over)(void));
JW_SIGNAL_SAFE bool engine_cpu_perf_has(thread_index thread);
uint64_t engine_cpu_perf_sampled_ns(thread_index thread);
JW_SIGNAL_SAFE bool engine_cpu_perf_claims(int number);
JW_SIGNAL_SAFE void engine_cpu_perf_take(const void *ucontext, thread_index thread);

/* engine_cpu_fine.c. The time of a thread counts from `base_ns` of its clock on. _turn: what is due; when to come
 * again. _take: on that thread, whose clock stands at `clock_ns`; 0: it could not be read. */
JW_MUST_CHECK bool engine_cpu_fine_open(struct jw_error *err);
void engine_cpu_fine_start(uint64_t interval_ns);
bool engine_cpu_fine_is_wanted(void); /* some thread was added in this run */
void engine_cpu_fine_add(thread_index thread, uint64_t base_ns);
void engine_cpu_fine_remove(thread_index thread);
bool engine_cpu_fine_has(thread_index thread);
uint64_t engine_cpu_fine_sampled_ns(
    thread_index thread); /* its clock at its last sample; of one that it has */
void engine_cpu_fine_note(thread_index thread);
uint64_t engine_cpu_fine_turn(void);
JW_SIGNAL_SAFE bool engine_cpu_fine_claims(thread_index thread);
JW_SIGNAL_SAFE void engine_cpu_fine_take(const void *ucontext, thread_index thread,
                                         uint64_t clock_ns);

/* engine_wall.c. Interval 0: no wall clock. _settle: with the sampler thread gone and all handlers out, accounts all
 * threads to their end, or to this moment. */
JW_MUST_CHECK bool engine_wall_open(struct jw_error *err);
void engine_wall_start(uint64_t interval_ns);
void engine_wall_note(thread_index thread);
uint64_t engine_wall_turn(void);
void engine_wall_settle(void);
/* engine_wall_take.c */
JW_SIGNAL_SAFE bool engine_wall_claims(thread_index thread);
JW_SIGNAL_SAFE bool engine_wall_is_asked(thread_index thread); /* and has not given up */
JW_SIGNAL_SAFE void engine_wall_take(const void *ucontext, thread_index thread);
/* The calling thread goes on to wait inside a handler of ours, where no signal of the wall clock reaches it;
 * `is_sampled`: one just did. And it has come back. */
JW_SIGNAL_SAFE void engine_wall_enter_wait(const void *ucontext, thread_index thread,
                                           bool is_sampled);
JW_SIGNAL_SAFE void engine_wall_leave_wait(thread_index thread);

/* engine_late.c: the thread that watches safepoints, and what it asks of those that are waited for. _take_asked: a signal that
 * this thread has asked for, or the wall clock, or both, since they have one number and may become one. _start: with threshold 0 nothing is watched. _stop: false when the thread did not end by the deadline. */
JW_MUST_CHECK bool engine_late_open(struct jw_error *err);
JW_MUST_CHECK bool engine_late_start(uint64_t threshold_ns, struct jw_error *err);
bool engine_late_stop(uint64_t deadline_ns);
JW_SIGNAL_SAFE bool engine_late_claims(thread_index thread);
JW_SIGNAL_SAFE void engine_late_take_asked(const void *ucontext, thread_index thread);

/* sampler_hook.c: the gate, for other hooks; true: in, and _leave must follow. */
JW_MUST_CHECK bool sampler_hook_enter(void);
void sampler_hook_leave(void);

/* engine_lock.c: with all hooks out. */
JW_MUST_CHECK bool engine_lock_open(struct jw_error *err);
void engine_lock_forget(void); /* engine_lock_turn.c: deadlocks that were told */
/* engine_lock_ask.c: this thread is asked what it does with a lock. _take_asked: a signal by which it is, or as engine_late_take_asked. */
JW_SIGNAL_SAFE bool engine_lock_claims(thread_index thread);
JW_SIGNAL_SAFE void engine_lock_take_asked(const void *ucontext, thread_index thread);

/* engine_lock_owner.c: the thread that seems to own the monitor, or carries who owns it; THREAD_NONE: it was not found. Context: hook, any. */
thread_index engine_lock_owner(vm_addr monitor);

/* sampler_clock.c: the thread that turns for the two above. It is told of threads that are new; _start_if asks under
 * its lock, so that a stop is not passed by. _stop: false when it did not end by the deadline. */
JW_MUST_CHECK bool sampler_clock_open(struct jw_error *err);
JW_MUST_CHECK bool sampler_clock_start_if(bool (*is_wanted)(void), struct jw_error *err);
void sampler_clock_note(thread_index thread);
JW_SIGNAL_SAFE void
sampler_clock_wake(void); /* there is something to do for an engine that had nothing */
JW_MUST_CHECK bool sampler_clock_stop(uint64_t deadline_ns);

/* sampler_memory.c: zeroed memory that is kept while the process lives; and zeroed again. */
void *sampler_reserve(enum jw_memory_part part, size_t count, size_t entry_bytes,
                      struct jw_error *err);
void sampler_wipe(void *table, size_t count, size_t entry_bytes);

#endif
