/* The constant pool: where each constant stands, and that each names constants that fit. Context: hook, tool. */
#include "classfile/classfile_internal.h"

#define TAG_LIMIT 21

/* What one constant may name: bits of tags. */
#define ONE_OF(tag) (1u << CLASSFILE_TAG_##tag)

struct shape {
    uint8_t length_bytes; /* with its tag; 0: unknown, or Utf8 */
    uint8_t slots;
    uint32_t first;  /* tags of what its first u2 names; 0: it names nothing */
    uint32_t second; /* of the second */
};

#define MEMBERS (ONE_OF(FIELD) | ONE_OF(METHOD) | ONE_OF(INTERFACE_METHOD))

static const struct shape shapes[TAG_LIMIT] = {
    [CLASSFILE_TAG_INTEGER] = {5, 1, 0, 0},
    [CLASSFILE_TAG_FLOAT] = {5, 1, 0, 0},
    [CLASSFILE_TAG_LONG] = {9, 2, 0, 0},
    [CLASSFILE_TAG_DOUBLE] = {9, 2, 0, 0},
    [CLASSFILE_TAG_CLASS] = {3, 1, ONE_OF(UTF8), 0},
    [CLASSFILE_TAG_STRING] = {3, 1, ONE_OF(UTF8), 0},
    [CLASSFILE_TAG_FIELD] = {5, 1, ONE_OF(CLASS), ONE_OF(NAME_AND_TYPE)},
    [CLASSFILE_TAG_METHOD] = {5, 1, ONE_OF(CLASS), ONE_OF(NAME_AND_TYPE)},
    [CLASSFILE_TAG_INTERFACE_METHOD] = {5, 1, ONE_OF(CLASS), ONE_OF(NAME_AND_TYPE)},
    [CLASSFILE_TAG_NAME_AND_TYPE] = {5, 1, ONE_OF(UTF8), ONE_OF(UTF8)},
    /* Its kind is a byte, and what it names is looked at apart. */
    [CLASSFILE_TAG_METHOD_HANDLE] = {4, 1, 0, 0},
    [CLASSFILE_TAG_METHOD_TYPE] = {3, 1, ONE_OF(UTF8), 0},
    /* The first is a number of the BootstrapMethods attribute. */
    [CLASSFILE_TAG_DYNAMIC] = {5, 1, 0, ONE_OF(NAME_AND_TYPE)},
    [CLASSFILE_TAG_INVOKE_DYNAMIC] = {5, 1, 0, ONE_OF(NAME_AND_TYPE)},
    [CLASSFILE_TAG_MODULE] = {3, 1, ONE_OF(UTF8), 0},
    [CLASSFILE_TAG_PACKAGE] = {3, 1, ONE_OF(UTF8), 0},
};

enum classfile_tag classfile_tag_of(const struct classfile *file, uint16_t index)
{
    if (index >= file->constant_count || file->constant_offsets[index] == 0)
        return CLASSFILE_TAG_NONE;
    return (enum classfile_tag)file->bytes[file->constant_offsets[index]];
}

static bool names_one_of(const struct classfile *file, const uint8_t *at, uint32_t wanted)
{
    return (wanted >> classfile_tag_of(file, classfile_u2(at)) & 1) != 0;
}

static bool is_sound(const struct classfile *file, const uint8_t *at)
{
    const struct shape *shape = &shapes[at[0]];

    if (at[0] == CLASSFILE_TAG_METHOD_HANDLE)
        return at[1] >= 1 && at[1] <= 9 && names_one_of(file, at + 2, MEMBERS);
    return (shape->first == 0 || names_one_of(file, at + 1, shape->first)) &&
           (shape->second == 0 || names_one_of(file, at + 3, shape->second));
}

enum classfile_verdict classfile_read_pool(struct classfile_in *in, struct classfile_memory *memory,
                                           struct classfile *file)
{
    const uint16_t count = classfile_in_u2(in);
    uint32_t *offsets = classfile_memory_take(memory, sizeof *offsets * ((size_t)count + 1));

    if (offsets == NULL)
        return CLASSFILE_NO_MEMORY;
    memset(offsets, 0, sizeof *offsets * ((size_t)count + 1));
    for (uint32_t index = 1; index < count && !in->is_failed;) {
        const uint32_t at_bytes = in->at_bytes;
        const uint8_t tag = classfile_in_u1(in);

        if (in->is_failed)
            break;
        if (tag == CLASSFILE_TAG_UTF8) {
            classfile_in_skip(in, classfile_in_u2(in));
            offsets[index++] = at_bytes;
            continue;
        }
        if (tag >= TAG_LIMIT || shapes[tag].length_bytes == 0)
            return CLASSFILE_BAD_CONSTANT;
        classfile_in_skip(in, shapes[tag].length_bytes - 1u);
        /* The second slot of a long that is the last would lie outside. */
        if (index + shapes[tag].slots > count)
            return CLASSFILE_BAD_CONSTANT;
        offsets[index] = at_bytes;
        index += shapes[tag].slots;
    }
    if (in->is_failed)
        return CLASSFILE_CUT;
    file->constant_count = count;
    file->constant_offsets = offsets;
    file->constants_end_bytes = in->at_bytes;
    for (uint32_t index = 1; index < count; index++) {
        if (offsets[index] != 0 && !is_sound(file, file->bytes + offsets[index]))
            return CLASSFILE_BAD_CONSTANT;
    }
    return CLASSFILE_OK;
}

static struct classfile_text utf8_at(const struct classfile *file, uint16_t index)
{
    const uint8_t *at = file->bytes + file->constant_offsets[index];

    return (struct classfile_text){(const char *)at + 3, classfile_u2(at + 1)};
}

struct classfile_text classfile_text_of(const struct classfile *file, uint16_t index)
{
    switch (classfile_tag_of(file, index)) {
    case CLASSFILE_TAG_UTF8:
        return utf8_at(file, index);
    case CLASSFILE_TAG_CLASS:
    case CLASSFILE_TAG_STRING:
    case CLASSFILE_TAG_MODULE:
    case CLASSFILE_TAG_PACKAGE:
        return utf8_at(file, classfile_u2(file->bytes + file->constant_offsets[index] + 1));
    case CLASSFILE_TAG_NONE:
    case CLASSFILE_TAG_INTEGER:
    case CLASSFILE_TAG_FLOAT:
    case CLASSFILE_TAG_LONG:
    case CLASSFILE_TAG_DOUBLE:
    case CLASSFILE_TAG_FIELD:
    case CLASSFILE_TAG_METHOD:
    case CLASSFILE_TAG_INTERFACE_METHOD:
    case CLASSFILE_TAG_NAME_AND_TYPE:
    case CLASSFILE_TAG_METHOD_HANDLE:
    case CLASSFILE_TAG_METHOD_TYPE:
    case CLASSFILE_TAG_DYNAMIC:
    case CLASSFILE_TAG_INVOKE_DYNAMIC:
        break;
    }
    return (struct classfile_text){"", 0};
}

struct classfile_reference classfile_reference_of(const struct classfile *file, uint16_t index)
{
    const enum classfile_tag tag = classfile_tag_of(file, index);
    const struct classfile_text none = {"", 0};
    struct classfile_reference out = {none, none, none};

    if (tag != CLASSFILE_TAG_FIELD && tag != CLASSFILE_TAG_METHOD &&
        tag != CLASSFILE_TAG_INTERFACE_METHOD && tag != CLASSFILE_TAG_DYNAMIC &&
        tag != CLASSFILE_TAG_INVOKE_DYNAMIC)
        return out;

    const uint8_t *at = file->bytes + file->constant_offsets[index];
    const uint8_t *pair = file->bytes + file->constant_offsets[classfile_u2(at + 3)];
    if (tag != CLASSFILE_TAG_DYNAMIC && tag != CLASSFILE_TAG_INVOKE_DYNAMIC)
        out.owner = classfile_text_of(file, classfile_u2(at + 1));
    out.name = utf8_at(file, classfile_u2(pair + 1));
    out.descriptor = utf8_at(file, classfile_u2(pair + 3));
    return out;
}
