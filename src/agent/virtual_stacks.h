/*
 * virtual_stacks - what the JVM says of a virtual thread that waits: its name, and the stack where it does.
 *
 * For      who waits for ever, or has a lock that others wait for. Such a thread is on no carrier that a signal could ask.
 * Callers  deadlocks.c, away.c.
 * Context  the agent's thread, attached. The JVM is asked of one thread that is not mounted; it stops no other one for it.
 * Memory   what JVMTI allocates for the names of a stack, until virtual_stack_free.
 */
#ifndef JW_AGENT_VIRTUAL_STACKS_H
#define JW_AGENT_VIRTUAL_STACKS_H

#include <jvmti.h>

#include "recording/recording.h"
#include "thread/thread.h"

struct virtual_texts; /* which JVMTI has allocated */

struct virtual_stack {
    char name[THREAD_NAME_BYTES];        /* "": none, or not known */
    struct recording_told_frame *frames; /* NULL: no stack */
    struct virtual_texts *texts;         /* of the frames */
    uint32_t count;
    bool is_truncated;
};

/* What the JVM does not tell, or there is no memory for, is left out. The caller looks whether the thread has waited, or had its lock, all the time. */
void virtual_stack_ask(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, struct virtual_stack *out);
/* But for the name. */
void virtual_stack_free(jvmtiEnv *jvmti, struct virtual_stack *stack);

#endif
