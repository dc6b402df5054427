/* Instructions: how long they are, where they lead. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

#define VARIES 0

/* By opcode. Source: chapter 6.5. */
static const uint8_t lengths[CLASSFILE_OP_LIMIT] = {
    [0 ... 15] = 1,    [16] = 2,
    [17] = 3,          [18] = 2,
    [19 ... 20] = 3,   [21 ... 25] = 2,
    [26 ... 53] = 1,   [54 ... 58] = 2,
    [59 ... 131] = 1,  [132] = 3,
    [133 ... 152] = 1, [153 ... 168] = 3,
    [169] = 2,         [170 ... 171] = VARIES,
    [172 ... 177] = 1, [178 ... 184] = 3,
    [185 ... 186] = 5, [187] = 3,
    [188] = 2,         [189] = 3,
    [190 ... 191] = 1, [192 ... 193] = 3,
    [194 ... 195] = 1, [196] = VARIES,
    [197] = 4,         [198 ... 199] = 3,
    [200 ... 201] = 5,
};

static uint32_t switch_bytes(const uint8_t *code, uint32_t length_bytes, uint32_t pc)
{
    const uint32_t at = (pc + 4) & ~3u;
    uint64_t end;

    if (length_bytes - pc < 12 || at + 12 > length_bytes)
        /* A lookupswitch without any pair is 8 bytes behind its padding. */
        return code[pc] == CLASSFILE_OP_LOOKUPSWITCH && at + 8 <= length_bytes &&
                       classfile_u4(code + at + 4) == 0
                   ? at + 8 - pc
                   : 0;
    if (code[pc] == CLASSFILE_OP_TABLESWITCH) {
        const int64_t low = (int32_t)classfile_u4(code + at + 4);
        const int64_t high = (int32_t)classfile_u4(code + at + 8);

        if (high < low)
            return 0;
        end = at + 12 + 4 * (uint64_t)(high - low + 1);
    } else {
        end = at + 8 + 8 * (uint64_t)classfile_u4(code + at + 4);
    }
    return end <= length_bytes ? (uint32_t)end - pc : 0;
}

uint32_t classfile_instruction_bytes(const uint8_t *code, uint32_t length_bytes, uint32_t pc)
{
    const uint8_t opcode = code[pc];
    uint32_t bytes;

    if (opcode >= CLASSFILE_OP_LIMIT)
        return 0;
    bytes = lengths[opcode];
    if (bytes == VARIES && opcode != CLASSFILE_OP_WIDE)
        return switch_bytes(code, length_bytes, pc);
    if (opcode == CLASSFILE_OP_WIDE) {
        if (pc + 1 >= length_bytes)
            return 0;

        const uint8_t widened = code[pc + 1];
        if (widened == 132)
            bytes = 6;
        else if ((widened >= 21 && widened <= 25) ||
                 (widened >= CLASSFILE_OP_ISTORE && widened <= CLASSFILE_OP_ASTORE) ||
                 widened == CLASSFILE_OP_RET)
            bytes = 4;
        else
            return 0;
    }
    return bytes <= length_bytes - pc ? bytes : 0;
}

bool classfile_is_straight(const uint8_t *code, size_t length_bytes)
{
    const uint8_t opcode = code[0];

    if (opcode == CLASSFILE_OP_WIDE)
        return length_bytes > 1 && code[1] != CLASSFILE_OP_RET;
    return opcode < CLASSFILE_OP_LIMIT && !classfile_is_branch(opcode) &&
           !(opcode >= CLASSFILE_OP_RET && opcode <= CLASSFILE_OP_RETURN) &&
           opcode != CLASSFILE_OP_ATHROW && opcode != CLASSFILE_OP_MONITORENTER &&
           opcode != CLASSFILE_OP_MONITOREXIT;
}

static bool stores_first(const uint8_t *at)
{
    if (at[0] == CLASSFILE_OP_WIDE)
        return at[1] >= CLASSFILE_OP_ISTORE && at[1] <= CLASSFILE_OP_ASTORE &&
               classfile_u2(at + 2) == 0;
    if (at[0] >= CLASSFILE_OP_ISTORE && at[0] <= CLASSFILE_OP_ASTORE)
        return at[1] == 0;
    /* istore_0, lstore_0, ... astore_0: each fourth. */
    return at[0] >= CLASSFILE_OP_ISTORE_0 && at[0] <= CLASSFILE_OP_ASTORE_3 &&
           (at[0] - CLASSFILE_OP_ISTORE_0) % 4 == 0;
}

static bool find_instructions(struct classfile_work *work)
{
    const uint8_t *code = work->code.bytes;
    const uint32_t length_bytes = work->code.length_bytes;

    for (uint32_t pc = 0; pc < length_bytes;) {
        const uint32_t bytes = classfile_instruction_bytes(code, length_bytes, pc);
        const uint8_t opcode = code[pc];

        if (bytes == 0)
            return false;
        work->instructions[work->count] =
            (struct classfile_instruction){.pc = pc, .opcode = opcode};
        work->number_at[pc] = ++work->count;
        work->has_subroutines |= opcode == CLASSFILE_OP_JSR || opcode == CLASSFILE_OP_JSR_W ||
                                 opcode == CLASSFILE_OP_RET ||
                                 (opcode == CLASSFILE_OP_WIDE && code[pc + 1] == CLASSFILE_OP_RET);
        if (opcode >= CLASSFILE_OP_ISTORE)
            work->stores_first |= stores_first(code + pc);
        pc += bytes;
    }
    work->number_at[length_bytes] = work->count + 1;
    work->instructions[work->count] = (struct classfile_instruction){.pc = length_bytes};
    return true;
}

static bool is_target(const struct classfile_work *work, int64_t pc)
{
    return pc >= 0 && pc < work->code.length_bytes && work->number_at[pc] != 0;
}

static bool are_switch_targets(const struct classfile_work *work, uint32_t pc)
{
    const uint8_t *at = work->code.bytes + ((pc + 4) & ~3u);
    const bool is_table = work->code.bytes[pc] == CLASSFILE_OP_TABLESWITCH;
    const uint32_t count =
        is_table ? classfile_u4(at + 8) - classfile_u4(at + 4) + 1 : classfile_u4(at + 4);

    if (!is_target(work, pc + (int64_t)(int32_t)classfile_u4(at)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *offset = is_table ? at + 12 + 4 * (size_t)i : at + 12 + 8 * (size_t)i;

        if (!is_target(work, pc + (int64_t)(int32_t)classfile_u4(offset)))
            return false;
    }
    return true;
}

enum classfile_verdict classfile_decode(struct classfile_work *work)
{
    const uint32_t length_bytes = work->code.length_bytes;

    work->instructions = classfile_memory_take(work->memory, sizeof *work->instructions *
                                                                 ((size_t)length_bytes + 1));
    work->number_at =
        classfile_memory_take(work->memory, sizeof *work->number_at * ((size_t)length_bytes + 1));
    if (work->instructions == NULL || work->number_at == NULL)
        return CLASSFILE_NO_MEMORY;
    memset(work->number_at, 0, sizeof *work->number_at * ((size_t)length_bytes + 1));
    if (!find_instructions(work))
        return CLASSFILE_BAD_CODE;
    for (uint32_t i = 0; i < work->count; i++) {
        struct classfile_instruction *one = &work->instructions[i];
        const uint8_t *at = work->code.bytes + one->pc;
        int64_t target;

        if (one->opcode == CLASSFILE_OP_TABLESWITCH || one->opcode == CLASSFILE_OP_LOOKUPSWITCH) {
            if (!are_switch_targets(work, one->pc))
                return CLASSFILE_BAD_CODE;
            continue;
        }
        if (!classfile_is_branch(one->opcode))
            continue;
        target =
            one->pc + (one->opcode >= CLASSFILE_OP_GOTO_W ? (int64_t)(int32_t)classfile_u4(at + 1)
                                                          : (int16_t)classfile_u2(at + 1));
        if (!is_target(work, target))
            return CLASSFILE_BAD_CODE;
        one->target = work->number_at[target] - 1;
    }
    return CLASSFILE_OK;
}
