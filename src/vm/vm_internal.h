/*
 * vm_internal - the layout of this JVM, for the files of room vm alone.
 *
 * Memory   one constant, filled by vm_open before any handler runs.
 */
#ifndef JW_VM_VM_INTERNAL_H
#define JW_VM_VM_INTERNAL_H

#include "vm/vm.h"
#include "vm/vm_structs.h"

#define VM_CODE_HEAPS_MAX 8

/* Source: JDK-8268406: in JDK 26 jmethodIDs became numbers. */
#define VM_MAJOR_ID_IS_ADDRESS_MAX 25

struct vm_layout {
    int major;
    uint32_t unsigned5_bias;

    struct vm_field method_const, method_access_flags, method_code;
    struct vm_field const_constants, const_flags, const_code_size, const_name_index,
        const_signature_index, const_size_words;
    size_t const_method_bytes;
    uint32_t has_line_table_flag;
    struct vm_field pool_holder, pool_source_index, pool_length;
    size_t pool_bytes;
    struct vm_field klass_name, klass_loader_data, klass_access_flags, klass_source_index;
    struct vm_field symbol_length, symbol_body;

    struct vm_field thread_anchor, thread_osthread, osthread_tid;

    uintptr_t code_heaps[VM_CODE_HEAPS_MAX]; /* CodeHeap* */
    uint32_t code_heap_count;
    uintptr_t code_low, code_high;
    uintptr_t interpreter_begin, interpreter_end;
    struct vm_field heap_memory_low, heap_memory_high, heap_segmap_low; /* inside CodeHeap */
    uint32_t log2_segment;
    size_t heap_block_bytes;
    struct vm_field block_used;
    struct vm_field blob_name, blob_size, blob_code_begin, blob_code_end, blob_code_offset,
        blob_data_offset, blob_frame_complete, blob_frame_size;
};

extern struct vm_layout vm_layout;

/* Loads a number of the field's width, zero-extended; false when it faults or there is no such field. */
JW_SIGNAL_SAFE bool vm_load_field(vm_addr object, struct vm_field field, uint64_t *out);

#endif
