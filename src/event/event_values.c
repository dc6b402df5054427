/* Values of events of probes, to bytes and back; hook and dump. */
#include "event/event_values.h"

#include <string.h>

static void put(struct event_values *values, const void *bytes, size_t length_bytes)
{
    if (sizeof values->bytes - values->used_bytes < length_bytes)
        return;
    memcpy(values->bytes + values->used_bytes, bytes, length_bytes);
    values->used_bytes += length_bytes;
}

void event_values_begin(struct event_values *values, uint32_t type)
{
    values->used_bytes = 0;
    put(values, &type, sizeof type);
}

void event_values_put_number(struct event_values *values, int64_t number)
{
    put(values, &number, sizeof number);
}

void event_values_put_text(struct event_values *values, const char *text, size_t length_bytes)
{
    const size_t kept_bytes =
        length_bytes < EVENT_VALUES_TEXT_BYTES ? length_bytes : EVENT_VALUES_TEXT_BYTES;
    const uint16_t length = text == NULL ? EVENT_VALUES_NULL : (uint16_t)kept_bytes;

    put(values, &length, sizeof length);
    if (text != NULL)
        put(values, text, kept_bytes);
}

void event_values_put_thread(struct event_values *values, const struct event_values_thread *thread)
{
    const uint32_t index = thread->is_none || thread->virtual_number != 0 ? 0 : thread->index + 1;
    const uint32_t serial = index == 0 ? 0 : thread->serial;
    const uint64_t number = thread->is_none ? 0 : thread->virtual_number;

    put(values, &index, sizeof index);
    put(values, &serial, sizeof serial);
    put(values, &number, sizeof number);
}

/* ---- back ---- */

/* All zero where there is not so much. */
static void take(struct event_values_taker *taker, void *out, size_t length_bytes)
{
    if (taker->left_bytes < length_bytes) {
        taker->is_damaged = true;
        taker->left_bytes = 0;
        memset(out, 0, length_bytes);
        return;
    }
    memcpy(out, taker->bytes, length_bytes);
    taker->bytes += length_bytes;
    taker->left_bytes -= length_bytes;
}

uint32_t event_values_taking(struct event_values_taker *taker, const void *bytes,
                             size_t length_bytes)
{
    uint32_t type;

    *taker = (struct event_values_taker){.bytes = bytes, .left_bytes = length_bytes};
    take(taker, &type, sizeof type);
    return type;
}

int64_t event_values_take_number(struct event_values_taker *taker)
{
    int64_t number;

    take(taker, &number, sizeof number);
    return number;
}

const char *event_values_take_text(struct event_values_taker *taker, size_t *length_bytes)
{
    const char *text;
    uint16_t length;

    take(taker, &length, sizeof length);
    *length_bytes = 0;
    if (length == EVENT_VALUES_NULL || taker->is_damaged)
        return NULL;
    if (taker->left_bytes < length) {
        taker->is_damaged = true;
        taker->left_bytes = 0;
        return NULL;
    }
    text = (const char *)taker->bytes;
    taker->bytes += length;
    taker->left_bytes -= length;
    *length_bytes = length;
    return text;
}

struct event_values_thread event_values_take_thread(struct event_values_taker *taker)
{
    struct event_values_thread thread = {.is_none = false};
    uint32_t index;

    take(taker, &index, sizeof index);
    take(taker, &thread.serial, sizeof thread.serial);
    take(taker, &thread.virtual_number, sizeof thread.virtual_number);
    thread.is_none = index == 0 && thread.virtual_number == 0;
    thread.index = index == 0 ? 0 : index - 1;
    return thread;
}
