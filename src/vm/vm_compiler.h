/*
 * vm_compiler - which method the calling thread compiles, if it is a compiler thread of the JVM.
 *
 * For      stacks of compiler threads that say what the work is for.
 * Callers  agent (open), sampler (task).
 * Context  vm_compiler_open: control. vm_compiler_task: handler.
 * Memory   a few constants.
 *
 * Compiler threads are hidden from JVMTI. HotSpot keeps the Thread of each of its threads in one key of
 * thread-specific data, by which its own handlers find it; which one that is, a thread that is known tells. It is read
 * without a call of the C library, and nothing is written.
 * The task of a thread is alive while it is compiled, and so is its method: the task keeps the class.
 */
#ifndef JW_VM_VM_COMPILER_H
#define JW_VM_VM_COMPILER_H

#include "vm/vm.h"

/* Finds the key and its place. Called by a Java thread whose JNIEnv this is. Without it nobody compiles anything. */
void vm_compiler_open(const void *env);

struct vm_compiler_task {
    vm_addr method;
    uintptr_t stack_addr; /* where on its stack the compiler keeps what it knows of the task */
};

/* False: the calling thread compiles nothing, or is no compiler thread. `sp`: of its interrupted code. */
JW_SIGNAL_SAFE bool vm_compiler_task(uintptr_t sp, struct vm_compiler_task *out);

#endif
