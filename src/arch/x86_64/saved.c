/* x86-64: calls: what is saved around one, where one goes, what became of its argument. Every context. */
#include "arch/arch.h"

#include <string.h>

#include "arch/x86_64/code_internal.h"

#define WINDOW_BYTES     ((size_t)512)
#define SAVED_BYTES_MAX  4096
#define INSTRUCTIONS_MAX 128

#define SIB_RSP     0x24 /* the base is rsp, and there is no index */
#define CODE_POP_FP 0x5d

/* Length of a ModRM byte with what belongs to it; 0: cut off. `is_at_sp`: it names a place at rsp. */
JW_SIGNAL_SAFE static size_t match_operand(const uint8_t *code, size_t left_bytes, bool *is_at_sp)
{
    static const uint8_t displacement_bytes[] = {0, 1, 4, 0};

    if (left_bytes < 2)
        return 0;

    const unsigned mod = code[0] >> 6;
    const unsigned base = code[0] & 7;
    const bool has_sib = mod != 3 && base == 4;
    const size_t length_bytes = 1 + has_sib + (mod == 0 && base == 5 ? 4 : displacement_bytes[mod]);

    *is_at_sp = has_sib && code[1] == SIB_RSP;
    return length_bytes <= left_bytes ? length_bytes : 0;
}

/* Prefixes, to the opcode. `is_vector`: the opcode is one of those behind 0f. */
JW_SIGNAL_SAFE static size_t match_prefixes(const uint8_t *code, size_t left_bytes, bool *is_vector)
{
    size_t at = 0;

    *is_vector = true;
    if (left_bytes > 6 && code[0] == 0x62)
        return 4; /* EVEX */
    if (left_bytes > 5 && code[0] == 0xc4)
        return 3; /* VEX */
    if (left_bytes > 4 && code[0] == 0xc5)
        return 2;
    if (left_bytes > 5 && (code[0] == 0xf2 || code[0] == 0xf3 || code[0] == 0x66))
        at++;
    if (left_bytes > 5 && (code[at] & 0xf0) == 0x40)
        at++; /* REX */
    *is_vector = left_bytes > 5 && code[at] == 0x0f;
    return at + *is_vector;
}

/* Length of a move between registers, or between one and a place at rsp; of lea; 0: something else. */
JW_SIGNAL_SAFE static size_t match_move(const uint8_t *code, size_t left_bytes)
{
    bool is_vector, is_at_sp;
    const size_t at = match_prefixes(code, left_bytes, &is_vector);

    if (at + 1 >= left_bytes)
        return 0;
    const uint8_t opcode = code[at];
    const size_t operand_bytes = match_operand(code + at + 1, left_bytes - at - 1, &is_at_sp);
    if (operand_bytes == 0)
        return 0;
    /* Moves of vectors and of masks: loads, stores. */
    const bool is_right =
        is_vector ? is_at_sp && (opcode == 0x10 || opcode == 0x11 || opcode == 0x6f ||
                                 opcode == 0x7f || opcode == 0x90 || opcode == 0x91)
                  : opcode == 0x8d ||
                        ((opcode == 0x89 || opcode == 0x8b) && (is_at_sp || code[at + 1] >= 0xc0));
    return is_right ? at + 1 + operand_bytes : 0;
}

/* Length of a call, or of the load of its target; 0: something else. */
JW_SIGNAL_SAFE static size_t match_call(const uint8_t *code, size_t left_bytes)
{
    if (left_bytes >= 5 && code[0] == 0xe8)
        return 5; /* call rel32 */
    if (left_bytes >= 2 && code[0] == 0xff && (code[1] & 0xf8) == 0xd0)
        return 2; /* call *%reg */
    if (left_bytes >= 3 && code[0] == 0x41 && code[1] == 0xff && (code[2] & 0xf8) == 0xd0)
        return 3;
    if (left_bytes >= 10 && (code[0] == 0x48 || code[0] == 0x49) && (code[1] & 0xf8) == 0xb8)
        return 10; /* movabs $imm64,%reg */
    return 0;
}

JW_SIGNAL_SAFE static size_t match_passing(const uint8_t *code, size_t left_bytes)
{
    if (left_bytes >= 3 && memcmp(code, "\xc5\xf8\x77", 3) == 0)
        return 3; /* vzeroupper */
    const size_t call_bytes = match_call(code, left_bytes);

    return call_bytes != 0 ? call_bytes : match_move(code, left_bytes);
}

/* What `add $amount,%rsp` adds; 0: something else stands there, or the end of the whole frame. */
JW_SIGNAL_SAFE static size_t added_bytes(const uint8_t *code, size_t left_bytes)
{
    int32_t amount = 0;
    size_t length_bytes = 0;

    if (left_bytes > 4 && memcmp(code, "\x48\x83\xc4", 3) == 0) {
        amount = (int8_t)code[3];
        length_bytes = 4;
    } else if (left_bytes > 7 && memcmp(code, "\x48\x81\xc4", 3) == 0) {
        memcpy(&amount, code + 3, sizeof amount);
        length_bytes = 7;
    }
    return length_bytes != 0 && amount > 0 && amount <= SAVED_BYTES_MAX &&
                   amount % (int32_t)sizeof(uintptr_t) == 0 && code[length_bytes] != CODE_POP_FP
               ? (size_t)amount
               : 0;
}

size_t arch_saved_bytes(uintptr_t pc, uintptr_t code_end)
{
    uint8_t window[WINDOW_BYTES];
    const size_t length_bytes =
        pc < code_end && code_end - pc < sizeof window ? code_end - pc : sizeof window;
    size_t at = 0;

    if (pc >= code_end || !safe_load_bytes(window, pc, length_bytes))
        return 0;
    for (int n = 0; n < INSTRUCTIONS_MAX && at < length_bytes; n++) {
        const size_t saved_bytes = added_bytes(window + at, length_bytes - at);

        if (saved_bytes != 0)
            return saved_bytes;
        const size_t passed_bytes = match_passing(window + at, length_bytes - at);
        if (passed_bytes == 0)
            return 0;
        at += passed_bytes;
    }
    return 0;
}

/* Behind the word with the stack pointer come its own place and those of rbx, rdx, rcx and rax. */
#define PUSHED_BEHIND_SP_BYTES (5 * sizeof(uintptr_t))

/* 16 registers of each kind, the x87's, and what aligns the stack. */
#define PUSHED_ALL_WORDS_MAX (16 + 32 + 8 + 2)

size_t arch_pushed_all_bytes(uintptr_t sp, uintptr_t fp)
{
    uintptr_t last = 0, word;

    for (size_t i = 0; i < PUSHED_ALL_WORDS_MAX && safe_load_word(sp + i * sizeof word, &word);
         i++) {
        if (word == sp + i * sizeof word + PUSHED_BEHIND_SP_BYTES && i > 0 && last == fp)
            return word - sp;
        last = word;
    }
    return 0;
}

/*
 * An adapter keeps what is in all registers while it has its caller's call changed, and lays them out so, upwards from its stack pointer:
 *
 *     state of vectors and x87 | general registers by falling number | one word of nothing | flags | to align
 *
 * and then the caller's return address, whose place it keeps in r13.
 */
#define REGISTERS_BYTES   (16 * sizeof(uintptr_t))
#define BEHIND_REGISTERS  (2 * sizeof(uintptr_t))
#define RESTORE_BYTES_MAX 128
#define REGISTER_FP       5
#define REGISTER_SENDER   13

/* Length of `mov displacement(%rsp),register`; 0: something else. */
JW_SIGNAL_SAFE static size_t match_restore(const uint8_t *code, unsigned *number, size_t *offset)
{
    if ((code[0] & 0xfb) != 0x48 || code[1] != 0x8b || (code[2] & 0x87) != 0x04 ||
        code[3] != SIB_RSP)
        return 0;
    const bool has_displacement = (code[2] & 0x40) != 0;

    *number = (code[0] & 4u) << 1 | (code[2] >> 3 & 7u);
    *offset = has_displacement ? code[4] : 0;
    return has_displacement ? 5 : 4;
}

/* Where r13 and rbp are kept, as the instructions behind the call say that give them back. */
JW_SIGNAL_SAFE static bool find_kept(uintptr_t pc, size_t *registers_offset, size_t *sender_offset,
                                     size_t *fp_offset)
{
    uint8_t code[RESTORE_BYTES_MAX];
    unsigned number;
    size_t offset, length_bytes, at = 0;
    unsigned found = 0;

    if (!safe_load_bytes(code, pc, sizeof code))
        return false;
    if (memcmp(code, "\xc5\xf8\x77", 3) == 0)
        at += 3; /* vzeroupper */
    if (code[at] == 0x48)
        at++;
    if (memcmp(code + at, "\x0f\xae\x0c\x24", 4) != 0) /* fxrstor (%rsp) */
        return false;
    at += 4;
    *registers_offset = added_bytes(code + at, sizeof code - at);
    if (*registers_offset == 0)
        return false;
    at += code[at + 1] == 0x83 ? 4 : 7;
    while (at + 5 <= sizeof code &&
           (length_bytes = match_restore(code + at, &number, &offset)) != 0) {
        if (number == REGISTER_SENDER)
            *sender_offset = offset;
        else if (number == REGISTER_FP)
            *fp_offset = offset;
        found |= 1u << number;
        at += length_bytes;
    }
    return (found >> REGISTER_SENDER & 1) != 0 && (found >> REGISTER_FP & 1) != 0 &&
           *sender_offset < REGISTERS_BYTES && *fp_offset < REGISTERS_BYTES;
}

bool arch_step_adapter(const void *ucontext, struct arch_regs *regs, uintptr_t begin, bool is_leaf)
{
    size_t registers_offset, sender_offset = 0, fp_offset = 0;
    struct arch_regs caller = *regs;
    uintptr_t sender_sp;

    (void)ucontext;
    if (!is_leaf || regs->pc < begin ||
        !find_kept(regs->pc, &registers_offset, &sender_offset, &fp_offset))
        return false;
    const uintptr_t registers = regs->sp + registers_offset;
    const uintptr_t behind = registers + REGISTERS_BYTES + BEHIND_REGISTERS;

    if (!safe_load_word(registers + sender_offset, &sender_sp) || sender_sp < behind ||
        sender_sp > behind + sizeof(uintptr_t) ||
        !safe_load_word(registers + fp_offset, &caller.fp) ||
        !safe_load_word(sender_sp, &caller.pc))
        return false;
    caller.sp = sender_sp + sizeof(uintptr_t);
    *regs = caller;
    return true;
}

uintptr_t arch_call_target(uintptr_t return_pc)
{
    uint8_t code[5]; /* call rel32 */
    int32_t distance;

    if (!safe_load_bytes(code, return_pc - sizeof code, sizeof code) || code[0] != 0xe8)
        return 0;
    memcpy(&distance, code + 1, sizeof distance);
    return return_pc + (uintptr_t)(intptr_t)distance;
}

bool arch_is_call_of(uintptr_t return_pc, uintptr_t target)
{
    return target != 0 && arch_call_target(return_pc) == target;
}

/* Bytes of a call by register or memory whose second byte this is. */
static JW_SIGNAL_SAFE size_t indirect_call_bytes(uint8_t operand)
{
    const unsigned mode = operand >> 6;
    const unsigned base = operand & 7;
    size_t length_bytes = 2;

    if ((operand >> 3 & 7) != 2)
        return 0; /* another instruction of this group */
    if (mode != 3 && base == 4)
        length_bytes++; /* an index */
    if (mode == 1)
        return length_bytes + 1;
    return mode == 2 || (mode == 0 && base == 5) ? length_bytes + 4 : length_bytes;
}

bool arch_is_behind_call(uintptr_t return_pc)
{
    uint8_t code[7]; /* the longest */
    const uintptr_t begin = return_pc - sizeof code;

    if (!safe_load_bytes(code, begin, sizeof code))
        return false;
    if (code[sizeof code - 5] == 0xe8)
        return true; /* call rel32 */
    for (size_t at = 0; at + 2 <= sizeof code; at++)
        if (code[at] == 0xff && indirect_call_bytes(code[at + 1]) == sizeof code - at)
            return true;
    return false;
}

bool arch_is_argument_stored(uintptr_t begin, uintptr_t pc, intptr_t fp_offset_bytes)
{
    uint8_t code[CODE_WINDOW_BYTES];

    if (pc < begin || fp_offset_bytes < INT8_MIN || fp_offset_bytes > INT8_MAX)
        return false;
    const size_t length_bytes = code_load(code, begin, pc);
    for (size_t i = 0; i + 4 <= length_bytes; i++)
        if (memcmp(code + i, "\x48\x89\x7d", 3) == 0 && (int8_t)code[i + 3] == fp_offset_bytes)
            return true; /* mov %rdi,disp8(%rbp) */
    return false;
}
