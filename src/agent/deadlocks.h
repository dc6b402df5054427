/*
 * deadlocks - threads that wait for each other for ever: looked for once a second, and told once, in the log and in the recording.
 *
 * For      jaywalk.Deadlock (lock= of a session).
 * Callers  locks.c (begin), run.c (turn, end), sources.c (fill).
 * Context  the agent's thread.
 * Memory   static, and the stacks of virtual threads until they are told.
 *
 * A platform thread in a deadlock has answered the question what it does while others wait for it, and its sample has the stack. A virtual one is on no
 * carrier that could be asked: each of its waits keeps a reference to it, by which the JVM is asked for its stack once the deadlock is found, and
 * which is let go then. The stack counts where that wait goes on behind the question: then it is the one where it waits.
 */
#ifndef JW_AGENT_DEADLOCKS_H
#define JW_AGENT_DEADLOCKS_H

#include <jni.h>

#include "base/jw.h"

struct recording_sources;

void deadlocks_begin(void);

/* Waits that take long, and whether any of them can end. `jni` NULL: the JVM takes no thread of ours, and is asked for nothing. */
void deadlocks_turn(JNIEnv *jni);

/* What a recording asks of them. */
void deadlocks_fill(struct recording_sources *out);

/* All has been told: what is left of it. */
void deadlocks_end(void);

#endif
