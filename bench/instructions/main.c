/*
 * instructions [NAME]...: runs each path of its table between markers for callgrind, which dumps its counts at each:
 * "NAME OPERATIONS". bench/instructions/run makes figures of the dumps.
 *
 * instructions --ns NAME: prints `NAME MEDIAN LEAST`, the CPU time of an operation in nanoseconds, with the loop around it, of rounds without
 * callgrind. For paths that can be gone as often as one likes.
 */
#include "counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

#define NS_ROUNDS 21
#define NS_RUNS   2000 /* a round */

uint64_t counted_sink;

void counted_need(bool condition, const char *what, const struct jw_error *err)
{
    if (condition)
        return;
    fprintf(stderr, "instructions: %s: %s\n", what, err == NULL ? "failed" : err->message);
    exit(1);
}

/* Not static and not inlined, so that all paths are called in the same way. */
__attribute__((noinline, noclone)) void counted_mark(const struct counted *counted,
                                                     unsigned operations);

void counted_mark(const struct counted *counted, unsigned operations)
{
    char name[128];

    snprintf(name, sizeof name, "%s %u", counted->name, operations);
    counted->open(operations);
    CALLGRIND_ZERO_STATS;
    counted->run(operations);
    CALLGRIND_DUMP_STATS_AT(name);
    counted->close();
}

static bool is_wanted(const struct counted *counted, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], counted->name) == 0)
            return true;
    return argc == 1;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void time_one(const struct counted *counted)
{
    double rounds[NS_ROUNDS];

    counted->open(counted->many);
    for (int i = 0; i < NS_ROUNDS; i++) {
        const double begin_ns = cpu_ns();

        for (int run = 0; run < NS_RUNS; run++)
            counted->run(counted->many);
        rounds[i] = (cpu_ns() - begin_ns) / NS_RUNS / counted->many;
    }
    counted->close();
    qsort(rounds, NS_ROUNDS, sizeof rounds[0], by_value);
    printf("%s %.2f %.2f\n", counted->name, rounds[NS_ROUNDS / 2], rounds[0]);
}

static void count_all(const struct counted *table, size_t count, int argc, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&table[i], argc, argv))
            continue;
        if (argc > 2 && strcmp(argv[1], "--ns") == 0) {
            time_one(&table[i]);
            continue;
        }
        counted_mark(&table[i], table[i].few);
        counted_mark(&table[i], table[i].many);
    }
}

int main(int argc, char **argv)
{
    count_all(counted_core, counted_core_count, argc, argv);
    count_all(counted_jfr, counted_jfr_count, argc, argv);
    count_all(counted_context, counted_context_count, argc, argv);
    count_all(counted_walk, counted_walk_count, argc, argv);
    count_all(counted_ids, counted_ids_count, argc, argv);
    count_all(counted_symbols, counted_symbols_count, argc, argv);
    count_all(counted_poll, counted_poll_count, argc, argv);
    return 0;
}
