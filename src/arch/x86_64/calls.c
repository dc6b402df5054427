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

/* Bytes that are looked at together. */
#define WINDOW_MASK ((UINT64_C(1) << 48) - 1)

/* The instruction that ends here makes it that. `next`: the three bytes behind it. */
static JW_SIGNAL_SAFE enum arch_sender_kind kind_made(uint64_t window, uint32_t next,
                                                      enum arch_sender_kind before)
{
    const uint32_t last = window & 0xffffff;

    if (last == 0x4c8bec ||
        last == 0x4989e5) /* mov %rsp,%r13; if mov (%rsp),%rax follows, nothing was popped */
        return next == 0x488b04 ? ARCH_SENDER_ENTRY : ARCH_SENDER_SP;
    if ((window & 0xffffffffff) == 0x4c8d6c2408) /* lea 8(%rsp),%r13 */
        return ARCH_SENDER_SP;
    if (last ==
        0x498be5) /* mov %r13,%rsp: here who has not told its caller joins, with anything in r13 */
        return ARCH_SENDER_NONE;
    return before;
}

enum arch_sender_kind arch_sender_in(uintptr_t begin, uintptr_t pc)
{
    enum arch_sender_kind kind = ARCH_SENDER_SP;
    bool is_to_compiled = true;
    uint64_t window = 0;
    uint8_t next[3];

    if (pc < begin || pc - begin > ADAPTER_BYTES_MAX)
        return ARCH_SENDER_NONE;
    /* jmp *%r11 ends the way to compiled code. */
    for (uintptr_t addr = begin; addr < pc; addr++) {
        uint8_t byte;

        if (!safe_load_u8(addr, &byte) || !safe_load_bytes(next, addr + 1, sizeof next))
            return ARCH_SENDER_NONE;
        window = (window << 8 | byte) & WINDOW_MASK;
        if ((window & 0xffffff) == 0x41ffe3 && is_to_compiled) {
            is_to_compiled = false;
            kind = ARCH_SENDER_NONE;
        } else {
            kind =
                kind_made(window, (uint32_t)next[0] << 16 | (uint32_t)next[1] << 8 | next[2], kind);
        }
    }
    return kind;
}

/* What is entered restores the stack pointer and forgets the last one before: 17 bytes. */
#define REENTRY_BYTES_MAX ((size_t)24)

bool arch_is_reentered(uintptr_t pc, intptr_t bcp_bytes)
{
    const uint8_t load[] = {0x4c, 0x8b, 0x6d, (uint8_t)bcp_bytes}; /* mov bcp_bytes(%rbp),%r13 */
    uint8_t code[REENTRY_BYTES_MAX];

    if (bcp_bytes < INT8_MIN || bcp_bytes > INT8_MAX || !safe_load_bytes(code, pc, sizeof code))
        return false;
    for (size_t at = 0; at + sizeof load <= sizeof code; at++)
        if (memcmp(code + at, load, sizeof load) == 0)
            return true;
    return false;
}

/*
 * A method of the interpreter returns so, behind leave; what stands in brackets is of JDK 25:
 *
 *     [movb $imm,disp(%r15)]  pop %P  mov %S,%rsp  [cmp disp(%r15),%rsp  jb +  mov $imm,disp(%r15)]  jmp *%P
 */
#define RETURN_BYTES_MAX ((size_t)48)
#define SP_MOVE_BYTES    3
#define POP_BYTES_MAX    2

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

/* Bytes of an instruction on a word of the thread that may stand there; 0: something else. `is_before`: before the pop. */
static JW_SIGNAL_SAFE size_t match_between(const uint8_t *code, bool is_before)
{
    static const struct {
        uint8_t bytes[3], length_bytes;
        bool is_before;
    } known[] = {
        {{0x41, 0xc6, 0x47}, 5, true},  {{0x41, 0xc6, 0x87}, 8, true},   /* movb $imm,disp(%r15) */
        {{0x49, 0x3b, 0x67}, 4, false}, {{0x49, 0x3b, 0xa7}, 7, false},  /* cmp disp(%r15),%rsp */
        {{0x49, 0xc7, 0x47}, 8, false}, {{0x49, 0xc7, 0x87}, 11, false}, /* mov $imm,disp(%r15) */
    };

    for (size_t i = 0; i < JW_COUNT_OF(known); i++)
        if (known[i].is_before == is_before && memcmp(code, known[i].bytes, 3) == 0)
            return known[i].length_bytes;
    return !is_before && code[0] == 0x72 ? 2 : 0; /* jb */
}

/* The way of a method to its caller, by offsets from the first instruction that is looked at. */
struct way_back {
    size_t pop_at, move_at; /* SIZE_MAX: it lies before */
    size_t length_bytes;
    unsigned target, source;
};

/* Reads it, from its first instruction or a later one on, the move at the latest. `code`: RETURN_BYTES_MAX, and as many behind them. */
static JW_SIGNAL_SAFE bool read_way_back(const uint8_t *code, struct way_back *out)
{
    unsigned popped = 0;
    size_t at = 0, length_bytes;

    while (at < RETURN_BYTES_MAX / 2 && (length_bytes = match_between(code + at, true)) != 0)
        at += length_bytes;
    const size_t pop_bytes = match_pop(code + at, &popped);
    if (at != 0 && pop_bytes == 0)
        return false;
    out->pop_at = pop_bytes != 0 ? at : SIZE_MAX;
    out->move_at = at += pop_bytes;
    if (!match_sp_move(code + at, &out->source))
        return false;
    at += SP_MOVE_BYTES;
    while (at < RETURN_BYTES_MAX && (length_bytes = match_between(code + at, false)) != 0)
        at += length_bytes;
    out->length_bytes = at;
    return match_jump(code + at, &out->target) && (pop_bytes == 0 || out->target == popped);
}

/* True when an instruction of the way begins so far behind its first one. */
static JW_SIGNAL_SAFE bool is_on_way(const uint8_t *code, const struct way_back *way, size_t offset)
{
    size_t length_bytes;

    if (offset > way->length_bytes)
        return false;
    for (size_t at = 0; at <= offset; at += length_bytes) {
        if (at == offset)
            return true;
        if (at == way->pop_at)
            length_bytes = way->move_at - at;
        else if (at == way->move_at)
            length_bytes = SP_MOVE_BYTES;
        else
            length_bytes = match_between(code + at, at < way->move_at);
        if (length_bytes == 0)
            return false;
    }
    return false;
}

/* Whether an instruction of such a way may stand here: for all other code of the interpreter, which is nearly all, it is enough to look. */
static JW_SIGNAL_SAFE bool may_be_on_way(uintptr_t pc)
{
    uint8_t code[sizeof(uintptr_t)];
    unsigned number;
    uintptr_t word;

    if (!safe_load_word(pc, &word))
        return false;
    memcpy(code, &word, sizeof code);
    return match_pop(code, &number) != 0 || match_sp_move(code, &number) ||
           match_jump(code, &number) || match_between(code, false) != 0 ||
           match_between(code, true) != 0;
}

bool arch_step_interpreted_edge(const void *ucontext, struct arch_regs *regs)
{
    uint8_t code[4 * RETURN_BYTES_MAX];
    const uint8_t *const here = code + RETURN_BYTES_MAX;
    struct arch_regs caller = *regs;
    struct way_back way;
    size_t before = 0;

    if (!may_be_on_way(regs->pc) ||
        !safe_load_bytes(code, regs->pc - RETURN_BYTES_MAX, sizeof code))
        return false;
    while (!read_way_back(here - before, &way) || !is_on_way(here - before, &way, before))
        if (++before > RETURN_BYTES_MAX)
            return false;
    if (way.pop_at != SIZE_MAX && before <= way.pop_at
            ? !safe_load_word(regs->sp, &caller.pc)
            : !arch_dwarf_register(ucontext, way.target, &caller.pc))
        return false;
    if (before <= way.move_at && !arch_dwarf_register(ucontext, way.source, &caller.sp))
        return false;
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
