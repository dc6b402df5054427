/*
 * Bytes as raw deflate in base64: how the columns of a page are packed. Context: dump, tool.
 *
 * Matches are found greedily by a chain of places with the same three bytes; each block has Huffman codes of its
 * own. Equal bytes give equal output. The agent and the command need no library for it.
 * Source: RFC 1951.
 */
#include <stdlib.h>
#include <string.h>

#include "export/export_columns_internal.h"

#define WINDOW_BYTES  32768u
#define HASH_BITS     15
#define CHAIN_LIMIT   32u
#define MATCH_LEAST   3u
#define MATCH_MOST    258u
#define BLOCK_TOKENS  65536u
#define LITERAL_COUNT 286u
#define DISTANCES     30u
#define LENGTH_CODES  19u
#define END_OF_BLOCK  256u
#define CODE_BITS     15u
#define NOWHERE       UINT32_MAX

/* A literal (distance 0), or a match. */
struct token {
    uint16_t length; /* or the byte */
    uint16_t distance;
};

struct code {
    uint32_t counts[LITERAL_COUNT];
    uint8_t lengths[LITERAL_COUNT];
    uint16_t bits[LITERAL_COUNT]; /* in the order in which they are sent */
};

struct deflate {
    struct export_out *out;
    uint64_t bits; /* not yet whole bytes */
    unsigned bit_count;
    unsigned char rest[3]; /* bytes not yet whole groups of base64 */
    unsigned rest_count;
    uint32_t head[1u << HASH_BITS];
    uint32_t before[WINDOW_BYTES];
    struct token tokens[BLOCK_TOKENS];
    uint32_t token_count;
    struct code literals, distances, lengths;
};

/* ---- output ---- */

static void put_group(struct deflate *deflate)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *rest = deflate->rest;
    const char group[4] = {
        digits[rest[0] >> 2],
        digits[(rest[0] & 3) << 4 | rest[1] >> 4],
        deflate->rest_count > 1 ? digits[(rest[1] & 15) << 2 | rest[2] >> 6] : '=',
        deflate->rest_count > 2 ? digits[rest[2] & 63] : '=',
    };

    export_put_bytes(deflate->out, group, sizeof group);
    memset(deflate->rest, 0, sizeof deflate->rest);
    deflate->rest_count = 0;
}

static void put_byte(struct deflate *deflate, unsigned char byte)
{
    deflate->rest[deflate->rest_count++] = byte;
    if (deflate->rest_count == sizeof deflate->rest)
        put_group(deflate);
}

static void put_bits(struct deflate *deflate, uint32_t bits, unsigned count)
{
    deflate->bits |= (uint64_t)bits << deflate->bit_count;
    deflate->bit_count += count;
    while (deflate->bit_count >= 8) {
        put_byte(deflate, (unsigned char)deflate->bits);
        deflate->bits >>= 8;
        deflate->bit_count -= 8;
    }
}

static void put_symbol(struct deflate *deflate, const struct code *code, unsigned symbol)
{
    put_bits(deflate, code->bits[symbol], code->lengths[symbol]);
}

/* ---- codes ---- */

struct weighed {
    uint64_t weight;
    uint32_t symbol;
};

static int compare_weighed(const void *left, const void *right)
{
    const struct weighed *a = left;
    const struct weighed *b = right;

    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

/* Lengths of an optimal code, leaves and joints each in a queue that is sorted by itself; the longest. */
static unsigned fill_lengths(struct code *code, unsigned count)
{
    struct weighed leaves[LITERAL_COUNT];
    uint64_t weight[2 * LITERAL_COUNT];
    uint16_t parent[2 * LITERAL_COUNT];
    uint8_t depth[2 * LITERAL_COUNT];
    unsigned used = 0;
    unsigned longest = 0;

    for (unsigned i = 0; i < count; i++) {
        code->lengths[i] = 0;
        if (code->counts[i] > 0)
            leaves[used++] = (struct weighed){.weight = code->counts[i], .symbol = i};
    }
    qsort(leaves, used, sizeof *leaves, compare_weighed);

    unsigned leaf = 0;
    unsigned joint = used;
    for (unsigned i = 0; i < used; i++)
        weight[i] = leaves[i].weight;
    for (unsigned made = used; made < 2 * used - 1; made++) {
        weight[made] = 0;
        for (int side = 0; side < 2; side++) {
            const bool is_leaf =
                leaf < used && (joint >= made || leaves[leaf].weight <= weight[joint]);
            const unsigned taken = is_leaf ? leaf++ : joint++;

            weight[made] += weight[taken];
            parent[taken] = (uint16_t)made;
        }
    }
    depth[2 * used - 2] = 0;
    for (unsigned i = 2 * used - 2; i-- > 0;) {
        depth[i] = (uint8_t)(depth[parent[i]] + 1);
        if (i < used) {
            code->lengths[leaves[i].symbol] = depth[i];
            longest = depth[i] > longest ? depth[i] : longest;
        }
    }
    return longest;
}

/* A code of at most `most` bits. Readers want two symbols at least: those that nothing uses are as good as any. */
static void make_code(struct code *code, unsigned count, unsigned most)
{
    unsigned used = 0;

    for (unsigned i = 0; i < count; i++)
        used += code->counts[i] > 0;
    for (unsigned i = 0; used < 2; i++) {
        used += code->counts[i] == 0;
        code->counts[i] += code->counts[i] == 0;
    }
    while (fill_lengths(code, count) > most) { /* flatter counts give shorter codes */
        for (unsigned i = 0; i < count; i++)
            code->counts[i] = code->counts[i] == 0 ? 0 : code->counts[i] / 2 + 1;
    }
    uint32_t start[CODE_BITS + 1] = {0};
    uint32_t of_length[CODE_BITS + 1] = {0};
    for (unsigned i = 0; i < count; i++)
        of_length[code->lengths[i]]++;
    of_length[0] = 0;
    for (unsigned length = 1; length <= CODE_BITS; length++)
        start[length] = (start[length - 1] + of_length[length - 1]) << 1;
    for (unsigned i = 0; i < count; i++) {
        const unsigned length = code->lengths[i];
        uint32_t bits = length == 0 ? 0 : start[length]++;
        uint16_t turned = 0;

        for (unsigned bit = 0; bit < length; bit++, bits >>= 1)
            turned = (uint16_t)(turned << 1 | (bits & 1));
        code->bits[i] = turned;
    }
}

/* ---- blocks ---- */

/* Symbol of a value in ranges that double in size every `each` symbols, and the bits that tell where in it. */
static unsigned ranged(uint32_t value, unsigned each_bits, unsigned *extra_count)
{
    unsigned top = 0;

    while (value >> (top + 1) != 0)
        top++;
    if (top <= each_bits) {
        *extra_count = 0;
        return value;
    }
    *extra_count = top - each_bits;
    return ((top - each_bits) << each_bits) + (value >> *extra_count);
}

static unsigned length_symbol(unsigned length, unsigned *extra_count)
{
    if (length == MATCH_MOST) { /* has one to itself */
        *extra_count = 0;
        return LITERAL_COUNT - 1;
    }
    return END_OF_BLOCK + 1 + ranged(length - MATCH_LEAST, 2, extra_count);
}

static unsigned distance_symbol(unsigned distance, unsigned *extra_count)
{
    return ranged(distance - 1, 1, extra_count);
}

static uint32_t low_bits(uint32_t value, unsigned count)
{
    return value & ((1u << count) - 1);
}

static void count_tokens(struct deflate *deflate)
{
    unsigned extra;

    memset(deflate->literals.counts, 0, sizeof deflate->literals.counts);
    memset(deflate->distances.counts, 0, sizeof deflate->distances.counts);
    for (uint32_t i = 0; i < deflate->token_count; i++) {
        const struct token *token = &deflate->tokens[i];

        if (token->distance == 0) {
            deflate->literals.counts[token->length]++;
            continue;
        }
        deflate->literals.counts[length_symbol(token->length, &extra)]++;
        deflate->distances.counts[distance_symbol(token->distance, &extra)]++;
    }
    deflate->literals.counts[END_OF_BLOCK] = 1;
}

/* Both codes as lengths: runs of zeros are told shortly (17: 3 to 10, 18: 11 to 138), others one by one. */
static void put_lengths(struct deflate *deflate)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t all[LITERAL_COUNT + DISTANCES];
    struct code *code = &deflate->lengths;
    unsigned sent = LENGTH_CODES;

    memcpy(all, deflate->literals.lengths, LITERAL_COUNT);
    memcpy(all + LITERAL_COUNT, deflate->distances.lengths, DISTANCES);
    memset(code->counts, 0, sizeof code->counts);
    for (int is_writing = 0; is_writing < 2; is_writing++) {
        for (unsigned i = 0, run; i < sizeof all; i += run) {
            for (run = 1; all[i] == 0 && i + run < sizeof all && all[i + run] == 0 && run < 138;)
                run++;

            const unsigned symbol = run < 3 ? all[i] : run < 11 ? 17 : 18;

            run = run < 3 ? 1 : run;
            if (!is_writing) {
                code->counts[symbol]++;
                continue;
            }
            put_symbol(deflate, code, symbol);
            if (symbol >= 17)
                put_bits(deflate, run - (symbol == 17 ? 3 : 11), symbol == 17 ? 3 : 7);
        }
        if (is_writing)
            return;
        make_code(code, LENGTH_CODES, 7);
        while (sent > 4 && code->lengths[order[sent - 1]] == 0)
            sent--;
        put_bits(deflate, LITERAL_COUNT - 257, 5);
        put_bits(deflate, DISTANCES - 1, 5);
        put_bits(deflate, sent - 4, 4);
        for (unsigned i = 0; i < sent; i++)
            put_bits(deflate, code->lengths[order[i]], 3);
    }
}

static void put_block(struct deflate *deflate, bool is_last)
{
    count_tokens(deflate);
    make_code(&deflate->literals, LITERAL_COUNT, CODE_BITS);
    make_code(&deflate->distances, DISTANCES, CODE_BITS);
    put_bits(deflate, is_last, 1);
    put_bits(deflate, 2, 2); /* codes of its own */
    put_lengths(deflate);
    for (uint32_t i = 0; i < deflate->token_count; i++) {
        const struct token *token = &deflate->tokens[i];
        unsigned extra;

        if (token->distance == 0) {
            put_symbol(deflate, &deflate->literals, token->length);
            continue;
        }
        put_symbol(deflate, &deflate->literals, length_symbol(token->length, &extra));
        put_bits(deflate, low_bits(token->length - MATCH_LEAST, extra), extra);
        put_symbol(deflate, &deflate->distances, distance_symbol(token->distance, &extra));
        put_bits(deflate, low_bits(token->distance - 1u, extra), extra);
    }
    put_symbol(deflate, &deflate->literals, END_OF_BLOCK);
    deflate->token_count = 0;
}

/* ---- matches ---- */

static uint32_t hash_at(const unsigned char *bytes)
{
    return ((uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2]) * 2654435761u >>
           (32 - HASH_BITS);
}

static void remember(struct deflate *deflate, const unsigned char *bytes, size_t at, size_t length)
{
    if (length - at < MATCH_LEAST)
        return;

    const uint32_t hash = hash_at(bytes + at);
    deflate->before[at % WINDOW_BYTES] = deflate->head[hash];
    deflate->head[hash] = (uint32_t)at;
}

/* The longest match before `at`; token->distance 0: none. */
static struct token find_match(const struct deflate *deflate, const unsigned char *bytes, size_t at,
                               size_t length)
{
    struct token best = {.length = MATCH_LEAST - 1};
    const size_t most = length - at < MATCH_MOST ? length - at : MATCH_MOST;

    if (most < MATCH_LEAST)
        return best;

    uint32_t place = deflate->head[hash_at(bytes + at)];
    for (unsigned step = 0; step < CHAIN_LIMIT && place != NOWHERE; step++) {
        if (place >= at || at - place >= WINDOW_BYTES)
            break;
        if (bytes[place + best.length] == bytes[at + best.length]) {
            size_t same = 0;

            while (same < most && bytes[place + same] == bytes[at + same])
                same++;
            if (same > best.length) {
                best = (struct token){.length = (uint16_t)same, .distance = (uint16_t)(at - place)};
                if (same == most)
                    break;
            }
        }

        const uint32_t older = deflate->before[place % WINDOW_BYTES];
        if (older == NOWHERE || older >= place)
            break;
        place = older;
    }
    return best;
}

bool export_put_deflated(struct export_out *out, const unsigned char *bytes, size_t length)
{
    struct deflate *deflate = length >= NOWHERE ? NULL : jw_alloc(sizeof *deflate);

    if (deflate == NULL)
        return false;
    deflate->out = out;
    memset(deflate->head, 0xff, sizeof deflate->head);
    for (size_t at = 0; at < length && !out->has_failed;) {
        const struct token match = find_match(deflate, bytes, at, length);
        const size_t taken = match.distance == 0 ? 1 : match.length;

        deflate->tokens[deflate->token_count++] =
            match.distance == 0 ? (struct token){.length = bytes[at]} : match;
        for (const size_t end = at + taken; at < end; at++)
            remember(deflate, bytes, at, length);
        if (deflate->token_count == BLOCK_TOKENS)
            put_block(deflate, false);
    }
    put_block(deflate, true);
    put_bits(deflate, 0, 7); /* the last byte whole */
    if (deflate->rest_count > 0)
        put_group(deflate);
    jw_free(deflate);
    return true;
}
