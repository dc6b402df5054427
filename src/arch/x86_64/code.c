/* x86-64: reads instructions of prologues and epilogues. Every context. */
#include "arch/x86_64/code_internal.h"

#include <string.h>

/* Instructions looked at on the way to a ret. */
#define STEPS_MAX 8

#define CODE_RET  0xc3
#define CODE_RETN 0xc2
#define CODE_JMP  0xe9

#define CODE_POP_FP 0x5d
#define CODE_LEAVE  0xc9

/* The start of an instruction, and its whole length. */
struct pattern {
    uint8_t bytes[3];
    uint8_t count;
    uint8_t length_bytes;
};

/*
 * Instructions that may stand between the end of a frame and its ret.
 * Source: OpenJDK, hotspot/cpu/x86: MacroAssembler::safepoint_poll (17 on), MachEpilogNode and
 * LIR_Assembler::return_op (polls of 8 to 16); seen in JDK 17 and 25.
 */
static const struct pattern passing[] = {
    {{0x49, 0x3b, 0xa7}, 3, 7},  /* cmp disp32(%r15),%rsp: poll, 17 on */
    {{0x49, 0x3b, 0x67}, 3, 4},  /* cmp disp8(%r15),%rsp */
    {{0x0f, 0x87, 0}, 2, 6},     /* ja rel32: to the poll's handler */
    {{0x77, 0, 0}, 1, 2},        /* ja rel8 */
    {{0x4d, 0x8b, 0x97}, 3, 7},  /* mov disp32(%r15),%r10: poll, 10 to 16 */
    {{0x4d, 0x8b, 0x57}, 3, 4},  /* mov disp8(%r15),%r10 */
    {{0x41, 0x85, 0x02}, 3, 3},  /* test %eax,(%r10) */
    {{0x85, 0x05, 0}, 2, 6},     /* test %eax,disp32(%rip): poll, 8 to 13 */
    {{0xc5, 0xf8, 0x77}, 3, 3},  /* vzeroupper */
    {{0x49, 0x81, 0x7f}, 3, 8},  /* cmpq $imm32,disp8(%r15): an exception of a native method */
    {{0x49, 0x81, 0xbf}, 3, 11}, /* cmpq $imm32,disp32(%r15) */
    {{0x49, 0x83, 0x7f}, 3, 5},  /* cmpq $imm8,disp8(%r15): the same, 25 */
    {{0x49, 0x83, 0xbf}, 3, 8},  /* cmpq $imm8,disp32(%r15) */
    {{0x0f, 0x85, 0}, 2, 6},     /* jne rel32: to the jump to forward_exception behind the ret */
    {{0x75, 0, 0}, 1, 2},        /* jne rel8 */
    {{0x41, 0xf6, 0x47}, 3, 5},  /* testb $imm8,disp8(%r15): a native method's poll, 25 */
    {{0x41, 0xf6, 0x87}, 3, 8},  /* testb $imm8,disp32(%r15) */
    {{0x74, 0, 0}, 1, 2},        /* je rel8: over what leaves for the poll's handler */
    {{0x0f, 0x84, 0}, 2, 6},     /* je rel32 */
    {{0x31, 0xc0, 0}, 2, 2},     /* xor %eax,%eax: a stub's result */
    {{0x33, 0xc0, 0}, 2, 2},     {{0x48, 0x31, 0xc0}, 3, 3}, /* xor %rax,%rax */
    {{0x48, 0x33, 0xc0}, 3, 3},
};

/* What stands between a poll that was taken and the jump to the safepoint blob. */
static const struct pattern leaving[] = {
    {{0x4c, 0x8d, 0x15}, 3, 7}, /* lea disp32(%rip),%r10 */
    {{0x49, 0xba, 0}, 2, 10},   /* movabs imm64,%r10 */
    {{0x4d, 0x89, 0x97}, 3, 7}, /* mov %r10,disp32(%r15) */
    {{0x4d, 0x89, 0x57}, 3, 4}, /* mov %r10,disp8(%r15) */
};

JW_SIGNAL_SAFE static size_t match(const struct pattern *patterns, size_t count,
                                   const uint8_t *code, size_t length_bytes)
{
    for (size_t i = 0; i < count; i++)
        if (patterns[i].bytes[0] == code[0] && length_bytes >= patterns[i].length_bytes &&
            memcmp(code, patterns[i].bytes, patterns[i].count) == 0)
            return patterns[i].length_bytes;
    return 0;
}

size_t code_load(uint8_t *to, uintptr_t from_pc, uintptr_t end_pc)
{
    const size_t left_bytes = from_pc < end_pc ? end_pc - from_pc : 0;
    const size_t length_bytes = left_bytes < CODE_WINDOW_BYTES ? left_bytes : CODE_WINDOW_BYTES;

    return safe_load_bytes(to, from_pc, length_bytes) ? length_bytes : 0;
}

bool code_is_mov_rsp_rbp(const uint8_t *code, size_t length_bytes)
{
    return length_bytes >= 3 && code[0] == 0x48 &&
           ((code[1] == 0x8b && code[2] == 0xec) || (code[1] == 0x89 && code[2] == 0xe5));
}

JW_SIGNAL_SAFE static bool leads_to_safepoint(const uint8_t *code, size_t length_bytes)
{
    bool is_leaving = false;

    for (int step = 0; step < STEPS_MAX && length_bytes > 0; step++) {
        const size_t instruction_bytes = match(leaving, JW_COUNT_OF(leaving), code, length_bytes);

        if (instruction_bytes == 0)
            return is_leaving && code[0] == CODE_JMP;
        is_leaving = true;
        code += instruction_bytes;
        length_bytes -= instruction_bytes;
    }
    return false;
}

bool code_is_behind_frame_jump(const uint8_t *here, size_t before_bytes, size_t left_bytes)
{
    const bool is_behind = before_bytes >= 1 && (here[-1] == CODE_POP_FP || here[-1] == CODE_LEAVE);
    const size_t rex_bytes = left_bytes >= 3 && here[0] == 0x41 ? 1 : 0;

    return is_behind && left_bytes >= 2 &&
           (here[0] == CODE_JMP ||
            (here[rex_bytes] == 0xff && (here[rex_bytes + 1] & 0xf8) == 0xe0)); /* jmp *%reg */
}

bool code_is_behind_return_jump(const uint8_t *here, size_t before_bytes)
{
    return before_bytes >= 7 && memcmp(here - 7, "\x0f\x85\x01\0\0\0\xc3", 7) == 0 &&
           here[0] == CODE_JMP;
}

bool code_leads_to_return(const uint8_t *code, size_t length_bytes)
{
    for (int step = 0; step < STEPS_MAX && length_bytes > 0; step++) {
        if (leads_to_safepoint(code, length_bytes))
            return true;
        if (code[0] == CODE_RET || code[0] == CODE_RETN ||
            (length_bytes > 1 && code[0] == 0xf3 && code[1] == CODE_RET))
            return true;
        const size_t instruction_bytes = match(passing, JW_COUNT_OF(passing), code, length_bytes);

        if (instruction_bytes == 0)
            return false;
        code += instruction_bytes;
        length_bytes -= instruction_bytes;
    }
    return false;
}
