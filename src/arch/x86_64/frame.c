/* x86-64: the steps out of code without a frame, or with one at the frame pointer; generated stubs.
 * Every context. */
#include "arch/arch.h"

#include <string.h>
#include <ucontext.h>

#include "arch/x86_64/code_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* push %rbp, then mov %rsp,%rbp in one of its two encodings. */
#define PUSH_BYTES  ((size_t)1)
#define SETUP_BYTES ((size_t)4)

/* A stub's own frame is no larger than this. */
#define STUB_FRAME_MAX_BYTES ((size_t)8192)

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

/* Offset from sp at which `mov %rbp,disp8(%rsp)`, among the stub's first instructions, stores; false
 * when there is none before `pc_offset`, or the stack pointer was not aligned for it. */
JW_SIGNAL_SAFE static bool find_saved_fp(uintptr_t stub_begin, size_t setup_offset,
                                         size_t pc_offset, size_t *slot_offset)
{
    uint8_t code[ARCH_STUB_SCAN_BYTES];
    const size_t length_bytes =
        pc_offset - setup_offset < sizeof code ? pc_offset - setup_offset : sizeof code;
    bool is_aligned = false;

    if (!safe_load_bytes(code, stub_begin + setup_offset, length_bytes))
        return false;
    for (size_t i = 0; i + 5 <= length_bytes; i++) {
        if (memcmp(code + i, "\x48\x83\xe4", 3) == 0) /* and $imm8,%rsp */
            is_aligned = true;
        if (is_aligned && memcmp(code + i, "\x48\x89\x6c\x24", 4) == 0) {
            *slot_offset = code[i + 4];
            return *slot_offset <= INT8_MAX;
        }
    }
    return false;
}

/*
 * In a stub that has its frame. A few put the stack pointer on a boundary, store the frame pointer
 * there and compute with rbp: then it is no address near sp, and the stored one is used.
 * Source: OpenJDK, hotspot/cpu/x86/macroAssembler_x86_sha.cpp, sha512_AVX2; seen in JDK 17 and 25.
 */
JW_SIGNAL_SAFE static bool step_from_stub_frame(struct arch_regs *regs, uintptr_t stub_begin,
                                                size_t setup_offset, size_t pc_offset)
{
    struct arch_regs saved = *regs;
    size_t slot_offset;

    if (regs->fp - regs->sp > STUB_FRAME_MAX_BYTES &&
        find_saved_fp(stub_begin, setup_offset, pc_offset, &slot_offset)) {
        if (!safe_load_word(regs->sp + slot_offset, &saved.fp) ||
            saved.fp - saved.sp > STUB_FRAME_MAX_BYTES || !arch_step_from_frame(&saved))
            return false;
        *regs = saved;
        return true;
    }
    return arch_step_from_frame(regs);
}

bool arch_step_stub(struct arch_regs *regs, uintptr_t stub_begin, size_t setup_offset,
                    uintptr_t stub_end)
{
    if (regs->pc < stub_begin || regs->pc >= stub_end)
        return false;

    const size_t pc_offset = regs->pc - stub_begin;
    uint8_t around[1 + CODE_WINDOW_BYTES];
    const uint8_t *code = around + 1;
    const size_t length_bytes = code_load(around + 1, regs->pc, stub_end);

    if (setup_offset == ARCH_NO_FRAME || setup_offset < SETUP_BYTES ||
        pc_offset <= setup_offset - SETUP_BYTES) {
        /* A word below the return address aligns the stack for a call. */
        struct arch_regs at_entry = *regs;

        at_entry.sp += arch_saved_bytes(regs->pc, stub_end);
        if (!arch_step_from_entry(&at_entry))
            return false;
        *regs = at_entry;
        return true;
    }
    if (pc_offset < setup_offset)
        return code_step_pushed(regs);
    /* Behind leave or pop %rbp, with nothing left but the way to ret. */
    if (code_leads_to_return(code, length_bytes))
        return arch_step_from_entry(regs);
    if (safe_load_u8(regs->pc - 1, around) && code_is_behind_frame_jump(code, 1, length_bytes))
        return arch_step_from_entry(regs);
    return step_from_stub_frame(regs, stub_begin, setup_offset, pc_offset);
}

/* ---- frames of the interpreter in place of a compiled one ---- */

#define LAYING_BYTES_BEFORE ((size_t)96)
#define LAYING_BYTES_BEHIND ((size_t)64)

/* The instructions by which a place is told lie within so many bytes of each other. */
#define LAYING_BYTES_APART ((size_t)16)

#define NOWHERE SIZE_MAX

#define DROP_FRAME "\x48\x03\xe1"     /* add %rcx,%rsp */
#define POP_PC     "\x48\x83\xc4\x08" /* add $8,%rsp */
#define KEEP_SP    "\x4c\x8b\xc4"     /* mov %rsp,%r8 */
#define MAKE_ROOM  "\x48\x2b\xe3"     /* sub %rbx,%rsp */
#define SET_UP     "\x48\x8b\xec"     /* mov %rsp,%rbp */

#define BYTES(text) (sizeof(text) - 1)

/* Where these bytes are, at `from` or behind it; or NOWHERE. */
static JW_SIGNAL_SAFE size_t find_bytes(const uint8_t *code, size_t from, size_t end,
                                        const char *bytes, size_t count)
{
    for (size_t i = from; i + count <= end; i++)
        if (memcmp(code + i, bytes, count) == 0)
            return i;
    return NOWHERE;
}

static JW_SIGNAL_SAFE size_t find_near(const uint8_t *code, size_t from, size_t end,
                                       const char *bytes, size_t count)
{
    const size_t near_end = from + LAYING_BYTES_APART;

    return find_bytes(code, from, near_end < end ? near_end : end, bytes, count);
}

/* The stack pointer is kept, and room made for more locals: behind it frames are laid out, one each turn. */
static JW_SIGNAL_SAFE size_t find_laying(const uint8_t *code, size_t end)
{
    size_t at = find_bytes(code, 0, end, KEEP_SP, BYTES(KEEP_SP));

    while (at != NOWHERE &&
           find_near(code, at + BYTES(KEEP_SP), end, MAKE_ROOM, BYTES(MAKE_ROOM)) == NOWHERE)
        at = find_bytes(code, at + BYTES(KEEP_SP), end, KEEP_SP, BYTES(KEEP_SP));
    return at;
}

/* Before that: the frame is dropped, then the return address on which it lay. */
static JW_SIGNAL_SAFE bool step_dropped(const uint8_t *code, size_t here, size_t laying,
                                        struct arch_regs *regs)
{
    const size_t from = laying > 2 * LAYING_BYTES_APART ? laying - 2 * LAYING_BYTES_APART : 0;
    const size_t drop = find_bytes(code, from, laying, DROP_FRAME, BYTES(DROP_FRAME));
    const size_t pop =
        drop == NOWHERE ? NOWHERE : find_near(code, drop, laying, POP_PC, BYTES(POP_PC));

    if (pop == NOWHERE || here < drop + BYTES(DROP_FRAME) || here > laying)
        return false;
    if (here >= pop + BYTES(POP_PC))
        return true; /* as the registers say */
    /* The saved frame pointer lies where it was, within what a handler's frame leaves alone. */
    if (here > pop || !safe_load_word(regs->sp - WORD_BYTES, &regs->fp))
        return false;
    regs->sp += WORD_BYTES;
    return true;
}

/* Each turn keeps the stack pointer again at its end; what is set up behind the last one is the stub's own frame. */
static JW_SIGNAL_SAFE bool is_before_end(const uint8_t *code, size_t here, size_t laying,
                                         size_t end)
{
    const size_t again = find_bytes(code, laying + BYTES(KEEP_SP), end, KEEP_SP, BYTES(KEEP_SP));
    const size_t own =
        again == NOWHERE ? NOWHERE : find_bytes(code, again, end, SET_UP, BYTES(SET_UP));

    return own != NOWHERE && here <= own + BYTES(SET_UP);
}

bool arch_step_laying(const void *ucontext, struct arch_regs *regs, uintptr_t stub_begin,
                      uintptr_t stub_end)
{
    uint8_t code[LAYING_BYTES_BEFORE + LAYING_BYTES_BEHIND];
    struct arch_regs next = *regs;

    if (regs->pc < stub_begin || regs->pc >= stub_end)
        return false;
    const size_t from_begin = regs->pc - stub_begin, to_end = stub_end - regs->pc;
    const size_t here = from_begin < LAYING_BYTES_BEFORE ? from_begin : LAYING_BYTES_BEFORE;
    const size_t end = here + (to_end < LAYING_BYTES_BEHIND ? to_end : LAYING_BYTES_BEHIND);
    if (!safe_load_bytes(code, regs->pc - here, end))
        return false;

    const size_t laying = find_laying(code, end);
    if (laying == NOWHERE)
        return false;
    if (here <= laying) {
        if (!step_dropped(code, here, laying, &next))
            return false;
    } else if (is_before_end(code, here, laying, end)) {
        next.sp = (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_R8];
    } else {
        return false;
    }
    *regs = next;
    return true;
}
