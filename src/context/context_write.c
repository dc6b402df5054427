/* What the owner of a slot writes into it; any, on the owner's own thread. */
#include <string.h>

#include "base/atomics.h"
#include "context/context_internal.h"

#define ENTRY_HEAD_BYTES 2u /* key index and length */

static void put_big_endian(unsigned char to[8], uint64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(value >> (56 - 8 * i));
}

/* A handler that comes between these two finds the record not valid. The fences are the compiler's: reader and writer
 * are one thread. */
static void begin(struct context_place *place)
{
    place->valid = 0;
    jw_signal_fence();
}

static void end(struct context_place *place)
{
    jw_signal_fence();
    place->valid = 1;
}

void context_set(context_slot slot, const struct context_ids *ids)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL)
        return;
    begin(place);
    put_big_endian(place->trace_id, ids->trace_high);
    put_big_endian(place->trace_id + 8, ids->trace_low);
    put_big_endian(place->span_id, ids->span_id);
    place->trace_flags = 0;
    place->root_span_id = ids->root_span_id;
    end(place);
}

static uint64_t from_big_endian(const unsigned char bytes[8])
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

bool context_get(context_slot slot, struct context_ids *ids)
{
    const struct context_place *place = context_place_of(slot);

    if (place == NULL || place->valid != 1)
        return false;
    *ids =
        (struct context_ids){from_big_endian(place->trace_id), from_big_endian(place->trace_id + 8),
                             from_big_endian(place->span_id), place->root_span_id};
    return true;
}

void context_clear(context_slot slot)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL)
        return;
    begin(place);
    memset(place->trace_id, 0, sizeof place->trace_id);
    memset(place->span_id, 0, sizeof place->span_id);
    place->trace_flags = 0;
    place->root_span_id = 0;
    place->attributes_bytes = 0;
    end(place);
}

/* Bytes in use: what stands there may be another writer's, so it is believed no further than it goes. */
static size_t used_bytes(const struct context_place *place)
{
    const size_t bytes = place->attributes_bytes;

    return bytes <= CONTEXT_ATTRIBUTES_BYTES ? bytes : 0;
}

/* The attributes without this one, close together; returns their bytes. The record is not valid meanwhile. */
static size_t drop(struct context_place *place, unsigned number)
{
    const size_t used = used_bytes(place);
    unsigned char *const bytes = place->attributes;
    size_t to = 0;

    for (size_t from = 0; from + ENTRY_HEAD_BYTES <= used;) {
        const size_t entry = ENTRY_HEAD_BYTES + bytes[from + 1];
        const bool is_kept = bytes[from] != number;

        if (from + entry > used)
            break;
        if (is_kept && to != from)
            memmove(bytes + to, bytes + from, entry);
        to += is_kept ? entry : 0;
        from += entry;
    }
    return to;
}

/* Bytes that the other attributes take. */
static size_t others_bytes(const struct context_place *place, unsigned number)
{
    const size_t used = used_bytes(place);
    size_t others = 0;

    for (size_t at = 0; at + ENTRY_HEAD_BYTES <= used;) {
        const size_t entry = ENTRY_HEAD_BYTES + place->attributes[at + 1];

        if (at + entry > used)
            break;
        others += place->attributes[at] != number ? entry : 0;
        at += entry;
    }
    return others;
}

bool context_attribute_set(context_slot slot, unsigned number, const char *value,
                           size_t length_bytes)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL || number >= context_attribute_count() ||
        length_bytes > CONTEXT_VALUE_MAX_BYTES ||
        others_bytes(place, number) + ENTRY_HEAD_BYTES + length_bytes > CONTEXT_ATTRIBUTES_BYTES)
        return false;
    begin(place);
    const size_t at = drop(place, number);
    place->attributes[at] = (unsigned char)number;
    place->attributes[at + 1] = (unsigned char)length_bytes;
    if (length_bytes > 0)
        memcpy(place->attributes + at + ENTRY_HEAD_BYTES, value, length_bytes);
    place->attributes_bytes = (uint16_t)(at + ENTRY_HEAD_BYTES + length_bytes);
    end(place);
    return true;
}

void context_attribute_clear(context_slot slot, unsigned number)
{
    struct context_place *place = context_place_of(slot);

    if (place == NULL)
        return;
    begin(place);
    place->attributes_bytes = (uint16_t)drop(place, number);
    end(place);
}
