/*
 * vm_internal - the layout of this JVM, for the files of room vm alone.
 *
 * Memory   one constant, filled by vm_open before any handler runs.
 */
#ifndef JW_VM_VM_INTERNAL_H
#define JW_VM_VM_INTERNAL_H

#include "arch/arch.h"
#include "vm/vm.h"
#include "vm/vm_code.h"
#include "vm/vm_structs.h"

/* Source: JDK-8268406: in JDK 26 jmethodIDs became numbers. */
#define VM_MAJOR_ID_IS_ADDRESS_MAX 25

struct vm_layout {
    int major;
    uint32_t unsigned5_bias;
    uint32_t field_id_bits; /* below the offset: vm_field_id.h */

    struct vm_field method_const, method_access_flags, method_code;
    struct vm_field const_constants, const_flags, const_code_size, const_name_index,
        const_signature_index, const_size_words, const_idnum;
    size_t const_method_bytes;
    uint32_t has_line_table_flag;
    struct vm_field pool_holder, pool_source_index, pool_length;
    size_t pool_bytes;
    struct vm_field klass_name, klass_loader_data, klass_access_flags, klass_source_index;
    struct vm_field klass_init_state, klass_idnums; /* the latter: how many were ever given */
    uint64_t state_linked;
    struct vm_field symbol_length, symbol_body;

    struct vm_field thread_anchor, thread_osthread, osthread_tid;
    struct vm_field thread_state, osthread_state; /* the latter from JDK 11 on */

    /* Of CodeHeap* `heap`. Each begins, and so does its map, where it was reserved, and grows at its end alone.
     * Source: OpenJDK, CodeHeap::reserve and expand_by in heap.cpp, VirtualSpace in virtualspace.cpp, JDK 8 to 28. */
    struct {
        vm_addr heap, segment_map;
        uintptr_t low;
    } code_heaps[VM_CODE_HEAPS_MAX];
    uint32_t code_heap_count;
    uintptr_t code_low, code_high;
    uintptr_t interpreter_begin, interpreter_end;
    struct vm_field heap_memory_high; /* inside CodeHeap */
    uint32_t log2_segment;
    size_t heap_block_bytes;
    struct vm_field block_used;
    struct vm_field blob_name, blob_size, blob_code_begin, blob_code_end, blob_code_offset,
        blob_data_offset, blob_frame_complete, blob_frame_size;
};

extern struct vm_layout vm_layout;

/* Source: measured on OpenJDK 8 to 28, x86-64 and aarch64: the JNIEnv of a JavaThread lies one word
 * behind its frame anchor, which is three words long. Checked at start: vm_check_java_thread. */
#define VM_ENV_AFTER_ANCHOR_BYTES 32

#define VM_ADDR_MIN 4096 /* nothing of the JVM lies below */

/* Loads a number of the field's width, zero-extended; false, and 0, when it faults or there is no such
 * field. */
JW_SIGNAL_SAFE static inline bool vm_load_field(vm_addr object, struct vm_field field,
                                                uint64_t *out)
{
    const vm_addr addr = object + (uintptr_t)field.offset;
    uint32_t four;
    uint16_t two;
    uint8_t one;

    *out = 0;
    if (field.offset < 0 || object < VM_ADDR_MIN)
        return false;
    if (__builtin_expect(field.width == 8, 1))
        return safe_load_u64(addr, out);
    switch (field.width) {
    case 4:
        if (!safe_load_u32(addr, &four))
            return false;
        *out = four;
        return true;
    case 2:
        if (!safe_load_u16(addr, &two))
            return false;
        *out = two;
        return true;
    case 1:
        if (!safe_load_u8(addr, &one))
            return false;
        *out = one;
        return true;
    }
    return false;
}

/* What every look at an object of the JVM asks first. */
JW_SIGNAL_SAFE static inline bool vm_is_plausible(vm_addr addr)
{
    return addr >= VM_ADDR_MIN && (addr & (sizeof(void *) - 1)) == 0 && addr >> 56 == 0;
}

/* vm_mounted.c: whether the collector of this JVM moves objects only while all threads stand still. Context: control. */
bool vm_moves_in_safepoints_only(void);

/* vm_thread.c: the numbers of the states. Context: control. */
void vm_thread_resolve(struct vm_layout *out);

/* The JavaThread that a JNIEnv is in; 0 where that is not known. */
JW_SIGNAL_SAFE vm_addr vm_thread_of_env(const void *env);

#endif
