/* Places in methods: which instructions a handler is for, and what they take and leave. Context: hook, tool. */
#include "probe/probe_internal.h"

#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

enum side { SIDE_BEFORE, SIDE_AFTER };

/* Opcodes of what has a name. Source: chapter 6.5. */
enum {
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKESPECIAL = 183,
    OP_INVOKESTATIC = 184,
    OP_INVOKEINTERFACE = 185,
};

static const struct {
    const char *word;
    const char *annotation;
    uint32_t at;
    enum side side;
    enum probe_named named;
} places[PROBE_PLACE_LIMIT] = {
#define PROBE_PLACE(name, word, annotation, at, side, named, text)                                 \
    [PROBE_##name] = {word, annotation, CLASSFILE_AT(at), SIDE_##side, PROBE_NAMED_##named},
#include "probe/probe_places.def"
#undef PROBE_PLACE
};

const char *probe_place_word(enum probe_place place)
{
    return places[place].word;
}

const char *probe_place_annotation(enum probe_place place)
{
    return places[place].annotation;
}

enum probe_named probe_place_named(enum probe_place place)
{
    return places[place].named;
}

uint32_t probe_place_at(enum probe_place place)
{
    return places[place].at;
}

bool probe_place_is_after(enum probe_place place)
{
    return places[place].side == SIDE_AFTER;
}

size_t probe_place_words(const struct probe_handler *handler, char *text, size_t room_bytes)
{
    const char *word = probe_place_word(handler->place);
    int length;

    if (handler->line != 0)
        length = snprintf(text, room_bytes, "%s %u", word, handler->line);
    else if (handler->of != NULL)
        length = snprintf(text, room_bytes, "%s %s", word, handler->of);
    else
        length = snprintf(text, room_bytes, "%s", word);
    return (size_t)length < room_bytes ? (size_t)length : room_bytes - 1;
}

/* ---- an instruction ---- */

static bool is_call(uint8_t opcode)
{
    return opcode >= OP_INVOKEVIRTUAL && opcode <= OP_INVOKEINTERFACE;
}

static size_t put_text(char *text, size_t used, struct classfile_text more)
{
    for (uint32_t i = 0; i < more.length_bytes && used < PROBE_TARGET_BYTES; i++)
        text[used++] = more.bytes[i] == '/' ? '.' : more.bytes[i];
    return used;
}

size_t probe_target_name(const struct classfile *file, uint8_t opcode, uint16_t constant,
                         char text[PROBE_TARGET_BYTES])
{
    size_t used;

    if (!is_call(opcode))
        return 0;

    const struct classfile_reference reference = classfile_reference_of(file, constant);
    used = put_text(text, 0, reference.owner);
    used = put_text(text, used, (struct classfile_text){".", 1});
    return put_text(text, used, reference.name);
}

static bool is_opcode_of(enum probe_place place, uint8_t opcode)
{
    return probe_place_at(place) == CLASSFILE_AT(CALL) && is_call(opcode);
}

bool probe_is_place(const struct probe_handler *handler, const struct classfile *file,
                    uint8_t opcode, uint16_t constant)
{
    char text[PROBE_TARGET_BYTES];

    if (probe_place_named(handler->place) != PROBE_NAMED_MEMBER)
        return true;
    if (!is_opcode_of(handler->place, opcode))
        return false;

    const size_t length = probe_target_name(file, opcode, constant, text);
    return length != 0 && rules_is_match(handler->of, strlen(handler->of), text, length);
}

static void add_operand(struct probe_operands *out, struct classfile_text type)
{
    if (out->count < PROBE_OPERANDS_LIMIT)
        out->types[out->count] = type.bytes[0] == '[' ? 'L' : type.bytes[0];
    out->count++;
}

void probe_operands_of(const struct classfile *file, uint8_t opcode, uint16_t constant,
                       struct probe_operands *out)
{
    struct classfile_text type;
    uint32_t at = 1;

    *out = (struct probe_operands){.result = {"V", 1}};
    if (!is_call(opcode))
        return;

    const struct classfile_reference reference = classfile_reference_of(file, constant);
    if (opcode != OP_INVOKESTATIC) {
        out->has_receiver = true;
        out->is_unborn = opcode == OP_INVOKESPECIAL && classfile_is_text(reference.name, "<init>");
        add_operand(out, (struct classfile_text){"L", 1});
    }
    while (classfile_next_type(reference.descriptor, &at, &type))
        add_operand(out, type);
    at++; /* behind the parenthesis */
    if (at < reference.descriptor.length_bytes)
        out->result = (struct classfile_text){reference.descriptor.bytes + at,
                                              reference.descriptor.length_bytes - at};
}

/* ---- what a handler asks of it ---- */

/* The argument of that number of what is called. */
static bool has_argument(struct classfile_text descriptor, const struct probe_capture *capture)
{
    struct classfile_text type;
    uint32_t at = 1;

    for (unsigned number = 0; classfile_next_type(descriptor, &at, &type); number++) {
        if (number == capture->argument)
            return probe_takes(capture->type, type);
    }
    return false;
}

static enum probe_fit fit_of(const struct probe_capture *capture, enum probe_place place,
                             const struct probe_operands *operands,
                             struct classfile_text descriptor)
{
    const bool moves = capture->kind == PROBE_RECEIVER || capture->kind == PROBE_CALL_ARGUMENT;

    if (moves && operands->count > PROBE_OPERANDS_LIMIT)
        return PROBE_FIT_TOO_MANY;
    if (capture->kind == PROBE_RECEIVER && operands->is_unborn && place == PROBE_CALL)
        return PROBE_FIT_RECEIVER_UNBORN;
    if (capture->kind == PROBE_CALL_ARGUMENT && !has_argument(descriptor, capture))
        return PROBE_FIT_CALL_ARGUMENT;
    if (capture->kind == PROBE_RETURNED && place == PROBE_CALL_RETURN &&
        !probe_takes(capture->type, operands->result))
        return PROBE_FIT_CALL_RETURNED;
    return PROBE_FIT_GOOD;
}

enum probe_fit probe_fit_place(const struct probe_handler *handler, const struct classfile *file,
                               uint8_t opcode, uint16_t constant)
{
    struct probe_operands operands;

    if (probe_place_named(handler->place) != PROBE_NAMED_MEMBER)
        return PROBE_FIT_GOOD;
    probe_operands_of(file, opcode, constant, &operands);
    for (unsigned i = 0; i < handler->capture_count; i++) {
        const enum probe_fit fit = fit_of(&handler->captures[i], handler->place, &operands,
                                          classfile_reference_of(file, constant).descriptor);

        if (fit != PROBE_FIT_GOOD)
            return fit;
    }
    return PROBE_FIT_GOOD;
}

/* ---- those of a method ---- */

static bool next_line(const struct probe_handler *handler, const struct classfile *file,
                      const struct classfile_member *method, uint32_t *next_pc,
                      struct probe_found *out)
{
    if (*next_pc != 0 || !classfile_line_begins(file, method, handler->line, &out->pc))
        return false;
    out->fit = PROBE_FIT_GOOD;
    *next_pc = UINT32_MAX; /* it begins once */
    return true;
}

bool probe_next_place(const struct probe_handler *handler, const struct classfile *file,
                      const struct classfile_member *method, uint32_t *next_pc,
                      struct probe_found *out)
{
    struct classfile_code code;
    uint32_t pc;

    if (probe_place_named(handler->place) == PROBE_NAMED_LINE)
        return next_line(handler, file, method, next_pc, out);
    if (probe_place_named(handler->place) == PROBE_NAMED_WHOLE ||
        !classfile_code_of(file, method, &code))
        return false;
    while (classfile_next_instruction(&code, &pc, next_pc)) {
        const uint8_t opcode = code.bytes[pc];
        uint16_t constant;

        if (!is_opcode_of(handler->place, opcode))
            continue;
        constant = (uint16_t)(code.bytes[pc + 1] << 8 | code.bytes[pc + 2]);
        if (!probe_is_place(handler, file, opcode, constant))
            continue;
        out->pc = pc;
        out->fit = probe_fit_place(handler, file, opcode, constant);
        return true;
    }
    return false;
}
