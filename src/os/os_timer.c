/* CPU clocks and timers by raw system calls: the kernel's timer numbers, no helper thread of libc. */
#include "os/os_timer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "os/os_proc.h"
#include "os/os_read_internal.h"
#include "os/os_tasks.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * Dynamic CPU clock of one thread: its tid inverted above three bits, of which 4 says "one thread"
 * and 2 "time the scheduler gave it". Source: Linux, include/linux/posix-timers_types.h (CPUCLOCK_*).
 */
#define CPU_CLOCK_OF_THREAD 6

/* Threads have smaller numbers (Source: Linux, include/linux/threads.h, PID_MAX_LIMIT); a larger one
 * would lose bits in the shift and name another clock. */
#define TID_LIMIT (1 << 22)

#define LONGEST_NS ((uint64_t)INT64_MAX)

/* Of a system call's time. */
#define ROUNDS        20
#define CALLS_A_ROUND 50

/* Set while our ITIMER_PROF runs. Relaxed: only control touches it, one command at a time. */
static _Atomic bool is_itimer_ours;

JW_SIGNAL_SAFE static bool is_tid(int tid)
{
    return tid > 0 && tid < TID_LIMIT;
}

JW_SIGNAL_SAFE static clockid_t thread_clock(int tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | CPU_CLOCK_OF_THREAD);
}

static struct timespec timespec_of(uint64_t duration_ns)
{
    if (duration_ns > LONGEST_NS)
        duration_ns = LONGEST_NS;
    return (struct timespec){.tv_sec = (time_t)(duration_ns / JW_NS_PER_SECOND),
                             .tv_nsec = (long)(duration_ns % JW_NS_PER_SECOND)};
}

static void tell_limit(int tid, struct jw_error *err)
{
    struct rlimit limit = {0, 0};
    uint64_t used_count = 0;
    uint64_t limit_count = 0;
    char status[1024];

    if (err == NULL)
        return;
    (void)getrlimit(RLIMIT_SIGPENDING, &limit);
    const size_t length_bytes = os_read_start("/proc/self/status", status, sizeof status);
    if (!os_proc_signal_queue(status, length_bytes, &used_count, &limit_count))
        limit_count = limit.rlim_cur;
    jw_error_set(err,
                 "timer_create for thread %d: no queued signal is left for this user "
                 "(%llu of %llu in use, RLIMIT_SIGPENDING %llu, hard limit %llu); raise it with "
                 "ulimit -i, or try event=itimer",
                 tid, (unsigned long long)used_count, (unsigned long long)limit_count,
                 (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
}

enum os_timer_status os_timer_open(struct os_timer *timer, int tid, int signal_number,
                                   uintptr_t cookie, struct jw_error *err)
{
    struct sigevent event;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_number;
    event.sigev_notify_thread_id = tid;
    /* The kernel hands the word back untouched; a number in it never becomes a pointer of ours. */
    memcpy(&event.sigev_value, &cookie, sizeof cookie);

    timer->id = OS_TIMER_NONE;
    if (is_tid(tid) && syscall(SYS_timer_create, thread_clock(tid), &event, &timer->id) == 0)
        return OS_TIMER_OK;

    const int reason = is_tid(tid) ? errno : EINVAL;
    timer->id = OS_TIMER_NONE;
    if (reason == EAGAIN) {
        tell_limit(tid, err);
        return OS_TIMER_LIMIT;
    }
    if (!os_task_is_alive(tid)) {
        jw_error_set(err, "timer_create for thread %d: the process has no such thread", tid);
        return OS_TIMER_NO_THREAD;
    }
    jw_error_set(err, "timer_create for thread %d with signal %d: %s; try event=itimer", tid,
                 signal_number, strerror(reason));
    return OS_TIMER_REFUSED;
}

bool os_timer_arm(const struct os_timer *timer, uint64_t interval_ns, uint64_t first_ns)
{
    if (interval_ns == 0 || timer->id == OS_TIMER_NONE)
        return false;

    const struct itimerspec setting = {
        .it_interval = timespec_of(interval_ns),
        .it_value = timespec_of(first_ns == 0 ? interval_ns : first_ns),
    };
    return syscall(SYS_timer_settime, timer->id, 0, &setting, NULL) == 0;
}

void os_timer_disarm(const struct os_timer *timer)
{
    const struct itimerspec never = {{0, 0}, {0, 0}};

    if (timer->id != OS_TIMER_NONE)
        (void)syscall(SYS_timer_settime, timer->id, 0, &never, NULL);
}

void os_timer_close(struct os_timer *timer)
{
    if (timer->id != OS_TIMER_NONE)
        (void)syscall(SYS_timer_delete, timer->id);
    timer->id = OS_TIMER_NONE;
}

bool os_itimer_arm(uint64_t interval_ns, struct jw_error *err)
{
    struct itimerval other = {{0, 0}, {0, 0}};

    if (interval_ns == 0) {
        jw_error_set(err, "setitimer: an interval of 0 would never fire; try interval=10ms");
        return false;
    }
    const bool is_armed = getitimer(ITIMER_PROF, &other) == 0 &&
                          (other.it_value.tv_sec != 0 || other.it_value.tv_usec != 0);
    if (is_armed && !jw_load_relaxed(&is_itimer_ours)) {
        jw_error_set(err,
                     "setitimer: ITIMER_PROF of this process is already armed, every %lld us, by "
                     "another profiler; stop that one, or try event=cpu",
                     (long long)other.it_interval.tv_sec * 1000000 +
                         (long long)other.it_interval.tv_usec);
        return false;
    }

    const uint64_t interval_us = interval_ns / 1000 + (interval_ns % 1000 != 0);
    const struct timeval period = {.tv_sec = (time_t)(interval_us / 1000000),
                                   .tv_usec = (suseconds_t)(interval_us % 1000000)};
    /* Set anew, it expires no later than it would have: what has run since the last time is not forgotten. */
    const bool is_sooner = is_armed && timercmp(&other.it_value, &period, <);
    const struct itimerval setting = {.it_interval = period,
                                      .it_value = is_sooner ? other.it_value : period};
    if (setitimer(ITIMER_PROF, &setting, NULL) != 0) {
        jw_error_set(err, "setitimer(ITIMER_PROF) with %llu us: %s; try event=cpu",
                     (unsigned long long)interval_us, strerror(errno));
        return false;
    }
    jw_store_relaxed(&is_itimer_ours, true);
    return true;
}

void os_itimer_disarm(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};

    if (!jw_load_relaxed(&is_itimer_ours))
        return;
    (void)setitimer(ITIMER_PROF, &never, NULL);
    jw_store_relaxed(&is_itimer_ours, false);
}

bool os_thread_cpu_ns(int tid, uint64_t *cpu_ns)
{
    struct timespec used;

    if (!is_tid(tid) || clock_gettime(thread_clock(tid), &used) != 0)
        return false;
    *cpu_ns = (uint64_t)used.tv_sec * JW_NS_PER_SECOND + (uint64_t)used.tv_nsec;
    return true;
}

uint64_t os_process_cpu_ns(void)
{
    struct timespec used = {0, 0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * JW_NS_PER_SECOND + (uint64_t)used.tv_nsec;
}

/* Source: Linux, kernel/time/posix-timers.c: the resolution of the coarse clocks is TICK_NSEC. */
uint64_t os_kernel_tick_ns(void)
{
    struct timespec tick;

    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || (tick.tv_sec == 0 && tick.tv_nsec == 0))
        return 10 * JW_NS_PER_MS;
    return (uint64_t)tick.tv_sec * JW_NS_PER_SECOND + (uint64_t)tick.tv_nsec;
}

/* Source: Linux, kernel/signal.c: do_rt_tgsigqueueinfo, __send_signal_locked (signals below SIGRTMIN lose their
 * information when the queue is full). */
bool os_signal_thread(int tid, int signal_number, uintptr_t cookie)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = signal_number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    memcpy(&info.si_value, &cookie, sizeof cookie);
    if (!is_tid(tid))
        return false;
    const bool is_sent =
        syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, signal_number, &info) == 0;
    if (!is_sent && errno != ESRCH)
        jw_count(JW_COUNT_SIGNALS_UNSENT);
    return is_sent;
}

uint64_t os_system_call_ns(void)
{
    uint64_t fastest_ns = UINT64_MAX;

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t begin_ns = jw_now_ns();

        for (int i = 0; i < CALLS_A_ROUND; i++)
            (void)syscall(SYS_getppid);
        const uint64_t each_ns = (jw_now_ns() - begin_ns) / CALLS_A_ROUND;
        if (each_ns < fastest_ns)
            fastest_ns = each_ns;
    }
    return fastest_ns == 0 ? 1 : fastest_ns;
}
