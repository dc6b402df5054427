/*
 * vm_class - what has to happen when a class is ready to run.
 *
 * For      method ids for AsyncGetCallTrace, the number of the class's loader, and the addresses of its
 *          methods, which may have been another class's before.
 * Callers  agent.     Context  hook, control.     Memory  none.
 *
 * ClassPrepare is delivered before any code of the class runs, on the thread that prepares it.
 */
#ifndef JW_VM_VM_CLASS_H
#define JW_VM_VM_CLASS_H

#include "vm/vm.h"

/* `drop` (may be NULL) is called with the address of each method of the class. */
void vm_class_prepared(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass,
                       void (*drop)(vm_addr method, void *argument), void *argument);

#endif
