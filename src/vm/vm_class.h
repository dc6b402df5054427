/*
 * vm_class - what has to happen when a class is ready to run.
 *
 * For      the serial number of its address, the number of its loader, and method ids where AsyncGetCallTrace walks.
 * Callers  agent.     Context  hook, control.     Memory  none.
 *
 * ClassPrepare is delivered before any code of the class runs, on the thread that prepares it.
 */
#ifndef JW_VM_VM_CLASS_H
#define JW_VM_VM_CLASS_H

#include "vm/vm.h"

/* On ClassPrepare. */
void vm_class_prepared(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass);

/* A class that was there before us, and needs a number for its loader; nothing where vm_loader_tells. */
void vm_class_found(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass);

/* The number of its loader, also before it is prepared: vm_loader.h. Hook. */
uint32_t vm_class_loader(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass);

/* Ids for all methods of a class: some hundred bytes of the JVM's memory for each, kept until it is unloaded. */
void vm_class_make_ids(jvmtiEnv *jvmti, jclass klass);

#endif
