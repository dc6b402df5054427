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

/*
 * What a Method is, beyond its address, which is given again: two that are equal are of one class, are one
 * method of it by HotSpot's own account, and have one body.
 *
 * - `klass` and `serial`: one class. No other was prepared at that address in between.
 * - `idnum`: one method of it, across redefinitions. HotSpot finds by it what a method id stands for, so it is never
 *   given to another method of the class; the old body of one whose code was redefined gets a number of its own.
 *   Source: OpenJDK, VM_RedefineClasses::compare_and_normalize_class_versions, InstanceKlass::next_method_idnum; measured
 *   on JDK 8 to 26.
 * - `idnums`, how many numbers the class ever gave, and `const_method`: one body. A
 *   redefinition that changes no code at all gives no numbers: lines are compared apart from this.
 */
struct vm_identity {
    vm_addr const_method, klass;
    uint32_t serial;
    uint16_t idnum, idnums;
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

struct vm_class {
    struct vm_text name, source_file; /* the latter may be of 0 bytes */
    uint32_t modifiers;               /* of the class file */
    bool is_hidden;
    vm_addr pool; /* of constants */
};

/* The Method* behind a jmethodID; 0 when it cannot be told. Sound up to JDK 25. */
JW_SIGNAL_SAFE vm_addr vm_method_of_id(jmethodID id);

/* False when it cannot be told: unreadable, or of a class that is not linked, none of whose code runs. */
JW_SIGNAL_SAFE bool vm_method_identify(vm_addr method, struct vm_identity *out);

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

/* The class of a Klass* with a constant pool of it; false when it cannot be read. */
JW_SIGNAL_SAFE bool vm_method_class(vm_addr klass, vm_addr pool, struct vm_class *out);

/* True when the method's compressed line table is these bytes; of 0 bytes: true. */
JW_SIGNAL_SAFE bool vm_method_has_lines(vm_addr method, const unsigned char *lines,
                                        uint32_t length_bytes);

/*
 * Copies the compressed line table, its final zero byte included, to `to` of `capacity_bytes`.
 * Its length; 0 when there is none, it does not fit or cannot be read.
 */
JW_SIGNAL_SAFE uint32_t vm_method_copy_lines(const struct vm_method *method, unsigned char *to,
                                             uint32_t capacity_bytes);

#endif
