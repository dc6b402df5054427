/*
 * cli_latency_internal - how long calls of methods and requests took, and tasks waited, from recordings.
 *
 * For      `jaywalk latency`: cmd_latency.c (line), cli_latency_read.c (events), cli_latency_text.c (words).
 * Callers  these.   Context  tool.
 * Memory   some 32 KiB for each method, LATENCY_ROWS of them.
 *
 * Of jaywalk.MethodLatency and jaywalk.MethodCount the last one of a method in a file holds all of its calls, of jaywalk.ObjectCount that of a class and method all objects; each jdk.MethodTrace, whoever wrote it, is a call, and
 * each jaywalk.Span one of what its name says; each jaywalk.QueueTime is a task.
 */
#ifndef JW_CLI_CLI_LATENCY_INTERNAL_H
#define JW_CLI_CLI_LATENCY_INTERNAL_H

#include <stdio.h>

#include "base/map.h"
#include "cli/cli_contexts_internal.h"
#include "cli/cli_internal.h"
#include "probe/probe_own.h"

#define LATENCY_ROWS 4096u

struct latency_figures {
    uint64_t count, total_ns, least_ns, most_ns;
    uint64_t elapsed_ns; /* traced calls, spans and tasks: 0 */
    uint64_t counts[PROBE_OWN_COUNTS];
};

/* In the order of tables. */
enum latency_kind {
    LATENCY_ALL,     /* calls of a method that is timed */
    LATENCY_COUNTED, /* of one that is counted: no times */
    LATENCY_MADE,    /* objects of a class that a method makes, which are counted, too */
    LATENCY_SPANS,   /* by their name: of requests, their endpoint */
    LATENCY_TRACED,  /* calls that were long enough */
    LATENCY_QUEUED,  /* waits of tasks that were, by their class and the executor's */
    LATENCY_KINDS,
};

/* There are no times. */
static inline bool latency_is_count(enum latency_kind kind)
{
    return kind == LATENCY_COUNTED || kind == LATENCY_MADE;
}
/* Of what is recorded one by one: it has parts. */
static inline bool latency_is_single(enum latency_kind kind)
{
    return kind >= LATENCY_SPANS;
}

/* Between the boxes of a row. */
#define LATENCY_BOX '\1'

struct latency_row {
    char *name;        /* "com.acme.Shop.buy" */
    const char *boxes; /* behind it: one for each of `bys`; "": none */
    enum latency_kind kind;
    struct latency_figures all, file; /* of all files, and of the one that is read */
};

struct latency {
    struct latency_row **rows;
    size_t count, capacity;
    struct jw_map index;  /* kind and name -> number + 1 */
    uint64_t recorded_ns; /* by all chunks */
    uint64_t left_out;    /* events of names beyond LATENCY_ROWS */
    uint64_t unwanted;    /* events that are not of the part */
    bool has_sums;        /* of all calls, which have no parts */
    bool is_out_of_memory;
};

struct latency_wish {
    struct cli_part *part;
    struct cli_bys bys;
    char words[512]; /* of the part; "": all, and sums of all calls, too */
    size_t top;      /* 0: all rows */
    bool is_quiet;
};

/* Adds what the file has. False and `err`: it cannot be read. */
JW_MUST_CHECK bool latency_read(struct latency *all, const char *path,
                                const struct latency_wish *wish, struct jw_error *err);
void latency_close(struct latency *all);

/* So many of a thousand calls took no longer; within 0.8 %. There are calls. */
uint64_t latency_percentile_ns(const struct latency_figures *figures, unsigned thousandths);

void latency_text(struct latency *all, const struct latency_wish *wish, FILE *to);
void latency_json(struct latency *all, const struct latency_wish *wish, FILE *to);

#endif
