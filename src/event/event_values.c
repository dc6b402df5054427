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

/* Second byte of the three that the JVM has for one half of a character: those of the first begin with HIGH, of the second with LOW. */
#define HIGH 0xa0u
#define LOW  0xb0u

static bool is_half(const char *text, unsigned half)
{
    return (unsigned char)text[0] == 0xed && ((unsigned char)text[1] & 0xf0) == half;
}

/* How many bytes of it, at most `most_bytes`, are whole characters. */
static size_t cut(const char *text, size_t length_bytes, size_t most_bytes)
{
    size_t at = most_bytes;

    if (length_bytes <= most_bytes)
        return length_bytes;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    if (at >= 3 && length_bytes - at >= 3 && is_half(text + at - 3, HIGH) &&
        is_half(text + at, LOW))
        at -= 3;
    return at;
}

void event_values_put_text(struct event_values *values, const char *text, size_t length_bytes)
{
    const size_t kept_bytes = cut(text, length_bytes, EVENT_VALUES_TEXT_BYTES);
    const uint16_t length = text == NULL ? EVENT_VALUES_NULL : (uint16_t)kept_bytes;

    put(values, &length, sizeof length);
    if (text != NULL)
        put(values, text, kept_bytes);
}

/* All of them, or more bytes than are kept of a text, by a character. */
static size_t put_units(const uint16_t *units, size_t count, char *out, size_t room_bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < count && used + 3 <= room_bytes; i++) {
        const uint16_t unit = units[i];

        if (unit != 0 && unit < 0x80) {
            out[used++] = (char)unit;
        } else if (unit < 0x800) {
            out[used++] = (char)(0xc0 | unit >> 6);
            out[used++] = (char)(0x80 | (unit & 0x3f));
        } else {
            out[used++] = (char)(0xe0 | unit >> 12);
            out[used++] = (char)(0x80 | (unit >> 6 & 0x3f));
            out[used++] = (char)(0x80 | (unit & 0x3f));
        }
    }
    return used;
}

void event_values_put_units(struct event_values *values, const uint16_t *units, size_t count)
{
    char text[EVENT_VALUES_TEXT_BYTES + 8];

    event_values_put_text(values, text, put_units(units, count, text, sizeof text));
}

void event_values_put_class(struct event_values *values, const char *signature)
{
    const size_t length_bytes = strlen(signature);
    char text[EVENT_VALUES_TEXT_BYTES];

    if (signature[0] == 'L' && length_bytes > 2) {
        event_values_put_text(values, signature + 1, length_bytes - 2);
    } else if (length_bytes <= sizeof text) {
        event_values_put_text(values, signature, length_bytes);
    } else {
        const size_t kept_bytes = cut(signature, length_bytes, sizeof text - 1);

        memcpy(text, signature, kept_bytes);
        text[kept_bytes] = ';';
        event_values_put_text(values, text, kept_bytes + 1);
    }
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
