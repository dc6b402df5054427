/*
 * context_internal - one slot, as the files of room context share it.
 *
 * For      context.c (who has which), context_write.c (its owner's writes), context_capture.c (a handler's look).
 * Callers  these.
 * Context  as each says.
 * Memory   context.c has it.
 */
#ifndef JW_CONTEXT_CONTEXT_INTERNAL_H
#define JW_CONTEXT_CONTEXT_INTERNAL_H

#include "context/context.h"

/* The record that OTEP 4947 lays out, and what of ours stands before it. */
struct context_place {
    uint64_t owner;
    uint64_t root_span_id;
    uint32_t os_tid;
    unsigned char reserved[CONTEXT_RECORD_OFFSET - 20];
    unsigned char trace_id[16];
    unsigned char span_id[8]; /* big endian, as W3C writes it */
    uint8_t valid;
    uint8_t trace_flags;
    uint16_t attributes_bytes;
    unsigned char attributes[CONTEXT_ATTRIBUTES_BYTES];
};

_Static_assert(sizeof(struct context_place) == CONTEXT_SLOT_BYTES, "as context.h draws it");
_Static_assert(offsetof(struct context_place, trace_id) == CONTEXT_RECORD_OFFSET,
               "as context.h draws it");
_Static_assert(offsetof(struct context_place, attributes) ==
                   CONTEXT_RECORD_OFFSET + CONTEXT_HEADER_BYTES,
               "as OTEP 4947 draws it");
_Static_assert(CONTEXT_ATTRIBUTES_BYTES == 640 - CONTEXT_HEADER_BYTES, "as OTEP 4947 wants it");

/* The place of a slot; NULL: there is no such. */
JW_SIGNAL_SAFE struct context_place *context_place_of(context_slot slot);

/* The slot that a record of `otel_thread_ctx_v1` lies in; CONTEXT_NO_SLOT: another's, or none. */
JW_SIGNAL_SAFE context_slot context_slot_of_record(const void *record);

/* What this place says, interned; DICT_NONE: nothing. On the owner's own thread. */
JW_SIGNAL_SAFE dict_id context_intern(struct generation *generation,
                                      const struct context_place *place);

/* How many attributes have a name. */
JW_SIGNAL_SAFE uint32_t context_attribute_count(void);

#endif
