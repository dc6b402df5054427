/* Rows of a table by what samples were taken for: sums, order. Context: tool. */
#include "cli/cli_rows_internal.h"

#include <stdlib.h>
#include <string.h>

static void add_sum(struct cli_sum *to, const struct cli_sum *from)
{
    for (int clock = 0; clock < CLI_CLOCK_LIMIT; clock++) {
        to->samples[clock] += from->samples[clock];
        to->weight[clock] += from->weight[clock];
    }
    to->requests += from->requests;
}

uint64_t cli_sum_weight(const struct cli_rows *rows, const struct cli_sum *sum)
{
    return sum->weight[rows->clock];
}

void cli_rows_close(struct cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t n = 0; n < rows->bys->count; n++)
            jw_free((void *)(uintptr_t)rows->items[i].values[n]);
        jw_free(rows->items[i].hottest);
    }
    jw_free(rows->items);
    jw_map_close(&rows->row_of);
}

static char *copy_text(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = jw_alloc(bytes);

    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

/* What the values of a row say of it. */
static enum cli_row_kind kind_of(const struct cli_rows *rows, const char *const *values,
                                 bool has_context)
{
    bool asks_for_contexts = false;

    for (size_t i = 0; i < rows->bys->count; i++) {
        if (rows->bys->items[i].kind == CLI_BY_THREAD)
            continue;
        asks_for_contexts = true;
        if (values[i] != NULL)
            return CLI_ROW_VALUE;
    }
    return !asks_for_contexts ? CLI_ROW_VALUE : has_context ? CLI_ROW_NO_VALUE : CLI_ROW_NO_CONTEXT;
}

static struct cli_row *new_row(struct cli_rows *rows, enum cli_row_kind kind,
                               const char *const *values)
{
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        void *items = jw_realloc(rows->items, jw_mul_bytes(capacity, sizeof *rows->items));

        if (items == NULL)
            return NULL;
        rows->items = items;
        rows->capacity = capacity;
    }

    struct cli_row *row = &rows->items[rows->count];
    *row = (struct cli_row){.kind = kind};
    rows->count++;
    for (size_t i = 0; i < rows->bys->count; i++) {
        row->values[i] = values[i] == NULL ? NULL : copy_text(values[i]);
        if (values[i] != NULL && row->values[i] == NULL)
            return NULL;
    }
    return row;
}

/* The row of these values, added on first sight; NULL: no memory. */
static struct cli_row *row_of(struct cli_rows *rows, const char *const *values, bool has_context)
{
    const enum cli_row_kind kind = kind_of(rows, values, has_context);
    size_t bytes = 1;

    for (size_t i = 0; i < rows->bys->count; i++)
        bytes += 2 + (values[i] == NULL ? 0 : strlen(values[i]));

    char *key = jw_alloc(bytes);
    if (key == NULL)
        return NULL;
    key[0] = (char)kind;
    for (size_t i = 0, at = 1; i < rows->bys->count; i++) {
        const size_t length = values[i] == NULL ? 0 : strlen(values[i]);

        key[at++] = values[i] == NULL ? '-' : '+';
        if (values[i] != NULL)
            memcpy(key + at, values[i], length);
        at += length;
        key[at++] = '\0';
    }

    uint64_t *known = jw_map_put(&rows->row_of, key, bytes);
    jw_free(key);
    if (known == NULL)
        return NULL;
    if (*known != 0)
        return &rows->items[*known - 1];
    *known = rows->count + 1;
    return new_row(rows, kind, values);
}

/* The frame with the most of this box, whose children are what ran. */
static bool find_hottest(const struct cli_rows *rows, struct cli_row *row,
                         const struct profile *profile, uint32_t box)
{
    uint32_t count;
    const struct profile_node *nodes = profile_nodes(profile, &count);
    uint32_t best = box;
    uint64_t weight = nodes[box].self_weight; /* of stacks without frames */
    char title[1024];

    for (uint32_t i = box + 1; i < nodes[box].end; i = nodes[i].end) {
        if (nodes[i].total_weight > weight) {
            best = i;
            weight = nodes[i].total_weight;
        }
    }
    if (weight <= row->hottest_weight && row->hottest != NULL)
        return true;
    if (best == box)
        memcpy(title, "[no frames]", sizeof "[no frames]");
    else
        (void)profile_title(profile_name_of(profile, nodes[best].name), &rows->view, title,
                            sizeof title);
    jw_free(row->hottest);
    row->hottest = copy_text(title);
    row->hottest_weight = weight;
    return row->hottest != NULL;
}

static bool add_box(struct cli_rows *rows, const struct profile *profile, uint32_t box,
                    enum cli_clock clock)
{
    const char *values[PROFILE_ROOTS_LIMIT] = {NULL};
    uint32_t count;
    const struct profile_node *nodes = profile_nodes(profile, &count);
    bool has_context = true;

    for (uint32_t at = box; at != 0; at = nodes[at].parent) {
        const struct profile_name *name = profile_name_of(profile, nodes[at].name);

        if (name->kind != PROFILE_NAME_MISSING)
            values[nodes[at].depth - 1] = name->method;
        else if (strcmp(name->method, CLI_NO_CONTEXT) == 0)
            has_context = false;
    }

    struct cli_row *row = row_of(rows, values, has_context);
    if (row == NULL)
        return false;
    row->sum.samples[clock] += nodes[box].total_samples;
    row->sum.weight[clock] += nodes[box].total_weight;
    return clock != rows->clock || find_hottest(rows, row, profile, box);
}

bool cli_rows_add(struct cli_rows *rows, const struct profile *profile, enum cli_clock clock)
{
    uint32_t count;
    const struct profile_node *nodes = profile_nodes(profile, &count);

    rows->has_clock[clock] = true;
    rows->is_timed[clock] = strcmp(profile_about_of(profile)->unit, "ns") == 0;
    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i].depth == rows->bys->count && !add_box(rows, profile, i, clock))
            return false;
    }
    return true;
}

bool cli_rows_add_requests(struct cli_rows *rows, const struct cli_requests *requests)
{
    const struct cli_request *request;

    rows->has_requests = true;
    for (size_t n = 0; (request = cli_requests_at(requests, n)) != NULL; n++) {
        const char *values[PROFILE_ROOTS_LIMIT] = {NULL};

        if (!request->is_wished || request->count == 0)
            continue;
        for (size_t i = 0; i < rows->bys->count; i++)
            values[i] = rows->bys->items[i].kind == CLI_BY_ENDPOINT ? request->endpoint
                                                                    : request->operation;

        struct cli_row *row = row_of(rows, values, true);
        if (row == NULL)
            return false;
        row->sum.requests += request->count;
    }
    return true;
}

/* ---- order ---- */

struct order {
    enum cli_sort sort;
    enum cli_clock clock;
    size_t columns;
};

static uint64_t key_of(const struct order *order, const struct cli_row *row)
{
    switch (order->sort) {
    case CLI_SORT_CPU:
        return row->sum.weight[CLI_CLOCK_CPU];
    case CLI_SORT_WALL:
        return row->sum.weight[CLI_CLOCK_WALL];
    case CLI_SORT_SAMPLES:
        return row->sum.samples[order->clock];
    case CLI_SORT_REQUESTS:
        return row->sum.requests;
    case CLI_SORT_NAME:
        break;
    }
    return 0;
}

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    const struct cli_row *a = left;
    const struct cli_row *b = right;
    const uint64_t a_key = key_of(order, a);
    const uint64_t b_key = key_of(order, b);

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->is_narrow != b->is_narrow)
        return a->is_narrow ? 1 : -1;
    if (a_key != b_key)
        return a_key > b_key ? -1 : 1;
    for (size_t i = 0; i < order->columns; i++) {
        const int names = strcmp(a->values[i] == NULL ? "" : a->values[i],
                                 b->values[i] == NULL ? "" : b->values[i]);

        if (names != 0)
            return names;
        if ((a->values[i] == NULL) != (b->values[i] == NULL))
            return a->values[i] == NULL ? -1 : 1;
    }
    return 0;
}

void cli_rows_order(struct cli_rows *rows, enum cli_sort sort, size_t top, uint64_t least_ppm)
{
    struct order order = {sort, rows->clock, rows->bys->count};
    size_t wide_count = 0;

    rows->total = rows->rest = (struct cli_sum){.requests = 0};
    for (size_t i = 0; i < rows->count; i++)
        add_sum(&rows->total, &rows->items[i].sum);
    const double least = (double)cli_sum_weight(rows, &rows->total) * (double)least_ppm / 1e6;
    for (size_t i = 0; i < rows->count; i++) {
        struct cli_row *row = &rows->items[i];

        row->is_narrow = (double)cli_sum_weight(rows, &row->sum) < least;
        wide_count += row->kind == CLI_ROW_VALUE && !row->is_narrow;
    }
    if (rows->count > 0)
        qsort_r(rows->items, rows->count, sizeof *rows->items, compare_rows, &order);
    rows->value_count = 0;
    for (size_t i = 0; i < rows->count; i++)
        rows->value_count += rows->items[i].kind == CLI_ROW_VALUE;
    rows->shown = top == 0 || top > wide_count ? wide_count : top;
    for (size_t i = rows->shown; i < rows->value_count; i++)
        add_sum(&rows->rest, &rows->items[i].sum);
}

void cli_row_lack(const struct cli_rows *rows, const struct cli_row *row, size_t column, char *text,
                  size_t room)
{
    const struct cli_by *by = &rows->bys->items[column];
    size_t first = 0;

    /* Where something is there, or said already, what lacks is an empty cell. */
    while (first < rows->bys->count && rows->bys->items[first].kind == CLI_BY_THREAD)
        first++;
    if (row->kind == CLI_ROW_NO_CONTEXT)
        snprintf(text, room, "%s", column == first ? "[no context]" : "");
    else if (by->kind == CLI_BY_OPERATION && rows->bys->count > 1)
        snprintf(text, room, "%s", "");
    else
        snprintf(text, room, "[no %s]", by->name);
}
