/*
 * vm_body - which body of code of which method of which class a Method* is; a class as it is now.
 *
 * For      identities that outlive the Method: room ids.
 * Callers  ids (handler parts), agent (open).
 * Context  vm_body_open: control, after vm_open and vm_klass_open. vm_body_at, vm_class_*: handler, hook, any.
 * Memory   two offsets.
 *
 * Redefinition gives a class new Methods with the numbers of the old ones, and a new constant pool; the old Methods keep the
 * old pool, and one whose code was changed gets a new number beside its first one. So a body is the one in force where its pool is
 * that of the class, and the first number is that of the method for ever.
 * Source: OpenJDK 8 to 28, VM_RedefineClasses::redefine_single_class, update_jmethod_ids, Method::orig_method_idnum.
 */
#ifndef JW_VM_VM_BODY_H
#define JW_VM_VM_BODY_H

#include "vm/vm_method.h"

struct vm_body {
    vm_addr klass, pool, const_method;
    uint16_t idnum;  /* the method's first number; where that is not told: its number now */
    uint16_t idnums; /* how many the class ever gave */
    bool is_idnum_first;
};

/* The body of a Method* whose class is linked and lives; false when it cannot be read. */
JW_SIGNAL_SAFE bool vm_body_at(vm_addr method, struct vm_body *out);

/* Reads a class that lives; false when it cannot be read. */
JW_SIGNAL_SAFE bool vm_class_read(vm_addr klass, struct vm_class *out);

/* Its constant pool now; 0: unreadable. */
JW_SIGNAL_SAFE vm_addr vm_class_pool(vm_addr klass);

/* The Method* of the n-th method of a class that is held; 0: there is none, or it cannot be read. */
vm_addr vm_class_method(vm_addr klass, uint32_t n);

/*
 * Looks where methods keep their first number, which no table tells, in methods of these classes, which nobody has
 * redefined. False, and why: classes cannot be told apart from what they were. Where only that number is not found, true.
 */
JW_MUST_CHECK bool vm_body_open(const vm_addr *classes, size_t count, struct jw_error *err);

#endif
