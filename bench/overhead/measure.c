/*
 * measure OUTPUT COMMAND...: runs a command and appends to OUTPUT one line of what it used:
 *
 *     cpu_us max_rss_kib wall_us
 *
 * Its standard output goes nowhere. The status is that of the command.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long us_of(struct timeval time)
{
    return time.tv_sec * 1000000L + time.tv_usec;
}

static long wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure OUTPUT COMMAND...\n");
        return 2;
    }
    long start_us = wall_us();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0)
            dup2(nowhere, STDOUT_FILENO);
        execvp(argv[2], &argv[2]);
        perror(argv[2]);
        _exit(127);
    }
    int status = 0;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("measure");
        return 1;
    }
    FILE *output = fopen(argv[1], "a");
    if (output == NULL) {
        perror(argv[1]);
        return 1;
    }
    fprintf(output, "%ld %ld %ld\n", us_of(used.ru_utime) + us_of(used.ru_stime), used.ru_maxrss,
            wall_us() - start_us);
    fclose(output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
