/* Children of every kind, from many threads at once: each ends, in good time and with its own status, and inherits
 * nothing of the profiler's. */
#include "chaos.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What a child that was given to another program shows of itself. Of the JVM's own files some stay open. */
static const char look[] = "grep -E '^Sig(Q|Blk|Ign|Pnd)' /proc/self/status; "
                           "for fd in /proc/$$/fd/*; do readlink $fd; done; "
                           "test ! -s /proc/$$/timers || echo a timer; exit 5";

static const char *const agents[] = {"jaywalk", "perf_event", "timerfd", "signalfd", "eventpoll",
                                     "memfd:",  "inotify",    "/task",   "/maps",    "a timer"};

static bool ends_with(const char *line, const char *end)
{
    const size_t length = strlen(line);

    return length >= strlen(end) && strcmp(line + length - strlen(end), end) == 0;
}

/* But for what the JVM leaves open itself: its own recorder's repository, whose files have dates for names, the clocks of
 * threads that it reads for that recorder (JDK 17), libraries, where it has told of their handlers (-Xcheck:jni), and what its own
 * selectors wait with (JDK 8, 11). */
static bool is_of_agent(const char *line)
{
    const char *slash = strrchr(line, '/');
    const char *name = slash == NULL ? line : slash + 1;
    const char *flags = getenv("CHAOS_FLAGS");

    if (getenv("CHAOS_SELECTORS") != NULL && ends_with(line, "[eventpoll]"))
        return false;
    if (flags != NULL && strcmp(flags, "jfr") == 0 && ends_with(line, "/stat"))
        return false;
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++)
        if (strstr(i == 0 ? name : line, agents[i]) != NULL)
            return !ends_with(line, ".so");
    return ends_with(line, ".jfr") && strspn(name, "0123456789_") + 4 != strlen(name);
}

/* m41: what the child printed, line by line. The shell itself opens signals that were blocked. */
static void check_look(struct storm *storm, FILE *lines, const char *what, uint64_t blocked)
{
    unsigned long long mask;
    char line[4096];
    int seen = 0;

    while (fgets(line, sizeof line, lines) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        seen++;
        if (sscanf(line, "SigBlk: %llx", &mask) == 1)
            STORM_EXPECT(storm, (mask & ~blocked) == 0, "%s blocks signals %#llx, not %#llx", what,
                         mask, (unsigned long long)blocked);
        else if (sscanf(line, "SigIgn: %llx", &mask) == 1)
            STORM_EXPECT(storm,
                         (mask >> (SIGPROF - 1) & 1) == 0 && (mask >> (SIGVTALRM - 1) & 1) == 0,
                         "%s ignores signals %#llx", what, mask);
        STORM_EXPECT(storm, !is_of_agent(line), "%s has inherited %s", what, line);
    }
    STORM_EXPECT(storm, seen >= 6, "%s shows only %d lines", what, seen);
}

static void expect_status(struct storm *storm, const char *what, int status, int expected)
{
    STORM_EXPECT(storm, WIFEXITED(status) && WEXITSTATUS(status) == expected,
                 "%s: wait status %#x, not exit %d", what, status, expected);
}

static int wait_for(struct storm *storm, pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        storm_violated(storm, "waitpid: %s", strerror(errno));
        if (errno != EINTR)
            break;
    }
    return status;
}

/* Lives on without another program: no timer of the parent's ends it, no signal is sampled in it. */
static void live_on(uint64_t blocked)
{
    struct itimerval timer;
    sigset_t pending;
    uint64_t bits;
    FILE *file;

    if (chaos_mask() != blocked)
        _exit(11);
    chaos_limit_child();
    chaos_burn_us(15000);
    sigemptyset(&pending);
    sigpending(&pending);
    memcpy(&bits, &pending, sizeof bits);
    if (bits & (UINT64_C(1) << (SIGPROF - 1) | UINT64_C(1) << (SIGVTALRM - 1)))
        _exit(12);
    if (getitimer(ITIMER_PROF, &timer) != 0 || timer.it_value.tv_sec + timer.it_value.tv_usec != 0)
        _exit(13);
    if (getitimer(ITIMER_VIRTUAL, &timer) != 0 ||
        timer.it_value.tv_sec + timer.it_value.tv_usec != 0)
        _exit(14);
    file = fopen("/proc/self/timers", "re");
    if (file != NULL && fgetc(file) != EOF)
        _exit(15);
    chaos_sleep_us(2000);
    _exit(9);
}

/* m36: a fork restarts when a signal comes while it copies. With a large process and many signals it must still end. */
static void do_fork(struct storm *storm)
{
    const uint64_t blocked = chaos_mask();
    const pid_t child = fork();

    if (child == 0)
        live_on(blocked);
    if (child < 0) {
        storm_violated(storm, "fork: %s", strerror(errno));
        return;
    }
    expect_status(storm, "a fork that lives on", wait_for(storm, child), 9);
}

/* A child of the child, whose threads and timers are not those of the first. */
static void do_fork_twice(struct storm *storm)
{
    const uint64_t blocked = chaos_mask();
    const pid_t child = fork();

    if (child == 0) {
        const pid_t grandchild = fork();
        int status = 0;

        if (grandchild == 0)
            live_on(blocked);
        chaos_limit_child();
        _exit(waitpid(grandchild, &status, 0) == grandchild && WIFEXITED(status)
                  ? WEXITSTATUS(status)
                  : 16);
    }
    if (child < 0)
        storm_violated(storm, "fork: %s", strerror(errno));
    else
        expect_status(storm, "a child's child", wait_for(storm, child), 9);
}

static void do_vfork(struct storm *storm)
{
    const char *arguments[] = {"sh", "-c", "exit 6", NULL};
    volatile uint64_t kept = chaos_mask();
    const uint64_t before = kept;
    const pid_t child = vfork();

    if (child == 0) {
        execve("/bin/sh", (char *const *)arguments, environ);
        _exit(17);
    }
    if (child < 0) {
        storm_violated(storm, "vfork: %s", strerror(errno));
        return;
    }
    STORM_EXPECT(storm, kept == before && chaos_mask() == before, "vfork changed the parent");
    expect_status(storm, "a vfork", wait_for(storm, child), 6);
}

static void do_spawn(struct storm *storm)
{
    const char *arguments[] = {"sh", "-c", look, NULL};
    const uint64_t blocked = chaos_mask();
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t child;
    int error;
    FILE *lines;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        storm_violated(storm, "pipe2: %s", strerror(errno));
        return;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    error = posix_spawn(&child, "/bin/sh", &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    lines = fdopen(ends[0], "r");
    if (error != 0 || lines == NULL) {
        storm_violated(storm, "posix_spawn: %s", strerror(error));
        return;
    }
    check_look(storm, lines, "a spawned program", blocked);
    fclose(lines);
    expect_status(storm, "a spawned program", wait_for(storm, child), 5);
}

static void do_popen(struct storm *storm)
{
    const uint64_t blocked = chaos_mask();
    FILE *lines = popen(look, "re");

    if (lines == NULL) {
        storm_violated(storm, "popen: %s", strerror(errno));
        return;
    }
    check_look(storm, lines, "a popened program", blocked);
    expect_status(storm, "a popened program", pclose(lines), 5);
}

/* A child whose parent waits in another way than by waitpid: it must see the signal of its end. */
static void do_forks(struct storm *storm)
{
    pid_t children[8];
    int begun = 0;

    for (; begun < 8; begun++) {
        children[begun] = fork();
        if (children[begun] == 0)
            _exit(20 + begun);
        if (children[begun] < 0)
            break;
    }
    STORM_EXPECT(storm, begun == 8, "fork: %s", strerror(errno));
    for (int i = 0; i < begun; i++)
        expect_status(storm, "one of several forks", wait_for(storm, children[i]), 20 + i);
}

static void *churn(void *argument)
{
    static void (*const kinds[])(struct storm *) = {do_fork,  do_fork_twice, do_vfork,
                                                    do_spawn, do_popen,      do_forks};
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);

    while (storm_goes_on(storm)) {
        kinds[chaos_random_below(&random, sizeof kinds / sizeof kinds[0])](storm);
        storm_did(storm, 1);
        /* Long enough ago for the thread to be known, and to have signals. */
        chaos_burn_us((int64_t)chaos_random_below(&random, 3000));
        chaos_sleep_us((int64_t)chaos_random_below(&random, 10000));
    }
    return NULL;
}

void children_round(struct storm *storm)
{
    storm_threads(storm, 2 * storm->intensity, churn, storm);
}
