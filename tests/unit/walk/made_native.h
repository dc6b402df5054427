/*
 * made_native - frames of native code for stacks that are laid out by hand, as unit/vm/fake_stack.h does it for Java: functions of
 * this program, which the room symbols knows as those of any library.
 */
#ifndef JW_TESTS_UNIT_WALK_MADE_NATIVE_H
#define JW_TESTS_UNIT_WALK_MADE_NATIVE_H

#include "unit/vm/fake_stack.h"

#define NATIVE_WORDS 4

/*
 * Native functions that are never run: each is a call, and the frame in which it waits for it, of NATIVE_WORDS words with the
 * frame pointer and the return address last. The last but one is a thread's first; of the last nothing is said.
 */
#if defined(__x86_64__)
#define CALL      "call native_inner\n"
#define FRAME     ".cfi_def_cfa rsp, 32\n .cfi_offset rip, -8\n .cfi_offset rbp, -16\n"
#define OUTERMOST ".cfi_undefined rip\n"
#else
#define CALL      "bl native_inner\n"
#define FRAME     ".cfi_def_cfa sp, 32\n .cfi_offset x30, -8\n .cfi_offset x29, -16\n"
#define OUTERMOST ".cfi_undefined x30\n"
#endif
#define FUNCTION(name, rules)                                                                      \
    ".balign 64\n.globl " name ", " name "_behind\n.hidden " name ", " name "_behind\n"            \
    ".type " name ", %function\n" name ":\n" rules "nop\n" CALL name "_behind:\nnop\n"
#define DESCRIBED(name, rules)                                                                     \
    FUNCTION(name, ".cfi_startproc\n" rules) ".cfi_endproc\n.size " name ", . - " name "\n"
__asm__(".text\n" DESCRIBED("native_inner", FRAME) DESCRIBED("native_outer", FRAME)
            DESCRIBED("native_first", OUTERMOST)
                FUNCTION("native_bare", "") ".size native_bare, . - native_bare\n");
extern const char native_inner_behind[], native_outer_behind[], native_first_behind[],
    native_bare_behind[];

/* Return addresses. */
#define INNER ((uintptr_t)native_inner_behind)
#define OUTER ((uintptr_t)native_outer_behind)
#define FIRST ((uintptr_t)native_first_behind)
#define BARE  ((uintptr_t)native_bare_behind)

static inline void push_native(uintptr_t pc)
{
    struct arch_regs *regs = &fake_stack.regs;

    put_word(regs->sp - 8, regs->pc);
    put_word(regs->sp - 16, regs->fp);
    regs->sp -= NATIVE_WORDS * sizeof(uintptr_t);
    regs->pc = pc;
}

/* Spells a call before this return address. */
static inline void put_call(uintptr_t pc)
{
#if defined(__x86_64__)
    *(unsigned char *)(pc - 5) = 0xe8;
#else
    *(uint32_t *)(pc - 4) = 0x94000000;
#endif
}

#endif
