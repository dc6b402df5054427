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

bool jfr_stack_begin(const struct jfr_value *stack_trace, struct jfr_stack *stack)
{
    struct jfr_value field;
    int64_t truncated = 0;

    if (jfr_value_field(stack_trace, "truncated", &field) && !jfr_value_integer(&field, &truncated))
        truncated = 0;
    stack->is_truncated = truncated != 0;
    return jfr_value_field(stack_trace, "frames", &field) &&
           jfr_array_begin(&field, &stack->frames);
}

bool jfr_stack_next(struct jfr_stack *stack, struct jfr_stack_frame *frame)
{
    struct jfr_value element;
    struct jfr_value line;

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
