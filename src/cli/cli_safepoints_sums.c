/* Figures of safepoints: by nearest rank, by operation, by who was late. Context: tool. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli_safepoints_internal.h"

static int by_size(const void *left, const void *right)
{
    const int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;

    return (one > other) - (one < other);
}

/* So many of 100 are no longer than that: by nearest rank. */
static int64_t rank_of(const int64_t *sorted, size_t count, size_t pct)
{
    return sorted[(count * pct + 99) / 100 - 1];
}

static void sum_times(int64_t *times, size_t count, struct cli_safepoint_times *out)
{
    *out = (struct cli_safepoint_times){.count = count};
    if (count == 0)
        return;
    qsort(times, count, sizeof *times, by_size);
    for (size_t i = 0; i < count; i++)
        out->sum_ns += times[i] < INT64_MAX - out->sum_ns ? times[i] : 0;
    out->median_ns = rank_of(times, count, 50);
    out->high_ns = rank_of(times, count, 90);
    out->highest_ns = rank_of(times, count, 99);
    out->longest_ns = times[count - 1];
}

static void add_operation(struct cli_safepoint_operation *row, const struct cli_safepoint *item)
{
    const int64_t reach_ns = item->reach_ns < 0 ? 0 : item->reach_ns;
    const int64_t inside_ns = item->inside_ns < 0 ? 0 : item->inside_ns;

    row->count++;
    row->reach_ns += reach_ns;
    row->inside_ns += inside_ns;
    if (reach_ns > row->reach_longest_ns)
        row->reach_longest_ns = reach_ns;
    if (inside_ns > row->inside_longest_ns)
        row->inside_longest_ns = inside_ns;
}

static int by_time(const void *left, const void *right)
{
    const struct cli_safepoint_operation *one = left, *other = right;
    const int64_t one_ns = one->reach_ns + one->inside_ns;
    const int64_t other_ns = other->reach_ns + other->inside_ns;

    if (one_ns != other_ns)
        return one_ns < other_ns ? 1 : -1;
    return strcmp(one->name, other->name);
}

bool cli_safepoints_sum(const struct cli_safepoints *all, const struct cli_safepoint_side *side,
                        struct cli_safepoint_sums *out)
{
    int64_t *times = jw_alloc(jw_mul_bytes(side->count + 1, sizeof *times));
    size_t known = 0;

    *out = (struct cli_safepoint_sums){
        .operations = jw_alloc(jw_mul_bytes(all->operation_count + 1, sizeof *out->operations))};
    if (times == NULL || out->operations == NULL) {
        jw_free(times);
        jw_free(out->operations);
        out->operations = NULL;
        return false;
    }
    for (size_t i = 0; i < side->count; i++)
        if (side->items[i].reach_ns >= 0)
            times[known++] = side->items[i].reach_ns;
    sum_times(times, known, &out->reach);
    known = 0;
    for (size_t i = 0; i < side->count; i++)
        if (side->items[i].inside_ns >= 0)
            times[known++] = side->items[i].inside_ns;
    sum_times(times, known, &out->inside);
    jw_free(times);

    for (size_t i = 0; i < all->operation_count; i++)
        out->operations[i].name = all->operations[i];
    for (size_t i = 0; i < side->count; i++)
        add_operation(&out->operations[side->items[i].operation], &side->items[i]);
    qsort(out->operations, all->operation_count, sizeof *out->operations, by_time);
    for (size_t i = 0; i < all->operation_count; i++)
        if (out->operations[i].count > 0)
            out->operations[out->operation_count++] = out->operations[i];
    return true;
}

static int by_reach(const void *left, const void *right)
{
    const struct cli_culprit *one = left, *other = right;

    if (one->reach_ns != other->reach_ns)
        return one->reach_ns < other->reach_ns ? 1 : -1;
    if (strcmp(one->place, other->place) != 0)
        return strcmp(one->place, other->place);
    return (int)one->hint - (int)other->hint;
}

void cli_safepoints_order(struct cli_safepoints *all)
{
    if (all->culprit_count > 1)
        qsort(all->culprits, all->culprit_count, sizeof *all->culprits, by_reach);
}
