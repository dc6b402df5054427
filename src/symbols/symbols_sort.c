/* Sorting by address: hundreds of thousands of entries a library, so by digits; dump, any, control. */
#include <string.h>

#include "symbols/symbols_internal.h"

#define BITS        32 /* of an offset */
#define FEW         8192
#define FEW_BITS    8
#define MANY_BITS   13 /* the counts lie in a near cache */
#define BUCKETS_MAX (1u << MANY_BITS)

/* How many keys have each digit; false: all have the same. */
static bool count_digits(const struct symbols_key *keys, uint64_t count, unsigned shift,
                         uint32_t mask, uint32_t *counts)
{
    memset(counts, 0, ((size_t)mask + 1) * sizeof *counts);
    for (uint64_t i = 0; i < count; i++)
        counts[keys[i].text_offset >> shift & mask]++;
    return counts[keys[0].text_offset >> shift & mask] != count;
}

static bool is_sorted(const struct symbols_key *keys, uint64_t count)
{
    uint64_t i = 1;

    while (i < count && keys[i - 1].text_offset <= keys[i].text_offset)
        i++;
    return i >= count;
}

struct symbols_key *symbols_sort(struct symbols_key *keys, struct symbols_key *scratch,
                                 uint64_t count)
{
    const unsigned bits = count < FEW ? FEW_BITS : MANY_BITS;
    const uint32_t mask = (1u << bits) - 1;
    struct symbols_key *from = keys, *to = scratch;
    uint32_t starts[BUCKETS_MAX];

    if (is_sorted(keys, count))
        return keys;
    for (unsigned shift = 0; shift < BITS; shift += bits) {
        uint32_t sum = 0;

        if (!count_digits(from, count, shift, mask, starts))
            continue; /* this digit orders nothing */
        for (uint32_t bucket = 0; bucket <= mask; bucket++) {
            const uint32_t bucket_count = starts[bucket];

            starts[bucket] = sum;
            sum += bucket_count;
        }
        for (uint64_t i = 0; i < count; i++)
            to[starts[from[i].text_offset >> shift & mask]++] = from[i];

        struct symbols_key *swap = from;
        from = to;
        to = swap;
    }
    return from;
}
