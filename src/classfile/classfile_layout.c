/* Where instructions come to lie, and the code with what was put between them. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

#define FAR_LIMIT      256u /* targets of conditional branches that reach too far */
#define FAR_BYTES      5u   /* goto_w */
#define FORWARD_LIMIT  32767
#define BACKWARD_LIMIT (-32768)

static uint32_t old_bytes(const struct classfile_instruction *one)
{
    return one[1].pc - one[0].pc;
}

static bool is_switch(uint8_t opcode)
{
    return opcode == CLASSFILE_OP_TABLESWITCH || opcode == CLASSFILE_OP_LOOKUPSWITCH;
}

static uint32_t padding(uint32_t pc)
{
    return 3 - pc % 4;
}

static void place(struct classfile_work *work)
{
    uint32_t pc = work->entry_bytes;

    for (uint32_t i = 0; i < work->count; i++) {
        struct classfile_instruction *one = &work->instructions[i];

        one->place_pc = pc;
        pc += one->before_bytes;
        one->new_pc = pc;
        if ((one->marks & CLASSFILE_MARK_WIDE) != 0)
            pc += FAR_BYTES;
        else if (is_switch(one->opcode))
            pc += old_bytes(one) - padding(one->pc) + padding(pc);
        else
            pc += old_bytes(one);
        one->end_pc = pc;
        pc += one->after_bytes;
    }
    work->instructions[work->count].place_pc = pc;
    work->instructions[work->count].new_pc = pc;
    work->body_end_pc = pc;
    if (work->handler_bytes != 0)
        pc += work->handler_bytes + 1;
    for (uint32_t i = 0; i < work->far_count; i++, pc += FAR_BYTES)
        work->fars[i].pc = pc;
    work->new_bytes = pc;
}

/* Number of the far branch to `target`, made if there is none; 0: there are too many. */
static uint16_t far_to(struct classfile_work *work, uint32_t target)
{
    for (uint32_t i = 0; i < work->far_count; i++) {
        if (work->fars[i].target == target)
            return (uint16_t)(i + 1);
    }
    if (work->fars == NULL)
        work->fars = classfile_memory_take(work->memory, sizeof *work->fars * FAR_LIMIT);
    if (work->fars == NULL || work->far_count == FAR_LIMIT)
        return 0;
    work->fars[work->far_count++] = (struct classfile_far){.target = target};
    return (uint16_t)work->far_count;
}

static uint32_t target_pc(const struct classfile_work *work,
                          const struct classfile_instruction *one)
{
    return one->far_branch != 0 ? work->fars[one->far_branch - 1].pc
                                : work->instructions[one->target].place_pc;
}

/*
 * A branch that reaches too far: goto and jsr have a long form. Of a condition the way leads over a goto_w behind the code,
 * where a frame like the one of its target is true; a turned condition would need one that nobody has told.
 */
static enum classfile_verdict lengthen(struct classfile_work *work,
                                       struct classfile_instruction *one)
{
    if (one->opcode == CLASSFILE_OP_GOTO || one->opcode == CLASSFILE_OP_JSR) {
        one->marks |= CLASSFILE_MARK_WIDE;
        return CLASSFILE_OK;
    }
    if (one->far_branch != 0)
        return CLASSFILE_TOO_FAR;
    if (work->file->major >= 50 && !classfile_frames_has(work, one->target))
        return CLASSFILE_NO_FRAME;
    one->far_branch = far_to(work, one->target);
    return one->far_branch != 0 ? CLASSFILE_OK : CLASSFILE_TOO_FAR;
}

enum classfile_verdict classfile_layout(struct classfile_work *work)
{
    bool is_settled = false;

    /* Each turn makes a branch longer, and none shorter. */
    while (!is_settled) {
        place(work);
        is_settled = true;
        if (work->new_bytes > CLASSFILE_CODE_LIMIT_BYTES)
            return CLASSFILE_TOO_LONG;
        if (work->new_bytes <= FORWARD_LIMIT)
            break;
        for (uint32_t i = 0; i < work->count; i++) {
            struct classfile_instruction *one = &work->instructions[i];

            if (!classfile_is_branch(one->opcode) || one->opcode >= CLASSFILE_OP_GOTO_W ||
                (one->marks & CLASSFILE_MARK_WIDE) != 0)
                continue;

            const int64_t reach = (int64_t)target_pc(work, one) - one->new_pc;
            if (reach >= BACKWARD_LIMIT && reach <= FORWARD_LIMIT)
                continue;

            const enum classfile_verdict verdict = lengthen(work, one);
            if (verdict != CLASSFILE_OK)
                return verdict;
            is_settled = false;
        }
    }
    if (work->code.length_bytes <= CLASSFILE_COMPILED_LIMIT_BYTES &&
        work->new_bytes > CLASSFILE_COMPILED_LIMIT_BYTES)
        return CLASSFILE_NOT_COMPILED;
    return CLASSFILE_OK;
}

/* ---- writing ---- */

static void put_offset(const struct classfile_work *work, const struct classfile_instruction *one,
                       const uint8_t *old_offset, struct classfile_out *out)
{
    const uint32_t target = one->pc + classfile_u4(old_offset);

    classfile_out_u4(out, work->instructions[work->number_at[target] - 1].place_pc - one->new_pc);
}

static void put_switch(const struct classfile_work *work, const struct classfile_instruction *one,
                       struct classfile_out *out)
{
    static const uint8_t zeros[3];
    const uint8_t *old = work->code.bytes + one->pc;
    const uint32_t old_padding = padding(one->pc), new_padding = padding(one->new_pc);
    const uint8_t *at = old + 1 + old_padding;
    const bool is_table = one->opcode == CLASSFILE_OP_TABLESWITCH;
    const uint32_t count =
        is_table ? classfile_u4(at + 8) - classfile_u4(at + 4) + 1 : classfile_u4(at + 4);

    classfile_out_u1(out, one->opcode);
    classfile_out_bytes(out, old + 1, old_padding < new_padding ? old_padding : new_padding);
    if (new_padding > old_padding)
        classfile_out_bytes(out, zeros, new_padding - old_padding);
    put_offset(work, one, at, out);
    classfile_out_bytes(out, at + 4, is_table ? 8 : 4);
    at += is_table ? 12 : 8;
    for (uint32_t i = 0; i < count; i++, at += is_table ? 4 : 8) {
        if (!is_table)
            classfile_out_bytes(out, at, 4);
        put_offset(work, one, is_table ? at : at + 4, out);
    }
}

static void put_branch(const struct classfile_work *work, const struct classfile_instruction *one,
                       struct classfile_out *out)
{
    const uint32_t reach = target_pc(work, one) - one->new_pc;

    if (one->opcode >= CLASSFILE_OP_GOTO_W || (one->marks & CLASSFILE_MARK_WIDE) != 0) {
        classfile_out_u1(out, one->opcode < CLASSFILE_OP_GOTO_W
                                  ? one->opcode - CLASSFILE_OP_GOTO + CLASSFILE_OP_GOTO_W
                                  : one->opcode);
        classfile_out_u4(out, reach);
    } else {
        classfile_out_u1(out, one->opcode);
        classfile_out_u2(out, reach);
    }
}

void classfile_layout_put(struct classfile_work *work, struct classfile_out *out)
{
    const uint8_t *inserted = work->inserted.bytes;
    const uint8_t *code = work->code.bytes;

    if (work->entry_bytes != 0)
        classfile_out_bytes(out, inserted + work->entry_offset_bytes, work->entry_bytes);
    for (uint32_t i = 0; i < work->count; i++) {
        const struct classfile_instruction *one = &work->instructions[i];

        if (one->before_bytes != 0)
            classfile_out_bytes(out, inserted + one->before_offset_bytes, one->before_bytes);
        if (classfile_is_branch(one->opcode))
            put_branch(work, one, out);
        else if (is_switch(one->opcode))
            put_switch(work, one, out);
        else
            classfile_out_bytes(out, code + one->pc, old_bytes(one));
        if (one->after_bytes != 0)
            classfile_out_bytes(out, inserted + one->after_offset_bytes, one->after_bytes);
    }
    if (work->handler_bytes != 0) {
        classfile_out_bytes(out, inserted + work->handler_offset_bytes, work->handler_bytes);
        classfile_out_u1(out, CLASSFILE_OP_ATHROW);
    }
    for (uint32_t i = 0; i < work->far_count; i++) {
        classfile_out_u1(out, CLASSFILE_OP_GOTO_W);
        classfile_out_u4(out, work->instructions[work->fars[i].target].place_pc - work->fars[i].pc);
    }
}
