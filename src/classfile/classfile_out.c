/* Bytes that are written, most significant first, into room that has an end. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

static uint8_t *room(struct classfile_out *out, size_t length_bytes)
{
    if (out->is_failed || out->capacity_bytes - out->used_bytes < length_bytes) {
        out->is_failed = true;
        return NULL;
    }
    out->used_bytes += (uint32_t)length_bytes;
    return out->bytes + out->used_bytes - length_bytes;
}

void classfile_out_bytes(struct classfile_out *out, const void *bytes, size_t length_bytes)
{
    uint8_t *at = room(out, length_bytes);

    if (at != NULL && length_bytes != 0)
        memcpy(at, bytes, length_bytes);
}

void classfile_out_u1(struct classfile_out *out, uint32_t value)
{
    uint8_t *at = room(out, 1);

    if (at != NULL)
        *at = (uint8_t)value;
}

void classfile_out_u2(struct classfile_out *out, uint32_t value)
{
    uint8_t *at = room(out, 2);

    if (at != NULL)
        classfile_set_u2(at, value);
}

void classfile_out_u4(struct classfile_out *out, uint32_t value)
{
    uint8_t *at = room(out, 4);

    if (at != NULL)
        classfile_set_u4(at, value);
}
