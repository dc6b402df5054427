/*
 * vm_object - which class an object is of, read with safe loads.
 *
 * For      the receiver of a call that a vtable or itable stub is looking up: it lies in a register, so it
 *          lives, and with it its class.
 * Callers  walk, sampler.
 * Context  vm_object_open: control. The rest: handler.
 * Memory   a few constants.
 *
 * Where the class stands in an object depends on flags of the JVM: as an address, as a compressed one behind
 * the mark, or (compact headers) in the upper bits of the mark. What was read is a class only when it proves
 * itself: the word by which it finds its superclasses leads back to it.
 */
#ifndef JW_VM_VM_OBJECT_H
#define JW_VM_VM_OBJECT_H

#include "vm/vm_method.h"

/* Finds out how this JVM was started; afterwards constant. Without it no object tells its class. */
void vm_object_open(void);

/* Klass* of the object; 0 where it is none, or cannot be proved to be one. */
JW_SIGNAL_SAFE vm_addr vm_object_class(vm_addr object);

/* Name of a class in internal form, "java/lang/String"; false when it cannot be read. */
JW_SIGNAL_SAFE bool vm_class_name(vm_addr klass, struct vm_text *out);

#endif
