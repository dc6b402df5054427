/*
 * vm_method - what a Method* says of itself, read with safe loads.
 *
 * For      names at first sight: a method on the sampled thread's own stack cannot be unloaded before
 *          the handler returns, so its strings may be copied there and then.
 * Callers  sampler.      Context  handler.       Memory  none: it points into JVM memory.
 */
#ifndef JW_VM_VM_METHOD_H
#define JW_VM_VM_METHOD_H

#include "vm/vm.h"

#define VM_NAME_BYTES_MAX 4096 /* of a class, method or descriptor kept; longer ones are cut */

struct vm_text {
    vm_addr addr; /* not terminated, modified UTF-8; 0: none */
    uint32_t length_bytes;
};

struct vm_method {
    vm_addr const_method;
    struct vm_text class_name, name, signature, source_file;
    uint32_t modifiers;       /* access flags of the class file */
    uint32_t class_modifiers; /* likewise */
    uint32_t loader;          /* number of vm_loader.h */
    bool is_native;
    bool is_hidden_class;
    vm_addr line_table;            /* 0: none */
    uint32_t line_table_bytes_max; /* it ends with a zero byte before this */
};

/* The Method* behind a jmethodID; 0 when it cannot be told. Sound up to JDK 25. */
JW_SIGNAL_SAFE vm_addr vm_method_of_id(jmethodID id);

/* The ConstMethod* of a Method*, which changes when another method takes its address; 0: unreadable. */
JW_SIGNAL_SAFE vm_addr vm_method_const(vm_addr method);

/* True when the method is marked native. */
JW_SIGNAL_SAFE bool vm_method_is_native(vm_addr method);

/* True when the method leads to a class, as a thing that is none hardly does. */
JW_SIGNAL_SAFE bool vm_method_has_class(vm_addr method);

/* True when the method has compiled code installed now. */
JW_SIGNAL_SAFE bool vm_method_has_code(vm_addr method);

/* Reads all of it; false, and nothing usable in `out`, when any load faults or a word is absurd. */
JW_SIGNAL_SAFE bool vm_method_read(vm_addr method, struct vm_method *out);

/*
 * Copies the compressed line table, its final zero byte included, to `to` of `capacity_bytes`.
 * Its length; 0 when there is none, it does not fit or cannot be read.
 */
JW_SIGNAL_SAFE uint32_t vm_method_copy_lines(const struct vm_method *method, unsigned char *to,
                                             uint32_t capacity_bytes);

#endif
