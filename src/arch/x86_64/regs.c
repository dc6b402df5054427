/* x86-64: registers of an interrupted thread, and of a copy of its context. Every context. */
#include "arch/arch.h"

#include <string.h>
#include <ucontext.h>

/* The leading part of a ucontext, up to where registers end: what follows (signal mask, floating
 * point state) is laid out by the kernel otherwise than by the C library. */
#define COPIED_BYTES                                                                               \
    (offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, fpregs) + sizeof(fpregset_t))
#define GREG_OFFSET(number)                                                                        \
    (offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, gregs) +                             \
     (size_t)(number) * sizeof(greg_t))

_Static_assert(COPIED_BYTES <= ARCH_CONTEXT_BYTES, "a context is longer than its copy");

void arch_regs_read(const void *ucontext, struct arch_regs *out)
{
    const greg_t *reg = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;

    out->pc = (uintptr_t)reg[REG_RIP];
    out->sp = (uintptr_t)reg[REG_RSP];
    out->fp = (uintptr_t)reg[REG_RBP];
    out->link = 0; /* no link register: CALL pushes the return address */
}

uintptr_t arch_interpreter_bcp(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_R13];
}

uintptr_t arch_java_receiver(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSI];
}

void arch_order_loads(void)
{
    __asm__ volatile("" ::: "memory"); /* the machine keeps their order */
}

uintptr_t arch_first_argument(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RDI];
}

uintptr_t arch_exception_pc(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RDX];
}

uintptr_t arch_code_address(uintptr_t address)
{
    return address; /* nothing signs return addresses here */
}

void arch_context_copy(struct arch_context *to, const void *ucontext)
{
    const fpregset_t none = NULL;

    memcpy(to->bytes, ucontext, COPIED_BYTES);
    memset(to->bytes + COPIED_BYTES, 0, sizeof to->bytes - COPIED_BYTES);
    /* The floating point state lies in the signal frame, behind what is copied. */
    memcpy(to->bytes + COPIED_BYTES - sizeof none, &none, sizeof none);
}

void arch_regs_write(struct arch_context *copy, const struct arch_regs *regs)
{
    memcpy(copy->bytes + GREG_OFFSET(REG_RIP), &regs->pc, sizeof regs->pc);
    memcpy(copy->bytes + GREG_OFFSET(REG_RSP), &regs->sp, sizeof regs->sp);
    memcpy(copy->bytes + GREG_OFFSET(REG_RBP), &regs->fp, sizeof regs->fp);
}
