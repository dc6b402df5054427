/*
 * cli_compare_internal - two profiles, method by method, and how sure each difference is.
 *
 * For      `jaywalk compare`: cmd_compare.c (recordings), cli_compare.c (figures), cli_compare_text.c (words).
 * Callers  these, tests.   Context  tool.
 * Memory   two numbers for each method and slice of time on either side.
 *
 * Samples that follow one another are alike, so a recording is cut into slices of time, and it is these that are drawn
 * anew, with replacement, to see how much a figure would have been another in another run (a block bootstrap). What
 * comes out of chance alone depends on the input alone: the numbers drawn are always the same ones.
 */
#ifndef JW_CLI_CLI_COMPARE_INTERNAL_H
#define JW_CLI_CLI_COMPARE_INTERNAL_H

#include "base/map.h"
#include "cli/cli_internal.h"
#include "profile/profile.h"

#define COMPARE_SLICES 48u   /* of each side */
#define COMPARE_DRAWS  2000u /* of slices, for an interval of 99 % */

enum compare_side { COMPARE_BEFORE, COMPARE_AFTER, COMPARE_SIDES };

/* What a method is measured in. */
enum compare_per {
    COMPARE_PER_SHARE,  /* of all samples of its side: for runs of different length or load */
    COMPARE_PER_SECOND, /* of the recording's time: for a service under the same load */
    COMPARE_PER_RUN,    /* all of it: for runs that do the same work */
};

/* Of slices: weight of samples on top, and of stacks that have it, each stack once however often it is in it. */
struct compare_cells {
    double self[COMPARE_SLICES];
    double total[COMPARE_SLICES];
};

/* Figures are parts of what all of the side before takes: 0.05 is 5 %. */
struct compare_figure {
    double before, after;
    double low, high; /* of the difference, by 99 of 100 draws */
};

struct compare_method {
    char *name;
    struct compare_cells *cells[COMPARE_SIDES]; /* NULL: it is not there */
    struct compare_figure self, total;
    uint64_t samples; /* of both sides, on top or below */
};

struct compare {
    enum compare_per per;
    struct compare_method *methods;
    size_t count, capacity;
    struct jw_map index; /* name -> method + 1 */
    double whole[COMPARE_SIDES][COMPARE_SLICES];
    double seconds[COMPARE_SIDES];
    uint64_t samples[COMPARE_SIDES];
    struct compare_figure all; /* of what all samples stand for */
    const char *unit;          /* "ns", "bytes", "samples" */
    bool is_out_of_memory;
};

/* Adds a side from a profile whose outermost boxes are slices of time, named by their number. */
void compare_add(struct compare *compare, enum compare_side side, const struct profile *profile,
                 const struct profile_view *view);
/* Works out all figures; leaves out methods that are below a two thousandth on either side. False: no memory. */
JW_MUST_CHECK bool compare_settle(struct compare *compare);
/* Leaves out what is below this part of both sides, with what it calls; not what grew by `limit`, unless that is 0. */
void compare_keep_wide(struct compare *compare, double least, double limit);
void compare_close(struct compare *compare);

/* By how much, and whether that is more than chance: the interval does not hold 0. */
static inline double compare_change(const struct compare_figure *figure)
{
    return figure->after - figure->before;
}

static inline bool compare_is_sure(const struct compare_figure *figure)
{
    return figure->low > 0 || figure->high < 0;
}

/* It grew by `limit` at least, for sure. */
static inline bool compare_grew(const struct compare_figure *figure, double limit)
{
    return compare_change(figure) >= limit && figure->low > 0;
}

/* What is shown. */
struct compare_look {
    const char *paths[COMPARE_SIDES];
    const char *title; /* "CPU profile" */
    const char *part;  /* filters, in words; "" for all */
    double limit;      /* 0: there is none */
    size_t top;        /* rows of each table; 0: all */
    bool is_failed;
};

void compare_text(const struct compare *compare, const struct compare_look *look, FILE *to);
void compare_markdown(const struct compare *compare, const struct compare_look *look, FILE *to);
void compare_json(const struct compare *compare, const struct compare_look *look, FILE *to);

#endif
