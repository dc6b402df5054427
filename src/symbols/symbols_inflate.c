/*
 * Sections that are compressed as zlib does it, which debug files often are: unpacked to the size that they announce, checked by
 * their sum. Ours, as static builds of zlib (Debian's) are not position independent, and the agent loads no library for it. Any,
 * dump, control. Source: RFC 1950 (zlib), RFC 1951 (deflate); System V ABI, "Section compression".
 */
#include <elf.h>

#include "symbols/symbols_frames_internal.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_UNWINDING

#define UNPACKED_MAX_BYTES ((uint64_t)64 << 20)
#define GROWTH_MAX         1040 /* deflate makes at most 1,032 bytes of one */
#define LEGACY_HEAD_BYTES  12   /* "ZLIB", size with the high byte first: .zdebug_frame */
#define ZLIB_HEAD_BYTES    2
#define ZLIB_TAIL_BYTES    4
#define CODE_BITS_MAX      15
#define LITERALS_MAX       288
#define DISTANCES_MAX      32
#define END_OF_BLOCK       256
#define SUM_MODULUS        65521

/* A canonical code: how many codes there are of each length, and what they stand for, in order. */
struct code {
    uint16_t counts[CODE_BITS_MAX + 1];
    uint16_t values[LITERALS_MAX];
};

struct inflating {
    const unsigned char *at, *end;
    unsigned char *out;
    size_t out_bytes, room_bytes;
    uint32_t bits;
    unsigned bit_count;
    bool is_failed;
    struct code literals, distances;
};

static unsigned get_bits(struct inflating *state, unsigned count)
{
    while (state->bit_count < count) {
        if (state->at == state->end) {
            state->is_failed = true;
            return 0;
        }
        state->bits |= (uint32_t)*state->at++ << state->bit_count;
        state->bit_count += 8;
    }
    const unsigned value = state->bits & ((1u << count) - 1);

    state->bits >>= count;
    state->bit_count -= count;
    return value;
}

/* False: more codes of a length than there can be. Fewer than there could be are met as damage where one of those comes. */
static bool make_code(struct code *code, const uint8_t *lengths, unsigned count)
{
    uint16_t starts[CODE_BITS_MAX + 2] = {0};
    int left = 1;

    memset(code, 0, sizeof *code);
    for (unsigned i = 0; i < count; i++)
        code->counts[lengths[i]]++;
    code->counts[0] = 0;
    for (unsigned bits = 1; bits <= CODE_BITS_MAX; bits++) {
        left = 2 * left - code->counts[bits];
        if (left < 0)
            return false;
        starts[bits + 1] = (uint16_t)(starts[bits] + code->counts[bits]);
    }
    for (unsigned i = 0; i < count; i++)
        if (lengths[i] != 0)
            code->values[starts[lengths[i]]++] = (uint16_t)i;
    return true;
}

static unsigned get_value(struct inflating *state, const struct code *code)
{
    unsigned word = 0, first = 0, index = 0;

    for (unsigned bits = 1; bits <= CODE_BITS_MAX && !state->is_failed; bits++) {
        word |= get_bits(state, 1);
        if (word - first < code->counts[bits])
            return code->values[index + word - first];
        index += code->counts[bits];
        first = (first + code->counts[bits]) << 1;
        word <<= 1;
    }
    state->is_failed = true;
    return END_OF_BLOCK;
}

static void put_byte(struct inflating *state, unsigned char byte)
{
    if (state->out_bytes == state->room_bytes)
        state->is_failed = true;
    else
        state->out[state->out_bytes++] = byte;
}

static void copy_back(struct inflating *state, unsigned length_value)
{
    /* Lengths from 3 on, distances from 1 on: how many more bits follow, each half of a pair twice as far. */
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    unsigned length = 3, distance = 1;

    if (length_value >= sizeof length_bits) {
        state->is_failed = true;
        return;
    }
    for (unsigned i = 0; i < length_value; i++)
        length += 1u << length_bits[i];
    if (length_value == sizeof length_bits - 1)
        length--; /* the last one is 258, not 259 */
    length += get_bits(state, length_bits[length_value]);

    const unsigned distance_value = get_value(state, &state->distances);
    if (distance_value >= 30) {
        state->is_failed = true;
        return;
    }
    for (unsigned i = 0; i < distance_value; i++)
        distance += 1u << (i < 2 ? 0 : i / 2 - 1);
    distance += get_bits(state, distance_value < 2 ? 0 : distance_value / 2 - 1);
    if (distance > state->out_bytes || length > state->room_bytes - state->out_bytes)
        state->is_failed = true;
    for (unsigned i = 0; i < length && !state->is_failed; i++)
        put_byte(state, state->out[state->out_bytes - distance]);
}

static void inflate_codes(struct inflating *state)
{
    while (!state->is_failed) {
        const unsigned value = get_value(state, &state->literals);

        if (value == END_OF_BLOCK)
            return;
        if (value < END_OF_BLOCK)
            put_byte(state, (unsigned char)value);
        else
            copy_back(state, value - END_OF_BLOCK - 1);
    }
}

static void inflate_stored(struct inflating *state)
{
    state->bits = 0;
    state->bit_count = 0;
    const unsigned length = get_bits(state, 16), inverse = get_bits(state, 16);

    state->is_failed |= length != (inverse ^ 0xffff) || (size_t)(state->end - state->at) < length;
    for (unsigned i = 0; i < length && !state->is_failed; i++)
        put_byte(state, *state->at++);
}

static void use_fixed(struct inflating *state)
{
    uint8_t lengths[LITERALS_MAX];

    for (unsigned i = 0; i < LITERALS_MAX; i++)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    state->is_failed |= !make_code(&state->literals, lengths, LITERALS_MAX);
    memset(lengths, 5, DISTANCES_MAX);
    state->is_failed |= !make_code(&state->distances, lengths, DISTANCES_MAX);
}

/* The codes of a block, themselves coded. */
static void read_codes(struct inflating *state)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    const unsigned literal_count = get_bits(state, 5) + 257;
    const unsigned distance_count = get_bits(state, 5) + 1, order_count = get_bits(state, 4) + 4;
    uint8_t lengths[LITERALS_MAX + DISTANCES_MAX] = {0};
    unsigned count = 0;

    if (literal_count > LITERALS_MAX - 2 || distance_count > DISTANCES_MAX - 2) {
        state->is_failed = true;
        return;
    }
    for (unsigned i = 0; i < order_count; i++)
        lengths[order[i]] = (uint8_t)get_bits(state, 3);
    state->is_failed |= !make_code(&state->literals, lengths, sizeof order);
    memset(lengths, 0, sizeof order);
    while (count < literal_count + distance_count && !state->is_failed) {
        const unsigned value = get_value(state, &state->literals);
        const unsigned times = value < 16    ? 1
                               : value == 16 ? 3 + get_bits(state, 2)
                               : value == 17 ? 3 + get_bits(state, 3)
                                             : 11 + get_bits(state, 7);
        const uint8_t length = value < 16                  ? (uint8_t)value
                               : value == 16 && count != 0 ? lengths[count - 1]
                                                           : 0;

        state->is_failed |= times > literal_count + distance_count - count || value > 18 ||
                            (value == 16 && count == 0);
        for (unsigned i = 0; i < times && !state->is_failed; i++)
            lengths[count++] = length;
    }
    state->is_failed |= !make_code(&state->distances, lengths + literal_count, distance_count) ||
                        !make_code(&state->literals, lengths, literal_count);
}

static void inflate_blocks(struct inflating *state)
{
    bool is_last = false;

    while (!is_last && !state->is_failed) {
        is_last = get_bits(state, 1) != 0;
        const unsigned kind = get_bits(state, 2);

        if (kind == 0) {
            inflate_stored(state);
            continue;
        }
        if (kind == 1)
            use_fixed(state);
        else if (kind == 2)
            read_codes(state);
        else
            state->is_failed = true;
        if (!state->is_failed)
            inflate_codes(state);
    }
}

bool symbols_inflate(const unsigned char *packed, size_t packed_bytes, unsigned char *out,
                     size_t out_bytes)
{
    uint32_t low = 1, high = 0;

    if (packed_bytes < ZLIB_HEAD_BYTES + ZLIB_TAIL_BYTES || (packed[0] & 0x0f) != 8 ||
        (packed[0] << 8 | packed[1]) % 31 != 0 || (packed[1] & 0x20) != 0)
        return false;
    const unsigned char *tail = packed + packed_bytes - ZLIB_TAIL_BYTES;
    struct inflating *state = jw_alloc(sizeof *state);

    if (state == NULL)
        return false;
    state->at = packed + ZLIB_HEAD_BYTES;
    state->end = tail;
    state->out = out;
    state->room_bytes = out_bytes;
    inflate_blocks(state);
    const bool is_whole = !state->is_failed && state->out_bytes == out_bytes && state->at == tail;

    jw_free(state);
    for (size_t i = 0; is_whole && i < out_bytes; i++) {
        low = (low + out[i]) % SUM_MODULUS;
        high = (high + low) % SUM_MODULUS;
    }
    return is_whole && tail[0] == high >> 8 && tail[1] == (high & 0xff) && tail[2] == low >> 8 &&
           tail[3] == (low & 0xff);
}

/* How many bytes stand before the packed ones; 0: in another way than zlib's, or too many. */
static size_t packed_head(const struct symbols_image *image, const struct symbols_extent *extent,
                          bool is_legacy, uint64_t *unpacked_bytes)
{
    unsigned char legacy[LEGACY_HEAD_BYTES];
    Elf64_Chdr header;

    *unpacked_bytes = 0;
    if (extent->size_bytes < sizeof header || extent->size_bytes > UNPACKED_MAX_BYTES)
        return 0;
    if (is_legacy) {
        if (!symbols_image_read(image, extent->offset, legacy, sizeof legacy) ||
            memcmp(legacy, "ZLIB", 4) != 0)
            return 0;
        for (unsigned i = 4; i < sizeof legacy; i++)
            *unpacked_bytes = *unpacked_bytes << 8 | legacy[i];
    } else {
        if (!symbols_image_read(image, extent->offset, &header, sizeof header) ||
            header.ch_type != ELFCOMPRESS_ZLIB)
            return 0;
        *unpacked_bytes = header.ch_size;
    }
    if (*unpacked_bytes == 0 || *unpacked_bytes > UNPACKED_MAX_BYTES ||
        *unpacked_bytes > extent->size_bytes * GROWTH_MAX)
        return 0;
    return is_legacy ? sizeof legacy : sizeof header;
}

unsigned char *symbols_section_unpack(const struct symbols_image *image,
                                      const struct symbols_extent *extent, bool is_legacy,
                                      uint64_t *unpacked_bytes)
{
    const size_t head_bytes = packed_head(image, extent, is_legacy, unpacked_bytes);

    if (head_bytes == 0)
        return NULL;
    const size_t packed_bytes = (size_t)extent->size_bytes - head_bytes;
    unsigned char *packed = jw_alloc(packed_bytes);
    unsigned char *out = jw_alloc((size_t)*unpacked_bytes);

    if (packed == NULL || out == NULL ||
        !symbols_image_read(image, extent->offset + head_bytes, packed, packed_bytes) ||
        !symbols_inflate(packed, packed_bytes, out, (size_t)*unpacked_bytes)) {
        jw_free(out);
        out = NULL;
    }
    jw_free(packed);
    return out;
}
