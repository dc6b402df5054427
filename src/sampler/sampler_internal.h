/*
 * sampler_internal - shared by the engines and by the way of a sample.
 *
 * Memory   `sampler` is filled by sampler_start before any signal can come and constant until the
 *          engines are stopped and drained.
 */
#ifndef JW_SAMPLER_SAMPLER_INTERNAL_H
#define JW_SAMPLER_SAMPLER_INTERNAL_H

#include "generation/method_record.h"
#include "sampler/sampler.h"
#include "sampler/sampler_cpu.h"
#include "signals/signals.h"
#include "vm/vm_method.h"
#include "walk/walk.h"

/* Frames of one stack: native ones on top, a stub, a mark, and Java. */
#define SAMPLE_FRAMES_MAX (WALK_DEPTH_MAX + WALK_NATIVE_DEPTH_MAX + 4)

#define SAMPLE_MEMO_COUNT 64u

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
    uint32_t stamp; /* one more for each sample: what others left in `memo` does not count */
    struct sample_memo memo[SAMPLE_MEMO_COUNT];
    struct vm_call_frame java[WALK_DEPTH_MAX];
    uintptr_t native_pcs[WALK_NATIVE_DEPTH_MAX];
    jw_frame frames[SAMPLE_FRAMES_MAX];
    unsigned char text[VM_NAME_BYTES_MAX];
    _Alignas(8) unsigned char record[METHOD_RECORD_MAX_BYTES];
};

extern struct sampler_config sampler;

bool sample_scratch_open(struct jw_error *err);
JW_SIGNAL_SAFE struct sample_scratch *sample_scratch_take(uint32_t tid);
JW_SIGNAL_SAFE void sample_scratch_give(struct sample_scratch *scratch);

/* Id of a method in the generation, its names copied on first sight; DICT_NONE, and the mark that
 * says so in the stack, when it is unreadable or finds no room. Both are counted. */
JW_SIGNAL_SAFE dict_id sample_method(struct generation *generation, struct sample_scratch *scratch,
                                     vm_addr method, enum jw_mark *why);

/* One sample, start to end: SAMPLES or exactly one loss is counted. */
JW_SIGNAL_SAFE void sample_take(const void *ucontext, thread_index thread, uint64_t weight_ns);

/* sample_cost.c: what one sample took in the handler. */
JW_SIGNAL_SAFE void sample_cost_note(uint64_t duration_ns);

/* What is known of a thread that gets its timer. */
enum engine_thread {
    ENGINE_THREAD_NEW,   /* its CPU time counts from now on */
    ENGINE_THREAD_LATE,  /* what it used since the start counts, too: as debt of its first sample */
    ENGINE_THREAD_AGAIN, /* was refused a timer before, and counted as unsampled */
};

/* sampler_cpu.c: a run begins, with no engine running. */
void sampler_cpu_start(void);
/* The time of this thread counts: from now on when it `is_old`, of before the run; else all of it. */
void sampler_cpu_begin(thread_index thread, bool is_old, uint64_t started_ns);
/* Reads the thread's clock. False: it is that of another thread with the same number. */
JW_MUST_CHECK bool sampler_cpu_look(thread_index thread);
/* The record `old` ends, and the calling thread, which has the same number and whose clock stands at
 * `clock_ns`, gets another one. If it is the same thread, `base_ns` becomes where its time begins to count
 * for the new record: the old one keeps what it has, unless that is less than an interval. */
void sampler_cpu_hand_over(thread_index old, uint64_t clock_ns, uint64_t *base_ns);
/* The thread is about to end: when it is the calling one, its clock will be read once more on the way. */
void sampler_cpu_end(thread_index thread);
/* How much of what a thread's clock shows can be of the run: the list of tasks may pass over a thread while
 * others end, and the table may have been full, so one that is found late may be older. */
uint64_t sampler_cpu_debt_ns(uint64_t clock_ns, uint64_t started_ns);

/* engine_cpu_timer.c: payload of a thread's signals, and its timer. `started_ns`: when the run began; a
 * thread cannot have used more CPU time in it than has gone by since. */
JW_SIGNAL_SAFE thread_index engine_cpu_timer_thread(uint32_t payload);
void engine_cpu_timer_add(thread_index thread, enum engine_thread kind, uint64_t started_ns);
void engine_cpu_timer_remove(thread_index thread);

#endif
