/* x86-64: lets a fault resume where its load or its guarded call says false. Handler context. */
#include <ucontext.h>

#include "arch/arch_fault_internal.h"
#include "base/counters.h"

bool arch_fault_recover(void *ucontext)
{
    greg_t *reg = ((ucontext_t *)ucontext)->uc_mcontext.gregs;

    if (!arch_is_contained_load((uintptr_t)reg[REG_RIP]))
        return false;
    jw_count(JW_COUNT_LOAD_FAULTS);
    reg[REG_RIP] = (greg_t)arch_load_landing;
    return true;
}

bool arch_guard_land(void *ucontext, const struct arch_guard *guard)
{
    greg_t *reg = ((ucontext_t *)ucontext)->uc_mcontext.gregs;

    if (!arch_guard_covers(guard, (uintptr_t)reg[REG_RSP]))
        return false;
    reg[REG_RIP] = (greg_t)arch_guard_landing;
    reg[REG_RSP] = (greg_t)guard->sp;
    return true;
}

bool arch_is_safe_fetch(uintptr_t pc)
{
    /* mov (%rdi),%eax; ret; mov %esi,%eax; ret    and the same with 64 bits */
    static const uint8_t fetch32[] = {0x8b, 0x07, 0xc3, 0x89, 0xf0, 0xc3};
    static const uint8_t fetch64[] = {0x48, 0x8b, 0x07, 0xc3, 0x48, 0x89, 0xf0, 0xc3};
    const uint8_t *code = (const uint8_t *)pc;

    /* Byte for byte: a mismatch ends the reading, so nothing behind the function's end is read. */
    for (size_t i = 0; code[i] == fetch32[i]; i++)
        if (i + 1 == sizeof fetch32)
            return true;
    for (size_t i = 0; code[i] == fetch64[i]; i++)
        if (i + 1 == sizeof fetch64)
            return true;
    return false;
}
