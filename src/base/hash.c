/*
 * Hash of bytes: words are multiplied in pairs to 128 bits, whose halves are folded together, in two chains that
 * do not wait for each other. Every context; jw_hash128: tool.
 */
#include "base/hash.h"

#include <string.h>

#define BLOCK_BYTES 32

/* Odd constants without pattern: digits of the square roots of 2, 3, 5 and 7. */
#define KEY_A 0x6a09e667f3bcc909ull
#define KEY_B 0xbb67ae8584caa73bull
#define KEY_C 0x3c6ef372fe94f82bull
#define KEY_D 0xa54ff53a5f1d36f1ull

/* Both factors go in once more: a factor of 0 must not make the other one vanish. */
JW_SIGNAL_SAFE static inline uint64_t fold(uint64_t a, uint64_t b)
{
    const unsigned __int128 product = (unsigned __int128)a * b;

    return a ^ b ^ (uint64_t)product ^ (uint64_t)(product >> 64);
}

JW_SIGNAL_SAFE static inline uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

JW_SIGNAL_SAFE static inline uint64_t half_word_at(const unsigned char *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Up to 16 bytes: two words that overlap, so that there is no tail. */
JW_SIGNAL_SAFE static inline uint64_t hash_short(const unsigned char *bytes, size_t length_bytes)
{
    uint64_t first = 0, last = 0;

    if (length_bytes >= 8) {
        first = word_at(bytes);
        last = word_at(bytes + length_bytes - 8);
    } else if (length_bytes >= 4) {
        first = half_word_at(bytes);
        last = half_word_at(bytes + length_bytes - 4);
    } else if (length_bytes > 0) {
        first = (uint64_t)bytes[0] | (uint64_t)bytes[length_bytes / 2] << 8 |
                (uint64_t)bytes[length_bytes - 1] << 16;
    }
    return fold(first ^ KEY_A, last ^ KEY_B);
}

uint64_t jw_hash64(const void *bytes, size_t length_bytes)
{
    const unsigned char *next = bytes;
    size_t left = length_bytes;
    uint64_t one = KEY_C, two = KEY_D;

    if (length_bytes <= 16)
        return fold(hash_short(next, length_bytes) ^ KEY_C, length_bytes ^ KEY_D);
    for (; left > BLOCK_BYTES; next += BLOCK_BYTES, left -= BLOCK_BYTES) {
        one = fold(word_at(next) ^ KEY_A, word_at(next + 8) ^ one);
        two = fold(word_at(next + 16) ^ KEY_B, word_at(next + 24) ^ two);
    }
    /* The last 16 bytes, and the 16 that stand before them or, where there are fewer, overlap them. */
    const unsigned char *end = next + left;

    if (left > 16)
        one = fold(word_at(next) ^ KEY_A, word_at(next + 8) ^ one);
    two = fold(word_at(end - 16) ^ KEY_B, word_at(end - 8) ^ two);
    return fold(one ^ length_bytes, two);
}

/* Each half of the hash has two chains of its own, and all bytes in them. */
struct jw_hash128 jw_hash128(const void *bytes, size_t length_bytes)
{
    unsigned char few[BLOCK_BYTES] = {0};
    const unsigned char *next = bytes;
    const unsigned char *last; /* where the last block begins, which may overlap the one before */
    uint64_t chains[] = {KEY_A, KEY_B, KEY_C, KEY_D};

    if (length_bytes >= BLOCK_BYTES) {
        last = next + length_bytes - BLOCK_BYTES;
    } else {
        if (length_bytes > 0)
            memcpy(few, bytes, length_bytes);
        next = last = few;
    }
    for (;; next += BLOCK_BYTES) {
        const unsigned char *block = next < last ? next : last;
        const uint64_t words[] = {word_at(block), word_at(block + 8), word_at(block + 16),
                                  word_at(block + 24)};

        chains[0] = fold(words[0] ^ KEY_B, words[1] ^ chains[0]);
        chains[1] = fold(words[2] ^ KEY_A, words[3] ^ chains[1]);
        chains[2] = fold(words[1] ^ KEY_D, words[2] ^ chains[2]);
        chains[3] = fold(words[3] ^ KEY_C, words[0] ^ chains[3]);
        if (next >= last)
            break;
    }
    return (struct jw_hash128){
        .one = fold(fold(chains[0] ^ length_bytes, chains[1]) ^ KEY_C, length_bytes ^ KEY_D),
        .two = fold(fold(chains[2], chains[3] ^ length_bytes) ^ KEY_A, length_bytes ^ KEY_B),
    };
}

uint32_t jw_hash32(const void *bytes, size_t length_bytes)
{
    const uint32_t hash = (uint32_t)jw_hash64(bytes, length_bytes);

    return hash == 0 ? 1 : hash;
}
