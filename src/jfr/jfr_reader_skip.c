/*
 * Passing values without a look at what they hold. Context: tool, dump.
 *
 * Source: OpenJDK 17 and 25, jdk.jfr.internal.consumer (ParserFactory, RecordingInput).
 */
#include <string.h>

#include "jfr/jfr_reader_internal.h"

void jfr_cursor_skip_string(struct jfr_cursor *cursor)
{
    switch (jfr_cursor_byte(cursor)) {
    case JFR_STRING_NULL:
    case JFR_STRING_EMPTY:
        return;
    case JFR_STRING_POOLED:
        jfr_cursor_varint(cursor);
        return;
    case JFR_STRING_UTF8:
    case JFR_STRING_LATIN1:
        jfr_cursor_skip(cursor, jfr_cursor_varint(cursor));
        return;
    case JFR_STRING_CHARS:
        for (uint64_t left = jfr_cursor_varint(cursor); left > 0 && !cursor->is_cut; left--)
            jfr_cursor_varint(cursor);
        return;
    }
    cursor->is_cut = true; /* no such encoding: its end cannot be known */
    cursor->at = cursor->end;
}

#define BLOCK_BYTES  16u
#define BLOCKS_MOST  127u        /* ends are counted in bytes */
#define LANE_GOES_ON 0x80808080u /* four bytes, none of which ends a varint of up to eight */

typedef signed char block_bytes __attribute__((vector_size(BLOCK_BYTES)));
typedef uint32_t block_lanes __attribute__((vector_size(BLOCK_BYTES)));

static uint64_t sum_of_bytes(uint64_t word)
{
    const uint64_t evens = 0x00ff00ff00ff00ffu;

    return (((word & evens) + (word >> 8 & evens)) * 0x0001000100010001u) >> 48;
}

/*
 * Passes some of them by counting the bytes with a clear top bit, in as many blocks as cannot have more of those than are
 * asked for. A varint of nine bytes, whose last one may look like any, has eight in a row that do not end it, so a
 * whole lane of such: then none are passed. Returns how many were.
 */
static uint64_t pass_blocks(struct jfr_cursor *cursor, uint64_t count)
{
    const uint64_t most = count < jfr_cursor_left(cursor) ? count : jfr_cursor_left(cursor);
    const size_t blocks = most / BLOCK_BYTES < BLOCKS_MOST ? most / BLOCK_BYTES : BLOCKS_MOST;
    const unsigned char *at = cursor->at;
    block_bytes ends = {0};
    block_lanes lanes = {0};
    uint64_t counts[2], long_lanes[2];

    for (size_t i = 0; i < blocks; i++, at += BLOCK_BYTES) {
        block_bytes block;

        memcpy(&block, at, sizeof block);
        ends -= block >= 0;
        lanes |= (block_lanes)(((block_lanes)block & LANE_GOES_ON) == LANE_GOES_ON);
    }
    memcpy(counts, &ends, sizeof counts);
    memcpy(long_lanes, &lanes, sizeof long_lanes);
    if ((long_lanes[0] | long_lanes[1]) != 0)
        return 0;

    const uint64_t passed = sum_of_bytes(counts[0]) + sum_of_bytes(counts[1]);
    while (passed > 0 && at[-1] >= 0x80) /* back to where one begins */
        at--;
    cursor->at = at;
    return passed;
}

/*
 * Eight bytes at a time: the top bit is clear in the last byte of a varint. Each word begins where a varint does, so one
 * that ends in it is no longer than eight bytes, and one that does not has nine, whatever the last one holds.
 */
void jfr_cursor_skip_varints(struct jfr_cursor *cursor, uint64_t count)
{
    uint64_t passed = 1;

    while (passed > 0 && count >= BLOCK_BYTES && jfr_cursor_left(cursor) >= BLOCK_BYTES) {
        passed = pass_blocks(cursor, count);
        count -= passed;
    }
    while (count > 0 && jfr_cursor_left(cursor) > 8) {
        uint64_t word;

        memcpy(&word, cursor->at, sizeof word);
        uint64_t ends = ~word & 0x8080808080808080u;
        const uint64_t end_count = ((ends >> 7) * 0x0101010101010101u) >> 56;
        if (end_count == 0) {
            cursor->at += 9;
            count--;
        } else if (end_count <= count) {
            cursor->at += 8 - (unsigned)__builtin_clzll(ends) / 8;
            count -= end_count;
        } else {
            for (; count > 1; count--)
                ends &= ends - 1;
            cursor->at += (unsigned)__builtin_ctzll(ends) / 8 + 1;
            count = 0;
        }
    }
    for (; count > 0 && !cursor->is_cut; count--)
        jfr_cursor_varint(cursor);
}

static void jfr_cursor_skip_elements(struct jfr_cursor *cursor,
                                     const struct jfr_reader_field *field)
{
    uint64_t left = jfr_cursor_varint(cursor);
    const uint64_t varints = field->is_pooled ? 1 : field->type->varint_count;

    if (varints > 0 && left <= jfr_cursor_left(cursor)) { /* so that the product is no nonsense */
        jfr_cursor_skip_varints(cursor, left * varints);
        return;
    }
    for (; left > 0 && !cursor->is_cut; left--) {
        if (field->is_pooled)
            jfr_cursor_varint(cursor);
        else
            jfr_cursor_skip_value(cursor, field->type);
    }
}

void jfr_cursor_skip_field(struct jfr_cursor *cursor, const struct jfr_reader_field *field)
{
    if (field->is_array)
        jfr_cursor_skip_elements(cursor, field);
    else if (field->is_pooled)
        jfr_cursor_varint(cursor);
    else
        jfr_cursor_skip_value(cursor, field->type);
}

void jfr_cursor_skip_value(struct jfr_cursor *cursor, const struct jfr_reader_type *type)
{
    switch (type->kind) {
    case JFR_KIND_STRUCT:
        for (uint32_t i = 0; i < type->field_count && !cursor->is_cut; i++)
            jfr_cursor_pass_field(cursor, &type->fields[i]);
        return;
    case JFR_KIND_EMPTY:
        cursor->is_cut = true;
        return;
    case JFR_KIND_BOOLEAN:
    case JFR_KIND_BYTE:
        jfr_cursor_byte(cursor);
        return;
    case JFR_KIND_CHAR:
    case JFR_KIND_SHORT:
    case JFR_KIND_INT:
    case JFR_KIND_LONG:
        jfr_cursor_varint(cursor);
        return;
    case JFR_KIND_FLOAT:
        jfr_cursor_skip(cursor, 4);
        return;
    case JFR_KIND_DOUBLE:
        jfr_cursor_skip(cursor, 8);
        return;
    case JFR_KIND_STRING:
        jfr_cursor_skip_string(cursor);
        return;
    }
}
