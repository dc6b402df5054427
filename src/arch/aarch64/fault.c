/* aarch64: lets a fault resume where its load or its guarded call says false. Handler context. */
#include <ucontext.h>

#include "arch/arch_fault_internal.h"
#include "base/counters.h"

bool arch_fault_recover(void *ucontext)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;

    if (!arch_is_contained_load((uintptr_t)machine->pc))
        return false;
    jw_count(JW_COUNT_LOAD_FAULTS);
    machine->pc = (uintptr_t)arch_load_landing;
    return true;
}

bool arch_guard_land(void *ucontext, const struct arch_guard *guard)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;

    if (!arch_guard_covers(guard, (uintptr_t)machine->sp))
        return false;
    machine->pc = (uintptr_t)arch_guard_landing;
    machine->sp = guard->sp;
    return true;
}

bool arch_is_safe_fetch(uintptr_t pc)
{
    /* ldr w0,[x0]; ret; mov x0,x1; ret    and the same with 64 bits */
    static const uint32_t rest[] = {0xd65f03c0, 0xaa0103e0, 0xd65f03c0};
    const uint32_t *code = (const uint32_t *)pc;

    if (code[0] != 0xb9400000 && code[0] != 0xf9400000)
        return false;
    for (size_t i = 0; code[1 + i] == rest[i]; i++)
        if (i + 1 == sizeof rest / sizeof rest[0])
            return true;
    return false;
}
