/*
 * owners - who has had a monitor since before anybody waited for it, where nothing tells it at once.
 *
 * For      lock= with ZGC from JDK 23 on: a lock stack has an object by an address that the collector mends when its thread goes on; with the others
 *          from JDK 24 on virtual threads that are on no carrier, whose lock stacks are in the heap.
 * Callers  run.c, virtual_search.c.
 * Context  the agent's thread.
 * Memory   some waits that are searched for, and their references, until their owners are found or they are over.
 *
 * Each thread that has anything in its lock stack is made to stop for a moment, alone: JVMTI is asked for its topmost frame, which it answers by a
 * handshake. That mends the thread's lock stack first. No other thread stops, and of what JVMTI says nothing is taken. Source: vm_monitor.h. Virtual
 * threads are not stopped: they are read where they lie (vm_frozen_locks.h), as a search comes to them.
 */
#ifndef JW_AGENT_OWNERS_H
#define JW_AGENT_OWNERS_H

#include <jvmti.h>

#include "base/jw.h"

/* Once a turn; twice a second at most anything is asked. */
void owners_turn(JNIEnv *jni);
/* Whether there is a wait for which virtual threads are to be looked at; at one of them, a local reference; and they all were. */
bool owners_want_virtual(void);
void owners_look_at(JNIEnv *jni, jobject thread);
void owners_searched(void);

/* The session is over. */
void owners_end(JNIEnv *jni);

#endif
