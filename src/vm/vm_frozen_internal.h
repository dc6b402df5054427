/* vm_frozen_internal - what the files that read virtual threads in the heap have in common. Objects stand where a reading of
 * collections before and behind says so. */
#ifndef JW_VM_VM_FROZEN_INTERNAL_H
#define JW_VM_VM_FROZEN_INTERNAL_H

#include <jni.h>

#include "vm/vm.h"

/* Objects with more fields than any of class StackChunk. */
#define VM_FROZEN_OBJECT_BYTES_MAX 512u

/* Of a field; -1: there is none. Context: control. */
int32_t vm_frozen_offset(JNIEnv *jni, const char *class_name, const char *name,
                         const char *signature);

bool vm_frozen_is_open(void);

/* vm_frozen_locks_open, with where the JVM has the offsets of its own two fields; 0: nowhere. Context: control. */
JW_MUST_CHECK bool vm_frozen_locks_open_at(JNIEnv *jni, uintptr_t size_addr, uintptr_t flags_addr);

/* How many there were; false: objects may be moving at this moment, or cannot be read. */
JW_SIGNAL_SAFE bool vm_frozen_load_collections(uint64_t *count);

/* The last StackChunk of a VirtualThread, at that address. */
JW_SIGNAL_SAFE bool vm_frozen_load_tail(vm_addr thread, vm_addr *chunk);

/* Where the words of a StackChunk begin. */
JW_SIGNAL_SAFE bool vm_frozen_load_begin(vm_addr chunk, uintptr_t *begin);

#endif
