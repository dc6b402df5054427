/* Blocks are whole, apart from each other and zero; spans that are empty go back; the program's heap has no part in it. */
#include "base/blocks.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "base/jw.h"

TestSuite(blocks, .timeout = 1800);

#define SPAN_BYTES ((size_t)256 << 10)

Test(blocks, a_size_holds_what_was_asked_for_and_at_most_a_quarter_more)
{
    for (size_t size = 1; size <= BLOCKS_MOST_BYTES; size++) {
        const size_t bytes = blocks_size(size);

        cr_assert(bytes >= size, "%zu for %zu", bytes, size);
        cr_assert(bytes <= size + (size / 4 > 32 ? size / 4 : 32), "%zu for %zu", bytes, size);
        cr_assert(eq(sz, bytes % 16, 0));
        cr_assert(eq(sz, blocks_size(bytes), bytes));
    }
    cr_assert(eq(sz, blocks_size(BLOCKS_MOST_BYTES), BLOCKS_MOST_BYTES));
}

Test(blocks, what_was_written_to_is_zero_when_it_comes_again)
{
    for (size_t size = 1; size <= BLOCKS_MOST_BYTES; size = size * 3 / 2 + 1) {
        unsigned char *first = blocks_take(size);

        cr_assert(ne(ptr, first, NULL));
        memset(first, 0xa5, blocks_size(size));
        blocks_give(first, size);
        unsigned char *again = blocks_take(size);
        for (size_t i = 0; i < size; i++)
            cr_assert(eq(int, again[i], 0));
        blocks_give(again, size);
    }
}

/* Nothing but a block's owner changes it: each is filled with its number. */
struct owned {
    uint32_t *words;
    size_t size_bytes;
};

static void fill(const struct owned *owned, uint32_t number)
{
    for (size_t i = 0; i < owned->size_bytes / sizeof *owned->words; i++)
        owned->words[i] = number + (uint32_t)i;
}

static bool is_filled(const struct owned *owned, uint32_t number)
{
    for (size_t i = 0; i < owned->size_bytes / sizeof *owned->words; i++)
        if (owned->words[i] != number + (uint32_t)i)
            return false;
    return true;
}

enum { OWNED_COUNT = 600, TURNS = 40000 };

/* Takes and gives at random; returns what went wrong. */
static int churn(uint64_t seed)
{
    static __thread struct owned owned[OWNED_COUNT];
    int wrong = 0;

    for (int turn = 0; turn < TURNS; turn++) {
        const uint64_t random = jw_hash_word(seed + (uint64_t)turn);
        const uint32_t number = (uint32_t)(random % OWNED_COUNT);
        struct owned *one = &owned[number];

        if (one->words != NULL) {
            wrong += !is_filled(one, number);
            blocks_give(one->words, one->size_bytes);
            one->words = NULL;
            continue;
        }
        one->size_bytes = 1 + (random >> 32) % ((random >> 20) % 8 == 0 ? BLOCKS_MOST_BYTES : 300);
        one->words = blocks_take(one->size_bytes);
        wrong += one->words == NULL || (uintptr_t)one->words % 16 != 0;
        if (one->words != NULL)
            fill(one, number);
    }
    for (uint32_t i = 0; i < OWNED_COUNT; i++) {
        wrong += owned[i].words != NULL && !is_filled(&owned[i], i);
        if (owned[i].words != NULL)
            blocks_give(owned[i].words, owned[i].size_bytes);
        owned[i].words = NULL;
    }
    return wrong;
}

static void *churn_beside(void *argument)
{
    return (void *)(intptr_t)churn((uint64_t)(uintptr_t)argument);
}

Test(blocks, threads_that_take_and_give_at_random_meet_nobody_elses_bytes)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < JW_COUNT_OF(threads); i++)
        cr_assert(
            eq(int, pthread_create(&threads[i], NULL, churn_beside, (void *)(i * 1000003)), 0));
    for (size_t i = 0; i < JW_COUNT_OF(threads); i++) {
        void *wrong;

        pthread_join(threads[i], &wrong);
        cr_assert(eq(ptr, wrong, NULL));
    }
}

Test(blocks, spans_that_are_empty_go_back_to_the_system_and_serve_any_size)
{
    enum { COUNT = 4000, SIZE = 4096 };
    static void *taken[COUNT];
    const size_t before_bytes = blocks_held_bytes();

    for (int i = 0; i < COUNT; i++)
        cr_assert(ne(ptr, taken[i] = blocks_take(SIZE), NULL));
    cr_assert(blocks_held_bytes() >= before_bytes + (size_t)COUNT * SIZE);
    for (int i = 0; i < COUNT; i++)
        blocks_give(taken[i], SIZE);
    cr_assert(blocks_held_bytes() <= before_bytes + SPAN_BYTES, "%zu bytes are held",
              blocks_held_bytes());

    /* Of other sizes, where the spans of the first lay. */
    const uintptr_t first = (uintptr_t)taken[0], last = (uintptr_t)taken[COUNT - 1];
    int reused = 0;
    for (int i = 0; i < COUNT; i++) {
        taken[i] = blocks_take(3000);
        reused += (uintptr_t)taken[i] >= (first < last ? first : last) &&
                  (uintptr_t)taken[i] <= (first < last ? last : first);
    }
    cr_assert(reused > COUNT / 2, "%d of %d", reused, COUNT);
    for (int i = 0; i < COUNT; i++)
        blocks_give(taken[i], 3000);
}

/* Many of one size, a few of which stay: what is left keeps its span alone. */
Test(blocks, blocks_that_stay_keep_no_more_than_their_spans)
{
    enum { COUNT = 20000, SIZE = 128, EVERY = 5000 };
    static unsigned char *taken[COUNT];
    const size_t before_bytes = blocks_held_bytes();

    for (int i = 0; i < COUNT; i++)
        taken[i] = blocks_take(SIZE);
    for (int i = 0; i < COUNT; i += EVERY)
        memset(taken[i], i / EVERY + 1, SIZE);
    for (int i = 0; i < COUNT; i++)
        if (i % EVERY != 0)
            blocks_give(taken[i], SIZE);
    cr_assert(blocks_held_bytes() <= before_bytes + (COUNT / EVERY + 1) * SPAN_BYTES);
    for (int i = 0; i < COUNT; i += EVERY) {
        for (int byte = 0; byte < SIZE; byte++)
            cr_assert(eq(int, taken[i][byte], i / EVERY + 1));
        blocks_give(taken[i], SIZE);
    }
}

/* The sanitizers look after blocks of malloc, so there jw_alloc stays with it. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
Test(blocks, nothing_that_jw_alloc_gives_lies_in_the_heap_of_the_program)
{
    enum { COUNT = 2000 };
    static void *taken[COUNT];
    const struct mallinfo2 before = mallinfo2();

    for (int i = 0; i < COUNT; i++) {
        taken[i] = jw_alloc(1 + (size_t)i * 50);
        cr_assert(ne(ptr, taken[i], NULL));
        taken[i] = jw_realloc(taken[i], 1 + (size_t)(COUNT - i) * 30);
        cr_assert(ne(ptr, taken[i], NULL));
    }
    const struct mallinfo2 after = mallinfo2();
    cr_assert(eq(sz, after.uordblks, before.uordblks));
    cr_assert(eq(sz, after.hblkhd, before.hblkhd));
    for (int i = 0; i < COUNT; i++)
        jw_free(taken[i]);
}
#endif
