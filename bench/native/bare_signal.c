/*
 * bare_signal [ROUNDS]: what a signal costs the thread that gets it, with a handler that does nothing: the least that any profiler
 * by signals pays for a sample. Nanoseconds of the thread's CPU time, a line a round: signals that it sends itself, less the same
 * system call without a signal, in turns.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS 20000

static volatile sig_atomic_t signals;

static void count_signal(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    (void)context;
    signals++;
}

static int64_t calls_ns(int signal_number)
{
    const long process = getpid(), thread = syscall(SYS_gettid);
    struct timespec before, after;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < CALLS; i++)
        syscall(SYS_tgkill, process, thread, signal_number);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * INT64_C(1000000000) + after.tv_nsec - before.tv_nsec;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 15;
    struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    if (sigaction(SIGPROF, &action, NULL) != 0) {
        perror("bare_signal");
        return 1;
    }
    (void)calls_ns(SIGPROF);
    for (int i = 0; i < rounds; i++) {
        const int64_t first_ns = calls_ns(i % 2 == 0 ? SIGPROF : 0);
        const int64_t second_ns = calls_ns(i % 2 == 0 ? 0 : SIGPROF);
        const int64_t more_ns = i % 2 == 0 ? first_ns - second_ns : second_ns - first_ns;

        printf("%.1f\n", (double)more_ns / CALLS);
    }
    return signals == CALLS * (rounds + 1) ? 0 : 1;
}
