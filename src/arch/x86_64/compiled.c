/* x86-64: the step out of a compiled method at its edges. Every context. */
#include "arch/arch.h"

#include <string.h>

#include "arch/x86_64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* How far before the pc, and in all, code is searched for the prologue. */
#define SEARCH_BACK_BYTES ((size_t)160)
#define SEARCH_BYTES      ((size_t)192)
#define BANG_BYTES        ((size_t)7)
#define CODE_POP_FP       0x5d
#define CODE_POP_RDX      0x5a
#define CODE_PUSH_RDX     0x52
#define FRAME_WORDS_MIN   2       /* return address and rbp */
#define FRAME_WORDS_MAX   1000000 /* 8 MB */

/*
 * Offsets of the pcs at which a prologue changes what the caller's registers are found by.
 * Source: OpenJDK, hotspot/cpu/x86, MacroAssembler::verified_entry and C1_MacroAssembler::build_frame, JDK
 * 8 to 25. Two forms; the bang of the stack may stand before the first:
 *
 *     [mov %eax,-disp32(%rsp)]                       sub $frame - 8,%rsp
 *     push %rbp              <- begin                                    <- begin: at the sub
 *     [mov %rsp,%rbp]        <- pushed               mov %rbp,frame-16(%rsp) <- pushed = allocated
 *     sub $frame - 16,%rsp
 *                            <- allocated = saved                        <- saved
 */
struct prologue {
    size_t begin;
    size_t allocated; /* from here on sp is that of the frame */
    size_t saved;     /* from here on rbp lies in the frame */
};

struct code_window {
    uintptr_t begin_pc;
    size_t length_bytes;
    uint8_t bytes[SEARCH_BYTES];
};

/* Length of `sub $amount_bytes,%rsp` at `code`; 0: something else stands there. */
JW_SIGNAL_SAFE static size_t match_sub(const uint8_t *code, size_t length_bytes,
                                       size_t amount_bytes)
{
    int32_t amount;

    if (length_bytes >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xec)
        return amount_bytes <= INT8_MAX && code[3] == amount_bytes ? 4 : 0;
    if (length_bytes >= 7 && code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xec) {
        memcpy(&amount, code + 3, sizeof amount);
        return amount >= 0 && (size_t)amount == amount_bytes ? 7 : 0;
    }
    return 0;
}

/* Length of `mov %rbp,offset_bytes(%rsp)`. */
JW_SIGNAL_SAFE static size_t match_save(const uint8_t *code, size_t length_bytes,
                                        size_t offset_bytes)
{
    int32_t offset;

    if (length_bytes >= 5 && memcmp(code, "\x48\x89\x6c\x24", 4) == 0)
        return offset_bytes <= INT8_MAX && code[4] == offset_bytes ? 5 : 0;
    if (length_bytes >= 4 && offset_bytes == 0 && memcmp(code, "\x48\x89\x2c\x24", 4) == 0)
        return 4;
    if (length_bytes >= 8 && memcmp(code, "\x48\x89\xac\x24", 4) == 0) {
        memcpy(&offset, code + 4, sizeof offset);
        return offset >= 0 && (size_t)offset == offset_bytes ? 8 : 0;
    }
    return 0;
}

/* Reads the prologue that starts at offset `at`. `is_complete_at`: the offset at which the frame is
 * said to be complete, which alone shows a prologue that is a bare push. */
JW_SIGNAL_SAFE static bool read_prologue(const struct code_window *code, size_t at,
                                         size_t frame_bytes, size_t is_complete_at,
                                         struct prologue *out)
{
    const size_t end = code->length_bytes;
    size_t next = at;
    size_t length_bytes;

    out->begin = at;
    if (at < end && code->bytes[at] == 0x55) {
        next += 1;
        if (code_is_mov_rsp_rbp(code->bytes + next, end - next))
            next += 3;
        length_bytes = match_sub(code->bytes + next, end - next, frame_bytes - 2 * WORD_BYTES);
        if (length_bytes == 0 && (frame_bytes != 2 * WORD_BYTES || next != is_complete_at))
            return false;
        out->allocated = out->saved = next + length_bytes;
        return true;
    }
    length_bytes = match_sub(code->bytes + at, end - at, frame_bytes - WORD_BYTES);
    if (length_bytes == 0)
        return false;
    out->allocated = at + length_bytes;
    length_bytes = match_save(code->bytes + out->allocated, end - out->allocated,
                              frame_bytes - 2 * WORD_BYTES);
    out->saved = out->allocated + length_bytes;
    return length_bytes != 0;
}

/* The frame is there, whole but for the saved rbp: out of it by its size. */
JW_SIGNAL_SAFE static bool step_by_size(struct arch_regs *regs, size_t frame_bytes, bool is_saved)
{
    const uintptr_t caller_sp = regs->sp + frame_bytes;
    uintptr_t fp = regs->fp;
    uintptr_t pc;

    if (!safe_load_word(caller_sp - WORD_BYTES, &pc) ||
        (is_saved && !safe_load_word(caller_sp - 2 * WORD_BYTES, &fp)))
        return false;
    regs->pc = pc;
    regs->fp = fp;
    regs->sp = caller_sp;
    return true;
}

JW_SIGNAL_SAFE static bool step_in_prologue(struct arch_regs *regs, size_t pc_offset,
                                            const struct prologue *prologue, size_t frame_bytes)
{
    if (pc_offset <= prologue->begin)
        return arch_step_from_entry(regs);
    if (pc_offset < prologue->allocated)
        return code_step_pushed(regs);
    return step_by_size(regs, frame_bytes, pc_offset >= prologue->saved);
}

/* Another prologue, behind the first: where C1 lets the interpreter in (on-stack replacement). */
JW_SIGNAL_SAFE static bool find_around(const struct code_window *code, size_t pc_offset,
                                       size_t frame_bytes, struct prologue *out)
{
    const size_t before = pc_offset < 12 ? pc_offset : 12;

    for (size_t at = pc_offset - before; at <= pc_offset; at++)
        if (read_prologue(code, at, frame_bytes, SIZE_MAX, out) && pc_offset < out->saved)
            return true;
    return code->length_bytes - pc_offset > BANG_BYTES &&
           memcmp(code->bytes + pc_offset, "\x89\x84\x24", 3) == 0 &&
           read_prologue(code, pc_offset + BANG_BYTES, frame_bytes, SIZE_MAX, out);
}

/* At the jump to the safepoint blob, behind the store of the poll's address: without a frame too. */
JW_SIGNAL_SAFE static bool is_safepoint_jump(const uint8_t *here, size_t before_bytes)
{
    return here[0] == 0xe9 && ((before_bytes >= 7 && memcmp(here - 7, "\x4d\x89\x97", 3) == 0) ||
                               (before_bytes >= 4 && memcmp(here - 4, "\x4d\x89\x57", 3) == 0));
}

/* Bytes of `add $amount_bytes,%rsp` that end right before `end`; 0: something else stands there. */
JW_SIGNAL_SAFE static size_t match_add_before(const uint8_t *end, size_t before_bytes,
                                              size_t amount_bytes)
{
    int32_t amount;

    if (before_bytes >= 7 && memcmp(end - 7, "\x48\x81\xc4", 3) == 0) {
        memcpy(&amount, end - 4, sizeof amount);
        if (amount >= 0 && (size_t)amount == amount_bytes)
            return 7;
    }
    return before_bytes >= 4 && memcmp(end - 4, "\x48\x83\xc4", 3) == 0 &&
                   amount_bytes <= INT8_MAX && end[-1] == amount_bytes
               ? 4
               : 0;
}

/*
 * The frame has just been taken down, whatever follows: a method that throws on jumps. `here` is right behind
 * `add $frame - 16,%rsp; pop %rbp`, or at that pop.
 */
JW_SIGNAL_SAFE static bool step_behind_frame(struct arch_regs *regs, const uint8_t *here,
                                             size_t before_bytes, size_t left_bytes,
                                             size_t frame_bytes)
{
    const size_t add_bytes = frame_bytes - 2 * WORD_BYTES;

    if (before_bytes >= 1 && here[-1] == CODE_POP_FP &&
        match_add_before(here - 1, before_bytes - 1, add_bytes) != 0)
        return arch_step_from_entry(regs);
    return left_bytes > 1 && here[0] == CODE_POP_FP &&
           match_add_before(here, before_bytes, add_bytes) != 0 && code_step_pushed(regs);
}

bool arch_step_compiled_edge(struct arch_regs *regs, uintptr_t code_begin, uintptr_t code_end,
                             size_t frame_complete_offset, size_t frame_size_words)
{
    if (regs->pc < code_begin || regs->pc >= code_end || frame_size_words < FRAME_WORDS_MIN ||
        frame_size_words > FRAME_WORDS_MAX)
        return false;

    const size_t frame_bytes = frame_size_words * WORD_BYTES;
    const size_t from_begin = regs->pc - code_begin;
    const size_t back_bytes = from_begin < SEARCH_BACK_BYTES ? from_begin : SEARCH_BACK_BYTES;
    struct code_window code;
    struct prologue prologue;

    code.begin_pc = regs->pc - back_bytes;
    code.length_bytes =
        code_end - code.begin_pc < sizeof code.bytes ? code_end - code.begin_pc : sizeof code.bytes;
    if (!safe_load_bytes(code.bytes, code.begin_pc, code.length_bytes))
        return false;

    const uint8_t *here = code.bytes + back_bytes;
    const size_t left_bytes = code.length_bytes - back_bytes;

    if (from_begin < frame_complete_offset) {
        const size_t complete_at = frame_complete_offset - (code.begin_pc - code_begin);

        for (size_t at = 0; at < complete_at && at < code.length_bytes; at++)
            if (read_prologue(&code, at, frame_bytes, complete_at, &prologue))
                return step_in_prologue(regs, back_bytes, &prologue, frame_bytes);
        return arch_step_from_entry(regs);
    }
    if (code_leads_to_return(here, left_bytes) || is_safepoint_jump(here, back_bytes) ||
        code_is_behind_return_jump(here, back_bytes))
        return arch_step_from_entry(regs);
    if (here[0] == 0x5d && code_leads_to_return(here + 1, left_bytes - 1))
        return code_step_pushed(regs);
    if (step_behind_frame(regs, here, back_bytes, left_bytes, frame_bytes))
        return true;
    if (find_around(&code, back_bytes, frame_bytes, &prologue))
        return step_in_prologue(regs, back_bytes, &prologue, frame_bytes);
    return false;
}

bool arch_step_sized_stub(struct arch_regs *regs, uintptr_t stub_begin, uintptr_t stub_end,
                          size_t frame_size_words)
{
    const size_t frame_bytes = frame_size_words * WORD_BYTES;
    uint8_t around[2 * CODE_WINDOW_BYTES];
    struct code_window code = {.begin_pc = stub_begin};
    struct prologue prologue;

    if (regs->pc < stub_begin || regs->pc >= stub_end || frame_size_words < FRAME_WORDS_MIN ||
        frame_size_words > FRAME_WORDS_MAX)
        return false;
    code.length_bytes = code_load(code.bytes, stub_begin, stub_end);
    if (!read_prologue(&code, 0, frame_bytes, SIZE_MAX, &prologue))
        return false;

    const size_t from_begin = regs->pc - stub_begin;
    if (from_begin < prologue.saved)
        return step_in_prologue(regs, from_begin, &prologue, frame_bytes);

    const size_t before_bytes = from_begin < CODE_WINDOW_BYTES ? from_begin : CODE_WINDOW_BYTES;
    const uint8_t *here = around + before_bytes;
    if (code_load(around, regs->pc - before_bytes, regs->pc) != before_bytes)
        return false;
    const size_t left_bytes = code_load(around + before_bytes, regs->pc, stub_end);
    if (step_behind_frame(regs, here, before_bytes, left_bytes, frame_bytes))
        return true;
    if (code_leads_to_return(here, left_bytes) ||
        code_is_behind_frame_jump(here, before_bytes, left_bytes))
        return arch_step_from_entry(regs);

    /* Between push and pop of a word that goes from one place of the frame to another. */
    const bool is_pushed = left_bytes >= 4 && memcmp(here, "\x48\x8f\x04\x24", 4) == 0;
    struct arch_regs in_frame = *regs;

    in_frame.sp += is_pushed ? WORD_BYTES : 0;
    if (!step_by_size(&in_frame, frame_bytes, true))
        return false;
    *regs = in_frame;
    return true;
}

JW_SIGNAL_SAFE static bool has_jump(const uint8_t *code, size_t length_bytes)
{
    for (size_t i = 0; i + 1 < length_bytes; i++)
        if (code[i] == 0xff && (code[i + 1] & 0xf8) == 0xe0) /* jmp *%reg */
            return true;
    return false;
}

/*
 * Source: OpenJDK, hotspot/cpu/x86, OptoRuntime::generate_exception_blob, StubGenerator::generate_forward_exception,
 * GraphKit's stubs that jump: push %rdx at the entry; at the end add $n,%rsp or pop %rbp, pop %rdx, moves, jmp *%reg.
 */
bool arch_step_exception(const void *ucontext, struct arch_regs *regs, uintptr_t stub_begin,
                         uintptr_t stub_end)
{
    uint8_t before[CODE_WINDOW_BYTES];
    uint8_t first = 0;

    if (regs->pc < stub_begin || regs->pc >= stub_end)
        return false;

    const size_t from_begin = regs->pc - stub_begin;
    const size_t length_bytes = from_begin < sizeof before ? from_begin : sizeof before;
    bool is_at = from_begin == 0 && safe_load_u8(stub_begin, &first) && first == CODE_PUSH_RDX;

    if (code_load(before, regs->pc - length_bytes, regs->pc) != length_bytes)
        return false;
    for (size_t i = 4; i < length_bytes && !is_at; i++)
        is_at = before[i] == CODE_POP_RDX &&
                (before[i - 1] == CODE_POP_FP || memcmp(before + i - 4, "\x48\x83\xc4", 3) == 0 ||
                 memcmp(before + i - 3, "\x48\x8b\xd8", 3) ==
                     0) && /* mov %rax,%rbx: forward_exception */
                !has_jump(before + i, length_bytes - i);
    if (is_at)
        regs->pc = arch_exception_pc(ucontext);
    return is_at;
}
