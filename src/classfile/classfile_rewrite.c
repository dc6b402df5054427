/* A class written again: its methods one after the other, and around them what they have in common. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

/* Rooms besides those that grow with the file: what is inserted into one method, and what becomes of its instructions. */
#define INSERTED_BYTES     (256u * 1024)
#define ONE_METHOD_BYTES   (8u << 20)
#define GROWTH_BYTES       (1u << 20)
#define READ_BYTES_A_BYTE  12u
#define WRITE_BYTES_A_BYTE 8u
#define ADDED_BYTES        (256u * 1024)

size_t classfile_memory_bytes(size_t length_bytes)
{
    return length_bytes * (READ_BYTES_A_BYTE + WRITE_BYTES_A_BYTE) + ONE_METHOD_BYTES +
           4u * GROWTH_BYTES;
}

/* Code is no longer than the class, and each of its bytes may be an instruction. What is added is as much as probes add, several times over. */
size_t classfile_touched_bytes(size_t length_bytes)
{
    const size_t code_bytes = length_bytes < UINT16_MAX ? length_bytes : UINT16_MAX;

    return length_bytes * (READ_BYTES_A_BYTE + WRITE_BYTES_A_BYTE) +
           code_bytes * (sizeof(struct classfile_instruction) + sizeof(uint32_t)) + ADDED_BYTES;
}

struct rewriting {
    const struct classfile *file;
    const struct classfile_plan *plan;
    struct classfile_memory *memory;
    struct classfile_additions *additions;
    struct classfile_outcome *outcomes;
    struct classfile_out body; /* from behind the constants to the last method */
};

static enum classfile_verdict read_code(struct classfile_work *work)
{
    enum classfile_verdict verdict;

    if (!classfile_code_of(work->file, work->method, &work->code))
        return CLASSFILE_BAD_CODE;
    work->outcome->code_bytes = work->code.length_bytes;
    work->is_constructor =
        work->file->super_index != 0 &&
        classfile_is_text(classfile_text_of(work->file, work->method->name_index), "<init>");
    if ((verdict = classfile_decode(work)) != CLASSFILE_OK ||
        (verdict = classfile_tables_read(work)) != CLASSFILE_OK ||
        (verdict = classfile_frames_read(work)) != CLASSFILE_OK)
        return verdict;
    if (work->places != 0)
        classfile_frames_mark(work);
    return CLASSFILE_OK;
}

static enum classfile_verdict put_code(struct classfile_work *work, struct classfile_out *out)
{
    const bool is_short = classfile_has_short_code(work->file);
    const uint32_t limit = is_short ? UINT8_MAX : UINT16_MAX;
    const uint32_t attribute_bytes = out->used_bytes;
    uint32_t stack_words = work->code.stack_count + work->extra_stack_words;
    const uint32_t local_words = work->code.local_count + work->kept_words + work->local_words;

    if (stack_words < work->entry_stack_words)
        stack_words = work->entry_stack_words;
    if (work->handler_bytes != 0 && stack_words < work->handler_stack_words + 1)
        stack_words = work->handler_stack_words + 1;
    if (stack_words > limit || local_words > limit)
        return CLASSFILE_TOO_DEEP;
    classfile_out_bytes(out, work->file->bytes + work->method->code_offset_bytes - 6, 2);
    classfile_out_u4(out, 0);
    if (is_short) {
        classfile_out_u1(out, stack_words);
        classfile_out_u1(out, local_words);
        classfile_out_u2(out, work->new_bytes);
    } else {
        classfile_out_u2(out, stack_words);
        classfile_out_u2(out, local_words);
        classfile_out_u4(out, work->new_bytes);
    }
    classfile_layout_put(work, out);
    classfile_tables_put(work, out);
    if (out->is_failed)
        return CLASSFILE_NO_MEMORY;
    classfile_set_u4(out->bytes + attribute_bytes + 2, out->used_bytes - attribute_bytes - 6);
    return classfile_additions_verdict(work->additions);
}

/* A method with its Code written anew, or nothing and a verdict. */
static enum classfile_verdict put_method(struct rewriting *at, struct classfile_work *work)
{
    const struct classfile_member *method = work->method;
    const uint8_t *bytes = at->file->bytes;
    const uint32_t code_end_bytes = method->code_offset_bytes + method->code_bytes;
    enum classfile_verdict verdict = read_code(work);

    work->inserted = (struct classfile_out){
        .bytes = work->places != 0 ? classfile_memory_take(at->memory, INSERTED_BYTES) : NULL,
        .capacity_bytes = INSERTED_BYTES};
    if (work->places != 0 && work->inserted.bytes == NULL)
        return CLASSFILE_NO_MEMORY;
    if (verdict == CLASSFILE_OK)
        verdict = classfile_sites_fill(work);
    if (verdict != CLASSFILE_OK)
        return verdict;
    if (work->outcome->sites == 0 && !at->plan->rewrites_all) {
        classfile_out_bytes(&at->body, bytes + method->offset_bytes,
                            method->end_bytes - method->offset_bytes);
        work->outcome->new_code_bytes = work->outcome->code_bytes;
        return at->body.is_failed ? CLASSFILE_NO_MEMORY : CLASSFILE_OK;
    }
    verdict = classfile_layout(work);
    if (verdict != CLASSFILE_OK)
        return verdict;
    classfile_out_bytes(&at->body, bytes + method->offset_bytes,
                        method->code_offset_bytes - 6 - method->offset_bytes);
    verdict = put_code(work, &at->body);
    classfile_out_bytes(&at->body, bytes + code_end_bytes, method->end_bytes - code_end_bytes);
    work->outcome->new_code_bytes = work->new_bytes;
    return at->body.is_failed ? CLASSFILE_NO_MEMORY : verdict;
}

/* False: not even the method as it is fits. */
static bool rewrite_method(struct rewriting *at, uint16_t number)
{
    const struct classfile_member *method = &at->file->methods[number];
    struct classfile_outcome *outcome = &at->outcomes[number];
    const uint32_t places = at->plan->places == NULL ? 0 : at->plan->places[number];

    if (method->code_offset_bytes == 0 || (places == 0 && !at->plan->rewrites_all)) {
        classfile_out_bytes(&at->body, at->file->bytes + method->offset_bytes,
                            method->end_bytes - method->offset_bytes);
        return !at->body.is_failed;
    }

    const struct classfile_additions_mark mark = classfile_additions_marked(at->additions);
    const uint32_t body_bytes = at->body.used_bytes;
    const size_t memory_bytes = at->memory->used_bytes;
    struct classfile_work work = {.file = at->file,
                                  .method = method,
                                  .plan = at->plan,
                                  .additions = at->additions,
                                  .memory = at->memory,
                                  .outcome = outcome,
                                  .number = number,
                                  .places = places};

    outcome->verdict = put_method(at, &work);
    at->memory->used_bytes = memory_bytes;
    if (outcome->verdict == CLASSFILE_OK)
        return true;
    classfile_additions_undo(at->additions, mark);
    at->body.used_bytes = body_bytes;
    at->body.is_failed = false;
    outcome->sites = 0;
    outcome->new_code_bytes = outcome->code_bytes;
    classfile_out_bytes(&at->body, at->file->bytes + method->offset_bytes,
                        method->end_bytes - method->offset_bytes);
    return !at->body.is_failed;
}

static bool rewrite_methods(struct rewriting *at)
{
    const struct classfile *file = at->file;
    const uint32_t begin_bytes = file->constants_end_bytes;
    const uint32_t methods_bytes =
        file->method_count != 0 ? file->methods[0].offset_bytes : file->methods_end_bytes;

    classfile_out_bytes(&at->body, file->bytes + begin_bytes, methods_bytes - begin_bytes);
    for (uint32_t i = 0; i < file->method_count; i++) {
        if (!rewrite_method(at, (uint16_t)i))
            return false;
    }
    return true;
}

/* What is written has all of it: its length is known before. */
static enum classfile_verdict put_together(struct rewriting *at, struct classfile_rewritten *out)
{
    const struct classfile *file = at->file;
    const size_t left_bytes = at->memory->capacity_bytes - at->memory->used_bytes;
    struct classfile_out whole = {.bytes = at->memory->bytes + at->memory->used_bytes,
                                  .capacity_bytes =
                                      left_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)left_bytes};

    classfile_out_bytes(&whole, file->bytes, 8);
    classfile_out_u2(&whole, classfile_additions_count(at->additions));
    classfile_out_bytes(&whole, file->bytes + 10, file->constants_end_bytes - 10);
    classfile_additions_put(at->additions, &whole);
    classfile_out_bytes(&whole, at->body.bytes, at->body.used_bytes);
    classfile_additions_put_attributes(at->additions, &whole);
    if (whole.is_failed || classfile_memory_take(at->memory, whole.used_bytes) == NULL)
        return CLASSFILE_NO_MEMORY;
    out->bytes = whole.bytes;
    out->length_bytes = whole.used_bytes;
    out->is_changed = true;
    return CLASSFILE_OK;
}

enum classfile_verdict classfile_rewrite(const struct classfile *file,
                                         const struct classfile_plan *plan,
                                         struct classfile_memory *memory,
                                         struct classfile_rewritten *out)
{
    struct rewriting at = {.file = file, .plan = plan, .memory = memory};
    const size_t outcome_bytes = sizeof *at.outcomes * ((size_t)file->method_count + 1);
    bool is_changed = plan->rewrites_all;

    *out = (struct classfile_rewritten){.bytes = file->bytes, .length_bytes = file->length_bytes};
    at.outcomes = classfile_memory_take(memory, outcome_bytes);
    at.additions = classfile_additions_open(file, memory);
    at.body.capacity_bytes = file->length_bytes * 2 + GROWTH_BYTES;
    at.body.bytes = classfile_memory_take(memory, at.body.capacity_bytes);
    if (at.outcomes == NULL || at.additions == NULL || at.body.bytes == NULL)
        return CLASSFILE_NO_MEMORY;
    memset(at.outcomes, 0, outcome_bytes);
    out->methods = at.outcomes;
    if (classfile_additions_verdict(at.additions) != CLASSFILE_OK)
        return classfile_additions_verdict(at.additions);
    if (!rewrite_methods(&at))
        return CLASSFILE_NO_MEMORY;
    for (uint32_t i = 0; i < file->method_count; i++)
        is_changed |= at.outcomes[i].sites != 0;
    return is_changed ? put_together(&at, out) : CLASSFILE_OK;
}
