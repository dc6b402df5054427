/*
 * stacks - what other agents may ask for in their own signal handlers, and what it takes to be ready for them.
 *
 * For      jaywalk_stacks_open and what follows it in include/jaywalk.h.
 * Callers  api_stacks.c (public functions), commands.c (open, serve), hooks.c, entry.c.
 * Context  stacks_open, stacks_serve: the agent's thread. stacks_class_prepared, _thread_start, _thread_end: hook.
 *          stacks_env: handler. stacks_handler_*, stacks_hold: any. stacks_end: control.
 * Memory   the threads that were there before us, listed once; the rest is of room ids.
 */
#ifndef JW_AGENT_STACKS_H
#define JW_AGENT_STACKS_H

#include <jni.h>

#include "ids/ids.h"
#include "jaywalk.h"
#include "options/options.h"

/* Ready, or it says why not: then `result` is one of jaywalk.h. Once for a process; may be tried again. */
JW_MUST_CHECK bool stacks_open(JNIEnv *jni, const struct options *options, struct jw_error *err);
int stacks_result(void); /* of the last try; any */
JW_SIGNAL_SAFE bool stacks_are_open(void);

/* A turn of the agent's thread while no session runs: what is generated and loaded stays known. */
void stacks_serve(void);

void stacks_class_prepared(JNIEnv *jni, jclass klass);
void stacks_thread_start(JNIEnv *jni); /* the calling thread */
void stacks_thread_end(void);

/* JNIEnv* of the calling thread; NULL: it is none of the JVM's. */
JW_SIGNAL_SAFE void *stacks_env(void);

/* The class object, as a new local reference; NULL: the class is gone. */
jobject stacks_hold(JNIEnv *jni, ids_id klass);

int stacks_handler_add(jaywalk_class_handler *handler, void *argument);
int stacks_handler_remove(jaywalk_class_handler *handler, void *argument);

/* The JVM ends: no handler of others is called any more, unless one does not come back. */
void stacks_end(void);

#endif
