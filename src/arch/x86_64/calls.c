/* x86-64: calls between Java methods and polls, while nobody has a frame for them. Every context. */
#include "arch/arch.h"

#include "arch/x86_64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* An adapter moves 255 arguments, each by an instruction or two. */
#define ADAPTER_BYTES_MAX ((uintptr_t)8192)

/* push %rbx, for the return address; push %rbp. */
#define PUSH_RBX 0x53
#define PUSH_RBP 0x55

bool arch_has_sender(uintptr_t begin, uintptr_t pc)
{
    bool is_to_compiled = true;
    bool has_sender = true;
    uint32_t window = 0;
    uint8_t byte;

    if (pc < begin || pc - begin > ADAPTER_BYTES_MAX)
        return false;
    /* jmp *%r11 ends the way to compiled code; mov %rsp,%r13 stands in the other way, behind the words that it pops. */
    for (uintptr_t addr = begin; addr < pc; addr++) {
        if (!safe_load_u8(addr, &byte))
            return false;
        window = (window << 8 | byte) & 0xffffff;
        if (window == 0x41ffe3 && is_to_compiled)
            is_to_compiled = has_sender = false;
        else if (window == 0x4c8bec || window == 0x4989e5)
            has_sender = true;
    }
    return has_sender;
}

bool arch_step_interpreted_edge(const void *ucontext, struct arch_regs *regs)
{
    (void)ucontext;
    (void)regs;
    return false;
}

bool arch_step_adapter(const void *ucontext, struct arch_regs *regs, uintptr_t begin, bool is_leaf)
{
    (void)ucontext;
    (void)regs;
    (void)begin;
    (void)is_leaf;
    return false;
}

bool arch_step_poll(struct arch_regs *regs, uintptr_t poll_pc, uintptr_t stub_begin,
                    uintptr_t stub_end)
{
    uint8_t code[CODE_WINDOW_BYTES];
    struct arch_regs caller = *regs;

    if (regs->pc < stub_begin || regs->pc >= stub_end ||
        code_load(code, stub_begin, stub_end) < 2 || code[0] != PUSH_RBX)
        return false;
    const size_t offset = regs->pc - stub_begin;
    if (offset <= 1) {
        caller.sp += offset * WORD_BYTES;
    } else if (offset == 2 && code[1] == PUSH_RBP) {
        if (!code_step_pushed(&caller))
            return false;
    } else if (code_leads_to_return(code, code_load(code, regs->pc, stub_end)) ||
               !arch_step_from_frame(&caller)) {
        return false;
    }
    caller.pc = poll_pc;
    *regs = caller;
    return true;
}
