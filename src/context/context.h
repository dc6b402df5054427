/*
 * context - what a thread works for at this moment, written by the application, read by handlers.
 *
 * For      trace, span and attributes on every sample; endpoints and spans as events.
 * Callers  agent (open, close, C API, Java natives); sampler (capture).
 * Context  context_capture: handler, on the thread that is asked about. context_endpoint, context_span: any,
 *          hook; not in a handler. context_bind, _unbind, _attribute: any. contexts_open, _close: control.
 * Memory   CONTEXT_SLOTS slots, reserved whole and touched as used; they stay while the process lives.
 * Progress capture wait-free; bind and unbind lock-free, CONTEXT_PROBES words at most.
 *
 * One slot belongs to one Java thread, virtual ones included, or to one native thread. Its owner alone writes
 * it, on whatever carrier it runs, so a reader in a handler on the owner's own thread meets a write half done at most
 * at the instruction where the signal came: `valid` says so. Java writes through a direct buffer over all
 * slots, C through jaywalk.h; both in this order:
 *     valid = 0; release fence; fields; release fence; valid = 1
 *
 * How a handler finds the slot: that of the mounted virtual thread by its number, when the JVM tells that one is
 * mounted (vm_thread_mounted); else the slot that `otel_thread_ctx_v1` of the operating system's thread names.
 *
 *   slot, CONTEXT_SLOT_BYTES, all integers in the machine's byte order unless said otherwise
 *     0    owner          8 bytes; 0: free. As in struct context_owner
 *     8    root_span_id   8 bytes
 *     16   os_tid         4 bytes; of the thread whose `otel_thread_ctx_v1` names the slot; 0: virtual
 *     20   reserved
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
#define CONTEXT_PROBES             16u
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
/* The owner needs it no longer. Nothing happens when it is another's by now. */
void context_unbind(context_slot slot, uint64_t owner);
/* The calling thread leaves Java or ends: nothing names its slot any more. Context: hook. */
void context_end_thread(void);

/*
 * Number of the attribute with this name, from 0, the same for the life of the process. -1 and `err`: the name is
 * empty, too long or no UTF-8, or there are CONTEXT_ATTRIBUTES_MAX others.
 */
int context_attribute(const char *name, size_t length_bytes, struct jw_error *err);
/* Name of an attribute, terminated; NULL: no such. How many there are: the first number without a name. */
const char *context_attribute_name(unsigned number);

/*
 * What the calling thread works for, interned in the generation that it is in. `mounted`: number of the mounted
 * virtual thread; 0: none is, or the JVM does not tell. DICT_NONE: nothing; or it was being written (CONTEXT_TORN).
 */
JW_SIGNAL_SAFE dict_id context_capture(struct generation *generation, uint64_t mounted);

/*
 * The root span is a request to this endpoint. `operation` may be NULL. False, counted: no session samples
 * (CONTEXT_IDLE), the name is empty, or something is full. `generations`: NULL when no session runs.
 */
struct context_text {
    const char *bytes; /* UTF-8; what is none is replaced when it is written */
    size_t length_bytes;
};
bool context_endpoint(struct generations *generations, uint64_t root_span_id,
                      struct context_text name, struct context_text operation);
/* A span ended that began at `begin_ns` of CLOCK_MONOTONIC; its ids and attributes are those of `slot` now. */
bool context_span(struct generations *generations, struct context_text name, uint64_t begin_ns,
                  uint64_t end_ns, context_slot slot);

#endif
