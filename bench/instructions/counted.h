/*
 * counted - paths whose instructions are counted: what main.c and the files with paths know of each other.
 *
 * For      a figure of each hot path that is the same in each run, whatever else the machine does.
 * Callers  main.c and the files of this directory.   Context  a process of its own, under callgrind.
 *
 * A path is run for two numbers of operations, each with a fresh set-up. What an operation costs is the difference
 * of the two counts by the difference of the numbers; so the set-up, and the markers themselves, drop out.
 */
#ifndef JW_BENCH_INSTRUCTIONS_COUNTED_H
#define JW_BENCH_INSTRUCTIONS_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jw.h"

struct counted {
    const char *name;
    void (*open)(unsigned operations);
    void (*run)(unsigned operations); /* alone is counted */
    void (*close)(void);
    unsigned few, many; /* operations */
};

extern const struct counted counted_core[], counted_jfr[], counted_walk[], counted_context[],
    counted_ids[], counted_symbols[], counted_poll[];
extern const size_t counted_core_count, counted_jfr_count, counted_walk_count,
    counted_context_count, counted_ids_count, counted_symbols_count, counted_poll_count;

/* Keeps results alive. */
extern uint64_t counted_sink;

/* Ends the program: what cannot be set up cannot be counted. */
void counted_need(bool condition, const char *what, const struct jw_error *err);

#endif
