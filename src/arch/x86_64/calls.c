/* x86-64: calls between Java methods and polls, while nobody has a frame for them. Every context. */
#include "arch/arch.h"

#include <string.h>

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

/* A method of the interpreter returns by: leave; pop %P; mov %S,%rsp; jmp *%P. So many bytes at most behind the first, and the move's. */
#define RETURN_BYTES_MAX 8
#define SP_MOVE_BYTES    3

/* DWARF's number of a register by the processor's. */
static JW_SIGNAL_SAFE unsigned dwarf_of(unsigned number)
{
    static const uint8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};

    return number < sizeof numbers ? numbers[number] : number;
}

/* Length of `pop %number`; 0: something else. */
static JW_SIGNAL_SAFE size_t match_pop(const uint8_t *code, unsigned *number)
{
    const bool is_high = code[0] == 0x41;

    *number = dwarf_of((code[is_high] & 7u) | (is_high ? 8u : 0));
    return (code[is_high] & 0xf8) == 0x58 ? 1 + is_high : 0;
}

static JW_SIGNAL_SAFE bool match_sp_move(const uint8_t *code, unsigned *number)
{
    *number = dwarf_of((code[2] & 7u) | (code[0] & 1u) << 3);
    return (code[0] & 0xfe) == 0x48 && code[1] == 0x8b && (code[2] & 0xf8) == 0xe0;
}

static JW_SIGNAL_SAFE bool match_jump(const uint8_t *code, unsigned *number)
{
    const bool is_high = code[0] == 0x41;

    *number = dwarf_of((code[1 + is_high] & 7u) | (is_high ? 8u : 0));
    return code[is_high] == 0xff && (code[1 + is_high] & 0xf8) == 0xe0;
}

bool arch_step_interpreted_edge(const void *ucontext, struct arch_regs *regs)
{
    uint8_t code[RETURN_BYTES_MAX], before[RETURN_BYTES_MAX];
    struct arch_regs caller = *regs;
    unsigned popped, source, target;
    uintptr_t word;

    if (!safe_load_word(regs->pc, &word))
        return false;
    memcpy(code, &word, sizeof code);
    const size_t pop_bytes = match_pop(code, &popped);

    if (pop_bytes != 0) {
        if (!match_sp_move(code + pop_bytes, &source) ||
            !match_jump(code + pop_bytes + SP_MOVE_BYTES, &target) || target != popped ||
            !arch_dwarf_register(ucontext, source, &caller.sp) ||
            !safe_load_word(regs->sp, &caller.pc))
            return false;
    } else if (match_sp_move(code, &source)) {
        if (!match_jump(code + SP_MOVE_BYTES, &target) ||
            !arch_dwarf_register(ucontext, target, &caller.pc) ||
            !arch_dwarf_register(ucontext, source, &caller.sp))
            return false;
    } else {
        if (!match_jump(code, &target) || !safe_load_word(regs->pc - SP_MOVE_BYTES, &word))
            return false;
        memcpy(before, &word, sizeof before);
        if (!match_sp_move(before, &source) || !arch_dwarf_register(ucontext, target, &caller.pc))
            return false;
    }
    if (caller.sp < regs->sp)
        return false;
    *regs = caller;
    return true;
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
