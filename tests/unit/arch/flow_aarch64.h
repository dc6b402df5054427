/* aarch64: what an instruction does to the stack pointer, the return address and the frame pointer. Included by test_recorded.c. */
#include "unit/arch/flow.h"

#define FLOW_FP        29
#define FLOW_LINK      30
#define FLOW_SP        31
#define FLOW_PC        32
#define FLOW_REGISTERS 31
#define FLOW_CALLER_SP                                                                             \
    0 /* what the stack pointer is after the return, from what it is at the entry */

/* In the stub of a poll x20 is loaded with the place of the poll. */
static bool flow_is_poll_stub;
/* What handles an exception is entered with its place in x3. */
static bool flow_is_handler;
/* Nothing else has a way in of its own here. */
static bool flow_is_jumped_to;

static bool flow_is_poll(const uint8_t *code, size_t length_bytes)
{
    uint32_t word;

    for (size_t at = 0; at + sizeof word <= length_bytes; at += sizeof word)
        if (memcpy(&word, code + at, sizeof word), word == 0xf90007b4) /* str x20,[x29,#8] */
            return true;
    return false;
}

static void flow_set(ucontext_t *context, unsigned number, uintptr_t value)
{
    if (number == FLOW_PC)
        context->uc_mcontext.pc = value;
    else if (number == FLOW_SP)
        context->uc_mcontext.sp = value;
    else
        context->uc_mcontext.regs[number] = value;
}

/* What a register holds of which nothing is known: the link register has the place behind the stub's last call. */
static uintptr_t flow_nonsense(unsigned number, uintptr_t begin)
{
    return number == FLOW_LINK ? begin + sizeof(uint32_t) : 0x3c3c0001 + number * 2;
}

static bool flow_step_adapter(const ucontext_t *context, struct arch_regs *regs, uintptr_t begin)
{
    return arch_step_adapter(context, regs, begin, false);
}

static struct flow flow_at_entry(void)
{
    struct flow entry;

    memset(&entry, 0, sizeof entry);
    entry.is_reached = entry.has_sp = true;
    entry.returns = flow_is_poll_stub ? 0 : UINT64_C(1) << FLOW_LINK;
    entry.returns |= flow_is_handler ? UINT64_C(1) << 3 : 0;
    (void)flow_is_jumped_to;
    entry.return_slot = entry.fp_slot = entry.frame_slot = FLOW_NOWHERE;
    return entry;
}

static void flow_write(struct flow *at, unsigned reg)
{
    if (reg == FLOW_SP)
        return; /* here the register that is always 0 */
    at->returns &= ~(UINT64_C(1) << reg);
    if (reg == FLOW_FP) {
        at->fp = FLOW_FP_OTHER;
        at->fp_below = 0;
    }
}

static void flow_store(struct flow *at, unsigned reg, int32_t slot)
{
    if (reg != FLOW_SP && (at->returns >> reg & 1) != 0)
        at->return_slot = at->return_slot == FLOW_NOWHERE ? slot : at->return_slot;
    else if (slot == at->return_slot)
        at->return_slot = FLOW_NOWHERE;
    if (reg == FLOW_FP && at->fp == FLOW_FP_FRAME)
        at->frame_slot = slot;
    else if (slot == at->frame_slot)
        at->frame_slot = FLOW_NOWHERE;
    if (reg == FLOW_FP && at->fp == FLOW_FP_CALLER)
        at->fp_slot = at->fp_slot == FLOW_NOWHERE ? slot : at->fp_slot;
    else if (slot == at->fp_slot)
        at->fp_slot = FLOW_NOWHERE;
}

static void flow_load(struct flow *at, unsigned reg, int32_t slot)
{
    const bool is_frame =
        reg == FLOW_FP && slot != FLOW_NOWHERE && slot == at->frame_slot && at->fp == FLOW_FP_FRAME;

    if (is_frame)
        return; /* it has that value still */
    flow_write(at, reg);
    if (reg != FLOW_SP && slot != FLOW_NOWHERE && slot == at->return_slot)
        at->returns |= UINT64_C(1) << reg;
    if (reg == FLOW_FP && slot != FLOW_NOWHERE && slot == at->fp_slot)
        at->fp = FLOW_FP_CALLER;
}

/* A load or store of one word or two of general registers: base and offset; `is_moved`: the base afterwards is base + offset. */
static void flow_words(struct flow *at, uint32_t code, bool is_pair, int32_t offset, bool is_before,
                       bool is_moved)
{
    const unsigned base = code >> 5 & 31;
    const bool is_load = is_pair ? (code >> 22 & 1) != 0 : (code >> 22 & 3) != 0;
    const unsigned regs[] = {code & 31, code >> 10 & 31};
    int32_t from = FLOW_NOWHERE;

    if (base == FLOW_SP && at->has_sp)
        from = at->below;
    else if (base == FLOW_FP && at->fp == FLOW_FP_FRAME)
        from = at->fp_below;
    if (from != FLOW_NOWHERE && is_before)
        from -= offset;
    for (int i = 0; i <= is_pair; i++) {
        const int32_t slot = from == FLOW_NOWHERE ? FLOW_NOWHERE : from - i * 8;

        if (is_load)
            flow_load(at, regs[i], slot);
        else if (slot != FLOW_NOWHERE)
            flow_store(at, regs[i], slot);
    }
    if (is_moved && base == FLOW_SP)
        at->below -= offset;
    else if (is_moved)
        flow_write(at, base);
}

/* add, sub of a constant, where either register may be the stack pointer. */
static void flow_add(struct flow *at, uint32_t code)
{
    const unsigned to = code & 31, from = code >> 5 & 31;
    const int32_t constant = (int32_t)(code >> 10 & 0xfff) << ((code >> 22 & 1) != 0 ? 12 : 0);
    const int32_t amount = (code >> 30 & 1) != 0 ? -constant : constant;

    if ((code >> 29 & 1) != 0) { /* adds, subs: to a register, or none */
        flow_write(at, to);
    } else if (to == FLOW_SP && from == FLOW_FP && at->fp == FLOW_FP_FRAME) {
        at->has_sp = true;
        at->below = at->fp_below - amount;
    } else if (to == FLOW_SP) {
        at->has_sp = at->has_sp && from == FLOW_SP;
        at->below = at->has_sp ? at->below - amount : 0;
    } else if (to == FLOW_FP && from == FLOW_SP && at->has_sp) {
        flow_write(at, to);
        at->fp = FLOW_FP_FRAME;
        at->fp_below = at->below - amount;
    } else {
        flow_write(at, to);
    }
}

static void flow_follow(struct flow *at, const uint8_t *bytes, size_t length_bytes)
{
    uint32_t code;

    (void)length_bytes;
    memcpy(&code, bytes, sizeof code);
    const unsigned to = code & 31;
    const unsigned mode = code >> 23 & 3;

    if ((code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000) /* bl, blr */
        at->returns &= UINT64_C(0x1ff80000);    /* x19 to x28 are kept */
    else if ((code & 0xfe000000) == 0xa8000000) /* ldp, stp */
        flow_words(at, code, true, ((int32_t)(code << 10) >> 25) * 8, mode != 1, (mode & 1) != 0);
    else if ((code & 0x3a000000) == 0x28000000) { /* of other registers */
        const int32_t size = (code >> 26 & 1) != 0 ? 4 << (code >> 30) : 4;

        if ((mode & 1) != 0 && (code >> 5 & 31) == FLOW_SP)
            at->below -= ((int32_t)(code << 10) >> 25) * size;
        if ((code >> 26 & 1) == 0 && (code >> 22 & 1) != 0) {
            flow_write(at, to);
            flow_write(at, code >> 10 & 31);
        }
    } else if ((code & 0xff000000) == 0xf9000000) { /* ldr, str of a word */
        flow_words(at, code, false, (int32_t)(code >> 10 & 0xfff) * 8, true, false);
        if (flow_is_poll_stub && (code & 0xffc003ff) == 0xf9400394)
            at->returns |= UINT64_C(1) << 20;
    } else if ((code & 0xff200000) == 0xf8000000) /* and by an offset that may be negative */
        flow_words(at, code, false, (int32_t)(code << 11) >> 23, (code >> 10 & 3) != 1,
                   (code >> 10 & 1) != 0);
    else if ((code & 0x3b200400) == 0x38000400 && (code >> 5 & 31) == FLOW_SP) /* other registers */
        at->below -= (int32_t)(code << 11) >> 23;
    else if ((code & 0xbf800000) == 0x0c800000 && (code >> 5 & 31) == FLOW_SP) { /* ld1, st1 */
        const unsigned registers = (code >> 12 & 15) == 2 ? 4 : (code >> 12 & 15) == 10 ? 2 : 1;

        if ((code >> 16 & 31) == 31)
            at->below -= (int32_t)registers * ((code >> 30 & 1) != 0 ? 16 : 8);
        else
            at->has_sp = false; /* by a register */
    } else if (flow_is_poll_stub && code == 0x91001294) {
        return; /* add x20,x20,#4: behind the poll, which is the same line */
    } else if ((code & 0x1f800000) == 0x11000000)
        flow_add(at, code);
    else if ((code & 0x7f80001f) == 0x1200001f || (code & 0x7fe0001f) == 0x0b20001f ||
             (code & 0x7fe0001f) == 0x4b20001f) /* and, add, sub to sp */
        at->has_sp = false;
    else if ((code & 0xffe0ffe0) == 0xaa0003e0) { /* mov */
        const bool is_return = (at->returns >> (code >> 16 & 31) & 1) != 0;

        flow_write(at, to);
        if (is_return && to != FLOW_SP)
            at->returns |= UINT64_C(1) << to;
    } else if ((code & 0x0e000000) == 0x0a000000 || (code & 0x1c000000) == 0x10000000 ||
               ((code & 0x3b000000) == 0x39000000 && (code >> 22 & 3) != 0) ||
               ((code & 0x3b000000) == 0x38000000 && (code >> 22 & 3) != 0) ||
               (code & 0x3b000000) == 0x18000000)
        flow_write(at, to); /* computes, or loads */
}
