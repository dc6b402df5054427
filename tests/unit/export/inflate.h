/*
 * inflate - a plain reader of raw deflate and of base64, for tests of what packs them: bit by bit, canonical codes
 * by counting, written from RFC 1951 alone.
 */
#ifndef JW_TESTS_INFLATE_H
#define JW_TESTS_INFLATE_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct inflate {
    const unsigned char *bytes;
    size_t length, at;
    unsigned bit;
    unsigned char *out;
    size_t out_length, out_capacity;
};

struct inflate_code {
    unsigned count[16];
    unsigned symbols[320];
};

static unsigned inflate_bits(struct inflate *in, unsigned count)
{
    unsigned value = 0;

    for (unsigned i = 0; i < count; i++) {
        cr_assert(in->at < in->length, "the stream is cut");
        value |= (unsigned)(in->bytes[in->at] >> in->bit & 1) << i;
        in->bit = (in->bit + 1) & 7;
        in->at += in->bit == 0;
    }
    return value;
}

static void inflate_make(struct inflate_code *code, const unsigned char *lengths, unsigned count)
{
    unsigned next[17] = {0};
    int left = 1;

    memset(code, 0, sizeof *code);
    for (unsigned i = 0; i < count; i++)
        code->count[lengths[i]]++;
    code->count[0] = 0;
    for (unsigned length = 1; length < 16; length++) {
        next[length + 1] = next[length] + code->count[length];
        left = left * 2 - (int)code->count[length];
    }
    cr_assert(left == 0, "a code is not complete: %d", left);
    for (unsigned i = 0; i < count; i++) {
        if (lengths[i] != 0)
            code->symbols[next[lengths[i]]++] = i;
    }
}

static unsigned inflate_symbol(struct inflate *in, const struct inflate_code *code)
{
    int bits = 0, first = 0, index = 0;

    for (unsigned length = 1; length < 16; length++) {
        const int count = (int)code->count[length];

        bits |= (int)inflate_bits(in, 1);
        if (bits - count < first)
            return code->symbols[index + bits - first];
        index += count;
        first = (first + count) << 1;
        bits <<= 1;
    }
    cr_assert_fail("no such symbol");
    return 0;
}

static void inflate_put(struct inflate *in, unsigned char byte)
{
    if (in->out_length == in->out_capacity) {
        in->out_capacity = in->out_capacity * 2 + 1024;
        in->out = realloc(in->out, in->out_capacity);
    }
    in->out[in->out_length++] = byte;
}

static void inflate_lengths(struct inflate *in, struct inflate_code *literals,
                            struct inflate_code *distances)
{
    static const unsigned char order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[320] = {0};
    struct inflate_code code;
    const unsigned literal_count = inflate_bits(in, 5) + 257;
    const unsigned distance_count = inflate_bits(in, 5) + 1;
    const unsigned length_count = inflate_bits(in, 4) + 4;

    for (unsigned i = 0; i < length_count; i++)
        lengths[order[i]] = (unsigned char)inflate_bits(in, 3);
    inflate_make(&code, lengths, 19);
    for (unsigned i = 0; i < literal_count + distance_count;) {
        const unsigned symbol = inflate_symbol(in, &code);
        const unsigned char before = symbol == 16 ? lengths[i - 1] : 0;
        unsigned run = symbol < 16    ? 1
                       : symbol == 16 ? 3 + inflate_bits(in, 2)
                       : symbol == 17 ? 3 + inflate_bits(in, 3)
                                      : 11 + inflate_bits(in, 7);

        cr_assert(i + run <= literal_count + distance_count);
        for (; run > 0; run--)
            lengths[i++] = symbol < 16 ? (unsigned char)symbol : before;
    }
    inflate_make(literals, lengths, literal_count);
    inflate_make(distances, lengths + literal_count, distance_count);
}

/* The bytes; the caller frees them. */
static unsigned char *inflate_all(const unsigned char *bytes, size_t length, size_t *out_length)
{
    static const unsigned base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    struct inflate in = {.bytes = bytes, .length = length};
    struct inflate_code literals, distances;
    bool is_last = false;

    while (!is_last) {
        is_last = inflate_bits(&in, 1) != 0;
        cr_assert_eq(inflate_bits(&in, 2), 2u);
        inflate_lengths(&in, &literals, &distances);
        for (unsigned symbol; (symbol = inflate_symbol(&in, &literals)) != 256;) {
            if (symbol < 256) {
                inflate_put(&in, (unsigned char)symbol);
                continue;
            }
            cr_assert(symbol < 286);

            const unsigned extra = symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4;
            unsigned run = base[symbol - 257] + inflate_bits(&in, extra);
            const unsigned far = inflate_symbol(&in, &distances);
            const unsigned more = far < 4 ? 0 : far / 2 - 1;
            const size_t distance =
                (far < 4 ? far + 1 : 1 + ((2u + far % 2) << more)) + inflate_bits(&in, more);

            cr_assert(distance <= in.out_length && distance <= 32768, "too far back");
            for (; run > 0; run--)
                inflate_put(&in, in.out[in.out_length - distance]);
        }
    }
    cr_assert(in.at + (in.bit != 0) == in.length, "bytes behind the end");
    *out_length = in.out_length;
    return in.out;
}

static unsigned char *inflate_64(const char *text, size_t length, size_t *out_length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *bytes = malloc(length + 1);
    size_t used = 0;

    cr_assert(length % 4 == 0, "no whole groups");
    for (size_t i = 0; i < length; i += 4) {
        uint32_t group = 0;
        unsigned missing = 0;

        for (size_t n = 0; n < 4; n++) {
            const char *digit = text[i + n] == '=' ? digits : strchr(digits, text[i + n]);

            missing += text[i + n] == '=';
            cr_assert_not_null(digit);
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (unsigned n = 0; n < 3 - missing; n++)
            bytes[used++] = (unsigned char)(group >> (16 - 8 * n));
    }

    unsigned char *out = inflate_all(bytes, used, out_length);
    free(bytes);
    return out;
}

#endif
