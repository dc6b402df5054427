/*
 * blockers - LockSupport.park, and what a thread is parked for.
 *
 * For      waits for locks of java.util.concurrent, and for whatever else stands on park (lock=).
 * Callers  locks.c.
 * Context  blockers_begin, blockers_end: the agent's thread. What is called in the place of Unsafe.park: hook, on the
 *          thread that parks.
 * Memory   global references to two classes, kept.
 *
 * The JVM tells no agent of parks. So the function of the native method Unsafe.park is replaced with ours through JNI's RegisterNatives, which calls the one
 * before, and is put back at the end; a thread that is parked then comes back through ours, whenever that is: the library stays. A virtual thread
 * that leaves its carrier to park does not come here (parks.h).
 */
#ifndef JW_AGENT_BLOCKERS_H
#define JW_AGENT_BLOCKERS_H

#include <jni.h>

#include "base/jw.h"

/* False, and why: parks are not told. */
JW_MUST_CHECK bool blockers_begin(JNIEnv *jni, struct jw_error *why);
void blockers_end(JNIEnv *jni);

/* The calling thread is about to wait in Object.wait. Context: hook. */
void blockers_waits(JNIEnv *jni);

#endif
