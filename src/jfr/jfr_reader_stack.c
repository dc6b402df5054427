/*
 * Arrays, stack traces and methods: what nearly every event needs. Context: tool, dump.
 */
#include <string.h>

#include "jfr/jfr_reader_internal.h"

bool jfr_array_begin(const struct jfr_value *value, struct jfr_array *array)
{
    struct jfr_cursor cursor = {value->bytes, value->end, false};

    if (!value->is_array)
        return false;
    array->left = jfr_cursor_varint(&cursor);
    array->element = *value;
    array->element.is_array = false;
    array->element.bytes = cursor.at;
    return !cursor.is_cut;
}

bool jfr_array_next(struct jfr_array *array, struct jfr_value *element)
{
    struct jfr_cursor cursor = {array->element.bytes, array->element.end, false};

    if (array->left == 0)
        return false;
    *element = array->element;
    if (element->is_pooled)
        jfr_cursor_varint(&cursor);
    else
        jfr_cursor_skip_value(&cursor, element->type);
    if (cursor.is_cut) {
        array->left = 0;
        return false;
    }
    array->element.bytes = cursor.at;
    array->left--;
    return true;
}

#define NO_FIELD 0xff

/* Is such a field one varint in every frame? */
static bool is_varint(const struct jfr_reader_field *field)
{
    return !field->is_array && (field->is_pooled || field->type->kind == JFR_KIND_INT ||
                                field->type->kind == JFR_KIND_LONG);
}

/* Frames as all recorders have them are read in one pass; else, each field is looked for by its name. */
static void plan(struct jfr_stack *stack)
{
    const struct jfr_reader_type *type = stack->frames.element.type;

    stack->method_at = stack->type_at = stack->line_at = NO_FIELD;
    stack->is_plain = !stack->frames.element.is_pooled && type->kind == JFR_KIND_STRUCT &&
                      type->field_count > 0 && type->field_count < NO_FIELD;
    for (uint32_t i = 0; stack->is_plain && i < type->field_count; i++) {
        const struct jfr_reader_field *field = &type->fields[i];

        stack->is_plain = is_varint(field);
        if (strcmp(field->name, "method") == 0 && stack->method_at == NO_FIELD)
            stack->method_at = (uint8_t)i;
        else if (strcmp(field->name, "type") == 0 && stack->type_at == NO_FIELD)
            stack->type_at = (uint8_t)i;
        else if (strcmp(field->name, "lineNumber") == 0 && stack->line_at == NO_FIELD &&
                 !field->is_pooled)
            stack->line_at = (uint8_t)i;
    }
}

static struct jfr_value value_at(const struct jfr_value *element, uint32_t number,
                                 const unsigned char *bytes)
{
    const struct jfr_reader_field *field = &element->type->fields[number];

    return (struct jfr_value){.reader = element->reader,
                              .type = field->type,
                              .bytes = bytes,
                              .end = element->end,
                              .is_pooled = field->is_pooled};
}

static bool next_plain(struct jfr_stack *stack, struct jfr_stack_frame *frame)
{
    struct jfr_array *frames = &stack->frames;
    const struct jfr_value *element = &frames->element;
    const uint32_t field_count = element->type->field_count;
    struct jfr_cursor cursor = {element->bytes, element->end, false};

    frame->method.reader = frame->type.reader = NULL;
    frame->method_key = frame->type_key = 0;
    frame->line = -1;
    if (frames->left == 0)
        return false;
    for (uint32_t i = 0; i < field_count; i++) {
        const unsigned char *bytes = cursor.at;
        const uint64_t number = jfr_cursor_varint(&cursor);

        if (i == stack->method_at) {
            frame->method = value_at(element, i, bytes);
            frame->method_key = frame->method.is_pooled ? number : 0;
        } else if (i == stack->type_at) {
            frame->type = value_at(element, i, bytes);
            frame->type_key = frame->type.is_pooled ? number : 0;
        } else if (i == stack->line_at) {
            frame->line = element->type->fields[i].type->kind == JFR_KIND_INT ? (int32_t)number
                                                                              : (int64_t)number;
        }
    }
    if (cursor.is_cut) {
        frames->left = 0;
        return false;
    }
    frames->element.bytes = cursor.at;
    frames->left--;
    return true;
}

bool jfr_stack_begin(const struct jfr_value *stack_trace, struct jfr_stack *stack)
{
    struct jfr_value field;
    int64_t truncated = 0;

    if (jfr_value_field(stack_trace, "truncated", &field) && !jfr_value_integer(&field, &truncated))
        truncated = 0;
    stack->is_truncated = truncated != 0;
    if (!jfr_value_field(stack_trace, "frames", &field) || !jfr_array_begin(&field, &stack->frames))
        return false;
    plan(stack);
    return true;
}

bool jfr_stack_next(struct jfr_stack *stack, struct jfr_stack_frame *frame)
{
    struct jfr_value element;
    struct jfr_value line;

    if (stack->is_plain)
        return next_plain(stack, frame);
    if (!jfr_array_next(&stack->frames, &element))
        return false;

    *frame = (struct jfr_stack_frame){.line = -1};
    if (jfr_value_field(&element, "method", &frame->method))
        frame->method_key = jfr_value_key(&frame->method);
    else
        frame->method.reader = NULL;
    if (jfr_value_field(&element, "type", &frame->type))
        frame->type_key = jfr_value_key(&frame->type);
    else
        frame->type.reader = NULL;
    if (!jfr_value_field(&element, "lineNumber", &line) || !jfr_value_integer(&line, &frame->line))
        frame->line = -1;
    return true;
}

/* A text by the names of the fields that lead to it; "" where it is missing. */
static bool jfr_method_part(const struct jfr_value *from, const char *field_name,
                            struct jfr_text *text)
{
    struct jfr_value field;

    text->length_bytes = 0;
    if (from->reader != NULL && jfr_value_field(from, field_name, &field) &&
        jfr_value_text(&field, text))
        return true;
    if (text->text == NULL)
        text->text = jw_alloc(text->capacity_bytes = 1);
    if (text->text == NULL) {
        text->capacity_bytes = 0;
        return false;
    }
    text->length_bytes = 0;
    text->text[0] = '\0';
    return true;
}

bool jfr_method_read(const struct jfr_value *method, struct jfr_method *out)
{
    struct jfr_value type = {.reader = NULL};

    if (method->reader != NULL && !jfr_value_field(method, "type", &type))
        type.reader = NULL;
    return jfr_method_part(&type, "name", &out->class_name) &&
           jfr_method_part(method, "name", &out->name) &&
           jfr_method_part(method, "descriptor", &out->descriptor);
}

void jfr_method_free(struct jfr_method *method)
{
    jfr_text_free(&method->class_name);
    jfr_text_free(&method->name);
    jfr_text_free(&method->descriptor);
}
