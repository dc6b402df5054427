/*
 * vm_continuation - where the frames of a virtual thread end on the stack of its carrier.
 *
 * For      telling the frames of the two apart, and going on from the one to the other.
 * Callers  agent (open), walk.
 * Context  vm_continuation_open: control, after vm_open. All others: handler.
 * Memory   a few constants.
 *
 * What a carrier calls to go on with a virtual thread is Continuation.enterSpecial, a method without a body of Java's, and
 * what that calls is Continuation.enter, the outermost frame of every virtual thread. Between the two lies a
 * ContinuationEntry, in the frame of enterSpecial, and the JavaThread says where:
 *
 *     carrier .. Continuation.run | fp and pc to return to, ContinuationEntry | Continuation.enter .. virtual thread
 *     high addresses                                                                                low addresses
 *
 * Source: OpenJDK, Continuation.java, continuationEntry.hpp and gen_continuation_enter in sharedRuntime_{x86_64,aarch64}.cpp,
 * JDK 21 to 28; JavaThread::_cont_entry and the size are in vmStructs, not on JDK 21.
 */
#ifndef JW_VM_VM_CONTINUATION_H
#define JW_VM_VM_CONTINUATION_H

#include "arch/arch.h"
#include "vm/vm_stack.h"

/* Finds the methods and fields; nothing of it is found before JDK 21. */
void vm_continuation_open(JNIEnv *jni);

/* enterSpecial and enter, as AsyncGetCallTrace gives them; NULL where there are none. */
JW_SIGNAL_SAFE jmethodID vm_continuation_border(void);
JW_SIGNAL_SAFE jmethodID vm_continuation_entry(void);

/*
 * Whether the native method at which a thread left Java, with its frame at `sp`, is enterSpecial. It calls none: so the JVM has
 * taken the frames of the virtual thread off the stack, but has not left the code that does so.
 */
JW_SIGNAL_SAFE bool vm_continuation_is_left(const struct vm_thread *thread, uintptr_t sp,
                                            vm_addr method);

/* Whether it is yield0, by which a virtual thread leaves: of frames in the heap it is none but the innermost, and the first to go. */
JW_SIGNAL_SAFE bool vm_continuation_is_yield(vm_addr method);

/* Whether a virtual thread's frames are on the stack at `sp`: the entry of one lies above. False where it is not told. */
JW_SIGNAL_SAFE bool vm_continuation_is_above(const struct vm_thread *thread, uintptr_t sp);

/* Registers of the carrier where it goes on when the virtual thread on it leaves. False: it is not told. */
JW_SIGNAL_SAFE bool vm_continuation_caller(const struct vm_thread *thread, struct arch_regs *out);

#endif
