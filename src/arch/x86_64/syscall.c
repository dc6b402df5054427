/* x86-64: the system call that a signal interrupted. Handler context. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/arch_syscall_internal.h"

#define SYSCALL_BYTES  2
#define SYSCALL_CODE   0x050f /* 0f 05, as a load sees it */
#define NUMBER_BYTES   5      /* mov $imm32,%eax */
#define NUMBER_OPCODE  0xb8
#define ZERO_BYTES     2 /* xor %eax,%eax: number 0, read */
#define ZERO_OPCODE    0x31
#define ZERO_EAX       0xc0
#define NUMBER_LIMIT   1024 /* of all calls there are */
#define BETWEEN_BYTES  20   /* at most, from there to the call */
#define REX_MASK       0xf0
#define REX            0x40
#define LOAD           0x8b /* mov r/m,r */
#define MODRM_SP_BYTE  0x44 /* disp8(SIB), register apart */
#define MODRM_REGISTER 0x38
#define SIB_SP         0x24 /* %rsp, no index */
#define MOVE           0x89 /* mov r,r/m */
#define MODRM_MOVE     0xc0 /* of two registers */
#define CALL_BYTES     5
#define CALL_OPCODE    0xe8
#define MOVE_BYTES     3
#define STACK_BYTES    5  /* of a load from the stack */
#define MOVES_BYTES    24 /* at most, from the load of the number to the call */

JW_SIGNAL_SAFE static bool is_syscall(uintptr_t addr)
{
    uint16_t code = 0;

    return safe_load_u16(addr, &code) && code == SYSCALL_CODE;
}

enum arch_syscall_state arch_syscall_state(const void *ucontext)
{
    const greg_t *reg = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    const uintptr_t pc = (uintptr_t)reg[REG_RIP];

    if (reg[REG_RAX] == -EINTR && is_syscall(pc - SYSCALL_BYTES))
        return ARCH_SYSCALL_CUT;
    if ((uint64_t)reg[REG_RAX] < NUMBER_LIMIT && is_syscall(pc))
        return ARCH_SYSCALL_AGAIN;
    return ARCH_SYSCALL_NONE;
}

/* Bytes of the load of an argument from the stack at `code`, or 0: mov disp8(%rsp),register, as a C
 * library has it between the number and the call. Never into eax. */
JW_SIGNAL_SAFE static size_t load_bytes(const uint8_t *code, size_t length_bytes)
{
    const size_t rex_bytes = length_bytes > 0 && (code[0] & REX_MASK) == REX ? 1 : 0;
    const uint8_t *load = code + rex_bytes;

    if (length_bytes < rex_bytes + 4 || load[0] != LOAD ||
        (load[1] & ~MODRM_REGISTER) != MODRM_SP_BYTE || load[2] != SIB_SP)
        return 0;
    if ((load[1] & MODRM_REGISTER) == 0 && (rex_bytes == 0 || (code[0] & 4) == 0))
        return 0;
    return rex_bytes + 4;
}

JW_SIGNAL_SAFE static bool are_loads(const uint8_t *code, size_t length_bytes)
{
    while (length_bytes > 0) {
        const size_t bytes = load_bytes(code, length_bytes);

        if (bytes == 0)
            return false;
        code += bytes;
        length_bytes -= bytes;
    }
    return true;
}

/* Bytes of the instruction at `code` that loads a number, and the number; 0 for any other. */
JW_SIGNAL_SAFE static size_t number_bytes(const uint8_t *code, size_t length_bytes,
                                          uint32_t *number)
{
    if (length_bytes >= ZERO_BYTES && code[0] == ZERO_OPCODE && code[1] == ZERO_EAX) {
        *number = 0;
        return ZERO_BYTES;
    }
    if (length_bytes < NUMBER_BYTES || code[0] != NUMBER_OPCODE)
        return 0;
    memcpy(number, code + 1, sizeof *number);
    return *number < NUMBER_LIMIT ? NUMBER_BYTES : 0;
}

/*
 * The kernel saves no register that the number is still in: it is the constant that the code before
 * the call loads. -1 unless all that lies between is understood.
 * Source: glibc 2.36 as built by gcc: every call of arch_syscall_kind_of that it makes.
 */
JW_SIGNAL_SAFE static long number_before(uintptr_t pc)
{
    uint8_t code[NUMBER_BYTES + BETWEEN_BYTES]; /* up to the call */
    uint32_t number;

    if (!safe_load_bytes(code, pc - SYSCALL_BYTES - sizeof code, sizeof code))
        return -1;
    for (size_t before = ZERO_BYTES; before <= sizeof code; before++) {
        const uint8_t *load = code + sizeof code - before;
        const size_t bytes = number_bytes(load, before, &number);

        if (bytes > 0 && are_loads(load + bytes, before - bytes))
            return (long)number;
    }
    return -1;
}

/* The word so far above `sp`, if it can be a number. */
JW_SIGNAL_SAFE static long number_at(uintptr_t sp, uint8_t offset_bytes)
{
    uintptr_t number;

    return safe_load_word(sp + offset_bytes, &number) && number < NUMBER_LIMIT ? (long)number : -1;
}

/* Moves between registers, none into %rsi or %rsp. */
JW_SIGNAL_SAFE static bool are_moves(const uint8_t *code, size_t length_bytes)
{
    if (length_bytes % MOVE_BYTES != 0)
        return false;
    for (size_t at = 0; at < length_bytes; at += MOVE_BYTES) {
        const unsigned to = (code[at] & 1u) << 3 | (code[at + 2] & 7u);

        if ((code[at] & 0xfa) != 0x48 || code[at + 1] != MOVE ||
            (code[at + 2] & MODRM_MOVE) != MODRM_MOVE || to == 4 || to == 6)
            return false;
    }
    return true;
}

/* The number that is loaded from the stack into %rsi before the call that ends at `return_pc`, where the stack pointer was `sp`. */
JW_SIGNAL_SAFE static long number_passed(uintptr_t return_pc, uintptr_t sp)
{
    static const uint8_t load[] = {0x48, 0x8b, 0x74, SIB_SP}; /* mov disp8(%rsp),%rsi */
    uint8_t code[STACK_BYTES + MOVES_BYTES + CALL_BYTES];
    const size_t call = sizeof code - CALL_BYTES;

    if (!safe_load_bytes(code, return_pc - sizeof code, sizeof code) || code[call] != CALL_OPCODE)
        return -1;
    for (size_t at = call - STACK_BYTES;; at--) {
        if (memcmp(code + at, load, sizeof load) == 0 &&
            are_moves(code + at + STACK_BYTES, call - at - STACK_BYTES))
            return number_at(sp, code[at + sizeof load]);
        if (at == 0)
            return -1;
    }
}

/*
 * From glibc 2.41 on all calls that can be cancelled are made in two places. One is written by hand, and moves its
 * second argument, the number, to where the kernel wants it; the caller has loaded that from its own last argument, on
 * the stack. The other is in that caller, for threads that are not cancelled.
 * Source: glibc 2.43, sysdeps/unix/sysv/linux/x86_64/syscall_cancel.S, nptl/cancellation.c, as built by gcc.
 */
JW_SIGNAL_SAFE static long number_on_stack(uintptr_t pc, uintptr_t sp)
{
    static const uint8_t cancellable[] = {
        0x48, 0x89, 0xf0,             /* mov %rsi,%rax */
        0x48, 0x89, 0xd7,             /* mov %rdx,%rdi */
        0x48, 0x89, 0xce,             /* mov %rcx,%rsi */
        0x4c, 0x89, 0xc2,             /* mov %r8,%rdx */
        0x4d, 0x89, 0xca,             /* mov %r9,%r10 */
        0x4c, 0x8b, 0x44, SIB_SP, 8,  /* mov 8(%rsp),%r8 */
        0x4c, 0x8b, 0x4c, SIB_SP, 16, /* mov 16(%rsp),%r9 */
        0x4c, 0x89, 0x5c, SIB_SP, 8,  /* mov %r11,8(%rsp) */
    };
    static const uint8_t load[] = {0x48, 0x8b, 0x44, SIB_SP}; /* mov disp8(%rsp),%rax */
    uint8_t code[sizeof cancellable];
    uintptr_t return_pc;

    if (!safe_load_bytes(code, pc - SYSCALL_BYTES - sizeof code, sizeof code))
        return -1;
    if (memcmp(code, cancellable, sizeof code) == 0)
        return safe_load_word(sp, &return_pc) ? number_passed(return_pc, sp + sizeof sp) : -1;
    if (memcmp(code + sizeof code - STACK_BYTES, load, sizeof load) == 0)
        return number_at(sp, code[sizeof code - 1]);
    return -1;
}

JW_SIGNAL_SAFE static void read_arguments(const greg_t *reg, uintptr_t *out)
{
    static const uint8_t places[ARCH_SYSCALL_ARGUMENTS] = {REG_RDI, REG_RSI, REG_RDX,
                                                           REG_R10, REG_R8,  REG_R9};

    for (size_t i = 0; i < ARCH_SYSCALL_ARGUMENTS; i++)
        out[i] = (uintptr_t)reg[places[i]];
}

void arch_syscall_read(const void *ucontext, struct arch_syscall *out)
{
    const greg_t *reg = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;

    read_arguments(reg, out->arguments);
    out->number = number_before((uintptr_t)reg[REG_RIP]);
    if (out->number < 0)
        out->number = number_on_stack((uintptr_t)reg[REG_RIP], (uintptr_t)reg[REG_RSP]);
    out->kind =
        out->number < 0 ? ARCH_SYSCALL_UNKNOWN : arch_syscall_kind_of(out->number, out->arguments);
}

enum arch_syscall_kind arch_syscall_own_kind(long number)
{
    switch (number) {
    case SYS_poll:
        return ARCH_SYSCALL_RESUMED;
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_pause:
        return ARCH_SYSCALL_ISSUED;
    default:
        return ARCH_SYSCALL_OTHER;
    }
}

intptr_t arch_syscall_issue(long number, const uintptr_t *arguments)
{
    /* Read first: a sanitizer calls a function for each read, and that one owns these registers. */
    const uintptr_t first = arguments[0], second = arguments[1], third = arguments[2];
    const uintptr_t fourth_value = arguments[3], fifth_value = arguments[4];
    const uintptr_t sixth_value = arguments[5];
    register uintptr_t fourth __asm__("r10") = fourth_value;
    register uintptr_t fifth __asm__("r8") = fifth_value;
    register uintptr_t sixth __asm__("r9") = sixth_value;
    intptr_t result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

void arch_syscall_end(void *ucontext, intptr_t result)
{
    ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RAX] = result;
}

/* The instruction leaves the address behind it in rcx: so the call was issued, and put back. A machine
 * with FRED keeps rcx, and the kernel's restart stands there.
 * Source: Intel SDM, SYSCALL; Linux, arch/x86/entry/entry_fred.c. */
bool arch_syscall_cut(void *ucontext)
{
    greg_t *reg = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
    uintptr_t arguments[ARCH_SYSCALL_ARGUMENTS];

    read_arguments(reg, arguments);
    if (reg[REG_RCX] != reg[REG_RIP] + SYSCALL_BYTES ||
        !arch_syscall_is_restarted((long)reg[REG_RAX], arguments))
        return false;
    reg[REG_RIP] += SYSCALL_BYTES;
    reg[REG_RAX] = -EINTR;
    return true;
}
