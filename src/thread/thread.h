/*
 * thread - one record for every thread of the process, found by number in a handler.
 *
 * For      samples that name their thread in four bytes; the thread's JNIEnv and timer; names that
 *          outlive the thread until its last sample is written.
 * Callers  agent (hooks), sampler (scan, timers, clocks, handler), recording (info, reap).
 * Context  thread_get, thread_find, thread_env: handler, hook, any. thread_add, thread_end,
 *          thread_set_java: hook, control, dump. thread_info, thread_reap, thread_each: dump.
 *          threads_open, threads_close: control, with all engines stopped.
 * Memory   reserved whole by threads_open (THREAD_RECORDS_MAX records and a map of tids), touched as
 *          used. A record is recycled only by thread_reap, never freed while the process lives.
 * Progress everything but threads_open and threads_close is lock-free; look-ups are wait-free.
 *
 * May these overlap?    get/find/env    add/end/set_java    info/each/reap
 *   get/find/env             yes              yes                yes (1)
 *   add/end/set_java         yes              yes (2)            yes
 *   info/each/reap           yes (1)          yes                no (one dump thread)
 * (1) a record is reaped only after every generation that could name it was cleared.
 * (2) two adds of one tid: both get the record of one of them.
 *
 * States of a record:   FREE -> LIVE (thread_add) -> ENDED (thread_end) -> FREE (thread_reap)
 */
#ifndef JW_THREAD_THREAD_H
#define JW_THREAD_THREAD_H

#include "base/jw.h"

#define THREAD_RECORDS_MAX 16384u
#define THREAD_NONE        UINT32_MAX
/* Beside its record: what other rooms keep for each thread, in tables by index. */
#define THREAD_TABLES_BYTES  384u
#define THREAD_NAME_BYTES    256
#define THREAD_OS_NAME_BYTES 16
#define THREAD_GROUP_BYTES   64
/* Source: Linux, include/linux/threads.h: PID_MAX_LIMIT on 64-bit machines. */
#define THREAD_TID_LIMIT (4u * 1024 * 1024)

typedef uint32_t thread_index; /* names a record until it is reaped */

/* What the dump thread knows of a thread; strings are terminated, plain UTF-8 cut at a character. */
struct thread_info {
    uint64_t serial;  /* never given twice */
    uint32_t tid;     /* of the operating system */
    uint64_t java_id; /* Thread.getId(); 0: not a Java thread */
    char os_name[THREAD_OS_NAME_BYTES];
    char java_name[THREAD_NAME_BYTES]; /* "": not a Java thread */
    char group[THREAD_GROUP_BYTES];    /* name of its thread group; "": none known */
};

/* What JVMTI says of a Java thread. */
struct thread_java {
    void *env; /* its JNIEnv*; NULL when not known */
    uint64_t java_id;
    const char *name; /* modified UTF-8 of the JVM is accepted as it is */
    const char *group;
};

JW_MUST_CHECK bool threads_open(struct jw_error *err);
void threads_close(void);

/*
 * The record of `tid`; where there is none, a new one, with the name the kernel has for the thread.
 * THREAD_NONE when the table is full (counted) or the tid impossible.
 */
thread_index thread_add(uint32_t tid, bool *is_new);

/* Adds what is known of the Java thread; once a record, later calls change nothing but a missing env. */
void thread_set_java(thread_index index, const struct thread_java *java);

/* A Java thread is about to lose its JNIEnv: samples from now on do not walk Java. Keeps the record. */
void thread_end_java(thread_index index);

/* The thread is gone or going: the record stays readable until it is reaped. `generation`: the
 * number of the generation that was active. Idempotent. */
void thread_end(thread_index index, uint64_t generation);

/* Record of a tid; THREAD_NONE if it has none. */
JW_SIGNAL_SAFE thread_index thread_find(uint32_t tid);

/* True when the record is live; the timer of a sampler and its serial's low bits come with it. */
JW_SIGNAL_SAFE bool thread_is_live(thread_index index);
JW_SIGNAL_SAFE uint32_t thread_tid(thread_index index);
JW_SIGNAL_SAFE uint64_t thread_serial(thread_index index);

/* The thread's JNIEnv*, NULL when it is no Java thread or is leaving. */
JW_SIGNAL_SAFE void *thread_env(thread_index index);
bool thread_is_java(thread_index index);                    /* it is, or was, a Java thread */
JW_SIGNAL_SAFE uint64_t thread_java_id(thread_index index); /* Thread.getId(); 0: none known */
/*
 * The live record of a Java thread by that; THREAD_NONE: there is none. Looks first where such a number was found last; else at all
 * records, which takes some nanoseconds each. Context: hook, any.
 */
thread_index thread_find_java(uint64_t java_id);

/*
 * The sampler's timer of this thread: -1 none. The exchange makes its deletion happen once, whoever
 * comes first. Context: hook, control, dump.
 */
int thread_exchange_timer(thread_index index, int timer);
bool thread_has_timer(thread_index index);

/* CPU time that the thread had used, unseen, when it was found: its first sample stands for it too. */
void thread_set_debt(thread_index index, uint64_t debt_ns);
JW_SIGNAL_SAFE uint64_t thread_take_debt(thread_index index); /* once; 0 afterwards */

/* Round of the task scan in which the thread was last seen; the scanning thread alone uses it. */
void thread_set_scan_stamp(thread_index index, uint32_t stamp);
uint32_t thread_scan_stamp(thread_index index);

/* jw_now_ns when the record was made; and when the thread said that it ends, or was seen to be gone: 0 before. */
uint64_t thread_begin_ns(thread_index index);
uint64_t thread_end_ns(thread_index index);

/* A thread that the filter of the run lets in, and none of ours; may change while it lives. Context: all. */
JW_SIGNAL_SAFE bool thread_is_wanted(thread_index index);

/* The program added the calling thread to those that the filter lets in, or took it away. Context: hook, any. */
void thread_ask_filter(thread_index index);

/*
 * One may keep records, live or ended, from being reaped while he writes on behalf of their threads. False: the
 * record is free, or about to be. He lets go with the number of a generation not older than his last
 * event on it, and the record outlives that one. Context: any, control.
 */
JW_MUST_CHECK bool thread_keep(thread_index index);
void thread_let_go(thread_index index, uint64_t generation);

/* Records made from now on are kept from the start: nobody's life is too short to be kept. Context: control. */
void threads_keep_new(bool are_kept);

/* Records are numbered below this. Context: any. */
uint32_t threads_limit(void);
/* And always will be: THREAD_RECORDS_MAX, or what memlimit leaves room for. Constant from threads_open on. */
uint32_t threads_capacity(void);

/* Copies what is known; false when the record is free. Context: dump. */
bool thread_info(thread_index index, struct thread_info *out);

/* A Java thread got another name; kept by the dump thread beside the first one. Context: dump. */
void thread_rename(thread_index index, const char *java_name);

/* Calls `visit` for each record that is live or ended. Context: dump, control. */
void threads_each(void (*visit)(thread_index index, bool is_live, void *argument), void *argument);

/* The record ended before `oldest_generation`, the oldest one not yet cleared: nothing can name it any
 * more. Context: dump. */
bool thread_is_done(thread_index index, uint64_t oldest_generation);

/* What is told later may name this one, of this serial, live or ended: it outlives that generation. Context: dump. */
void thread_outlive(thread_index index, uint32_t serial, uint64_t generation);

/* Frees the records that are done, and whose timer was taken away. */
void threads_reap(uint64_t oldest_generation);

uint32_t threads_live(void);

#endif
