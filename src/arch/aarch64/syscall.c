/* aarch64: the system call that a signal interrupted. Handler context. */
#include <errno.h>
#include <ucontext.h>

#include "arch/arch_syscall_internal.h"

#define INSTRUCTION_BYTES 4
#define SVC               0xd4000001u /* svc #0 */
#define BEFORE_COUNT      12          /* instructions before the call that are looked at */
#define REG_NUMBER        8
#define FIRST_SAVED       19 /* x19 to x28 are the callee's to keep: a call leaves them alone */
#define LAST_SAVED        28

/* mov x0, xN and mov w0, wN are orr with the zero register; the 32-bit one clears the upper half. */
#define MOV_X0_MASK   0xffe0ffffu
#define MOV_X0        0xaa0003e0u
#define MOV_W0        0x2a0003e0u
#define SOURCE_SHIFT  16
#define REGISTER_MASK 31u

JW_SIGNAL_SAFE static bool is_syscall(uintptr_t addr)
{
    uint32_t code = 0;

    return safe_load_u32(addr, &code) && code == SVC;
}

enum arch_syscall_state arch_syscall_state(const void *ucontext)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;
    const uintptr_t pc = (uintptr_t)machine->pc;

    if ((int64_t)machine->regs[0] == -EINTR && is_syscall(pc - INSTRUCTION_BYTES))
        return ARCH_SYSCALL_CUT;
    return is_syscall(pc) ? ARCH_SYSCALL_AGAIN : ARCH_SYSCALL_NONE;
}

/* Branches, exceptions and what else may leave the line: op0 of the main encoding table is 101x.
 * Source: Arm ARM, C4.1. */
JW_SIGNAL_SAFE static bool is_branch(uint32_t code)
{
    return (code & 0x1c000000u) == 0x14000000u;
}

/* mov to another register than x0: moves of the arguments, orr with the zero register or movz. */
JW_SIGNAL_SAFE static bool is_move_elsewhere(uint32_t code)
{
    const uint32_t to = code & REGISTER_MASK;
    const bool is_copy = (code & 0x7fe0ffe0u) == 0x2a0003e0u;
    const bool is_constant = (code & 0x7f800000u) == 0x52800000u;

    return (is_copy || is_constant) && to != 0 && (to < FIRST_SAVED || to > LAST_SAVED);
}

/* ldr or ldp of x1 to x7 from the stack: arguments that were put aside. */
JW_SIGNAL_SAFE static bool is_load_of_argument(uint32_t code)
{
    const bool is_one = (code & 0xbfc003e0u) == 0xb94003e0u;
    const bool is_pair = (code & 0x7fc003e0u) == 0x294003e0u;
    const uint32_t to = code & REGISTER_MASK;
    const uint32_t second = code >> 10 & REGISTER_MASK;

    return (is_one && to >= 1 && to <= 7) ||
           (is_pair && to >= 1 && to <= 7 && second >= 1 && second <= 7);
}

/*
 * The result is where the first argument was; only the kernel still knows that. Where the code in
 * line before the call copied it from a register that calls keep, and did nothing since but to fetch
 * other arguments, it is in that register.
 * Source: glibc 2.36, every system call that is a cancellation point.
 */
JW_SIGNAL_SAFE static bool first_argument(const mcontext_t *machine, uintptr_t *out)
{
    uintptr_t addr = (uintptr_t)machine->pc - INSTRUCTION_BYTES;

    for (int i = 0; i < BEFORE_COUNT; i++) {
        uint32_t code;

        addr -= INSTRUCTION_BYTES;
        if (!safe_load_u32(addr, &code) || is_branch(code))
            return false;
        const uint32_t from = code >> SOURCE_SHIFT & REGISTER_MASK;
        const bool is_long = (code & MOV_X0_MASK) == MOV_X0;

        if (is_long || (code & MOV_X0_MASK) == MOV_W0) {
            if (from < FIRST_SAVED || from > LAST_SAVED)
                return false;
            *out =
                is_long ? (uintptr_t)machine->regs[from] : (uintptr_t)(uint32_t)machine->regs[from];
            return true;
        }
        if (!is_move_elsewhere(code) && !is_load_of_argument(code))
            return false;
    }
    return false;
}

void arch_syscall_read(const void *ucontext, struct arch_syscall *out)
{
    const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;

    for (size_t i = 1; i < ARCH_SYSCALL_ARGUMENTS; i++)
        out->arguments[i] = (uintptr_t)machine->regs[i];
    const bool is_whole = first_argument(machine, &out->arguments[0]);
    if (!is_whole)
        out->arguments[0] = UINTPTR_MAX;
    out->number = (long)machine->regs[REG_NUMBER];
    out->kind = arch_syscall_kind_of(out->number, out->arguments);
    if (out->kind == ARCH_SYSCALL_ISSUED && !is_whole)
        out->kind = ARCH_SYSCALL_OTHER;
}

enum arch_syscall_kind arch_syscall_own_kind(long number)
{
    (void)number;
    return ARCH_SYSCALL_OTHER;
}

intptr_t arch_syscall_issue(long number, const uintptr_t *arguments)
{
    register long call __asm__("x8") = number;
    register uintptr_t first __asm__("x0") = arguments[0];
    register uintptr_t second __asm__("x1") = arguments[1];
    register uintptr_t third __asm__("x2") = arguments[2];
    register uintptr_t fourth __asm__("x3") = arguments[3];
    register uintptr_t fifth __asm__("x4") = arguments[4];
    register uintptr_t sixth __asm__("x5") = arguments[5];

    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory");
    return (intptr_t)first;
}

void arch_syscall_end(void *ucontext, intptr_t result)
{
    ((ucontext_t *)ucontext)->uc_mcontext.regs[0] = (uint64_t)result;
}

/* Registers do not tell a call that was put back from one that is about to be issued; that one would
 * be interrupted by the same signal, if it waits at all. */
bool arch_syscall_cut(void *ucontext)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;
    uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS];

    for (size_t i = 0; i < ARCH_SYSCALL_ARGUMENTS; i++)
        arguments[i] = (uintptr_t)machine->regs[i];
    if (!arch_syscall_is_restarted((long)machine->regs[REG_NUMBER], arguments))
        return false;
    machine->pc += INSTRUCTION_BYTES;
    machine->regs[0] = (uint64_t)-EINTR;
    return true;
}
