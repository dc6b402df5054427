/* aarch64: the step out of a compiled method at its edges. Every context. */
#include "arch/arch.h"

#include "arch/aarch64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* How far before the pc, and in all, code is searched for the prologue. */
#define SEARCH_BACK_WORDS ((size_t)40)
#define SEARCH_WORDS      ((size_t)48)
#define BANG_WORDS        2       /* sub x9,sp,#n; str xzr,[x9] */
#define PROLOGUE_WORDS    5       /* the longest one: stp, mov, movz, movk, sub */
#define FRAME_WORDS_MIN   2       /* x29 and x30 */
#define FRAME_WORDS_MAX   1000000 /* 8 MB */

/*
 * Indices of the instructions at which a prologue changes what the caller's registers are found by.
 * Source: OpenJDK, hotspot/cpu/aarch64, MacroAssembler::build_frame and remove_frame, JDK 11 to 25.
 * Frames up to 527 bytes have the first form; the bang of the stack may stand before either:
 *
 *     sub sp,sp,#frame          <- begin             stp x29,x30,[sp,#-16]!  <- begin
 *     stp x29,x30,[sp,#frame-16] <- allocated        [mov x29,sp]            <- pushed
 *     [add x29,sp,#frame-16]    <- saved             sub sp,sp,#frame-16, or by way of x8
 *                                                                            <- allocated = saved
 */
struct prologue {
    size_t begin;
    size_t allocated;
    size_t saved;
    bool is_pushed; /* the second form */
};

struct code_window {
    size_t count;
    uint32_t words[SEARCH_WORDS];
};

/* Number of instructions of `sub sp,sp,#amount_bytes` at `code`; 0: something else stands there. */
JW_SIGNAL_SAFE static size_t match_sub(const uint32_t *code, size_t count, size_t amount_bytes)
{
    uint64_t amount;

    if (count >= 1 && amount_bytes < CODE_AMOUNT_LIMIT &&
        code[0] == (CODE_SUB_SP_IMM | code_amount(amount_bytes)))
        return 1;
    /* movz x8,#low; [movk x8,#high,lsl #16]; sub sp,sp,x8 */
    if (count < 2 || (code[0] & 0xffe0001f) != 0xd2800008)
        return 0;
    amount = code[0] >> 5 & 0xffff;
    if (code[1] == CODE_SUB_SP_X8)
        return amount == amount_bytes ? 2 : 0;
    if (count < 3 || (code[1] & 0xffe0001f) != 0xf2a00008 || code[2] != CODE_SUB_SP_X8)
        return 0;
    amount |= (uint64_t)(code[1] >> 5 & 0xffff) << 16;
    return amount == amount_bytes ? 3 : 0;
}

/* Reads the prologue that starts at index `at`. `complete_at`: the index at which the frame is said
 * to be complete, which alone shows a prologue that is a bare push. */
JW_SIGNAL_SAFE static bool read_prologue(const struct code_window *code, size_t at,
                                         size_t frame_bytes, size_t complete_at,
                                         struct prologue *out)
{
    const uint32_t *words = code->words;
    const size_t pair_bytes = frame_bytes - 2 * WORD_BYTES;
    size_t next = at + 1;

    if (at + 1 >= code->count)
        return false;
    out->begin = at;
    out->is_pushed = words[at] == CODE_STP_PUSH;
    if (out->is_pushed) {
        if (words[next] == CODE_MOV_FP_SP)
            next++;
        const size_t sub_words = match_sub(words + next, code->count - next, pair_bytes);

        out->allocated = out->saved = next + sub_words;
        return sub_words != 0 || (pair_bytes == 0 && next == complete_at);
    }
    out->allocated = next;
    out->saved = next + 1;
    return pair_bytes <= CODE_PAIR_OFFSET_LIMIT &&
           words[at] == (CODE_SUB_SP_IMM | code_amount(frame_bytes)) &&
           words[next] == (CODE_STP_AT | code_pair_offset(pair_bytes));
}

JW_SIGNAL_SAFE static bool step_in_prologue(struct arch_regs *regs, size_t at,
                                            const struct prologue *prologue, size_t frame_bytes)
{
    struct arch_regs at_pair = *regs;

    if (at <= prologue->begin)
        return arch_step_from_entry(regs);
    if (!prologue->is_pushed && at < prologue->saved) {
        if (!arch_step_from_entry(regs))
            return false;
        regs->sp += frame_bytes;
        return true;
    }
    if (at >= prologue->saved)
        at_pair.sp += frame_bytes - 2 * WORD_BYTES;
    if (!code_step_pushed(&at_pair))
        return false;
    *regs = at_pair;
    return true;
}

/* Another prologue, behind the first: where C1 lets the interpreter in (on-stack replacement). */
JW_SIGNAL_SAFE static bool find_around(const struct code_window *code, size_t here,
                                       size_t frame_bytes, struct prologue *out)
{
    const size_t before = here < PROLOGUE_WORDS ? here : PROLOGUE_WORDS;

    for (size_t at = here - before; at <= here; at++)
        if (read_prologue(code, at, frame_bytes, SIZE_MAX, out) && here < out->saved)
            return true;
    /* sub x9,sp,#n,lsl #12; str xzr,[x9] */
    for (size_t bang = 0; bang < BANG_WORDS && bang <= here; bang++) {
        const size_t at = here - bang;

        if (at + BANG_WORDS < code->count && (code->words[at] & 0xff8003ff) == 0xd10003e9 &&
            code->words[at + 1] == 0xf900013f &&
            read_prologue(code, at + BANG_WORDS, frame_bytes, SIZE_MAX, out))
            return true;
    }
    return false;
}

JW_SIGNAL_SAFE static bool step_in_epilogue(struct arch_regs *regs, const struct code_window *code,
                                            size_t here, size_t frame_bytes)
{
    const uint32_t *words = code->words;
    const size_t left = code->count - here;
    const size_t pair_bytes = frame_bytes - 2 * WORD_BYTES;

    if (code_leads_to_return(words + here, left) || (here > 0 && code_is_last_branch(words + here)))
        return arch_step_from_entry(regs);
    if (words[here] == CODE_LDP_POP && code_leads_to_return(words + here + 1, left - 1))
        return code_step_pushed(regs);
    /* Between ldp x29,x30,[sp,#frame-16] and the end of add sp,sp,#frame: both are the caller's. */
    if (here > 0 && pair_bytes <= CODE_PAIR_OFFSET_LIMIT &&
        words[here - 1] == (CODE_LDP_AT | code_pair_offset(pair_bytes)) &&
        words[here] == (CODE_ADD_SP_IMM | code_amount(frame_bytes)) && arch_step_from_entry(regs)) {
        regs->sp += frame_bytes;
        return true;
    }
    return false;
}

bool arch_step_compiled_edge(struct arch_regs *regs, uintptr_t code_begin, uintptr_t code_end,
                             size_t frame_complete_offset, size_t frame_size_words)
{
    if (regs->pc < code_begin || regs->pc >= code_end || regs->pc % CODE_BYTES != 0 ||
        frame_size_words < FRAME_WORDS_MIN || frame_size_words > FRAME_WORDS_MAX)
        return false;

    const size_t frame_bytes = frame_size_words * WORD_BYTES;
    const size_t from_begin = regs->pc - code_begin;
    const size_t before = from_begin / CODE_BYTES;
    const size_t here = before < SEARCH_BACK_WORDS ? before : SEARCH_BACK_WORDS;
    struct code_window code;
    struct prologue prologue;

    code.count = code_load(code.words, SEARCH_WORDS, regs->pc - here * CODE_BYTES, code_end);
    if (code.count <= here)
        return false;
    if (from_begin < frame_complete_offset) {
        const size_t complete_at = here + (frame_complete_offset - from_begin) / CODE_BYTES;

        for (size_t at = 0; at < complete_at && at < code.count; at++)
            if (read_prologue(&code, at, frame_bytes, complete_at, &prologue))
                return step_in_prologue(regs, here, &prologue, frame_bytes);
        return arch_step_from_entry(regs);
    }
    if (step_in_epilogue(regs, &code, here, frame_bytes))
        return true;
    return find_around(&code, here, frame_bytes, &prologue) &&
           step_in_prologue(regs, here, &prologue, frame_bytes);
}

bool arch_step_sized_stub(struct arch_regs *regs, uintptr_t stub_begin, uintptr_t stub_end,
                          size_t frame_size_words)
{
    const size_t frame_bytes = frame_size_words * WORD_BYTES;
    struct code_window code;
    struct prologue prologue;

    if (regs->pc < stub_begin || regs->pc >= stub_end || regs->pc % CODE_BYTES != 0 ||
        frame_size_words < FRAME_WORDS_MIN || frame_size_words > FRAME_WORDS_MAX)
        return false;
    code.count = code_load(code.words, SEARCH_WORDS, stub_begin, stub_end);
    if (!read_prologue(&code, 0, frame_bytes, SIZE_MAX, &prologue))
        return false;

    const size_t before = (regs->pc - stub_begin) / CODE_BYTES;
    const size_t here = before < SEARCH_BACK_WORDS ? before : SEARCH_BACK_WORDS;
    if (before >= prologue.saved) {
        code.count = code_load(code.words, SEARCH_WORDS, regs->pc - here * CODE_BYTES, stub_end);
        if (code.count <= here)
            return false;
        if (step_in_epilogue(regs, &code, here, frame_bytes))
            return true;
    }
    return step_in_prologue(regs, before, &prologue, frame_bytes);
}

bool arch_step_poll(struct arch_regs *regs, uintptr_t poll_pc, uintptr_t stub_begin,
                    uintptr_t stub_end)
{
    (void)regs;
    (void)poll_pc;
    (void)stub_begin;
    (void)stub_end;
    return false;
}

bool arch_step_exception(struct arch_regs *regs, uintptr_t exception_pc, uintptr_t stub_begin,
                         uintptr_t stub_end)
{
    (void)regs;
    (void)exception_pc;
    (void)stub_begin;
    (void)stub_end;
    return false;
}

size_t arch_saved_bytes(uintptr_t pc, uintptr_t code_end)
{
    (void)pc;
    (void)code_end;
    return 0;
}

size_t arch_pushed_all_bytes(uintptr_t sp, uintptr_t fp)
{
    (void)sp;
    (void)fp;
    return 0;
}

uintptr_t arch_call_target(uintptr_t return_pc)
{
    (void)return_pc;
    return 0;
}

bool arch_is_call_of(uintptr_t return_pc, uintptr_t target)
{
    (void)return_pc;
    (void)target;
    return false;
}

bool arch_is_behind_call(uintptr_t return_pc)
{
    uint32_t code;

    return safe_load_u32(return_pc - sizeof code, &code) &&
           ((code & 0xfc000000) == 0x94000000 || /* bl */
            (code & 0xfefff800) == 0xd63f0800 || /* blraa, blrab and their like */
            (code & 0xfffffc1f) == 0xd63f0000);  /* blr */
}
