/*
 * vm_stop - where the JVM could stop a thread that runs compiled code: the next place that it comes to from a pc.
 *
 * For      saying what a profiler would have said that samples where the JVM stops threads.
 * Callers  agent.      Context  dump, any; after vm_stack_open.     Memory  none: it reads code of the JVM, by contained loads.
 *
 * Compiled code can be stopped where it asks whether it is to (a poll: at the ends of loops that are not counted, and
 * before returns, when its frame is gone), and while it waits for a call. The thread itself has run on since; so where it
 * would have come to is reckoned from the code:
 *
 *     forward branches are not taken: the compilers put what is likely behind
 *     backward branches and jumps are taken, once each: they close loops; one closed by a jump is left by its last branch out
 *     calls of compiled methods are followed, VM_STOP_CALLS_MAX deep; others are where the thread stops
 *
 * It is an estimate: of one sample it may be wrong, of many it is as good as these rules (ADR 27).
 */
#ifndef JW_VM_VM_STOP_H
#define JW_VM_VM_STOP_H

#include "vm/vm.h"

#define VM_STOP_CALLS_MAX 4u
#define VM_STOP_STEPS_MAX 2048u

enum vm_stop_kind {
    VM_STOP_UNTOLD, /* not found in so many steps, or in code that leads where nobody knows */
    VM_STOP_POLL,   /* at a poll in a loop of `method` */
    VM_STOP_CALL, /* in `method`, which waits for a call: the frame of what it called is gone, or not known */
    VM_STOP_RETURN, /* in the caller of the method that the pc lies in */
};

struct vm_stop {
    enum vm_stop_kind kind;
    bool is_here; /* pc is at the very instructions that ask */
    vm_addr
        root; /* the method that pc lies in, the outermost of those inlined there; UNTOLD: 0 where it is not told */
    vm_addr method;
    int32_t bci;
};

void vm_stop_after(uintptr_t pc, struct vm_stop *out);

#endif
