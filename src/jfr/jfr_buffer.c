/* JFR's encodings into growing memory; dump and tool. */
#include "jfr/jfr_buffer.h"

#include <string.h>

#include "base/utf8.h"

#define FIRST_CAPACITY_BYTES ((size_t)512)

/* Room for `more_bytes`, or a marked buffer. */
static bool reserve(struct jfr_buffer *buffer, size_t more_bytes)
{
    if (buffer->has_failed)
        return false;
    if (buffer->capacity_bytes - buffer->used_bytes >= more_bytes)
        return true;

    size_t capacity_bytes =
        buffer->capacity_bytes == 0 ? FIRST_CAPACITY_BYTES : buffer->capacity_bytes;
    while (capacity_bytes - buffer->used_bytes < more_bytes &&
           capacity_bytes <= JFR_BUFFER_MAX_BYTES)
        capacity_bytes *= 2;

    unsigned char *bytes = capacity_bytes <= 2 * JFR_BUFFER_MAX_BYTES &&
                                   capacity_bytes - buffer->used_bytes >= more_bytes
                               ? jw_realloc(buffer->bytes, capacity_bytes)
                               : NULL;
    if (bytes == NULL) {
        buffer->has_failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity_bytes = capacity_bytes;
    return true;
}

static void put_big_endian(struct jfr_buffer *buffer, uint64_t value, unsigned length_bytes)
{
    if (!reserve(buffer, length_bytes))
        return;
    for (unsigned i = length_bytes; i-- > 0;)
        buffer->bytes[buffer->used_bytes++] = (unsigned char)(value >> (8 * i));
}

void jfr_buffer_close(struct jfr_buffer *buffer)
{
    jw_free(buffer->bytes);
    *buffer = (struct jfr_buffer){0};
}

void jfr_buffer_clear(struct jfr_buffer *buffer)
{
    buffer->used_bytes = 0;
    buffer->has_failed = false;
}

void jfr_put_u8(struct jfr_buffer *buffer, unsigned value)
{
    put_big_endian(buffer, value, 1);
}

void jfr_put_be16(struct jfr_buffer *buffer, uint16_t value)
{
    put_big_endian(buffer, value, 2);
}

void jfr_put_be32(struct jfr_buffer *buffer, uint32_t value)
{
    put_big_endian(buffer, value, 4);
}

void jfr_put_be64(struct jfr_buffer *buffer, uint64_t value)
{
    put_big_endian(buffer, value, 8);
}

void jfr_put_float(struct jfr_buffer *buffer, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    jfr_put_be32(buffer, bits);
}

void jfr_put_double(struct jfr_buffer *buffer, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    jfr_put_be64(buffer, bits);
}

void jfr_put_bytes(struct jfr_buffer *buffer, const void *bytes, size_t length_bytes)
{
    if (length_bytes == 0 || !reserve(buffer, length_bytes))
        return;
    memcpy(buffer->bytes + buffer->used_bytes, bytes, length_bytes);
    buffer->used_bytes += length_bytes;
}

/*
 * Seven bits a byte, low bits first, top bit set while more follow; a ninth byte carries its eight bits
 * whole, so that any 64-bit value fits in nine. Source: OpenJDK 17 and 25, jdk.jfr EventWriter.putLong.
 */
void jfr_put_varint(struct jfr_buffer *buffer, uint64_t value)
{
    if (!reserve(buffer, JFR_VARINT_MAX_BYTES))
        return;

    unsigned char *out = buffer->bytes + buffer->used_bytes;
    size_t length_bytes = 0;
    while (value > 0x7f && length_bytes < JFR_VARINT_MAX_BYTES - 1) {
        out[length_bytes++] = (unsigned char)(0x80 | (value & 0x7f));
        value >>= 7;
    }
    out[length_bytes++] = (unsigned char)value;
    buffer->used_bytes += length_bytes;
}

void jfr_put_int(struct jfr_buffer *buffer, int32_t value)
{
    jfr_put_varint(buffer, (uint32_t)value);
}

void jfr_put_long(struct jfr_buffer *buffer, int64_t value)
{
    jfr_put_varint(buffer, (uint64_t)value);
}

void jfr_store_padded_varint(unsigned char *out, uint64_t value, size_t length_bytes)
{
    for (size_t i = 0; i + 1 < length_bytes; i++) {
        out[i] = (unsigned char)(0x80 | (value & 0x7f));
        value >>= 7;
    }
    out[length_bytes - 1] = (unsigned char)value;
}

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The surrogate whose three bytes, in modified UTF-8, begin at `in`; 0: none does. */
static uint32_t surrogate_at(const char *in, size_t left_bytes)
{
    if (left_bytes < 3 || (unsigned char)in[0] != 0xed || (unsigned char)in[1] < 0xa0 ||
        !is_continuation(in[1]) || !is_continuation(in[2]))
        return 0;
    return 0xd000u | (in[1] & 0x3fu) << 6 | (in[2] & 0x3fu);
}

/* Converts the character at `in` to `out`; says how many bytes it took and how many it gave. */
static size_t clean_character(const char *in, size_t left_bytes, char out[4], size_t *out_bytes)
{
    const size_t plain_bytes = jw_utf8_length(in, left_bytes);
    const uint32_t high = surrogate_at(in, left_bytes);
    const uint32_t low = high == 0 ? 0 : surrogate_at(in + 3, left_bytes - 3);

    if (plain_bytes != 0) {
        memcpy(out, in, plain_bytes);
        *out_bytes = plain_bytes;
        return plain_bytes;
    }
    if (left_bytes >= 2 && (unsigned char)in[0] == 0xc0 && (unsigned char)in[1] == 0x80) {
        *out_bytes = jw_utf8_put(out, 0);
        return 2;
    }
    if (high != 0 && high < 0xdc00 && low >= 0xdc00) {
        *out_bytes = jw_utf8_put(out, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
        return 6;
    }
    *out_bytes = jw_utf8_put(out, UINT32_MAX);
    return high != 0 ? 3 : 1;
}

size_t jfr_clean_utf8(const char *bytes, size_t length_bytes, char *out)
{
    size_t total_bytes = 0;

    for (size_t at = 0; at < length_bytes;) {
        char character[4];
        size_t character_bytes;

        at += clean_character(bytes + at, length_bytes - at, character, &character_bytes);
        if (out != NULL)
            memcpy(out + total_bytes, character, character_bytes);
        total_bytes += character_bytes;
    }
    return total_bytes;
}

void jfr_put_clean_utf8(struct jfr_buffer *buffer, const char *bytes, size_t length_bytes)
{
    const size_t clean_bytes = jfr_clean_utf8(bytes, length_bytes, NULL);

    if (!reserve(buffer, clean_bytes))
        return;
    jfr_clean_utf8(bytes, length_bytes, (char *)buffer->bytes + buffer->used_bytes);
    buffer->used_bytes += clean_bytes;
}

void jfr_put_text(struct jfr_buffer *buffer, const char *bytes, size_t length_bytes)
{
    if (length_bytes == 0) {
        jfr_put_u8(buffer, 1);
        return;
    }
    jfr_put_u8(buffer, 3);
    jfr_put_varint(buffer, jfr_clean_utf8(bytes, length_bytes, NULL));
    jfr_put_clean_utf8(buffer, bytes, length_bytes);
}

void jfr_put_string(struct jfr_buffer *buffer, const char *text)
{
    if (text == NULL)
        jfr_put_u8(buffer, 0);
    else
        jfr_put_text(buffer, text, strlen(text));
}

size_t jfr_event_begin(struct jfr_buffer *buffer, uint64_t type_id)
{
    const size_t begin = buffer->used_bytes;

    jfr_put_u8(buffer, 0);
    jfr_put_varint(buffer, type_id);
    return begin;
}

void jfr_event_end(struct jfr_buffer *buffer, size_t begin)
{
    if (buffer->has_failed)
        return;

    /* One byte is reserved for the size; a longer size moves the payload up, and counts itself. */
    size_t size_bytes = 1;
    while (size_bytes < 5 && buffer->used_bytes - begin - 1 + size_bytes >= 1ull << 7 * size_bytes)
        size_bytes++;
    if (!reserve(buffer, size_bytes - 1))
        return;

    unsigned char *event = buffer->bytes + begin;
    const size_t payload_bytes = buffer->used_bytes - begin - 1;
    memmove(event + size_bytes, event + 1, payload_bytes);
    jfr_store_padded_varint(event, payload_bytes + size_bytes, size_bytes);
    buffer->used_bytes += size_bytes - 1;
}
