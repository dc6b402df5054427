/* The arena: bumping, refusing when full, and zeroes after a reset. */
#include "base/arena.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define CAPACITY_BYTES ((size_t)64 * 1024)

static struct jw_arena arena;

static void open_arena(void)
{
    struct jw_error err = {0};

    cr_assert(jw_arena_open(&arena, CAPACITY_BYTES, "the test arena", &err), "%s", err.message);
}

static void close_arena(void)
{
    jw_arena_close(&arena);
}

TestSuite(arena, .init = open_arena, .fini = close_arena, .timeout = 20);

Test(arena, pieces_are_aligned_and_do_not_overlap)
{
    unsigned char *first = jw_arena_take(&arena, 3);
    unsigned char *second = jw_arena_take(&arena, 8);

    cr_assert(ne(ptr, first, NULL));
    cr_assert(eq(sz, (size_t)(second - first), 8));
    cr_assert(eq(sz, (uintptr_t)first % 8, 0));
    cr_assert(eq(sz, jw_arena_used_bytes(&arena), 16));
}

Test(arena, refuses_when_full_and_stays_usable)
{
    unsigned taken = 0;

    while (jw_arena_take(&arena, 1000) != NULL)
        taken++;
    cr_assert(eq(uint, taken, CAPACITY_BYTES / 1000));
    cr_assert(eq(ptr, jw_arena_take(&arena, 1000), NULL));
    cr_assert(le(sz, jw_arena_used_bytes(&arena), CAPACITY_BYTES));
}

Test(arena, gives_its_last_byte)
{
    cr_assert(ne(ptr, jw_arena_take(&arena, CAPACITY_BYTES), NULL));
    cr_assert(eq(ptr, jw_arena_take(&arena, 1), NULL));
    cr_assert(eq(sz, jw_arena_used_bytes(&arena), CAPACITY_BYTES));
}

Test(arena, refuses_sizes_that_wrap)
{
    cr_assert(eq(ptr, jw_arena_take(&arena, SIZE_MAX), NULL));
    cr_assert(eq(ptr, jw_arena_take(&arena, SIZE_MAX - 7), NULL));
    cr_assert(eq(ptr, jw_arena_take(&arena, CAPACITY_BYTES + 1), NULL));
    cr_assert(eq(sz, jw_arena_used_bytes(&arena), 0));
}

static void expect_zeroes_after_reset(size_t keep_bytes)
{
    unsigned char *bytes = jw_arena_take(&arena, CAPACITY_BYTES);

    cr_assert(ne(ptr, bytes, NULL));
    memset(bytes, 0xa5, CAPACITY_BYTES);
    jw_arena_reset(&arena, keep_bytes);
    cr_assert(eq(sz, jw_arena_used_bytes(&arena), 0));

    const unsigned char *again = jw_arena_take(&arena, CAPACITY_BYTES);
    cr_assert(eq(ptr, (void *)(uintptr_t)again, bytes));
    for (size_t i = 0; i < CAPACITY_BYTES; i++)
        cr_assert(again[i] == 0, "byte %zu is %#x after a reset that keeps %zu", i, again[i],
                  keep_bytes);
}

Test(arena, reset_that_keeps_nothing_leaves_zeroes)
{
    expect_zeroes_after_reset(0);
}

Test(arena, reset_that_keeps_part_of_a_page_leaves_zeroes)
{
    expect_zeroes_after_reset(5000);
}

Test(arena, reset_that_keeps_all_leaves_zeroes)
{
    expect_zeroes_after_reset(CAPACITY_BYTES);
}

Test(arena, open_that_fails_names_the_arena)
{
    struct jw_arena huge;
    struct jw_error err = {0};

    cr_assert(not(jw_arena_open(&huge, SIZE_MAX / 2, "the huge arena", &err)));
    cr_assert(ne(ptr, strstr(err.message, "the huge arena"), NULL), "%s", err.message);
    cr_assert(ne(ptr, strstr(err.message, "memlimit"), NULL), "%s", err.message);
}

Test(arena, closed_twice_is_harmless)
{
    jw_arena_close(&arena);
    jw_arena_close(&arena);
    cr_assert(eq(sz, jw_arena_used_bytes(&arena), 0));
    cr_assert(eq(ptr, jw_arena_take(&arena, 1), NULL));
}
