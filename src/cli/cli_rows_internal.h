/*
 * cli_rows_internal - a table of what samples were taken for, and its forms.
 *
 * For      cmd_endpoints.c, cli_rows.c (sums), cli_rows_text.c, cli_rows_data.c (forms).   Callers  these, tests.
 * Context  tool.   Memory  grows with rows; texts are their own.
 *
 * Rows add up: each sample that is let in is in one row and no other. What the table shows of them is its
 * first `shown` rows, a sum of those that follow (cli_rows_rest), and the sum of all.
 */
#ifndef JW_CLI_CLI_ROWS_INTERNAL_H
#define JW_CLI_CLI_ROWS_INTERNAL_H

#include "base/map.h"
#include "cli/cli_contexts_internal.h"

enum cli_clock { CLI_CLOCK_CPU, CLI_CLOCK_WALL, CLI_CLOCK_LIMIT };

enum cli_row_kind {
    CLI_ROW_VALUE,
    CLI_ROW_NO_VALUE,   /* samples that have a context, and nothing of what is asked for in it */
    CLI_ROW_NO_CONTEXT, /* samples that have none */
};

enum cli_sort {
    CLI_SORT_CPU,
    CLI_SORT_WALL,
    CLI_SORT_SAMPLES,
    CLI_SORT_REQUESTS,
    CLI_SORT_NAME,
};

struct cli_sum {
    uint64_t samples[CLI_CLOCK_LIMIT];
    uint64_t weight[CLI_CLOCK_LIMIT]; /* ns, where rows->is_timed */
    uint64_t requests;
};

struct cli_row {
    enum cli_row_kind kind;
    const char *values[PROFILE_ROOTS_LIMIT]; /* NULL: none */
    struct cli_sum sum;
    char *hottest; /* frame, of the clock that is shared out; NULL: no samples */
    uint64_t hottest_weight;
    bool is_narrow; /* below the least share */
};

struct cli_rows {
    const struct cli_bys *bys;
    struct profile_view view; /* what frames are called */
    enum cli_clock clock;     /* what shares are of */
    bool has_clock[CLI_CLOCK_LIMIT];
    bool is_timed[CLI_CLOCK_LIMIT];
    bool has_requests; /* they are known by row */

    struct cli_row *items; /* sorted: values, then the others */
    size_t count, capacity;
    size_t value_count;
    size_t shown; /* of those with values */
    struct cli_sum rest, total;
    struct jw_map row_of;      /* values -> row + 1 */
    uint64_t left_out;         /* samples of this clock that are in no row, by filters */
    uint64_t filtered_samples; /* of these by patterns of frames */
};

void cli_rows_close(struct cli_rows *rows);

/* Adds a sealed profile whose stacks have a box for each of `bys`. False: no memory. */
JW_MUST_CHECK bool cli_rows_add(struct cli_rows *rows, const struct profile *profile,
                                enum cli_clock clock);
/* Adds the numbers of requests. */
JW_MUST_CHECK bool cli_rows_add_requests(struct cli_rows *rows,
                                         const struct cli_requests *requests);
/* Sorts them, and sums up those past `top` (0: none), and those below this share of all. */
void cli_rows_order(struct cli_rows *rows, enum cli_sort sort, size_t top, uint64_t least_ppm);

/* What a row shows for a value that it lacks: "[no endpoint]", or "" for one that need not be. */
void cli_row_lack(const struct cli_rows *rows, const struct cli_row *row, size_t column, char *text,
                  size_t room);

/* Weight of all samples in the row, and of all rows: what shares are made of. */
uint64_t cli_sum_weight(const struct cli_rows *rows, const struct cli_sum *sum);

/* To a stream; `columns` of its terminal, 0: it is none, and nothing is cut. */
void cli_rows_text(const struct cli_rows *rows, const char *title, size_t columns, FILE *to);
void cli_rows_csv(const struct cli_rows *rows, FILE *to);
/* `title`: "": none was given. */
void cli_rows_json(const struct cli_rows *rows, const char *title, const char *part, FILE *to);

#endif
