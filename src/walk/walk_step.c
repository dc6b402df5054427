/* What a pc lies in, and the step out of code that has no frame yet or no longer; handler. */
#include <string.h>

#include "walk/walk_internal.h"

enum vm_place walk_place_of(uintptr_t pc, struct vm_blob *blob, const struct vm_stub **stub)
{
    *stub = NULL;
    if (!vm_code_contains(pc))
        return VM_PLACE_NATIVE;

    *stub = vm_stub_find(pc);
    if (!vm_code_find(pc, blob)) {
        memset(blob, 0, sizeof *blob);
        return *stub != NULL ? VM_PLACE_STUB : VM_PLACE_UNKNOWN;
    }
    if (*stub != NULL && (*stub)->kind == VM_STUB_VTABLE)
        return VM_PLACE_VTABLE_STUB;
    return blob->place;
}

enum vm_place walk_quick_place_of(uintptr_t pc)
{
    if (!vm_code_contains(pc))
        return VM_PLACE_NATIVE;
    return vm_code_is_interpreter(pc) ? VM_PLACE_INTERPRETER : VM_PLACE_NMETHOD;
}

bool walk_step(enum vm_place place, const struct vm_blob *blob, const struct vm_stub *stub,
               struct arch_regs *regs)
{
    switch (place) {
    case VM_PLACE_VTABLE_STUB:
    case VM_PLACE_ADAPTER:
        return arch_step_from_entry(regs);
    case VM_PLACE_STUB:
        if (stub == NULL)
            return arch_step_from_entry(regs);
        return arch_step_stub(regs, stub->begin, stub->setup_offset, stub->end);
    case VM_PLACE_NMETHOD:
    case VM_PLACE_NATIVE_WRAPPER:
        if (blob->frame_complete_offset < 0 || blob->frame_size_words <= 0)
            return false;
        return arch_step_compiled_edge(regs, blob->code_begin, blob->code_end,
                                       (size_t)blob->frame_complete_offset,
                                       (size_t)blob->frame_size_words);
    case VM_PLACE_RUNTIME_STUB:
        return (blob->frame_size_words > 0 &&
                arch_step_sized_stub(regs, blob->code_begin, blob->code_end,
                                     (size_t)blob->frame_size_words)) ||
               (stub != NULL && arch_step_stub(regs, stub->begin, stub->setup_offset, stub->end));
    case VM_PLACE_NATIVE:
        return walk_native_to_code_cache(regs, true);
    case VM_PLACE_INTERPRETER:
    case VM_PLACE_UNKNOWN:
    case VM_PLACE_LIMIT:
        return false;
    }
    return false;
}
