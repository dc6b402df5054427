/* Functions come in any order, and overlap in damaged files: each byte has the rule of the first function that has it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "rows_check.h"

#define TEXT_BYTES    0x8000u
#define SECTION_BYTES 0x10000u
#define FUNCTIONS_MAX 2000u
#define CROWD         200u /* in one bucket, which is more than are sorted in place */

TestSuite(symbols_rows, .timeout = 1800);

struct function {
    uint32_t start, length_bytes;
    int32_t cfa_offset_bytes; /* of its first half; the second has 8 more */
};

static uint64_t random_state;

static uint32_t random_number(uint32_t limit)
{
    random_state += 0x9e3779b97f4a7c15ull;
    return (uint32_t)(jw_hash_word(random_state) % limit);
}

static struct symbols_packed rule_of(int32_t cfa_offset_bytes)
{
    const struct symbols_rule rule = {.cfa_offset_bytes = cfa_offset_bytes};

    return symbols_rule_pack(SYMBOLS_RULE_PLAIN, &rule, 0);
}

static struct symbols_rows *build(const struct function *functions, uint32_t count)
{
    static struct symbols_rule_table table;
    struct symbols_builder builder;
    struct jw_error err = {0};

    cr_assert(symbols_builder_open(&builder, &table, TEXT_BYTES, SECTION_BYTES, &err), "%s",
              err.message);
    for (uint32_t i = 0; i < count; i++) {
        const struct function *function = &functions[i];

        symbols_builder_begin(&builder, function->start, function->start + function->length_bytes);
        symbols_builder_add(&builder, function->start, rule_of(function->cfa_offset_bytes));
        if (function->length_bytes > 1)
            symbols_builder_add(&builder, function->start + function->length_bytes / 2,
                                rule_of(function->cfa_offset_bytes + 8));
    }
    struct symbols_rows *rows = symbols_builder_finish(&builder, TEXT_BYTES, &err);

    cr_assert(rows != NULL, "%s", err.message);
    symbols_builder_close(&builder);
    return rows;
}

static int by_start(const void *a, const void *b)
{
    const struct function *first = a, *second = b;

    /* Stable by the order in which they were given, which their addresses cannot tell: by what they say, which rises. */
    if (first->start != second->start)
        return first->start < second->start ? -1 : 1;
    return first->cfa_offset_bytes < second->cfa_offset_bytes ? -1 : 1;
}

/* What each byte's rule is: of sorted functions the next one that begins behind the end of the one before. */
static void expect(const struct function *functions, uint32_t count)
{
    static struct symbols_packed expected[TEXT_BYTES];
    static struct function sorted[FUNCTIONS_MAX];
    const struct symbols_packed gap = symbols_rule_bare(SYMBOLS_RULE_GAP);
    struct symbols_rows *rows = build(functions, count);
    uint32_t done = 0;

    cr_assert(rows_wrong(rows) == NULL, "%s", rows_wrong(rows));
    for (uint32_t at = 0; at < TEXT_BYTES; at++)
        expected[at] = gap;
    memcpy(sorted, functions, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_start);
    for (uint32_t i = 0; i < count; i++) {
        const struct function *function = &sorted[i];

        if (function->start < done)
            continue;
        done = function->start + function->length_bytes;
        for (uint32_t at = 0; at < function->length_bytes; at++) {
            const bool is_second = function->length_bytes > 1 && at >= function->length_bytes / 2;

            expected[function->start + at] =
                rule_of(function->cfa_offset_bytes + (is_second ? 8 : 0));
        }
    }
    for (uint32_t at = 0; at < TEXT_BYTES; at++) {
        const struct symbols_packed found = symbols_rows_find(rows, at);

        cr_assert(found.offsets == expected[at].offsets && found.rest == expected[at].rest,
                  "byte %x of %u functions", at, count);
    }
    symbols_rows_free(rows);
}

Test(symbols_rows, functions_in_strands_that_rise)
{
    static struct function functions[FUNCTIONS_MAX];
    const uint32_t count = TEXT_BYTES / 48;

    for (random_state = 1; random_state < 20; random_state++) {
        uint32_t made = 0;

        /* Three strands, the functions of which lie among those of the others. */
        for (uint32_t strand = 0; strand < 3; strand++)
            for (uint32_t i = strand; i < count; i += 3)
                functions[made++] =
                    (struct function){i * 48, random_number(48) + 1, (int32_t)made % 500 * 16};
        expect(functions, made);
    }
}

Test(symbols_rows, functions_in_any_order_that_overlap)
{
    static struct function functions[FUNCTIONS_MAX];

    for (uint64_t round = 0; round < 40; round++) {
        const uint32_t count = random_number(round % 2 == 0 ? 20 : 600);

        random_state = round << 32;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t start = random_number(TEXT_BYTES - 300);

            functions[i] = (struct function){start, random_number(300) + 1, (int32_t)i * 16};
        }
        expect(functions, count);
    }
}

Test(symbols_rows, more_functions_in_a_bucket_than_any_file_has)
{
    static struct function functions[FUNCTIONS_MAX];

    for (uint32_t i = 0; i < CROWD; i++)
        functions[i] = (struct function){0x1000 + 2 * (CROWD - i), 2, (int32_t)i * 16};
    expect(functions, CROWD);
    /* Several begin at the same byte. */
    for (uint32_t i = 0; i < 2 * CROWD; i++)
        functions[i] = (struct function){0x2000 + random_number(CROWD), 1, (int32_t)i * 16};
    expect(functions, 2 * CROWD);
}

Test(symbols_rows, large_functions_among_small_ones)
{
    static struct symbols_rule_table table;
    struct symbols_builder builder;
    struct jw_error err = {0};
    const uint32_t text_bytes = 0x40000;

    cr_assert(symbols_builder_open(&builder, &table, text_bytes, SECTION_BYTES, &err));
    symbols_builder_begin(&builder, 0x30000, 0x30010);
    symbols_builder_add(&builder, 0x30000, rule_of(32));
    symbols_builder_begin(&builder, 0x10000, 0x2fff0);
    symbols_builder_add(&builder, 0x10000, rule_of(16));
    symbols_builder_add(&builder, 0x2ff00, rule_of(24));
    symbols_builder_begin(&builder, 0x100, 0x110);
    symbols_builder_begin(&builder, 0x200, 0x210); /* the one before said nothing */
    symbols_builder_add(&builder, 0x200, rule_of(8));
    struct symbols_rows *rows = symbols_builder_finish(&builder, text_bytes, &err);

    cr_assert(rows != NULL && rows_wrong(rows) == NULL);
    cr_assert_eq(rows->function_count, 3);
    cr_assert_eq(symbols_rows_find(rows, 0x105).rest, symbols_rule_bare(SYMBOLS_RULE_GAP).rest);
    cr_assert_eq(symbols_rows_find(rows, 0x20f).offsets, rule_of(8).offsets);
    cr_assert_eq(symbols_rows_find(rows, 0x2feff).offsets, rule_of(16).offsets);
    cr_assert_eq(symbols_rows_find(rows, 0x2ffef).offsets, rule_of(24).offsets);
    cr_assert_eq(symbols_rows_find(rows, 0x2fff0).rest, symbols_rule_bare(SYMBOLS_RULE_GAP).rest);
    cr_assert_eq(symbols_rows_find(rows, 0x3000f).offsets, rule_of(32).offsets);
    symbols_rows_free(rows);
    symbols_builder_close(&builder);
}

Test(symbols_rows, what_a_refused_function_had_said_is_no_function)
{
    static struct symbols_rule_table table;
    struct symbols_builder builder;
    struct jw_error err = {0};

    cr_assert(symbols_builder_open(&builder, &table, TEXT_BYTES, SECTION_BYTES, &err));
    symbols_builder_begin(&builder, 0x1000, 0x1010);
    symbols_builder_add(&builder, 0x1000, rule_of(16));
    symbols_builder_begin(&builder, 0x100, 0x200);
    for (uint32_t i = 0; i < 0x80; i++)
        symbols_builder_add(&builder, 0x100 + i, rule_of(32 + 8 * (int32_t)i));
    symbols_builder_refuse(&builder); /* its rows lie where the sorted functions will */
    struct symbols_rows *rows = symbols_builder_finish(&builder, TEXT_BYTES, &err);

    cr_assert(rows != NULL && rows_wrong(rows) == NULL);
    cr_assert_eq(rows->function_count, 2);
    cr_assert_eq(symbols_rows_find(rows, 0x100).rest, symbols_rule_bare(SYMBOLS_RULE_CANNOT).rest);
    cr_assert_eq(symbols_rows_find(rows, 0x100f).offsets, rule_of(16).offsets);
    symbols_rows_free(rows);
    symbols_builder_close(&builder);
}
