/*
 * vm_frozen_locks - what a virtual thread that is on no carrier has locked without a monitor.
 *
 * For      whose a monitor is that names nobody: its owner took it before anybody waited, and has left its carrier with it.
 * Callers  agent (owners.c, locks.c).
 * Context  vm_frozen_locks_open: control. vm_frozen_locks, vm_frozen_locks_stood_still: any. vm_frozen_locks_may_be_told: hook, any.
 * Memory   a few constants.
 *
 * With its frames the lock stack of a virtual thread goes into its last StackChunk (vm_frozen.h), from JDK 24 on:
 *
 *     StackChunk   | header and fields | objects, `lockStackSize` of them | not used .. | frames ..
 *                                      ^ 0
 *
 * They are addresses, until a collector has come to that chunk, and references as in any object from then on (FLAG_HAS_BITMAP of `flags`). Both fields are
 * the JVM's own, which its symbols tell. As the thread goes on the JVM sets the size to 0, and leaves the words. So what is read counts where the thread rested
 * before it and behind it, by the state that it notes once its frames have gone, and twice in a row: who goes into the heap anew may have the size of now
 * beside words of before. Objects stand still as vm_frozen.h has it.
 * Source: OpenJDK, stackChunkOop.cpp (transfer_lockstack), continuationFreezeThaw.cpp (freeze_lockstack, thaw_lockstack), VirtualThread.java (afterYield),
 * JDK 24 to 28.
 */
#ifndef JW_VM_VM_FROZEN_LOCKS_H
#define JW_VM_VM_FROZEN_LOCKS_H

#include "vm/vm.h"

#define VM_FROZEN_LOCKS_MAX 8u /* a lock stack has no room for more */

struct vm_frozen_locks {
    uint64_t collections; /* of the JVM so far, when it was read */
    uint32_t count;
    vm_addr objects[VM_FROZEN_LOCKS_MAX];
};

/* Finds out where this JVM has them, behind vm_frozen_open and once its symbols are read; to be asked again where it is false. */
JW_MUST_CHECK bool vm_frozen_locks_open(JNIEnv *jni);

/* Not known yet, or so it is: false once it is known that nothing can be told. */
bool vm_frozen_locks_may_be_told(void);

/* The thread behind that reference rests, and has locked something: what it was, as it stood then. */
JW_MUST_CHECK bool vm_frozen_locks(jobject thread, struct vm_frozen_locks *out);

/* Whether objects are where they were read since. */
bool vm_frozen_locks_stood_still(const struct vm_frozen_locks *locks);

#endif
