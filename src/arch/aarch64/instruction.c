/* aarch64: where an instruction leads. Every context. */
#include "arch/arch.h"

#include <string.h>

#define WORD_BYTES sizeof(uint32_t)

/* A field of `bits` bits from `low` on, with its sign, in words. */
static JW_SIGNAL_SAFE uintptr_t offset_of(uint32_t word, unsigned low, unsigned bits)
{
    const uint32_t field = word >> low & ((1u << bits) - 1);
    const uint32_t sign = 1u << (bits - 1);

    return (uintptr_t)(((intptr_t)(field ^ sign) - (intptr_t)sign) * (intptr_t)WORD_BYTES);
}

static JW_SIGNAL_SAFE void lead(struct arch_instruction *out, enum arch_leads kind, uintptr_t pc,
                                uintptr_t offset)
{
    out->kind = kind;
    out->has_target = true;
    out->target_pc = pc + offset;
}

/* Source: Arm ARM, C4.1.64 branches, exceptions and system instructions. */
static JW_SIGNAL_SAFE void look_at_branch(uint32_t word, uintptr_t pc, struct arch_instruction *out)
{
    if ((word & 0x7c000000) == 0x14000000) /* b, bl */
        lead(out, word >> 31 != 0 ? ARCH_LEADS_CALL : ARCH_LEADS_JUMP, pc, offset_of(word, 0, 26));
    else if ((word & 0xff000000) == 0x54000000 ||
             (word & 0x7e000000) == 0x34000000) /* b.cond, cbz */
        lead(out, ARCH_LEADS_BRANCH, pc, offset_of(word, 5, 19));
    else if ((word & 0x7e000000) == 0x36000000) /* tbz */
        lead(out, ARCH_LEADS_BRANCH, pc, offset_of(word, 5, 14));
    else if ((word & 0xfffffc1f) == 0xd63f0000) /* blr */
        out->kind = ARCH_LEADS_CALL;
    else if ((word & 0xfffffc1f) == 0xd65f0000) /* ret */
        out->kind = ARCH_LEADS_BACK;
    else if ((word & 0xfffffc1f) == 0xd61f0000 || (word & 0xffe0001f) == 0xd4200000 || /* br, brk */
             (word & 0xffff0000) == 0)                                                 /* udf */
        out->kind = ARCH_LEADS_AWAY;
}

/* Polls read through a register into wzr; words of the thread are those that x28 points to. */
static JW_SIGNAL_SAFE void look_at_poll(uint32_t word, struct arch_instruction *out)
{
    if ((word & 0xfffffc1f) == 0xb940001f) /* ldr wzr,[xN] */
        out->poll = ARCH_POLL_TEST;
    else if ((word & 0xffe0ffff) == 0xeb2063ff) /* cmp sp,xN */
        out->poll = ARCH_POLL_RETURN;
    else if ((word & 0xffc003e0) == 0xf9400380) /* ldr xN,[x28,#offset] */
        out->poll = ARCH_POLL_LOAD;
}

bool arch_instruction_read(const uint8_t *bytes, size_t room_bytes, uintptr_t pc,
                           struct arch_instruction *out)
{
    uint32_t word;

    *out = (struct arch_instruction){.kind = ARCH_LEADS_ON, .length_bytes = WORD_BYTES};
    if (room_bytes < WORD_BYTES)
        return false;
    memcpy(&word, bytes, sizeof word);
    look_at_branch(word, pc, out);
    look_at_poll(word, out);
    return true;
}

/* ldr xN,[x28,#offset]; tbz or tbnz wN,#bit */
bool arch_poll_word_read(const uint8_t *bytes, size_t room_bytes, struct arch_poll_word *out)
{
    uint32_t load, test;

    if (room_bytes < 2 * WORD_BYTES)
        return false;
    memcpy(&load, bytes, sizeof load);
    memcpy(&test, bytes + WORD_BYTES, sizeof test);
    if ((load & 0xffc003e0) != 0xf9400380 || (test & 0xfec00000) != 0x36000000 ||
        ((load ^ test) & 0x1f) != 0)
        return false;
    *out = (struct arch_poll_word){.offset = (load >> 10 & 0xfff) * 8,
                                   .mask = (uint8_t)(1u << (test >> 19 & 7))};
    return true;
}
