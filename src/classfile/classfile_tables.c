/* The tables of a method's code that name places in it. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

/* ---- reading ---- */

static uint32_t number_of(const struct classfile_work *work, uint32_t pc)
{
    return pc <= work->code.length_bytes ? work->number_at[pc] : 0;
}

/* Number of the instruction that `pc` lies in. */
static uint32_t number_around(const struct classfile_work *work, uint32_t pc)
{
    while (work->number_at[pc] == 0)
        pc--;
    return work->number_at[pc] - 1;
}

static bool read_exception(struct classfile_work *work, struct classfile_in *in)
{
    const uint32_t start = number_of(work, classfile_in_u2(in));
    const uint32_t end = number_of(work, classfile_in_u2(in));
    const uint32_t handler = number_of(work, classfile_in_u2(in));

    classfile_in_skip(in, 2);
    if (in->is_failed || start == 0 || end <= start || handler == 0 || handler > work->count)
        return false;
    work->instructions[start - 1].marks |= CLASSFILE_MARK_RANGE_BEGINS;
    work->instructions[end - 1].marks |= CLASSFILE_MARK_RANGE_ENDS;
    /* A handler's range may end anywhere; each instruction is marked once for all of them: see mark_ranges. */
    return true;
}

/*
 * Marks what lies in ranges. Each instruction is visited as often as ranges cover it, up to a limit of the whole: beyond it
 * all are marked, and nothing is put where that would matter.
 */
static void mark_ranges(struct classfile_work *work)
{
    const uint8_t *at = work->file->bytes + work->exceptions_offset_bytes + 2;
    uint32_t left = 4u * CLASSFILE_CODE_LIMIT_BYTES;

    for (uint32_t i = 0; i < work->exception_count; i++, at += 8) {
        const uint32_t start = work->number_at[classfile_u2(at)] - 1;
        const uint32_t end = work->number_at[classfile_u2(at + 2)] - 1;
        const uint32_t handler = work->number_at[classfile_u2(at + 4)] - 1;
        const bool is_own = start <= handler && handler < end;

        if (end - start > left) {
            for (uint32_t k = 0; k < work->count; k++)
                work->instructions[k].marks |=
                    CLASSFILE_MARK_IN_RANGE | CLASSFILE_MARK_SELF_PROTECTED;
            return;
        }
        left -= end - start;
        for (uint32_t k = start; k < end; k++)
            work->instructions[k].marks |=
                CLASSFILE_MARK_IN_RANGE |
                (is_own && k >= handler ? CLASSFILE_MARK_SELF_PROTECTED : 0);
    }
}

static bool read_lines(struct classfile_work *work, const struct classfile_attribute *attribute)
{
    struct classfile_in in = {.bytes = work->file->bytes,
                              .at_bytes = attribute->offset_bytes,
                              .end_bytes = attribute->offset_bytes + attribute->length_bytes};
    const uint16_t count = classfile_in_u2(&in);

    if (attribute->length_bytes != 2 + 4u * count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t pc = classfile_in_u2(&in);
        const uint16_t line = classfile_in_u2(&in);

        if (pc >= work->code.length_bytes)
            return false;

        const uint32_t number = work->number_at[pc];
        if (number == 0)
            continue;
        work->instructions[number - 1].marks |= CLASSFILE_MARK_LINE;
        work->instructions[number - 1].line = line;
    }
    return true;
}

/* start, length and six more bytes each: LocalVariableTable, LocalVariableTypeTable. */
static bool are_locals_sound(const struct classfile_work *work,
                             const struct classfile_attribute *attribute)
{
    const uint8_t *at = work->file->bytes + attribute->offset_bytes;

    if (attribute->length_bytes < 2 || attribute->length_bytes != 2 + 10u * classfile_u2(at))
        return false;
    for (uint32_t left = classfile_u2(at); left != 0; left--, at += 10) {
        if ((uint32_t)classfile_u2(at + 2) + classfile_u2(at + 4) > work->code.length_bytes)
            return false;
    }
    return true;
}

static bool is_type_annotations(struct classfile_text name)
{
    return classfile_is_text(name, "RuntimeVisibleTypeAnnotations") ||
           classfile_is_text(name, "RuntimeInvisibleTypeAnnotations");
}

static bool is_locals(struct classfile_text name)
{
    return classfile_is_text(name, "LocalVariableTable") ||
           classfile_is_text(name, "LocalVariableTypeTable");
}

static enum classfile_verdict read_attribute(struct classfile_work *work, struct classfile_in *in)
{
    const struct classfile *file = work->file;
    const uint16_t name_index = classfile_in_u2(in);
    struct classfile_attribute attribute = {.length_bytes = classfile_in_u4(in)};

    attribute.offset_bytes = in->at_bytes;
    attribute.name = classfile_text_of(file, name_index);
    classfile_in_skip(in, attribute.length_bytes);
    if (in->is_failed || classfile_tag_of(file, name_index) != CLASSFILE_TAG_UTF8)
        return CLASSFILE_BAD_TABLE;
    if (classfile_is_text(attribute.name, "LineNumberTable") && !read_lines(work, &attribute))
        return CLASSFILE_BAD_TABLE;
    if (is_locals(attribute.name) && !are_locals_sound(work, &attribute))
        return CLASSFILE_BAD_TABLE;
    /* Before version 50 it means nothing. Source: chapter 4.7.4. */
    if (file->major >= 50 && classfile_is_text(attribute.name, "StackMapTable")) {
        if (work->has_frames || attribute.length_bytes < 2)
            return CLASSFILE_BAD_FRAME;
        work->has_frames = true;
        work->frames_offset_bytes = attribute.offset_bytes;
    }
    return CLASSFILE_OK;
}

enum classfile_verdict classfile_tables_read(struct classfile_work *work)
{
    struct classfile_in in = {
        .bytes = work->file->bytes,
        .at_bytes = (uint32_t)(work->code.bytes - work->file->bytes) + work->code.length_bytes,
        .end_bytes = work->method->code_offset_bytes + work->method->code_bytes};

    work->exceptions_offset_bytes = in.at_bytes;
    work->exception_count = classfile_in_u2(&in);
    for (uint32_t i = 0; i < work->exception_count; i++) {
        if (!read_exception(work, &in))
            return CLASSFILE_BAD_TABLE;
    }
    mark_ranges(work);
    work->attributes.offset_bytes = in.at_bytes;
    work->attributes.count = classfile_in_u2(&in);
    for (uint32_t i = 0; i < work->attributes.count && !in.is_failed; i++) {
        const enum classfile_verdict verdict = read_attribute(work, &in);

        if (verdict != CLASSFILE_OK)
            return verdict;
    }
    return in.is_failed || in.at_bytes != in.end_bytes ? CLASSFILE_BAD_TABLE : CLASSFILE_OK;
}

/* ---- writing ---- */

/* Where a place in the old code lies, which may be in the middle of an instruction. */
static uint32_t moved(const struct classfile_work *work, uint32_t pc)
{
    const struct classfile_instruction *one = &work->instructions[number_around(work, pc)];

    return pc == one->pc ? one->place_pc : one->new_pc + (pc - one->pc);
}

/* The beginning of what has a line or a local: of the method's first instruction, the entry. */
static uint32_t moved_begin(const struct classfile_work *work, uint32_t pc)
{
    return pc == 0 ? 0 : moved(work, pc);
}

static void put_exceptions(const struct classfile_work *work, struct classfile_out *out)
{
    const uint8_t *at = work->file->bytes + work->exceptions_offset_bytes + 2;
    const struct classfile_instruction *all = work->instructions;

    classfile_out_u2(out, work->exception_count + (work->handler_bytes != 0));
    for (uint32_t i = 0; i < work->exception_count; i++, at += 8) {
        const uint32_t start = work->number_at[classfile_u2(at)] - 1;
        const uint32_t end = work->number_at[classfile_u2(at + 2)] - 1;
        const uint32_t handler = work->number_at[classfile_u2(at + 4)] - 1;

        classfile_out_u2(out, start > 0 && all[start - 1].opcode == CLASSFILE_OP_MONITORENTER
                                  ? all[start - 1].end_pc
                                  : all[start].place_pc);
        classfile_out_u2(out, all[end - 1].opcode == CLASSFILE_OP_MONITOREXIT ? all[end - 1].end_pc
                                                                              : all[end].place_pc);
        classfile_out_u2(out, all[handler].place_pc);
        classfile_out_u2(out, classfile_u2(at + 6));
    }
    if (work->handler_bytes == 0)
        return;
    classfile_out_u2(out, all[work->protected_from].place_pc);
    classfile_out_u2(out, work->body_end_pc);
    classfile_out_u2(out, work->body_end_pc);
    classfile_out_u2(out, 0);
}

static void put_lines(const struct classfile_work *work,
                      const struct classfile_attribute *attribute, struct classfile_out *out)
{
    const uint8_t *at = work->file->bytes + attribute->offset_bytes;

    classfile_out_bytes(out, at, 2);
    for (uint32_t left = classfile_u2(at); left != 0; left--, at += 4) {
        classfile_out_u2(out, moved_begin(work, classfile_u2(at + 2)));
        classfile_out_bytes(out, at + 4, 2);
    }
}

/* start, length at `at`. */
static void put_range(const struct classfile_work *work, const uint8_t *at,
                      struct classfile_out *out)
{
    const uint32_t start = classfile_u2(at), end = start + classfile_u2(at + 2);
    const uint32_t new_start = moved_begin(work, start);
    const uint32_t new_end =
        end == work->code.length_bytes ? work->body_end_pc : moved_begin(work, end);

    classfile_out_u2(out, new_start);
    classfile_out_u2(out, new_end - new_start);
}

static void put_locals(const struct classfile_work *work,
                       const struct classfile_attribute *attribute, struct classfile_out *out)
{
    const uint8_t *at = work->file->bytes + attribute->offset_bytes;

    classfile_out_bytes(out, at, 2);
    for (uint32_t left = classfile_u2(at); left != 0; left--, at += 10) {
        put_range(work, at + 2, out);
        classfile_out_bytes(out, at + 6, 6);
    }
}

/*
 * One annotation's target, of those inside of code; its rest names no place. False: it is not understood, and what was
 * written of it is taken back by the caller.
 * Source: chapter 4.7.20.1.
 */
static bool put_target(const struct classfile_work *work, struct classfile_in *in,
                       struct classfile_out *out)
{
    const uint8_t kind = classfile_in_u1(in);

    classfile_out_u1(out, kind);
    if (kind == 0x40 || kind == 0x41) {
        const uint16_t count = classfile_in_u2(in);

        classfile_out_u2(out, count);
        for (uint32_t i = 0; i < count && !in->is_failed; i++) {
            const uint8_t *at = classfile_in_take(in, 6);

            if (in->is_failed ||
                (uint32_t)classfile_u2(at) + classfile_u2(at + 2) > work->code.length_bytes)
                return false;
            put_range(work, at, out);
            classfile_out_bytes(out, at + 4, 2);
        }
        return !in->is_failed;
    }
    if (kind == 0x42) {
        classfile_out_u2(out, classfile_in_u2(in)); /* number of an exception: they keep theirs */
        return !in->is_failed;
    }
    if (kind < 0x43 || kind > 0x4b)
        return false;

    const uint16_t pc = classfile_in_u2(in);
    if (in->is_failed || pc >= work->code.length_bytes)
        return false;
    /* It is of the instruction, not of what was put before it. */
    classfile_out_u2(out, work->number_at[pc] != 0
                              ? work->instructions[work->number_at[pc] - 1].new_pc
                              : moved(work, pc));
    if (kind >= 0x47)
        classfile_out_u1(out, classfile_in_u1(in));
    return !in->is_failed;
}

static void put_type_annotations(const struct classfile_work *work,
                                 const struct classfile_attribute *attribute,
                                 struct classfile_out *out)
{
    struct classfile_in in = {.bytes = work->file->bytes,
                              .at_bytes = attribute->offset_bytes,
                              .end_bytes = attribute->offset_bytes + attribute->length_bytes};
    const uint32_t begin_bytes = out->used_bytes;
    const uint16_t count = classfile_in_u2(&in);

    classfile_out_u2(out, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!put_target(work, &in, out))
            break;

        const uint32_t from_bytes = in.at_bytes;
        classfile_in_skip(&in, 2u * classfile_in_u1(&in)); /* type_path */
        classfile_in_skip(&in, 2);                         /* type */
        classfile_skip_annotation(&in, 0);
        if (in.is_failed)
            break;
        classfile_out_bytes(out, in.bytes + from_bytes, in.at_bytes - from_bytes);
    }
    if (!out->is_failed && !in.is_failed &&
        out->used_bytes - begin_bytes == attribute->length_bytes)
        return;
    /* What is not understood is carried as it is: nothing in the JVM reads it before a program asks for it. */
    if (out->used_bytes > begin_bytes)
        out->used_bytes = begin_bytes;
    classfile_out_bytes(out, in.bytes + attribute->offset_bytes, attribute->length_bytes);
}

/* A StackMapTable, which alone may change its length. */
static void put_frames(struct classfile_work *work, uint16_t name_index, struct classfile_out *out)
{
    classfile_out_u2(out, name_index);
    classfile_out_u4(out, 0);

    const uint32_t begin_bytes = out->used_bytes;
    classfile_frames_put(work, out);
    if (!out->is_failed)
        classfile_set_u4(out->bytes + begin_bytes - 4, out->used_bytes - begin_bytes);
}

void classfile_tables_put(struct classfile_work *work, struct classfile_out *out)
{
    const struct classfile *file = work->file;
    const bool needs_frames = !work->has_frames && file->major >= 50 &&
                              (work->handler_bytes != 0 || work->far_count != 0);
    struct classfile_cursor at = {0};
    struct classfile_attribute attribute;

    put_exceptions(work, out);
    classfile_out_u2(out, work->attributes.count + needs_frames);
    while (classfile_next_attribute(file, work->attributes, &at, &attribute)) {
        const uint8_t *head = file->bytes + attribute.offset_bytes - 6;

        if (work->has_frames && attribute.offset_bytes == work->frames_offset_bytes) {
            put_frames(work, classfile_u2(head), out);
            continue;
        }
        classfile_out_bytes(out, head, 6);
        if (classfile_is_text(attribute.name, "LineNumberTable"))
            put_lines(work, &attribute, out);
        else if (is_locals(attribute.name))
            put_locals(work, &attribute, out);
        else if (is_type_annotations(attribute.name))
            put_type_annotations(work, &attribute, out);
        else
            classfile_out_bytes(out, head + 6, attribute.length_bytes);
    }
    if (needs_frames)
        put_frames(work,
                   classfile_add_text(work->additions, "StackMapTable", strlen("StackMapTable")),
                   out);
}
