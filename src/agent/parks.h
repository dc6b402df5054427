/*
 * parks - what threads are parked for, as java.util.concurrent.locks.LockSupport says itself.
 *
 * For      waits of virtual threads, which leave their carrier to park and come by no native method; and those of all threads
 *          where Unsafe.park is left alone (blockers.h). lock= of a session, from its begin to its end.
 * Callers  locks.c, run.c (end), blockers.c (tells).
 * Context  begin, end, leave: the agent's thread. parks_tells: hook.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_PARKS_H
#define JW_AGENT_PARKS_H

#include <jni.h>

#include "base/jw.h"

/* From this JDK on: who waits can be told by the number of the virtual thread, and writing a class again drops no other code. */
#define PARKS_MAJOR_MIN 24

/* Where it is on already it stays. `is_of_all`: platform threads, too. False, and why: such parks are not told. */
JW_MUST_CHECK bool parks_begin(JNIEnv *jni, bool is_of_all, struct jw_error *why);
void parks_end(JNIEnv *jni); /* the class is written back */

/* Whether parks of that thread are told by this. */
bool parks_tells(JNIEnv *jni, jobject thread);

#endif
