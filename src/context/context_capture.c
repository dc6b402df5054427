/* What a thread works for, as a handler on it finds it; handler, and hook for spans. */
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "context/context_internal.h"
#include "thread/thread_symbol.h"

#define ENTRY_HEAD_BYTES 2u /* key index and length */

/* Where the value of an attribute stands; 0 bytes: unset. */
struct value {
    uint16_t offset;
    uint8_t length_bytes;
};

/* A copy of a record that is read once: what it says of itself stays so while it is looked at. */
struct copy {
    unsigned char trace_id[16];
    uint64_t span_id, root_span_id;
    size_t attributes_bytes;
    unsigned char attributes[CONTEXT_ATTRIBUTES_BYTES];
};

JW_SIGNAL_SAFE static uint64_t from_big_endian(const unsigned char bytes[8])
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The request is of a session that has ended. */
JW_SIGNAL_SAFE static void forget_request(const struct context_place *place, struct copy *out)
{
    if (!place->route_is_ours || out->root_span_id != place->route_root)
        return;
    out->root_span_id = 0;
    if (out->span_id == place->route_root)
        out->span_id = 0;
}

/* False: it is being written, or says that it goes beyond its slot. */
JW_SIGNAL_SAFE static bool copy_record(const struct context_place *place, struct copy *out)
{
    jw_signal_fence();
    if (place->valid != 1)
        return false;
    out->attributes_bytes = place->attributes_bytes;
    jw_signal_fence(); /* the size is read once, and not again from where others write */
    if (out->attributes_bytes > CONTEXT_ATTRIBUTES_BYTES)
        return false;
    memcpy(out->trace_id, place->trace_id, sizeof out->trace_id);
    out->span_id = from_big_endian(place->span_id);
    out->root_span_id = place->root_span_id;
    memcpy(out->attributes, place->attributes, out->attributes_bytes);
    return true;
}

/* Of several with one number the last; what is cut short ends the list, and numbers without a name are passed over. */
JW_SIGNAL_SAFE static void find_values(const struct copy *copy,
                                       struct value out[CONTEXT_ATTRIBUTES_MAX])
{
    const uint32_t known = context_attribute_count();

    for (size_t at = 0; at + ENTRY_HEAD_BYTES <= copy->attributes_bytes;) {
        const unsigned number = copy->attributes[at];
        const uint8_t length_bytes = copy->attributes[at + 1];

        at += ENTRY_HEAD_BYTES;
        if (length_bytes > copy->attributes_bytes - at)
            return;
        if (number < known && number < CONTEXT_ATTRIBUTES_MAX)
            out[number] = (struct value){(uint16_t)at, length_bytes};
        at += length_bytes;
    }
}

/* What the place says, into a record that says nothing yet. */
JW_SIGNAL_SAFE static void fill(struct generation *generation, const struct context_place *place,
                                struct context_record *record)
{
    struct value values[CONTEXT_ATTRIBUTES_MAX] = {{0}};
    struct copy copy;

    if (!copy_record(place, &copy)) {
        jw_count(JW_COUNT_CONTEXT_TORN);
        return;
    }
    if (context_route_is_past(place))
        forget_request(place, &copy);
    memcpy(record->trace_id, copy.trace_id, sizeof record->trace_id);
    record->span_id = copy.span_id;
    record->root_span_id = copy.root_span_id;
    find_values(&copy, values);
    for (unsigned number = 0; number < CONTEXT_ATTRIBUTES_MAX; number++)
        if (values[number].length_bytes != 0)
            record->values[number] =
                dict_intern(generation->values, copy.attributes + values[number].offset,
                            values[number].length_bytes);
}

dict_id context_intern(struct generation *generation, const struct context_place *place)
{
    struct context_record record = {0};

    fill(generation, place, &record);
    if (place->os_tid == 0)
        record.virtual_thread = place->owner;
    return context_record_intern(generation->contexts, &record);
}

dict_id context_capture(struct generation *generation, uint64_t mounted, struct context_text name)
{
    const context_slot slot =
        mounted != 0 ? context_find(mounted) : context_slot_of_record(thread_symbol());
    const struct context_place *place = context_place_of(slot);

    if (place == NULL && mounted == 0)
        return DICT_NONE;
    struct context_record record = {.virtual_thread = mounted};
    if (place != NULL)
        fill(generation, place, &record);
    if (name.length_bytes != 0)
        record.virtual_name = dict_intern(generation->values, name.bytes, name.length_bytes);
    return context_record_intern(generation->contexts, &record);
}
