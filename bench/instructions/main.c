/*
 * instructions [NAME]...: runs each path of its table between markers for callgrind, which dumps its counts at each:
 * "NAME OPERATIONS". bench/instructions/run makes figures of the dumps.
 */
#include "counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

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

static void count_all(const struct counted *table, size_t count, int argc, char **argv)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_wanted(&table[i], argc, argv))
            continue;
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
    return 0;
}
