/* Places in a method, and the code that the caller has for each. Context: hook, tool. */
#include "classfile/classfile_work_internal.h"

struct classfile_snippet {
    struct classfile_work *work;
    uint32_t begin_bytes; /* in what is inserted */
    uint32_t stack_words;
    uint32_t local_words;
    bool is_entry;
};

static const struct {
    const char *word;
    const char *text;
} places[CLASSFILE_PLACE_LIMIT] = {
#define CLASSFILE_PLACE(name, word, side, text) [CLASSFILE_PLACE_##name] = {word, text},
#include "classfile/classfile_places.def"
#undef CLASSFILE_PLACE
};

const char *classfile_place_word(enum classfile_place place)
{
    return place < CLASSFILE_PLACE_LIMIT ? places[place].word : "";
}

const char *classfile_place_text(enum classfile_place place)
{
    return place < CLASSFILE_PLACE_LIMIT ? places[place].text : "";
}

/* ---- what is put in ---- */

static void refuse(struct classfile_snippet *snippet, enum classfile_verdict verdict)
{
    if (snippet->work->snippet_verdict == CLASSFILE_OK)
        snippet->work->snippet_verdict = verdict;
}

void classfile_put_code(struct classfile_snippet *snippet, const uint8_t *code, size_t length_bytes,
                        uint32_t stack_words)
{
    struct classfile_out *out = &snippet->work->inserted;

    if (out->used_bytes - snippet->begin_bytes + length_bytes > CLASSFILE_SNIPPET_LIMIT_BYTES) {
        refuse(snippet, CLASSFILE_BAD_INSERTION);
        return;
    }
    for (uint32_t pc = 0; pc < length_bytes;) {
        const uint32_t bytes = classfile_is_straight(code + pc, length_bytes - pc)
                                   ? classfile_instruction_bytes(code, (uint32_t)length_bytes, pc)
                                   : 0;

        if (bytes == 0) {
            refuse(snippet, CLASSFILE_BAD_INSERTION);
            return;
        }
        pc += bytes;
    }
    classfile_out_bytes(out, code, length_bytes);
    if (out->is_failed)
        refuse(snippet, CLASSFILE_TOO_LONG);
    if (stack_words > snippet->stack_words)
        snippet->stack_words = stack_words;
}

void classfile_put_op(struct classfile_snippet *snippet, uint8_t opcode, uint32_t stack_words)
{
    classfile_put_code(snippet, &opcode, 1, stack_words);
}

void classfile_put_int(struct classfile_snippet *snippet, int32_t value,
                       struct classfile_additions *additions, uint32_t stack_words)
{
    uint8_t code[3];

    if (value >= -1 && value <= 5) {
        classfile_put_op(snippet, (uint8_t)(CLASSFILE_OP_ICONST_0 + value), stack_words);
    } else if (value >= INT8_MIN && value <= INT8_MAX) {
        code[0] = CLASSFILE_OP_BIPUSH;
        code[1] = (uint8_t)value;
        classfile_put_code(snippet, code, 2, stack_words);
    } else {
        const bool is_short = value >= INT16_MIN && value <= INT16_MAX;

        code[0] = is_short ? CLASSFILE_OP_SIPUSH : CLASSFILE_OP_LDC_W;
        classfile_set_u2(code + 1,
                         is_short ? (uint32_t)value : classfile_add_int(additions, value));
        classfile_put_code(snippet, code, 3, stack_words);
    }
}

void classfile_put_call(struct classfile_snippet *snippet, uint16_t method)
{
    uint8_t code[3] = {CLASSFILE_OP_INVOKESTATIC};

    classfile_set_u2(code + 1, method);
    classfile_put_code(snippet, code, sizeof code, 0);
}

void classfile_put_dynamic(struct classfile_snippet *snippet, uint16_t call_site)
{
    uint8_t code[5] = {CLASSFILE_OP_INVOKEDYNAMIC};

    classfile_set_u2(code + 1, call_site);
    classfile_put_code(snippet, code, sizeof code, 0);
}

uint16_t classfile_take_local(struct classfile_snippet *snippet, uint16_t words)
{
    const struct classfile_work *work = snippet->work;
    const uint32_t number = work->code.local_count + work->kept_words + snippet->local_words;

    snippet->local_words += words;
    if (number + words > UINT16_MAX) {
        refuse(snippet, CLASSFILE_TOO_DEEP);
        return 0;
    }
    return (uint16_t)number;
}

uint16_t classfile_keep_local(struct classfile_snippet *snippet, char type)
{
    struct classfile_work *work = snippet->work;
    const uint32_t number = work->code.local_count + work->kept_words;
    const uint32_t words = type == 'J' || type == 'D' ? 2 : 1;

    if (!snippet->is_entry || snippet->local_words != 0) {
        refuse(snippet, CLASSFILE_BAD_INSERTION);
        return 0;
    }
    if (work->kept_count == CLASSFILE_KEPT_LIMIT || number + words > UINT16_MAX) {
        refuse(snippet, CLASSFILE_TOO_DEEP);
        return 0;
    }
    if (type == 'L' && work->kept_class == 0)
        work->kept_class = classfile_add_class(work->additions, "java/lang/Object");
    work->kept[work->kept_count++] = type;
    work->kept_words += words;
    return (uint16_t)number;
}

/* Asks the caller; bytes that he has put in. */
static uint32_t ask(struct classfile_work *work, const struct classfile_site *site,
                    uint32_t *stack_words)
{
    struct classfile_snippet snippet = {.work = work,
                                        .begin_bytes = work->inserted.used_bytes,
                                        .is_entry = site->place == CLASSFILE_PLACE_ENTRY};

    work->plan->insert(work->plan->context, site, work->additions, &snippet);
    if (snippet.stack_words > *stack_words)
        *stack_words = snippet.stack_words;
    if (snippet.local_words > work->local_words)
        work->local_words = snippet.local_words;

    const uint32_t bytes = work->inserted.used_bytes - snippet.begin_bytes;
    work->outcome->sites += bytes != 0;
    return bytes;
}

/* ---- places ---- */

static uint32_t constant_of(const struct classfile_work *work,
                            const struct classfile_instruction *one)
{
    const uint8_t *at = work->code.bytes + one->pc;

    if (one->opcode == CLASSFILE_OP_NEWARRAY)
        return at[1];
    if ((one->opcode >= CLASSFILE_OP_GETSTATIC && one->opcode <= CLASSFILE_OP_ANEWARRAY) ||
        one->opcode == CLASSFILE_OP_MULTIANEWARRAY)
        return classfile_u2(at + 1);
    return 0;
}

static void ask_side(struct classfile_work *work, struct classfile_instruction *one,
                     struct classfile_site *site, bool is_after)
{
    uint32_t bytes;

    site->is_after = is_after;
    bytes = ask(work, site, &work->extra_stack_words);
    if (is_after) {
        one->after_offset_bytes = work->inserted.used_bytes - bytes;
        one->after_bytes = (uint16_t)bytes;
    } else {
        if (one->before_bytes == 0)
            one->before_offset_bytes = work->inserted.used_bytes - bytes;
        /* What is put before an instruction is put one behind the other: nothing else comes between. */
        one->before_bytes = (uint16_t)(one->before_bytes + bytes);
    }
}

/* What there is at an instruction but its line; CLASSFILE_PLACE_LIMIT: nothing. */
static enum classfile_place place_of(uint8_t opcode)
{
    if (opcode >= CLASSFILE_OP_IRETURN && opcode <= CLASSFILE_OP_RETURN)
        return CLASSFILE_PLACE_RETURN;
    if (opcode >= CLASSFILE_OP_GETSTATIC && opcode <= CLASSFILE_OP_PUTFIELD)
        return CLASSFILE_PLACE_FIELD;
    if (opcode >= CLASSFILE_OP_INVOKEVIRTUAL && opcode <= CLASSFILE_OP_INVOKEDYNAMIC)
        return CLASSFILE_PLACE_CALL;
    if ((opcode >= CLASSFILE_OP_NEW && opcode <= CLASSFILE_OP_ANEWARRAY) ||
        opcode == CLASSFILE_OP_MULTIANEWARRAY)
        return CLASSFILE_PLACE_ALLOCATION;
    if (opcode == CLASSFILE_OP_ATHROW)
        return CLASSFILE_PLACE_ATHROW;
    if (opcode == CLASSFILE_OP_MONITORENTER)
        return CLASSFILE_PLACE_MONITOR_ENTER;
    if (opcode == CLASSFILE_OP_MONITOREXIT)
        return CLASSFILE_PLACE_MONITOR_EXIT;
    return CLASSFILE_PLACE_LIMIT;
}

static bool can_be_after(const struct classfile_instruction *one, enum classfile_place place)
{
    switch (place) {
    case CLASSFILE_PLACE_CALL:
    case CLASSFILE_PLACE_FIELD:
        return true;
    case CLASSFILE_PLACE_ALLOCATION: /* what new has made may not be touched yet */
        return one->opcode != CLASSFILE_OP_NEW;
    case CLASSFILE_PLACE_MONITOR_ENTER:
        return (one[1].marks & CLASSFILE_MARK_RANGE_BEGINS) != 0;
    case CLASSFILE_PLACE_MONITOR_EXIT:
        return (one[1].marks & CLASSFILE_MARK_RANGE_ENDS) != 0 ||
               (one->marks & CLASSFILE_MARK_IN_RANGE) == 0;
    case CLASSFILE_PLACE_ENTRY:
    case CLASSFILE_PLACE_RETURN:
    case CLASSFILE_PLACE_THROW:
    case CLASSFILE_PLACE_ATHROW:
    case CLASSFILE_PLACE_LINE:
    case CLASSFILE_PLACE_LIMIT:
        break;
    }
    return false;
}

/* What would have been asked for is not: nothing may be put there. */
static void skip_side(struct classfile_work *work, struct classfile_site *site,
                      enum classfile_place place, bool is_after)
{
    site->place = place;
    site->is_after = is_after;
    if (work->plan->skip != NULL)
        work->plan->skip(work->plan->context, site);
}

/* Inside of a handler that protects itself; behind the last instruction of its range is outside of it. */
static void skip_instruction(struct classfile_work *work, struct classfile_site *site,
                             enum classfile_place place, bool is_line, bool is_wanted)
{
    if (is_line)
        skip_side(work, site, CLASSFILE_PLACE_LINE, false);
    if (!is_wanted)
        return;
    if (place != CLASSFILE_PLACE_MONITOR_EXIT)
        skip_side(work, site, place, false);
    if (place != CLASSFILE_PLACE_ATHROW)
        skip_side(work, site, place, true);
}

static enum classfile_verdict fill_instruction(struct classfile_work *work,
                                               struct classfile_instruction *one,
                                               struct classfile_site *site)
{
    const enum classfile_place place = place_of(one->opcode);
    const bool is_line =
        (one->marks & CLASSFILE_MARK_LINE) != 0 && (work->places & CLASSFILE_AT(LINE)) != 0;
    const bool is_wanted = place != CLASSFILE_PLACE_LIMIT && (work->places >> place & 1) != 0;
    const bool is_exit = place == CLASSFILE_PLACE_MONITOR_EXIT;

    if (!is_line && !is_wanted)
        return CLASSFILE_OK;
    site->opcode = one->opcode;
    site->pc = one->pc;
    site->constant = (uint16_t)constant_of(work, one);
    site->has_this = work->keeps_this && (one->marks & CLASSFILE_MARK_INITIALISED) != 0;
    if ((one->marks & CLASSFILE_MARK_SELF_PROTECTED) != 0) {
        if (is_wanted && place == CLASSFILE_PLACE_RETURN)
            return CLASSFILE_SELF_PROTECTED;
        if (!is_exit || !is_wanted || !can_be_after(one, place)) {
            work->outcome->sites_skipped++;
            skip_instruction(work, site, place, is_line, is_wanted);
            return CLASSFILE_OK;
        }
        skip_instruction(work, site, place, is_line, false);
    } else if (is_line) {
        site->place = CLASSFILE_PLACE_LINE;
        ask_side(work, one, site, false);
    }
    if (!is_wanted)
        return CLASSFILE_OK;
    site->place = place;
    if (!is_exit)
        ask_side(work, one, site, false);
    if (can_be_after(one, place)) {
        ask_side(work, one, site, true);
    } else if (is_exit || place == CLASSFILE_PLACE_MONITOR_ENTER) {
        work->outcome->sites_skipped += is_exit;
        skip_side(work, site, place, true);
    }
    return CLASSFILE_OK;
}

static enum classfile_verdict fill_throw(struct classfile_work *work, struct classfile_site *site)
{
    uint32_t from = work->count;

    if (work->has_subroutines)
        return CLASSFILE_SUBROUTINES;
    /*
     * The constructor of java.lang.Object has no super(), and under a handler that covers its return C2 crashes.
     * Source: seen in JDK 17.0.15 and 25.0.3, Parse::catch_inline_exceptions, where it registers finalizers.
     */
    if (work->file->super_index == 0 &&
        classfile_is_text(classfile_text_of(work->file, work->method->name_index), "<init>"))
        return CLASSFILE_NO_SUPER;
    while (from > 0 && (work->instructions[from - 1].marks & CLASSFILE_MARK_INITIALISED) != 0)
        from--;
    if (from == work->count)
        return CLASSFILE_NO_SUPER;
    work->protected_from = from;
    work->handler_has_this = work->keeps_this;
    *site = (struct classfile_site){.place = CLASSFILE_PLACE_THROW,
                                    .method = work->number,
                                    .has_this = work->handler_has_this,
                                    .keeps_this = work->keeps_this,
                                    .pc = work->code.length_bytes};
    work->handler_offset_bytes = work->inserted.used_bytes;
    work->handler_bytes = ask(work, site, &work->handler_stack_words);
    if (work->handler_bytes != 0)
        work->throwable = classfile_add_class(work->additions, "java/lang/Throwable");
    return CLASSFILE_OK;
}

enum classfile_verdict classfile_sites_fill(struct classfile_work *work)
{
    struct classfile_site site = {.method = work->number, .keeps_this = work->keeps_this};
    enum classfile_verdict verdict = CLASSFILE_OK;

    if (work->places == 0)
        return CLASSFILE_OK;
    if ((work->places & CLASSFILE_AT(ENTRY)) != 0) {
        site.place = CLASSFILE_PLACE_ENTRY;
        site.line = work->instructions[0].line;
        site.has_this = (work->method->access & CLASSFILE_STATIC) == 0 && !work->is_constructor;
        work->entry_offset_bytes = work->inserted.used_bytes;
        work->entry_bytes = ask(work, &site, &work->entry_stack_words);
    }
    for (uint32_t i = 0; i < work->count && verdict == CLASSFILE_OK; i++) {
        struct classfile_instruction *one = &work->instructions[i];

        if ((one->marks & CLASSFILE_MARK_LINE) != 0)
            site.line = one->line;
        verdict = fill_instruction(work, one, &site);
    }
    if (verdict == CLASSFILE_OK && (work->places & CLASSFILE_AT(THROW)) != 0)
        verdict = fill_throw(work, &site);
    if (verdict == CLASSFILE_OK)
        verdict = work->snippet_verdict;
    if (verdict == CLASSFILE_OK)
        verdict = classfile_additions_verdict(work->additions);
    return verdict;
}
