/*
 * thread_cpu - the CPU clock of each thread, as far as it was read.
 *
 * For      the ledger: what a thread used beside what its samples say.
 * Callers  sampler.
 * Context  thread_cpu_begin, thread_cpu_forget: hook, control, dump. thread_cpu_look: handler, hook,
 *          dump. thread_cpu_mark, thread_cpu_get: hook, dump.
 * Memory   a table beside the records, one entry each, touched as used.
 *
 * An entry belongs to one life of a record: it holds the serial of that life, and says nothing of any
 * other. Readings of a thread's clock never go back, whoever made the older one.
 *
 * May these overlap on one record?   look/mark/get    begin/forget
 *   look/mark/get                   yes              yes (1)
 *   begin/forget                    yes (1)          no (2)
 * (1) they find the entry as it was, or as it is: never a half.
 * (2) one begins it, who made the record; it is forgotten when nobody adds to it any more.
 */
#ifndef JW_THREAD_THREAD_CPU_H
#define JW_THREAD_THREAD_CPU_H

#include "thread/thread.h"

enum thread_cpu_flag {
    THREAD_CPU_REFUSED = 1u << 0, /* no timer could be made for it, at least once */
    THREAD_CPU_OWN = 1u << 1,     /* a thread of jaywalk's */
};

struct thread_cpu {
    uint64_t base_ns;  /* its clock when its time began to count; 0: born since */
    uint64_t clock_ns; /* its clock at the last look */
    uint32_t flags;
};

/* The thread's time counts from `base_ns` of its clock on, which stands at `clock_ns` now. */
void thread_cpu_begin(thread_index index, uint64_t base_ns, uint64_t clock_ns);

/* Nobody wants to know any more. */
void thread_cpu_forget(thread_index index);

/* The thread's clock was seen to stand at `clock_ns`. What was not begun stays so. */
JW_SIGNAL_SAFE void thread_cpu_look(thread_index index, uint64_t clock_ns);

/* Adds a flag, for this life of the record. */
void thread_cpu_mark(thread_index index, enum thread_cpu_flag flag);

/* False: not begun, forgotten, or of an earlier life of the record. */
JW_MUST_CHECK bool thread_cpu_get(thread_index index, struct thread_cpu *out);

#endif
