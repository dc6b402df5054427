/*
 * measure LIMIT_SECONDS COMMAND...: runs a command and prints what it said and what it used.
 *
 * Each line of its standard output is printed as it is, but for lines `mark`: there the clocks of the process are read, and it gets
 * the nanoseconds of CPU time that it has used on its standard input, a line for which it waits. At the end:
 *
 *     measured status WAIT_STATUS timed_out 0|1 cpu_us N rss_kib N wall_us N
 *     marked cpu_ns N wall_ns N                                               between the first mark and the second
 *
 * A command that is not over after LIMIT_SECONDS is killed, with all that it has started; so it is when measure itself, or who has started
 * that, is told to end. Always status 0, but for own errors.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static volatile sig_atomic_t has_timed_out;

static void end_it(int signal_number)
{
    (void)signal_number;
    has_timed_out = 1;
    kill(-child, SIGKILL);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static long us_of(struct timeval time)
{
    return time.tv_sec * 1000000L + time.tv_usec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void run_command(char **command, int in[2], int out[2])
{
    setpgid(0, 0);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* Copies lines until the end; reads the clocks at marks. */
static int follow(FILE *lines, int answers, int64_t cpu_ns[2], int64_t wall_ns[2])
{
    char line[4096];
    clockid_t clock;
    int marks = 0;

    while (fgets(line, sizeof line, lines) != NULL) {
        if (strcmp(line, "mark\n") != 0) {
            fputs(line, stdout);
            continue;
        }
        const int64_t now_ns = clock_getcpuclockid(child, &clock) == 0 ? clock_ns(clock) : 0;
        if (marks < 2 && now_ns != 0) {
            cpu_ns[marks] = now_ns;
            wall_ns[marks] = clock_ns(CLOCK_MONOTONIC);
            marks++;
        }
        if (dprintf(answers, "%lld\n", (long long)now_ns) < 0)
            break;
    }
    return marks;
}

int main(int argc, char **argv)
{
    int in[2], out[2], status = 0;
    int64_t cpu_ns[2] = {0}, wall_ns[2] = {0};
    struct rusage used;

    if (argc < 3) {
        fprintf(stderr, "usage: measure LIMIT_SECONDS COMMAND...\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (pipe(in) != 0 || pipe(out) != 0)
        fail("pipe");
    const int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        run_command(argv + 2, in, out);
    setpgid(child, child);
    close(in[0]), close(out[1]);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = end_it, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    alarm((unsigned)strtoul(argv[1], NULL, 10));

    FILE *lines = fdopen(out[0], "r");
    if (lines == NULL)
        fail("fdopen");
    const int marks = follow(lines, in[1], cpu_ns, wall_ns);
    while (wait4(child, &status, 0, &used) != child)
        if (errno != EINTR)
            fail("wait4");
    alarm(0);
    printf("measured status %d timed_out %d cpu_us %ld rss_kib %ld wall_us %ld\n", status,
           (int)has_timed_out, us_of(used.ru_utime) + us_of(used.ru_stime), used.ru_maxrss,
           (long)((clock_ns(CLOCK_MONOTONIC) - start_ns) / 1000));
    if (marks == 2)
        printf("marked cpu_ns %lld wall_ns %lld\n", (long long)(cpu_ns[1] - cpu_ns[0]),
               (long long)(wall_ns[1] - wall_ns[0]));
    return 0;
}
