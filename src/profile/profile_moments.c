/* Samples one by one. Context: tool. */
#include "profile/profile_moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/profile_packed.h"

#define NOT_TOLD "[not told: too many contexts]"

struct profile_moments {
    bool is_out_of_memory;
    uint64_t base_unix_ns;

    struct profile_moment *open; /* those that are not settled */
    size_t open_count, open_capacity;
    struct profile_packed packed; /* the others */
    struct profile_moment *read;  /* room for those of a block */

    struct profile_column columns[PROFILE_COLUMNS_LIMIT];
    uint32_t column_count;

    char **texts; /* 0: none */
    size_t text_count, text_capacity;
    struct jw_map text_of;

    uint32_t (*contexts)[PROFILE_COLUMNS_LIMIT];
    size_t context_count, context_capacity;
    struct jw_map context_of;

    struct profile_gap *gaps;
    size_t gap_count, gap_capacity;

    uint32_t lanes[PROFILE_LANES_LIMIT]; /* texts */
    uint32_t lane_count;
    struct profile_span *spans;
    size_t span_count, span_capacity;
    uint32_t spans_of[PROFILE_LANES_LIMIT];
    uint64_t left_out_spans;

    uint64_t mistimed;
    uint64_t untold;
};

/* Room for one more element; false and marked: memory is out. */
static bool reserve(struct profile_moments *moments, void **array, size_t *capacity, size_t count,
                    size_t element_bytes)
{
    const size_t wanted = *capacity == 0 ? 16 : *capacity * 2;

    if (moments->is_out_of_memory)
        return false;
    if (count < *capacity)
        return true;

    void *grown = jw_realloc(*array, jw_mul_bytes(wanted, element_bytes));
    if (grown == NULL) {
        moments->is_out_of_memory = true;
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

#define OPEN_KEPT ((size_t)65536) /* room for so many stays for the next ones */

/* Back to the zeroes of the first day, but for room. */
static void forget(struct profile_moments *moments)
{
    for (size_t i = 0; i < moments->text_count; i++)
        jw_free(moments->texts[i]);
    profile_packed_clear(&moments->packed);
    jw_free(moments->texts);
    jw_free(moments->contexts);
    jw_free(moments->gaps);
    jw_free(moments->spans);
    jw_map_close(&moments->text_of);
    jw_map_close(&moments->context_of);
    *moments = (struct profile_moments){
        .open = moments->open, .open_capacity = moments->open_capacity, .read = moments->read};
}

void profile_moments_clear(struct profile_moments *moments)
{
    forget(moments);
    profile_moments_text(moments, "");
}

void profile_moments_close(struct profile_moments *moments)
{
    if (moments == NULL)
        return;
    forget(moments);
    jw_free(moments->open);
    jw_free(moments->read);
    jw_free(moments);
}

struct profile_moments *profile_moments_open(struct jw_error *err)
{
    struct profile_moments *moments = jw_alloc(sizeof *moments);

    if (moments != NULL) {
        profile_moments_clear(moments);
        moments->read = jw_alloc(PROFILE_PACKED_ROWS * sizeof *moments->read);
    }
    if (moments != NULL && !moments->is_out_of_memory && moments->read != NULL)
        return moments;
    profile_moments_close(moments);
    jw_error_set(err, "out of memory; free some and try again");
    return NULL;
}

void profile_moments_set_base(struct profile_moments *moments, uint64_t unix_ns)
{
    moments->base_unix_ns = unix_ns;
}

uint64_t profile_moments_base_unix_ns(const struct profile_moments *moments)
{
    return moments->base_unix_ns;
}

static uint32_t add_text(struct profile_moments *moments, const char *text, uint64_t *known)
{
    const size_t length = strlen(text);
    void *texts = moments->texts;

    if (!reserve(moments, &texts, &moments->text_capacity, moments->text_count,
                 sizeof *moments->texts))
        return 0;
    moments->texts = texts;

    char *copy = jw_alloc(length + 1);
    if (copy == NULL) {
        moments->is_out_of_memory = true;
        return 0;
    }
    memcpy(copy, text, length + 1);
    moments->texts[moments->text_count++] = copy;
    *known = moments->text_count;
    return (uint32_t)moments->text_count - 1;
}

uint32_t profile_moments_text(struct profile_moments *moments, const char *text)
{
    if (text == NULL)
        return 0;
    /* The first text is that of the number 0, which is none: an empty value has a number of its own. */
    if (moments->text_count == 0) {
        uint64_t ignored;

        return add_text(moments, "", &ignored);
    }

    uint64_t *known = jw_map_put(&moments->text_of, text, strlen(text));
    if (known == NULL) {
        moments->is_out_of_memory = true;
        return 0;
    }
    return *known != 0 ? (uint32_t)*known - 1 : add_text(moments, text, known);
}

uint32_t profile_moments_column(struct profile_moments *moments, enum profile_column_kind kind,
                                const char *name)
{
    for (uint32_t i = 0; i < moments->column_count; i++) {
        if (moments->columns[i].kind == kind && strcmp(moments->columns[i].name, name) == 0)
            return i;
    }
    if (moments->column_count == PROFILE_COLUMNS_LIMIT)
        return PROFILE_COLUMNS_LIMIT;

    const uint32_t text = profile_moments_text(moments, name);
    moments->columns[moments->column_count] = (struct profile_column){
        .kind = kind,
        .name = text == 0 ? "" : moments->texts[text],
    };
    return moments->column_count++;
}

uint32_t profile_moments_context(struct profile_moments *moments,
                                 const uint32_t texts[PROFILE_COLUMNS_LIMIT])
{
    const size_t bytes = PROFILE_COLUMNS_LIMIT * sizeof *texts;
    const uint64_t held = jw_map_get(&moments->context_of, texts, bytes);
    uint32_t rest[PROFILE_COLUMNS_LIMIT];

    if (held != 0)
        return (uint32_t)held - 1;
    memcpy(rest, texts, bytes);
    if (moments->context_count >= PROFILE_CONTEXTS_LIMIT - 1) {
        moments->untold++;
        for (uint32_t i = 0; i < PROFILE_COLUMNS_LIMIT; i++)
            rest[i] = i < moments->column_count ? profile_moments_text(moments, NOT_TOLD) : 0;
    }

    uint64_t *known = jw_map_put(&moments->context_of, rest, bytes);
    void *contexts = moments->contexts;
    if (known == NULL) {
        moments->is_out_of_memory = true;
        return 0;
    }
    if (*known != 0)
        return (uint32_t)*known - 1;
    if (!reserve(moments, &contexts, &moments->context_capacity, moments->context_count,
                 sizeof *moments->contexts))
        return 0;
    moments->contexts = contexts;
    memcpy(moments->contexts[moments->context_count++], rest, bytes);
    *known = moments->context_count;
    return (uint32_t)moments->context_count - 1;
}

/* The place of the next one; NULL and marked: memory is out. */
static struct profile_moment *next_open(struct profile_moments *moments)
{
    void *open = moments->open;

    if (moments->open_count == moments->open_capacity) {
        if (!reserve(moments, &open, &moments->open_capacity, moments->open_count,
                     sizeof *moments->open))
            return NULL;
        moments->open = open;
    }
    return &moments->open[moments->open_count++];
}

void profile_moments_add(struct profile_moments *moments, int64_t at_ms, uint32_t stack,
                         uint32_t context, uint64_t value)
{
    const bool is_mistimed = at_ms < INT32_MIN || at_ms > INT32_MAX;
    struct profile_moment *moment = next_open(moments);

    if (moment == NULL)
        return;
    moments->mistimed += is_mistimed;
    *moment = (struct profile_moment){
        .at_ms = is_mistimed ? 0 : (int32_t)at_ms,
        .stack = stack,
        .context = context,
        .value = value,
    };
}

void profile_moments_settle(struct profile_moments *moments,
                            const struct profile_moments_stacks *of)
{
    for (size_t i = 0; of != NULL && i < moments->open_count; i++) {
        struct profile_moment *moment = &moments->open[i];
        const bool is_near = (moment->stack & PROFILE_MOMENT_NEAR) != 0;
        const profile_stack_id *stacks = is_near ? of->near : of->stacks;
        const uint32_t number = moment->stack & ~PROFILE_MOMENT_NEAR;

        moment->stack =
            number < (is_near ? of->near_count : of->count) ? stacks[number] : PROFILE_STACK_NONE;
    }
    if (!profile_packed_add(&moments->packed, moments->open, moments->open_count))
        moments->is_out_of_memory = true;
    moments->open_count = 0;
    if (moments->open_capacity > OPEN_KEPT) {
        jw_free(moments->open);
        moments->open = NULL;
        moments->open_capacity = 0;
    }
}

void profile_moments_gap(struct profile_moments *moments, const struct profile_gap *gap)
{
    void *gaps = moments->gaps;

    if (!reserve(moments, &gaps, &moments->gap_capacity, moments->gap_count, sizeof *moments->gaps))
        return;
    moments->gaps = gaps;
    moments->gaps[moments->gap_count++] = *gap;
}

/* ---- lanes ---- */

uint32_t profile_moments_lane(struct profile_moments *moments, const char *name)
{
    const uint32_t text = profile_moments_text(moments, name);
    uint32_t lane = 0;

    while (lane < moments->lane_count && moments->lanes[lane] != text)
        lane++;
    if (lane == moments->lane_count && lane < PROFILE_LANES_LIMIT)
        moments->lanes[moments->lane_count++] = text;
    return lane;
}

void profile_moments_span(struct profile_moments *moments, const struct profile_span *span)
{
    void *spans = moments->spans;
    const int64_t most_us = (int64_t)INT32_MAX * 1000;

    if (moments->span_count >= PROFILE_SPANS_LIMIT || span->lane >= PROFILE_LANES_LIMIT ||
        moments->spans_of[span->lane] >= PROFILE_SPANS_LIMIT / 2 || span->begin_us > most_us ||
        span->begin_us < -most_us) {
        moments->left_out_spans++;
        return;
    }
    if (!reserve(moments, &spans, &moments->span_capacity, moments->span_count,
                 sizeof *moments->spans))
        return;
    moments->spans = spans;
    moments->spans[moments->span_count++] = *span;
    moments->spans_of[span->lane]++;
}

static int compare_spans(const void *left, const void *right)
{
    const struct profile_span *a = left;
    const struct profile_span *b = right;

    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->begin_us != b->begin_us)
        return a->begin_us < b->begin_us ? -1 : 1;
    return a->length_us < b->length_us ? -1 : a->length_us > b->length_us;
}

/* ---- appending ---- */

/* What numbers of `from` are in `into`; of a context also how many of its values are left out, and whether it is not told. */
struct mapped {
    uint32_t *texts;
    uint32_t lanes[PROFILE_LANES_LIMIT];
    struct mapped_context {
        uint32_t number;
        uint32_t left_out;
        bool is_untold;
    } * contexts;
};

static void map_context(struct profile_moments *into, const struct profile_moments *from,
                        const struct mapped *mapped, uint32_t number,
                        const uint32_t columns[PROFILE_COLUMNS_LIMIT])
{
    struct mapped_context *context = &mapped->contexts[number];
    uint32_t texts[PROFILE_COLUMNS_LIMIT] = {0};
    const uint64_t untold = into->untold;

    for (uint32_t i = 0; i < from->column_count; i++) {
        const uint32_t text = from->contexts[number][i];

        if (columns[i] < PROFILE_COLUMNS_LIMIT)
            texts[columns[i]] = mapped->texts[text];
        else
            context->left_out += text != 0;
    }
    context->number = profile_moments_context(into, texts);
    context->is_untold = into->untold != untold;
    into->untold = untold; /* counted by samples */
}

/* In the order in which they were met, which is that of their numbers. False: no memory. */
static bool map_numbers(struct profile_moments *into, const struct profile_moments *from,
                        struct mapped *mapped)
{
    uint32_t columns[PROFILE_COLUMNS_LIMIT];

    mapped->texts = jw_alloc(jw_mul_bytes(from->text_count + 1, sizeof *mapped->texts));
    mapped->contexts = jw_alloc(jw_mul_bytes(from->context_count + 1, sizeof *mapped->contexts));
    if (mapped->texts == NULL || mapped->contexts == NULL)
        return false;
    for (size_t i = 1; i < from->text_count; i++)
        mapped->texts[i] = profile_moments_text(into, from->texts[i]);
    for (uint32_t i = 0; i < from->column_count; i++)
        columns[i] = profile_moments_column(into, from->columns[i].kind, from->columns[i].name);
    for (uint32_t i = 0; i < from->lane_count; i++)
        mapped->lanes[i] = profile_moments_lane(into, from->texts[from->lanes[i]]);
    for (uint32_t i = 0; i < from->context_count; i++)
        map_context(into, from, mapped, i, columns);
    return true;
}

/* What of samples is not told, and how many values are left out, where a context is not what it was. */
static uint64_t count_losses(struct profile_moments *into, const struct profile_moments *from,
                             const struct mapped *mapped)
{
    struct profile_moments_place place = PROFILE_MOMENTS_ALL;
    const struct profile_moment *row;
    uint64_t count, left_out = 0;

    while ((row = profile_moments_next(from, &place, &count)) != NULL) {
        for (uint64_t i = 0; i < count; i++) {
            into->untold += mapped->contexts[row[i].context].is_untold;
            left_out += mapped->contexts[row[i].context].left_out;
        }
    }
    return left_out;
}

/* What numbers of contexts become, for blocks to go by; NULL: what they are. False: no memory. */
static bool table_of_contexts(struct profile_moments *into, const struct profile_moments *from,
                              const struct mapped *mapped, uint32_t **out)
{
    bool is_same = true;

    *out = NULL;
    for (uint32_t i = 0; i < from->context_count; i++)
        is_same &= mapped->contexts[i].number == i;
    if (is_same)
        return true;

    uint32_t *table = jw_alloc(jw_mul_bytes(from->context_count, sizeof *table));
    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < from->context_count; i++)
        table[i] = mapped->contexts[i].number;
    *out = table;
    return profile_packed_keep(&into->packed, table);
}

static uint64_t append(struct profile_moments *into, struct profile_moments *from,
                       const struct mapped *mapped)
{
    bool has_losses = false;
    uint64_t left_out = 0;
    uint32_t *contexts;

    for (uint32_t i = 0; i < from->context_count; i++)
        has_losses |= mapped->contexts[i].is_untold || mapped->contexts[i].left_out > 0;
    if (has_losses)
        left_out = count_losses(into, from, mapped);
    if (!table_of_contexts(into, from, mapped, &contexts) ||
        !profile_packed_move(&into->packed, &from->packed, contexts))
        into->is_out_of_memory = true;
    for (size_t i = 0; i < from->gap_count; i++)
        profile_moments_gap(into, &from->gaps[i]);
    for (size_t i = 0; i < from->span_count; i++) {
        struct profile_span span = from->spans[i];

        span.lane = mapped->lanes[span.lane];
        span.text = mapped->texts[span.text];
        profile_moments_span(into, &span);
    }
    into->left_out_spans += from->left_out_spans;
    into->mistimed += from->mistimed;
    into->untold += from->untold;
    return left_out;
}

uint64_t profile_moments_append(struct profile_moments *into, struct profile_moments *from)
{
    struct mapped mapped = {.texts = NULL};
    uint64_t left_out = 0;

    profile_moments_settle(into, NULL);
    profile_moments_settle(from, NULL);
    if (!from->is_out_of_memory && map_numbers(into, from, &mapped))
        left_out = append(into, from, &mapped);
    else
        into->is_out_of_memory = true;
    jw_free(mapped.texts);
    jw_free(mapped.contexts);

    const uint64_t base_unix_ns = from->base_unix_ns;
    profile_moments_clear(from);
    from->base_unix_ns = base_unix_ns;
    return left_out;
}

size_t profile_moments_block_count(const struct profile_moments *moments)
{
    return moments->packed.block_count;
}

void profile_moments_restack(struct profile_moments *moments, size_t first_block, size_t end_block,
                             const profile_stack_id *stacks, uint32_t stack_count)
{
    profile_packed_restack(&moments->packed, first_block, end_block, stacks, stack_count);
}

bool profile_moments_keep_stacks(struct profile_moments *moments, profile_stack_id *stacks)
{
    const bool is_kept = profile_packed_keep(&moments->packed, stacks);

    moments->is_out_of_memory |= !is_kept;
    return is_kept;
}

/* ---- reading ---- */

uint32_t profile_moments_lane_count(const struct profile_moments *moments)
{
    return moments->lane_count;
}

const char *profile_moments_lane_name(const struct profile_moments *moments, uint32_t lane)
{
    return profile_moments_text_at(moments, moments->lanes[lane]);
}

const struct profile_span *profile_moments_spans(const struct profile_moments *moments,
                                                 size_t *count)
{
    if (moments->span_count > 0)
        qsort(moments->spans, moments->span_count, sizeof *moments->spans, compare_spans);
    *count = moments->span_count;
    return moments->spans;
}

uint64_t profile_moments_left_out_spans(const struct profile_moments *moments)
{
    return moments->left_out_spans;
}

bool profile_moments_failed(const struct profile_moments *moments)
{
    return moments->is_out_of_memory;
}

uint64_t profile_moments_count(const struct profile_moments *moments)
{
    return moments->packed.count + moments->open_count;
}

const struct profile_moment *profile_moments_next(const struct profile_moments *moments,
                                                  struct profile_moments_place *place,
                                                  uint64_t *count)
{
    const struct profile_packed *packed = &moments->packed;

    *count = 0;
    while (place->block < packed->block_count &&
           !profile_packed_is_within(packed, place->block, place->from_ms, place->to_ms))
        place->block++;
    if (place->block < packed->block_count) {
        *count = profile_packed_read(packed, place->block++, moments->read);
        return moments->read;
    }
    if (place->block++ > packed->block_count)
        return NULL;
    *count = moments->open_count;
    return *count == 0 ? NULL : moments->open;
}

uint32_t profile_moments_column_count(const struct profile_moments *moments)
{
    return moments->column_count;
}

const struct profile_column *profile_moments_column_at(const struct profile_moments *moments,
                                                       uint32_t number)
{
    return &moments->columns[number];
}

uint32_t profile_moments_context_count(const struct profile_moments *moments)
{
    return (uint32_t)moments->context_count;
}

const uint32_t *profile_moments_context_at(const struct profile_moments *moments, uint32_t number)
{
    return moments->contexts[number];
}

uint32_t profile_moments_text_count(const struct profile_moments *moments)
{
    return (uint32_t)moments->text_count;
}

const char *profile_moments_text_at(const struct profile_moments *moments, uint32_t number)
{
    return moments->texts[number];
}

const struct profile_gap *profile_moments_gaps(const struct profile_moments *moments, size_t *count)
{
    *count = moments->gap_count;
    return moments->gaps;
}

uint64_t profile_moments_mistimed(const struct profile_moments *moments)
{
    return moments->mistimed;
}

uint64_t profile_moments_untold(const struct profile_moments *moments)
{
    return moments->untold;
}
