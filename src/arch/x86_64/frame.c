/* x86-64: the steps out of code without a frame, or with one at the frame pointer; generated stubs.
 * Every context. */
#include "arch/arch.h"

#include "arch/x86_64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* push %rbp, then mov %rsp,%rbp in one of its two encodings. */
#define PUSH_BYTES  ((size_t)1)
#define SETUP_BYTES ((size_t)4)

bool arch_step_from_entry(struct arch_regs *regs)
{
    if (!safe_load_word(regs->sp, &regs->pc))
        return false;
    regs->sp += WORD_BYTES;
    return true;
}

bool code_step_pushed(struct arch_regs *regs)
{
    uintptr_t fp;
    uintptr_t pc;

    if (!safe_load_word(regs->sp, &fp) || !safe_load_word(regs->sp + WORD_BYTES, &pc))
        return false;
    regs->fp = fp;
    regs->pc = pc;
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
    uint8_t code[ARCH_STUB_SCAN_BYTES];
    const size_t length_bytes = size_bytes < sizeof code ? size_bytes : sizeof code;

    if (!safe_load_bytes(code, stub_begin, length_bytes))
        return ARCH_NO_FRAME;
    for (size_t i = 0; i + SETUP_BYTES <= length_bytes; i++)
        if (code[i] == 0x55 && code_is_mov_rsp_rbp(code + i + PUSH_BYTES, length_bytes - i - 1))
            return i + SETUP_BYTES;
    return ARCH_NO_FRAME;
}

bool arch_step_stub(struct arch_regs *regs, uintptr_t stub_begin, size_t setup_offset,
                    uintptr_t stub_end)
{
    if (regs->pc < stub_begin || regs->pc >= stub_end)
        return false;

    const size_t pc_offset = regs->pc - stub_begin;
    uint8_t code[CODE_WINDOW_BYTES];
    const size_t length_bytes = code_load(code, regs->pc, stub_end);

    if (setup_offset == ARCH_NO_FRAME || setup_offset < SETUP_BYTES ||
        pc_offset <= setup_offset - SETUP_BYTES)
        return arch_step_from_entry(regs);
    if (pc_offset < setup_offset)
        return code_step_pushed(regs);
    /* Behind leave or pop %rbp, with nothing left but the way to ret. */
    if (code_leads_to_return(code, length_bytes))
        return arch_step_from_entry(regs);
    return arch_step_from_frame(regs);
}
