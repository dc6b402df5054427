/*
 * Stacks that threads wait on, kept for later chunks of a JFR file; dump.
 *
 * A stack is kept as its frames with the methods told in full, so that any later chunk can have it, with
 * its constants, whatever became of classes and libraries meanwhile:
 *
 *     stack    struct stack_head, then struct stack_frame for each frame
 *     method   struct method_head, then the bytes of its three texts
 */
#include <string.h>

#include "base/counters.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_internal.h"

/* Numbers in the maps of a take, beside addresses and 0. */
#define NOT_KEPT  1u
#define NO_METHOD 2u

#define NO_TEXT UINT32_MAX

struct stack_head {
    uint32_t frame_count;
    uint32_t is_truncated;
};

struct stack_frame {
    struct recording_kept *method; /* NULL: a mark */
    int32_t line;
    int32_t bci;
    uint32_t kind; /* enum jw_frame_kind, or KIND_TOLD */
    uint32_t mark;
};

/* Of Java code, as the JVM tells it, which does not say whether it is compiled. */
#define KIND_TOLD JW_FRAME_KIND_LIMIT

struct method_head {
    uint32_t loader;
    uint32_t modifiers;
    uint32_t class_modifiers;
    uint32_t is_hidden;
    uint32_t is_native;
    uint32_t text_bytes[3]; /* of class, name and descriptor, which follow */
};

/* ---- what is kept ---- */

static const struct stack_frame *frames_of(const struct recording_kept *stack, uint32_t *count)
{
    const struct stack_head *head = recording_kept_bytes(stack);

    *count = head->frame_count;
    return (const struct stack_frame *)(head + 1);
}

void recording_release_methods(struct recording_idle *idle, const struct recording_kept *stack)
{
    uint32_t count;
    const struct stack_frame *frames = frames_of(stack, &count);

    for (uint32_t i = 0; i < count; i++)
        if (frames[i].method != NULL)
            (void)recording_let_go(&idle->methods, frames[i].method);
}

static void hold_methods(const struct recording_kept *stack)
{
    uint32_t count;
    const struct stack_frame *frames = frames_of(stack, &count);

    for (uint32_t i = 0; i < count; i++)
        if (frames[i].method != NULL)
            frames[i].method->holder_count++;
}

static uint64_t address_of(const struct recording_kept *kept)
{
    return kept == NULL ? NOT_KEPT : (uint64_t)(uintptr_t)kept;
}

/* A kept method, as a number of the maps of a take. */
static uint64_t keep_method(struct recording *recording, const struct recording_method *told)
{
    const struct recording_text texts[] = {told->class_name, told->name, told->descriptor};
    struct jfr_buffer *out = &recording->wall.scratch;
    struct method_head head = {
        .loader = told->loader,
        .modifiers = told->modifiers,
        .class_modifiers = told->class_modifiers,
        .is_hidden = told->is_hidden,
        .is_native = told->is_native,
    };

    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        head.text_bytes[i] = texts[i].bytes == NULL ? NO_TEXT : (uint32_t)texts[i].length_bytes;
    jfr_buffer_clear(out);
    jfr_put_bytes(out, &head, sizeof head);
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        if (texts[i].bytes != NULL)
            jfr_put_bytes(out, texts[i].bytes, texts[i].length_bytes);
    if (out->has_failed)
        return NOT_KEPT;
    return address_of(
        recording_idle_keep_method(&recording->wall.idle, out->bytes, out->used_bytes));
}

static uint64_t kept_java(struct recording_take *take, uint32_t id)
{
    struct recording *recording = take->recording;
    uint64_t *known = recording_ids_at(&recording->wall.methods, id);
    const struct method_record *record = method_record_get(take->generation->methods, id, NULL);

    if (known == NULL)
        return NOT_KEPT;
    if (*known == 0 && record == NULL)
        *known = NO_METHOD;
    if (*known == 0) {
        const struct recording_method told = recording_method_texts(take->generation, record);

        *known = keep_method(recording, &told);
    }
    return *known;
}

static uint64_t kept_native(struct recording *recording, uintptr_t pc)
{
    uint64_t *known = jw_map_put(&recording->wall.pcs, &pc, sizeof pc);
    struct recording_symbol symbol;

    if (known == NULL)
        return NOT_KEPT;
    if (*known == 0 && !recording_native_texts(&recording->config.sources, pc, &symbol))
        *known = NO_METHOD;
    if (*known == 0) {
        const struct recording_method told = recording_native_method_of(&symbol);

        *known = keep_method(recording, &told);
    }
    return *known;
}

static uint64_t kept_receiver(struct recording_take *take, uint32_t name)
{
    const struct recording_method told = recording_receiver_method(take->generation, name);

    return keep_method(take->recording, &told);
}

static uint64_t kept_address(struct recording *recording, uintptr_t pc)
{
    char text[RECORDING_ADDRESS_BYTES];
    const struct recording_method told = recording_address_method(pc, text);

    return keep_method(recording, &told);
}

/* Appends a frame to the stack under construction; false: its method cannot be kept. */
static bool keep_frame(struct recording_take *take, jw_frame frame)
{
    struct recording *recording = take->recording;
    const struct recording_frame told = recording_frame_of(take, frame);
    struct stack_frame kept = {.line = told.line, .bci = told.bci, .kind = told.kind};
    uint64_t method = NO_METHOD;

    switch (told.kind) {
    case JW_FRAME_INTERPRETED:
    case JW_FRAME_COMPILED:
    case JW_FRAME_INLINED:
    case JW_FRAME_JAVA_NATIVE:
    case JW_FRAME_COMPILING:
        method = kept_java(take, jw_frame_method(frame));
        kept.mark = JW_MARK_UNREADABLE_METHOD;
        break;
    case JW_FRAME_NATIVE:
    case JW_FRAME_KERNEL:
        method = kept_native(recording, jw_frame_pc(frame));
        kept.mark = JW_MARK_UNKNOWN_NATIVE;
        if (method == NO_METHOD)
            kept.kind = JW_FRAME_MARK;
        break;
    case JW_FRAME_MARK:
        kept.mark = jw_frame_mark_of(frame);
        break;
    case JW_FRAME_CLASS:
        method = kept_receiver(take, jw_frame_class_name(frame));
        break;
    case JW_FRAME_ADDRESS:
        method = kept_address(take->recording, jw_frame_pc(frame));
        break;
    }
    if (method == NOT_KEPT)
        return false;
    if (method != NO_METHOD) {
        kept.method = (struct recording_kept *)(uintptr_t)method;
        kept.mark = 0;
    }
    jfr_put_bytes(&recording->wall.stack_scratch, &kept, sizeof kept);
    return true;
}

static struct recording_kept *keep_made(struct recording_idle *idle, const struct jfr_buffer *made)
{
    struct recording_kept *stack = recording_idle_keep_stack(idle, made->bytes, made->used_bytes);

    if (stack != NULL && stack->holder_count == 1)
        hold_methods(stack);
    return stack;
}

/* `under`: what stands below it, behind a mark; NULL: nothing. */
static struct recording_kept *make_stack(struct recording_take *take, store_id id, dict_id thrown,
                                         const struct recording_kept *under)
{
    struct recording_idle *idle = &take->recording->wall.idle;
    struct jfr_buffer *out = &take->recording->wall.stack_scratch;
    uint32_t under_count = 0;
    const struct stack_frame *under_frames = under == NULL ? NULL : frames_of(under, &under_count);
    struct store_trace trace;

    if (!store_get(take->generation->traces, id, &trace))
        trace = (struct store_trace){0};

    const uint32_t own = recording_frames_of_own(take->generation, &trace, thrown);
    const bool is_truncated = (trace.flags & STORE_TRUNCATED) != 0;
    struct stack_head head = {trace.frame_count - own, is_truncated};
    if (under != NULL) {
        head.frame_count += under_count + 1 + is_truncated;
        head.is_truncated = ((const struct stack_head *)recording_kept_bytes(under))->is_truncated;
    }
    jfr_buffer_clear(out);
    jfr_put_bytes(out, &head, sizeof head);
    for (uint32_t i = own; i < trace.frame_count; i++)
        if (!keep_frame(take, trace.frames[i]))
            return NULL;
    if (under != NULL) {
        if (is_truncated)
            (void)keep_frame(take, jw_frame_mark(JW_MARK_TRUNCATED));
        (void)keep_frame(take, jw_frame_mark(JW_MARK_HANDED));
        jfr_put_bytes(out, under_frames, under_count * sizeof *under_frames);
    }
    if (out->has_failed)
        return NULL;

    return keep_made(idle, out);
}

struct recording_kept *recording_kept_stack(struct recording_take *take, store_id id)
{
    struct recording_wall *wall = &take->recording->wall;
    uint64_t *known = recording_ids_at(&wall->traces, id);

    if (known == NULL)
        return NULL;
    if (*known == 0)
        *known = address_of(make_stack(take, id, DICT_NONE, NULL));
    return *known == NOT_KEPT ? NULL : (struct recording_kept *)(uintptr_t)*known;
}

struct recording_kept *recording_kept_joined(struct recording_take *take, store_id id,
                                             dict_id thrown, const struct recording_kept *under)
{
    uint64_t *known = recording_tasks_joined(take->recording, id, under);

    if (known != NULL && *known == 0)
        *known = address_of(make_stack(take, id, thrown, under));
    if (known != NULL && *known != NOT_KEPT)
        return (struct recording_kept *)(uintptr_t)*known;
    jw_count(JW_COUNT_TASKS_UNJOINED);
    return NULL;
}

static struct recording_method method_told(const struct recording_told_frame *told)
{
    return (struct recording_method){
        .class_name = told->class_name,
        .name = told->name,
        .descriptor = told->descriptor,
        .loader = told->loader,
        .modifiers = told->modifiers,
        .class_modifiers = told->class_modifiers,
    };
}

struct recording_kept *recording_kept_told_stack(struct recording *recording,
                                                 const struct recording_told_owner *owner)
{
    struct jfr_buffer *out = &recording->wall.stack_scratch;
    const struct stack_head head = {owner->frame_count, owner->is_truncated};

    jfr_buffer_clear(out);
    jfr_put_bytes(out, &head, sizeof head);
    for (uint32_t i = 0; i < owner->frame_count; i++) {
        const struct recording_told_frame *frame = &owner->frames[i];
        const struct recording_method told = method_told(frame);
        const uint64_t method = keep_method(recording, &told);
        const struct stack_frame kept = {
            .method = method == NOT_KEPT ? NULL : (struct recording_kept *)(uintptr_t)method,
            .line = frame->line,
            .bci = frame->bci,
            .kind = frame->is_native ? JW_FRAME_JAVA_NATIVE : KIND_TOLD,
        };

        if (kept.method == NULL)
            return NULL;
        jfr_put_bytes(out, &kept, sizeof kept);
    }
    return out->has_failed ? NULL : keep_made(&recording->wall.idle, out);
}

/* ---- its constants ---- */

static void put_told(struct recording *recording, uint64_t method, int line, int bci)
{
    const struct recording_frame_fields fields = {
        .method = method,
        .line = line,
        .bci = bci,
        .type = recording_simple(&recording->names, JFR_TYPE_FRAME_TYPE, "Java"),
    };

    recording_put_frame_fields(recording, &fields);
}

static uint64_t method_key(struct recording_names *names, struct recording_kept *kept)
{
    const struct method_head *head = recording_kept_bytes(kept);
    const char *at = (const char *)(head + 1);
    struct recording_text texts[JW_COUNT_OF(head->text_bytes)] = {{NULL, 0}};

    if (kept->chunk == names->chunk)
        return kept->key;
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++) {
        if (head->text_bytes[i] == NO_TEXT)
            continue;
        texts[i] = (struct recording_text){at, head->text_bytes[i]};
        at += head->text_bytes[i];
    }

    const struct recording_method told = {
        .class_name = texts[0],
        .name = texts[1],
        .descriptor = texts[2],
        .loader = head->loader,
        .modifiers = head->modifiers,
        .class_modifiers = head->class_modifiers,
        .is_hidden = head->is_hidden != 0,
        .is_native = head->is_native != 0,
    };
    kept->key = recording_method_key(names, &told);
    kept->chunk = names->chunk;
    return kept->key;
}

uint64_t recording_kept_stack_key(struct recording *recording, struct recording_kept *kept)
{
    struct recording_names *names = &recording->names;
    const struct stack_head *head = recording_kept_bytes(kept);
    uint32_t count;
    const struct stack_frame *frames = frames_of(kept, &count);

    if (count == 0 || kept->chunk == names->chunk)
        return kept->key;
    jfr_put_u8(&recording->stack, head->is_truncated != 0);
    jfr_put_varint(&recording->stack, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct recording_frame frame = {(enum jw_frame_kind)frames[i].kind, frames[i].line,
                                              frames[i].bci};
        const uint64_t method = frames[i].method != NULL
                                    ? method_key(names, frames[i].method)
                                    : recording_mark_method(names, (enum jw_mark)frames[i].mark);

        if (frames[i].kind == KIND_TOLD)
            put_told(recording, method, frame.line, frame.bci);
        else
            recording_put_frame(recording, method, &frame);
    }
    kept->key = recording_constant(names, JFR_TYPE_STACK_TRACE, &recording->stack);
    kept->chunk = names->chunk;
    return kept->key;
}

uint64_t recording_mark_stack_key(struct recording *recording, enum jw_mark mark)
{
    const struct recording_frame frame = {JW_FRAME_MARK, -1, 0};
    const uint64_t method = recording_mark_method(&recording->names, mark);

    jfr_put_u8(&recording->stack, 0);
    jfr_put_varint(&recording->stack, 1);
    recording_put_frame(recording, method, &frame);
    return recording_constant(&recording->names, JFR_TYPE_STACK_TRACE, &recording->stack);
}

static void put_told_frame(struct recording *recording, const struct recording_told_frame *told)
{
    const struct recording_method method = method_told(told);
    const struct recording_frame native = {JW_FRAME_JAVA_NATIVE, told->line, told->bci};
    const uint64_t key = recording_method_key(&recording->names, &method);

    if (told->is_native)
        recording_put_frame(recording, key, &native);
    else
        put_told(recording, key, told->line, told->bci);
}

uint64_t recording_told_stack_key(struct recording *recording,
                                  const struct recording_told_frame *frames, uint32_t count,
                                  bool is_truncated)
{
    jfr_put_u8(&recording->stack, is_truncated);
    jfr_put_varint(&recording->stack, count);
    for (uint32_t i = 0; i < count; i++)
        put_told_frame(recording, &frames[i]);
    return recording_constant(&recording->names, JFR_TYPE_STACK_TRACE, &recording->stack);
}
