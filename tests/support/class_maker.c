/* Class files made by hand: support/class_maker.h. */
#include "support/class_maker.h"

#include <stdlib.h>
#include <string.h>

static void put(struct class_maker_bytes *to, const void *bytes, size_t length)
{
    if (to->bytes == NULL)
        to->bytes = calloc(1, CLASS_MAKER_BYTES);
    if (to->bytes == NULL || CLASS_MAKER_BYTES - to->length < length)
        abort();
    if (length != 0)
        memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void put_number(struct class_maker_bytes *to, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);

        put(to, &byte, 1);
    }
}

uint16_t class_maker_text(struct class_maker *maker, const char *text)
{
    put_number(&maker->constants, 1, 1);
    put_number(&maker->constants, (uint32_t)strlen(text), 2);
    put(&maker->constants, text, strlen(text));
    return maker->constant_count++;
}

uint16_t class_maker_class(struct class_maker *maker, const char *name)
{
    const uint16_t text = class_maker_text(maker, name);

    put_number(&maker->constants, 7, 1);
    put_number(&maker->constants, text, 2);
    return maker->constant_count++;
}

uint16_t class_maker_method_ref(struct class_maker *maker, const char *owner, const char *name,
                                const char *descriptor)
{
    const uint16_t owner_index = class_maker_class(maker, owner);
    const uint16_t name_index = class_maker_text(maker, name);
    const uint16_t type_index = class_maker_text(maker, descriptor);

    put_number(&maker->constants, 12, 1);
    put_number(&maker->constants, name_index, 2);
    put_number(&maker->constants, type_index, 2);
    maker->constant_count++;
    put_number(&maker->constants, 10, 1);
    put_number(&maker->constants, owner_index, 2);
    put_number(&maker->constants, maker->constant_count - 1u, 2);
    return maker->constant_count++;
}

void class_maker_begin(struct class_maker *maker, uint16_t major, const char *name,
                       const char *super)
{
    maker->constants.length = maker->fields.length = maker->methods.length = 0;
    maker->attributes.length = maker->whole.length = 0;
    maker->field_count = maker->method_count = maker->attribute_count = 0;
    maker->interface_count = 0;
    maker->constant_count = 1;
    maker->next_attributes.length = 0;
    maker->next_attribute_count = 0;
    maker->major = major;
    maker->access = 0x21;
    maker->name = class_maker_class(maker, name);
    maker->super = super == NULL ? 0 : class_maker_class(maker, super);
}

void class_maker_interface(struct class_maker *maker, const char *name)
{
    maker->interfaces[maker->interface_count++] = class_maker_class(maker, name);
}

static void put_annotation(struct class_maker *maker, struct class_maker_bytes *to,
                           const char *descriptor)
{
    const uint16_t name = class_maker_text(maker, "RuntimeVisibleAnnotations");
    const uint16_t type = class_maker_text(maker, descriptor);

    put_number(to, name, 2);
    put_number(to, 6, 4);
    put_number(to, 1, 2);
    put_number(to, type, 2);
    put_number(to, 0, 2);
}

void class_maker_annotate(struct class_maker *maker, const char *descriptor)
{
    put_annotation(maker, &maker->attributes, descriptor);
    maker->attribute_count++;
}

static uint16_t add_number(struct class_maker *maker, const struct class_maker_element *element)
{
    const bool is_long = element->kind == 'J';
    const uint16_t index = maker->constant_count;

    put_number(&maker->constants, is_long ? 5 : 3, 1);
    if (is_long)
        put_number(&maker->constants, (uint32_t)((uint64_t)element->number >> 32), 4);
    put_number(&maker->constants, (uint32_t)element->number, 4);
    maker->constant_count += is_long ? 2 : 1;
    return index;
}

static void put_element(struct class_maker *maker, struct class_maker_bytes *to,
                        const struct class_maker_element *element)
{
    uint32_t count = 0;

    put_number(to, class_maker_text(maker, element->name), 2);
    put(to, &element->kind, 1);
    while (count < 4 && element->texts[count] != NULL)
        count++;
    if (element->kind == '[')
        put_number(to, count, 2);
    for (uint32_t i = 0; i < count; i++) {
        if (element->kind == '[')
            put(to, "s", 1);
        put_number(to, class_maker_text(maker, element->texts[i]), 2);
    }
    if (count == 0 && element->kind != '[')
        put_number(to, add_number(maker, element), 2);
}

static void put_body(struct class_maker *maker, struct class_maker_bytes *to,
                     const struct class_maker_annotation *annotation)
{
    uint32_t count = 0;

    while (count < 4 && annotation->elements[count].name != NULL)
        count++;
    put_number(to, class_maker_text(maker, annotation->type), 2);
    put_number(to, count, 2);
    for (uint32_t i = 0; i < count; i++)
        put_element(maker, to, &annotation->elements[i]);
}

static size_t begin_attribute(struct class_maker *maker, struct class_maker_bytes *to,
                              const char *visible, const char *invisible)
{
    put_number(to, class_maker_text(maker, maker->has_visible ? visible : invisible), 2);
    put_number(to, 0, 4);
    return to->length;
}

static void end_attribute(struct class_maker_bytes *to, size_t begin)
{
    const size_t end = to->length;

    to->length = begin - 4;
    put_number(to, (uint32_t)(end - begin), 4);
    to->length = end;
}

static void put_all(struct class_maker *maker, struct class_maker_bytes *to,
                    const struct class_maker_annotation *all, unsigned count)
{
    const size_t begin =
        begin_attribute(maker, to, "RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations");

    put_number(to, count, 2);
    for (unsigned i = 0; i < count; i++)
        put_body(maker, to, &all[i]);
    end_attribute(to, begin);
}

void class_maker_annotate_class(struct class_maker *maker, const struct class_maker_annotation *all,
                                unsigned count)
{
    put_all(maker, &maker->attributes, all, count);
    maker->attribute_count++;
}

void class_maker_annotate_method(struct class_maker *maker,
                                 const struct class_maker_annotation *all, unsigned count)
{
    put_all(maker, &maker->next_attributes, all, count);
    maker->next_attribute_count++;
}

void class_maker_annotate_parameters(struct class_maker *maker,
                                     const struct class_maker_annotation *all, unsigned count)
{
    struct class_maker_bytes *to = &maker->next_attributes;
    const size_t begin = begin_attribute(maker, to, "RuntimeVisibleParameterAnnotations",
                                         "RuntimeInvisibleParameterAnnotations");

    put_number(to, count, 1);
    for (unsigned i = 0; i < count; i++) {
        put_number(to, all[i].type != NULL, 2);
        if (all[i].type != NULL)
            put_body(maker, to, &all[i]);
    }
    end_attribute(to, begin);
    maker->next_attribute_count++;
}

static void put_tables(struct class_maker *maker, const struct class_maker_code *code)
{
    struct class_maker_bytes *to = &maker->methods;

    put_number(to, code->exception_count, 2);
    for (int i = 0; i < code->exception_count * 4; i++)
        put_number(to, code->exceptions[i / 4][i % 4], 2);
    put_number(to, (code->line_count != 0) + (code->frame_count != 0) + (code->attribute != NULL),
               2);
    if (code->line_count != 0) {
        put_number(to, class_maker_text(maker, "LineNumberTable"), 2);
        put_number(to, 2 + 4u * code->line_count, 4);
        put_number(to, code->line_count, 2);
        for (int i = 0; i < code->line_count * 2; i++)
            put_number(to, code->lines[i / 2][i % 2], 2);
    }
    if (code->frame_count != 0) {
        put_number(to, class_maker_text(maker, "StackMapTable"), 2);
        put_number(to, 2 + code->frames_length, 4);
        put_number(to, code->frame_count, 2);
        put(to, code->frames, code->frames_length);
    }
    if (code->attribute != NULL) {
        put_number(to, class_maker_text(maker, code->attribute), 2);
        put_number(to, code->attribute_length, 4);
        put(to, code->attribute_bytes, code->attribute_length);
    }
}

void class_maker_method(struct class_maker *maker, uint16_t access, const char *name,
                        const char *descriptor, const struct class_maker_code *code)
{
    struct class_maker_bytes *to = &maker->methods;

    maker->method_count++;
    put_number(to, access, 2);
    put_number(to, class_maker_text(maker, name), 2);
    put_number(to, class_maker_text(maker, descriptor), 2);
    put_number(to,
               (code != NULL) + (code != NULL && code->annotation != NULL) +
                   maker->next_attribute_count,
               2);
    put(to, maker->next_attributes.bytes, maker->next_attributes.length);
    maker->next_attributes.length = 0;
    maker->next_attribute_count = 0;
    if (code == NULL)
        return;
    put_number(to, class_maker_text(maker, "Code"), 2);

    const size_t length_at = to->length;
    put_number(to, 0, 4);
    put_number(to, code->stack, 2);
    put_number(to, code->locals, 2);
    put_number(to, code->length, 4);
    put(to, code->bytes, code->length);
    put_tables(maker, code);

    const size_t end = to->length;
    to->length = length_at;
    put_number(to, (uint32_t)(end - length_at - 4), 4);
    to->length = end;
    if (code->annotation != NULL)
        put_annotation(maker, to, code->annotation);
}

struct class_maker_bytes class_maker_end(struct class_maker *maker)
{
    struct class_maker_bytes *to = &maker->whole;

    to->length = 0;
    put_number(to, 0xcafebabe, 4);
    put_number(to, maker->major, 4); /* minor 0 */
    put_number(to, maker->constant_count, 2);
    put(to, maker->constants.bytes, maker->constants.length);
    put_number(to, maker->access, 2);
    put_number(to, maker->name, 2);
    put_number(to, maker->super, 2);
    put_number(to, maker->interface_count, 2);
    for (int i = 0; i < maker->interface_count; i++)
        put_number(to, maker->interfaces[i], 2);
    put_number(to, maker->field_count, 2);
    put(to, maker->fields.bytes, maker->fields.length);
    put_number(to, maker->method_count, 2);
    put(to, maker->methods.bytes, maker->methods.length);
    put_number(to, maker->attribute_count, 2);
    put(to, maker->attributes.bytes, maker->attributes.length);
    return *to;
}

void class_maker_free(struct class_maker *maker)
{
    free(maker->constants.bytes);
    free(maker->fields.bytes);
    free(maker->methods.bytes);
    free(maker->attributes.bytes);
    free(maker->next_attributes.bytes);
    free(maker->whole.bytes);
    memset(maker, 0, sizeof *maker);
}
