/* Values whose fields nobody knows by name: all of them, one after the other. Context: tool. */
#include <string.h>

#include "jfr/jfr_reader_internal.h"

static enum jfr_shape shape_of(const struct jfr_reader_type *type)
{
    switch (type->kind) {
    case JFR_KIND_BOOLEAN:
        return JFR_SHAPE_BOOLEAN;
    case JFR_KIND_BYTE:
    case JFR_KIND_SHORT:
    case JFR_KIND_INT:
    case JFR_KIND_LONG:
        return JFR_SHAPE_INTEGER;
    case JFR_KIND_CHAR:
        return JFR_SHAPE_CHARACTER;
    case JFR_KIND_FLOAT:
        return JFR_SHAPE_FLOAT;
    case JFR_KIND_DOUBLE:
        return JFR_SHAPE_DOUBLE;
    case JFR_KIND_STRING:
        return JFR_SHAPE_TEXT;
    case JFR_KIND_STRUCT:
        return JFR_SHAPE_OBJECT;
    case JFR_KIND_EMPTY:
        break;
    }
    return JFR_SHAPE_MISSING;
}

enum jfr_shape jfr_value_shape(const struct jfr_value *value, struct jfr_value *bare)
{
    *bare = *value;
    for (unsigned hop = 0; hop < JFR_READER_MAX_HOPS; hop++) {
        struct jfr_value target;

        if (bare->is_array)
            return JFR_SHAPE_ARRAY;
        if (bare->is_pooled) {
            if (!jfr_value_constant(bare, &target))
                return jfr_value_key(bare) == 0 ? JFR_SHAPE_NULL : JFR_SHAPE_MISSING;
            *bare = target;
        } else if (bare->type->kind == JFR_KIND_STRUCT && bare->type->is_simple) {
            const struct jfr_reader_field *field = &bare->type->fields[0];

            bare->type = field->type;
            bare->is_pooled = field->is_pooled;
            bare->is_array = field->is_array;
        } else {
            return shape_of(bare->type);
        }
    }
    return JFR_SHAPE_MISSING;
}

bool jfr_fields_begin(const struct jfr_value *object, struct jfr_fields *fields)
{
    *fields = (struct jfr_fields){.object = *object};
    return !object->is_array && !object->is_pooled && object->type->kind == JFR_KIND_STRUCT;
}

bool jfr_fields_next(struct jfr_fields *fields, struct jfr_field *out)
{
    struct jfr_value *object = &fields->object;

    if (fields->next == object->type->field_count)
        return false;

    const struct jfr_reader_field *field = &object->type->fields[fields->next++];
    struct jfr_cursor cursor = {object->bytes, object->end, false};
    jfr_cursor_skip_field(&cursor, field);
    if (cursor.is_cut) {
        fields->is_cut = true;
        fields->next = object->type->field_count;
        return false;
    }
    *out = (struct jfr_field){.name = field->name,
                              .value = {.reader = object->reader,
                                        .type = field->type,
                                        .bytes = object->bytes,
                                        .end = cursor.at,
                                        .is_pooled = field->is_pooled,
                                        .is_array = field->is_array},
                              .measure = field->measure,
                              .is_unsigned = field->is_unsigned};
    object->bytes = cursor.at;
    return true;
}

bool jfr_value_unsigned(const struct jfr_value *value, uint64_t *out)
{
    struct jfr_value bare;
    int64_t number;

    if (jfr_value_shape(value, &bare) != JFR_SHAPE_INTEGER || !jfr_value_integer(&bare, &number))
        return false;
    *out = (uint64_t)number;
    if (bare.type->kind == JFR_KIND_BYTE)
        *out = (uint8_t)number;
    else if (bare.type->kind == JFR_KIND_SHORT)
        *out = (uint16_t)number;
    else if (bare.type->kind == JFR_KIND_INT)
        *out = (uint32_t)number;
    return true;
}

const char *jfr_reader_field_name(const struct jfr_reader *reader, const char *type_name,
                                  size_t number)
{
    for (uint32_t i = 0; i < reader->type_count; i++) {
        const struct jfr_reader_type *type = &reader->types[i];

        if (type->is_event && strcmp(type->name, type_name) == 0)
            return number < type->field_count ? type->fields[number].name : NULL;
    }
    return NULL;
}
