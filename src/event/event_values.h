/*
 * event_values - what an event of a probe says, as bytes of the generation that it lies in.
 *
 * For      fields that somebody declared while the JVM ran: their number and kinds are known to the type alone.
 * Callers  agent (put), recording (take).
 * Context  putting: hook. Taking: dump. Nothing is allocated, and bytes that make no sense are told.
 * Memory   the caller's.
 *
 *   number of the type   4 bytes
 *   then each field of the type, in its order:
 *     a number           8 bytes: integers and booleans as they are, float and double as the bits of the double
 *     a text, a class    2 bytes of length, EVENT_VALUES_NULL for none, and so many bytes
 *     a thread           index of its record 4, its serial 4, number of the virtual thread 8; all zero: none
 */
#ifndef JW_EVENT_EVENT_VALUES_H
#define JW_EVENT_EVENT_VALUES_H

#include "base/jw.h"

#define EVENT_VALUES_TEXT_BYTES 200u /* of a text; the rest is cut */
#define EVENT_VALUES_BYTES      1700u
#define EVENT_VALUES_NULL       UINT16_MAX

struct event_values {
    size_t used_bytes;
    unsigned char bytes[EVENT_VALUES_BYTES];
};

struct event_values_thread {
    uint32_t index, serial;  /* as in a record; of a platform thread */
    uint64_t virtual_number; /* else 0 */
    bool is_none;
};

void event_values_begin(struct event_values *values, uint32_t type);
/* What finds no room is left out, and what is behind it, too: event_values_taker tells so. */
void event_values_put_number(struct event_values *values, int64_t number);
/* NULL: none. More than EVENT_VALUES_TEXT_BYTES are cut where a character ends, in UTF-8 or the JVM's own kind of it. */
void event_values_put_text(struct event_values *values, const char *text, size_t length_bytes);
/* UTF-16, which becomes the JVM's own kind of UTF-8: readers of class files and jfr_put_text understand it. */
void event_values_put_units(struct event_values *values, const uint16_t *units, size_t count);
/* Of a signature of the JVM's: "Lcom/acme/Shop;" is com/acme/Shop; arrays and primitive types stay as they are. The `;` of an array stays
 * where its name is cut. */
void event_values_put_class(struct event_values *values, const char *signature);
void event_values_put_thread(struct event_values *values, const struct event_values_thread *thread);

struct event_values_taker {
    const unsigned char *bytes;
    size_t left_bytes;
    bool is_damaged; /* there was less than was asked for; answers since are zeros */
};

/* Number of the type; 0: there is none. */
uint32_t event_values_taking(struct event_values_taker *taker, const void *bytes,
                             size_t length_bytes);
int64_t event_values_take_number(struct event_values_taker *taker);
const char *event_values_take_text(struct event_values_taker *taker, size_t *length_bytes);
struct event_values_thread event_values_take_thread(struct event_values_taker *taker);

#endif
