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
#define CODE_MOV_X3_LINK  0xaa1e03e3u
#define NOPS_MAX          2  /* before the prologue of a stub: room for a jump */
#define THROWN_WORDS_MAX  24 /* of a stub that an exception passes */
#define REG_FP            29
#define REG_LINK          30
#define REG_SP            31
#define KEPT_OVER_CALLS   0x1ff80000u /* x19 to x28 */

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

/* The frame has just been taken down, whatever follows: a method that throws on jumps. */
JW_SIGNAL_SAFE static bool is_behind_frame(const uint32_t *words, size_t here, size_t frame_bytes)
{
    const size_t pair_bytes = frame_bytes - 2 * WORD_BYTES;

    /* The stub that throws on puts its return address into x3 first. */
    if (here >= 1 && words[here - 1] == CODE_MOV_X3_LINK)
        here--;
    if (here >= 1 && words[here - 1] == CODE_LDP_POP)
        return true;
    return here >= 2 && pair_bytes <= CODE_PAIR_OFFSET_LIMIT &&
           words[here - 2] == (CODE_LDP_AT | code_pair_offset(pair_bytes)) &&
           words[here - 1] == (CODE_ADD_SP_IMM | code_amount(frame_bytes));
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
    if (is_behind_frame(words, here, frame_bytes))
        return arch_step_from_entry(regs);
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
    size_t nops = 0;
    while (nops < NOPS_MAX && nops < code.count && code.words[nops] == CODE_NOP)
        nops++;
    if (!read_prologue(&code, nops, frame_bytes, SIZE_MAX, &prologue))
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

/* Where a stub has put the return address and the frame pointer, along a way without branches. Distances are from the stack pointer at
 * the entry down. */
struct straight {
    uint32_t returns; /* registers with the return address, a bit each */
    size_t below_bytes;
    size_t return_slot, fp_slot; /* 0: not in memory */
    bool is_pushed;              /* anything was */
};

JW_SIGNAL_SAFE static void forget(struct straight *at, uint32_t reg)
{
    at->returns &= ~(UINT32_C(1) << reg);
}

JW_SIGNAL_SAFE static void push_pair(struct straight *at, uint32_t code)
{
    const uint32_t regs[] = {code & 31, code >> 10 & 31};

    at->is_pushed = true;
    at->below_bytes += (size_t)(-((int32_t)(code << 10) >> 25)) * WORD_BYTES;
    for (size_t i = 0; i < JW_COUNT_OF(regs); i++) {
        if (regs[i] != REG_SP && (at->returns >> regs[i] & 1) != 0 && at->return_slot == 0)
            at->return_slot = at->below_bytes - i * WORD_BYTES;
        if (regs[i] == REG_FP && at->fp_slot == 0)
            at->fp_slot = at->below_bytes - i * WORD_BYTES;
    }
}

JW_SIGNAL_SAFE static void pop_pair(struct straight *at, uint32_t code)
{
    const uint32_t regs[] = {code & 31, code >> 10 & 31};

    for (size_t i = 0; i < JW_COUNT_OF(regs); i++) {
        const size_t slot = at->below_bytes - i * WORD_BYTES;

        forget(at, regs[i]);
        if (slot == at->return_slot) {
            at->returns |= UINT32_C(1) << regs[i];
            at->return_slot = 0;
        }
        if (slot == at->fp_slot && regs[i] == REG_FP)
            at->fp_slot = 0;
    }
    at->below_bytes -= (size_t)((int32_t)(code << 10) >> 25) * WORD_BYTES;
}

/* An instruction that writes to the stack pointer, or one behind which it is not told what runs next. */
JW_SIGNAL_SAFE static bool is_turn(uint32_t code)
{
    static const uint32_t turns[][2] = {
        {0x3a8003e0, 0x288003e0}, /* pairs, single words and vectors that are pushed or popped */
        {0x3b2007e0, 0x380007e0}, /* */
        {0xbfa003e0, 0x0c8003e0}, /* */
        {0x3f80001f, 0x1100001f}, /* add, sub */
        {0x3fe0001f, 0x0b20001f}, /* */
        {0x7f80001f, 0x1200001f}, /* and */
    };

    for (size_t i = 0; i < JW_COUNT_OF(turns); i++)
        if ((code & turns[i][0]) == turns[i][1])
            return true;
    return code_is_branch(code);
}

/* What an instruction does to that. False: another way may begin here, or the stack pointer moves in a way that is not known. */
JW_SIGNAL_SAFE static bool follow(struct straight *at, uint32_t code)
{
    const uint32_t to = code & 31, from = code >> 16 & 31;

    if ((code & 0xffe003e0) == 0xa9a003e0) { /* stp xN,xM,[sp,#-n]! */
        push_pair(at, code);
    } else if ((code & 0xffe003e0) == 0xa8c003e0 && /* ldp xN,xM,[sp],#n */
               (size_t)(code >> 15 & 0x3f) * WORD_BYTES <= at->below_bytes) {
        pop_pair(at, code);
    } else if ((code & 0xfffffc1f) == CODE_BLR || (code & 0xfc000000) == 0x94000000) { /* bl */
        at->returns &= KEPT_OVER_CALLS;
    } else if (is_turn(code) || code == CODE_MOV_FP_SP) {
        return false;
    } else if ((code & 0xffe0ffe0) == 0xaa0003e0 && (at->returns >> from & 1) != 0) { /* mov */
        at->returns |= UINT32_C(1) << to;
    } else if ((code & 0xffc00000) != 0xf9000000) { /* str xN,[xM,#n] writes to no register */
        forget(at, to);
    }
    return true;
}

/*
 * Source: OpenJDK, hotspot/cpu/aarch64, OptoRuntime::generate_exception_blob, StubGenerator::generate_forward_exception,
 * Runtime1::generate_unwind_exception: the return address is kept in x19 or a pair of words around a call, and handed on in x3.
 */
bool arch_step_exception(const void *ucontext, struct arch_regs *regs, uintptr_t stub_begin,
                         uintptr_t stub_end)
{
    struct straight at = {.returns = UINT32_C(1) << REG_LINK};
    struct arch_regs caller = *regs;
    uint32_t code[THROWN_WORDS_MAX];

    if (regs->pc < stub_begin || regs->pc >= stub_end || regs->pc % CODE_BYTES != 0)
        return false;
    const size_t here = (regs->pc - stub_begin) / CODE_BYTES;
    /* An ordinary frame follows a pair that has just been pushed; and what is in the link register needs no such step. */
    if (here >= THROWN_WORDS_MAX || code_load(code, here + 1, stub_begin, stub_end) != here + 1 ||
        code[here] == CODE_MOV_FP_SP)
        return false;
    for (size_t i = 0; i < here; i++)
        if (!follow(&at, code[i]))
            return false;
    if (!at.is_pushed && (at.returns >> REG_LINK & 1) != 0)
        return false;
    caller.sp += at.below_bytes;
    if (at.returns != 0) {
        if (!arch_dwarf_register(ucontext, (unsigned)__builtin_ctz(at.returns), &caller.pc))
            return false;
    } else if (at.return_slot == 0 || !safe_load_word(caller.sp - at.return_slot, &caller.pc)) {
        return false;
    }
    if (at.fp_slot != 0 && !safe_load_word(caller.sp - at.fp_slot, &caller.fp))
        return false;
    caller.pc = caller.link = arch_code_address(caller.pc);
    *regs = caller;
    return true;
}
