/* What the files of this room share: bytes of a class file, most significant first. Context: hook, tool. */
#ifndef JW_CLASSFILE_CLASSFILE_INTERNAL_H
#define JW_CLASSFILE_CLASSFILE_INTERNAL_H

#include <string.h>

#include "classfile/classfile.h"

static inline uint16_t classfile_u2(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t classfile_u4(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline void classfile_set_u2(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void classfile_set_u4(uint8_t *at, uint32_t value)
{
    classfile_set_u2(at, value >> 16);
    classfile_set_u2(at + 2, value);
}

/* Reads forward within bounds; past them it fails, once and for good, and reads zeros. */
struct classfile_in {
    const uint8_t *bytes;
    uint32_t at_bytes;
    uint32_t end_bytes;
    bool is_failed;
};

static inline const uint8_t *classfile_in_take(struct classfile_in *in, uint32_t count_bytes)
{
    static const uint8_t zeros[8];

    if (in->is_failed || in->end_bytes - in->at_bytes < count_bytes) {
        in->is_failed = true;
        return zeros;
    }
    in->at_bytes += count_bytes;
    return in->bytes + in->at_bytes - count_bytes;
}

static inline uint8_t classfile_in_u1(struct classfile_in *in)
{
    return *classfile_in_take(in, 1);
}

static inline uint16_t classfile_in_u2(struct classfile_in *in)
{
    return classfile_u2(classfile_in_take(in, 2));
}

static inline uint32_t classfile_in_u4(struct classfile_in *in)
{
    return classfile_u4(classfile_in_take(in, 4));
}

static inline void classfile_in_skip(struct classfile_in *in, uint32_t count_bytes)
{
    if (in->is_failed || in->end_bytes - in->at_bytes < count_bytes)
        in->is_failed = true;
    else
        in->at_bytes += count_bytes;
}

/* The pool, from `in` on. classfile_pool.c */
JW_MUST_CHECK enum classfile_verdict classfile_read_pool(struct classfile_in *in,
                                                         struct classfile_memory *memory,
                                                         struct classfile *file);

/* An annotation, from behind its type on. `depth` is 0. classfile_annotations.c */
void classfile_skip_annotation(struct classfile_in *in, int depth);

/* Behind one type of a descriptor; its words on the stack. NULL: it is none. classfile.c */
const char *classfile_skip_type(const char *at, const char *end, uint32_t *words);

/* Before 45.3 a Code attribute had shorter counts. Source: HotSpot, ClassFileParser::parse_method. */
static inline bool classfile_has_short_code(const struct classfile *file)
{
    return file->major == 45 && file->minor <= 2;
}

#endif
