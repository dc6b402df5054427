/*
 * vm_stack - what HotSpot leaves on a Java thread's stack between frames of compiled code.
 *
 * For      walking a stack without the JVM: where its Java part begins, interpreted frames, the entry
 *          frames between native code and Java.
 * Callers  walk (handler parts), agent (open).
 * Context  vm_stack_open: control, after vm_open. All others: handler.
 * Memory   the layout is filled once and constant from then on.
 *
 * A stack is a chain of pieces. The thread's frame anchor tells where the last piece of Java frames ends
 * while the thread is in native code; each piece begins with an entry frame, whose JavaCallWrapper holds
 * the anchor of the piece before.
 *
 *     Java frames .. entry frame | native frames | Java frames .. entry frame | native frames (now)
 *                    wrapper: 0 <------------------------------- wrapper          <---------- anchor
 *
 * Source: OpenJDK, javaFrameAnchor.hpp, javaCalls.hpp, frame_{x86,aarch64}.hpp; measured on JDK 8 to 28.
 */
#ifndef JW_VM_VM_STACK_H
#define JW_VM_VM_STACK_H

#include "arch/arch.h"
#include "vm/vm.h"

/* Resolves all that the walk needs. False, and the name of the first thing that this JVM does not tell in
 * `err`: then nothing else of this header, nor of vm_nmethod.h, may be used. */
JW_MUST_CHECK bool vm_stack_open(struct jw_error *err);

struct vm_thread {
    vm_addr thread;
    uintptr_t stack_low, stack_high; /* the stack lies in [low, high) */
    bool is_in_java;
};

/* End of a piece of Java frames; sp 0: there is none. */
struct vm_anchor {
    uintptr_t sp, pc, fp;
};

/* The JavaThread of a JNIEnv; false when it cannot be read or makes no sense. */
JW_SIGNAL_SAFE bool vm_thread_of(const void *env, struct vm_thread *out);
JW_SIGNAL_SAFE bool vm_thread_anchor(const struct vm_thread *thread, struct vm_anchor *out);
/*
 * Whether the thread, which runs at `pc`, is in the stub to which a poll that was taken leads, or in what the JVM calls from there: it is about to stop.
 * Where that poll was one before a return, the method has no frame any more, and who called it seems to run.
 */
JW_SIGNAL_SAFE bool vm_thread_is_at_poll(const void *env, uintptr_t pc);
/* Where a fault stopped the thread last, as the JVM's own handler has noted it. False: this JVM does not tell. */
JW_SIGNAL_SAFE bool vm_thread_fault_pc(const struct vm_thread *thread, uintptr_t *out);

/* Whether a return address lies in the call stub: its frame is an entry frame. */
JW_SIGNAL_SAFE bool vm_is_entry_return(uintptr_t return_pc);
/* Whether these are the bounds of the call stub. */
JW_SIGNAL_SAFE bool vm_is_entry_stub(uintptr_t begin, uintptr_t end);
/* The anchor that the wrapper of an entry frame holds. */
JW_SIGNAL_SAFE bool vm_entry_anchor(uintptr_t fp, struct vm_anchor *out);
/*
 * The same for a thread that is inside the call stub, which begins at `stub_begin`: the wrapper is its first argument,
 * until it lies in the frame. `fp`: of that frame, or 0 where there is none. False where it is not told which.
 */
JW_SIGNAL_SAFE bool vm_call_stub_anchor(uintptr_t stub_begin, uintptr_t pc, uintptr_t fp,
                                        uintptr_t first_argument, struct vm_anchor *out);

/*
 * The anchor in the frame of a stub by which C called Java through the API of foreign functions (JDK 22 on); `sp`: in
 * that stub (VM_ROLE_UPCALL), behind a call of its own.
 */
JW_SIGNAL_SAFE bool vm_upcall_anchor(vm_addr blob, uintptr_t sp, struct vm_anchor *out);

/* An interpreted frame and its caller, unproven as far as pc is concerned. */
struct vm_interpreted {
    vm_addr method, const_method;
    uintptr_t bcp; /* as it lies in the frame */
    int32_t bci;   /* JW_BCI_NATIVE of a native method */
    uintptr_t caller_fp, caller_sp, caller_pc;
};

/* Where the caller's part of the stack begins, when `caller_sp` lies below the frame, as it may where the interpreter's stack pointer
 * is apart (arch_facts): who called is found by its frame pointer then. */
JW_SIGNAL_SAFE static inline uintptr_t vm_interpreted_end(uintptr_t fp)
{
    return fp + 2 * sizeof(uintptr_t);
}

/*
 * Reads the interpreted frame at `fp`. `live_bcp`: the bytecode pointer where it lives in a register, or
 * 0; used where it points into the method's code. False unless the frame holds a method, a bytecode
 * pointer into that very method's code (none for a native one) and a caller above it.
 */
JW_SIGNAL_SAFE bool vm_interpreted_read(uintptr_t fp, uintptr_t live_bcp,
                                        struct vm_interpreted *out);

/*
 * Reads of a frame at `fp` that the JVM makes out of compiled code who its caller is, as long as the rest of it is not filled in. False: it is, or
 * is none.
 */
JW_SIGNAL_SAFE bool vm_interpreted_read_bare(uintptr_t fp, struct vm_interpreted *out);

/* The words on which an answer of vm_interpreted_read, and of vm_entry_anchor, depends, beyond `fp` and what
 * never changes while the method is there: as long as they are the same, so is the answer. */
#define VM_INTERPRETED_WORDS 6
#define VM_ENTRY_WORDS       5
JW_SIGNAL_SAFE void vm_interpreted_words(uintptr_t fp, const struct vm_interpreted *frame,
                                         struct arch_word words[VM_INTERPRETED_WORDS]);
/* How many there are; 0: they cannot be told. */
JW_SIGNAL_SAFE uint32_t vm_entry_words(uintptr_t fp, struct arch_word words[VM_ENTRY_WORDS]);

/* Whether all of the frame at `fp` is there; `sp`: of the thread, interrupted in the interpreter. */
JW_SIGNAL_SAFE bool vm_interpreted_is_whole(uintptr_t sp, uintptr_t fp);

/* Whether the interpreter's code at `pc` goes on with a frame that is there, and no method is entered: as arch_is_reentered. */
JW_SIGNAL_SAFE bool vm_interpreted_is_reentered(uintptr_t pc);

/*
 * Reads a frame that the interpreter is building. `entry_sp`: the stack pointer of the caller, as long as it
 * lives in the register of the bytecode pointer. The method is 0 where it is not there yet, and the bci 0.
 */
JW_SIGNAL_SAFE bool vm_interpreted_read_begun(uintptr_t sp, uintptr_t fp, uintptr_t entry_sp,
                                              struct vm_interpreted *out);

#endif
