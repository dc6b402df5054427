/*
 * vm_stack_internal - what a walk needs of this JVM's layout, for the files of room vm alone.
 *
 * Memory   one constant, filled by vm_stack_open before any handler uses it.
 */
#ifndef JW_VM_VM_STACK_INTERNAL_H
#define JW_VM_VM_STACK_INTERNAL_H

#include "vm/vm_internal.h"

/*
 * Where an nmethod keeps its debug information. Fields that this JVM lacks are VM_NO_FIELD.
 *
 *              PcDescs begin                  PcDescs end             scopes                metadata
 *   8          blob + scopes_pcs              blob + dependencies     blob + scopes_data    blob + metadata
 *   11 to 21   blob + scopes_pcs              blob + dependencies     *scopes_data_begin    blob + metadata
 *   25 on      *immutable + scopes_pcs        scopes                  *immutable + scopes_data
 *                                                                           *mutable + relocation_size
 */
struct vm_stack_layout {
    struct vm_field anchor_sp, anchor_pc, anchor_fp; /* inside JavaFrameAnchor */
    struct vm_field stack_base, stack_size, thread_state;
    uint64_t state_in_java;
    struct vm_field fault_pc;       /* not of each JVM */
    struct vm_field wrapper_anchor; /* inside JavaCallWrapper */
    intptr_t entry_wrapper_bytes;   /* from the frame pointer of an entry frame */
    uintptr_t entry_return_pc;
    struct vm_field
        upcall_frame_data; /* of a stub by which C calls Java, JDK 22 on: from its stack pointer */
    struct vm_field upcall_anchor; /* inside that data */

    struct vm_field nmethod_method, verified_entry, verified_entry_offset, orig_pc_offset,
        comp_level, compile_id;
    struct vm_field deopt_handlers[2],
        deopt_handler_offsets[2]; /* not of each JVM: one or the other */
    struct vm_field scopes_pcs, dependencies, scopes_data, scopes_data_begin, metadata;
    struct vm_field immutable_data, mutable_data, relocation_size;
    size_t pc_desc_bytes;
    struct vm_field pc_desc_offset, pc_desc_scope;

    intptr_t interpreter_bcp_bytes; /* from the frame pointer of an interpreted frame */
};

extern struct vm_stack_layout vm_stack_layout;

#endif
