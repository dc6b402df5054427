/*
 * owners - who has had a monitor since before anybody waited for it, where only the JVM can make that known.
 *
 * For      lock= with ZGC from JDK 23 on: a lock stack has an object by an address that the collector mends when its thread goes on.
 * Callers  run.c.
 * Context  the agent's thread.
 * Memory   some waits that are searched for, and their references, until their owners are found or they are over.
 *
 * Each thread that has anything in its lock stack is made to stop for a moment, alone: JVMTI is asked for its topmost frame, which it answers by a
 * handshake. That mends the thread's lock stack first. No other thread stops, and of what JVMTI says nothing is taken. Source: vm_monitor.h.
 */
#ifndef JW_AGENT_OWNERS_H
#define JW_AGENT_OWNERS_H

#include <jvmti.h>

/* Once a turn; twice a second at most anything is asked. */
void owners_turn(JNIEnv *jni);
/* The session is over. */
void owners_end(JNIEnv *jni);

#endif
