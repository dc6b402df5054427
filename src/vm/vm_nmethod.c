/* Decodes the debug information of compiled methods with safe loads; handler. */
#include "vm/vm_nmethod.h"

#include "vm/vm_stack_internal.h"

/* PcDescs of one nmethod, far more than any has. */
#define PC_DESCS_MAX ((uintptr_t)1 << 22)

/* An UNSIGNED5 number has one to five bytes, all but the last at least this.
 * Source: OpenJDK, compressedStream.hpp, unsigned5.hpp, JDK 8 to 28. */
#define NUMBER_BYTES_MAX 5
#define NUMBER_MORE      192u

/* A scope begins with three numbers. */
#define SCOPE_NUMBERS   3
#define SCOPE_BYTES_MAX (SCOPE_NUMBERS * NUMBER_BYTES_MAX)

vm_addr vm_nmethod_method(vm_addr blob)
{
    uint64_t method;

    return vm_load_field(blob, vm_stack_layout.nmethod_method, &method) && vm_is_plausible(method)
               ? method
               : 0;
}

static JW_SIGNAL_SAFE bool load_offset(vm_addr blob, struct vm_field field, int32_t *out)
{
    uint64_t value;

    if (!vm_load_field(blob, field, &value))
        return false;
    *out = field.width == 2 ? (int32_t)(uint16_t)value : (int32_t)value;
    return *out >= 0;
}

static JW_SIGNAL_SAFE bool load_code_begin(vm_addr blob, uintptr_t *out)
{
    int32_t offset;

    if (vm_has(vm_layout.blob_code_begin))
        return vm_load_field(blob, vm_layout.blob_code_begin, out);
    if (!load_offset(blob, vm_layout.blob_code_offset, &offset))
        return false;
    *out = blob + (vm_addr)offset;
    return true;
}

/* JDK 25 on: outside the code cache. */
static JW_SIGNAL_SAFE bool read_outside(vm_addr blob, struct vm_nmethod *out)
{
    uint64_t immutable, mutable;
    int32_t pcs, scopes, relocation_bytes;

    if (!vm_load_field(blob, vm_stack_layout.immutable_data, &immutable) ||
        !load_offset(blob, vm_stack_layout.scopes_pcs, &pcs) ||
        !load_offset(blob, vm_stack_layout.scopes_data, &scopes) ||
        !vm_load_field(blob, vm_stack_layout.mutable_data, &mutable) ||
        !load_offset(blob, vm_stack_layout.relocation_size, &relocation_bytes))
        return false;
    out->pcs_begin = immutable + (vm_addr)pcs;
    out->pcs_end = out->scopes = immutable + (vm_addr)scopes;
    out->metadata = mutable + (vm_addr)relocation_bytes;
    return true;
}

static JW_SIGNAL_SAFE bool read_inside(vm_addr blob, struct vm_nmethod *out)
{
    int32_t pcs, dependencies, metadata, scopes;

    if (!load_offset(blob, vm_stack_layout.scopes_pcs, &pcs) ||
        !load_offset(blob, vm_stack_layout.dependencies, &dependencies) ||
        !load_offset(blob, vm_stack_layout.metadata, &metadata))
        return false;
    out->pcs_begin = blob + (vm_addr)pcs;
    out->pcs_end = blob + (vm_addr)dependencies;
    out->metadata = blob + (vm_addr)metadata;
    if (vm_has(vm_stack_layout.scopes_data_begin))
        return vm_load_field(blob, vm_stack_layout.scopes_data_begin, &out->scopes);
    if (!load_offset(blob, vm_stack_layout.scopes_data, &scopes))
        return false;
    out->scopes = blob + (vm_addr)scopes;
    return true;
}

bool vm_nmethod_read(vm_addr blob, struct vm_nmethod *out)
{
    out->blob = blob;
    out->method = vm_nmethod_method(blob);
    return out->method != 0 && load_code_begin(blob, &out->code_begin) &&
           (vm_has(vm_stack_layout.immutable_data) ? read_outside(blob, out)
                                                   : read_inside(blob, out)) &&
           out->pcs_end > out->pcs_begin &&
           (out->pcs_end - out->pcs_begin) / vm_stack_layout.pc_desc_bytes <= PC_DESCS_MAX;
}

static JW_SIGNAL_SAFE bool load_pc_desc(const struct vm_nmethod *nmethod, uintptr_t index,
                                        struct vm_field field, uint32_t *out)
{
    return safe_load_u32(
        nmethod->pcs_begin + index * vm_stack_layout.pc_desc_bytes + (uintptr_t)field.offset, out);
}

bool vm_nmethod_scope_at(const struct vm_nmethod *nmethod, uintptr_t pc, enum vm_pc_rule rule,
                         uint32_t *scope)
{
    const uintptr_t count = (nmethod->pcs_end - nmethod->pcs_begin) / vm_stack_layout.pc_desc_bytes;
    const int64_t wanted = (int64_t)(pc - nmethod->code_begin) + (rule == VM_PC_NEAR);
    uintptr_t low = 0, high = count;
    uint32_t offset;

    /* The first description at or behind the wanted offset. */
    while (low < high) {
        const uintptr_t middle = low + (high - low) / 2;

        if (!load_pc_desc(nmethod, middle, vm_stack_layout.pc_desc_offset, &offset))
            return false;
        if ((int32_t)offset < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= count || !load_pc_desc(nmethod, low, vm_stack_layout.pc_desc_offset, &offset) ||
        (rule == VM_PC_EXACT && (int32_t)offset != wanted))
        return false;
    return load_pc_desc(nmethod, low, vm_stack_layout.pc_desc_scope, scope);
}

/* The end of the table: one description that is behind all code, and perhaps the room to a round size. */
#define PC_DESCS_BEHIND_MAX 3

/* Taking the frame down, the poll of a safepoint, the return: some 24 bytes. */
#define RETURN_BYTES_MAX 32

bool vm_nmethod_scope_before(const struct vm_nmethod *nmethod, uintptr_t pc, uint32_t *scope)
{
    const uintptr_t count = (nmethod->pcs_end - nmethod->pcs_begin) / vm_stack_layout.pc_desc_bytes;
    const int64_t at = (int64_t)(pc - nmethod->code_begin);
    uint32_t offset;

    for (uintptr_t i = 1; i <= PC_DESCS_BEHIND_MAX && i <= count; i++) {
        if (!load_pc_desc(nmethod, count - i, vm_stack_layout.pc_desc_scope, scope))
            return false;
        if (*scope != VM_NO_SCOPE)
            return load_pc_desc(nmethod, count - i, vm_stack_layout.pc_desc_offset, &offset) &&
                   at >= (int32_t)offset && at - (int32_t)offset <= RETURN_BYTES_MAX;
    }
    return false;
}

/* Decodes so many numbers from `bytes`; false when they do not end in time. */
static JW_SIGNAL_SAFE bool decode(const uint8_t *bytes, uint32_t length_bytes,
                                  uint32_t numbers[SCOPE_NUMBERS])
{
    const uint32_t bias = vm_layout.unsigned5_bias;
    uint32_t at = 0;

    for (int number = 0; number < SCOPE_NUMBERS; number++) {
        uint32_t value = 0;

        for (uint32_t i = 0;; i++) {
            if (at >= length_bytes || bytes[at] < bias)
                return false;
            const uint32_t byte = bytes[at++];

            value += (byte - bias) << (6 * i);
            if (byte < NUMBER_MORE || i == NUMBER_BYTES_MAX - 1)
                break;
        }
        numbers[number] = value;
    }
    return true;
}

/* Bytes from `addr` on, so many as can be read up to `SCOPE_BYTES_MAX`; 0: none. */
static JW_SIGNAL_SAFE uint32_t load_scope_bytes(vm_addr addr, uint8_t bytes[16])
{
    uint64_t first, second;

    if (safe_load_u64(addr, &first) && safe_load_u64(addr + 8, &second)) {
        __builtin_memcpy(bytes, &first, 8);
        __builtin_memcpy(bytes + 8, &second, 8);
        return SCOPE_BYTES_MAX;
    }
    /* At the very end of what is mapped. */
    uint32_t count = 0;
    while (count < SCOPE_BYTES_MAX && safe_load_u8(addr + count, &bytes[count]))
        count++;
    return count;
}

bool vm_nmethod_scope(const struct vm_nmethod *nmethod, uint32_t scope, struct vm_scope *out)
{
    uint8_t bytes[16];
    uint32_t numbers[SCOPE_NUMBERS];
    const uint32_t length_bytes = load_scope_bytes(nmethod->scopes + scope, bytes);

    /* Sender, method by its number from 1, bci + 1: at the entry of a method it is -1. */
    if (!decode(bytes, length_bytes, numbers) || numbers[1] == 0 ||
        !safe_load_word(nmethod->metadata + (numbers[1] - 1) * sizeof(uintptr_t), &out->method) ||
        !vm_is_plausible(out->method) || numbers[2] > UINT16_MAX + 1u)
        return false;
    out->sender = numbers[0];
    out->bci = numbers[2] == 0 ? 0 : (int32_t)numbers[2] - 1;
    return true;
}

/* Source: OpenJDK, CompiledMethod::deopt_handler_begin, nmethod::deopt_handler_begin (by an offset); seen on JDK 17 and 25. */
static JW_SIGNAL_SAFE bool is_deopt_handler(vm_addr blob, uintptr_t pc)
{
    for (size_t i = 0; i < JW_COUNT_OF(vm_stack_layout.deopt_handlers); i++) {
        uint64_t handler;
        int32_t offset;

        if ((vm_load_field(blob, vm_stack_layout.deopt_handlers[i], &handler) && handler == pc) ||
            (vm_has(vm_stack_layout.deopt_handler_offsets[i]) &&
             load_offset(blob, vm_stack_layout.deopt_handler_offsets[i], &offset) &&
             blob + (uintptr_t)offset == pc))
            return true;
    }
    return false;
}

bool vm_nmethod_original_pc(vm_addr blob, uintptr_t pc, uintptr_t sp, uintptr_t *out)
{
    int32_t offset;

    /* A frame that keeps little has it in its first word; others have no such word, and 0 as well. */
    if (!load_offset(blob, vm_stack_layout.orig_pc_offset, &offset) ||
        (offset == 0 && !is_deopt_handler(blob, pc)) ||
        !safe_load_word(sp + (uintptr_t)offset, out))
        return false;
    *out = arch_code_address(*out);
    return true;
}

bool vm_nmethod_compile_id(vm_addr blob, uint32_t *out)
{
    uint64_t id;

    if (!vm_load_field(blob, vm_stack_layout.compile_id, &id))
        return false;
    *out = (uint32_t)id;
    return true;
}

bool vm_nmethod_is_c1(vm_addr blob)
{
    uint64_t level;

    /* Source: OpenJDK, compilerDefinitions.hpp, CompLevel: C1 is 1 to 3. */
    return vm_load_field(blob, vm_stack_layout.comp_level, &level) && level >= 1 && level <= 3;
}

bool vm_computes_by_x87(void)
{
    return vm_layout.major < 9;
}

bool vm_nmethod_is_before_entry(vm_addr blob, uintptr_t pc)
{
    uintptr_t begin;
    uint64_t entry;
    int32_t offset;

    if (vm_load_field(blob, vm_stack_layout.verified_entry, &entry))
        return pc < entry;
    return load_offset(blob, vm_stack_layout.verified_entry_offset, &offset) &&
           load_code_begin(blob, &begin) && pc < begin + (uintptr_t)offset;
}
