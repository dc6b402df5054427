/*
 * vm_synchronizer - whose a lock of java.util.concurrent is, at this moment.
 *
 * For      proving on the owner's own thread that it still owns the lock for which another thread is parked.
 * Callers  agent (open), sampler.
 * Context  vm_synchronizer_open: control. vm_synchronizer_is_owned_by: handler, on the thread that is asked about.
 * Memory   a few constants.
 *
 * An AbstractOwnableSynchronizer (of ReentrantLock, the write half of ReentrantReadWriteLock ...) keeps its owner in a field,
 * which the owner alone writes. It is read through a reference of the parked thread's, which the JVM keeps
 * right while that one waits; the owner proves itself by its number. Objects may be moved between two reads where the thread
 * is in native code, so what is read twice must be the same; only with collectors that move objects in safepoints, and ZGC, whose words say by their
 * colour whether the object stands where they lead to (vm_colour.h). Semaphores,
 * latches and readers have no owner: nobody can tell who will let others in.
 */
#ifndef JW_VM_VM_SYNCHRONIZER_H
#define JW_VM_VM_SYNCHRONIZER_H

#include "vm/vm.h"

/* Tries it on a lock of its own. False, and why: no lock is known to be anybody's. */
JW_MUST_CHECK bool vm_synchronizer_open(JNIEnv *jni, jobject calling_thread, struct jw_error *why);

/* `synchronizer`: where a reference to it lies; `number`: of the calling thread, or of the virtual thread on it. */
JW_SIGNAL_SAFE bool vm_synchronizer_is_owned_by(vm_addr synchronizer, uint64_t number);

/* That must be a global reference, whose word has a colour: local ones have none. */
bool vm_synchronizer_wants_global(void);

/* The same as a guess, from any thread: number of the thread that seems to own it; 0: none seems to. Context: hook, any. */
uint64_t vm_synchronizer_owner(vm_addr synchronizer);

#endif
