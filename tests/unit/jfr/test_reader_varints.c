/*
 * Varints are passed many at a time: as far as one by one, whatever their lengths and where the bytes end. Random, prints its seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jfr/jfr_reader_internal.h"

#define MOST  5000u
#define TURNS 400u

static unsigned char bytes[MOST * JFR_VARINT_BYTES];
static size_t used_bytes;

/* Of so many bytes; the ninth one may look like one that does not end it. */
static void put(unsigned length_bytes)
{
    for (unsigned i = 1; i < length_bytes; i++)
        bytes[used_bytes++] = (unsigned char)(0x80 | random());
    bytes[used_bytes++] =
        (unsigned char)(length_bytes == JFR_VARINT_BYTES ? random() : random() & 0x7f);
}

static void compare(uint64_t count, const unsigned char *end)
{
    struct jfr_cursor one = {bytes, end, false}, many = one;

    for (uint64_t i = 0; i < count && !one.is_cut; i++)
        jfr_cursor_varint(&one);
    jfr_cursor_skip_varints(&many, count);
    cr_assert_eq(one.is_cut, many.is_cut, "%ju of %zu bytes", (uintmax_t)count, used_bytes);
    cr_assert_eq(one.at, many.at, "%ju: %zd and %zd of %zu bytes", (uintmax_t)count, one.at - bytes,
                 many.at - bytes, used_bytes);
}

Test(reader_varints, many_at_a_time_are_as_many_as_one_by_one, .timeout = 1800)
{
    const unsigned seed = (unsigned)time(NULL);

    printf("seed %u\n", seed);
    srandom(seed);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const unsigned count = 1 + (unsigned)random() % (turn % 2 == 0 ? 100 : MOST);
        const unsigned longest = 1 + turn % JFR_VARINT_BYTES;
        const unsigned rare = 1 + (unsigned)random() % 200; /* one in so many is long */

        used_bytes = 0;
        for (unsigned i = 0; i < count; i++)
            put((unsigned)random() % rare == 0 ? 1 + (unsigned)random() % longest
                                               : 1 + (unsigned)random() % 2);
        compare(count, bytes + used_bytes);
        compare(1 + (uint64_t)random() % count, bytes + used_bytes);
        compare(count + 1, bytes + used_bytes);
        compare(UINT64_MAX, bytes + used_bytes);
        compare(count, bytes + (size_t)random() % used_bytes);
    }
}
