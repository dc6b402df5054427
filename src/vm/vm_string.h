/*
 * vm_string - the text of a java.lang.String, read with safe loads.
 *
 * For      names of virtual threads, which stand in the heap alone.
 * Callers  vm_mounted.
 * Context  vm_string_prove: control, on a thread of the JVM.  vm_string_read, vm_load_reference: handler, where the JVM
 *          moves no object meanwhile.
 * Memory   a few constants.
 *
 * Where a string has its bytes and how they are coded JNI tells; how wide a reference is, and where the bytes of an
 * array begin, differs with the JVM's flags: that is tried at start on a string whose text is known.
 */
#ifndef JW_VM_VM_STRING_H
#define JW_VM_VM_STRING_H

#include "vm/vm.h"
#include "vm/vm_structs.h"

#define VM_STRING_BYTES_MAX 64

/* UTF-8; what has no room is cut at a character. */
struct vm_string {
    uint32_t length_bytes;
    char bytes[VM_STRING_BYTES_MAX];
};

/* The object that the field holds, which may be none (0); false: it cannot be read. */
JW_SIGNAL_SAFE bool vm_load_reference(vm_addr object, int32_t offset, vm_addr *out);

/* False: it cannot be read, or its like was never proved. */
JW_SIGNAL_SAFE bool vm_string_read(vm_addr string, struct vm_string *out);

/*
 * Tries to read the string in this field of an object, `known` as JNI knows it. `object` is an address, and the JVM may
 * move what lies there: then it fails now and may succeed later. After a success it is true at once.
 */
JW_MUST_CHECK bool vm_string_prove(JNIEnv *jni, vm_addr object, int32_t offset, jstring known);

#endif
