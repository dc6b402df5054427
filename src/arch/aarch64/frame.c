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

bool arch_step_stub(struct arch_regs *regs, uintptr_t stub_begin, size_t setup_offset,
                    uintptr_t stub_end)
{
    if (regs->pc < stub_begin || regs->pc >= stub_end)
        return false;

    const size_t pc_offset = regs->pc - stub_begin;
    uint32_t code[CODE_WINDOW_WORDS];
    const size_t count = code_load(code, JW_COUNT_OF(code), regs->pc, stub_end);

    if (setup_offset == ARCH_NO_FRAME || setup_offset < SETUP_BYTES ||
        pc_offset <= setup_offset - SETUP_BYTES)
        return arch_step_from_entry(regs);
    if (pc_offset < setup_offset)
        return code_step_pushed(regs);
    if (code_leads_to_return(code, count))
        return arch_step_from_entry(regs);
    return arch_step_from_frame(regs);
}
