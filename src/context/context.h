/*
 * context - what a thread works for at this moment, written by the application, read by handlers.
 *
 * For      trace, span and attributes on every sample; endpoints and spans as events.
 * Callers  agent (open, close, C API, Java natives); sampler (capture).
 * Context  context_capture: handler, on the thread that is asked about. context_endpoint, context_span, context_task: any,
 *          hook; not in a handler. context_own, _bind, _unbind, _set, _get, _clear, _attribute_*: any, on the owner's own
 *          thread. context_attribute: any; takes a lock. contexts_open: control.
 * Memory   CONTEXT_SLOTS slots, reserved whole and touched as used; they stay while the process lives.
 * Progress capture, set, clear wait-free; bind and unbind lock-free, CONTEXT_PROBES words at most.
 *
 * One slot belongs to one Java thread, virtual ones included, or to one native thread. Its owner alone writes
 * it, on whatever carrier it runs, so a reader in a handler on the owner's own thread meets a write half done at most
 * at the instruction where the signal came: `valid` says so. Java writes through a direct buffer over all
 * slots, C through jaywalk.h; both in this order:
 *     valid = 0; release fence; fields; release fence; valid = 1
 * Nothing to tell is a valid record of zeros; an attribute without bytes is unset, and of several with one key the last counts.
 *
 * How a handler finds the slot: that of the mounted virtual thread by its number, when the JVM tells that one is
 * mounted (vm_thread_mounted); else the slot that `otel_thread_ctx_v1` of the operating system's thread names.
 * Numbers of owners stand in an array of their own, in bins of CONTEXT_BIN words, one cache line; an owner's slot is in one
 * of two bins that follow from its number, the emptier one when it is made.
 *
 *   slot, CONTEXT_SLOT_BYTES, all integers in the machine's byte order unless said otherwise
 *     0    owner          8 bytes; 0: free. As in struct context_owner
 *     8    root_span_id   8 bytes
 *     16   os_tid         4 bytes; of the thread whose `otel_thread_ctx_v1` names the slot; 0: virtual
 *     20   what context_route.c keeps, 44 bytes
 *     64   the record of OTEP 4947: trace id 16 bytes, span id 8 bytes (both big endian), valid 1, trace flags 1,
 *          attrs-data-size 2, then attributes: key index 1, length 1, bytes
 * Source: OpenTelemetry OTEP 4947, "Thread Context: Sharing Thread-Level Information with the OpenTelemetry Profiler".
 */
#ifndef JW_CONTEXT_CONTEXT_H
#define JW_CONTEXT_CONTEXT_H

#include "base/jw.h"
#include "generation/context_record.h"
#include "generation/generation.h"
#include "thread/thread.h"

#define CONTEXT_SLOTS              65536u
#define CONTEXT_SLOT_BYTES         704u
#define CONTEXT_RECORD_OFFSET      64u
#define CONTEXT_HEADER_BYTES       28u
#define CONTEXT_ATTRIBUTES_BYTES   612u /* 640 with the header: the most that OTEP 4947 wants read */
#define CONTEXT_BIN                8u
#define CONTEXT_PROBES             (2u * CONTEXT_BIN)
#define CONTEXT_VALUE_MAX_BYTES    255u
#define CONTEXT_NAME_MAX_BYTES     64u   /* of an attribute's name */
#define CONTEXT_ENDPOINT_MAX_BYTES 4096u /* longer ones are cut at a character */

typedef int32_t context_slot;
#define CONTEXT_NO_SLOT ((context_slot)-1)

/* Whose slot: a Java thread by Thread.threadId(), a native one by its number in the operating system with the top bit set. */
#define CONTEXT_NATIVE_OWNER (UINT64_C(1) << 63)

/* Once in a process; a second call does nothing. */
JW_MUST_CHECK bool contexts_open(struct jw_error *err);

/* All slots as one range of memory, for the direct buffer of Java. */
void *contexts_memory(size_t *bytes);

/*
 * The slot of this owner, made when it has none; its record is empty and valid then. `is_virtual`: the thread may change its
 * carrier; else the calling thread is the owner, and its `otel_thread_ctx_v1` names the slot from now on.
 * CONTEXT_NO_SLOT, counted as CONTEXT_REFUSED: all slots that it could have are others'.
 */
context_slot context_bind(uint64_t owner, bool is_virtual);
/* The slot that this owner has; CONTEXT_NO_SLOT: it has none. Wait-free. */
JW_SIGNAL_SAFE context_slot context_find(uint64_t owner);
/* The owner needs it no longer. Nothing happens when it is another's by now. */
void context_unbind(context_slot slot, uint64_t owner);
/* The calling thread leaves Java or ends: nothing names its slot any more. Context: hook. It is not needed at the end of a
 * thread that did not come from Java: its slot goes with it. */
void context_end_thread(void);

/* The slot that the calling thread's `otel_thread_ctx_v1` names, and whose it is; CONTEXT_NO_SLOT: none. A thread on which a
 * virtual one is mounted has none. */
JW_SIGNAL_SAFE context_slot context_own(uint64_t *owner);

/*
 * What the owner of a slot writes into it, on its own thread; `slot` is one that context_bind gave it, others are
 * harmless. context_set leaves the attributes as they are, context_clear unsets them too.
 */
struct context_ids {
    uint64_t trace_high,
        trace_low; /* as a number: its first byte in W3C's spelling is the highest one */
    uint64_t span_id;
    uint64_t root_span_id;
};
void context_set(context_slot slot, const struct context_ids *ids);
void context_clear(context_slot slot);
/* False: there is no such slot, or its record makes no sense. */
bool context_get(context_slot slot, struct context_ids *ids);
/* False, and nothing changes: no such attribute, more than CONTEXT_VALUE_MAX_BYTES, or no room beside the others. */
bool context_attribute_set(context_slot slot, unsigned number, const char *value,
                           size_t length_bytes);
void context_attribute_clear(context_slot slot, unsigned number);

/*
 * Number of the attribute with this name, from 0, the same for the life of the process. CONTEXT_NO_NAME and `err`: it is
 * empty, too long or no UTF-8, or holds a control character; CONTEXT_NAMES_FULL and `err`: there are
 * CONTEXT_ATTRIBUTES_MAX others.
 */
#define CONTEXT_NO_NAME    (-1)
#define CONTEXT_NAMES_FULL (-2)
int context_attribute(const char *name, size_t length_bytes, struct jw_error *err);
/* Name of an attribute, terminated; NULL: no such. How many there are: the first number without a name. */
JW_SIGNAL_SAFE const char *context_attribute_name(unsigned number);

struct context_text {
    const char *bytes; /* UTF-8; what is none is replaced when it is written */
    size_t length_bytes;
};

/*
 * Who the calling thread is and what it works for, interned in the generation that it is in. `mounted`: number of the
 * mounted virtual thread; 0: none is, or the JVM does not tell. `name`: what that one is called; without bytes: not known.
 * DICT_NONE: no virtual thread, and it works for nothing; or that was being written, or makes no sense (CONTEXT_TORN).
 * Bytes of the application are taken as they come: nothing beyond the slot is read, whatever they say.
 */
JW_SIGNAL_SAFE dict_id context_capture(struct generation *generation, uint64_t mounted,
                                       struct context_text name);

/*
 * The root span is a request to this endpoint, and of the trace of `slot` where that works for the same root span.
 * `operation` may be without bytes. False, counted: no session samples (CONTEXT_IDLE), the name is empty, or something is full (CONTEXT_EVENTS_REFUSED). `generations`: NULL when no session
 * runs. The record has the thread_index of the calling thread, THREAD_NONE and serial 0 where it has none yet.
 */
bool context_endpoint(struct generations *generations, uint64_t root_span_id,
                      struct context_text name, struct context_text operation, context_slot slot);
/*
 * The endpoint that was told last of this root span, session or not, by any thread; UTF-8, at most CONTEXT_TOLD_BYTES, cut at a
 * character. Its length; 0: not told, or so many others were since. Context: any, hook.
 */
#define CONTEXT_TOLD_BYTES 232u
size_t context_endpoint_of(uint64_t root_span_id, char text[CONTEXT_TOLD_BYTES]);

/*
 * A method that serves a request (endpoints=) was entered and left, on the owner's own thread. The outermost one that has a request gives it
 * its root span, which the thread works for until that method is left, unless the program says something else meanwhile; where the thread
 * works for a root span already, it is that.
 *
 * `frame`: where it stands on the stack, 0 where that cannot be compared (a virtual thread's is moved). A stack grows downwards: who
 * stands above the outermost one is not called by it, so that one was left without a word, and is forgotten.
 * What it is left by; 0: it is a part of the request that is there, or there is no slot, and it is not left. `is_asked`: whoever calls finds
 * out the request, and calls context_route_open, whatever came of that.
 */
uint32_t context_route_enter(context_slot slot, uintptr_t frame, bool may_open, bool *is_asked);
/*
 * `method` or `path` without bytes: there is no request. `operation`: who took it; a text that stays. `key`: not 0: it may be one that went
 * on under that key; then it is the same request, if it is of the same endpoint.
 */
void context_route_open(struct generations *generations, context_slot slot,
                        struct context_text method, struct context_text path, const char *operation,
                        uint64_t key);
/*
 * A framework has found out by which of its patterns it serves the request of the thread: that is its endpoint, and was since it began, for
 * whoever reads all that was told. The first one counts; what is handed on is matched by others. Nothing changes where the program has
 * said another endpoint meanwhile.
 *
 * Of a pattern that is matched in several turns the begin is told with stars for what is below it, and each further one goes on with that.
 */
struct context_match {
    struct context_text method,
        prefix; /* what the path has before what was matched, may be without bytes */
    struct context_text pattern;
    bool is_begin; /* others match what is below it */
    bool goes_on;  /* where there is a begin, it is what is below that, and has no prefix */
};
bool context_route_may_match(
    context_slot slot,
    bool goes_on); /* there is a request, and no pattern of it is known, or its begin alone */
void context_route_match(struct generations *generations, context_slot slot,
                         const struct context_match *match);
/* As context_route_open, where a framework calls its requests by names of its own, "grpc.health.v1.Health/Check". */
void context_route_open_named(struct generations *generations, context_slot slot,
                              struct context_text name, const char *operation, uint64_t key);
/*
 * Of a request that is taken in by turns, each of which is handed on by itself: it is the one that is kept under that key, if there is one; and of
 * either, whether that was its last turn. Until then it is kept. `key`: 0: none, and nothing is kept.
 */
void context_route_open_kept(context_slot slot, const char *operation, uint64_t key);
void context_route_turn(context_slot slot, uint64_t key, bool is_last);
/*
 * Of a thread that polls for what it works on: that is a request of this name until it polls again, where it serves no other one. As the session
 * ends (context_routes_end) nobody is there who would notice that it does, so what it has then is no more its request.
 * True: it works for nothing.
 */
void context_route_polled(struct generations *generations, context_slot slot,
                          struct context_text name, const char *operation);
bool context_route_poll(struct generations *generations, context_slot slot);
/* Whether it is the request that the thread serves. */
bool context_route_is_open(context_slot slot, uint32_t entered);
/* The request that the thread serves is asynchronous from now on: others may go on with it under that key, at once. */
void context_route_start(context_slot slot, uint64_t key);
/* Whether that was said since the thread took it in; whether there is anything under its key that has to end with it. */
bool context_route_is_started(context_slot slot);
bool context_route_is_kept(context_slot slot);
/* Before it is left: it goes on, on other threads, or on this one later; maybe somebody is done with it already. `key`: 0: it stays where it is kept. */
void context_route_suspend(context_slot slot, uint64_t key);
/* Before it is left: it is over, and is a span of the name of its endpoint. `key`: 0: it is not kept. `generations`: NULL: it is not told. */
void context_route_tell(struct generations *generations, context_slot slot, uint64_t key);
/*
 * `entered`: what context_route_enter gave. Those that it called and that were left without a word are left with it. True: it was the
 * outermost one, and the thread works for nothing.
 */
bool context_route_leave(context_slot slot, uint32_t entered);

#define CONTEXT_ROUTES_LIMIT                                                                       \
    500u /* different endpoints by paths, and as many by patterns; further ones are [other] */
#define CONTEXT_ROUTE_BYTES      256u  /* with its end */
#define CONTEXT_ROUTE_PATH_BYTES 2048u /* so much of a path is looked at */
/* All endpoints are new again. Context: control. */
void context_routes_begin(void);
void context_routes_end(void);
/* "GET /orders/{id}" of "GET" and "/orders/4711;v=1?x=y"; its length. Context: any. */
size_t context_route_name(struct context_text method, struct context_text path,
                          char text[CONTEXT_ROUTE_BYTES]);
/* "GET /shop/orders/{id}" of "GET", "/shop" and "/orders/{id:[0-9]+}". What has neither variables nor stars may be a path that somebody asked for, and is taken as one. */
size_t context_route_pattern_name(struct context_text method, struct context_text prefix,
                                  struct context_text pattern, char text[CONTEXT_ROUTE_BYTES]);
/* Of "GET /users/{name}" the same with stars for what is below; "GET /users/{name}/orders" of that and "/orders"; the length. */
size_t context_route_begin_name(char text[CONTEXT_ROUTE_BYTES], size_t length_bytes);
size_t context_route_rest_name(struct context_text pattern, char text[CONTEXT_ROUTE_BYTES],
                               size_t length_bytes);

/* A span ended that began at `begin_ns` of CLOCK_MONOTONIC; its ids and attributes are those of `slot` now. False, counted:
 * as above. */
bool context_span(struct generations *generations, struct context_text name, uint64_t begin_ns,
                  uint64_t end_ns, context_slot slot);

/* The calling thread begins a task that was handed over under this number, or ends what it has begun. Context: hook. False: that is lost, and
 * is to be counted; true also where nothing is recorded, or nobody samples the thread. */
JW_MUST_CHECK bool context_task(struct generations *generations, enum event_task what,
                                uint64_t number);

#endif
