/*
 * Values: fields by name, numbers, strings. Context: tool, dump.
 *
 * Source: OpenJDK 17 and 25, jdk.jfr.internal.consumer (ParserFactory, RecordingInput,
 * StringParser): encodings of numbers and of the six kinds of strings.
 */
#include <string.h>

#include "base/utf8.h"
#include "jfr/jfr_reader_internal.h"

#define JFR_TEXT_FIRST_BYTES 128u

/* Follows one pool reference; false when it is null or leads nowhere. */
static bool jfr_value_follow(struct jfr_value *value)
{
    const struct jfr_constant *constant =
        jfr_reader_constant(value->reader, value->type, jfr_value_key(value));

    if (constant == NULL)
        return false;
    value->bytes = constant->bytes;
    value->end = constant->end;
    value->is_pooled = false;
    value->is_whole = true;
    return true;
}

/* Down to a value that stands for itself: no reference, no simple type around it, no array. */
static bool jfr_value_bare(struct jfr_value *value)
{
    for (unsigned hop = 0; hop < JFR_READER_MAX_HOPS; hop++) {
        if (value->is_array)
            return false;
        if (value->is_pooled) {
            if (!jfr_value_follow(value))
                return false;
        } else if (value->type->kind == JFR_KIND_STRUCT && value->type->is_simple) {
            const struct jfr_reader_field *field = &value->type->fields[0];

            value->type = field->type;
            value->is_pooled = field->is_pooled;
            value->is_array = field->is_array;
        } else {
            return true;
        }
    }
    return false;
}

const char *jfr_value_type_name(const struct jfr_value *value)
{
    const struct jfr_reader_type *type = value->type;

    for (unsigned hop = 0;
         hop < JFR_READER_MAX_HOPS && type->kind == JFR_KIND_STRUCT && type->is_simple &&
         type->fields[0].type->kind == JFR_KIND_STRUCT && !type->fields[0].is_array;
         hop++)
        type = type->fields[0].type;
    return type->name;
}

uint32_t jfr_reader_number_of(const struct jfr_reader *reader, const struct jfr_reader_type *type,
                              const char *name)
{
    const uint64_t at = (uint64_t)(uintptr_t)name * 31 + (uint64_t)(type - reader->types) * 7;
    struct jfr_field_memo *memo = &reader->memos[at % JFR_FIELD_MEMOS];

    /* Names are compared by their bytes, too: others may have come where these were. */
    if (memo->type == type && memo->name == name &&
        strcmp(type->fields[memo->number].name, name) == 0)
        return memo->number;
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0) {
            *memo = (struct jfr_field_memo){type, name, i};
            return i;
        }
    }
    return type->field_count;
}

bool jfr_reader_field_from(const struct jfr_value *from, uint32_t number,
                           const unsigned char *bytes, struct jfr_value *out)
{
    const struct jfr_reader_field *field = &from->type->fields[number];

    *out = (struct jfr_value){.reader = from->reader,
                              .type = field->type,
                              .bytes = bytes,
                              .end = from->end,
                              .is_pooled = field->is_pooled,
                              .is_array = field->is_array};
    if (!field->is_pooled || field->is_array)
        return true;
    return jfr_reader_constant(from->reader, field->type, jfr_value_key(out)) != NULL;
}

bool jfr_value_field(const struct jfr_value *value, const char *name, struct jfr_value *out)
{
    struct jfr_value from = *value;

    if (from.is_array || (from.is_pooled && !jfr_value_follow(&from)) ||
        from.type->kind != JFR_KIND_STRUCT)
        return false;

    const uint32_t number = jfr_reader_number_of(from.reader, from.type, name);
    struct jfr_cursor cursor = {from.bytes, from.end, false};
    if (number == from.type->field_count)
        return false;
    if (from.type->is_event)
        return jfr_reader_field_at(&from, number, out);
    for (uint32_t i = 0; i < number; i++)
        jfr_cursor_pass_field(&cursor, &from.type->fields[i]);

    const unsigned char *bytes = cursor.at;
    jfr_cursor_pass_field(&cursor, &from.type->fields[number]);
    return !cursor.is_cut && jfr_reader_field_from(&from, number, bytes, out);
}

bool jfr_value_constant(const struct jfr_value *value, struct jfr_value *out)
{
    *out = *value;
    return value->is_pooled && !value->is_array && jfr_value_follow(out);
}

bool jfr_value_has_field(const struct jfr_value *value, const char *name)
{
    for (uint32_t i = 0; i < value->type->field_count; i++) {
        if (strcmp(value->type->fields[i].name, name) == 0)
            return true;
    }
    return false;
}

uint64_t jfr_value_key(const struct jfr_value *value)
{
    struct jfr_cursor cursor = {value->bytes, value->end, false};

    return value->is_pooled && !value->is_array ? jfr_cursor_varint(&cursor) : 0;
}

bool jfr_value_integer(const struct jfr_value *value, int64_t *out)
{
    if (value->type->kind == JFR_KIND_LONG && !value->is_pooled && !value->is_array) {
        struct jfr_cursor long_cursor = {value->bytes, value->end, false};

        *out = (int64_t)jfr_cursor_varint(&long_cursor);
        return !long_cursor.is_cut;
    }

    struct jfr_value bare = *value;

    if (!jfr_value_bare(&bare))
        return false;

    struct jfr_cursor cursor = {bare.bytes, bare.end, false};
    switch (bare.type->kind) {
    case JFR_KIND_BOOLEAN:
        *out = jfr_cursor_byte(&cursor) != 0;
        break;
    case JFR_KIND_BYTE:
        *out = (int8_t)jfr_cursor_byte(&cursor);
        break;
    case JFR_KIND_CHAR:
        *out = (uint16_t)jfr_cursor_varint(&cursor);
        break;
    case JFR_KIND_SHORT:
        *out = (int16_t)jfr_cursor_varint(&cursor);
        break;
    case JFR_KIND_INT:
        *out = (int32_t)jfr_cursor_varint(&cursor);
        break;
    case JFR_KIND_LONG:
        *out = (int64_t)jfr_cursor_varint(&cursor);
        break;
    case JFR_KIND_STRUCT:
    case JFR_KIND_EMPTY:
    case JFR_KIND_FLOAT:
    case JFR_KIND_DOUBLE:
    case JFR_KIND_STRING:
        return false;
    }
    return !cursor.is_cut;
}

bool jfr_value_number(const struct jfr_value *value, double *out)
{
    struct jfr_value bare = *value;
    int64_t integer;

    if (jfr_value_integer(value, &integer)) {
        *out = (double)integer;
        return true;
    }
    if (!jfr_value_bare(&bare))
        return false;

    const size_t left_bytes = (size_t)(bare.end - bare.bytes);
    if (bare.type->kind == JFR_KIND_FLOAT && left_bytes >= 4) {
        const uint32_t bits = (uint32_t)jfr_big_endian(bare.bytes, 4);
        float number;

        memcpy(&number, &bits, sizeof number);
        *out = (double)number;
        return true;
    }
    if (bare.type->kind == JFR_KIND_DOUBLE && left_bytes >= 8) {
        const uint64_t bits = jfr_big_endian(bare.bytes, 8);

        memcpy(out, &bits, sizeof *out);
        return true;
    }
    return false;
}

/* Strings -------------------------------------------------------------------------------------- */

void jfr_text_free(struct jfr_text *text)
{
    jw_free(text->text);
    *text = (struct jfr_text){0};
}

static bool jfr_text_reserve(struct jfr_text *text, size_t more_bytes)
{
    const size_t wanted_bytes = text->length_bytes + more_bytes + 1;

    if (wanted_bytes <= text->capacity_bytes)
        return true;

    size_t capacity_bytes =
        text->capacity_bytes == 0 ? JFR_TEXT_FIRST_BYTES : text->capacity_bytes * 2;
    if (capacity_bytes < wanted_bytes)
        capacity_bytes = wanted_bytes;
    char *grown = jw_realloc(text->text, capacity_bytes);
    if (grown == NULL)
        return false;
    text->text = grown;
    text->capacity_bytes = capacity_bytes;
    return true;
}

static void jfr_text_put(struct jfr_text *text, uint32_t code_point)
{
    char bytes[4];
    const size_t length_bytes = jw_utf8_put(bytes, code_point == 0 ? 0xfffd : code_point);

    memcpy(text->text + text->length_bytes, bytes, length_bytes);
    text->length_bytes += length_bytes;
}

/* `count_bytes` of UTF-8; at worst each byte becomes the three of U+FFFD. */
static bool jfr_text_put_utf8(struct jfr_text *text, const char *bytes, size_t count_bytes)
{
    if (!jfr_text_reserve(text, jw_mul_bytes(count_bytes, 3)))
        return false;
    while (count_bytes > 0) {
        size_t plain_bytes = 0;

        while (plain_bytes < count_bytes && (unsigned char)bytes[plain_bytes] < 0x80 &&
               bytes[plain_bytes] != '\0')
            plain_bytes++;
        memcpy(text->text + text->length_bytes, bytes, plain_bytes);
        text->length_bytes += plain_bytes;
        bytes += plain_bytes;
        count_bytes -= plain_bytes;
        if (count_bytes == 0)
            break;

        const size_t length_bytes = jw_utf8_length(bytes, count_bytes);

        if (length_bytes == 0 || bytes[0] == '\0') {
            jfr_text_put(text, 0xfffd);
            bytes++;
            count_bytes--;
            continue;
        }
        memcpy(text->text + text->length_bytes, bytes, length_bytes);
        text->length_bytes += length_bytes;
        bytes += length_bytes;
        count_bytes -= length_bytes;
    }
    return true;
}

bool jfr_text_set(struct jfr_text *text, const void *bytes, size_t length_bytes)
{
    text->length_bytes = 0;
    if (!jfr_text_put_utf8(text, bytes, length_bytes))
        return false;
    text->text[text->length_bytes] = '\0';
    return true;
}

static bool jfr_text_put_latin1(struct jfr_text *text, const unsigned char *bytes,
                                size_t count_bytes)
{
    if (!jfr_text_reserve(text, jw_mul_bytes(count_bytes, 3)))
        return false;
    for (size_t i = 0; i < count_bytes; i++)
        jfr_text_put(text, bytes[i]);
    return true;
}

/* UTF-16 units, each a varint; a surrogate without its other half becomes U+FFFD. */
static bool jfr_text_put_chars(struct jfr_text *text, struct jfr_cursor *cursor, uint64_t count)
{
    uint32_t high = 0;

    if (count > jfr_cursor_left(cursor) || !jfr_text_reserve(text, jw_mul_bytes(count, 3)))
        return false;
    for (uint64_t i = 0; i < count && !cursor->is_cut; i++) {
        const uint32_t unit = (uint32_t)jfr_cursor_varint(cursor) & 0xffff;
        const bool is_low = unit >= 0xdc00 && unit <= 0xdfff;

        if (high != 0 && is_low) {
            jfr_text_put(text, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            high = 0;
            continue;
        }
        if (high != 0)
            jfr_text_put(text, 0xfffd);
        high = unit >= 0xd800 && unit <= 0xdbff ? unit : 0;
        if (high == 0)
            jfr_text_put(text, unit);
    }
    if (high != 0)
        jfr_text_put(text, 0xfffd);
    return !cursor->is_cut;
}

/* The string behind a reference into the String pool. */
static bool jfr_cursor_follow_string(const struct jfr_reader *reader, struct jfr_cursor *cursor,
                                     struct jfr_cursor *target)
{
    const uint64_t key = jfr_cursor_varint(cursor);
    const struct jfr_constant *constant =
        reader->string_type == NULL ? NULL : jfr_reader_constant(reader, reader->string_type, key);

    if (constant == NULL)
        return false;
    *target = (struct jfr_cursor){constant->bytes, constant->end, false};
    return true;
}

bool jfr_cursor_text(const struct jfr_reader *reader, struct jfr_cursor *cursor,
                     struct jfr_text *text)
{
    struct jfr_cursor pooled;
    bool is_text = false;

    text->length_bytes = 0;
    for (unsigned hop = 0; hop < JFR_READER_MAX_HOPS; hop++) {
        const uint8_t encoding = jfr_cursor_byte(cursor);

        if (encoding == JFR_STRING_POOLED) {
            if (!jfr_cursor_follow_string(reader, cursor, &pooled))
                return false;
            cursor = &pooled;
            continue;
        }
        if (encoding == JFR_STRING_EMPTY) {
            is_text = jfr_text_reserve(text, 0);
        } else if (encoding == JFR_STRING_CHARS) {
            is_text = jfr_text_put_chars(text, cursor, jfr_cursor_varint(cursor));
        } else if (encoding == JFR_STRING_UTF8 || encoding == JFR_STRING_LATIN1) {
            const uint64_t count_bytes = jfr_cursor_varint(cursor);
            const unsigned char *bytes = cursor->at;

            jfr_cursor_skip(cursor, count_bytes);
            if (!cursor->is_cut && encoding == JFR_STRING_UTF8)
                is_text = jfr_text_put_utf8(text, (const char *)bytes, (size_t)count_bytes);
            else if (!cursor->is_cut)
                is_text = jfr_text_put_latin1(text, bytes, (size_t)count_bytes);
        } else if (encoding != JFR_STRING_NULL) {
            cursor->is_cut = true;
        }
        break;
    }
    if (is_text)
        text->text[text->length_bytes] = '\0';
    return is_text && !cursor->is_cut;
}

bool jfr_value_text(const struct jfr_value *value, struct jfr_text *text)
{
    struct jfr_value bare = *value;

    if (!jfr_value_bare(&bare) || bare.type->kind != JFR_KIND_STRING)
        return false;

    struct jfr_cursor cursor = {bare.bytes, bare.end, false};
    return jfr_cursor_text(value->reader, &cursor, text);
}

/* Appends a string that is no reference. */
static bool jfr_raw_string(struct jfr_raw *raw, const unsigned char *bytes,
                           const unsigned char *end)
{
    struct jfr_cursor cursor = {bytes, end, false};

    if (jfr_cursor_left(&cursor) == 0 || *cursor.at == JFR_STRING_POOLED)
        return false; /* what it leads to would have to stand here */
    jfr_cursor_skip_string(&cursor);

    const size_t length_bytes = (size_t)(cursor.at - bytes);
    if (cursor.is_cut || length_bytes > raw->capacity_bytes - raw->used_bytes)
        return false;
    memcpy(raw->bytes + raw->used_bytes, bytes, length_bytes);
    raw->used_bytes += length_bytes;
    return true;
}

/* Are values of this type strings that lie in them? */
static inline bool is_string(const struct jfr_reader_type *type)
{
    if (type->kind == JFR_KIND_STRUCT && type->is_simple && !type->fields[0].is_pooled &&
        !type->fields[0].is_array)
        type = type->fields[0].type;
    return type->kind == JFR_KIND_STRING;
}

bool jfr_raw_text_of(struct jfr_raw *raw, const struct jfr_reader_field *field,
                     struct jfr_cursor *cursor)
{
    /* As all recorders have names: a reference to a symbol. */
    if (field->is_pooled && !field->is_array && is_string(field->type)) {
        const uint64_t key = jfr_cursor_varint(cursor);
        const struct jfr_constant *constant =
            cursor->is_cut ? NULL : jfr_reader_constant(raw->reader, field->type, key);

        return constant != NULL && jfr_raw_string(raw, constant->bytes, constant->end);
    }

    struct jfr_value bare = {.reader = raw->reader,
                             .type = field->type,
                             .bytes = cursor->at,
                             .end = cursor->end,
                             .is_pooled = field->is_pooled,
                             .is_array = field->is_array};

    return !cursor->is_cut && jfr_value_bare(&bare) && bare.type->kind == JFR_KIND_STRING &&
           jfr_raw_string(raw, bare.bytes, bare.end);
}

bool jfr_value_raw_text(const struct jfr_value *value, unsigned char *bytes, size_t capacity_bytes,
                        size_t *used_bytes)
{
    struct jfr_raw raw = {value->reader, bytes, capacity_bytes, *used_bytes};
    struct jfr_value bare = *value;

    if (!jfr_value_bare(&bare) || bare.type->kind != JFR_KIND_STRING ||
        !jfr_raw_string(&raw, bare.bytes, bare.end))
        return false;
    *used_bytes = raw.used_bytes;
    return true;
}
