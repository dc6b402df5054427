/*
 * os_thread - threads of our own, and how to wake one.
 *
 * For      the dump thread and the sampler threads.
 * Callers  recording, sampler, agent.
 * Context  os_wake_post: all. os_wake_wait: any, by one thread at a time. The rest: control.
 * Memory   the caller's struct, which must live as long as the thread: make it static.
 *
 * Our threads take no signal but the synchronous faults (SEGV, BUS, FPE, ILL, TRAP, SYS): the kernel kills a
 * process that faults while the signal is blocked, even where a handler would recover.
 */
#ifndef JW_OS_OS_THREAD_H
#define JW_OS_OS_THREAD_H

#include <pthread.h>

#include "base/jw.h"

/* A wake-up that is not lost: a post before the wait ends the wait at once. Posts do not add up. */
struct os_wake {
    _Atomic uint32_t state;
};

struct os_thread {
    pthread_t handle;
    void (*body)(void *argument);
    void *argument;
    struct os_wake begun; /* its number is known */
    struct os_wake ended;
    char name[16];
    const char *label; /* the whole name, the caller's */
    int tid;           /* set before os_thread_start returns */
    bool is_joinable;
};

/* All zeroes is a valid os_wake, too. */
void os_wake_init(struct os_wake *wake);

/* Async-signal-safe and wait-free; enters the kernel only when somebody sleeps. */
JW_SIGNAL_SAFE void os_wake_post(struct os_wake *wake);

#define OS_WAKE_NEVER UINT64_MAX

/* Sleeps until a post (true) or until `deadline_ns` of jw_now_ns (false). Takes the post away. */
bool os_wake_wait(struct os_wake *wake, uint64_t deadline_ns);

/*
 * Starts `body(argument)` on a thread called `name`, a constant (the system keeps 15 characters). False and `err` when
 * the system gives no thread; then nothing runs.
 */
JW_MUST_CHECK bool os_thread_start(struct os_thread *thread, const char *name,
                                   void (*body)(void *argument), void *argument,
                                   struct jw_error *err);

/*
 * Waits for the end of `body` until `deadline_ns` of jw_now_ns. True: the thread is gone, its memory
 * given back. False: it still runs and `thread` must stay; try again or os_thread_detach.
 */
JW_MUST_CHECK bool os_thread_join(struct os_thread *thread, uint64_t deadline_ns);

/*
 * Time in which the thread was at work so far, or could have been but had no processor (the latter as far as the kernel counts it);
 * what it slept through or waited for is not in it. 0: it has ended, or the kernel does not tell. Context: any.
 */
uint64_t os_thread_wanted_cpu_ns(const struct os_thread *thread);

/* Lets the thread end alone. `thread` must stay valid until then. */
void os_thread_detach(struct os_thread *thread);

/* CPU time of all threads of ours that were started under this name, ended ones included: it never falls. Context: any. */
uint64_t os_thread_own_cpu_ns(const char *name);

/* True for the number of a thread of ours, from before os_thread_start returns until its end. Context: any. */
bool os_thread_is_own(int tid);

#endif
