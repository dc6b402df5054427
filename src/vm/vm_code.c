/* Finds the code blob around a pc with safe loads; handler. */
#include "vm/vm_code.h"

#include <string.h>

#include "arch/arch.h"
#include "base/atomics.h"
#include "vm/vm_internal.h"

#define SEGMENT_FREE     0xffu
#define SEGMENT_HOPS_MAX 4096
#define BLOB_NAME_BYTES  16
#define PAGE_BYTES_MIN   4096
#define BLOB_SIZE_MAX    (256u * 1024 * 1024)
#define FRAME_WORDS_MAX  1000000 /* 8 MB */

bool vm_code_contains(uintptr_t pc)
{
    return pc >= vm_layout.code_low && pc < vm_layout.code_high;
}

/* Address of the CodeBlob around pc, in the heap that begins at `low`; 0 when its segment is free or a load
 * faults. */
static JW_SIGNAL_SAFE vm_addr find_in_heap(uintptr_t low, vm_addr segment_map, uintptr_t pc,
                                           uint32_t *hops_left)
{
    uint64_t segment = (pc - low) >> vm_layout.log2_segment;
    uint64_t used;
    uint8_t hops;

    if (!safe_load_u8(segment_map + segment, &hops) || hops == SEGMENT_FREE)
        return 0;
    for (int n = 0; hops != 0; n++) {
        if (n >= SEGMENT_HOPS_MAX || hops == SEGMENT_FREE || hops > segment)
            return 0;
        if (hops_left != NULL && (*hops_left)-- <= 1) {
            *hops_left = 0;
            return 0;
        }
        segment -= hops;
        if (!safe_load_u8(segment_map + segment, &hops))
            return 0;
    }
    const vm_addr block = low + (segment << vm_layout.log2_segment);
    if (vm_has(vm_layout.block_used) &&
        (!vm_load_field(block, vm_layout.block_used, &used) || used == 0))
        return 0;
    return block + vm_layout.heap_block_bytes;
}

void vm_code_map_read(struct vm_code_map *out)
{
    out->hops_left = NULL;
    out->interpreter_begin = vm_layout.interpreter_begin;
    out->interpreter_end = vm_layout.interpreter_end;
    for (uint32_t i = 0; i < vm_layout.code_heap_count; i++)
        (void)vm_load_field(vm_layout.code_heaps[i].heap, vm_layout.heap_memory_high,
                            &out->highs[i]);
}

static JW_SIGNAL_SAFE vm_addr find_blob(const struct vm_code_map *map, uintptr_t pc)
{
    for (uint32_t i = 0; i < vm_layout.code_heap_count; i++) {
        const uintptr_t low = vm_layout.code_heaps[i].low;

        if (pc >= low && pc < map->highs[i])
            return find_in_heap(low, vm_layout.code_heaps[i].segment_map, pc, map->hops_left);
    }
    return 0;
}

static JW_SIGNAL_SAFE bool starts_with(const char *name, const char *prefix, size_t length)
{
    return memcmp(name, prefix, length) == 0;
}

/* The first bytes of a blob's name, which may be shorter: what lies behind its end, a zero byte, tells nothing. */
static JW_SIGNAL_SAFE bool load_name(vm_addr name_addr, char name[BLOB_NAME_BYTES])
{
    uint64_t first, second;

    /* What lies on one page can be read all of it, or none. */
    if (name_addr % PAGE_BYTES_MIN <= PAGE_BYTES_MIN - BLOB_NAME_BYTES) {
        if (!safe_load_u64(name_addr, &first) || !safe_load_u64(name_addr + 8, &second))
            return false;
        memcpy(name, &first, 8);
        memcpy(name + 8, &second, 8);
        return true;
    }
    memset(name, 0, BLOB_NAME_BYTES);
    return safe_load_string(name, BLOB_NAME_BYTES, name_addr) != SAFE_LOAD_NO_STRING;
}

/* Source: names of code blobs, measured on OpenJDK 8 to 28. */
static JW_SIGNAL_SAFE enum vm_place place_of(const char *name)
{
    if (starts_with(name, "nmethod", 8))
        return VM_PLACE_NMETHOD;
    if (starts_with(name, "native nmethod", 15))
        return VM_PLACE_NATIVE_WRAPPER;
    if (starts_with(name, "Interpreter", 11))
        return VM_PLACE_INTERPRETER;
    if (starts_with(name, "vtable chunks", 13))
        return VM_PLACE_VTABLE_STUB;
    if (starts_with(name, "I2C/C2I", 7))
        return VM_PLACE_ADAPTER;
    if (starts_with(name, "StubRoutines", 12))
        return VM_PLACE_STUB;
    return VM_PLACE_RUNTIME_STUB;
}

/* Source: OpenJDK, constructors of SafepointBlob, DeoptimizationBlob and UncommonTrapBlob in codeBlob.cpp; seen on JDK 17 and 25. */
static JW_SIGNAL_SAFE enum vm_role role_of(const char *name)
{
    if (starts_with(name, "SafepointBlob", 14))
        return VM_ROLE_POLL_HANDLER;
    if (starts_with(name, "Deoptimization", 14) || starts_with(name, "UncommonTrap", 12))
        return VM_ROLE_UNPACKER;
    return starts_with(name, "upcall_stub", 11) ? VM_ROLE_UPCALL : VM_ROLE_NONE;
}

/*
 * Kind of a blob by the address of its name: compiled methods, of which a stack is made, all bear the same
 * two literals of libjvm, so their text is read once.
 * Relaxed: each is a word that never changes once it is known.
 */
static _Atomic uintptr_t nmethod_name_addr, native_name_addr;

static JW_SIGNAL_SAFE bool read_place(vm_addr blob, struct vm_code_ref *out)
{
    char name[BLOB_NAME_BYTES];
    uint64_t name_addr;

    out->role = VM_ROLE_NONE;
    if (!vm_load_field(blob, vm_layout.blob_name, &name_addr) || name_addr == 0)
        return false;
    if (name_addr == jw_load_relaxed(&nmethod_name_addr)) {
        out->place = VM_PLACE_NMETHOD;
        return true;
    }
    if (name_addr == jw_load_relaxed(&native_name_addr)) {
        out->place = VM_PLACE_NATIVE_WRAPPER;
        return true;
    }
    if (!load_name(name_addr, name))
        return false;
    out->place = place_of(name);
    if (out->place == VM_PLACE_RUNTIME_STUB)
        out->role = role_of(name);
    else if (out->place == VM_PLACE_NMETHOD)
        jw_store_relaxed(&nmethod_name_addr, name_addr);
    else if (out->place == VM_PLACE_NATIVE_WRAPPER)
        jw_store_relaxed(&native_name_addr, name_addr);
    return true;
}

bool vm_code_map_find(const struct vm_code_map *map, uintptr_t pc, struct vm_code_ref *out)
{
    out->blob = find_blob(map, pc);
    return out->blob != 0 && pc >= out->blob && read_place(out->blob, out);
}

/* A block begins with a segment. */
static JW_SIGNAL_SAFE bool begins_at(uint32_t heap, vm_addr blob)
{
    const uintptr_t low = vm_layout.code_heaps[heap].low;
    const vm_addr block = blob - vm_layout.heap_block_bytes;
    const uint64_t segment = (block - low) >> vm_layout.log2_segment;
    uint64_t used;
    uint8_t hops;

    return block >= low && low + (segment << vm_layout.log2_segment) == block &&
           safe_load_u8(vm_layout.code_heaps[heap].segment_map + segment, &hops) && hops == 0 &&
           (!vm_has(vm_layout.block_used) ||
            (vm_load_field(block, vm_layout.block_used, &used) && used != 0));
}

bool vm_code_map_has(const struct vm_code_map *map, vm_addr blob, enum vm_place place)
{
    struct vm_code_ref ref;

    for (uint32_t i = 0; i < vm_layout.code_heap_count; i++)
        if (blob >= vm_layout.code_heaps[i].low && blob < map->highs[i])
            return begins_at(i, blob) && read_place(blob, &ref) && ref.place == place;
    return false;
}

static JW_SIGNAL_SAFE int32_t signed_field(vm_addr blob, struct vm_field field, int32_t fallback)
{
    uint64_t value;

    if (!vm_load_field(blob, field, &value))
        return fallback;
    return field.width == 2 ? (int16_t)value : (int32_t)value;
}

size_t vm_code_frame_bytes(vm_addr blob)
{
    const int32_t words = signed_field(blob, vm_layout.blob_frame_size, 0);

    return words > 0 && words <= FRAME_WORDS_MAX ? (size_t)words * sizeof(uintptr_t) : 0;
}

bool vm_code_find(uintptr_t pc, struct vm_blob *out)
{
    struct vm_code_map map;
    struct vm_code_ref ref;
    uint64_t begin, end;

    if (!vm_code_contains(pc))
        return false;
    vm_code_map_read(&map);
    if (!vm_code_map_find(&map, pc, &ref))
        return false;

    const vm_addr blob = ref.blob;
    if (!vm_load_field(blob, vm_layout.blob_code_begin, &begin)) {
        if (!vm_has(vm_layout.blob_code_offset))
            return false;
        begin = blob + (vm_addr)signed_field(blob, vm_layout.blob_code_offset, 0);
    }
    if (!vm_load_field(blob, vm_layout.blob_code_end, &end)) {
        const int32_t data_offset = signed_field(blob, vm_layout.blob_data_offset, 0);
        const int32_t size_bytes = signed_field(blob, vm_layout.blob_size, 0);

        end = blob + (vm_addr)(data_offset > 0 ? data_offset : size_bytes);
    }
    if (pc < blob || begin < blob || end < begin || end - blob > BLOB_SIZE_MAX)
        return false;
    out->place = ref.place;
    out->role = ref.role;
    out->blob = blob;
    out->code_begin = begin;
    out->code_end = end;
    out->frame_complete_offset = signed_field(blob, vm_layout.blob_frame_complete, -1);
    out->frame_size_words = signed_field(blob, vm_layout.blob_frame_size, 0);
    return true;
}

bool vm_code_is_interpreter(uintptr_t pc)
{
    struct vm_blob blob;

    if (vm_layout.interpreter_end != 0)
        return pc >= vm_layout.interpreter_begin && pc < vm_layout.interpreter_end;
    return vm_code_find(pc, &blob) && blob.place == VM_PLACE_INTERPRETER;
}

const char *vm_place_text(enum vm_place place)
{
    static const char *const texts[VM_PLACE_LIMIT] = {
#define VM_PLACE(name, text) text,
#include "vm/vm_places.def"
#undef VM_PLACE
    };

    return (unsigned)place < VM_PLACE_LIMIT ? texts[place] : "unknown";
}
