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
    uint32_t route_depth;    /* methods that serve requests and are to be left (context_route.c) */
    uint32_t route_opened;   /* which of them is the request that was told; 0: none is */
    bool route_is_asked : 1; /* its endpoint is being found out */
    bool route_is_ours : 1;  /* the root span is of the request, not the program's own */
    bool route_is_started : 1;    /* it was said to be asynchronous since it was taken in here */
    bool route_is_kept : 1;       /* it is among those that go on elsewhere */
    bool route_is_matched : 1;    /* its endpoint is of the pattern that a framework has for it */
    bool route_is_begun : 1;      /* of that the begin is known, which others go on with */
    bool route_is_polled : 1;     /* it ends as the thread polls again, and no method is left */
    uint8_t route_tag;            /* of that endpoint's hash */
    uint32_t route_number : 12;   /* of its endpoint, from 1 on; 0: [other] */
    uint32_t route_operation : 4; /* who took it, from 1 on; 0: not known */
    uint64_t route_root;          /* root span of the request that was told */
    uint64_t
        route_frame; /* where the outermost of these methods stands on the stack; 0: not known */
    uint64_t route_name; /* hash of the endpoint by its path, whatever was matched since */
    uint64_t route_begin_ns;
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

/* A request of a session that has ended meanwhile: nobody will say that it is over. */
JW_SIGNAL_SAFE bool context_route_is_past(const struct context_place *place);

/* What this place says, interned; DICT_NONE: nothing. On the owner's own thread. */
JW_SIGNAL_SAFE dict_id context_intern(struct generation *generation,
                                      const struct context_place *place);

/* How many attributes have a name. */
JW_SIGNAL_SAFE uint32_t context_attribute_count(void);

/* context_suspended.c: a request that goes on elsewhere, maybe while its thread is still in it. Context: any, hook; a lock for some instructions. */
struct context_suspended {
    uint64_t root_span_id;
    uint64_t name; /* hash of its endpoint by its path */
    uint64_t begin_ns;
    bool is_matched; /* the endpoint that it has is another one: */
    uint8_t tag;
    uint32_t number;
};
/* `key` is not 0; who had it before is forgotten. */
void context_suspend(uint64_t key, const struct context_suspended *what);
/* It stays. False: nothing is there under that key. */
bool context_resume(uint64_t key, struct context_suspended *what);
/* It is over, if it is still this one that is there. */
void context_end_suspended(uint64_t key, uint64_t root_span_id);

/* context_told.c: for context_endpoint_of. Context: any, hook. */
void context_tell_endpoint(uint64_t root_span_id, const struct context_text *name);

#endif
