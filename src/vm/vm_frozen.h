/*
 * vm_frozen - frames of a virtual thread that lie in the heap.
 *
 * For      whole stacks of virtual threads: when one goes on after a wait, the JVM brings a few of its frames back onto the
 *          stack of the carrier, and the next ones only when those return.
 * Callers  walk (handler parts), agent (open).
 * Context  vm_frozen_open: control, after vm_mounted_open. All others: handler, on the thread that is asked about.
 * Memory   a few constants.
 *
 * The frames stand in objects of class StackChunk, the innermost first, as they stood on the stack:
 *
 *     JavaThread -> VirtualThread.cont -> Continuation.tail -> StackChunk -> .parent -> StackChunk -> .parent -> null
 *
 *     StackChunk   | header and fields | not used .. | frames .................. | arguments |
 *                                      ^ 0           ^ sp (words)                ^ bottom     ^ size
 *
 * The word below sp is the pc of the innermost frame, or where its saved frame pointer stands the one below that. An
 * interpreted frame says in words, counted from where that is written, where it begins and where its caller's does; a
 * compiled one is as it was. Behind the last frame, at bottom, those of the parent follow; if there is none, the entry of the
 * continuation does. The return address that stands there says neither.
 *
 * The collector moves these objects. They are read only with one that moves them in safepoints alone, and what was
 * read counts if no collection was under way before it and none has begun after it.
 * Source: OpenJDK, StackChunk.java, stackChunkOop.hpp, continuationFreezeThaw.cpp, JDK 21 to 28.
 */
#ifndef JW_VM_VM_FROZEN_H
#define JW_VM_VM_FROZEN_H

#include "vm/vm_stack.h"

/* Finds out where this JVM has them. False: they cannot be read here, and each question is answered VM_FROZEN_UNTOLD. */
bool vm_frozen_open(JNIEnv *jni);

enum vm_frozen_answer {
    VM_FROZEN_FOUND,
    VM_FROZEN_NONE, /* no more frames lie in the heap */
    VM_FROZEN_UNTOLD,
};

struct vm_frozen {
    vm_addr parent;  /* the next StackChunk; 0: none */
    uintptr_t begin; /* of the words of this one */
    uintptr_t sp, pc,
        fp; /* of the innermost of its frames that are left; fp as it is written there */
    uintptr_t end, high;  /* of the outermost one; of its arguments */
    uint64_t collections; /* of the JVM so far, when the first chunk was read */
};

/* The first frames that lie in the heap, of the virtual thread that is mounted on this one. */
JW_SIGNAL_SAFE enum vm_frozen_answer vm_frozen_first(const struct vm_thread *thread,
                                                     struct vm_frozen *out);
/* Those of the parent, when a walk has come to the end of these. */
JW_SIGNAL_SAFE enum vm_frozen_answer vm_frozen_next(struct vm_frozen *frozen);

/* Whether all that was read since vm_frozen_first was in its place. */
JW_SIGNAL_SAFE bool vm_frozen_stood_still(const struct vm_frozen *frozen);

/*
 * vm_interpreted_read of the frame at `fp` in the heap. `caller_fp` is as it is written there: the number of words from its slot at
 * `fp`, if the caller is interpreted, too.
 */
JW_SIGNAL_SAFE bool vm_frozen_interpreted(uintptr_t fp, struct vm_interpreted *out);

#endif
