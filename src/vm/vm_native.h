/*
 * vm_native - the function behind a native method.
 *
 * For      calling on to what a native method did before another function took its place.
 * Callers  agent.      Context  control.      Memory  none.
 *
 * HotSpot keeps it in the word behind the Method. Whether it does is tried on a method of java.lang.Thread whose function
 * the JVM exports. Source: OpenJDK, Method::native_function_addr, JDK 8 to 28; seen on 17 and 25.
 */
#ifndef JW_VM_VM_NATIVE_H
#define JW_VM_VM_NATIVE_H

#include "vm/vm.h"

/* NULL, and why: it cannot be told. It may be the function of another agent, or ours. */
void *vm_native_function(JNIEnv *jni, jmethodID method, struct jw_error *why);

/* Whether the function is code of the JVM's own library. */
bool vm_native_is_of_jvm(const void *function);

#endif
