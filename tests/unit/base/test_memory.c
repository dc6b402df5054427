/* Shares of memlimit, charges within them, and figures that are true of the memory itself. */
#include "base/memory.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/counters.h"

TestSuite(memory, .timeout = 1800);

static struct jw_memory_figures figures_of(enum jw_memory_part part)
{
    struct jw_memory_figures figures;

    jw_memory_get(part, &figures);
    return figures;
}

Test(memory, the_columns_of_the_table_add_up)
{
    uint64_t smallest = 0, at_default = 0;

    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        smallest += jw_memory_infos[part].smallest_bytes;
        at_default += jw_memory_infos[part].default_bytes;
    }
    cr_assert(eq(u64, smallest, JW_MEMORY_SMALLEST_BYTES));
    cr_assert(eq(u64, at_default, JW_MEMORY_DEFAULT_BYTES));
}

Test(memory, shares_add_up_to_the_limit_and_grow_with_it)
{
    static const uint64_t limits[] = {JW_MEMORY_SMALLEST_BYTES, (uint64_t)41 << 20,
                                      (uint64_t)333333333,      JW_MEMORY_DEFAULT_BYTES,
                                      (uint64_t)3 << 30,        JW_MEMORY_MOST_BYTES};
    uint64_t before[JW_MEMORY_LIMIT] = {0};

    for (size_t i = 0; i < JW_COUNT_OF(limits); i++) {
        uint64_t sum = 0;

        for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
            const uint64_t share = jw_memory_share_of((enum jw_memory_part)part, limits[i]);

            cr_assert(ge(u64, share, before[part]), "%s", jw_memory_infos[part].name);
            before[part] = share;
            sum += share;
        }
        cr_assert(eq(u64, sum, limits[i]));
    }
}

Test(memory, both_ends_of_the_table_are_met)
{
    for (int part = 0; part < JW_MEMORY_LIMIT; part++) {
        const struct jw_memory_info *info = &jw_memory_infos[part];

        cr_assert(eq(u64, jw_memory_share_of((enum jw_memory_part)part, 1), info->smallest_bytes));
        cr_assert(eq(u64, jw_memory_share_of((enum jw_memory_part)part, JW_MEMORY_DEFAULT_BYTES),
                     info->default_bytes),
                  "%s", info->name);
    }
}

Test(memory, nothing_is_limited_before_it_is_shared)
{
    cr_assert(jw_memory_charge(JW_MEMORY_NAMES, UINT64_C(1) << 40));
    cr_assert(eq(u64, jw_memory_room_bytes(), UINT64_MAX));
    cr_assert(eq(u64, jw_memory_limit_of(JW_MEMORY_NAMES, 7), 7));
    jw_memory_credit(JW_MEMORY_NAMES, UINT64_C(1) << 40);
}

Test(memory, each_part_that_keeps_to_its_share_is_refused_beyond_and_counted)
{
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    for (int i = 0; i < JW_MEMORY_LIMIT; i++) {
        const enum jw_memory_part part = (enum jw_memory_part)i;
        const uint64_t share =
            jw_memory_infos[part].smallest_bytes - figures_of(part).charged_bytes;
        const uint64_t refused = jw_counter(JW_COUNT_MEMORY_REFUSED);

        if (jw_memory_infos[part].borrows)
            continue;
        cr_assert(jw_memory_charge(part, share), "%s", jw_memory_infos[part].name);
        cr_assert(not(jw_memory_charge(part, 1)), "%s", jw_memory_infos[part].name);
        cr_assert(eq(u64, jw_counter(JW_COUNT_MEMORY_REFUSED), refused + 1));
        jw_memory_credit(part, 1);
        cr_assert(jw_memory_charge(part, 1));
        jw_memory_credit(part, share);
    }
}

Test(memory, who_borrows_gets_what_the_others_leave_and_no_more)
{
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);

    const uint64_t room = jw_memory_room_bytes();
    cr_assert(room > jw_memory_infos[JW_MEMORY_WRITING].smallest_bytes);
    cr_assert(jw_memory_charge(JW_MEMORY_WRITING, room));
    cr_assert(eq(u64, jw_memory_room_bytes(), 0));
    cr_assert(not(jw_memory_charge(JW_MEMORY_STACKS, 1)));
    cr_assert(not(jw_memory_charge(JW_MEMORY_NAMES, 1)), "the whole is full");
    jw_memory_credit(JW_MEMORY_WRITING, room);
    cr_assert(jw_memory_charge(JW_MEMORY_NAMES, 1));
}

Test(memory, a_refused_block_leaves_the_figures_as_they_were)
{
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);

    const struct jw_memory_figures before = figures_of(JW_MEMORY_NAMES);
    cr_assert(eq(ptr, jw_alloc_for(JW_MEMORY_NAMES, 1 << 20), NULL));
    void *block = jw_alloc_for(JW_MEMORY_NAMES, 600 << 10);
    cr_assert(ne(ptr, block, NULL));
    cr_assert(eq(ptr, jw_realloc_for(JW_MEMORY_NAMES, block, 1 << 20), NULL), "it stays");
    jw_free(block);
    cr_assert(eq(u64, figures_of(JW_MEMORY_NAMES).charged_bytes, before.charged_bytes));
    cr_assert(eq(u64, figures_of(JW_MEMORY_NAMES).used_bytes, before.used_bytes));
}

/* Through all of these sizes, from the one numbered `large_from` on in large pages; what it is charged is given back whole. */
static void resize_through(const size_t *sizes, size_t count, size_t large_from)
{
    unsigned char *block = jw_alloc(sizes[0]);

    cr_assert(ne(ptr, block, NULL));
    memset(block, 1, sizes[0]);
    for (size_t i = 1; i < count; i++) {
        const size_t before = sizes[i - 1];

        if (i == large_from)
            jw_alloc_in_large_pages();
        unsigned char *grown = jw_realloc(block, sizes[i]);

        cr_assert(ne(ptr, grown, NULL));
        for (size_t at = 0; at < (before < sizes[i] ? before : sizes[i]); at++)
            if (grown[at] != 1)
                cr_fail("byte %zu of %zu is %d", at, sizes[i], grown[at]);
        memset(grown, 1, sizes[i]);
        block = grown;
    }
    jw_free(block);
    cr_assert(eq(u64, figures_of(JW_MEMORY_CONTROL).charged_bytes, 0));
}

Test(memory, blocks_keep_their_bytes_through_all_sizes)
{
    static const size_t sizes[] = {1, 1000, 100000, 131071, 131072, 5000000, 200000, 131000, 64, 0};

    resize_through(sizes, JW_COUNT_OF(sizes), SIZE_MAX);
}

Test(memory, blocks_keep_their_bytes_into_large_pages_and_out_of_them)
{
    static const size_t sizes[] = {5000000, 5000001, 9000000, 4194304, 4194303,
                                   200000,  6000000, 1000,    20000000};

    resize_through(sizes, JW_COUNT_OF(sizes), 2); /* one of the usual kind is there by then */
    resize_through(sizes, JW_COUNT_OF(sizes), SIZE_MAX); /* and none: it is so once for all */

    unsigned char *block = jw_alloc(6000000);
    for (size_t at = 0; at < 6000000; at++)
        if (block[at] != 0)
            cr_fail("byte %zu is not zero", at);
    jw_free(block);
    cr_assert(eq(u64, figures_of(JW_MEMORY_CONTROL).charged_bytes, 0));
}

Test(memory, a_large_block_is_zero)
{
    for (int round = 0; round < 2; round++) {
        unsigned char *block = jw_alloc((size_t)1 << 20);

        for (size_t at = 0; at < (size_t)1 << 20; at++)
            cr_assert(eq(int, block[at], 0));
        memset(block, 9, (size_t)1 << 20);
        jw_free(block);
    }
}

Test(memory, a_mapping_counts_as_used_page_by_page)
{
    struct jw_arena arena;
    struct jw_error err = {0};
    const uint64_t before = figures_of(JW_MEMORY_SAMPLES).used_bytes;

    cr_assert(jw_arena_open_for(JW_MEMORY_SAMPLES, &arena, (size_t)64 << 20, "a test", &err), "%s",
              err.message);
    cr_assert(eq(u64, figures_of(JW_MEMORY_SAMPLES).reserved_bytes, (uint64_t)64 << 20));
    cr_assert(eq(u64, figures_of(JW_MEMORY_SAMPLES).used_bytes, before));
    for (size_t at = 0; at < (size_t)10 << 20; at += 1 << 20)
        arena.bytes[at] = 1;

    const uint64_t used = figures_of(JW_MEMORY_SAMPLES).used_bytes - before;
    cr_assert(ge(u64, used, 10 * 4096));
    cr_assert(le(u64, used, 10 * 65536), "no huge pages");
    jw_arena_close(&arena);
    cr_assert(eq(u64, figures_of(JW_MEMORY_SAMPLES).reserved_bytes, 0));
    cr_assert(eq(u64, figures_of(JW_MEMORY_SAMPLES).used_bytes, before));
}

Test(memory, the_library_counts_its_own_variables)
{
    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    jw_memory_note_library();

    const struct jw_memory_figures control = figures_of(JW_MEMORY_CONTROL);
    cr_assert(control.used_bytes > 0);
    cr_assert(ge(u64, control.charged_bytes, control.reserved_bytes));
    cr_assert(ge(u64, control.charged_bytes + 65536, control.used_bytes), "ends of pages");
}

Test(memory, the_sum_of_the_parts_is_the_whole)
{
    struct jw_memory_figures all;

    jw_memory_share(JW_MEMORY_DEFAULT_BYTES);
    void *first = jw_alloc_for(JW_MEMORY_NAMES, 1000), *second = jw_alloc_for(JW_MEMORY_STACKS, 70);
    jw_count(JW_COUNT_STACKS_FULL);
    jw_memory_get_all(&all);
    cr_assert(eq(u64, all.used_bytes,
                 figures_of(JW_MEMORY_NAMES).used_bytes + figures_of(JW_MEMORY_STACKS).used_bytes));
    cr_assert(eq(u64, all.limit_bytes, JW_MEMORY_DEFAULT_BYTES));
    cr_assert(eq(u64, jw_memory_room_bytes(), JW_MEMORY_DEFAULT_BYTES - all.charged_bytes));
    cr_assert(eq(u64, all.refused_count, 1), "stacks alone are at their limit");
    jw_free(first);
    jw_free(second);
}
