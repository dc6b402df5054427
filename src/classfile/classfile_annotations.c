/* Annotations: whether one of a name is there. Context: hook, tool. */
#include "classfile/classfile_internal.h"

/* Values of annotations may hold annotations and arrays; deeper ones are not read. */
#define DEPTH_LIMIT 32

static void skip_value(struct classfile_in *in, int depth)
{
    if (depth > DEPTH_LIMIT) {
        in->is_failed = true;
        return;
    }
    switch (classfile_in_u1(in)) {
    case 'e':
        classfile_in_skip(in, 4);
        break;
    case '@':
        classfile_in_skip(in, 2);
        classfile_skip_annotation(in, depth + 1);
        break;
    case '[': {
        const uint16_t count = classfile_in_u2(in);

        for (uint32_t i = 0; i < count && !in->is_failed; i++)
            skip_value(in, depth + 1);
        break;
    }
    default:
        classfile_in_skip(in, 2);
        break;
    }
}

/* From behind its type. */
void classfile_skip_annotation(struct classfile_in *in, int depth)
{
    const uint16_t count = classfile_in_u2(in);

    for (uint32_t i = 0; i < count && !in->is_failed; i++) {
        classfile_in_skip(in, 2);
        skip_value(in, depth);
    }
}

/* "Lcom/acme/Timed;" as "com/acme/Timed"; "": it is no class. */
static struct classfile_text class_of(struct classfile_text type)
{
    if (type.length_bytes < 3 || type.bytes[0] != 'L' || type.bytes[type.length_bytes - 1] != ';')
        return (struct classfile_text){"", 0};
    return (struct classfile_text){type.bytes + 1, type.length_bytes - 2};
}

bool classfile_has_annotation(const struct classfile *file, struct classfile_attributes attributes,
                              bool (*is_it)(void *context, struct classfile_text name),
                              void *context)
{
    struct classfile_cursor at = {0};
    struct classfile_attribute attribute;

    while (classfile_next_attribute(file, attributes, &at, &attribute)) {
        if (!classfile_is_text(attribute.name, "RuntimeVisibleAnnotations") &&
            !classfile_is_text(attribute.name, "RuntimeInvisibleAnnotations"))
            continue;

        struct classfile_in in = {.bytes = file->bytes,
                                  .at_bytes = attribute.offset_bytes,
                                  .end_bytes = attribute.offset_bytes + attribute.length_bytes};
        const uint16_t count = classfile_in_u2(&in);
        for (uint32_t i = 0; i < count; i++) {
            const struct classfile_text name =
                class_of(classfile_text_of(file, classfile_in_u2(&in)));

            if (in.is_failed)
                break;
            if (name.length_bytes != 0 && is_it(context, name))
                return true;
            classfile_skip_annotation(&in, 0);
        }
    }
    return false;
}
