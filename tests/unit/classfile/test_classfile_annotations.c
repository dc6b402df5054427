/* Annotations of classes, methods and parameters, their values, and what is damaged. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/classfile.h"
#include "support/class_maker.h"

static struct class_maker maker;
static struct classfile_memory memory;
static struct classfile file;

static void open_all(void)
{
    memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
}

static void close_all(void)
{
    class_maker_free(&maker);
    free(memory.bytes);
}

TestSuite(classfile_annotations, .init = open_all, .fini = close_all, .timeout = 1800);

static const struct class_maker_annotation two[] = {
    {"Lcom/acme/First;",
     {{"number", 'I', -7, {NULL}},
      {"big", 'J', (int64_t)1 << 40, {NULL}},
      {"flag", 'Z', 1, {NULL}},
      {"text", 's', 0, {"words"}}}},
    {"Lcom/acme/Second;", {{"list", '[', 0, {"one", "two", "three"}}, {"none", '[', 0, {NULL}}}}};

static struct class_maker_bytes read_class(void)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);

    memory.used_bytes = 0;
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    return whole;
}

static bool value(const struct classfile_annotation *annotation, const char *name,
                  struct classfile_value *out)
{
    return classfile_value_of(&file, annotation, name, out);
}

static void expect_two(struct classfile_attributes attributes)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation one;
    struct classfile_value found, item;

    cr_assert(classfile_next_annotation(&file, attributes, &at, &one));
    cr_expect(classfile_is_text(one.type, "com/acme/First"));
    cr_expect(value(&one, "number", &found) && found.kind == 'I' && found.number == -7);
    cr_expect(value(&one, "big", &found) && found.kind == 'J' && found.number == (int64_t)1 << 40);
    cr_expect(value(&one, "flag", &found) && found.kind == 'Z' && found.number == 1);
    cr_expect(value(&one, "text", &found) && found.kind == 's' &&
              classfile_is_text(found.text, "words"));
    cr_expect(!classfile_next_value(&file, &found, &item), "a text is no array");
    cr_expect(!value(&one, "list", &found) && !value(&one, "", &found), "not of this one");

    cr_assert(classfile_next_annotation(&file, attributes, &at, &one));
    cr_expect(classfile_is_text(one.type, "com/acme/Second"));
    cr_assert(value(&one, "list", &found) && found.kind == '[' && found.left == 3);
    for (unsigned i = 0; i < 3; i++)
        cr_expect(classfile_next_value(&file, &found, &item) &&
                      classfile_is_text(item.text, two[1].elements[0].texts[i]),
                  "item %u", i);
    cr_expect(!classfile_next_value(&file, &found, &item));
    cr_expect(value(&one, "none", &found) && found.left == 0);
    cr_expect(!classfile_next_annotation(&file, attributes, &at, &one) && !at.is_damaged);
}

Test(classfile_annotations, of_classes_and_methods_visible_or_not)
{
    for (int visible = 0; visible < 2; visible++) {
        class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
        maker.has_visible = visible;
        class_maker_annotate_class(&maker, two, 2);
        class_maker_annotate_method(&maker, two, 2);
        class_maker_method(&maker, 0x401, "add", "()V", NULL);
        read_class();
        expect_two(file.attributes);
        expect_two(file.methods[0].attributes);
    }
}

/* An attribute of each kind: those of both are met, in their order. */
Test(classfile_annotations, of_two_attributes)
{
    class_maker_annotate_class(&maker, two, 1);
    maker.has_visible = true;
    class_maker_annotate_class(&maker, &two[1], 1);
    read_class();
    expect_two(file.attributes);
}

Test(classfile_annotations, of_parameters_by_their_number)
{
    const struct class_maker_annotation parameters[] = {two[0], {NULL, {{NULL}}}, two[1]};
    struct classfile_annotation one;

    class_maker_annotate_method(&maker, two, 2);
    class_maker_annotate_parameters(&maker, parameters, 3);
    class_maker_method(&maker, 0x401, "add", "(III)V", NULL);
    read_class();
    for (uint16_t i = 0; i < 5; i++) {
        struct classfile_annotation_cursor at = {.left = 0};
        const bool is_there =
            classfile_next_parameter_annotation(&file, file.methods[0].attributes, i, &at, &one);

        cr_expect(is_there == (i == 0 || i == 2), "parameter %d", i);
        if (is_there)
            cr_expect(classfile_is_text(one.type, i == 0 ? "com/acme/First" : "com/acme/Second") &&
                      !classfile_next_parameter_annotation(&file, file.methods[0].attributes, i,
                                                           &at, &one));
        cr_expect(!at.is_damaged);
    }
    expect_two(file.methods[0].attributes);
}

/* More annotations are counted than there are: what is whole is given, and what is not is said. */
Test(classfile_annotations, damage_is_told)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_attribute attribute;
    struct classfile_annotation one;

    class_maker_annotate_class(&maker, two, 2);
    const struct class_maker_bytes whole = read_class();
    cr_assert(classfile_find_attribute(&file, file.attributes, "RuntimeInvisibleAnnotations",
                                       &attribute));
    whole.bytes[attribute.offset_bytes + 1] = 3;
    cr_expect(classfile_next_annotation(&file, file.attributes, &at, &one));
    cr_expect(classfile_next_annotation(&file, file.attributes, &at, &one));
    cr_expect(!at.is_damaged);
    cr_expect(!classfile_next_annotation(&file, file.attributes, &at, &one) && at.is_damaged);
    cr_expect(!classfile_next_annotation(&file, file.attributes, &at, &one), "for good");
}

Test(classfile_annotations, types_of_a_descriptor_one_after_the_other)
{
    static const char *const wanted[] = {"I", "[J", "Ljava/lang/String;", "[[La;"};
    const char *text = "(I[JLjava/lang/String;[[La;)V";
    const struct classfile_text descriptor = {text, (uint32_t)strlen(text)};
    struct classfile_text type;
    uint32_t at = 1;

    for (unsigned i = 0; i < 4; i++)
        cr_expect(classfile_next_type(descriptor, &at, &type) && classfile_is_text(type, wanted[i]),
                  "%s", wanted[i]);
    cr_expect(!classfile_next_type(descriptor, &at, &type) && text[at] == ')');
    at = descriptor.length_bytes;
    cr_expect(!classfile_next_type(descriptor, &at, &type));
}
