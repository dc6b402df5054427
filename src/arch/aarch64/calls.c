/* aarch64: calls between Java methods, and polls, while nobody has a frame for them. Every context. */
#include "arch/arch.h"

#include "arch/aarch64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* An adapter moves 255 arguments, each by an instruction or two. */
#define ADAPTER_WORDS_MAX ((uintptr_t)2048)

/* From a method's entry in the interpreter to where its frame is there: room for locals, and a check of the stack. */
#define ENTRY_WORDS_MAX ((size_t)80)

/* The call stub stores its arguments before anything else. */
#define ARGUMENT_WORDS_MAX ((size_t)32)

/* The interpreter's pointer of expressions, to which the stack pointer is set as a method returns. */
#define REG_EXPRESSIONS 20

#define CODE_AND_SP_EXPRESSIONS 0x927cee9fu /* and sp,x20,#-16 */
#define EXPRESSIONS_MASK        (~(uintptr_t)15)

/* In a frame that is being built: from the stack pointer to the saved pair. */
#define FIXED_BELOW_PAIR_BYTES (10 * WORD_BYTES)

/* The stub of a poll saves all registers, those of vectors by an instruction each, before it calls the JVM. */
#define POLL_WORDS_MAX ((size_t)96)

#define CODE_STR_RETURN 0xf90007b4u /* str x20,[x29,#8] */

/* stp xzr,xN,[sp,#64]: the last words of an interpreted frame's fixed part, of which the upper one is the caller's stack pointer. N
 * differs from JDK to JDK: 13, then 19. */
JW_SIGNAL_SAFE static bool is_sender_store(uint32_t code, unsigned *number)
{
    *number = code >> 10 & 31;
    return (code & 0xffff83ff) == 0xa90403ff && (*number == 13 || *number == 19);
}

/* mov xN,sp: how the way to the interpreter begins to make room for arguments. */
JW_SIGNAL_SAFE static bool is_sender_move(uint32_t code, unsigned *number)
{
    *number = code & 31;
    return (code & 0xffffffe0) == 0x910003e0 && (*number == 13 || *number == 19);
}

JW_SIGNAL_SAFE static uintptr_t higher(uintptr_t one, uintptr_t other)
{
    return one > other ? one : other;
}

/* Method returns: mov sp,x29; ldp x29,x30,[sp],#16; and sp,x20,#-16; ret. */
JW_SIGNAL_SAFE static bool step_from_return(const void *ucontext, struct arch_regs *regs,
                                            const uint32_t *code, size_t count)
{
    struct arch_regs caller = *regs;
    uintptr_t expressions;
    uint32_t before;

    if (count >= 1 && code[0] == CODE_RET)
        return safe_load_u32(regs->pc - CODE_BYTES, &before) && before == CODE_AND_SP_EXPRESSIONS &&
               arch_step_from_entry(regs);
    if (!arch_dwarf_register(ucontext, REG_EXPRESSIONS, &expressions))
        return false;
    if (count >= 3 && code[0] == CODE_LDP_POP && code[1] == CODE_AND_SP_EXPRESSIONS &&
        code[2] == CODE_RET) {
        if (!code_step_pushed(&caller))
            return false;
    } else if (!(count >= 2 && code[0] == CODE_AND_SP_EXPRESSIONS && code[1] == CODE_RET) ||
               !arch_step_from_entry(&caller)) {
        return false;
    }
    caller.sp = higher(expressions & EXPRESSIONS_MASK, caller.sp);
    *regs = caller;
    return true;
}

bool arch_step_interpreted_edge(const void *ucontext, struct arch_regs *regs)
{
    uint32_t code[ENTRY_WORDS_MAX];
    const size_t count = code_load(code, JW_COUNT_OF(code), regs->pc, regs->pc + sizeof code);
    struct arch_regs caller = *regs;
    uintptr_t sender_sp;
    unsigned number;
    size_t at = 0;

    if (step_from_return(ucontext, regs, code, count))
        return true;
    /* One entry goes on to another in no way; numbers, which no code begins with, stand between them. */
    while (at < count && code[at] != CODE_RET && code[at] >> 16 != 0 &&
           !is_sender_store(code[at], &number))
        at++;
    if (at == count || !is_sender_store(code[at], &number) ||
        !arch_dwarf_register(ucontext, number, &sender_sp))
        return false;
    /* At the store itself the frame pointer is that of the new frame. */
    if (at == 0) {
        caller.sp += FIXED_BELOW_PAIR_BYTES;
        if (regs->fp != caller.sp || !code_step_pushed(&caller))
            return false;
    } else if (!arch_step_from_entry(&caller)) {
        return false;
    }
    caller.sp = higher(sender_sp, regs->sp);
    *regs = caller;
    return true;
}

bool arch_step_adapter(const void *ucontext, struct arch_regs *regs, uintptr_t begin, bool is_leaf)
{
    struct arch_regs caller = *regs;
    bool has_frame = false;
    bool is_moved = false;
    unsigned number, moved_to = 0;
    uint32_t code;

    if (regs->pc < begin || regs->pc - begin > ADAPTER_WORDS_MAX * CODE_BYTES)
        return false;
    for (uintptr_t addr = begin; addr < regs->pc; addr += CODE_BYTES) {
        if (!safe_load_u32(addr, &code))
            return false;
        if (code == CODE_MOV_FP_SP)
            has_frame = true;
        else if (code == CODE_LDP_POP)
            has_frame = false;
        else if (is_sender_move(code, &number)) {
            is_moved = true;
            moved_to = number;
        }
    }
    if (has_frame)
        return arch_step_from_frame(regs);
    if (is_leaf)
        return false;
    if (safe_load_u32(regs->pc, &code) && code == CODE_MOV_FP_SP)
        return code_step_pushed(regs);
    if (!arch_step_from_entry(&caller) ||
        (is_moved && !arch_dwarf_register(ucontext, moved_to, &caller.sp)))
        return false;
    caller.sp = higher(caller.sp, regs->sp);
    *regs = caller;
    return true;
}

void arch_sender_read(const void *ucontext, struct arch_sender *out)
{
    (void)ucontext;
    *out = (struct arch_sender){0, 0};
}

bool arch_is_reentered(uintptr_t pc, intptr_t bcp_bytes)
{
    (void)pc;
    (void)bcp_bytes;
    return false;
}

enum arch_sender_kind arch_sender_in(uintptr_t begin, uintptr_t pc)
{
    (void)begin;
    (void)pc;
    return ARCH_SENDER_NONE;
}

/* True when the stub puts a return address into its own frame before it calls: so does that of a poll at the end of a loop. At
 * that of a return the link register has it. */
JW_SIGNAL_SAFE static bool has_return_made(uintptr_t stub_begin, uintptr_t stub_end)
{
    uint32_t code[POLL_WORDS_MAX];
    const size_t count = code_load(code, JW_COUNT_OF(code), stub_begin, stub_end);

    if (count < 2 || code[0] != CODE_STP_PUSH || code[1] != CODE_MOV_FP_SP)
        return false;
    for (size_t i = 2; i < count && (code[i] & 0xfffffc1f) != CODE_BLR; i++)
        if (code[i] == CODE_STR_RETURN)
            return true;
    return false;
}

bool arch_step_poll(struct arch_regs *regs, uintptr_t poll_pc, uintptr_t stub_begin,
                    uintptr_t stub_end)
{
    struct arch_regs caller = *regs;
    uint32_t code[2];

    if (regs->pc < stub_begin || regs->pc >= stub_end || regs->pc % CODE_BYTES != 0 ||
        !has_return_made(stub_begin, stub_end))
        return false;
    const size_t offset = regs->pc - stub_begin;
    if (offset == CODE_BYTES) {
        if (!code_step_pushed(&caller))
            return false;
    } else if (offset > CODE_BYTES) {
        /* Behind the frame the link register counts again: mended, where the poll is not to be done once more. */
        if (!safe_load_bytes(code, regs->pc - CODE_BYTES, sizeof code) || code[0] == CODE_LDP_POP ||
            !arch_step_from_frame(&caller))
            return false;
    }
    caller.pc = poll_pc;
    *regs = caller;
    return true;
}

bool arch_is_argument_stored(uintptr_t begin, uintptr_t pc, intptr_t fp_offset_bytes)
{
    uint32_t code[ARGUMENT_WORDS_MAX];
    const size_t count = code_load(code, JW_COUNT_OF(code), begin, pc);
    const uint32_t field = ((uint32_t)(fp_offset_bytes / (intptr_t)WORD_BYTES) & 0x7f)
                           << 15; /* as code_pair_offset */

    for (size_t i = 0; i < count; i++)
        if (code[i] == (0xa90007a0 | field)) /* stp x0,x1,[x29,#offset] */
            return true;
    return false;
}
