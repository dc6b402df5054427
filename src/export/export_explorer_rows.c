/*
 * Samples of an explorer page in its order: by bin of time, and in it by stack, context and value. Context: tool.
 *
 * There are millions of them, nearly in the order of time already, and some in each bin. As many bins as a window has room for are filled in one
 * pass over the samples, of which those of other times are passed over in blocks; each bin is sorted by itself, and written as columns.
 */
#include <string.h>

#include "export/export_explorer_internal.h"

#define WINDOW_ROWS ((uint64_t)1 << 20) /* 16 MiB; more where one bin has more */

/* A sample in the order of the page. */
struct row {
    uint32_t stack;   /* rank */
    uint32_t context; /* rank */
    uint64_t value;   /* divided by the scale */
};

/* Bins that are filled at a time. */
struct window {
    uint32_t first_bin, end_bin;
    struct row *rows;
    uint64_t *next; /* by bin since the first: where its next row goes */
    struct row *room;
};

/* What is written, in their order. */
struct columns {
    struct export_column bins, samples, contexts, counts, values;
};

static inline bool is_behind(const struct row *one, const struct row *other)
{
    const uint64_t a = (uint64_t)one->stack << 32 | one->context;
    const uint64_t b = (uint64_t)other->stack << 32 | other->context;

    return a > b || (a == b && one->value > other->value);
}

#define ROWS_INSERTED ((uint64_t)12) /* so few are sorted by moving each to its place */

static void insert_rows(struct row *rows, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const struct row row = rows[i];
        uint64_t at = i;

        for (; at > 0 && is_behind(&rows[at - 1], &row); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* Two sorted rows of rows, one behind the other, become one; the first one is copied to `room`. */
static void join_rows(struct row *rows, uint64_t middle, uint64_t count, struct row *room)
{
    uint64_t left = 0, right = middle, to = 0;

    if (!is_behind(&rows[middle - 1], &rows[middle]))
        return;
    memcpy(room, rows, middle * sizeof *rows);
    while (left < middle && right < count)
        rows[to++] = is_behind(&room[left], &rows[right]) ? rows[right++] : room[left++];
    memcpy(rows + to, room + left, (middle - left) * sizeof *rows);
}

/* By stack, context and value; `room` is for half of them. Without a call for each comparison, as qsort has. */
static void sort_bin(struct row *rows, uint64_t count, struct row *room)
{
    for (uint64_t at = 0; at < count; at += ROWS_INSERTED)
        insert_rows(rows + at, count - at < ROWS_INSERTED ? count - at : ROWS_INSERTED);
    for (uint64_t length = ROWS_INSERTED; length < count; length *= 2)
        for (uint64_t at = 0; at + length < count; at += 2 * length)
            join_rows(rows + at, length, count - at < 2 * length ? count - at : 2 * length, room);
}

/* ---- windows ---- */

/* Rows of the most that a window has, and of the most that a bin has; a window has a bin at least. */
static void reckon_windows(const struct explorer *explorer, uint64_t *most, uint64_t *most_of_bin)
{
    uint64_t rows = 0;

    *most = *most_of_bin = 0;
    for (uint32_t bin = 0; bin < explorer->bin_count; bin++) {
        const uint64_t own = explorer->bin_rows[bin];

        rows = rows + own > WINDOW_ROWS ? own : rows + own;
        *most = rows > *most ? rows : *most;
        *most_of_bin = own > *most_of_bin ? own : *most_of_bin;
    }
}

/* The bins behind those that it has; false: there are none. */
static bool next_window(const struct explorer *explorer, struct window *window)
{
    uint64_t rows = 0;

    window->first_bin = window->end_bin;
    for (; window->end_bin < explorer->bin_count; window->end_bin++) {
        const uint64_t own = explorer->bin_rows[window->end_bin];

        if (rows + own > WINDOW_ROWS && window->end_bin > window->first_bin)
            break;
        window->next[window->end_bin - window->first_bin] = rows;
        rows += own;
    }
    return window->end_bin > window->first_bin;
}

static void fill_window(const struct explorer *explorer, struct window *window)
{
    const int64_t from_ms = explorer->first_ms + (int64_t)window->first_bin * explorer->bin_ms;
    const int64_t end_ms = explorer->first_ms + (int64_t)window->end_bin * explorer->bin_ms;
    struct profile_moments_place place = {.from_ms = (int32_t)from_ms,
                                          .to_ms = end_ms > INT32_MAX ? INT32_MAX
                                                                      : (int32_t)(end_ms - 1)};
    const struct profile_moment *row;
    uint64_t count;

    while ((row = profile_moments_next(explorer->moments, &place, &count)) != NULL) {
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t line = explorer_line_of(explorer, &row[i]);
            const uint64_t value = row[i].value;

            if (row[i].at_ms < place.from_ms || row[i].at_ms > place.to_ms ||
                line == PROFILE_STACK_NONE)
                continue;
            const uint32_t bin = explorer_bin_of(explorer, row[i].at_ms) - window->first_bin;
            window->rows[window->next[bin]++] = (struct row){
                .stack = explorer->stack_rank[line],
                .context = explorer->context_rank[row[i].context],
                .value = value == explorer->scale ? 1 : value / explorer->scale,
            };
        }
    }
}

/* A bin that is sorted. Where the page was made to fit rows that differ in their values alone become one. */
static void write_bin(struct explorer *explorer, const struct row *rows, uint64_t count,
                      struct columns *columns)
{
    const bool is_fitted = explorer->page->job->fit != NULL;
    uint64_t written = 0, alike;
    uint32_t before = 0;

    for (uint64_t i = 0; i < count; i += alike, written++) {
        uint64_t value = rows[i].value;

        for (alike = 1; is_fitted && i + alike < count && rows[i + alike].stack == rows[i].stack &&
                        rows[i + alike].context == rows[i].context;
             alike++)
            value += rows[i + alike].value;
        export_column_number(&columns->samples, rows[i].stack - before);
        export_column_number(&columns->contexts, rows[i].context);
        if (is_fitted)
            export_column_number(&columns->counts, alike);
        if (!explorer->is_constant)
            export_column_number(&columns->values, value);
        before = rows[i].stack;
    }
    export_column_number(&columns->bins, written);
    explorer->row_count += written;
}

static void write_windows(struct explorer *explorer, struct window *window, struct columns *columns)
{
    explorer->row_count = 0;
    while (next_window(explorer, window)) {
        struct row *rows = window->rows;

        fill_window(explorer, window);
        for (uint32_t bin = window->first_bin; bin < window->end_bin; bin++) {
            const uint64_t count = explorer->bin_rows[bin];

            sort_bin(rows, count, window->room);
            write_bin(explorer, rows, count, columns);
            rows += count;
        }
    }
}

static bool put_columns(const struct explorer *explorer, struct columns *columns)
{
    const struct export_job *job = explorer->page->job;

    return export_column_put(job, "bins", &columns->bins) &&
           export_column_put(job, "samples", &columns->samples) &&
           export_column_put(job, "contexts", &columns->contexts) &&
           (job->fit == NULL || export_column_put(job, "counts", &columns->counts)) &&
           (explorer->is_constant || export_column_put(job, "values", &columns->values));
}

bool export_explorer_rows(struct explorer *explorer)
{
    struct columns columns = {.bins = {.bytes = NULL}};
    struct window window = {.end_bin = 0};
    uint64_t most, most_of_bin;

    reckon_windows(explorer, &most, &most_of_bin);
    window.rows = jw_alloc(jw_mul_bytes(most + 1, sizeof *window.rows));
    window.room = jw_alloc(jw_mul_bytes(most_of_bin + 1, sizeof *window.room));
    window.next = jw_alloc(jw_mul_bytes((size_t)explorer->bin_count + 1, sizeof *window.next));
    const bool has_memory = window.rows != NULL && window.room != NULL && window.next != NULL;
    if (has_memory)
        write_windows(explorer, &window, &columns);
    jw_free(window.rows);
    jw_free(window.room);
    jw_free(window.next);

    const bool is_put = has_memory && put_columns(explorer, &columns);
    export_column_free(&columns.bins);
    export_column_free(&columns.samples);
    export_column_free(&columns.contexts);
    export_column_free(&columns.counts);
    export_column_free(&columns.values);
    return is_put;
}
