/*
 * locks - waits for Java locks, as the JVM tells of them.
 *
 * For      lock= and event=lock.
 * Callers  begin.c, run.c (begin, end), hooks (enter to waited), deadlocks.c (are_on), output.c and tell.c (texts).
 * Context  locks_enter, _entered, _wait, _waited: hook, on the thread that waits. locks_choose, _begin, _end: the agent's thread. Texts:
 *          the agent's thread.
 * Memory   static.
 *
 * Source: JVMTI, MonitorContendedEnter, MonitorContendedEntered, MonitorWait, MonitorWaited: told on the thread itself, a virtual one too.
 * What no thread waits for costs nothing: the JVM comes to these places when it has to make a thread wait, and after it tried to
 * get on without (it spins for some microseconds, which are no part of the wait).
 */
#ifndef JW_AGENT_LOCKS_H
#define JW_AGENT_LOCKS_H

#include <jvmti.h>

#include "options/options.h"

/* As alloc_choose. */
JW_MUST_CHECK bool locks_choose(const struct options *values, struct jw_error *err);

/* Behind the start of the sampler, and before its stop. */
void locks_begin(JNIEnv *jni, const struct options *values);
void locks_end(JNIEnv *jni);
bool locks_are_on(void); /* between these two; of the agent's thread */
/* Behind the sampler's stop, with all hooks out: what waits that nobody ended have kept. */
void locks_let_go(JNIEnv *jni);

/* A thread begins to wait for the monitor of the object, and has it; and in Object.wait. */
void locks_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object);
void locks_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object);
void locks_wait(JNIEnv *jni, jobject object, jlong timeout_ms);
void locks_waited(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                  jboolean is_expired);

/* It parks, for this object, or NULL, and this long, as Unsafe.park has it; and has come back. */
void locks_park(jvmtiEnv *jvmti, JNIEnv *jni, jobject blocker, jboolean is_absolute, jlong time);
/* LockSupport says so of the calling thread, and not Unsafe.park. */
void locks_park_placed(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject blocker,
                       jboolean is_absolute, jlong time);
/* `thread`: NULL where it is no virtual one. */
void locks_parked(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject blocker);

/* Of parks, as locks_text; as of the last session's begin. */
const char *locks_parks_text(const struct options *values);

/* "on", "off", or the reason why they are off. */
const char *locks_text(const struct options *values);

#endif
