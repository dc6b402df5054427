/*
 * away - what owners of locks do that are virtual threads on no carrier: asked of the JVM while others wait, and told like samples.
 *
 * For      jaywalk.LockOwner (lock= of a session), from JDK 24 on.
 * Callers  run.c.
 * Context  the agent's thread.
 * Memory   static.
 *
 * No handler can answer for them. The stack counts where behind the question the same wait goes on and the same thread has the lock.
 */
#ifndef JW_AGENT_AWAY_H
#define JW_AGENT_AWAY_H

#include <jni.h>

#include "base/jw.h"

struct recording;

/* Once a turn, behind deadlocks_turn. */
void away_turn(JNIEnv *jni, struct recording *recording);

/* The session is over. */
void away_end(JNIEnv *jni);

/* There may be more to ask for, sooner than a turn comes by itself. */
bool away_is_soon(void);

#endif
