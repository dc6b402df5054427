/*
 * Contexts, endpoints and spans of a recording. Context: tool.
 *
 * Which field of a type is what is found out once a chunk, when its metadata is read: by name, and
 * for attributes by the annotation jaywalk.Attribute. Datadog's profiler has no such mark: there
 * attributes are the pooled texts behind localRootSpanId.
 */
#include "jfr/jfr_context.h"

#include <string.h>

#include "jfr/jfr_reader_internal.h"

static bool is_text(const struct jfr_reader_type *type)
{
    return type->kind == JFR_KIND_STRING || (type->kind == JFR_KIND_STRUCT && type->is_simple &&
                                             type->fields[0].type->kind == JFR_KIND_STRING);
}

static enum jfr_reader_role role_of(const struct jfr_reader_field *field, bool is_datadog,
                                    bool is_behind_root)
{
    const bool is_pooled_text = !field->is_array && field->is_pooled && is_text(field->type);
    const bool is_long =
        !field->is_array && !field->is_pooled && field->type->kind == JFR_KIND_LONG;

    if (field->is_attribute)
        return is_pooled_text ? JFR_ROLE_ATTRIBUTE : JFR_ROLE_NONE;
    if (strcmp(field->name, "traceId") == 0 && !field->is_array && is_text(field->type))
        return JFR_ROLE_TRACE_ID;
    if (strcmp(field->name, "spanId") == 0 && is_long)
        return JFR_ROLE_SPAN_ID;
    if (strcmp(field->name, "localRootSpanId") == 0 && is_long)
        return JFR_ROLE_ROOT_SPAN_ID;
    return is_datadog && is_behind_root && is_pooled_text ? JFR_ROLE_ATTRIBUTE : JFR_ROLE_NONE;
}

void jfr_reader_find_context(struct jfr_reader_type *type, struct jfr_reader_field *fields)
{
    const bool is_datadog = strncmp(type->name, "datadog.", 8) == 0;
    bool is_behind_root = false;

    type->context_at = type->field_count;
    if (!type->is_event || strcmp(type->name, "datadog.Endpoint") == 0)
        return;
    for (uint32_t i = 0; i < type->field_count; i++) {
        fields[i].role = role_of(&fields[i], is_datadog, is_behind_root);
        is_behind_root |= fields[i].role == JFR_ROLE_ROOT_SPAN_ID;
        if (fields[i].role != JFR_ROLE_NONE && i < type->context_at)
            type->context_at = i;
    }
    /* An endpoint tells of a root span, and lies in none. */
    for (uint32_t i = 0; i < type->field_count; i++)
        type->has_context |= fields[i].role == JFR_ROLE_SPAN_ID;
}

/* A text that is there, or a value without a reader. */
static struct jfr_value text_or_none(const struct jfr_value *value)
{
    struct jfr_value target;

    if (value->reader == NULL || (value->is_pooled && !jfr_value_constant(value, &target)))
        return (struct jfr_value){.reader = NULL};
    return *value;
}

static uint64_t number_of(const struct jfr_value *value)
{
    int64_t number;

    return jfr_value_integer(value, &number) ? (uint64_t)number : 0;
}

static void take_field(struct jfr_context *out, const struct jfr_reader_field *field,
                       const struct jfr_value *value)
{
    switch (field->role) {
    case JFR_ROLE_NONE:
        break;
    case JFR_ROLE_TRACE_ID:
        out->trace_id = text_or_none(value);
        break;
    case JFR_ROLE_SPAN_ID:
        out->span_id = number_of(value);
        break;
    case JFR_ROLE_ROOT_SPAN_ID:
        out->root_span_id = number_of(value);
        break;
    case JFR_ROLE_ATTRIBUTE:
        if (out->attribute_count == JFR_CONTEXT_ATTRIBUTES_MAX)
            break;
        out->attributes[out->attribute_count++] =
            (struct jfr_context_attribute){field->label, text_or_none(value)};
        break;
    }
}

bool jfr_context_read(const struct jfr_reader_event *event, struct jfr_context *out)
{
    const struct jfr_value *from = &event->value;
    struct jfr_cursor cursor = {from->bytes, from->end, false};

    if (!event->type->has_context)
        return false;
    out->trace_id = (struct jfr_value){.reader = NULL};
    out->span_id = out->root_span_id = 0;
    out->attribute_count = 0;
    for (uint32_t i = 0; i < event->type->field_count; i++) {
        const struct jfr_reader_field *field = &event->type->fields[i];
        struct jfr_value value = {.reader = from->reader,
                                  .type = field->type,
                                  .bytes = cursor.at,
                                  .end = from->end,
                                  .is_pooled = field->is_pooled};

        jfr_cursor_pass_field(&cursor, field);
        if (cursor.is_cut) { /* what is missing is none, or 0 */
            value.reader = NULL;
            value.bytes = value.end;
        }
        take_field(out, field, &value);
    }
    return true;
}

/* Of a field that is told, at the cursor: is it a number that is not 0, or a text that is there? Passes it. */
static bool says_anything(const struct jfr_reader *reader, const struct jfr_reader_field *field,
                          struct jfr_cursor *cursor)
{
    const bool is_number = field->role == JFR_ROLE_SPAN_ID || field->role == JFR_ROLE_ROOT_SPAN_ID;

    if (!is_number && !field->is_pooled) { /* a text that stands there */
        jfr_cursor_pass_field(cursor, field);
        return !cursor->is_cut;
    }

    const uint64_t number = jfr_cursor_varint(cursor);
    return !cursor->is_cut &&
           (is_number ? number != 0 : jfr_reader_constant(reader, field->type, number) != NULL);
}

bool jfr_context_is_any(const struct jfr_reader_event *event)
{
    const struct jfr_reader_type *type = event->type;
    uint32_t attributes = 0;

    if (!type->has_context)
        return false;

    struct jfr_cursor cursor = {jfr_event_place(&event->value, type->context_at), event->value.end,
                                false};
    for (uint32_t i = type->context_at; cursor.at != NULL && i < type->field_count; i++) {
        const struct jfr_reader_field *field = &type->fields[i];

        attributes += field->role == JFR_ROLE_ATTRIBUTE;
        if (field->role == JFR_ROLE_NONE || attributes > JFR_CONTEXT_ATTRIBUTES_MAX)
            jfr_cursor_pass_field(&cursor, field);
        else if (says_anything(event->value.reader, field, &cursor))
            return true;
    }
    return false;
}

const char *jfr_context_attribute_name(const struct jfr_reader_type *type, size_t number)
{
    for (uint32_t i = 0;
         type->has_context && i < type->field_count && number < JFR_CONTEXT_ATTRIBUTES_MAX; i++)
        if (type->fields[i].role == JFR_ROLE_ATTRIBUTE && number-- == 0)
            return type->fields[i].label;
    return NULL;
}

/* A field of an event; without a reader when there is none. */
static struct jfr_value field_of(const struct jfr_reader_event *event, const char *name)
{
    struct jfr_value field;

    return jfr_value_field(&event->value, name, &field) ? field
                                                        : (struct jfr_value){.reader = NULL};
}

static uint64_t field_number(const struct jfr_reader_event *event, const char *name)
{
    const struct jfr_value field = field_of(event, name);

    return field.reader == NULL ? 0 : number_of(&field);
}

bool jfr_endpoint_read(const struct jfr_reader_event *event, struct jfr_endpoint *out)
{
    if (strcmp(event->type_name, "jaywalk.Endpoint") != 0 &&
        strcmp(event->type_name, "datadog.Endpoint") != 0)
        return false;
    *out = (struct jfr_endpoint){
        .root_span_id = field_number(event, "localRootSpanId"),
        .trace_id = field_of(event, "traceId"),
        .endpoint = field_of(event, "endpoint"),
        .operation = field_of(event, "operation"),
        .thread = field_of(event, "eventThread"),
    };
    return true;
}

bool jfr_span_read(const struct jfr_reader_event *event, struct jfr_span *out)
{
    if (strcmp(event->type_name, "jaywalk.Span") != 0 || !jfr_context_read(event, &out->context))
        return false;
    out->duration_ticks = (int64_t)field_number(event, "duration");
    out->name = field_of(event, "name");
    out->thread = field_of(event, "eventThread");
    return true;
}

#define ATTRIBUTES_COUNTED 64u

uint32_t jfr_reader_attribute_count(const struct jfr_reader *reader, uint32_t most)
{
    const char *names[ATTRIBUTES_COUNTED];
    uint32_t count = 0;

    most = most < ATTRIBUTES_COUNTED ? most : ATTRIBUTES_COUNTED;
    for (uint32_t i = 0; i < reader->type_count; i++) {
        const struct jfr_reader_type *type = &reader->types[i];

        for (uint32_t n = 0; n < type->field_count && count < most; n++) {
            uint32_t at = 0;

            if (type->fields[n].role != JFR_ROLE_ATTRIBUTE)
                continue;
            while (at < count && strcmp(names[at], type->fields[n].label) != 0)
                at++;
            if (at == count)
                names[count++] = type->fields[n].label;
        }
    }
    return count;
}
