/* Annotations, and the values of their elements. Context: hook, tool. */
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

/* ---- one after the other ---- */

static bool is_either(struct classfile_text name, bool is_of_parameters)
{
    return is_of_parameters ? classfile_is_text(name, "RuntimeVisibleParameterAnnotations") ||
                                  classfile_is_text(name, "RuntimeInvisibleParameterAnnotations")
                            : classfile_is_text(name, "RuntimeVisibleAnnotations") ||
                                  classfile_is_text(name, "RuntimeInvisibleAnnotations");
}

/* Past the annotations of the parameters before. False: it has none of its own here. */
static bool find_parameter(struct classfile_in *in, uint16_t parameter)
{
    const uint8_t count = classfile_in_u1(in);

    if (parameter >= count)
        return false;
    for (uint16_t i = 0; i < parameter; i++) {
        for (uint32_t left = classfile_in_u2(in); left != 0 && !in->is_failed; left--) {
            classfile_in_skip(in, 2);
            classfile_skip_annotation(in, 0);
        }
    }
    return true;
}

/* To the next attribute with annotations; `parameter` < 0: of the thing itself. */
static bool begin_list(const struct classfile *file, struct classfile_attributes attributes,
                       int parameter, struct classfile_annotation_cursor *at)
{
    struct classfile_attribute attribute;

    while (classfile_next_attribute(file, attributes, &at->attributes, &attribute)) {
        if (!is_either(attribute.name, parameter >= 0))
            continue;

        struct classfile_in in = {.bytes = file->bytes,
                                  .at_bytes = attribute.offset_bytes,
                                  .end_bytes = attribute.offset_bytes + attribute.length_bytes};
        if (parameter >= 0 && !find_parameter(&in, (uint16_t)parameter))
            continue;
        at->left = classfile_in_u2(&in);
        at->at_bytes = in.at_bytes;
        at->end_bytes = in.end_bytes;
        at->is_damaged = in.is_failed;
        if (at->left != 0 || at->is_damaged)
            return !at->is_damaged;
    }
    return false;
}

static bool next(const struct classfile *file, struct classfile_attributes attributes,
                 int parameter, struct classfile_annotation_cursor *at,
                 struct classfile_annotation *out)
{
    if (at->is_damaged || (at->left == 0 && !begin_list(file, attributes, parameter, at)))
        return false;

    struct classfile_in in = {
        .bytes = file->bytes, .at_bytes = at->at_bytes, .end_bytes = at->end_bytes};
    out->type = class_of(classfile_text_of(file, classfile_in_u2(&in)));
    out->offset_bytes = in.at_bytes;
    out->end_bytes = in.end_bytes;
    classfile_skip_annotation(&in, 0);
    at->at_bytes = in.at_bytes;
    at->left--;
    at->is_damaged = in.is_failed;
    return !in.is_failed;
}

bool classfile_next_annotation(const struct classfile *file, struct classfile_attributes attributes,
                               struct classfile_annotation_cursor *at,
                               struct classfile_annotation *out)
{
    return next(file, attributes, -1, at, out);
}

bool classfile_next_parameter_annotation(const struct classfile *file,
                                         struct classfile_attributes attributes, uint16_t parameter,
                                         struct classfile_annotation_cursor *at,
                                         struct classfile_annotation *out)
{
    return next(file, attributes, parameter, at, out);
}

bool classfile_has_annotation(const struct classfile *file, struct classfile_attributes attributes,
                              bool (*is_it)(void *context, struct classfile_text name),
                              void *context)
{
    struct classfile_annotation_cursor at = {.left = 0};
    struct classfile_annotation annotation;

    while (classfile_next_annotation(file, attributes, &at, &annotation)) {
        if (annotation.type.length_bytes != 0 && is_it(context, annotation.type))
            return true;
    }
    return false;
}

/* ---- values ---- */

static int64_t number_of(const struct classfile *file, uint16_t index)
{
    const enum classfile_tag tag = classfile_tag_of(file, index);

    if (tag != CLASSFILE_TAG_INTEGER && tag != CLASSFILE_TAG_LONG)
        return 0;
    const uint8_t *at = file->bytes + file->constant_offsets[index] + 1;
    if (tag == CLASSFILE_TAG_INTEGER)
        return (int32_t)classfile_u4(at);
    return (int64_t)((uint64_t)classfile_u4(at) << 32 | classfile_u4(at + 4));
}

/* From its kind on; in.is_failed: it cannot be read. */
static struct classfile_value read_value(const struct classfile *file, struct classfile_in *in)
{
    const struct classfile_in begin = *in;
    struct classfile_value value = {
        .kind = (char)classfile_in_u1(in), .text = {"", 0}, .end_bytes = in->end_bytes};

    switch (value.kind) {
    case 's':
    case 'c':
        value.text = classfile_text_of(file, classfile_in_u2(in));
        break;
    case 'e':
        classfile_in_skip(in, 2);
        value.text = classfile_text_of(file, classfile_in_u2(in));
        break;
    case '[':
        value.left = classfile_in_u2(in);
        value.offset_bytes = in->at_bytes;
        break;
    case '@':
        value.offset_bytes = in->at_bytes;
        break;
    default:
        value.number = number_of(file, classfile_in_u2(in));
        break;
    }
    if (value.kind == '[' || value.kind == '@') {
        *in = begin;
        skip_value(in, 0);
    }
    return value;
}

bool classfile_value_of(const struct classfile *file, const struct classfile_annotation *annotation,
                        const char *name, struct classfile_value *out)
{
    struct classfile_in in = {.bytes = file->bytes,
                              .at_bytes = annotation->offset_bytes,
                              .end_bytes = annotation->end_bytes};

    for (uint32_t left = classfile_in_u2(&in); left != 0 && !in.is_failed; left--) {
        const struct classfile_text its_name = classfile_text_of(file, classfile_in_u2(&in));

        *out = read_value(file, &in);
        if (classfile_is_text(its_name, name))
            return !in.is_failed;
    }
    return false;
}

bool classfile_next_value(const struct classfile *file, struct classfile_value *array,
                          struct classfile_value *out)
{
    struct classfile_in in = {
        .bytes = file->bytes, .at_bytes = array->offset_bytes, .end_bytes = array->end_bytes};

    if (array->kind != '[' || array->left == 0)
        return false;
    *out = read_value(file, &in);
    array->offset_bytes = in.at_bytes;
    array->left--;
    return !in.is_failed;
}
