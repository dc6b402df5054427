/*
 * cli_leaks_internal - live objects of recordings, by class and by where they were allocated.
 *
 * For      `jaywalk leaks`: cmd_leaks.c (line, recordings), cli_leaks.c (figures), cli_leaks_text.c (words); convert, which set is
 *          the last one.
 * Callers  these, feed.   Context  tool.
 * Memory   the texts of distinct classes and stacks of the two sets.
 *
 * A recording holds its live objects in sets: all events of jaywalk.LiveObject of one time, one set for each dump, and one for the
 * end. Objects of other producers have no sets: what a file has of them is one.
 */
#ifndef JW_CLI_CLI_LEAKS_INTERNAL_H
#define JW_CLI_CLI_LEAKS_INTERNAL_H

#include <stdio.h>

#include "base/map.h"
#include "cli/cli_internal.h"
#include "jfr/jfr_reader.h"

#define LEAKS_OLDEST 10u

enum leaks_side { LEAKS_BEFORE, LEAKS_AFTER, LEAKS_SIDES };

/* When the sets of a file were written, in ns of Unix time; both 0: it has none. */
struct leaks_sets {
    int64_t first_ns, last_ns;
    uint64_t count;
};

struct leaks_cell {
    double bytes, objects; /* what samples stand for */
    double square;         /* of the bytes of each, for how sure a difference is */
    uint64_t samples;
};

struct leaks_row {
    char *class_name; /* "java.lang.String" */
    char *stack;      /* frames, leaf first, each with a line feed behind; NULL: a row of a class */
    struct leaks_cell cells[LEAKS_SIDES];
    uint64_t oldest_pauses; /* after */
    int64_t oldest_ns;
};

struct leaks_table {
    struct leaks_row *rows;
    size_t count, capacity;
    struct jw_map index; /* text -> row + 1 */
};

struct leaks_survivor {
    size_t site; /* row of `sites` */
    uint64_t pauses, size_bytes;
    int64_t age_ns;
};

struct leaks {
    uint64_t least_pauses; /* younger objects are counted apart */
    struct leaks_table classes, sites;
    struct leaks_cell all[LEAKS_SIDES], young[LEAKS_SIDES];
    int64_t time_ns[LEAKS_SIDES];               /* of the set; 0: there is none */
    struct leaks_survivor oldest[LEAKS_OLDEST]; /* of the side after, the oldest first */
    size_t oldest_count;
    bool is_out_of_memory;
    bool has_no_age; /* objects of others, which do not say it */
};

/* How it is shown. */
struct leaks_look {
    const char *paths[LEAKS_SIDES]; /* [LEAKS_BEFORE] NULL: there is one set alone */
    size_t top;                     /* rows; 0: all */
};

/* False and `err`: the file cannot be read. */
JW_MUST_CHECK bool leaks_find_sets(const char *path, struct leaks_sets *out, bool is_quiet,
                                   struct jw_error *err);
/* Adds the set of this time; 0: objects of others. */
JW_MUST_CHECK bool leaks_read(struct leaks *leaks, enum leaks_side side, const char *path,
                              int64_t time_ns, bool is_quiet, struct jw_error *err);
/* Orders rows by growth. */
void leaks_settle(struct leaks *leaks);
void leaks_close(struct leaks *leaks);

/* When an event was, in ns of Unix time. */
int64_t leaks_time_ns(const struct jfr_reader_chunk *chunk, const struct jfr_reader_event *event);

static inline double leaks_growth(const struct leaks_row *row)
{
    return row->cells[LEAKS_AFTER].bytes - row->cells[LEAKS_BEFORE].bytes;
}

/* More than chance: twice what sampling makes of two equal sets, once in some twenty, or less. */
bool leaks_is_sure(const struct leaks_row *row);

void leaks_text(const struct leaks *leaks, const struct leaks_look *look, FILE *to);
void leaks_json(const struct leaks *leaks, const struct leaks_look *look, FILE *to);

#endif
