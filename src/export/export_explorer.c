/*
 * The data of the explorer page: the tree of the flame graph, packed, and the samples with their time as columns.
 * Context: tool.
 *
 *     c-tree      pool and lines of export_page_data.c
 *     c-stacks    line of each stack, the most frequent one first: its rank is what samples name
 *     c-bins      samples of each bin of time
 *     c-samples   rank of the stack, samples of a bin in the order of (rank, context): the first as it is, then the
 *                 difference from the one before
 *     c-contexts  rank of the context of each sample
 *     c-values    value of each sample divided by a scale; not there where all are equal
 *     c-counts    of a page that was made to fit: samples of the same bin, stack and context are one row, which stands
 *                 for so many; their values are added up (and not written where all are equal)
 *     c-labels    for each context, the most frequent one first: number of its value in each column, 0: none
 *     c-gaps      from, to (bins), lost signals, signals
 *     c-spans     what stands in lanes, of the first event alone: lane, text, begin (us since the first bin's, of each lane the
 *                 difference from the one before), length (us)
 * Values of columns, bins and scale stand in the JSON object: `explorer`.
 * Of several events the first is as above; each other one has its own elements, whose names begin with "e1-", "e2-" and
 * so on (c-e1-samples, e1-meta), and the same bins. Which there are tells `explorer.events` of the first.
 */
#include <stdlib.h>
#include <string.h>

#include "export/export_explorer_internal.h"

#define BINS_MOST ((uint64_t)200000)

/* Lines of all stacks, since each has many samples. False: no memory. */
static bool find_lines(struct explorer *explorer)
{
    const struct profile *profile = explorer->page->job->profile;
    const uint32_t count = profile_stack_count(profile);

    explorer->line_of = jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *explorer->line_of));
    if (explorer->line_of == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = profile_stack_node(profile, i);

        explorer->line_of[i] =
            node == PROFILE_STACK_NONE ? PROFILE_STACK_NONE : explorer->page->line_of[node];
    }
    explorer->line_of_count = count;
    return true;
}

static uint64_t common_divisor(uint64_t one, uint64_t other)
{
    while (other != 0) {
        const uint64_t rest = one % other;

        one = other;
        other = rest;
    }
    return one;
}

/* ---- bins and ranks ---- */

/* The finest of the usual widths that leaves at most so many of them. */
static uint32_t bin_width_ms(uint64_t span_ms, uint64_t bins_most)
{
    static const uint32_t widths[] = {1,    5,     20,    100,   500,    1000,   2000,
                                      5000, 10000, 30000, 60000, 300000, 600000, 3600000};
    size_t step = 0;

    while (step + 1 < JW_COUNT_OF(widths) && span_ms / widths[step] >= bins_most)
        step++;
    return widths[step];
}

void export_explorer_extent(struct export_extent *extent, const struct profile *profile,
                            const struct profile_moments *moments)
{
    const uint64_t duration_ms = profile_about_of(profile)->duration_ns / 1000000;
    struct profile_moments_place place = PROFILE_MOMENTS_ALL;
    const struct profile_moment *row;
    uint64_t count;

    if (duration_ms < INT32_MAX && (int64_t)duration_ms - 1 > extent->last_ms)
        extent->last_ms = (int64_t)duration_ms - 1;
    while ((row = profile_moments_next(moments, &place, &count)) != NULL) {
        for (uint64_t i = 0; i < count; i++) {
            const int64_t at_ms = row[i].at_ms;

            /* Nearly all lie between those before them. */
            if ((at_ms >= extent->first_ms && at_ms <= extent->last_ms) ||
                profile_stack_node(profile, row[i].stack) == PROFILE_STACK_NONE)
                continue;
            extent->first_ms = at_ms < extent->first_ms ? at_ms : extent->first_ms;
            extent->last_ms = at_ms > extent->last_ms ? at_ms : extent->last_ms;
        }
    }
}

/* Room for what is counted: samples by line, by context and by bin. */
static bool open_counts(struct explorer *explorer)
{
    const size_t contexts = profile_moments_context_count(explorer->moments);

    explorer->stack_counts = jw_alloc(
        jw_mul_bytes((size_t)explorer->page->line_count + 1, sizeof *explorer->stack_counts));
    explorer->context_counts =
        jw_alloc(jw_mul_bytes(contexts + 1, sizeof *explorer->context_counts));
    explorer->bin_rows =
        jw_alloc(jw_mul_bytes((size_t)explorer->bin_count + 1, sizeof *explorer->bin_rows));
    return explorer->stack_counts != NULL && explorer->context_counts != NULL &&
           explorer->bin_rows != NULL;
}

static void count_moment(struct explorer *explorer, const struct profile_moment *moment,
                         uint64_t *value)
{
    const uint32_t line = explorer_line_of(explorer, moment);
    const uint64_t own = moment->value;

    if (line == PROFILE_STACK_NONE)
        return;
    explorer->row_count++;
    explorer->stack_counts[line].count++;
    explorer->context_counts[moment->context].count++;
    explorer->bin_rows[explorer_bin_of(explorer, moment->at_ms)]++;
    if (own == *value && explorer->row_count > 1) /* nothing new */
        return;
    explorer->is_constant &= explorer->row_count == 1;
    explorer->scale = common_divisor(explorer->scale, own);
    *value = own;
}

/* Bins, and how many samples each has, each line and each context; what their values have in common. False: no memory. */
static bool survey(struct explorer *explorer, const struct export_extent *extent)
{
    const struct export_fit *fit = explorer->page->job->fit;
    struct profile_moments_place place = PROFILE_MOMENTS_ALL;
    const struct profile_moment *row;
    uint64_t count, value = 0;

    explorer->is_constant = true;
    explorer->first_ms = (int32_t)extent->first_ms;
    explorer->bin_ms = bin_width_ms((uint64_t)(extent->last_ms - extent->first_ms),
                                    fit == NULL ? BINS_MOST : fit->bins_most);
    explorer->bin_count =
        (uint32_t)((uint64_t)(extent->last_ms - extent->first_ms) / explorer->bin_ms) + 1;
    if (!find_lines(explorer) || !open_counts(explorer))
        return false;
    while ((row = profile_moments_next(explorer->moments, &place, &count)) != NULL)
        for (uint64_t i = 0; i < count; i++)
            count_moment(explorer, &row[i], &value);
    explorer->scale = explorer->scale == 0 ? 1 : explorer->scale;
    explorer->is_constant &= value != 0;
    return true;
}

static int compare_ranked(const void *left, const void *right)
{
    const struct export_ranked *a = left;
    const struct export_ranked *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Those that are used, the most frequent first, into `rank` by number, and their numbers by rank. NULL: no memory. */
static uint32_t *rank_by_count(struct export_ranked *counts, uint32_t count, uint32_t *rank,
                               uint32_t *used)
{
    uint32_t *numbers = jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *numbers));

    if (numbers == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        counts[i].number = i;
    qsort(counts, count, sizeof *counts, compare_ranked);
    for (*used = 0; *used < count && counts[*used].count > 0; ++*used) {
        numbers[*used] = counts[*used].number;
        rank[counts[*used].number] = *used;
    }
    return numbers;
}

/* Column of states; PROFILE_COLUMNS_LIMIT: there is none. */
static uint32_t state_column(const struct explorer *explorer)
{
    const uint32_t columns = profile_moments_column_count(explorer->moments);

    for (uint32_t n = 0; n < columns; n++)
        if (profile_moments_column_at(explorer->moments, n)->kind == PROFILE_COLUMN_STATE)
            return n;
    return PROFILE_COLUMNS_LIMIT;
}

/* Which of the folded contexts a context becomes; those of states beyond the limit are the last. */
static uint32_t folded_slot(struct explorer *explorer, uint32_t context, uint32_t column)
{
    const uint32_t state = column == PROFILE_COLUMNS_LIMIT
                               ? 0
                               : profile_moments_context_at(explorer->moments, context)[column];
    uint32_t slot = 0;

    while (slot < explorer->folded_count && explorer->folded_states[slot] != state)
        slot++;
    if (slot == FOLDED_STATES)
        return FOLDED_STATES - 1;
    if (slot == explorer->folded_count)
        explorer->folded_states[explorer->folded_count++] = state;
    return slot;
}

static bool is_folding(const struct export_fit *fit, uint32_t context_count)
{
    return fit != NULL && fit->contexts_most != 0 &&
           context_count > fit->contexts_most + FOLDED_STATES;
}

bool export_explorer_folds(const struct export_job *job, const struct profile *profile,
                           const struct profile_moments *moments, bool *has_memory)
{
    const uint32_t contexts = profile_moments_context_count(moments);
    struct profile_moments_place place = PROFILE_MOMENTS_ALL;
    const struct profile_moment *row;
    uint32_t used = 0;
    uint64_t count;

    if (!is_folding(job->fit, contexts))
        return false;
    bool *is_used = jw_alloc(contexts);
    *has_memory &= is_used != NULL;
    while (is_used != NULL && (row = profile_moments_next(moments, &place, &count)) != NULL) {
        for (uint64_t i = 0; i < count; i++) {
            if (is_used[row[i].context] ||
                profile_stack_node(profile, row[i].stack) == PROFILE_STACK_NONE)
                continue;
            is_used[row[i].context] = true;
            used++;
        }
    }
    jw_free(is_used);
    return is_folding(job->fit, used);
}

/* Contexts beyond the most that are kept are one of each state; they are the last. */
static void fold_contexts(struct explorer *explorer, const struct export_ranked *counts,
                          uint32_t *ranks, uint32_t *numbers)
{
    const struct export_fit *fit = explorer->page->job->fit;
    const uint32_t column = state_column(explorer);

    if (!is_folding(fit, explorer->context_count))
        return;
    for (uint32_t i = fit->contexts_most; i < explorer->context_count; i++) {
        const uint32_t slot = folded_slot(explorer, counts[i].number, column);

        ranks[counts[i].number] = fit->contexts_most + slot;
        explorer->folded_samples += counts[i].count;
    }
    for (uint32_t slot = 0; slot < explorer->folded_count; slot++)
        numbers[fit->contexts_most + slot] = FOLDED_CONTEXT + slot;
    explorer->context_count = fit->contexts_most + explorer->folded_count;
}

/* Ranks of stacks or of contexts, and their numbers in that order; NULL: no memory. */
static uint32_t *rank_stacks(struct explorer *explorer)
{
    const uint32_t count = explorer->page->line_count;

    explorer->stack_rank = jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *explorer->stack_rank));
    return explorer->stack_rank == NULL
               ? NULL
               : rank_by_count(explorer->stack_counts, count, explorer->stack_rank,
                               &explorer->stack_count);
}

static uint32_t *rank_contexts(struct explorer *explorer)
{
    const uint32_t count = profile_moments_context_count(explorer->moments);

    explorer->context_rank =
        jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *explorer->context_rank));
    if (explorer->context_rank == NULL)
        return NULL;

    uint32_t *numbers = rank_by_count(explorer->context_counts, count, explorer->context_rank,
                                      &explorer->context_count);
    if (numbers != NULL)
        fold_contexts(explorer, explorer->context_counts, explorer->context_rank, numbers);
    return numbers;
}

static bool put_stacks(const struct explorer *explorer, const uint32_t *lines)
{
    struct export_column column = {.bytes = NULL};

    for (uint32_t i = 0; i < explorer->stack_count; i++)
        export_column_number(&column, lines[i]);
    return export_column_put(explorer->page->job, "stacks", &column);
}

/* ---- contexts ---- */

/* Number of a text in a column, given on first sight; 0: none. */
static uint32_t label_of(struct explorer *explorer, uint32_t column, uint32_t text, uint32_t *used)
{
    const uint32_t texts = profile_moments_text_count(explorer->moments);
    uint32_t *number = &explorer->value_of[(size_t)column * texts + text];

    if (text != 0 && *number == 0)
        *number = ++*used;
    return *number;
}

/* Numbers the values of each column in the order in which the contexts have them; what stands for all folded ones is the last. */
static bool put_labels(struct explorer *explorer, const uint32_t *contexts)
{
    const uint32_t columns = profile_moments_column_count(explorer->moments);
    const uint32_t texts = profile_moments_text_count(explorer->moments);
    const uint32_t states = state_column(explorer);
    struct export_column column = {.bytes = NULL};
    uint32_t used[PROFILE_COLUMNS_LIMIT] = {0};

    explorer->value_of = jw_alloc(jw_mul_bytes((size_t)texts * (columns + 1), sizeof(uint32_t)));
    if (explorer->value_of == NULL)
        return false;
    for (uint32_t i = 0; i < explorer->context_count; i++) {
        const bool is_folded = contexts[i] >= FOLDED_CONTEXT;
        const uint32_t *row =
            is_folded ? NULL : profile_moments_context_at(explorer->moments, contexts[i]);

        for (uint32_t n = 0; n < columns; n++) {
            if (!is_folded || n == states)
                export_column_number(
                    &column,
                    label_of(explorer, n,
                             is_folded ? explorer->folded_states[contexts[i] - FOLDED_CONTEXT]
                                       : row[n],
                             &used[n]));
            else
                export_column_number(&column, explorer->folded_number[n] = used[n] + 1);
        }
    }
    return export_column_put(explorer->page->job, "labels", &column);
}

static bool put_gaps(const struct explorer *explorer)
{
    struct export_column column = {.bytes = NULL};
    size_t count;
    const struct profile_gap *gaps = profile_moments_gaps(explorer->moments, &count);

    for (size_t i = 0; i < count; i++) {
        const int32_t from =
            gaps[i].from_ms < explorer->first_ms ? explorer->first_ms : gaps[i].from_ms;
        const int32_t to = gaps[i].to_ms < from ? from : gaps[i].to_ms;

        export_column_number(&column, explorer_bin_of(explorer, from));
        export_column_number(&column, explorer_bin_of(explorer, to));
        export_column_number(&column, gaps[i].lost);
        export_column_number(&column, gaps[i].signals);
    }
    return export_column_put(explorer->page->job, "gaps", &column);
}

static bool put_spans(struct explorer *explorer)
{
    struct export_column column = {.bytes = NULL};
    size_t count;
    const struct profile_span *spans = profile_moments_spans(explorer->moments, &count);
    uint32_t lane = UINT32_MAX;
    int64_t before_us = 0;

    for (size_t i = 0; i < count; i++) {
        const int64_t since_us = spans[i].begin_us - (int64_t)explorer->first_ms * 1000;
        const int64_t begin_us = since_us < 0 ? 0 : since_us;

        if (!export_explorer_has_place(explorer, &spans[i]))
            continue;
        before_us = spans[i].lane == lane ? before_us : 0;
        lane = spans[i].lane;
        export_column_number(&column, lane);
        export_column_number(&column, spans[i].text);
        export_column_number(&column, (uint64_t)(begin_us - before_us));
        export_column_number(&column, spans[i].length_us - (uint64_t)(begin_us - since_us));
        before_us = begin_us;
        explorer->span_count++;
    }
    return export_column_put(explorer->page->job, "spans", &column);
}

/* ---- all of it ---- */

static bool append(void *context, const void *bytes, size_t length_bytes, struct jw_error *err)
{
    struct export_column *column = context;

    (void)err;
    export_column_bytes(column, bytes, length_bytes);
    return !column->has_failed;
}

/* The lines of the flame graph, as a column; also fills page->line_of. */
static bool put_tree(struct export_page *page)
{
    const struct export_job *job = page->job;
    struct export_column column = {.bytes = NULL};
    struct export_out *out = jw_alloc(sizeof *out);
    struct jw_error err = {{0}};
    struct export_job inner = *job;
    bool is_put = out != NULL;

    if (is_put) {
        out->write = append;
        out->context = &column;
        out->err = &err;
        inner.out = out;
        page->job = &inner;
        export_put(out, "\n");
        is_put = export_page_lines(page) && export_finish(out);
        page->job = job;
    }
    export_out_free(out);
    if (is_put)
        return export_column_put(job, "tree", &column);
    export_column_free(&column);
    return false;
}

bool export_explorer_tree(const struct export_job *job)
{
    struct export_page page;
    const bool is_put = export_page_open(&page, job, false) && put_tree(&page);

    if (is_put)
        export_page_meta(&page);
    export_page_close(&page);
    return is_put;
}

static bool put_columns(struct explorer *explorer)
{
    uint32_t *const lines = rank_stacks(explorer);
    uint32_t *const contexts = lines == NULL ? NULL : rank_contexts(explorer);
    const bool is_put = contexts != NULL && put_stacks(explorer, lines) &&
                        export_explorer_rows(explorer) && put_labels(explorer, contexts) &&
                        put_gaps(explorer) &&
                        (explorer->page->job->prefix[0] != '\0' || put_spans(explorer));

    jw_free(lines);
    jw_free(contexts);
    return is_put;
}

bool export_explorer_data(const struct export_job *job, const struct export_extent *extent)
{
    struct export_page page;
    struct explorer explorer = {.moments = job->options->moments, .page = &page};
    bool is_put = export_page_open(&page, job, true) && put_tree(&page);

    is_put = is_put && survey(&explorer, extent) && put_columns(&explorer);
    if (is_put) {
        page.put_more = export_explorer_meta;
        page.more = &explorer;
        export_page_meta(&page);
    }
    export_page_close(&page);
    jw_free(explorer.line_of);
    jw_free(explorer.stack_counts);
    jw_free(explorer.context_counts);
    jw_free(explorer.stack_rank);
    jw_free(explorer.context_rank);
    jw_free(explorer.bin_rows);
    jw_free(explorer.value_of);
    return is_put;
}
