/*
 * Rows of a library: built here in rising order by the dump side, searched here by handlers. Few
 * different rules occur, so a row is four bytes of pc and two of a rule's number.
 */
#include <string.h>

#include "base/hash.h"
#include "symbols/symbols_internal.h"

#define RULES_MAX  16384
#define RULE_SLOTS (2 * RULES_MAX)

enum { RULE_GAP, RULE_CANNOT };

static uint64_t rule_hash(const struct symbols_row_rule *row_rule)
{
    const struct symbols_rule *rule = &row_rule->rule;
    const uint64_t offsets =
        (uint64_t)(uint32_t)rule->cfa_offset_bytes << 32 | (uint32_t)rule->return_offset_bytes;
    const uint64_t rest = (uint64_t)(uint32_t)rule->fp_offset_bytes << 24 |
                          (uint64_t)row_rule->kind << 16 | (uint64_t)row_rule->stub_push_byte << 8 |
                          rule->cfa_base | (uint64_t)rule->fp_place << 1 |
                          (uint64_t)rule->return_place << 3;

    return jw_hash_word(jw_hash_word(offsets) ^ rest);
}

/* By fields: the bytes between them mean nothing. */
static bool is_same_rule(const struct symbols_row_rule *a, const struct symbols_row_rule *b)
{
    return a->kind == b->kind && a->stub_push_byte == b->stub_push_byte &&
           a->rule.cfa_offset_bytes == b->rule.cfa_offset_bytes &&
           a->rule.fp_offset_bytes == b->rule.fp_offset_bytes &&
           a->rule.return_offset_bytes == b->rule.return_offset_bytes &&
           a->rule.cfa_base == b->rule.cfa_base && a->rule.fp_place == b->rule.fp_place &&
           a->rule.return_place == b->rule.return_place &&
           a->rule.is_cfa_loaded == b->rule.is_cfa_loaded &&
           a->rule.is_signal_frame == b->rule.is_signal_frame &&
           a->rule.is_return_signed == b->rule.is_return_signed;
}

/* Number of a rule, added on first sight; a file with more rules than any real one gets CANNOT. */
static uint32_t rule_number(struct symbols_builder *builder, const struct symbols_row_rule *rule)
{
    if (is_same_rule(&builder->rule_table[builder->last_rule], rule))
        return builder->last_rule;

    uint64_t slot = rule_hash(rule) % RULE_SLOTS;
    /* Ends: at most half of the slots are taken. */
    while (builder->rule_slots[slot] != 0) {
        const uint32_t number = builder->rule_slots[slot] - 1u;

        if (is_same_rule(&builder->rule_table[number], rule))
            return builder->last_rule = number;
        slot = (slot + 1) % RULE_SLOTS;
    }
    if (builder->rule_count == RULES_MAX)
        return RULE_CANNOT;
    builder->rule_table[builder->rule_count] = *rule;
    builder->last_rule = builder->rule_count++;
    builder->rule_slots[slot] = (uint16_t)(builder->last_rule + 1);
    return builder->last_rule;
}

bool symbols_builder_open(struct symbols_builder *builder, uint64_t text_bytes,
                          uint64_t section_bytes, struct jw_error *err)
{
    static const struct symbols_row_rule gap = {.kind = SYMBOLS_RULE_GAP};
    static const struct symbols_row_rule cannot = {.kind = SYMBOLS_RULE_CANNOT};
    /* A row comes from at least one byte of a program; a function's head is longer than two rows. */
    const uint64_t row_limit = section_bytes + 2;

    *builder = (struct symbols_builder){.row_limit = (uint32_t)row_limit};
    if (text_bytes > UINT32_MAX) {
        jw_error_set(err, "more than 4 GB of code");
        return false;
    }
    if (!jw_arena_open(&builder->pcs, row_limit * sizeof(uint32_t), "rows of a library", err) ||
        !jw_arena_open(&builder->indices, row_limit * sizeof(uint16_t), "rows of a library", err) ||
        !jw_arena_open(&builder->rules, RULES_MAX * sizeof(struct symbols_row_rule),
                       "rules of a library", err) ||
        !jw_arena_open(&builder->slots, RULE_SLOTS * sizeof(uint16_t), "rules of a library", err)) {
        symbols_builder_close(builder);
        return false;
    }
    builder->row_pcs = (uint32_t *)(void *)builder->pcs.bytes;
    builder->row_rules = (uint16_t *)(void *)builder->indices.bytes;
    builder->rule_table = (struct symbols_row_rule *)(void *)builder->rules.bytes;
    builder->rule_slots = (uint16_t *)(void *)builder->slots.bytes;
    builder->rule_table[0] = gap;
    builder->rule_count = 1;
    (void)rule_number(builder, &cannot);
    symbols_builder_add(builder, 0, &gap);
    return true;
}

void symbols_builder_close(struct symbols_builder *builder)
{
    jw_arena_close(&builder->pcs);
    jw_arena_close(&builder->indices);
    jw_arena_close(&builder->rules);
    jw_arena_close(&builder->slots);
}

void symbols_builder_add(struct symbols_builder *builder, uint32_t text_offset,
                         const struct symbols_row_rule *rule)
{
    const uint32_t number =
        rule->kind == SYMBOLS_RULE_GAP ? (uint32_t)RULE_GAP : rule_number(builder, rule);

    while (builder->row_count > 0 && builder->row_pcs[builder->row_count - 1] >= text_offset)
        builder->row_count--;
    if (builder->row_count > 0 && builder->row_rules[builder->row_count - 1] == number)
        return;
    if (!JW_INVARIANT(builder->row_count < builder->row_limit))
        return;
    builder->row_pcs[builder->row_count] = text_offset;
    builder->row_rules[builder->row_count] = (uint16_t)number;
    builder->row_count++;
}

/* For each bucket the row that holds at its first byte, so that a search begins near its end. */
static void fill_buckets(const struct symbols_builder *builder, uint32_t *bucket_rows,
                         uint64_t bucket_count)
{
    uint32_t row = 0;

    for (uint64_t bucket = 0; bucket < bucket_count; bucket++) {
        const uint64_t first_byte = bucket << SYMBOLS_BUCKET_SHIFT;

        while (row + 1 < builder->row_count && builder->row_pcs[row + 1] <= first_byte)
            row++;
        bucket_rows[bucket] = row;
    }
}

struct symbols_rows *symbols_builder_finish(struct symbols_builder *builder, uint64_t text_vaddr,
                                            uint64_t text_bytes, struct jw_error *err)
{
    const uint64_t bucket_count = (text_bytes >> SYMBOLS_BUCKET_SHIFT) + 2;
    const uint64_t rules_bytes = builder->rule_count * sizeof(struct symbols_row_rule);
    const uint64_t pcs_bytes = builder->row_count * sizeof(uint32_t);
    const uint64_t buckets_bytes = bucket_count * sizeof(uint32_t);
    const uint64_t indices_bytes = builder->row_count * sizeof(uint16_t);
    const uint64_t size_bytes =
        sizeof(struct symbols_rows) + rules_bytes + pcs_bytes + buckets_bytes + indices_bytes;
    struct symbols_rows *rows = jw_alloc(size_bytes);

    if (rows == NULL) {
        jw_error_set(err, "out of memory for %llu bytes of rows", (unsigned long long)size_bytes);
        return NULL;
    }

    unsigned char *at = (unsigned char *)(rows + 1);
    memcpy(at, builder->rule_table, rules_bytes);
    rows->rules = (struct symbols_row_rule *)(void *)at;
    at += rules_bytes;
    memcpy(at, builder->row_pcs, pcs_bytes);
    rows->row_pcs = (uint32_t *)(void *)at;
    at += pcs_bytes;
    fill_buckets(builder, (uint32_t *)(void *)at, bucket_count);
    rows->bucket_rows = (uint32_t *)(void *)at;
    at += buckets_bytes;
    memcpy(at, builder->row_rules, indices_bytes);
    rows->row_rules = (uint16_t *)(void *)at;

    rows->text_vaddr = text_vaddr;
    rows->text_bytes = text_bytes;
    rows->row_count = builder->row_count;
    rows->rule_count = builder->rule_count;
    rows->size_bytes = size_bytes;
    return rows;
}

const struct symbols_row_rule *symbols_rows_find(const struct symbols_rows *rows,
                                                 uint64_t text_offset)
{
    if (text_offset >= rows->text_bytes)
        return &rows->rules[RULE_GAP];

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
    return &rows->rules[rows->row_rules[low]];
}
