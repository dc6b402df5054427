/* The record of a context: what is one context, what is none, and what is not taken for one. */
#include "generation/context_record.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/counters.h"

#define HEAD_BYTES offsetof(struct context_record, values)

static struct dict_table *contexts;

static void open_contexts(void)
{
    const struct dict_config config = {"contexts", 100, 1 << 16};
    struct jw_error err = {0};

    contexts = dict_open(&config, &err);
    cr_assert(contexts != NULL, "%s", err.message);
}

static void close_contexts(void)
{
    dict_close(contexts);
}

static struct context_record made(void)
{
    struct context_record record = {.span_id = 0x1122334455667788, .root_span_id = 77};

    memcpy(record.trace_id, "0123456789abcdef", sizeof record.trace_id);
    return record;
}

static void expect_same(dict_id id, const struct context_record *wanted)
{
    struct context_record record;

    memset(&record, 0x5a, sizeof record);
    cr_assert(context_record_get(contexts, id, &record));
    cr_assert(eq(int, memcmp(&record, wanted, sizeof record), 0));
}

static size_t interned_bytes(dict_id id)
{
    size_t length_bytes;

    (void)dict_text(contexts, id, &length_bytes);
    return length_bytes;
}

TestSuite(context_record, .init = open_contexts, .fini = close_contexts, .timeout = 1800);

Test(context_record, comes_back_as_it_was)
{
    struct context_record record = made();

    record.values[0] = 5;
    record.values[3] = 9;
    expect_same(context_record_intern(contexts, &record), &record);
}

Test(context_record, a_virtual_thread_alone_is_one_and_its_name_comes_back)
{
    const struct context_record record = {.virtual_thread = 7, .virtual_name = 3};
    const struct context_record other = {.virtual_thread = 8, .virtual_name = 3};
    const dict_id id = context_record_intern(contexts, &record);

    expect_same(id, &record);
    cr_assert(ne(u32, context_record_intern(contexts, &other), id));
    cr_assert(eq(sz, interned_bytes(id), HEAD_BYTES));
}

Test(context_record, all_sixteen_values_come_back)
{
    struct context_record record = made();

    for (uint32_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++)
        record.values[i] = 1000 + i;
    const dict_id id = context_record_intern(contexts, &record);
    expect_same(id, &record);
    cr_assert(eq(sz, interned_bytes(id), HEAD_BYTES + sizeof record.values));
}

Test(context_record, equal_contexts_are_one_and_others_are_not)
{
    struct context_record record = made();
    const dict_id id = context_record_intern(contexts, &record);
    struct context_record others[6];

    cr_assert(eq(u32, context_record_intern(contexts, &record), id));
    for (size_t i = 0; i < JW_COUNT_OF(others); i++)
        others[i] = record;
    others[0].trace_id[15] ^= 1;
    others[1].span_id++;
    others[2].root_span_id++;
    others[3].values[0] = 1;
    others[4].values[1] = 1;
    others[5].values[CONTEXT_ATTRIBUTES_MAX - 1] = 1;
    for (uint32_t i = 0; i < JW_COUNT_OF(others); i++)
        cr_assert(eq(u32, context_record_intern(contexts, &others[i]), id + 1 + i));
}

Test(context_record, values_that_are_not_there_cost_nothing)
{
    struct context_record record = made();

    cr_assert(eq(sz, interned_bytes(context_record_intern(contexts, &record)), HEAD_BYTES));
    record.values[2] = 7;
    cr_assert(eq(sz, interned_bytes(context_record_intern(contexts, &record)),
                 HEAD_BYTES + 3 * sizeof(dict_id)));
}

Test(context_record, nothing_at_all_is_no_context_and_is_not_counted)
{
    const struct context_record nothing = {0};
    const uint64_t full = jw_counter(JW_COUNT_DICT_FULL);
    struct dict_stats stats;

    cr_assert(eq(u32, context_record_intern(contexts, &nothing), DICT_NONE));
    dict_stats(contexts, &stats);
    cr_assert(eq(u32, stats.key_count, 0));
    cr_assert(eq(u64, stats.refused_count, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_DICT_FULL), full));
}

Test(context_record, each_field_alone_makes_a_context)
{
    struct context_record alone[5];

    memset(alone, 0, sizeof alone);

    alone[0].trace_id[0] = 1;
    alone[1].trace_id[15] = 1;
    alone[2].span_id = 1;
    alone[3].root_span_id = 1;
    alone[4].values[CONTEXT_ATTRIBUTES_MAX - 1] = 1;
    for (size_t i = 0; i < JW_COUNT_OF(alone); i++)
        expect_same(context_record_intern(contexts, &alone[i]), &alone[i]);
}

Test(context_record, a_full_dictionary_refuses_and_counts)
{
    struct context_record record = made();
    struct dict_stats stats;

    for (uint32_t i = 0; i < 110; i++) {
        record.span_id = i + 1;
        const dict_id id = context_record_intern(contexts, &record);
        cr_assert(eq(int, id == DICT_NONE, i >= 100));
    }
    dict_stats(contexts, &stats);
    cr_assert(eq(u64, stats.refused_count, 10));
}

Test(context_record, what_is_no_whole_record_is_none_and_gives_zeroes)
{
    static const unsigned char bytes[sizeof(struct context_record) + 1];
    const struct context_record zero = {0};
    const dict_id wrong[] = {
        DICT_NONE,
        99,
        UINT32_MAX,
        dict_intern(contexts, bytes, 0),
        dict_intern(contexts, bytes, HEAD_BYTES - 1),
        dict_intern(contexts, bytes, sizeof bytes),
    };

    for (size_t i = 0; i < JW_COUNT_OF(wrong); i++) {
        struct context_record record = made();

        cr_assert(not(context_record_get(contexts, wrong[i], &record)));
        cr_assert(eq(int, memcmp(&record, &zero, sizeof record), 0));
    }
}
