/*
 * Frames of stacks, and stacks of a generation; dump.
 *
 * A stack is a list of keys of frames, each of which is a constant: a frame of a hot method takes one byte in each stack, and the same frame
 * stands in many (docs/adr/0073). In dialects whose readers take stacks as they always were, frames stand in the stack.
 */
#include "generation/generation.h"
#include "recording/recording_internal.h"

struct recording_frame recording_frame_of(const struct recording_take *take, jw_frame frame)
{
    struct recording_frame told = {.kind = jw_frame_kind_of(frame), .line = -1};

    switch (told.kind) {
    case JW_FRAME_INTERPRETED:
    case JW_FRAME_COMPILED:
    case JW_FRAME_INLINED:
        told.line =
            recording_frame_line(take->generation, frame, take->recording->config.unsigned5_bias);
        told.bci = jw_frame_bci(frame) >= 0 ? jw_frame_bci(frame) : JW_BCI_UNKNOWN;
        break;
    case JW_FRAME_JAVA_NATIVE:
    case JW_FRAME_NATIVE:
    case JW_FRAME_KERNEL:
    case JW_FRAME_MARK:
    case JW_FRAME_CLASS:
    case JW_FRAME_COMPILING:
    case JW_FRAME_ADDRESS:
        break;
    }
    return told;
}

/* -1, as the JDK has it, where Java code has no line. Code that cannot have one gets 0, as in recordings of other profilers: -1 takes
 * five bytes, and a third of such a frame (docs/adr/0050). */
static int told_line(const struct recording_frame *frame)
{
    return frame->line < 0 && frame->kind > JW_FRAME_INLINED ? 0 : frame->line;
}

static void put_fields(const struct recording_frame_fields *fields, struct jfr_buffer *out)
{
    jfr_put_varint(out, fields->method);
    jfr_put_int(out, fields->line);
    jfr_put_int(out, fields->bci);
    jfr_put_varint(out, fields->type);
}

void recording_put_frame_fields(struct recording *recording,
                                const struct recording_frame_fields *fields)
{
    struct recording_names *names = &recording->names;

    if (recording->has_frames_in_line) {
        put_fields(fields, &recording->stack);
        return;
    }
    put_fields(fields, &names->scratch);
    jfr_put_varint(&recording->stack, recording_frame_constant(names, &names->scratch));
}

static struct recording_frame_fields fields_of(struct recording *recording, uint64_t method,
                                               const struct recording_frame *frame)
{
    if (method == 0)
        method = recording_mark_method(&recording->names, JW_MARK_UNREADABLE_METHOD);
    return (struct recording_frame_fields){.method = method,
                                           .line = told_line(frame),
                                           .bci = frame->bci,
                                           .type = recording->names.frame_types[frame->kind]};
}

void recording_put_frame(struct recording *recording, uint64_t method,
                         const struct recording_frame *frame)
{
    const struct recording_frame_fields fields = fields_of(recording, method, frame);

    recording_put_frame_fields(recording, &fields);
}

static uint64_t receiver_key(struct recording_take *take, uint32_t name)
{
    const struct recording_method told = recording_receiver_method(take->generation, name);

    return recording_method_key(&take->recording->names, &told);
}

static uint64_t address_key(struct recording_names *names, uintptr_t pc)
{
    char text[RECORDING_ADDRESS_BYTES];
    const struct recording_method told = recording_address_method(pc, text);

    return recording_method_key(names, &told);
}

uint64_t recording_frame_method(struct recording_take *take, jw_frame frame)
{
    struct recording_names *names = &take->recording->names;

    switch (jw_frame_kind_of(frame)) {
    case JW_FRAME_INTERPRETED:
    case JW_FRAME_COMPILED:
    case JW_FRAME_INLINED:
    case JW_FRAME_JAVA_NATIVE:
    case JW_FRAME_COMPILING:
        return recording_take_method(take, jw_frame_method(frame));
    case JW_FRAME_NATIVE:
    case JW_FRAME_KERNEL:
        return recording_native_method(names, jw_frame_pc(frame));
    case JW_FRAME_MARK:
        return recording_mark_method(names, jw_frame_mark_of(frame));
    case JW_FRAME_CLASS:
        return receiver_key(take, jw_frame_class_name(frame));
    case JW_FRAME_ADDRESS:
        return address_key(names, jw_frame_pc(frame));
    }
    return 0;
}

/* In each take once: the texts of a mark are four look-ups. */
static uint64_t unknown_native(struct recording_names *names)
{
    if (names->unknown_native == 0)
        names->unknown_native = recording_mark_method(names, JW_MARK_UNKNOWN_NATIVE);
    return names->unknown_native;
}

void recording_frame_told(struct recording_take *take, jw_frame frame,
                          struct recording_frame_fields *fields)
{
    struct recording *recording = take->recording;
    struct recording_frame told = recording_frame_of(take, frame);
    const uint64_t method = recording_frame_method(take, frame);

    if ((told.kind == JW_FRAME_NATIVE || told.kind == JW_FRAME_KERNEL) &&
        method == unknown_native(&recording->names))
        told.kind = JW_FRAME_MARK;
    *fields = fields_of(recording, method, &told);
}

uint64_t recording_frame_key(struct recording_take *take, jw_frame frame)
{
    struct recording *recording = take->recording;
    struct recording_names *names = &recording->names;
    uint64_t *known = recording_known_frame(names, frame);

    if (*known != 0)
        return *known - 1;

    struct recording_frame_fields fields;
    recording_frame_told(take, frame, &fields);
    put_fields(&fields, &names->scratch);
    const uint64_t key = recording_frame_constant(names, &names->scratch);
    *known = key + 1;
    return key;
}

static void put_frame(struct recording_take *take, jw_frame frame)
{
    struct recording *recording = take->recording;

    if (recording->has_frames_in_line) {
        struct recording_frame_fields fields;

        recording_frame_told(take, frame, &fields);
        put_fields(&fields, &recording->stack);
        return;
    }
    jfr_put_varint(&recording->stack, recording_frame_key(take, frame));
}

uint64_t recording_part_of_trace(struct recording_take *take, const struct store_trace *trace,
                                 uint32_t first)
{
    struct recording *recording = take->recording;

    /* An event without a stack names none: viewers stumble over a stack without frames. */
    if (trace->frame_count <= first)
        return 0;
    jfr_put_u8(&recording->stack, (trace->flags & STORE_TRUNCATED) != 0);
    jfr_put_varint(&recording->stack, trace->frame_count - first);
    for (uint32_t i = first; i < trace->frame_count; i++)
        put_frame(take, trace->frames[i]);
    return recording_constant(&recording->names, JFR_TYPE_STACK_TRACE, &recording->stack);
}
