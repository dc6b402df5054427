/*
 * api_internal - what the files that hold the public functions share.
 *
 * For      api.c, api_stacks.c, probe_events.c.
 * Context  any, but for handlers.
 */
#ifndef JW_AGENT_API_INTERNAL_H
#define JW_AGENT_API_INTERNAL_H

#include <jni.h>

/* Functions of others are exported by exports.map; the compiler hides all that does not say otherwise. */
#define PUBLIC __attribute__((visibility("default")))

/* The JVM of this process, also where nobody made us its agent; NULL: there is none yet. */
JavaVM *api_java_vm(void);

/* The JNIEnv of the calling thread; NULL: it is not one of the JVM's. */
JNIEnv *api_own_jni(void);

/* Of a java.lang.Thread. */
bool api_is_virtual(JNIEnv *jni, jobject thread);

/* Its number, which an application cannot override; 0: this JDK has none. */
uint64_t api_thread_number(JNIEnv *jni, jobject thread);

#endif
