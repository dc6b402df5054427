/* The arena: bumping, refusing when full, and zeroes after a reset. */
#include "base/arena.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

TestSuite(arena, .init = open_arena, .fini = close_arena, .timeout = 1800);

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

#define TAKERS 4

static void *take_to_the_end(void *arg)
{
    uint64_t *bytes = arg; /* taken, lost */
    size_t lost_bytes;

    while (jw_arena_take_or_lose(&arena, 24 + bytes[2], &lost_bytes) != NULL)
        bytes[0] += 24 + bytes[2];
    bytes[1] = lost_bytes;
    return NULL;
}

/* Whoever runs over the end is told of the rest, and he alone: what is used is taken or lost. */
Test(arena, racing_takers_account_for_every_byte)
{
    for (int round = 0; round < 200; round++) {
        uint64_t bytes[TAKERS][3] = {{0}};
        pthread_t threads[TAKERS];
        uint64_t sum = 0;

        for (int i = 0; i < TAKERS; i++) {
            bytes[i][2] = (uint64_t)i * 40;
            cr_assert(eq(int, pthread_create(&threads[i], NULL, take_to_the_end, bytes[i]), 0));
        }
        for (int i = 0; i < TAKERS; i++) {
            pthread_join(threads[i], NULL);
            sum += bytes[i][0] + bytes[i][1];
        }
        cr_assert(eq(u64, sum, jw_arena_used_bytes(&arena)));
        jw_arena_reset(&arena);
    }
}

Test(arena, tells_what_may_be_in_memory)
{
    cr_assert(eq(sz, jw_arena_touched_bytes(&arena), 0));
    jw_arena_warm(&arena, 4096);
    cr_assert(eq(sz, jw_arena_touched_bytes(&arena), 4096));
    cr_assert(ne(ptr, jw_arena_take(&arena, 10000), NULL));
    cr_assert(eq(sz, jw_arena_touched_bytes(&arena), 10000));
    jw_arena_reset(&arena);
    cr_assert(eq(sz, jw_arena_touched_bytes(&arena), 10000), "kept for the next use");
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

/* Fills all, forgets, then uses `used_bytes` a few times: whatever was kept or given back reads as zero. */
static void expect_zeroes_after_resets(size_t used_bytes)
{
    for (int round = 0; round < 4; round++) {
        unsigned char *bytes = jw_arena_take(&arena, round == 0 ? CAPACITY_BYTES : used_bytes);

        cr_assert(ne(ptr, bytes, NULL));
        memset(bytes, 0xa5, round == 0 ? CAPACITY_BYTES : used_bytes);
        jw_arena_reset(&arena);
        cr_assert(eq(sz, jw_arena_used_bytes(&arena), 0));
    }

    const unsigned char *again = jw_arena_take(&arena, CAPACITY_BYTES);
    for (size_t i = 0; i < CAPACITY_BYTES; i++)
        cr_assert(again[i] == 0, "byte %zu is %#x after resets of %zu", i, again[i], used_bytes);
}

Test(arena, reset_of_nothing_leaves_zeroes)
{
    expect_zeroes_after_resets(0);
}

Test(arena, reset_of_part_of_a_page_leaves_zeroes)
{
    expect_zeroes_after_resets(5000);
}

Test(arena, reset_of_all_leaves_zeroes)
{
    expect_zeroes_after_resets(CAPACITY_BYTES);
}

/* Above what is never given back: zeroed where it was kept, given back where it was not. */
Test(arena, resets_of_much_leave_zeroes)
{
    static const size_t sizes_bytes[] = {1 << 20, 300001, 5000, 70000, 0, 1 << 20, 1 << 20};
    struct jw_arena large;

    cr_assert(jw_arena_open(&large, (size_t)1 << 20, "large", NULL));
    jw_arena_warm(&large, 200000);
    for (size_t life = 0; life < JW_COUNT_OF(sizes_bytes); life++) {
        unsigned char *bytes = jw_arena_take(&large, sizes_bytes[life]);

        cr_assert(ne(ptr, bytes, NULL));
        for (size_t i = 0; i < sizes_bytes[life]; i++)
            cr_assert(bytes[i] == 0, "byte %zu in life %zu is %#x", i, life, bytes[i]);
        memset(bytes, 0xa5, sizes_bytes[life]);
        jw_arena_reset(&large);
    }
    jw_arena_close(&large);
}

static size_t resident_pages(const struct jw_arena *of)
{
    static unsigned char map[4096];
    size_t count = 0;

    cr_assert(eq(int, mincore(of->bytes, of->capacity_bytes, map), 0));
    for (size_t i = 0; i < of->capacity_bytes / 4096; i++)
        count += map[i] & 1;
    return count;
}

Test(arena, pages_stay_for_an_even_load_and_go_back_after_a_spike)
{
    struct jw_arena spiky;
    const size_t spike_bytes = (size_t)4 << 20, even_bytes = 40000;

    cr_assert(jw_arena_open(&spiky, (size_t)8 << 20, "spiky", NULL));
    memset(jw_arena_take(&spiky, spike_bytes), 1, spike_bytes);
    jw_arena_reset(&spiky);
    cr_assert(eq(sz, resident_pages(&spiky), spike_bytes / 4096));
    for (int life = 0; life < 60; life++) {
        memset(jw_arena_take(&spiky, even_bytes), 1, even_bytes);
        jw_arena_reset(&spiky);
    }
    cr_assert(ge(sz, resident_pages(&spiky), even_bytes / 4096));
    cr_assert(le(sz, resident_pages(&spiky), spike_bytes / 4096 / 10));
    jw_arena_close(&spiky);
}

Test(arena, a_dropped_part_reads_as_zero_and_the_rest_stays)
{
    unsigned char *bytes = jw_arena_take(&arena, CAPACITY_BYTES);

    memset(bytes, 1, CAPACITY_BYTES);
    jw_arena_drop(&arena, 4096);
    cr_assert(eq(u8, bytes[4095], 1));
    cr_assert(eq(u8, bytes[4096], 0));
    cr_assert(eq(sz, jw_arena_used_bytes(&arena), CAPACITY_BYTES));
}

/* The system does not take back what the program has locked (mlockall). */
Test(arena, a_dropped_part_reads_as_zero_also_where_it_is_locked)
{
    unsigned char *bytes = jw_arena_take(&arena, CAPACITY_BYTES);

    memset(bytes, 1, CAPACITY_BYTES);
    if (mlock(bytes + 4096, 4096) != 0)
        cr_skip_test("no page may be locked here");
    jw_arena_drop(&arena, 4096);
    cr_assert(eq(u8, bytes[4095], 1));
    for (size_t i = 4096; i < CAPACITY_BYTES; i++)
        cr_assert(bytes[i] == 0, "byte %zu", i);
}

/* Asks the kernel, which says EFAULT where the program itself would be ended. */
static bool can_be_read(const void *address)
{
    int ends[2];
    cr_assert(eq(int, pipe(ends), 0));
    const bool can = syscall(SYS_write, ends[1], address, 1) == 1;
    cr_assert(can || errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
    return can;
}

Test(arena, sealed_memory_cannot_be_touched_and_keeps_what_it_holds)
{
    unsigned char *bytes = jw_arena_take(&arena, 4096);

    memset(bytes, 7, 4096);
    cr_assert(jw_arena_seal(&arena, true));
    cr_assert(not(can_be_read(bytes)));
    cr_assert(not(can_be_read(arena.bytes + CAPACITY_BYTES - 1)), "what was not handed out, too");
    cr_assert(jw_arena_seal(&arena, false));
    cr_assert(can_be_read(bytes));
    cr_assert(eq(u8, bytes[4095], 7));
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
