/* Threads that block the profiler's signals or all of them for a while; that take signals by sigwait; signals of others
 * with the profiler's numbers. Masks stay as they were, and few signals wait. */
#include "chaos.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HELD_MS 60

/* Signals of this user that wait, and how many may. */
static bool read_queue(long *waiting, long *limit)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    bool is_found = false;

    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL)
        is_found = sscanf(line, "SigQ: %ld/%ld", waiting, limit) == 2;
    if (file != NULL)
        fclose(file);
    return is_found;
}

static void fill(sigset_t *set, uint64_t *random)
{
    sigemptyset(set);
    switch (chaos_random_below(random, 4)) {
    case 0:
        sigaddset(set, SIGPROF);
        break;
    case 1:
        sigaddset(set, SIGVTALRM);
        break;
    case 2:
        sigaddset(set, SIGPROF);
        sigaddset(set, SIGVTALRM);
        break;
    default:
        sigfillset(set);
    }
}

/* m39: while signals are blocked, those of the profiler do not pile up. */
static void hold(struct storm *storm, uint64_t *random)
{
    const int64_t us = (int64_t)chaos_random_below(random, HELD_MS * 1000);
    long waiting = 0;
    long limit = 0;
    uint64_t during;
    sigset_t set;
    sigset_t before;

    fill(&set, random);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    during = chaos_mask();
    chaos_burn_us(us / 4);
    if (read_queue(&waiting, &limit) && limit > 0)
        STORM_EXPECT(storm, waiting * 10 < limit, "%ld signals wait, of %ld", waiting, limit);
    chaos_sleep_us(us / 4);
    STORM_EXPECT(storm, chaos_mask() == during, "the mask changed while signals were blocked");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    chaos_burn_us(500);
}

struct waiter {
    struct storm *storm;
    _Atomic int tid;
    int wanted;
    _Atomic int taken;
};

static void *take(void *argument)
{
    struct waiter *waiter = argument;
    sigset_t set;
    uint64_t mask;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 5);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    mask = chaos_mask();
    atomic_store(&waiter->tid, (int)syscall(SYS_gettid));
    for (int i = 0; i < waiter->wanted; i++) {
        siginfo_t info;
        int signo = 0;

        if (i % 3 == 0) {
            const int error = sigwait(&set, &signo);

            STORM_EXPECT(waiter->storm, error == 0 && signo == SIGRTMIN + 5, "sigwait: %s",
                         strerror(error));
        } else if (i % 3 == 1) {
            signo = sigwaitinfo(&set, &info);
            STORM_EXPECT(waiter->storm, signo == SIGRTMIN + 5 && info.si_value.sival_int == i,
                         "sigwaitinfo: %d with %d for %d", signo, info.si_value.sival_int, i);
        } else {
            const struct timespec time = {.tv_sec = 20};

            signo = sigtimedwait(&set, &info, &time);
            STORM_EXPECT(waiter->storm, signo == SIGRTMIN + 5 && info.si_value.sival_int == i,
                         "sigtimedwait: %d with %d for %d (errno %d)", signo,
                         info.si_value.sival_int, i, errno);
        }
        atomic_fetch_add(&waiter->taken, 1);
    }
    STORM_EXPECT(waiter->storm, chaos_mask() == mask, "the mask changed by waiting for signals");
    return NULL;
}

/* m37: none of the program's own signals is lost or taken twice. */
static void send(struct storm *storm, uint64_t *random)
{
    struct waiter waiter = {.storm = storm, .wanted = 30};
    pthread_t thread;

    if (pthread_create(&thread, NULL, take, &waiter) != 0)
        return;
    while (atomic_load(&waiter.tid) == 0)
        chaos_sleep_us(50);
    for (int i = 0; i < waiter.wanted; i++) {
        const union sigval value = {.sival_int = i};

        if (chaos_random(random) & 1)
            chaos_sleep_us((int64_t)chaos_random_below(random, 1500));
        if (pthread_sigqueue(thread, SIGRTMIN + 5, value) != 0)
            storm_violated(storm, "pthread_sigqueue failed");
    }
    pthread_join(thread, NULL);
    STORM_EXPECT(storm, atomic_load(&waiter.taken) == waiter.wanted, "%d signals of %d came",
                 atomic_load(&waiter.taken), waiter.wanted);
}

/* Whether somebody has this signal, so that one more does not end the process. */
static bool is_handled(int signo)
{
    struct sigaction action;

    return sigaction(signo, NULL, &action) == 0 && action.sa_handler != SIG_DFL;
}

/* m38: signals with the profiler's numbers that are none of its own. To this thread: one to the process may take any,
 * and a call that waits there ends with EINTR, rightly so. */
static void send_foreign(uint64_t *random)
{
    const int signo = chaos_random(random) & 1 ? SIGPROF : SIGVTALRM;
    siginfo_t info;

    if (!is_handled(signo))
        return;
    switch (chaos_random_below(random, 4)) {
    case 0:
        pthread_kill(pthread_self(), signo);
        break;
    case 1:
        syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), signo);
        break;
    case 2:
        pthread_sigqueue(pthread_self(), signo,
                         (union sigval){.sival_ptr = (void *)(uintptr_t)chaos_random(random)});
        break;
    default:
        memset(&info, 0, sizeof info);
        info.si_signo = signo;
        info.si_code = SI_QUEUE;
        info.si_pid = getpid();
        info.si_value.sival_ptr = (void *)(uintptr_t)(chaos_random(random) >> 16);
        syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), signo, &info);
    }
    chaos_burn_us(50);
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    const uint64_t mask = chaos_mask();

    while (storm_goes_on(storm)) {
        switch (chaos_random_below(&random, 3)) {
        case 0:
            hold(storm, &random);
            break;
        case 1:
            send(storm, &random);
            break;
        default:
            for (int i = 0; i < 20; i++)
                send_foreign(&random);
        }
        STORM_EXPECT(storm, chaos_mask() == mask, "the mask is %#lx, and was %#lx",
                     (unsigned long)chaos_mask(), (unsigned long)mask);
        storm_did(storm, 1);
        chaos_sleep_us(1000);
    }
    return NULL;
}

void blocked_round(struct storm *storm)
{
    storm_threads(storm, 2 * storm->intensity, churn, storm);
}
