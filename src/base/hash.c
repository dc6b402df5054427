/* Hash of bytes, eight at a time; every context. */
#include "base/hash.h"

#include <string.h>

uint64_t jw_hash64(const void *bytes, size_t length_bytes)
{
    const unsigned char *next = bytes;
    uint64_t hash = 0x9e3779b97f4a7c15ull ^ length_bytes;
    uint64_t word;

    for (; length_bytes >= sizeof word; next += sizeof word, length_bytes -= sizeof word) {
        memcpy(&word, next, sizeof word);
        hash = (hash ^ word) * 0x9fb21c651e98df25ull;
        hash ^= hash >> 28;
    }
    word = 0;
    for (size_t i = 0; i < length_bytes; i++)
        word |= (uint64_t)next[i] << (8 * i);
    return jw_hash_word(hash ^ word);
}

uint32_t jw_hash32(const void *bytes, size_t length_bytes)
{
    const uint32_t hash = (uint32_t)jw_hash64(bytes, length_bytes);

    return hash == 0 ? 1 : hash;
}
