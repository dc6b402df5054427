/*
 * deadlock_stacks - what the JVM says of a virtual thread that waits for ever: its name, and the stack where it waits.
 *
 * For      deadlocks.c. Such a thread is on no carrier that a signal could ask.
 * Callers  deadlocks.c.
 * Context  the agent's thread, attached. The JVM is asked of one thread that is not mounted; it stops no other one for it.
 * Memory   what JVMTI allocates for the names of a stack, until deadlock_stack_free.
 */
#ifndef JW_AGENT_DEADLOCK_STACKS_H
#define JW_AGENT_DEADLOCK_STACKS_H

#include <jvmti.h>

#include "recording/recording.h"
#include "thread/thread.h"

struct deadlock_texts; /* which JVMTI has allocated */

struct deadlock_stack {
    char name[THREAD_NAME_BYTES];        /* "": none, or not known */
    struct recording_told_frame *frames; /* NULL: no stack */
    struct deadlock_texts *texts;        /* of the frames */
    uint32_t count;
    bool is_truncated;
};

/* What the JVM does not tell, or there is no memory for, is left out. The caller looks whether the thread has waited all the time. */
void deadlock_stack_ask(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, struct deadlock_stack *out);
/* But for the name. */
void deadlock_stack_free(jvmtiEnv *jvmti, struct deadlock_stack *stack);

#endif
