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
    array->element.is_array = array->element.is_whole = false;
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

/* Is such a field one varint in every frame? */
static bool is_varint(const struct jfr_reader_field *field)
{
    return !field->is_array && (field->is_pooled || field->type->kind == JFR_KIND_INT ||
                                field->type->kind == JFR_KIND_LONG);
}

static uint8_t field_named(const struct jfr_reader_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->field_count && i < JFR_NO_FIELD; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return (uint8_t)i;
    }
    return JFR_NO_FIELD;
}

void jfr_reader_find_frames(struct jfr_reader_type *type)
{
    const bool is_struct = type->kind == JFR_KIND_STRUCT && !type->is_event;

    type->method_at = is_struct ? field_named(type, "method") : JFR_NO_FIELD;
    type->type_at = is_struct ? field_named(type, "type") : JFR_NO_FIELD;
    type->line_at = is_struct ? field_named(type, "lineNumber") : JFR_NO_FIELD;
    type->truncated_at = is_struct ? field_named(type, "truncated") : JFR_NO_FIELD;
    type->frames_at = is_struct ? field_named(type, "frames") : JFR_NO_FIELD;
    type->name_at = is_struct ? field_named(type, "name") : JFR_NO_FIELD;
    type->descriptor_at = is_struct ? field_named(type, "descriptor") : JFR_NO_FIELD;
    type->class_at = type->type_at;
    if (type->class_at != JFR_NO_FIELD &&
        (!type->fields[type->class_at].is_pooled || type->fields[type->class_at].is_array))
        type->class_at = JFR_NO_FIELD;
    if (type->line_at != JFR_NO_FIELD && type->fields[type->line_at].is_pooled)
        type->line_at = JFR_NO_FIELD;
}

/* Frames as all recorders have them are read in one pass; else, each field is looked for by its name. */
static bool is_plain(const struct jfr_reader_type *type)
{
    if (type->kind != JFR_KIND_STRUCT || type->field_count >= JFR_NO_FIELD)
        return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (!is_varint(&type->fields[i]))
            return false;
    }
    return true;
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

/* The varint there, of which no byte lies behind the end. */
static inline uint64_t quick_varint(const unsigned char **at)
{
    const unsigned char *from = *at;
    uint64_t value = from[0];

    if (value < 0x80) {
        *at = from + 1;
        return value;
    }
    value = (value & 0x7f) | (uint64_t)(from[1] & 0x7f) << 7;
    if (from[1] < 0x80) {
        *at = from + 2;
        return value;
    }

    struct jfr_cursor cursor = {from, from + JFR_VARINT_BYTES, false};
    value = jfr_cursor_varint(&cursor);
    *at = cursor.at;
    return value;
}

/* A frame of few fields that all lie before the end, whatever they hold. */
static void next_quick(struct jfr_stack *stack, struct jfr_stack_keys *keys)
{
    struct jfr_array *frames = &stack->frames;
    const struct jfr_reader_type *type = stack->type;
    const unsigned char *at = frames->element.bytes;
    uint64_t numbers[JFR_QUICK_FIELDS];

    keys->bytes = at;
    for (uint32_t i = 0; i < type->field_count; i++)
        numbers[i] = quick_varint(&at);
    keys->method_key = stack->has_method_key ? numbers[type->method_at] : 0;
    keys->type_key = stack->has_type_key ? numbers[type->type_at] : 0;
    keys->line = type->line_at == JFR_NO_FIELD ? -1
                 : stack->has_int_line         ? (int32_t)numbers[type->line_at]
                                               : (int64_t)numbers[type->line_at];
    frames->element.bytes = at;
    frames->left--;
}

/* Steps over one frame whose fields are varints, all of which are there. */
static bool read_plain(const struct jfr_reader_type *type, struct jfr_cursor *cursor,
                       struct jfr_stack_keys *keys)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const uint64_t number = jfr_cursor_varint(cursor);

        if (i == type->method_at)
            keys->method_key = type->fields[i].is_pooled ? number : 0;
        else if (i == type->type_at)
            keys->type_key = type->fields[i].is_pooled ? number : 0;
        else if (i == type->line_at)
            keys->line =
                type->fields[i].type->kind == JFR_KIND_INT ? (int32_t)number : (int64_t)number;
    }
    return !cursor->is_cut;
}

static bool next_plain(struct jfr_stack *stack, struct jfr_stack_keys *keys)
{
    struct jfr_array *frames = &stack->frames;
    struct jfr_cursor cursor = {frames->element.bytes, frames->element.end, false};

    *keys = (struct jfr_stack_keys){.bytes = cursor.at, .line = -1};
    if (frames->left == 0)
        return false;
    if (!read_plain(stack->type, &cursor, keys)) {
        frames->left = 0;
        return false;
    }
    frames->element.bytes = cursor.at;
    frames->left--;
    return true;
}

/* The values in a frame whose fields are varints, and which next_plain stepped over. */
static void fill_plain(const struct jfr_value *element, const struct jfr_stack_keys *keys,
                       struct jfr_stack_frame *frame)
{
    const struct jfr_reader_type *type = element->type;
    struct jfr_cursor cursor = {keys->bytes, element->end, false};

    frame->method.reader = frame->type.reader = NULL;
    frame->method_key = keys->method_key;
    frame->type_key = keys->type_key;
    frame->line = keys->line;
    for (uint32_t i = 0; i < type->field_count; i++) {
        if (i == type->method_at)
            frame->method = value_at(element, i, cursor.at);
        else if (i == type->type_at)
            frame->type = value_at(element, i, cursor.at);
        jfr_cursor_varint(&cursor);
    }
}

/* A frame as none of the recorders has it. */
static void fill_by_name(const struct jfr_value *element, struct jfr_stack_frame *frame)
{
    struct jfr_value line;

    *frame = (struct jfr_stack_frame){.line = -1};
    if (jfr_value_field(element, "method", &frame->method))
        frame->method_key = jfr_value_key(&frame->method);
    else
        frame->method.reader = NULL;
    if (jfr_value_field(element, "type", &frame->type))
        frame->type_key = jfr_value_key(&frame->type);
    else
        frame->type.reader = NULL;
    if (!jfr_value_field(element, "lineNumber", &line) || !jfr_value_integer(&line, &frame->line))
        frame->line = -1;
}

/* ---- frames that are constants of their own ---- */

/* Of stacks that have keys of frames the type of those, whether a simple type stands in between or not; NULL: they have the frames. */
static const struct jfr_reader_type *keyed_type(const struct jfr_value *element)
{
    const struct jfr_reader_type *type = element->type;

    if (!element->is_pooled)
        return NULL;
    if (type->kind == JFR_KIND_STRUCT && type->is_simple)
        return type->fields[0].is_pooled && !type->fields[0].is_array ? type->fields[0].type : NULL;
    return type;
}

/* The frame of this key, as a value that stands for itself; false: there is none. */
static bool follow_frame(const struct jfr_stack *stack, uint64_t key, struct jfr_value *frame)
{
    const struct jfr_value *element = &stack->frames.element;
    const struct jfr_constant *constant = jfr_reader_constant(element->reader, element->type, key);

    if (constant != NULL && element->type != stack->type) {
        struct jfr_cursor cursor = {constant->bytes, constant->end, false};

        constant = jfr_reader_constant(element->reader, stack->type, jfr_cursor_varint(&cursor));
    }
    if (constant == NULL)
        return false;
    *frame = (struct jfr_value){.reader = element->reader,
                                .type = stack->type,
                                .bytes = constant->bytes,
                                .end = constant->end,
                                .is_whole = true};
    return true;
}

void jfr_stack_keys_of(const struct jfr_stack *stack, uint64_t key, struct jfr_stack_keys *keys)
{
    struct jfr_stack_frame told;
    struct jfr_value frame;

    keys->method_key = keys->type_key = 0;
    keys->line = -1;
    if (!follow_frame(stack, key, &frame))
        return;
    if (stack->is_plain) {
        struct jfr_cursor cursor = {frame.bytes, frame.end, false};

        (void)read_plain(stack->type, &cursor, keys); /* a constant was seen whole before */
        return;
    }
    fill_by_name(&frame, &told);
    keys->method_key = told.method_key;
    keys->type_key = told.type_key;
    keys->line = told.line;
}

static bool next_keyed(struct jfr_stack *stack, struct jfr_stack_keys *keys)
{
    struct jfr_array *frames = &stack->frames;
    struct jfr_cursor cursor = {frames->element.bytes, frames->element.end, false};

    if (frames->left == 0)
        return false;
    keys->bytes = cursor.at;
    const uint64_t key = jfr_cursor_varint(&cursor);
    if (cursor.is_cut) {
        frames->left = 0;
        return false;
    }
    jfr_stack_keys_of(stack, key, keys);
    frames->element.bytes = cursor.at;
    frames->left--;
    return true;
}

/* One that leads nowhere has nothing. */
static void fill_keyed(const struct jfr_stack *stack, const struct jfr_stack_keys *keys,
                       struct jfr_stack_frame *frame)
{
    struct jfr_cursor cursor = {keys->bytes, stack->frames.element.end, false};
    struct jfr_stack_keys there = *keys;
    struct jfr_value value;

    if (!follow_frame(stack, jfr_cursor_varint(&cursor), &value)) {
        *frame = (struct jfr_stack_frame){.line = -1};
        frame->method.reader = frame->type.reader = NULL;
    } else if (stack->is_plain) {
        there.bytes = value.bytes;
        fill_plain(&value, &there, frame);
    } else {
        fill_by_name(&value, frame);
    }
}

/* ---- stacks ---- */

/* Of a constant whose fields behind the frames take a byte each: the one that says whether it is truncated; NULL: not so. */
static const unsigned char *truncated_behind(const struct jfr_value *value)
{
    const struct jfr_reader_type *type = value->type;

    if (type->truncated_at == JFR_NO_FIELD || type->truncated_at < type->frames_at)
        return NULL;
    for (uint32_t i = type->frames_at + 1u; i < type->field_count; i++)
        if (type->fields[i].is_array || type->fields[i].is_pooled ||
            type->fields[i].type->kind != JFR_KIND_BOOLEAN)
            return NULL;
    return value->end - (type->field_count - type->truncated_at);
}

/* Of a value that is a struct: its fields `truncated` and `frames`, in one pass. A constant was seen whole before. */
static bool begin_struct(const struct jfr_value *value, struct jfr_stack *stack)
{
    const struct jfr_reader_type *type = value->type;
    const unsigned char *behind = value->is_whole ? truncated_behind(value) : NULL;
    struct jfr_cursor cursor = {value->bytes, value->end, false};
    bool has_frames = false;

    if (type->kind != JFR_KIND_STRUCT)
        return false;
    if (behind != NULL)
        stack->is_truncated = *behind != 0;
    for (uint32_t i = 0; i < type->field_count && !cursor.is_cut; i++) {
        const struct jfr_reader_field *field = &type->fields[i];
        const struct jfr_value found = {.reader = value->reader,
                                        .type = field->type,
                                        .bytes = cursor.at,
                                        .end = value->end,
                                        .is_pooled = field->is_pooled,
                                        .is_array = field->is_array};
        int64_t truncated;

        if (i == type->frames_at)
            has_frames = jfr_array_begin(&found, &stack->frames);
        else if (i == type->truncated_at)
            stack->is_truncated = jfr_value_integer(&found, &truncated) && truncated != 0;
        if (i == type->frames_at && value->is_whole &&
            (behind != NULL || type->truncated_at == JFR_NO_FIELD || i > type->truncated_at))
            break;
        jfr_cursor_skip_field(&cursor, field);
        has_frames = has_frames && (i != type->frames_at || !cursor.is_cut);
    }
    return has_frames;
}

bool jfr_stack_begin(const struct jfr_value *stack_trace, struct jfr_stack *stack)
{
    struct jfr_value constant;
    const bool is_pooled = stack_trace->is_pooled;

    stack->is_truncated = false;
    if (stack_trace->is_array || (is_pooled && !jfr_value_constant(stack_trace, &constant)) ||
        !begin_struct(is_pooled ? &constant : stack_trace, stack))
        return false;

    const struct jfr_reader_type *keyed = keyed_type(&stack->frames.element);
    const struct jfr_reader_type *type = keyed != NULL ? keyed : stack->frames.element.type;
    stack->type = type;
    stack->is_keyed = keyed != NULL;
    stack->is_plain = !stack->frames.element.is_pooled || stack->is_keyed ? is_plain(type) : false;
    stack->quick_bytes = stack->is_keyed || !stack->is_plain || type->field_count > JFR_QUICK_FIELDS
                             ? SIZE_MAX
                             : (size_t)type->field_count * JFR_VARINT_BYTES;
    stack->has_method_key =
        type->method_at != JFR_NO_FIELD && type->fields[type->method_at].is_pooled;
    stack->has_type_key = type->type_at != JFR_NO_FIELD && type->fields[type->type_at].is_pooled;
    stack->has_int_line =
        type->line_at != JFR_NO_FIELD && type->fields[type->line_at].type->kind == JFR_KIND_INT;
    return true;
}

bool jfr_stack_next_keys(struct jfr_stack *stack, struct jfr_stack_keys *keys)
{
    struct jfr_value element;
    struct jfr_stack_frame frame;

    if (stack->frames.left > 0 &&
        (size_t)(stack->frames.element.end - stack->frames.element.bytes) >= stack->quick_bytes) {
        next_quick(stack, keys);
        return true;
    }
    if (stack->is_keyed)
        return next_keyed(stack, keys);
    if (stack->is_plain)
        return next_plain(stack, keys);
    keys->bytes = stack->frames.element.bytes;
    if (!jfr_array_next(&stack->frames, &element))
        return false;
    fill_by_name(&element, &frame);
    keys->method_key = frame.method_key;
    keys->type_key = frame.type_key;
    keys->line = frame.line;
    return true;
}

void jfr_stack_frame_of(const struct jfr_stack *stack, const struct jfr_stack_keys *keys,
                        struct jfr_stack_frame *frame)
{
    struct jfr_value element = stack->frames.element;

    element.bytes = keys->bytes;
    if (stack->is_keyed)
        fill_keyed(stack, keys, frame);
    else if (stack->is_plain)
        fill_plain(&element, keys, frame);
    else
        fill_by_name(&element, frame);
}

bool jfr_stack_next(struct jfr_stack *stack, struct jfr_stack_frame *frame)
{
    struct jfr_stack_keys keys;

    if (!jfr_stack_next_keys(stack, &keys))
        return false;
    jfr_stack_frame_of(stack, &keys, frame);
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

/* The text of a field that is a reference, as it lies there; false as jfr_value_raw_text. */
static bool raw_field(const struct jfr_constant *from, uint8_t number, struct jfr_raw *raw)
{
    const struct jfr_reader_type *type = from->type;
    struct jfr_cursor cursor = {from->bytes, from->end, false};

    if (number == JFR_NO_FIELD)
        return false;
    for (uint32_t i = 0; i < number; i++)
        jfr_cursor_pass_field(&cursor, &type->fields[i]);
    return jfr_raw_text_of(raw, &type->fields[number], &cursor);
}

bool jfr_method_raw(const struct jfr_value *method, unsigned char *bytes, size_t capacity_bytes,
                    size_t *used_bytes)
{
    if (method->reader == NULL || method->is_array) /* without a reader nothing else is set */
        return false;

    struct jfr_raw raw = {method->reader, bytes, capacity_bytes, *used_bytes};
    const struct jfr_constant whole = {
        .type = method->type, .bytes = method->bytes, .end = method->end};
    const struct jfr_constant *constant = method->is_whole ? &whole : NULL, *class_constant;
    if (method->is_pooled)
        constant = jfr_reader_constant(method->reader, method->type, jfr_value_key(method));
    if (constant == NULL || constant->type->class_at == JFR_NO_FIELD)
        return false;

    const struct jfr_reader_type *type = constant->type;
    struct jfr_cursor cursor = {constant->bytes, constant->end, false};
    for (uint32_t i = 0; i < type->class_at; i++)
        jfr_cursor_pass_field(&cursor, &type->fields[i]);
    class_constant = jfr_reader_constant(method->reader, type->fields[type->class_at].type,
                                         jfr_cursor_varint(&cursor));
    if (cursor.is_cut || class_constant == NULL ||
        !raw_field(class_constant, class_constant->type->name_at, &raw) ||
        !raw_field(constant, type->name_at, &raw) ||
        !raw_field(constant, type->descriptor_at, &raw))
        return false;
    *used_bytes = raw.used_bytes;
    return true;
}

void jfr_method_free(struct jfr_method *method)
{
    jfr_text_free(&method->class_name);
    jfr_text_free(&method->name);
    jfr_text_free(&method->descriptor);
}
