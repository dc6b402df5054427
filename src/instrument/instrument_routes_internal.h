/*
 * instrument_routes_internal - requests of servers and frameworks that are known by name, and what they are asked.
 *
 * For      instrument_routes.c (who serves them), instrument_matches.c (for which pattern), instrument_asks.c.
 * Callers  these.
 * Context  hook, on any Java thread. What is asked is the program's own code.
 * Memory   none of its own; what is given are local references, which go as the native method returns.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_ROUTES_INTERNAL_H
#define JW_INSTRUMENT_INSTRUMENT_ROUTES_INTERNAL_H

#include "instrument/instrument_internal.h"
#include "probe/probe_routes.h"

#define INSTRUMENT_TEXT_CHARS 1024                            /* of a text that is looked at */
#define INSTRUMENT_TEXT_BYTES (INSTRUMENT_TEXT_CHARS * 3 + 1) /* each, as UTF-8, and its end */

#define INSTRUMENT_TEXT_TYPE          "()Ljava/lang/String;"
#define INSTRUMENT_JAVAX_DISPATCHER   "()Ljavax/servlet/DispatcherType;"
#define INSTRUMENT_JAKARTA_DISPATCHER "()Ljakarta/servlet/DispatcherType;"

/* ---- instrument_asks.c ---- */

/*
 * What a method without parameters gives; NULL: it has none, or threw. It is the program's own, and looked up in the class of the
 * object: no number of a method is kept, since its class may go.
 */
jobject instrument_ask(JNIEnv *jni, jobject object, const char *name, const char *type);
bool instrument_ask_whether(JNIEnv *jni, jobject object, const char *name);
jobject instrument_field_of(JNIEnv *jni, jobject object, const char *name, const char *type);
/* Of getAttribute(String), which gives an object. */
jobject instrument_attribute_of(JNIEnv *jni, jobject object, const char *name);
/* Its length; `text` may be NULL. */
size_t instrument_read_text(JNIEnv *jni, jstring text, char bytes[INSTRUMENT_TEXT_BYTES]);

/* ---- instrument_routes.c ---- */

/* Whether a servlet's request was handed on, or is the page for an error: `type` is that of getDispatcherType. */
bool instrument_is_part(JNIEnv *jni, jobject request, const char *type);

/* 0: none. What a container gives is the same object as long as the request lasts, and afterwards another's. */
uint64_t instrument_key_of(JNIEnv *jni, jobject object, enum probe_routes_site site);

/* ---- instrument_reads.c ---- */

/* Of a list of what a decoder of Netty's has read, and hands on behind `context`: which request that is, or is of. */
void instrument_tell_read(JNIEnv *jni, const struct instrument_requests *requests, jobject thread,
                          jobject context, jobject read);

/* ---- instrument_polls.c ---- */

/* A consumer of Kafka's has polled: `given` is what that gave it. */
void instrument_tell_polled(JNIEnv *jni, const struct instrument_requests *requests, jobject thread,
                            jobject given);

/* ---- instrument_matches.c ---- */

/* A framework's object, `by`, has found out for which of its patterns the request of the thread is: enum probe_routes_match. */
void instrument_match(JNIEnv *jni, const struct instrument_requests *requests, jobject thread,
                      jobject by, jobject given, jint match);

#endif
