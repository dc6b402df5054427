/*
 * os_timer - CPU clocks of threads and of the process, and timers that run on them.
 *
 * For      sampling by consumed CPU time.
 * Callers  sampler (timers), tests and benches (clocks).
 * Context  os_timer_*: any, hook, dump, control: they enter the kernel and return, and take no lock.
 *          os_itimer_*: control. os_thread_cpu_ns, os_process_cpu_ns: all.
 * Memory   none; the kernel pins one queued signal for each open timer.
 *
 * A timer outlives its thread: who opened it closes it. Kernels before 6.13 may still deliver a
 * signal that was queued before os_timer_close, so a handler expects one late signal.
 *
 * May these overlap on one timer?   None with another, except os_timer_arm with os_timer_disarm.
 */
#ifndef JW_OS_OS_TIMER_H
#define JW_OS_OS_TIMER_H

#include "base/jw.h"

#define OS_TIMER_NONE (-1)

struct os_timer {
    int id; /* the kernel's number; OS_TIMER_NONE: not open */
};

enum os_timer_status {
    OS_TIMER_OK,
    OS_TIMER_NO_THREAD, /* no such thread in this process (any more); nothing is wrong */
    OS_TIMER_LIMIT,     /* RLIMIT_SIGPENDING of this user is used up; a later try may succeed */
    OS_TIMER_REFUSED,   /* anything else: seccomp, a defect; trying again does not help */
};

/*
 * Makes a timer on the CPU clock of thread `tid` of this process that sends `signal_number` to that
 * very thread. The handler finds SI_TIMER in si_code, `cookie` in si_value.sival_ptr, and in
 * si_overrun the expirations that this signal stands for beside its own. Not armed yet.
 * Other than OS_TIMER_OK: `timer` is not open, and `err` says why with the limits in numbers.
 */
JW_MUST_CHECK enum os_timer_status os_timer_open(struct os_timer *timer, int tid, int signal_number,
                                                 uintptr_t cookie, struct jw_error *err);

/*
 * First expiration after `first_ns` of CPU time (0: one interval), then each `interval_ns`.
 * False for an interval of 0 or a timer that is not open. The kernel looks at CPU timers once a
 * scheduler tick; what expired in between is in si_overrun.
 */
JW_MUST_CHECK bool os_timer_arm(const struct os_timer *timer, uint64_t interval_ns,
                                uint64_t first_ns);
void os_timer_disarm(const struct os_timer *timer); /* does nothing on a timer that is not open */
void os_timer_close(struct os_timer *timer);        /* does nothing on a timer that is not open */

/*
 * The one ITIMER_PROF of the process: SIGPROF to some running thread, each `interval_ns` of the
 * process' CPU time, rounded up to microseconds. Refuses when somebody else has armed it.
 */
JW_MUST_CHECK bool os_itimer_arm(uint64_t interval_ns, struct jw_error *err);
void os_itimer_disarm(void); /* only what os_itimer_arm armed */

/* CPU time that thread `tid` of this process has used. False: no such thread. */
JW_SIGNAL_SAFE JW_MUST_CHECK bool os_thread_cpu_ns(int tid, uint64_t *cpu_ns);

/* Length of the scheduler's tick, below which no CPU timer fires; 10 ms where the kernel does not say. */
uint64_t os_kernel_tick_ns(void);

/*
 * Sends a signal to thread `tid` of this process, with `cookie` in si_value.sival_ptr and SI_QUEUE in si_code.
 * Where no queued signal is left for this user the kernel sends it without either: SI_USER of process 0.
 * False: it was not sent, as there is no such thread (any more) or the kernel refuses. Context: any.
 */
JW_MUST_CHECK bool os_signal_thread(int tid, int signal_number, uintptr_t cookie);

/* CPU time that the process has used, dead threads included. */
JW_SIGNAL_SAFE uint64_t os_process_cpu_ns(void);

/* What a system call that does nothing takes, at least 1: the fastest of some rounds, a fifth of a millisecond in all.
 * Context: any. */
uint64_t os_system_call_ns(void);

#endif
