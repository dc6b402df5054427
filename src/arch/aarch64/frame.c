/* aarch64: the steps out of code without a frame, or with one at the frame pointer; generated stubs.
 * Every context. */
#include "arch/arch.h"

#include "arch/aarch64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* stp x29,x30,[sp,#-16]! and mov x29,sp */
#define SETUP_BYTES (2 * CODE_BYTES)

/* Before the entry of the stubs that multiply by Montgomery's way stands what ends the JVM when it is called wrongly: all registers are
 * pushed there, two by an instruction. Source: OpenJDK, MacroAssembler::stop and MontgomeryMultiplyGenerator, JDK 11 to 28. */
#define SCAN_WORDS ((size_t)64)

/* So many instructions at a stub's entry, and before its ret, are searched for what it pushes and pops. */
#define PUSH_WORDS ((size_t)8)

bool arch_step_from_entry(struct arch_regs *regs)
{
    if (regs->link == 0)
        return false;
    regs->pc = arch_code_address(regs->link);
    return true;
}

bool code_step_pushed(struct arch_regs *regs)
{
    uintptr_t fp;
    uintptr_t pc;

    if (!safe_load_word(regs->sp, &fp) || !safe_load_word(regs->sp + WORD_BYTES, &pc))
        return false;
    regs->fp = fp;
    regs->pc = regs->link = arch_code_address(pc);
    regs->sp += 2 * WORD_BYTES;
    return true;
}

bool arch_step_from_frame(struct arch_regs *regs)
{
    struct arch_regs at_frame = *regs;

    at_frame.sp = regs->fp;
    if (regs->fp % WORD_BYTES != 0 || regs->fp < regs->sp || !code_step_pushed(&at_frame))
        return false;
    *regs = at_frame;
    return true;
}

size_t arch_stub_frame_setup_offset(uintptr_t stub_begin, size_t size_bytes)
{
    uint32_t code[SCAN_WORDS];
    const size_t count = code_load(code, JW_COUNT_OF(code), stub_begin, stub_begin + size_bytes);

    for (size_t i = 0; i + 1 < count; i++)
        if (code[i] == CODE_STP_PUSH && code[i + 1] == CODE_MOV_FP_SP)
            return i * CODE_BYTES + SETUP_BYTES;
    return ARCH_NO_FRAME;
}

/* A stub without a frame may push registers first, and pop them where it returns. */
JW_SIGNAL_SAFE static size_t pushed_bytes(uintptr_t stub_begin, uintptr_t pc)
{
    uint32_t code[PUSH_WORDS];
    const size_t before = (pc - stub_begin) / CODE_BYTES;
    const size_t count = code_load(code, JW_COUNT_OF(code), stub_begin, pc);
    int32_t pushed_bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const int32_t bytes = code_popped_bytes(code[i]);

        pushed_bytes -= bytes < 0 ? bytes : 0;
    }
    if (pushed_bytes == 0)
        return 0;
    const size_t last = before < PUSH_WORDS ? before : PUSH_WORDS;
    for (size_t i = code_load(code, last, pc - last * CODE_BYTES, pc); i > 0; i--) {
        const int32_t bytes = code_popped_bytes(code[i - 1]);

        if (bytes < 0 || code_is_branch(code[i - 1]))
            break;
        pushed_bytes -= bytes;
    }
    return pushed_bytes > 0 ? (size_t)pushed_bytes : 0;
}

bool arch_step_stub(struct arch_regs *regs, uintptr_t stub_begin, size_t setup_offset,
                    uintptr_t stub_end)
{
    if (regs->pc < stub_begin || regs->pc >= stub_end)
        return false;

    const size_t pc_offset = regs->pc - stub_begin;
    uint32_t code[CODE_WINDOW_WORDS];
    const size_t count = code_load(code, JW_COUNT_OF(code), regs->pc, stub_end);
    uint32_t before;

    if (setup_offset == ARCH_NO_FRAME || setup_offset < SETUP_BYTES ||
        pc_offset <= setup_offset - SETUP_BYTES) {
        const uintptr_t sp =
            regs->sp + (setup_offset == ARCH_NO_FRAME ? pushed_bytes(stub_begin, regs->pc) : 0);

        /* It has called something since, and keeps its own return address somewhere else. */
        if (regs->link >= stub_begin && regs->link < stub_end)
            return false;
        if (!arch_step_from_entry(regs))
            return false;
        regs->sp = sp;
        return true;
    }
    if (pc_offset < setup_offset)
        return code_step_pushed(regs);
    /* Behind the frame, with the way to ret left, or a jump to the stub that forwards exceptions. */
    if (code_leads_to_return(code, count) ||
        (safe_load_u32(regs->pc - CODE_BYTES, &before) && before == CODE_LDP_POP))
        return arch_step_from_entry(regs);
    return arch_step_from_frame(regs);
}

bool arch_step_laying(const void *ucontext, struct arch_regs *regs, uintptr_t stub_begin,
                      uintptr_t stub_end)
{
    (void)ucontext;
    (void)regs;
    (void)stub_begin;
    (void)stub_end;
    return false;
}
