/*
 * StackMapTable: frames move with their instructions; those of handlers and far branches are added whole. Context: hook, tool.
 * Source: chapter 4.7.4.
 */
#include "classfile/classfile_work_internal.h"

enum form {
    FORM_SAME_LAST = 63,
    FORM_SAME_1 = 64,
    FORM_SAME_1_LAST = 127,
    FORM_SAME_1_EXTENDED = 247,
    FORM_CHOP = 248,
    FORM_CHOP_LAST = 250,
    FORM_SAME_EXTENDED = 251,
    FORM_APPEND = 252,
    FORM_APPEND_LAST = 254,
    FORM_FULL = 255,
};

enum type {
    TYPE_TOP = 0,
    TYPE_INTEGER = 1,
    TYPE_FLOAT = 2,
    TYPE_DOUBLE = 3,
    TYPE_LONG = 4,
    TYPE_UNINITIALIZED_THIS = 6,
    TYPE_OBJECT = 7,
    TYPE_UNINITIALIZED = 8,
};

/* ---- reading ---- */

static bool read_type(const struct classfile_work *work, struct classfile_in *in)
{
    const uint8_t tag = classfile_in_u1(in);

    if (tag == TYPE_OBJECT)
        return classfile_tag_of(work->file, classfile_in_u2(in)) == CLASSFILE_TAG_CLASS;
    if (tag == TYPE_UNINITIALIZED) {
        const uint16_t pc = classfile_in_u2(in);

        return pc < work->code.length_bytes && work->number_at[pc] != 0 &&
               work->instructions[work->number_at[pc] - 1].opcode == CLASSFILE_OP_NEW;
    }
    return tag < TYPE_OBJECT;
}

static bool read_types(const struct classfile_work *work, struct classfile_in *in, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!read_type(work, in) || in->is_failed)
            return false;
    }
    return true;
}

/* What follows form and offset. */
static bool read_rest(const struct classfile_work *work, struct classfile_in *in, uint8_t form)
{
    if ((form >= FORM_SAME_1 && form <= FORM_SAME_1_LAST) || form == FORM_SAME_1_EXTENDED)
        return read_types(work, in, 1);
    if (form >= FORM_APPEND && form <= FORM_APPEND_LAST)
        return read_types(work, in, form - (uint32_t)FORM_SAME_EXTENDED);
    if (form == FORM_FULL)
        return read_types(work, in, classfile_in_u2(in)) &&
               read_types(work, in, classfile_in_u2(in));
    return true;
}

enum classfile_verdict classfile_frames_read(struct classfile_work *work)
{
    if (!work->has_frames)
        return CLASSFILE_OK;

    const uint8_t *length = work->file->bytes + work->frames_offset_bytes - 4;
    struct classfile_in in = {.bytes = work->file->bytes,
                              .at_bytes = work->frames_offset_bytes,
                              .end_bytes = work->frames_offset_bytes + classfile_u4(length)};
    uint32_t pc = 0;

    work->frame_count = classfile_in_u2(&in);
    work->frames =
        classfile_memory_take(work->memory, sizeof *work->frames * (work->frame_count + 1));
    if (work->frames == NULL)
        return CLASSFILE_NO_MEMORY;
    for (uint32_t i = 0; i < work->frame_count; i++) {
        const uint8_t form = classfile_in_u1(&in);
        uint32_t delta = form & 63;

        if (form > FORM_SAME_1_LAST)
            delta = classfile_in_u2(&in);
        pc += delta + (i != 0);
        if (in.is_failed || (form > FORM_SAME_1_LAST && form < FORM_SAME_1_EXTENDED) ||
            pc >= work->code.length_bytes || work->number_at[pc] == 0)
            return CLASSFILE_BAD_FRAME;

        const uint32_t begin_bytes = in.at_bytes;
        if (!read_rest(work, &in, form) || in.is_failed)
            return CLASSFILE_BAD_FRAME;
        work->frames[i] = (struct classfile_frame){.at = work->number_at[pc] - 1,
                                                   .offset_bytes = begin_bytes,
                                                   .length_bytes = in.at_bytes - begin_bytes,
                                                   .form = form};
    }
    return in.at_bytes == in.end_bytes ? CLASSFILE_OK : CLASSFILE_BAD_FRAME;
}

bool classfile_frames_has(const struct classfile_work *work, uint32_t at)
{
    uint32_t low = 0, high = work->frame_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (work->frames[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < work->frame_count && work->frames[low].at == at;
}

/* ---- this ---- */

static uint32_t type_bytes(const uint8_t *at)
{
    return at[0] == TYPE_OBJECT || at[0] == TYPE_UNINITIALIZED ? 3 : 1;
}

/* Entries that the parameters have in a frame, without `this`. */
static uint32_t parameter_entries(const struct classfile_work *work)
{
    const struct classfile_text text =
        classfile_text_of(work->file, work->method->descriptor_index);
    const char *at = text.bytes + 1, *end = text.bytes + text.length_bytes;
    uint32_t words, count = 0;

    while (at != NULL && at < end && *at != ')') {
        at = classfile_skip_type(at, end, &words);
        count++;
    }
    return count;
}

/* What is known of uninitialised objects; never less than there are. */
struct uninitialised {
    bool has_this;   /* in locals or on the stack */
    uint32_t locals; /* others */
    uint32_t stack;
    uint32_t entries; /* of locals */
};

static const uint8_t *count_types(const uint8_t *at, uint32_t count, bool *has_this,
                                  uint32_t *others)
{
    for (uint32_t i = 0; i < count; i++) {
        *has_this |= at[0] == TYPE_UNINITIALIZED_THIS;
        *others += at[0] == TYPE_UNINITIALIZED;
        at += type_bytes(at);
    }
    return at;
}

static bool is_this(const struct classfile_work *work, const uint8_t *at)
{
    if (at[0] == TYPE_UNINITIALIZED_THIS)
        return true;
    if (at[0] != TYPE_OBJECT)
        return false;

    const struct classfile_text name = classfile_text_of(work->file, classfile_u2(at + 1));
    const struct classfile_text own = classfile_name(work->file);
    return name.length_bytes == own.length_bytes &&
           memcmp(name.bytes, own.bytes, own.length_bytes) == 0;
}

static void apply(struct classfile_work *work, const struct classfile_frame *frame,
                  struct uninitialised *known)
{
    const uint8_t *at = work->file->bytes + frame->offset_bytes;

    known->stack = 0;
    if (frame->form == FORM_FULL) {
        const uint32_t count = classfile_u2(at);

        *known = (struct uninitialised){.entries = count};
        if (count != 0 && !is_this(work, at + 2))
            work->keeps_this = false;
        at = count_types(at + 2, count, &known->has_this, &known->locals);
        count_types(at + 2, classfile_u2(at), &known->has_this, &known->stack);
    } else if (frame->form >= FORM_APPEND) {
        known->entries += frame->form - (uint32_t)FORM_SAME_EXTENDED;
        count_types(at, frame->form - (uint32_t)FORM_SAME_EXTENDED, &known->has_this,
                    &known->locals);
    } else if (frame->form >= FORM_CHOP && frame->form <= FORM_CHOP_LAST) {
        const uint32_t gone = FORM_SAME_EXTENDED - (uint32_t)frame->form;

        known->entries -= gone < known->entries ? gone : known->entries;
    } else if (frame->length_bytes != 0) {
        count_types(at, 1, &known->has_this, &known->stack);
    }
    if (known->entries == 0)
        work->keeps_this = false;
}

static bool calls_constructor(const struct classfile_work *work,
                              const struct classfile_instruction *one)
{
    if (one->opcode != CLASSFILE_OP_INVOKESPECIAL)
        return false;
    return classfile_is_text(
        classfile_reference_of(work->file, classfile_u2(work->code.bytes + one->pc + 1)).name,
        "<init>");
}

static bool ends_straight_code(uint8_t opcode)
{
    return opcode == CLASSFILE_OP_GOTO || opcode == CLASSFILE_OP_GOTO_W ||
           (opcode >= CLASSFILE_OP_RET && opcode <= CLASSFILE_OP_RETURN) ||
           opcode == CLASSFILE_OP_ATHROW;
}

/*
 * In straight code the n-th more call of a constructor than there are new objects, or uninitialised ones to begin with,
 * must have been that of `this`: each object is initialised once.
 */
static void mark_by_frames(struct classfile_work *work)
{
    struct uninitialised known = {.has_this = work->is_constructor,
                                  .entries = parameter_entries(work) + 1};
    uint32_t next = 0, others = 0;
    bool is_initialised = !work->is_constructor;

    for (uint32_t i = 0; i < work->count; i++) {
        struct classfile_instruction *one = &work->instructions[i];

        for (; next < work->frame_count && work->frames[next].at <= i; next++) {
            apply(work, &work->frames[next], &known);
            is_initialised = !known.has_this;
            others = known.locals + known.stack;
        }
        if (is_initialised) {
            one->marks |= CLASSFILE_MARK_INITIALISED;
        } else if (one->opcode == CLASSFILE_OP_NEW) {
            others++;
        } else if (calls_constructor(work, one)) {
            is_initialised = others == 0;
            others -= others != 0;
        }
        if (ends_straight_code(one->opcode))
            is_initialised = !work->is_constructor;
    }
}

/* Without frames: what is behind the first such call, when nothing jumps to where it stands or before, or from there. */
static void mark_straight(struct classfile_work *work)
{
    const uint8_t *at = work->file->bytes + work->exceptions_offset_bytes + 2;
    uint32_t others = 0, call = 0;

    for (; call < work->count; call++) {
        const struct classfile_instruction *one = &work->instructions[call];

        if (classfile_is_branch(one->opcode) || ends_straight_code(one->opcode))
            return;
        if (one->opcode == CLASSFILE_OP_NEW)
            others++;
        else if (calls_constructor(work, one) && others-- == 0)
            break;
    }
    for (uint32_t i = 0; i < work->exception_count; i++, at += 8) {
        if (work->number_at[classfile_u2(at + 4)] - 1 <= call)
            return;
    }
    for (uint32_t i = call + 1; i < work->count; i++) {
        const struct classfile_instruction *one = &work->instructions[i];

        /* Where a switch leads to is not looked at. */
        if ((classfile_is_branch(one->opcode) && one->target <= call) ||
            one->opcode == CLASSFILE_OP_TABLESWITCH || one->opcode == CLASSFILE_OP_LOOKUPSWITCH)
            return;
    }
    for (uint32_t i = call + 1; i < work->count; i++)
        work->instructions[i].marks |= CLASSFILE_MARK_INITIALISED;
}

void classfile_frames_mark(struct classfile_work *work)
{
    work->keeps_this = (work->method->access & CLASSFILE_STATIC) == 0 && !work->stores_first;
    if (work->is_constructor && !work->has_frames)
        mark_straight(work);
    else
        mark_by_frames(work);
}

/* ---- a frame whole ---- */

struct state {
    uint8_t *locals; /* three bytes each: type and index or place */
    uint8_t *stack;
    uint32_t local_count;
    uint32_t stack_count;
    uint32_t local_room;
    uint32_t stack_room;
    bool is_failed;
};

static void push(uint8_t *list, uint32_t *count, uint32_t room, bool *is_failed, uint8_t tag,
                 uint32_t data)
{
    if (*count == room) {
        *is_failed = true;
        return;
    }
    list[*count * 3] = tag;
    classfile_set_u2(list + (size_t)*count * 3 + 1, data);
    ++*count;
}

static void push_local(struct state *state, uint8_t tag, uint32_t data)
{
    push(state->locals, &state->local_count, state->local_room, &state->is_failed, tag, data);
}

/* Of a primitive type; L: an object. */
static uint8_t type_of(char letter)
{
    return letter == 'J'   ? TYPE_LONG
           : letter == 'D' ? TYPE_DOUBLE
           : letter == 'F' ? TYPE_FLOAT
           : letter == 'L' ? TYPE_OBJECT
                           : TYPE_INTEGER;
}

/* The frame that every method begins with. */
static void begin_state(struct classfile_work *work, struct state *state)
{
    const struct classfile_text text =
        classfile_text_of(work->file, work->method->descriptor_index);
    const char *at = text.bytes + 1, *end = text.bytes + text.length_bytes;
    uint32_t words;

    state->local_count = 0;
    state->stack_count = 0;
    if ((work->method->access & CLASSFILE_STATIC) == 0)
        push_local(state, work->is_constructor ? TYPE_UNINITIALIZED_THIS : TYPE_OBJECT,
                   work->file->this_index);
    while (at < end && *at != ')') {
        const char *behind = classfile_skip_type(at, end, &words);

        if (behind == NULL) {
            state->is_failed = true;
            return;
        }
        if (*at == 'L')
            push_local(
                state, TYPE_OBJECT,
                classfile_add_class_text(
                    work->additions, (struct classfile_text){at + 1, (uint32_t)(behind - at - 2)}));
        else if (*at == '[')
            push_local(state, TYPE_OBJECT,
                       classfile_add_class_text(
                           work->additions, (struct classfile_text){at, (uint32_t)(behind - at)}));
        else
            push_local(state, type_of(*at), 0);
        at = behind;
    }
}

static const uint8_t *push_types(struct state *state, bool is_stack, const uint8_t *at,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t data = type_bytes(at) == 3 ? classfile_u2(at + 1) : 0;

        if (is_stack)
            push(state->stack, &state->stack_count, state->stack_room, &state->is_failed, at[0],
                 data);
        else
            push_local(state, at[0], data);
        at += type_bytes(at);
    }
    return at;
}

static void step_state(const struct classfile_work *work, const struct classfile_frame *frame,
                       struct state *state)
{
    const uint8_t *at = work->file->bytes + frame->offset_bytes;

    state->stack_count = 0;
    if (frame->form == FORM_FULL) {
        state->local_count = 0;
        at = push_types(state, false, at + 2, classfile_u2(at));
        push_types(state, true, at + 2, classfile_u2(at));
    } else if (frame->form >= FORM_APPEND) {
        push_types(state, false, at, frame->form - (uint32_t)FORM_SAME_EXTENDED);
    } else if (frame->form >= FORM_CHOP && frame->form <= FORM_CHOP_LAST) {
        const uint32_t gone = FORM_SAME_EXTENDED - (uint32_t)frame->form;

        state->is_failed |= gone > state->local_count;
        state->local_count -= gone <= state->local_count ? gone : 0;
    } else if (frame->length_bytes != 0) {
        push_types(state, true, at, 1);
    }
}

/* ---- writing ---- */

static void put_type(const struct classfile_work *work, uint8_t tag, uint32_t data,
                     struct classfile_out *out)
{
    classfile_out_u1(out, tag);
    if (tag == TYPE_OBJECT)
        classfile_out_u2(out, data);
    else if (tag ==
             TYPE_UNINITIALIZED) /* it names the `new` itself, behind what was put before it */
        classfile_out_u2(out, work->instructions[work->number_at[data] - 1].new_pc);
}

static const uint8_t *put_types(const struct classfile_work *work, const uint8_t *at,
                                uint32_t count, struct classfile_out *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bytes = type_bytes(at);

        put_type(work, at[0], bytes == 3 ? classfile_u2(at + 1) : 0, out);
        at += bytes;
    }
    return at;
}

/* The end of a frame, with what it says of uninitialised objects moved. */
static void put_rest(const struct classfile_work *work, const struct classfile_frame *frame,
                     struct classfile_out *out)
{
    const uint8_t *at = work->file->bytes + frame->offset_bytes;

    if (frame->form == FORM_FULL) {
        const uint32_t locals = classfile_u2(at);

        classfile_out_u2(out, locals);
        at = put_types(work, at + 2, locals, out);
        classfile_out_u2(out, classfile_u2(at));
        put_types(work, at + 2, classfile_u2(at), out);
    } else if (frame->form >= FORM_APPEND) {
        put_types(work, at, frame->form - (uint32_t)FORM_SAME_EXTENDED, out);
    } else if (frame->length_bytes != 0) {
        put_types(work, at, 1, out);
    }
}

static void put_moved(const struct classfile_work *work, const struct classfile_frame *frame,
                      uint32_t delta, struct classfile_out *out)
{
    if (frame->form <= FORM_SAME_1_LAST && delta <= FORM_SAME_LAST) {
        classfile_out_u1(out, (frame->form & 64u) | delta);
    } else {
        classfile_out_u1(out, frame->form <= FORM_SAME_LAST     ? FORM_SAME_EXTENDED
                              : frame->form <= FORM_SAME_1_LAST ? FORM_SAME_1_EXTENDED
                                                                : frame->form);
        classfile_out_u2(out, delta);
    }
    if (frame->length_bytes != 0)
        put_rest(work, frame, out);
}

/* Locals that are kept lie behind the method's own, of which a frame may tell fewer. */
static void push_kept(const struct classfile_work *work, struct state *state)
{
    uint32_t words = 0;

    if (work->kept_count == 0)
        return;
    for (uint32_t i = 0; i < state->local_count; i++) {
        const uint8_t tag = state->locals[i * 3];

        words += tag == TYPE_LONG || tag == TYPE_DOUBLE ? 2 : 1;
    }
    for (; words < work->code.local_count; words++)
        push_local(state, TYPE_TOP, 0);
    for (uint32_t i = 0; i < work->kept_count; i++)
        push_local(state, type_of(work->kept[i]), work->kept_class);
}

static bool open_state(struct classfile_work *work, struct state *state)
{
    /* A parameter may take two words and is one entry: there are not more entries than words. */
    *state = (struct state){.local_room = work->code.local_count + 1u + work->kept_count,
                            .stack_room = work->code.stack_count + 1u};
    state->locals = classfile_memory_take(work->memory, (size_t)state->local_room * 3);
    state->stack = classfile_memory_take(work->memory, (size_t)state->stack_room * 3);
    return state->locals != NULL && state->stack != NULL;
}

static void put_state(const struct classfile_work *work, const struct state *state,
                      struct classfile_out *out)
{
    out->is_failed |= state->is_failed;
    classfile_out_u2(out, state->local_count);
    for (uint32_t i = 0; i < state->local_count; i++)
        put_type(work, state->locals[i * 3], classfile_u2(state->locals + i * 3 + 1), out);
    classfile_out_u2(out, state->stack_count);
    for (uint32_t i = 0; i < state->stack_count; i++)
        put_type(work, state->stack[i * 3], classfile_u2(state->stack + i * 3 + 1), out);
}

static void put_far(struct classfile_work *work, struct state *state,
                    const struct classfile_far *far, struct classfile_out *out)
{
    begin_state(work, state);
    for (uint32_t i = 0; i < work->frame_count && work->frames[i].at <= far->target; i++)
        step_state(work, &work->frames[i], state);
    push_kept(work, state);
    put_state(work, state, out);
}

static void put_far_frames(struct classfile_work *work, uint32_t last_pc, bool is_first,
                           struct classfile_out *out)
{
    struct state state;

    if (!open_state(work, &state)) {
        out->is_failed = true;
        return;
    }
    for (uint32_t i = 0; i < work->far_count; i++) {
        const uint32_t pc = work->fars[i].pc;

        classfile_out_u1(out, FORM_FULL);
        classfile_out_u2(out, is_first ? pc : pc - last_pc - 1);
        put_far(work, &state, &work->fars[i], out);
        last_pc = pc;
        is_first = false;
    }
}

/* With locals that are kept no frame is as it was: each is written whole. */
static void put_frame(struct classfile_work *work, const struct classfile_frame *frame,
                      struct state *state, uint32_t delta, struct classfile_out *out)
{
    uint32_t own;

    if (work->kept_count == 0) {
        put_moved(work, frame, delta, out);
        return;
    }
    step_state(work, frame, state);
    own = state->local_count;
    push_kept(work, state);
    classfile_out_u1(out, FORM_FULL);
    classfile_out_u2(out, delta);
    put_state(work, state, out);
    state->local_count = own;
}

static void put_handler(struct classfile_work *work, struct state *state, uint32_t delta,
                        struct classfile_out *out)
{
    state->local_count = state->stack_count = 0;
    if (work->handler_has_this)
        push_local(state, TYPE_OBJECT, work->file->this_index);
    push_kept(work, state);
    push(state->stack, &state->stack_count, state->stack_room, &state->is_failed, TYPE_OBJECT,
         work->throwable);
    classfile_out_u1(out, FORM_FULL);
    classfile_out_u2(out, delta);
    put_state(work, state, out);
}

void classfile_frames_put(struct classfile_work *work, struct classfile_out *out)
{
    uint32_t last_pc = 0;
    bool is_first = true;
    struct state state;

    if (!open_state(work, &state)) {
        out->is_failed = true;
        return;
    }
    if (work->kept_count != 0)
        begin_state(work, &state);
    classfile_out_u2(out, work->frame_count + (work->handler_bytes != 0) + work->far_count);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        const uint32_t pc = work->instructions[work->frames[i].at].place_pc;

        put_frame(work, &work->frames[i], &state, is_first ? pc : pc - last_pc - 1, out);
        last_pc = pc;
        is_first = false;
    }
    if (work->handler_bytes != 0) {
        put_handler(work, &state, is_first ? work->body_end_pc : work->body_end_pc - last_pc - 1,
                    out);
        last_pc = work->body_end_pc;
        is_first = false;
    }
    if (work->far_count != 0)
        put_far_frames(work, last_pc, is_first, out);
}
