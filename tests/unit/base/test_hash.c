/* The hashes: a function of all bytes and of nothing else. */
#include "base/hash.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

TestSuite(hash, .timeout = 1800);

Test(hash, equal_bytes_hash_alike_wherever_they_lie)
{
    static const char text[] = "java/util/concurrent/ConcurrentHashMap";
    char moved[sizeof text + 8];

    for (size_t shift = 0; shift < 8; shift++) {
        memset(moved, (int)shift, sizeof moved);
        memcpy(moved + shift, text, sizeof text);
        cr_assert(eq(u64, jw_hash64(moved + shift, sizeof text), jw_hash64(text, sizeof text)));
    }
}

Test(hash, every_bit_of_every_length_counts)
{
    unsigned char bytes[40] = {0};

    for (size_t length_bytes = 1; length_bytes <= sizeof bytes; length_bytes++) {
        const uint64_t plain = jw_hash64(bytes, length_bytes);

        for (size_t bit = 0; bit < length_bytes * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            cr_assert(jw_hash64(bytes, length_bytes) != plain, "bit %zu of %zu bytes is ignored",
                      bit, length_bytes);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

Test(hash, trailing_zeroes_count)
{
    static const unsigned char zeroes[32];

    for (size_t length_bytes = 0; length_bytes < sizeof zeroes; length_bytes++)
        cr_assert(ne(u64, jw_hash64(zeroes, length_bytes), jw_hash64(zeroes, length_bytes + 1)));
}

Test(hash, bytes_beyond_the_length_are_not_read)
{
    for (size_t length_bytes = 0; length_bytes < 24; length_bytes++) {
        unsigned char *exact = malloc(length_bytes + 1);

        cr_assert(ne(ptr, exact, NULL));
        memset(exact, 7, length_bytes);
        exact[length_bytes] = 1;
        const uint64_t first = jw_hash64(exact, length_bytes);
        exact[length_bytes] = 2;
        cr_assert(eq(u64, jw_hash64(exact, length_bytes), first));
        free(exact);
    }
}

Test(hash, of_128_bits_is_the_same_wherever_the_bytes_lie)
{
    unsigned char bytes[200], moved[sizeof bytes + 32];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t length_bytes = 0; length_bytes <= sizeof bytes; length_bytes++) {
        const struct jw_hash128 plain = jw_hash128(bytes, length_bytes);

        for (size_t shift = 0; shift < 32; shift++) {
            memset(moved, (int)shift, sizeof moved);
            memcpy(moved + shift, bytes, length_bytes);
            const struct jw_hash128 other = jw_hash128(moved + shift, length_bytes);
            cr_assert(eq(u64, other.one, plain.one));
            cr_assert(eq(u64, other.two, plain.two));
        }
    }
}

/* Each half alone, of nothing, of all ones, and of bytes without pattern: 140 have four blocks and a part of one. */
Test(hash, of_128_bits_has_every_bit_of_every_length_in_both_halves)
{
    unsigned char bytes[140];

    for (unsigned kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = kind == 0   ? 0
                       : kind == 1 ? 0xff
                                   : (unsigned char)(jw_hash_word(i + 1) >> 32);
        for (size_t length_bytes = 1; length_bytes <= sizeof bytes; length_bytes++) {
            const struct jw_hash128 plain = jw_hash128(bytes, length_bytes);

            for (size_t bit = 0; bit < length_bytes * 8; bit++) {
                bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
                const struct jw_hash128 other = jw_hash128(bytes, length_bytes);
                bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
                cr_assert(other.one != plain.one, "kind %u: one lacks bit %zu of %zu bytes", kind,
                          bit, length_bytes);
                cr_assert(other.two != plain.two, "kind %u: two lacks bit %zu of %zu bytes", kind,
                          bit, length_bytes);
            }
        }
    }
}

Test(hash, of_128_bits_tells_blocks_and_words_in_another_order_apart)
{
    uint64_t words[12], swapped[12];

    for (size_t i = 0; i < JW_COUNT_OF(words); i++)
        words[i] = jw_hash_word(i + 1);
    const struct jw_hash128 plain = jw_hash128(words, sizeof words);
    for (size_t i = 0; i < JW_COUNT_OF(words); i++) {
        for (size_t j = i + 1; j < JW_COUNT_OF(words); j++) {
            memcpy(swapped, words, sizeof words);
            swapped[i] = words[j];
            swapped[j] = words[i];
            const struct jw_hash128 other = jw_hash128(swapped, sizeof swapped);
            cr_assert(other.one != plain.one, "words %zu and %zu", i, j);
            cr_assert(other.two != plain.two, "words %zu and %zu", i, j);
        }
    }
}

Test(hash, of_128_bits_counts_trailing_zeroes)
{
    static const unsigned char zeroes[100];

    for (size_t length_bytes = 0; length_bytes < sizeof zeroes; length_bytes++) {
        const struct jw_hash128 one = jw_hash128(zeroes, length_bytes);
        const struct jw_hash128 more = jw_hash128(zeroes, length_bytes + 1);

        cr_assert(ne(u64, one.one, more.one));
        cr_assert(ne(u64, one.two, more.two));
    }
}

/* The last byte is the last of its memory, which address sanitizer watches. */
Test(hash, of_128_bits_does_not_read_beyond_the_length)
{
    for (size_t length_bytes = 0; length_bytes < 140; length_bytes++) {
        unsigned char *longer = malloc(length_bytes + 1);
        unsigned char *exact = malloc(length_bytes == 0 ? 1 : length_bytes);

        cr_assert(ne(ptr, longer, NULL));
        cr_assert(ne(ptr, exact, NULL));
        memset(longer, 7, length_bytes);
        memset(exact, 7, length_bytes);
        longer[length_bytes] = 1;
        const struct jw_hash128 first = jw_hash128(longer, length_bytes);
        longer[length_bytes] = 2;
        const struct jw_hash128 second = jw_hash128(longer, length_bytes);
        const struct jw_hash128 alone = jw_hash128(exact, length_bytes);
        cr_assert(eq(u64, first.one, second.one));
        cr_assert(eq(u64, first.two, second.two));
        cr_assert(eq(u64, first.one, alone.one));
        cr_assert(eq(u64, first.two, alone.two));
        free(longer);
        free(exact);
    }
}

static int compare_words(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

/* As stacks are: few small numbers in a row, 200,000 of them. None is like another, in either half. */
Test(hash, of_128_bits_of_small_numbers_do_not_collide)
{
    enum { COUNT = 200000 };
    uint64_t *halves[2] = {malloc(COUNT * sizeof(uint64_t)), malloc(COUNT * sizeof(uint64_t))};
    unsigned char bytes[48] = {0, 12};

    cr_assert(ne(ptr, halves[0], NULL));
    cr_assert(ne(ptr, halves[1], NULL));
    for (uint32_t i = 0; i < COUNT; i++) {
        for (size_t at = 0; at < 6; at++)
            bytes[2 + at * 8] = (unsigned char)(i >> at * 3 & 7);
        const struct jw_hash128 hash = jw_hash128(bytes, sizeof bytes);
        halves[0][i] = hash.one;
        halves[1][i] = hash.two;
    }
    for (size_t half = 0; half < 2; half++) {
        qsort(halves[half], COUNT, sizeof(uint64_t), compare_words);
        for (size_t i = 1; i < COUNT; i++)
            cr_assert(halves[half][i - 1] != halves[half][i], "half %zu", half);
        free(halves[half]);
    }
}

Test(hash, the_short_hash_is_never_zero)
{
    for (uint32_t i = 0; i < 100000; i++)
        cr_assert(ne(u32, jw_hash32(&i, sizeof i), 0));
}

/* 4096 numbers in 4096 slots: a random function leaves 1/e of the slots empty, 1507, +- 5 sigma. */
Test(hash, counting_numbers_spread_over_low_bits)
{
    static bool is_used[4096];
    unsigned empty = 0;

    for (uint64_t i = 0; i < 4096; i++)
        is_used[jw_hash_word(i) % 4096] = true;
    for (unsigned i = 0; i < 4096; i++)
        empty += !is_used[i];
    cr_assert(ge(uint, empty, 1371));
    cr_assert(lt(uint, empty, 1645));
}

Test(hash, words_do_not_collide)
{
    /* The finalizer is a bijection: its steps can be undone. */
    for (uint64_t i = 1; i < 100000; i++) {
        uint64_t word = jw_hash_word(i);

        word ^= word >> 33;
        word *= 0x9cb4b2f8129337dbull; /* inverse of 0xc4ceb9fe1a85ec53 modulo 2^64 */
        word ^= word >> 33;
        word *= 0x4f74430c22a54005ull; /* inverse of 0xff51afd7ed558ccd */
        word ^= word >> 33;
        cr_assert(eq(u64, word, i));
    }
}
