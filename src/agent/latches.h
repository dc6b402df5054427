/*
 * latches - whose a lock of java.util.concurrent is, as the JVM itself tells the thread that parks for it.
 *
 * For      the owner at the begin of a park, and whether there is one at its end (lock=).
 * Callers  locks.c, away.c (owner).
 * Context  latches_open, latches_owner: the agent's thread. latches_look: hook, on a thread in native code that Java called.
 * Memory   a global reference to a class, kept.
 *
 * An AbstractOwnableSynchronizer has its owner in a field, which is read through JNI: so it is right with each collector, also one that moves objects
 * while threads run. What the owner then proves on its own thread, it reads without the JVM (vm_synchronizer.h).
 */
#ifndef JW_AGENT_LATCHES_H
#define JW_AGENT_LATCHES_H

#include <jni.h>

#include "base/jw.h"

struct latch {
    uint64_t owner;  /* number of the thread; 0: nobody, or not known */
    bool is_virtual; /* and told by its number, as from JDK 24 on */
    bool is_free;    /* it is such a lock, and nobody's */
};

/* Once. False: owners are not told. */
JW_MUST_CHECK bool latches_open(JNIEnv *jni);

/* `is_named`: the recording is told what a virtual owner is called. */
void latches_look(JNIEnv *jni, jobject blocker, bool is_named, struct latch *out);

/* The thread that owns it at this moment, a local reference; NULL: none does, or it is no such lock. */
jobject latches_owner(JNIEnv *jni, jobject blocker);

#endif
