/* x86-64: what an instruction does to the stack pointer, the return address and the frame pointer. Included by test_recorded.c. */
#include "unit/arch/flow.h"

/* Registers by their numbers in instructions. */
#define FLOW_RAX       0
#define FLOW_RDX       2
#define FLOW_RBX       3
#define FLOW_SP        4
#define FLOW_FP        5
#define FLOW_R13       13
#define FLOW_R15       15
#define FLOW_PC        16
#define FLOW_REGISTERS 16
#define FLOW_CALLER_SP                                                                             \
    8 /* what the stack pointer is after the return, from what it is at the entry */

#define FLOW_KEPT (1u << FLOW_RBX | 1u << FLOW_FP | 0xf000u)

/* The stub of a poll makes room for a return address first, and puts it there from rbx. */
static bool flow_is_poll_stub;
/* What handles an exception has its place in rdx; the blob of exceptions is entered with that alone. */
static bool flow_is_handler, flow_is_jumped_to;

static bool flow_is_poll(const uint8_t *code, size_t length_bytes)
{
    return length_bytes > 0 && code[0] == 0x53; /* push %rbx */
}

static void flow_set(ucontext_t *context, unsigned number, uintptr_t value)
{
    static const int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    context->uc_mcontext.gregs[places[number]] = (greg_t)value;
}

static uintptr_t flow_nonsense(unsigned number, uintptr_t begin)
{
    (void)begin;
    return 0x3c3c0001 + number * 2;
}

/* As room walk finds it: the caller's stack pointer in r13, its return address on top of the stack or in rax; elsewhere as at an entry. */
static bool flow_step_adapter(const ucontext_t *context, struct arch_regs *regs, uintptr_t begin)
{
    struct arch_sender sender;
    uintptr_t top;

    const enum arch_sender_kind kind = arch_sender_in(begin, regs->pc);

    if (kind == ARCH_SENDER_NONE)
        return arch_step_from_entry(regs);
    arch_sender_read(context, &sender);
    if (kind == ARCH_SENDER_ENTRY) {
        struct arch_regs at_entry = *regs;

        /* Nothing is told here of what has been stored and loaded again; room walk looks whether it lies on the stack. */
        at_entry.sp = sender.sp;
        if (sender.sp < regs->sp || !arch_step_from_entry(&at_entry))
            return false;
        *regs = at_entry;
        return true;
    }
    if (!safe_load_word(regs->sp, &top))
        return false;
    regs->pc = sender.pc >= 0x100000000 ? sender.pc : top; /* nonsense is small */
    regs->sp = sender.sp;
    return true;
}

static struct flow flow_at_entry(void)
{
    struct flow entry;

    memset(&entry, 0, sizeof entry);
    entry.is_reached = entry.has_sp = true;
    entry.return_slot = entry.fp_slot = entry.frame_slot = FLOW_NOWHERE;
    if (flow_is_handler)
        entry.returns = 1u << FLOW_RDX;
    if (flow_has_sender)
        entry.senders = 1u << FLOW_R13;
    if (flow_is_poll_stub || flow_is_jumped_to)
        entry.below = -FLOW_CALLER_SP;
    else
        entry.return_slot = 0;
    return entry;
}

static void flow_write(struct flow *at, unsigned reg)
{
    at->returns &= ~(UINT64_C(1) << reg);
    at->senders &= ~(UINT64_C(1) << reg);
    at->entries &= ~(UINT64_C(1) << reg);
    if (reg == FLOW_FP) {
        at->fp = FLOW_FP_OTHER;
        at->fp_below = 0;
    } else if (reg == FLOW_SP) {
        at->has_sp = false;
        at->below = 0;
    }
}

static void flow_store(struct flow *at, unsigned reg, int32_t slot)
{
    if (slot == FLOW_NOWHERE)
        return;
    if ((at->returns >> reg & 1) != 0)
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
    const bool is_known = slot != FLOW_NOWHERE;

    if (reg == FLOW_FP && is_known && slot == at->frame_slot && at->fp == FLOW_FP_FRAME)
        return; /* it has that value still */
    flow_write(at, reg);
    if (is_known && slot == at->return_slot)
        at->returns |= UINT64_C(1) << reg;
    if (reg == FLOW_FP && is_known && slot == at->fp_slot)
        at->fp = FLOW_FP_CALLER;
}

static void flow_push(struct flow *at, unsigned reg)
{
    at->below += 8;
    flow_store(at, reg, at->has_sp ? at->below : FLOW_NOWHERE);
}

static void flow_pop(struct flow *at, unsigned reg)
{
    const int32_t slot = at->has_sp ? at->below : FLOW_NOWHERE;

    at->below -= 8;
    flow_load(at, reg, slot);
    /* What lies above the stack pointer counts no more. */
    if (slot != FLOW_NOWHERE && slot == at->return_slot && (at->returns >> reg & 1) != 0)
        at->return_slot = FLOW_NOWHERE;
}

static void flow_copy(struct flow *at, unsigned to, unsigned from)
{
    const bool is_return = (at->returns >> from & 1) != 0;
    const bool is_sender = (at->senders >> from & 1) != 0 ||
                           (from == FLOW_SP && at->has_sp && at->below == -FLOW_CALLER_SP);
    const struct flow before = *at;

    flow_write(at, to);
    if (is_return)
        at->returns |= UINT64_C(1) << to;
    if (is_sender)
        at->senders |= UINT64_C(1) << to;
    if (from == FLOW_SP && before.has_sp && before.below == 0)
        at->entries |= UINT64_C(1) << to;
    if (to == FLOW_FP && from == FLOW_SP && before.has_sp) {
        at->fp = FLOW_FP_FRAME;
        at->fp_below = before.below;
    } else if (to == FLOW_SP && from == FLOW_FP && before.fp == FLOW_FP_FRAME) {
        at->has_sp = true;
        at->below = before.fp_below;
    }
}

/* Add to a register, which may be one of both pointers. */
static void flow_add(struct flow *at, unsigned reg, int32_t amount)
{
    if (reg == FLOW_SP) {
        at->below = at->has_sp ? at->below - amount : 0;
    } else if (reg == FLOW_FP && at->fp == FLOW_FP_FRAME) {
        at->fp_below -= amount;
    } else {
        flow_write(at, reg);
    }
}

/* An operand: a register, or a place, which lies in the stack or elsewhere. */
struct operand {
    unsigned reg, rm;
    bool is_register;
    bool is_plain; /* base and distance, nothing else */
    int32_t distance;
};

static struct operand flow_operand(const uint8_t *code, unsigned rex)
{
    const unsigned mode = code[0] >> 6;
    struct operand operand = {
        .reg = (code[0] >> 3 & 7) | (rex & 4) << 1,
        .rm = (code[0] & 7) | (rex & 1) << 3,
        .is_register = mode == 3,
        .is_plain = mode != 3,
    };
    const uint8_t *next = code + 1;

    if (mode != 3 && (code[0] & 7) == 4) {
        operand.is_plain = (*next & 0x38) == 0x20 && (rex & 2) == 0; /* no index */
        operand.rm = (*next & 7) | (rex & 1) << 3;
        next++;
    }
    if (mode == 0 && (operand.rm & 7) == 5)
        operand.is_plain = false;
    if (mode == 1)
        operand.distance = (int8_t)*next;
    else if (mode == 2)
        memcpy(&operand.distance, next, sizeof operand.distance);
    return operand;
}

static int32_t flow_slot(const struct flow *at, const struct operand *operand)
{
    if (operand->is_plain && operand->rm == FLOW_SP && at->has_sp)
        return at->below - operand->distance;
    if (operand->is_plain && operand->rm == FLOW_FP && at->fp == FLOW_FP_FRAME)
        return at->fp_below - operand->distance;
    return FLOW_NOWHERE;
}

static void flow_lea(struct flow *at, const struct operand *operand)
{
    const int32_t slot = flow_slot(at, operand);

    flow_write(at, operand->reg);
    if (slot == FLOW_NOWHERE)
        return;
    if (operand->reg == FLOW_SP) {
        at->has_sp = true;
        at->below = slot;
    } else if (operand->reg == FLOW_FP) {
        at->fp = FLOW_FP_FRAME;
        at->fp_below = slot;
    } else if (slot == -FLOW_CALLER_SP) {
        at->senders |= UINT64_C(1) << operand->reg;
    }
}

/* add, or, adc, sbb, and, sub, xor, cmp of a constant. */
static void flow_group(struct flow *at, const struct operand *operand, int32_t constant)
{
    const unsigned kind = operand->reg & 7;

    if (!operand->is_register || kind == 7)
        return;
    if (flow_is_poll_stub && operand->rm == FLOW_RBX)
        return; /* behind the poll, which is the same line */
    if (kind == 0 || kind == 5)
        flow_add(at, operand->rm, kind == 0 ? constant : -constant);
    else
        flow_write(at, operand->rm);
}

/* Opcodes of two bytes that write to a general register. */
static void flow_two_bytes(struct flow *at, const uint8_t *code, unsigned rex)
{
    const uint8_t op = code[1];
    const bool is_written = (op & 0xf0) == 0x40 || op == 0xaf || (op & 0xf6) == 0xb6 ||
                            op == 0xbc || op == 0xbd || op == 0xb8 || op == 0x2c || op == 0x2d;

    if (is_written)
        flow_write(at, (code[2] >> 3 & 7) | (rex & 4) << 1);
    else if (op == 0x7e) /* movq %xmm,%reg */
        flow_write(at, (code[2] & 7) | (rex & 1) << 3);
}

/* What only writes to registers, or to places that are not told of. */
static void flow_compute(struct flow *at, const uint8_t *code, unsigned low,
                         const struct operand *operand)
{
    const uint8_t op = code[0];

    if (op < 0x40 && (op & 7) < 4 && (op & 0x38) != 0x38) {
        if ((op & 2) != 0)
            flow_write(at, operand->reg);
        else if (operand->is_register)
            flow_write(at, operand->rm);
    } else if (op == 0x63 || op == 0x69 || op == 0x6b) {
        flow_write(at, operand->reg);
    } else if ((op & 0xf8) == 0xb8) {
        flow_write(at, low);
    } else if ((op == 0xc7 || op == 0xc1 || op == 0xd1 || op == 0xd3 || op == 0xf7 || op == 0xff) &&
               operand->is_register && !(op == 0xf7 && (operand->reg & 7) < 2)) {
        flow_write(at, operand->rm);
    } else if (op == 0xc7) {
        if (flow_slot(at, operand) == at->return_slot)
            at->return_slot = FLOW_NOWHERE;
    } else if (op == 0x87) {
        flow_write(at, operand->reg);
        if (operand->is_register)
            flow_write(at, operand->rm);
    }
}

static void flow_one_byte(struct flow *at, const uint8_t *code, unsigned rex)
{
    const uint8_t op = code[0];
    const unsigned low = (op & 7) | (rex & 1) << 3;
    const struct operand operand = flow_operand(code + 1, rex);
    const int32_t slot = flow_slot(at, &operand);
    int32_t constant = 0;

    if ((op & 0xf8) == 0x50) {
        flow_push(at, low);
    } else if ((op & 0xf8) == 0x58) {
        flow_pop(at, low);
    } else if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && (operand.reg & 7) == 6)) {
        at->below += 8;
        if (at->has_sp && (at->below == at->return_slot || at->below == at->fp_slot))
            at->has_sp = false;
    } else if (op == 0x9d) {
        at->below -= 8;
    } else if (op == 0x8f) { /* pop to a place, counted from the stack pointer afterwards */
        at->below -= 8;
        if (at->has_sp && flow_slot(at, &operand) == at->return_slot)
            at->return_slot = FLOW_NOWHERE;
    } else if (op == 0x89) {
        if (operand.is_register)
            flow_copy(at, operand.rm, operand.reg);
        else
            flow_store(at, operand.reg, slot);
    } else if (op == 0x8b) {
        if (operand.is_register)
            flow_copy(at, operand.reg, operand.rm);
        else
            flow_load(at, operand.reg, slot);
        if (flow_is_poll_stub && !operand.is_register && operand.rm == FLOW_R15 &&
            operand.reg == FLOW_RBX)
            at->returns |= UINT64_C(1) << FLOW_RBX;
    } else if (op == 0x8d) {
        flow_lea(at, &operand);
    } else if (op == 0x83 || op == 0x81) {
        if (op == 0x83)
            constant = (int8_t)code[2];
        else
            memcpy(&constant, code + 2, sizeof constant);
        flow_group(at, &operand, constant);
    } else if (op == 0xc9) { /* leave */
        flow_copy(at, FLOW_SP, FLOW_FP);
        flow_pop(at, FLOW_FP);
    } else if (op == 0xe8 || (op == 0xff && (operand.reg & 7) == 2)) {
        at->returns &= FLOW_KEPT;
        at->senders &= FLOW_KEPT;
        at->entries &= FLOW_KEPT;
    } else {
        flow_compute(at, code, low, &operand);
    }
}

static void flow_follow(struct flow *at, const uint8_t *code, size_t length_bytes)
{
    const uint8_t *end = code + length_bytes;
    uint8_t bytes[16] = {0};
    unsigned rex = 0;

    while (code < end && (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || *code == 0xf0))
        code++;
    if (code < end && (*code & 0xf0) == 0x40)
        rex = *code++;
    if (code == end || *code == 0xc4 || *code == 0xc5 || *code == 0x62)
        return; /* of vectors */
    memcpy(bytes, code, (size_t)(end - code));
    if (bytes[0] == 0x0f)
        flow_two_bytes(at, bytes, rex);
    else
        flow_one_byte(at, bytes, rex);
}
