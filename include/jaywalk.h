/*
 * jaywalk.h - what a program tells the profiler that samples it: which request a thread works for.
 *
 * The functions are in libjaywalk.so, which the JVM loads as an agent (-agentpath, or `jaywalk start PID`) and which a
 * native library or program may link (-ljaywalk) or load by itself. All of them may be called at any time, before the
 * first session and after the last: what a thread works for lies in memory of its own, and samples have it from the
 * first one on. Nothing here prints, ends the process or throws, and nothing but jaywalk_execute blocks on another thread
 * for longer than it takes to copy a name; where something cannot be done, the result says so, and the program goes on
 * as well without it.
 *
 *     #include <jaywalk.h>
 *     #include <string.h>
 *
 *     static int tenant;                          // once: tenant = jaywalk_attribute("tenant");
 *
 *     void serve(const struct request *request)
 *     {
 *         const uint64_t begin_ns = now();        // CLOCK_MONOTONIC
 *
 *         jaywalk_context_set(request->trace_high, request->trace_low, request->span, request->span);
 *         jaywalk_attribute_set(tenant, request->tenant, strlen(request->tenant));
 *         answer(request);
 *         jaywalk_endpoint(request->span, request->route, request->method);
 *         jaywalk_span("serve", begin_ns, now());
 *         jaywalk_context_clear();
 *     }
 *
 * Calling context: any thread, attached to the JVM or not, also with a Java exception pending on it; but no signal
 * handler, no callback of JVMTI in which JNI is not allowed, and not between GetPrimitiveArrayCritical and its release. A function that speaks of "the thread" means the
 * calling one; on a virtual thread of Java that is the virtual one, and the context goes with it from carrier to
 * carrier. In a child of fork() the calls are harmless and without effect on the parent.
 *
 * For C99 and C++98 and later. Since version 0.1.0, each function unless it says otherwise.
 */
#ifndef JAYWALK_H
#define JAYWALK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function answers where it may fail: JAYWALK_OK or one of the others, all below 0. */
enum jaywalk_result {
    JAYWALK_OK = 0,
    JAYWALK_BAD_ARGUMENT = -1, /* an argument is outside of what the function takes */
    JAYWALK_NO_ROOM = -2,      /* as many as there can be are there already, or something is full */
    JAYWALK_IDLE = -3,         /* no session runs, so there is nothing to write to */
    JAYWALK_NO_JVM = -4,       /* the process has no JVM, or the agent cannot be used in it */
    JAYWALK_BUSY = -5 /* a Java exception is pending on a thread without context: set it later */
};

/*
 * `jaywalk metrics` counts what had no room or no session: contexts (jaywalk_context_refused_total), endpoints and spans
 * (jaywalk_context_events_refused_total, jaywalk_context_idle_total). Names and values of attributes that
 * had no room are counted nowhere.
 */

#define JAYWALK_ATTRIBUTES_MAX   16  /* names, in one process */
#define JAYWALK_NAME_MAX_BYTES   64  /* of an attribute's name */
#define JAYWALK_VALUE_MAX_BYTES  255 /* of an attribute's value */
#define JAYWALK_VALUES_MAX_BYTES 612 /* of all values of a thread, each with 2 bytes more */
#define JAYWALK_ENDPOINT_MAX_BYTES                                                                 \
    4096 /* of the name of an endpoint or span; longer ones are cut at a character */

/* Version of the library, "0.1.0". */
const char *jaywalk_version(void);

/* 1 while a session runs, else 0. What it says may be over when it returns: for saving work, not for deciding. */
int jaywalk_is_active(void);

/* ---- What the thread works for ---- */

/*
 * From now on the thread works for this span. Its attributes stay as they are.
 * trace_high, trace_low: the trace id, a number of 128 bits; its first byte in W3C's spelling is the highest one of
 * trace_high. span: the span; root_span: the local root span, which is the request in this process, by which
 * jaywalk_endpoint names it. Each is any number; 0 means none.
 * Cost: some nanoseconds on a thread that has a context already; some hundred when it is the thread's first, and on each
 * call on a virtual thread.
 * JAYWALK_OK; JAYWALK_NO_ROOM: too many threads have a context (65,536 at the default memlimit, fewer below it, some 1,300
 * at 40m; some fewer where they meet); JAYWALK_BUSY.
 */
int jaywalk_context_set(uint64_t trace_high, uint64_t trace_low, uint64_t span, uint64_t root_span);

/*
 * The thread works for nothing any more: no ids, no attributes. A virtual thread gives its place back, so it should
 * call this before it ends; platform threads and native ones do that by ending.
 */
void jaywalk_context_clear(void);

/*
 * Number of the attribute with this name, from 0 to JAYWALK_ATTRIBUTES_MAX - 1, the same for the life of the process. A name
 * is 1 to JAYWALK_NAME_MAX_BYTES bytes of UTF-8 without control characters, terminated: "tenant". The agent's option
 * attributes=tenant;shop names them up front. Recordings have a column of this name from the next chunk on.
 * JAYWALK_BAD_ARGUMENT: NULL, or no such name; JAYWALK_NO_ROOM: the process has JAYWALK_ATTRIBUTES_MAX others.
 */
int jaywalk_attribute(const char *name);

/*
 * The thread's value of an attribute, until it is set again or cleared. `value`: `length` bytes of UTF-8, at most
 * JAYWALK_VALUE_MAX_BYTES, need not be terminated; bytes that are no text are shown as U+FFFD. No bytes: as clearing it.
 * JAYWALK_OK; JAYWALK_BAD_ARGUMENT: no attribute has this number, the value is NULL with a length, or too long;
 * JAYWALK_NO_ROOM: it does not fit beside the thread's other values, or as jaywalk_context_set; JAYWALK_BUSY.
 */
int jaywalk_attribute_set(int attribute, const char *value, size_t length);

/* The thread has no value of this attribute any more. Numbers that are no attribute's do nothing. */
void jaywalk_attribute_clear(int attribute);

/* ---- What is recorded ---- */

/*
 * The request whose local root span has this id is to this endpoint: "GET /orders/{id}". May come before, while or after
 * the request is served, on any thread, best once. Where the thread's own context has this root span, the event has its
 * trace, too. `root_span`: 0 is none, and by it no sample is found. `name`: 1 to
 * JAYWALK_ENDPOINT_MAX_BYTES bytes of UTF-8, terminated. `operation`: likewise, or NULL.
 * JAYWALK_OK: it is in the recording; JAYWALK_BAD_ARGUMENT: no name; JAYWALK_IDLE; JAYWALK_NO_ROOM: the profiler's memory
 * for this second is full.
 */
int jaywalk_endpoint(uint64_t root_span, const char *name, const char *operation);

/*
 * A piece of work of the thread has ended: a span of this name, with the ids and attributes that the thread has now.
 * begin_ns, end_ns: nanoseconds of CLOCK_MONOTONIC, the end not before the begin and not in the future.
 * As jaywalk_endpoint; JAYWALK_BAD_ARGUMENT: also for times that cannot be.
 */
int jaywalk_span(const char *name, uint64_t begin_ns, uint64_t end_ns);

/* ---- Which threads are sampled ---- */

/*
 * Of a session that was begun with option `filter` without a value (or with + among its items): the thread is sampled
 * from now on, or no more. It counts for later sessions too, until the thread ends. On a virtual thread it is the carrier
 * of this moment that is meant.
 * JAYWALK_OK; JAYWALK_NO_ROOM, of jaywalk_thread_add alone: the system has no room for what notices the thread's end.
 */
int jaywalk_thread_add(void);
int jaywalk_thread_remove(void);

/* ---- Commands ---- */

/* Takes a piece of the answer, `length` bytes of text, not terminated. */
typedef void jaywalk_output(void *argument, const char *text, size_t length);

/*
 * Does what an agent string says, as an attach would: "start,event=cpu,file=/tmp/x.jfr", "status", "stop"
 * (docs/reference/options.md). Waits until it is done: for milliseconds as a rule, for a stop until its file is written.
 * `output` (may be NULL) gets what there is to say, in one or more pieces, before the call returns.
 * 0: it was done. Above 0: it was refused, and the answer says why. JAYWALK_BAD_ARGUMENT: no command, or a too long one;
 * JAYWALK_NO_JVM: the process has none, or the thread is not attached to it; JAYWALK_NO_ROOM: too many commands at once.
 */
int jaywalk_execute(const char *command, jaywalk_output *output, void *argument);

#ifdef __cplusplus
}
#endif

#endif
