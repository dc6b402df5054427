/*
 * Rows of a library: put together here by the dump side, searched here by handlers. Few different
 * rules occur, so a row is four bytes of pc and two of a rule's number.
 */
#include <string.h>

#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "symbols/symbols_internal.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_UNWINDING

#define CHARGE_BYTES   ((uint64_t)128 << 10) /* of memlimit, at a time */
#define RULES_MAX      4096 /* libjvm has about 400; the hash table over them stays in a near cache */
#define RULE_SLOTS     (2 * RULES_MAX)
#define SPAN_MIN_BYTES 8 /* length and id of an entry */

enum { RULE_GAP, RULE_CANNOT };

#define KIND_MASK          0x3u
#define BASE_SHIFT         2
#define FP_PLACE_SHIFT     4
#define RETURN_PLACE_SHIFT 6
#define CFA_LOADED_BIT     (1u << 8)
#define SIGNAL_FRAME_BIT   (1u << 9)
#define RETURN_SIGNED_BIT  (1u << 10)
#define STUB_SHIFT         11
#define KEPT_SHIFT         15
#define KEPT_MASK          0xffu
#define OTHER_SHIFT        23
#define OTHER_MASK         0x1fu

struct symbols_packed symbols_rule_pack(enum symbols_rule_kind kind,
                                        const struct symbols_rule *rule, uint8_t stub_push_byte)
{
    const uint32_t flags =
        (uint32_t)kind | (uint32_t)rule->cfa_base << BASE_SHIFT |
        (uint32_t)rule->fp_place << FP_PLACE_SHIFT |
        (uint32_t)rule->return_place << RETURN_PLACE_SHIFT |
        (rule->is_cfa_loaded ? CFA_LOADED_BIT : 0) |
        (rule->is_signal_frame ? SIGNAL_FRAME_BIT : 0) |
        (rule->is_return_signed ? RETURN_SIGNED_BIT : 0) | (uint32_t)stub_push_byte << STUB_SHIFT |
        (uint32_t)rule->kept_words << KEPT_SHIFT | (uint32_t)rule->other_register << OTHER_SHIFT;

    return (struct symbols_packed){.offsets = (uint64_t)(uint32_t)rule->fp_offset_bytes << 32 |
                                              (uint32_t)rule->cfa_offset_bytes,
                                   .rest =
                                       (uint64_t)flags << 32 | (uint32_t)rule->return_offset_bytes};
}

struct symbols_packed symbols_rule_bare(enum symbols_rule_kind kind)
{
    return (struct symbols_packed){.rest = (uint64_t)kind << 32};
}

enum symbols_rule_kind symbols_rule_unpack(struct symbols_packed packed, struct symbols_rule *rule,
                                           uint8_t *stub_push_byte)
{
    const uint32_t flags = (uint32_t)(packed.rest >> 32);

    *rule = (struct symbols_rule){
        .cfa_offset_bytes = (int32_t)(uint32_t)packed.offsets,
        .fp_offset_bytes = (int32_t)(uint32_t)(packed.offsets >> 32),
        .return_offset_bytes = (int32_t)(uint32_t)packed.rest,
        .kept_words = flags >> KEPT_SHIFT & KEPT_MASK,
        .cfa_base = flags >> BASE_SHIFT & 3,
        .other_register = flags >> OTHER_SHIFT & OTHER_MASK,
        .fp_place = flags >> FP_PLACE_SHIFT & 3,
        .return_place = flags >> RETURN_PLACE_SHIFT & 3,
        .is_cfa_loaded = (flags & CFA_LOADED_BIT) != 0,
        .is_signal_frame = (flags & SIGNAL_FRAME_BIT) != 0,
        .is_return_signed = (flags & RETURN_SIGNED_BIT) != 0,
    };
    *stub_push_byte = (uint8_t)(flags >> STUB_SHIFT & 15);
    return (enum symbols_rule_kind)(flags & KIND_MASK);
}

static bool is_same_rule(struct symbols_packed a, struct symbols_packed b)
{
    return a.offsets == b.offsets && a.rest == b.rest;
}

/* Number of a rule, added on first sight; a file with more rules than any real one gets CANNOT. */
static uint32_t rule_number(struct symbols_builder *builder, struct symbols_packed rule)
{
    if (is_same_rule(builder->rules[builder->last_rule], rule))
        return builder->last_rule;

    uint64_t slot = jw_hash_word(rule.offsets + rule.rest * 31) % RULE_SLOTS;
    /* Ends: at most half of the slots are taken. */
    while (builder->rule_slots[slot] != 0) {
        const uint32_t number = builder->rule_slots[slot] - 1u;

        if (is_same_rule(builder->rules[number], rule))
            return builder->last_rule = number;
        slot = (slot + 1) % RULE_SLOTS;
    }
    if (builder->rule_count == RULES_MAX)
        return RULE_CANNOT;
    builder->last_rule = builder->rule_count++;
    builder->rules[builder->last_rule] = rule;
    builder->rule_slots[slot] = (uint16_t)(builder->last_rule + 1);
    return builder->last_rule;
}

/* Pays for what the builder is about to touch, the keys of all its functions included. */
static bool charge(struct symbols_builder *builder)
{
    const uint64_t needed_bytes =
        builder->rule_memory.capacity_bytes +
        (uint64_t)builder->row_count * (sizeof(uint32_t) + sizeof(uint16_t)) +
        (uint64_t)builder->span_count *
            (sizeof(struct symbols_span) + 2 * sizeof(struct symbols_key)) +
        CHARGE_BYTES; /* ends of pages, and what comes until the next charge */

    while (!builder->is_refused && builder->charged_bytes < needed_bytes) {
        builder->is_refused = !jw_memory_charge(JW_MEMORY_UNWINDING, CHARGE_BYTES);
        builder->charged_bytes += builder->is_refused ? 0 : CHARGE_BYTES;
    }
    return !builder->is_refused;
}

bool symbols_builder_open(struct symbols_builder *builder, uint64_t text_bytes,
                          uint64_t section_bytes, struct jw_error *err)
{
    /* Each entry has a head that is longer than its first row; each further row a byte of program. */
    const uint64_t row_limit = section_bytes;
    const uint64_t span_limit = section_bytes / SPAN_MIN_BYTES + 1;
    const uint64_t rules_bytes = RULES_MAX * sizeof(struct symbols_packed);

    *builder = (struct symbols_builder){.row_limit = (uint32_t)row_limit,
                                        .span_limit = (uint32_t)span_limit};
    if (text_bytes > UINT32_MAX) {
        jw_error_set(err, "more than 4 GB of code");
        return false;
    }
    if (!jw_arena_open(&builder->row_memory, row_limit * (sizeof(uint32_t) + sizeof(uint16_t)),
                       "rows of a library", err) ||
        !jw_arena_open(&builder->span_memory,
                       span_limit * (sizeof(struct symbols_span) + 2 * sizeof(struct symbols_key)),
                       "functions of a library", err) ||
        !jw_arena_open(&builder->rule_memory, rules_bytes + RULE_SLOTS * sizeof(uint16_t),
                       "rules of a library", err)) {
        symbols_builder_close(builder);
        return false;
    }
    builder->row_pcs = (uint32_t *)(void *)builder->row_memory.bytes;
    builder->row_rules = (uint16_t *)(void *)(builder->row_pcs + row_limit);
    builder->spans = (struct symbols_span *)(void *)builder->span_memory.bytes;
    builder->rules = (struct symbols_packed *)(void *)builder->rule_memory.bytes;
    builder->rule_slots = (uint16_t *)(void *)(builder->rule_memory.bytes + rules_bytes);
    if (!charge(builder)) {
        jw_error_set(err, "memlimit leaves no room for rows; try a larger one");
        jw_count(JW_COUNT_ROWS_REFUSED);
        symbols_builder_close(builder);
        return false;
    }
    builder->rules[RULE_GAP] = symbols_rule_bare(SYMBOLS_RULE_GAP);
    builder->rule_count = 1;
    (void)rule_number(builder, symbols_rule_bare(SYMBOLS_RULE_CANNOT));
    return true;
}

void symbols_builder_close(struct symbols_builder *builder)
{
    jw_arena_close(&builder->row_memory);
    jw_arena_close(&builder->span_memory);
    jw_arena_close(&builder->rule_memory);
    jw_memory_credit(JW_MEMORY_UNWINDING, builder->charged_bytes);
    builder->charged_bytes = 0;
}

void symbols_builder_begin(struct symbols_builder *builder, uint32_t start, uint32_t end)
{
    if (charge(builder) && JW_INVARIANT(builder->span_count < builder->span_limit))
        builder->spans[builder->span_count++] =
            (struct symbols_span){.start = start, .end = end, .first_row = builder->row_count};
}

void symbols_builder_add(struct symbols_builder *builder, uint32_t text_offset,
                         struct symbols_packed rule)
{
    if (!charge(builder))
        return;

    struct symbols_span *span = &builder->spans[builder->span_count - 1];
    const uint32_t number = rule_number(builder, rule);

    if (span->row_count > 0 && builder->row_rules[builder->row_count - 1] == number)
        return;
    if (!JW_INVARIANT(builder->row_count < builder->row_limit))
        return;
    builder->row_pcs[builder->row_count] = text_offset;
    builder->row_rules[builder->row_count] = (uint16_t)number;
    builder->row_count++;
    span->row_count++;
}

void symbols_builder_refuse(struct symbols_builder *builder)
{
    if (builder->is_refused)
        return;

    struct symbols_span *span = &builder->spans[builder->span_count - 1];
    builder->row_count = span->first_row;
    span->row_count = 0;
    symbols_builder_add(builder, span->start, symbols_rule_bare(SYMBOLS_RULE_CANNOT));
}

/* The final rows; counted in a first pass, with no memory yet, and copied in a second. */
struct symbols_output {
    uint32_t *pcs; /* NULL: count only */
    uint16_t *rules;
    uint32_t count, last_rule;
};

static void put(struct symbols_output *output, uint32_t text_offset, uint32_t rule)
{
    if (output->count > 0 && output->last_rule == rule)
        return;
    if (output->pcs != NULL) {
        output->pcs[output->count] = text_offset;
        output->rules[output->count] = (uint16_t)rule;
    }
    output->last_rule = rule;
    output->count++;
}

/*
 * Puts the rows of all functions in the order of their code. Where two overlap, which only damage
 * brings about, the first has the code until it ends. What lies between functions is a gap.
 */
static void put_all(const struct symbols_builder *builder, const struct symbols_key *order,
                    uint32_t text_bytes, struct symbols_output *output)
{
    uint32_t done = 0; /* the text up to here has its rows */

    for (uint32_t i = 0; i < builder->span_count; i++) {
        const struct symbols_span *span = &builder->spans[order[i].value];

        if (span->start < done)
            continue;
        if (span->start > done)
            put(output, done, RULE_GAP);
        for (uint32_t row = span->first_row; row < span->first_row + span->row_count; row++)
            put(output, builder->row_pcs[row], builder->row_rules[row]);
        done = span->end;
    }
    if (done < text_bytes)
        put(output, done, RULE_GAP);
}

/* For each bucket the row that holds at its first byte, so that a search begins near its end. */
static void fill_buckets(const struct symbols_output *output, uint32_t *bucket_rows,
                         uint64_t bucket_count)
{
    uint32_t row = 0;

    for (uint64_t bucket = 0; bucket < bucket_count; bucket++) {
        const uint64_t first_byte = bucket << SYMBOLS_BUCKET_SHIFT;

        while (row + 1 < output->count && output->pcs[row + 1] <= first_byte)
            row++;
        bucket_rows[bucket] = row;
    }
}

/* One allocation for all: rows, rules, pcs, buckets, numbers of rules. */
static struct symbols_rows *pack(const struct symbols_builder *builder,
                                 const struct symbols_key *order, uint64_t text_bytes,
                                 struct jw_error *err)
{
    struct symbols_output counted = {0}, output = {0};

    put_all(builder, order, (uint32_t)text_bytes, &counted);
    const uint64_t bucket_count = (text_bytes >> SYMBOLS_BUCKET_SHIFT) + 2;
    const uint64_t rules_bytes = builder->rule_count * sizeof(struct symbols_packed);
    const uint64_t size_bytes = sizeof(struct symbols_rows) + rules_bytes +
                                bucket_count * sizeof(uint32_t) +
                                counted.count * (sizeof(uint32_t) + sizeof(uint16_t));
    struct symbols_rows *rows = jw_alloc(size_bytes);

    if (rows == NULL) {
        jw_count(JW_COUNT_ROWS_REFUSED);
        jw_error_set(err, "out of memory for %llu bytes of rows", (unsigned long long)size_bytes);
        return NULL;
    }

    struct symbols_packed *rules = (struct symbols_packed *)(void *)(rows + 1);
    uint32_t *bucket_rows = (uint32_t *)(void *)(rules + builder->rule_count);
    memcpy(rules, builder->rules, rules_bytes);
    output.pcs = bucket_rows + bucket_count;
    output.rules = (uint16_t *)(void *)(output.pcs + counted.count);
    put_all(builder, order, (uint32_t)text_bytes, &output);
    fill_buckets(&output, bucket_rows, bucket_count);
    *rows = (struct symbols_rows){.text_bytes = text_bytes,
                                  .row_count = output.count,
                                  .rule_count = builder->rule_count,
                                  .size_bytes = size_bytes,
                                  .rules = rules,
                                  .row_pcs = output.pcs,
                                  .bucket_rows = bucket_rows,
                                  .row_rules = output.rules};
    return rows;
}

struct symbols_rows *symbols_builder_finish(struct symbols_builder *builder, uint64_t text_bytes,
                                            struct jw_error *err)
{
    struct symbols_key *keys = (struct symbols_key *)(void *)(builder->spans + builder->span_limit);

    if (builder->is_refused) {
        jw_count(JW_COUNT_ROWS_REFUSED);
        jw_error_set(err, "memlimit leaves no room for rows; try a larger one");
        return NULL;
    }
    for (uint32_t i = 0; i < builder->span_count; i++)
        keys[i] = (struct symbols_key){.text_offset = builder->spans[i].start, .value = i};
    return pack(builder, symbols_sort(keys, keys + builder->span_limit, builder->span_count),
                text_bytes, err);
}

struct symbols_packed symbols_rows_find(const struct symbols_rows *rows, uint64_t text_offset)
{
    if (text_offset >= rows->text_bytes)
        return rows->rules[RULE_GAP];

    const uint64_t bucket = text_offset >> SYMBOLS_BUCKET_SHIFT;
    uint32_t low = rows->bucket_rows[bucket];
    uint32_t high = rows->bucket_rows[bucket + 1];

    /* Bounded by the bits of a row number: the half that holds the answer shrinks each time. */
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;

        if (rows->row_pcs[middle] <= text_offset)
            low = middle;
        else
            high = middle - 1;
    }
    return rows->rules[rows->row_rules[low]];
}
