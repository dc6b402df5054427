/* Constants and bootstraps that come to a class: behind what it has, so that no index changes. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

#define BUCKETS             256u /* a power of two */
#define ROOM_BYTES          (192u * 1024)
#define BOOTSTRAP_BYTES     (16u * 1024)
#define CONSTANTS_AT_MOST   16384u
#define BOOTSTRAP_ATTRIBUTE "BootstrapMethods"

struct addition {
    uint32_t offset_bytes;
    uint32_t length_bytes;
    uint32_t next; /* in its bucket: 1 + number; 0: the last */
};

struct classfile_additions {
    const struct classfile *file;
    struct classfile_out constants;
    struct classfile_out bootstraps; /* entries of the attribute */
    struct addition *all;
    uint32_t buckets[BUCKETS];
    uint16_t count;
    uint16_t bootstrap_count;     /* that came */
    uint16_t old_bootstrap_count; /* that were there */
    struct classfile_attribute old_bootstraps;
    uint16_t attribute_name; /* 0: the attribute is there */
    enum classfile_verdict verdict;
};

static enum classfile_verdict read_bootstraps(struct classfile_additions *of)
{
    const struct classfile *file = of->file;

    if (!classfile_find_attribute(file, file->attributes, BOOTSTRAP_ATTRIBUTE,
                                  &of->old_bootstraps)) {
        of->old_bootstraps = (struct classfile_attribute){.offset_bytes = 0}; /* not the last one */
        return CLASSFILE_OK;
    }

    struct classfile_in in = {.bytes = file->bytes,
                              .at_bytes = of->old_bootstraps.offset_bytes,
                              .end_bytes = of->old_bootstraps.offset_bytes +
                                           of->old_bootstraps.length_bytes};
    of->old_bootstrap_count = classfile_in_u2(&in);
    for (uint32_t i = 0; i < of->old_bootstrap_count && !in.is_failed; i++) {
        classfile_in_skip(&in, 2);
        classfile_in_skip(&in, 2u * classfile_in_u2(&in));
    }
    return in.is_failed || in.at_bytes != in.end_bytes ? CLASSFILE_BAD_BOOTSTRAP : CLASSFILE_OK;
}

struct classfile_additions *classfile_additions_open(const struct classfile *file,
                                                     struct classfile_memory *memory)
{
    struct classfile_additions *of = classfile_memory_take(memory, sizeof *of);
    uint8_t *room = classfile_memory_take(memory, ROOM_BYTES + BOOTSTRAP_BYTES);
    struct addition *all = classfile_memory_take(memory, sizeof *all * CONSTANTS_AT_MOST);

    if (of == NULL || room == NULL || all == NULL)
        return NULL;
    *of = (struct classfile_additions){
        .file = file,
        .all = all,
        .constants = {.bytes = room, .capacity_bytes = ROOM_BYTES},
        .bootstraps = {.bytes = room + ROOM_BYTES, .capacity_bytes = BOOTSTRAP_BYTES}};
    of->verdict = read_bootstraps(of);
    return of;
}

struct classfile_additions_mark classfile_additions_marked(const struct classfile_additions *of)
{
    return (struct classfile_additions_mark){of->constants.used_bytes, of->bootstraps.used_bytes,
                                             of->count, of->bootstrap_count};
}

static uint32_t bucket_of(const uint8_t *bytes, uint32_t length_bytes)
{
    uint32_t hash = 2166136261u;

    for (uint32_t i = 0; i < length_bytes; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return (hash ^ hash >> 16) & (BUCKETS - 1);
}

void classfile_additions_undo(struct classfile_additions *of, struct classfile_additions_mark mark)
{
    /* The last of a bucket that came is its first. */
    for (uint32_t number = of->count; number > mark.count; number--) {
        const struct addition *one = &of->all[number - 1];

        of->buckets[bucket_of(of->constants.bytes + one->offset_bytes, one->length_bytes)] =
            one->next;
    }
    of->count = mark.count;
    of->constants.used_bytes = mark.used_bytes;
    of->constants.is_failed = false;
    of->bootstraps.used_bytes = mark.bootstrap_bytes;
    of->bootstraps.is_failed = false;
    of->bootstrap_count = mark.bootstraps;
    if (of->attribute_name >= of->file->constant_count + of->count)
        of->attribute_name = 0;
    if (of->verdict != CLASSFILE_BAD_BOOTSTRAP)
        of->verdict = CLASSFILE_OK;
}

enum classfile_verdict classfile_additions_verdict(const struct classfile_additions *of)
{
    return of->verdict;
}

uint16_t classfile_additions_count(const struct classfile_additions *of)
{
    return (uint16_t)(of->file->constant_count + of->count);
}

void classfile_additions_put(const struct classfile_additions *of, struct classfile_out *out)
{
    classfile_out_bytes(out, of->constants.bytes, of->constants.used_bytes);
}

void classfile_additions_put_attributes(const struct classfile_additions *of,
                                        struct classfile_out *out)
{
    const struct classfile *file = of->file;
    const uint8_t *bytes = file->bytes;
    const uint32_t begin = file->attributes.offset_bytes;

    if (of->bootstrap_count == 0) {
        classfile_out_bytes(out, bytes + begin, file->length_bytes - begin);
        return;
    }
    classfile_out_u2(out, file->attributes.count + (of->attribute_name != 0));
    if (of->attribute_name != 0) {
        classfile_out_bytes(out, bytes + begin + 2, file->length_bytes - begin - 2);
        classfile_out_u2(out, of->attribute_name);
        classfile_out_u4(out, 2 + of->bootstraps.used_bytes);
        classfile_out_u2(out, of->bootstrap_count);
        classfile_out_bytes(out, of->bootstraps.bytes, of->bootstraps.used_bytes);
        return;
    }

    const struct classfile_attribute *old = &of->old_bootstraps;
    const uint32_t end = old->offset_bytes + old->length_bytes;
    classfile_out_bytes(out, bytes + begin + 2, old->offset_bytes - 4 - begin - 2);
    classfile_out_u4(out, old->length_bytes + of->bootstraps.used_bytes);
    classfile_out_u2(out, (uint32_t)of->old_bootstrap_count + of->bootstrap_count);
    classfile_out_bytes(out, bytes + old->offset_bytes + 2, old->length_bytes - 2);
    classfile_out_bytes(out, of->bootstraps.bytes, of->bootstraps.used_bytes);
    classfile_out_bytes(out, bytes + end, file->length_bytes - end);
}

/* ---- one constant ---- */

/* What was written from `begin_bytes` on is a constant: found among the others, or kept. 0: there is no room. */
static uint16_t keep(struct classfile_additions *of, uint32_t begin_bytes)
{
    const uint32_t length_bytes = of->constants.used_bytes - begin_bytes;
    const uint8_t *bytes = of->constants.bytes + begin_bytes;
    const uint32_t bucket = bucket_of(bytes, length_bytes);

    if (of->constants.is_failed || of->count == CONSTANTS_AT_MOST ||
        of->file->constant_count + of->count >= UINT16_MAX) {
        of->verdict = CLASSFILE_POOL_FULL;
        return 0;
    }
    for (uint32_t number = of->buckets[bucket]; number != 0; number = of->all[number - 1].next) {
        const struct addition *one = &of->all[number - 1];

        if (one->length_bytes == length_bytes &&
            memcmp(of->constants.bytes + one->offset_bytes, bytes, length_bytes) == 0) {
            of->constants.used_bytes = begin_bytes;
            return (uint16_t)(of->file->constant_count + number - 1);
        }
    }
    of->all[of->count] = (struct addition){begin_bytes, length_bytes, of->buckets[bucket]};
    of->buckets[bucket] = ++of->count;
    return (uint16_t)(of->file->constant_count + of->count - 1);
}

/* A tag, and one or two indices. */
static uint16_t add(struct classfile_additions *of, enum classfile_tag tag, uint16_t first,
                    uint16_t second, uint32_t index_count)
{
    const uint32_t begin_bytes = of->constants.used_bytes;

    if (of->verdict != CLASSFILE_OK)
        return 0;
    classfile_out_u1(&of->constants, tag);
    classfile_out_u2(&of->constants, first);
    if (index_count == 2)
        classfile_out_u2(&of->constants, second);
    return keep(of, begin_bytes);
}

uint16_t classfile_add_text(struct classfile_additions *of, const char *text, size_t length_bytes)
{
    const uint32_t begin_bytes = of->constants.used_bytes;

    if (length_bytes > UINT16_MAX)
        of->verdict = CLASSFILE_BAD_INSERTION;
    if (of->verdict != CLASSFILE_OK)
        return 0;
    classfile_out_u1(&of->constants, CLASSFILE_TAG_UTF8);
    classfile_out_u2(&of->constants, (uint32_t)length_bytes);
    classfile_out_bytes(&of->constants, text, length_bytes);
    return keep(of, begin_bytes);
}

uint16_t classfile_add_class_text(struct classfile_additions *of, struct classfile_text name)
{
    return add(of, CLASSFILE_TAG_CLASS, classfile_add_text(of, name.bytes, name.length_bytes), 0,
               1);
}

uint16_t classfile_add_class(struct classfile_additions *of, const char *name)
{
    return add(of, CLASSFILE_TAG_CLASS, classfile_add_text(of, name, strlen(name)), 0, 1);
}

uint16_t classfile_add_string(struct classfile_additions *of, const char *text, size_t length_bytes)
{
    return add(of, CLASSFILE_TAG_STRING, classfile_add_text(of, text, length_bytes), 0, 1);
}

uint16_t classfile_add_int(struct classfile_additions *of, int32_t value)
{
    const uint32_t begin_bytes = of->constants.used_bytes;

    if (of->verdict != CLASSFILE_OK)
        return 0;
    classfile_out_u1(&of->constants, CLASSFILE_TAG_INTEGER);
    classfile_out_u4(&of->constants, (uint32_t)value);
    return keep(of, begin_bytes);
}

static uint16_t add_name_and_type(struct classfile_additions *of, const char *name,
                                  const char *descriptor)
{
    const uint16_t name_index = classfile_add_text(of, name, strlen(name));

    return add(of, CLASSFILE_TAG_NAME_AND_TYPE, name_index,
               classfile_add_text(of, descriptor, strlen(descriptor)), 2);
}

uint16_t classfile_add_method(struct classfile_additions *of, const char *owner, const char *name,
                              const char *descriptor)
{
    const uint16_t owner_index = classfile_add_class(of, owner);

    return add(of, CLASSFILE_TAG_METHOD, owner_index, add_name_and_type(of, name, descriptor), 2);
}

uint16_t classfile_add_static_handle(struct classfile_additions *of, uint16_t method)
{
    const uint32_t begin_bytes = of->constants.used_bytes;

    if (of->verdict != CLASSFILE_OK)
        return 0;
    classfile_out_u1(&of->constants, CLASSFILE_TAG_METHOD_HANDLE);
    classfile_out_u1(&of->constants, 6); /* REF_invokeStatic */
    classfile_out_u2(&of->constants, method);
    return keep(of, begin_bytes);
}

/* Number of a bootstrap, found among the added ones or added. */
static uint32_t add_bootstrap(struct classfile_additions *of, uint16_t handle,
                              const uint16_t *arguments, uint16_t argument_count)
{
    struct classfile_out *out = &of->bootstraps;
    const uint32_t begin_bytes = out->used_bytes;
    uint32_t number = 0;

    classfile_out_u2(out, handle);
    classfile_out_u2(out, argument_count);
    for (uint32_t i = 0; i < argument_count; i++)
        classfile_out_u2(out, arguments[i]);
    if (out->is_failed || (uint32_t)of->old_bootstrap_count + of->bootstrap_count >= UINT16_MAX) {
        of->verdict = CLASSFILE_POOL_FULL;
        return 0;
    }

    const uint32_t length_bytes = out->used_bytes - begin_bytes;
    for (uint32_t at = 0; at < begin_bytes; number++) {
        const uint32_t other_bytes = 4 + 2u * classfile_u2(out->bytes + at + 2);

        if (other_bytes == length_bytes &&
            memcmp(out->bytes + at, out->bytes + begin_bytes, length_bytes) == 0) {
            out->used_bytes = begin_bytes;
            return of->old_bootstrap_count + number;
        }
        at += other_bytes;
    }
    of->bootstrap_count++;
    return of->old_bootstrap_count + number;
}

uint16_t classfile_add_call_site(struct classfile_additions *of, uint16_t bootstrap_handle,
                                 const uint16_t *arguments, uint16_t argument_count,
                                 const char *name, const char *descriptor)
{
    /* Source: chapter 4.10: from class files of version 51 on. */
    if (of->file->major < 51)
        of->verdict = CLASSFILE_BAD_INSERTION;
    if (of->old_bootstraps.offset_bytes == 0 && of->attribute_name == 0)
        of->attribute_name =
            classfile_add_text(of, BOOTSTRAP_ATTRIBUTE, strlen(BOOTSTRAP_ATTRIBUTE));

    const uint16_t pair = add_name_and_type(of, name, descriptor);
    if (of->verdict != CLASSFILE_OK)
        return 0;

    const uint32_t bootstrap = add_bootstrap(of, bootstrap_handle, arguments, argument_count);
    return add(of, CLASSFILE_TAG_INVOKE_DYNAMIC, (uint16_t)bootstrap, pair, 2);
}
