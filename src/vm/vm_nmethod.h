/*
 * vm_nmethod - compiled methods: from a pc to the methods that were inlined there.
 *
 * For      the frames of compiled code in a walk.
 * Callers  walk.      Context  handler, after vm_stack_open.     Memory  none.
 *
 * An nmethod that a stack returns into cannot be freed, so what is read of it stays true for the walk.
 * Reads are safe loads all the same: the walk may be on a wrong track.
 *
 * Source: OpenJDK, nmethod.hpp, pcDesc.hpp, scopeDesc.hpp, debugInfo.hpp; measured on JDK 8 to 28.
 */
#ifndef JW_VM_VM_NMETHOD_H
#define JW_VM_VM_NMETHOD_H

#include "vm/vm.h"

struct vm_nmethod {
    vm_addr blob;
    vm_addr method; /* the outermost one */
    uintptr_t code_begin;
    vm_addr pcs_begin, pcs_end; /* PcDescs by rising pc */
    vm_addr scopes;
    vm_addr metadata;
};

/* Which debug information belongs to a pc. */
enum vm_pc_rule {
    VM_PC_EXACT, /* a return address: the compiler described that very pc */
    VM_PC_NEAR,  /* anywhere in the code: the description that covers the instruction at pc */
};

/* One method of those inlined at a pc. */
struct vm_scope {
    vm_addr method;
    int32_t bci;
    uint32_t sender; /* scope that this one was inlined into; VM_NO_SCOPE: it is the outermost */
};

#define VM_NO_SCOPE 0u

/* The nmethod that begins at `blob`; false when it cannot be read. */
JW_SIGNAL_SAFE bool vm_nmethod_read(vm_addr blob, struct vm_nmethod *out);

/* Where the innermost scope at pc is described. False when there is nothing by this rule; *scope may
 * be VM_NO_SCOPE all the same: then only the nmethod's own method is known. */
JW_SIGNAL_SAFE bool vm_nmethod_scope_at(const struct vm_nmethod *nmethod, uintptr_t pc,
                                        enum vm_pc_rule rule, uint32_t *scope);

/*
 * The last scope that is described at all, for a pc behind it: of the code that returns, which the compilers leave
 * undescribed where it is the last of a method. False when the pc lies farther behind than such code reaches.
 */
JW_SIGNAL_SAFE bool vm_nmethod_scope_before(const struct vm_nmethod *nmethod, uintptr_t pc,
                                            uint32_t *scope);

/* Decodes a scope; false when it cannot be read or is none. */
JW_SIGNAL_SAFE bool vm_nmethod_scope(const struct vm_nmethod *nmethod, uint32_t scope,
                                     struct vm_scope *out);

/* The method of an nmethod or native wrapper; 0 when it cannot be read. */
JW_SIGNAL_SAFE vm_addr vm_nmethod_method(vm_addr blob);

/* The number of the compilation that made an nmethod, which no other has; false where it is not told. */
JW_SIGNAL_SAFE bool vm_nmethod_compile_id(vm_addr blob, uint32_t *out);

/* The pc that a frame, which now returns to `pc`, returned to before it was deoptimised: its nmethod keeps it in the frame. */
JW_SIGNAL_SAFE bool vm_nmethod_original_pc(vm_addr blob, uintptr_t pc, uintptr_t sp,
                                           uintptr_t *out);

/* True of code by C1, which does not use the frame pointer but to save its caller's.
 * Source: OpenJDK, c1_FrameMap_x86.cpp, JDK 8 to 25; false where the tier is not told. */
JW_SIGNAL_SAFE bool vm_nmethod_is_c1(vm_addr blob);

/* True where compiled code computes sines, powers and the like on the x87: it pushes some words on its frame for that, or, by
 * C1, all registers, around a call of the JVM. Source: OpenJDK 8, x86_64.ad, LIR_Assembler::intrinsic_op; from 9 on stubs do it. */
JW_SIGNAL_SAFE bool vm_computes_by_x87(void);

/* True before the point where callers that know the receiver's class come in. */
JW_SIGNAL_SAFE bool vm_nmethod_is_before_entry(vm_addr blob, uintptr_t pc);

#endif
