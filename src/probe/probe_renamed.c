/* Texts of constants become others. Source: The Java Virtual Machine Specification, 4.4. */
#include "probe/probe_renamed.h"

#include <string.h>

#include "base/jw.h"
#include "classfile/classfile.h"

#define HEAD_BYTES 10u /* up to the first constant */
#define TEXT_BYTES 3u  /* before a text */

struct copying {
    const uint8_t *bytes;
    size_t length_bytes, at;
    uint8_t *out;
    size_t used_bytes, room_bytes;
    bool is_renamed, is_failed;
};

static uint32_t u2_at(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

/* Of a constant that is no text, with its tag; 0: there is no such one. */
static size_t constant_bytes(uint8_t tag)
{
    static const uint8_t lengths[] = {
        [3] = 5,  [4] = 5,  [5] = 9,  [6] = 9,  [7] = 3,  [8] = 3,  [9] = 5,  [10] = 5,
        [11] = 5, [12] = 5, [15] = 4, [16] = 3, [17] = 5, [18] = 5, [19] = 3, [20] = 3};

    return tag < JW_COUNT_OF(lengths) ? lengths[tag] : 0;
}

static void put(struct copying *copying, const void *bytes, size_t length_bytes)
{
    if (copying->is_failed || copying->room_bytes - copying->used_bytes < length_bytes) {
        copying->is_failed = true;
        return;
    }
    memcpy(copying->out + copying->used_bytes, bytes, length_bytes);
    copying->used_bytes += length_bytes;
}

static void copy(struct copying *copying, size_t length_bytes)
{
    if (copying->length_bytes - copying->at < length_bytes) {
        copying->is_failed = true;
        return;
    }
    put(copying, copying->bytes + copying->at, length_bytes);
    copying->at += length_bytes;
}

static void copy_text(struct copying *copying, const struct probe_renaming *renaming)
{
    const size_t from_bytes = strlen(renaming->from), began = copying->used_bytes;

    if (copying->length_bytes - copying->at < TEXT_BYTES) {
        copying->is_failed = true;
        return;
    }
    const size_t end = copying->at + TEXT_BYTES + u2_at(copying->bytes + copying->at + 1);
    copy(copying, TEXT_BYTES);
    while (!copying->is_failed && copying->at < end) {
        const uint8_t *now = copying->bytes + copying->at;
        const uint8_t *found = end > copying->length_bytes
                                   ? NULL
                                   : memmem(now, end - copying->at, renaming->from, from_bytes);

        copy(copying, found == NULL ? end - copying->at : (size_t)(found - now));
        if (found != NULL) {
            put(copying, renaming->to, strlen(renaming->to));
            copying->at += from_bytes;
            copying->is_renamed = true;
        }
    }
    if (copying->is_failed)
        return;
    const size_t text_bytes = copying->used_bytes - began - TEXT_BYTES;
    copying->is_failed = text_bytes > UINT16_MAX;
    copying->out[began + 1] = (uint8_t)(text_bytes >> 8);
    copying->out[began + 2] = (uint8_t)text_bytes;
}

size_t probe_renamed_room_bytes(size_t class_bytes, const struct probe_renaming *renaming)
{
    const size_t from_bytes = strlen(renaming->from), to_bytes = strlen(renaming->to);

    return to_bytes <= from_bytes
               ? class_bytes
               : class_bytes + class_bytes / from_bytes * (to_bytes - from_bytes);
}

size_t probe_renamed_class(const uint8_t *bytes, size_t length_bytes,
                           const struct probe_renaming *renaming, uint8_t *out, size_t room_bytes)
{
    struct copying copying = {
        .bytes = bytes, .length_bytes = length_bytes, .out = out, .room_bytes = room_bytes};

    if (length_bytes < HEAD_BYTES)
        return 0;
    const uint32_t count = u2_at(bytes + HEAD_BYTES - 2);
    copy(&copying, HEAD_BYTES);
    for (uint32_t i = 1; i < count && !copying.is_failed; i++) {
        const uint8_t tag = copying.at < length_bytes ? bytes[copying.at] : 0;

        if (tag == CLASSFILE_TAG_UTF8) {
            copy_text(&copying, renaming);
            continue;
        }
        copying.is_failed |= constant_bytes(tag) == 0;
        copy(&copying, constant_bytes(tag));
        i += constant_bytes(tag) == 9; /* longs and doubles take two numbers */
    }
    copy(&copying, length_bytes - copying.at);
    return copying.is_failed || !copying.is_renamed ? 0 : copying.used_bytes;
}
