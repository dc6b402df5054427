/* aarch64: registers of an interrupted thread, and of a copy of its context. Every context. */
#include "arch/arch.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>

/* x1 holds the first argument of Java calls, x3 the return address of an exception's frame, x22 the interpreter's
 * bytecode pointer, x29 the frame pointer, x30 the return address. */
#define REG_RECEIVER  1
#define REG_THROWN_PC 3
#define REG_BCP       22
#define REG_FP        29
#define REG_LINK      30

/* The leading part of a ucontext, up to where the core registers end; extension records follow. */
#define MCONTEXT     offsetof(ucontext_t, uc_mcontext)
#define COPIED_BYTES (MCONTEXT + offsetof(mcontext_t, __reserved))

/* Where the kernel puts what a handler gets as its third argument: behind a siginfo, at the bottom of the signal's frame. */
#define SIGNAL_CONTEXT_OFFSET sizeof(siginfo_t)

_Static_assert(COPIED_BYTES <= ARCH_CONTEXT_BYTES, "a context is longer than its copy");

void arch_regs_read(const void *ucontext, struct arch_regs *out)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;

    out->pc = (uintptr_t)machine->pc;
    out->sp = (uintptr_t)machine->sp;
    out->fp = (uintptr_t)machine->regs[REG_FP];
    out->link = arch_code_address((uintptr_t)machine->regs[REG_LINK]);
}

uintptr_t arch_interpreter_bcp(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.regs[REG_BCP];
}

uintptr_t arch_java_receiver(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.regs[REG_RECEIVER];
}

void arch_order_loads(void)
{
    __asm__ volatile("dmb ishld" ::: "memory");
}

uintptr_t arch_first_argument(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.regs[0];
}

uintptr_t arch_exception_pc(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.regs[REG_THROWN_PC];
}

bool arch_dwarf_register(const void *ucontext, unsigned number, uintptr_t *out)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;

    /* Source: DWARF for the Arm 64-bit Architecture, "DWARF register names": x0 to x30. */
    if (number >= JW_COUNT_OF(machine->regs))
        return false;
    *out = (uintptr_t)machine->regs[number];
    return true;
}

uintptr_t arch_code_address(uintptr_t address)
{
    /* XPACLRI works on x30 alone, and is a no-op where pointers are not signed. */
    __asm__("mov x30, %0\n\t"
            "hint #7\n\t"
            "mov %0, x30"
            : "+r"(address)
            :
            : "x30");
    return address;
}

void arch_context_copy(struct arch_context *to, const void *ucontext)
{
    memcpy(to->bytes, ucontext, COPIED_BYTES);
    memset(to->bytes + COPIED_BYTES, 0, sizeof to->bytes - COPIED_BYTES);
}

void arch_regs_write(struct arch_context *copy, const struct arch_regs *regs)
{
    unsigned char *machine = copy->bytes + MCONTEXT;

    memcpy(machine + offsetof(mcontext_t, pc), &regs->pc, sizeof regs->pc);
    memcpy(machine + offsetof(mcontext_t, sp), &regs->sp, sizeof regs->sp);
    memcpy(machine + offsetof(mcontext_t, regs) + REG_FP * sizeof regs->fp, &regs->fp,
           sizeof regs->fp);
    memcpy(machine + offsetof(mcontext_t, regs) + REG_LINK * sizeof regs->link, &regs->link,
           sizeof regs->link);
}

void arch_context_of_regs(struct arch_context *to, const struct arch_regs *regs)
{
    memset(to->bytes, 0, COPIED_BYTES);
    arch_regs_write(to, regs);
}

static bool is_code_at(uintptr_t pc, const uint32_t expected[2])
{
    uint32_t code[2];

    return safe_load_bytes(code, pc, sizeof code) && memcmp(code, expected, sizeof code) == 0;
}

bool arch_step_signal_frame(struct arch_regs *regs)
{
    /* mov x8,#139; svc #0: rt_sigreturn. */
    static const uint32_t expected[] = {0xd2801168, 0xd4000001};
    const uintptr_t machine = regs->sp + SIGNAL_CONTEXT_OFFSET + MCONTEXT;
    const uintptr_t general = machine + offsetof(mcontext_t, regs);
    struct arch_regs interrupted;

    if (!is_code_at(regs->pc, expected) && !is_code_at(regs->pc - sizeof expected[0], expected))
        return false;
    if (!safe_load_word(machine + offsetof(mcontext_t, pc), &interrupted.pc) ||
        !safe_load_word(machine + offsetof(mcontext_t, sp), &interrupted.sp) ||
        !safe_load_word(general + REG_FP * sizeof(uintptr_t), &interrupted.fp) ||
        !safe_load_word(general + REG_LINK * sizeof(uintptr_t), &interrupted.link))
        return false;
    interrupted.link = arch_code_address(interrupted.link);
    *regs = interrupted;
    return true;
}
