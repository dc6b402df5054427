/*
 * Samples of an explorer page in its order: by bin of time, and in it by stack, context and value. Context: tool.
 *
 * There are millions of them, nearly in the order of time already, and some in each bin: they are put into their bins in one pass, and
 * each bin is sorted by itself.
 */
#include <string.h>

#include "export/export_explorer_internal.h"

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

/* Rows that differ in nothing that is told become one. */
static void merge_rows(struct explorer *explorer)
{
    uint64_t kept = 0;

    for (uint32_t bin = 0; bin < explorer->bin_count; bin++) {
        const uint64_t first = kept;

        for (uint64_t i = explorer->bin_first[bin]; i < explorer->bin_first[bin + 1]; i++) {
            const struct row *row = &explorer->rows[i];
            struct row *last = kept > first ? &explorer->rows[kept - 1] : NULL;

            if (last != NULL && last->stack == row->stack && last->context == row->context) {
                last->value += row->value;
                last->count += row->count;
            } else {
                explorer->rows[kept++] = *row;
            }
        }
        explorer->bin_first[bin] = first;
    }
    explorer->bin_first[explorer->bin_count] = explorer->row_count = kept;
}

/* Where each bin begins, of how many samples it has. The most that one has. */
static uint64_t begin_bins(struct explorer *explorer, uint64_t *next)
{
    uint64_t most = 0;

    for (uint32_t bin = 0; bin < explorer->bin_count; bin++) {
        const uint64_t count = explorer->bin_first[bin + 1];

        most = count > most ? count : most;
        next[bin] = explorer->bin_first[bin];
        explorer->bin_first[bin + 1] += explorer->bin_first[bin];
    }
    return most;
}

static void fill_bins(struct explorer *explorer, uint64_t *next)
{
    const struct profile_moment *row;
    uint64_t count;

    for (uint64_t at = 0; (row = profile_moments_row(explorer->moments, at, &count)) != NULL;
         at += count) {
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t line = explorer_line_of(explorer, &row[i]);
            const uint64_t value = profile_moment_value(&row[i]);

            if (line == PROFILE_STACK_NONE)
                continue;
            explorer->rows[next[explorer_bin_of(explorer, row[i].at_ms)]++] = (struct row){
                .stack = explorer->stack_rank[line],
                .context = explorer->context_rank[row[i].context],
                .value = value == explorer->scale ? 1 : value / explorer->scale,
                .count = 1,
            };
        }
    }
}

bool export_explorer_sort(struct explorer *explorer)
{
    uint64_t *next = jw_alloc(jw_mul_bytes((size_t)explorer->bin_count + 1, sizeof *next));
    const uint64_t most = next == NULL ? 0 : begin_bins(explorer, next);
    struct row *room = jw_alloc(jw_mul_bytes(most + 1, sizeof *room));

    explorer->rows = jw_alloc(jw_mul_bytes(explorer->row_count + 1, sizeof *explorer->rows));
    const bool has_memory = next != NULL && room != NULL && explorer->rows != NULL;
    if (has_memory)
        fill_bins(explorer, next);
    for (uint32_t bin = 0; has_memory && bin < explorer->bin_count; bin++)
        sort_bin(explorer->rows + explorer->bin_first[bin],
                 explorer->bin_first[bin + 1] - explorer->bin_first[bin], room);
    jw_free(next);
    jw_free(room);
    if (has_memory && explorer->page->job->fit != NULL)
        merge_rows(explorer);
    return has_memory;
}
