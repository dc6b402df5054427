/* The hashes: a function of all bytes and of nothing else. */
#include "base/hash.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

TestSuite(hash, .timeout = 300);

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
