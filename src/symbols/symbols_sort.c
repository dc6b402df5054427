/* Sorting by address: hundreds of thousands of entries a library, so by digits; dump, any, control. */
#include <string.h>

#include "symbols/symbols_internal.h"

#define DIGIT_BITS 11
#define DIGITS     3 /* 33 bits: an offset has 32 */
#define BUCKETS    (1u << DIGIT_BITS)

static unsigned digit_of(const struct symbols_key *key, unsigned digit)
{
    return (unsigned)((uint64_t)key->text_offset >> (digit * DIGIT_BITS)) & (BUCKETS - 1);
}

struct symbols_key *symbols_sort(struct symbols_key *keys, struct symbols_key *scratch,
                                 uint64_t count)
{
    struct symbols_key *from = keys, *to = scratch;

    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t starts[BUCKETS] = {0};
        uint32_t sum = 0;

        for (uint64_t i = 0; i < count; i++)
            starts[digit_of(&from[i], digit)]++;
        if (count == 0 || starts[digit_of(&from[0], digit)] == count)
            continue; /* all the same: this digit orders nothing */
        for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
            const uint32_t bucket_count = starts[bucket];

            starts[bucket] = sum;
            sum += bucket_count;
        }
        for (uint64_t i = 0; i < count; i++)
            to[starts[digit_of(&from[i], digit)]++] = from[i];

        struct symbols_key *swap = from;
        from = to;
        to = swap;
    }
    return from;
}
