/* aarch64: reads instructions of prologues and epilogues. Every context. */
#include "arch/aarch64/code_internal.h"

/* An instruction with some of its bits left open. */
struct pattern {
    uint32_t mask;
    uint32_t bits;
};

/*
 * Instructions that may stand between the end of a frame and its ret.
 * Source: OpenJDK, hotspot/cpu/aarch64: MacroAssembler::safepoint_poll (17 on),
 * MachEpilogNode, LIR_Assembler::return_op, SharedRuntime::generate_native_wrapper.
 */
static const struct pattern passing[] = {
    {0xffc003fe, 0xf9400388}, /* ldr x8 or x9,[x28,#n]: poll */
    {0xffffffff, 0xeb2863ff}, /* cmp sp,x8 */
    {0xffffffff, 0xeb2963ff}, /* cmp sp,x9 */
    {0xff00001f, 0x54000008}, /* b.hi: to the poll's handler */
    {0xffffffdf, 0xb940011f}, /* ldr wzr,[x8]: poll of 10 to 16 */
    {0xffffffff, 0xd50323bf}, /* autiasp */
    {0xff00001f, 0xb5000008}, /* cbnz x8: an exception of a native method */
    {0xffffffff, 0xd503201f}, /* nop */
    {0xffffffff, 0xaa1f03e0}, /* mov x0,xzr: a stub's result */
    {0xffffffff, 0x2a1f03e0}, /* mov w0,wzr */
    {0xffffffff, 0xd2800000}, /* mov x0,#0 */
    {0xffffffff, 0x52800000}, /* mov w0,#0 */
};

/* What stands between a poll that was taken and the branch to the safepoint blob. */
static const struct pattern leaving[] = {
    {0x9f00001f, 0x10000008}, /* adr x8 */
    {0x9f00001f, 0x90000008}, /* adrp x8 */
    {0xffc003ff, 0x91000108}, /* add x8,x8,#n */
    {0xffc003ff, 0xf9000388}, /* str x8,[x28,#n] */
};

JW_SIGNAL_SAFE static bool match(const struct pattern *patterns, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if ((code & patterns[i].mask) == patterns[i].bits)
            return true;
    return false;
}

size_t code_load(uint32_t *to, size_t room_words, uintptr_t from_pc, uintptr_t end_pc)
{
    const size_t left_words = from_pc < end_pc ? (end_pc - from_pc) / CODE_BYTES : 0;
    const size_t count = left_words < room_words ? left_words : room_words;

    return safe_load_bytes(to, from_pc, count * CODE_BYTES) ? count : 0;
}

/* b, or br x8 or x9 */
JW_SIGNAL_SAFE static bool is_branch(uint32_t code)
{
    return (code & 0xfc000000) == 0x14000000 || (code & 0xffffffdf) == 0xd61f0100;
}

bool code_is_last_branch(const uint32_t *code)
{
    /* str x8,[x28,#n] */
    return is_branch(code[0]) && ((code[-1] & 0xffc003ff) == 0xf9000388 || code[-1] == CODE_RET);
}

bool code_leads_to_return(const uint32_t *code, size_t count)
{
    size_t i = 0;

    while (i < count && match(leaving, JW_COUNT_OF(leaving), code[i]))
        i++;
    if (i > 0 && i < count && is_branch(code[i]))
        return true;
    for (i = 0; i < count; i++) {
        if (code[i] == CODE_RET)
            return true;
        if (!match(passing, JW_COUNT_OF(passing), code[i]))
            return false;
    }
    return false;
}
