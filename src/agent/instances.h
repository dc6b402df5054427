/*
 * instances - a number for each object that threads wait for: one object has it for as long as it lives, and no other one ever gets it.
 *
 * For      telling locks of one class from each other, in the events of waits (lock=).
 * Callers  locks.c.
 * Context  instances_begin, instances_end: the agent's thread. instances_of: hook, on the thread whose local reference it is.
 * Memory   none of ours: the number is the object's tag, a weak entry in the JVM, which takes it out with the object. INSTANCES_MAX of them.
 *
 * Tags belong to the environment of JVMTI that set them. This one is of a session, and its end takes all of them out at once. Numbers go on
 * from one session to the next, and none is given twice in a process.
 * Source: JVMTI, SetTag, ObjectFree, DisposeEnvironment.
 */
#ifndef JW_AGENT_INSTANCES_H
#define JW_AGENT_INSTANCES_H

#include <jvmti.h>

#include "base/jw.h"

#define INSTANCES_MAX 32768u /* objects that live */

/* Where it is on already it stays. False, and why: waits are told without the number of their object. */
JW_MUST_CHECK bool instances_begin(JavaVM *java_vm, struct jw_error *why);
/* `is_vm_live`: else the JVM is left as it is. */
void instances_end(bool is_vm_live);

/* 0: none, as nobody asked for them, or INSTANCES_MAX live ones have one, or the JVM refuses. The latter two are counted. */
uint32_t instances_of(jobject object);

#endif
