/*
 * os_tasks - the threads of this process as the kernel lists them.
 *
 * For      finding threads that no JVM event reported, and noticing those that are gone.
 * Callers  sampler (scan), thread (names), recording, signals (os_gettid).
 * Context  os_gettid, os_task_is_alive: all. os_tasks_each, os_task_name: any, dump, control.
 * Memory   a kilobyte of stack; no allocation. Each scan uses a descriptor of its own, closed on
 *          exec, that lives no longer than the call: an application may close what it did not open.
 */
#ifndef JW_OS_OS_TASKS_H
#define JW_OS_OS_TASKS_H

#include "base/jw.h"

#define OS_TASK_NAME_BYTES 16 /* TASK_COMM_LEN, terminator included */

/* False ends the scan early. Must not start a scan itself. */
typedef bool os_task_visitor(int tid, void *argument);

/*
 * Calls `visit` for each thread, in the kernel's order. Threads that start or end meanwhile may be
 * missed or named although gone: scan again later. False and `err` when the list cannot be read
 * (no /proc, no descriptors left); the visits made until then stand.
 */
JW_MUST_CHECK bool os_tasks_each(os_task_visitor *visit, void *argument, struct jw_error *err);

/* Kernel's name of a thread ("GC Thread#0") without a newline; "" and false when it is gone. */
bool os_task_name(int tid, char name[OS_TASK_NAME_BYTES]);

struct os_task_facts {
    uint64_t cpu_ns;
    uint64_t
        waited_ns; /* it could have run, and had no processor; 0 where the kernel does not count that */
    uint64_t minor_faults, major_faults;
    uint64_t user_ns, system_ns; /* as the kernel's ticks found it: exact to some of them */
};

/* What a thread has used so far. False: it is gone. Context: any. */
JW_MUST_CHECK bool os_task_facts(int tid, struct os_task_facts *out);

JW_SIGNAL_SAFE bool os_task_is_alive(int tid);
JW_SIGNAL_SAFE int os_gettid(void);

#endif
