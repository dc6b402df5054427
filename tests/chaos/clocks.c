/* Timers and clocks of the program's own: each expiration comes as a signal or is counted, and no clock goes back. */
#include "chaos.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Of the timers of one thread; by the number in si_value. */
struct tally {
    _Atomic long signals;
    _Atomic long expirations;
};

static struct tally tallies[64];
static _Atomic long alarms;

static void on_timer(int signo, siginfo_t *info, void *context)
{
    struct tally *tally = &tallies[info->si_value.sival_int & 63];

    (void)signo;
    (void)context;
    if (info->si_code != SI_TIMER)
        return;
    atomic_fetch_add(&tally->signals, 1);
    atomic_fetch_add(&tally->expirations, 1 + info->si_overrun);
}

static void on_alarm(int signo)
{
    (void)signo;
    atomic_fetch_add(&alarms, 1);
}

static bool install(struct storm *storm, int signo, void (*on_info)(int, siginfo_t *, void *),
                    void (*on_signal)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_flags = SA_RESTART;
    if (on_info != NULL) {
        action.sa_flags |= SA_SIGINFO;
        action.sa_sigaction = on_info;
    } else {
        action.sa_handler = on_signal;
    }
    if (sigaction(signo, &action, NULL) == 0)
        return true;
    storm_violated(storm, "sigaction: %s", strerror(errno));
    return false;
}

/* The expirations of a timer, by its clock, are those that were told: none lost, none twice. */
static void run_timer(struct storm *storm, clockid_t clock, int slot)
{
    const struct itimerspec every = {.it_interval.tv_nsec = CHAOS_MS, .it_value.tv_nsec = CHAOS_MS};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 7};
    struct tally *tally = &tallies[slot];
    int64_t start_ns;
    struct timespec now;
    timer_t timer;
    int64_t took_ns;

    event.sigev_value.sival_int = slot;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    atomic_store(&tally->signals, 0);
    atomic_store(&tally->expirations, 0);
    if (timer_create(clock, &event, &timer) != 0) {
        storm_violated(storm, "timer_create: %s", strerror(errno));
        return;
    }
    clock_gettime(clock, &now);
    start_ns = now.tv_sec * CHAOS_S + now.tv_nsec;
    timer_settime(timer, 0, &every, NULL);
    if (clock != CLOCK_THREAD_CPUTIME_ID)
        chaos_sleep_us(25000);
    /* The kernel looks at the clock of a thread when a tick finds it running. */
    for (int turn = 0; clock == CLOCK_THREAD_CPUTIME_ID && turn < 1000; turn++) {
        chaos_burn_us(5000);
        if (atomic_load(&tally->signals) > 0)
            break;
    }
    timer_delete(timer);
    clock_gettime(clock, &now);
    took_ns = now.tv_sec * CHAOS_S + now.tv_nsec - start_ns;
    STORM_EXPECT(storm, atomic_load(&tally->expirations) * CHAOS_MS <= took_ns,
                 "a timer expired %ld times in %ld us", atomic_load(&tally->expirations),
                 (long)(took_ns / 1000));
    STORM_EXPECT(storm, atomic_load(&tally->signals) > 0, "a timer did not expire in %ld us",
                 (long)(took_ns / 1000));
}

/* m38: the process's own alarm is none of the profiler's, and comes. */
static void run_alarm(struct storm *storm)
{
    const struct itimerval once = {.it_value.tv_usec = 5000};
    const long before = atomic_load(&alarms);
    const int64_t start_ns = chaos_now_ns();

    setitimer(ITIMER_REAL, &once, NULL);
    while (atomic_load(&alarms) == before && chaos_now_ns() - start_ns < 30 * CHAOS_S)
        chaos_sleep_us(1000);
    STORM_EXPECT(storm, atomic_load(&alarms) == before + 1, "the alarm came %ld times",
                 atomic_load(&alarms) - before);
    STORM_EXPECT(storm, chaos_now_ns() - start_ns >= 5 * CHAOS_MS, "the alarm came early");
}

static int64_t used_us(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* m60: no clock of the program goes back, and CPU time is not more than there was. */
static void look_at_clocks(struct storm *storm)
{
    static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_THREAD_CPUTIME_ID,
                                       CLOCK_PROCESS_CPUTIME_ID};
    const int64_t thread_us = used_us(RUSAGE_THREAD);
    const int64_t process_us = used_us(RUSAGE_SELF);

    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        struct timespec before;
        struct timespec after;

        clock_gettime(clocks[i], &before);
        for (int turn = 0; turn < 300; turn++) {
            clock_gettime(clocks[i], &after);
            if (after.tv_sec < before.tv_sec ||
                (after.tv_sec == before.tv_sec && after.tv_nsec < before.tv_nsec))
                storm_violated(storm, "clock %d went back", (int)clocks[i]);
            before = after;
        }
    }
    STORM_EXPECT(storm, used_us(RUSAGE_THREAD) >= thread_us && used_us(RUSAGE_SELF) >= process_us,
                 "CPU time went back");
}

static void *churn(void *argument)
{
    static _Atomic int slots;
    static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_THREAD_CPUTIME_ID};
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    const int slot = atomic_fetch_add(&slots, 1) & 63;

    while (storm_goes_on(storm)) {
        run_timer(storm, clocks[chaos_random_below(&random, 3)], slot);
        look_at_clocks(storm);
        storm_did(storm, 1);
    }
    return NULL;
}

void clocks_round(struct storm *storm)
{
    pthread_t threads[2];
    int begun = 0;

    if (!install(storm, SIGRTMIN + 7, on_timer, NULL) || !install(storm, SIGALRM, NULL, on_alarm))
        return;
    while (begun < 2 && pthread_create(&threads[begun], NULL, churn, storm) == 0)
        begun++;
    while (storm_goes_on(storm)) {
        run_alarm(storm);
        storm_did(storm, 1);
    }
    for (int i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
}
