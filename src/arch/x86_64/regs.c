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

void arch_sender_read(const void *ucontext, struct arch_sender *out)
{
    const greg_t *reg = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;

    out->sp = (uintptr_t)reg[REG_R13];
    out->pc = (uintptr_t)reg[REG_RAX];
}

bool arch_dwarf_register(const void *ucontext, unsigned number, uintptr_t *out)
{
    /* Source: System V ABI, AMD64 supplement, "DWARF Register Number Mapping". */
    static const uint8_t order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};

    if (number >= JW_COUNT_OF(order))
        return false;
    *out = (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[order[number]];
    return true;
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

void arch_context_of_regs(struct arch_context *to, const struct arch_regs *regs)
{
    memset(to->bytes, 0, COPIED_BYTES);
    arch_regs_write(to, regs);
}

bool arch_step_signal_frame(struct arch_regs *regs)
{
    /* mov $15,%rax or %eax; syscall: rt_sigreturn, in the words of glibc and of musl. */
    static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t narrow[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
    const uintptr_t context = regs->sp; /* the handler's return took the word below it */
    uint8_t code[sizeof wide] = {0};
    struct arch_regs interrupted = {0};

    if (!safe_load_bytes(code, regs->pc, sizeof narrow) ||
        (memcmp(code, narrow, sizeof narrow) != 0 &&
         (!safe_load_bytes(code, regs->pc, sizeof wide) || memcmp(code, wide, sizeof wide) != 0)) ||
        !safe_load_word(context + GREG_OFFSET(REG_RIP), &interrupted.pc) ||
        !safe_load_word(context + GREG_OFFSET(REG_RSP), &interrupted.sp) ||
        !safe_load_word(context + GREG_OFFSET(REG_RBP), &interrupted.fp))
        return false;
    *regs = interrupted;
    return true;
}
