/* Places in methods: which instructions a handler is for, and what they take and leave. Context: hook, tool. */
#include "probe/probe_internal.h"

#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

enum side { SIDE_BEFORE, SIDE_AFTER, SIDE_MADE };

/* Opcodes of what has a name. Source: chapter 6.5. */
enum {
    OP_GETSTATIC = 178,
    OP_PUTSTATIC = 179,
    OP_GETFIELD = 180,
    OP_PUTFIELD = 181,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKESPECIAL = 183,
    OP_INVOKESTATIC = 184,
    OP_INVOKEINTERFACE = 185,
    OP_NEW = 187,
    OP_NEWARRAY = 188,
    OP_ANEWARRAY = 189,
    OP_MONITORENTER = 194,
    OP_MONITOREXIT = 195,
    OP_MULTIANEWARRAY = 197,
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

bool probe_place_is_after(enum probe_place place, uint8_t opcode)
{
    return places[place].side == SIDE_AFTER ||
           (places[place].side == SIDE_MADE && opcode != OP_NEW);
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

/* ---- kinds of instructions ---- */

static bool is_call(uint8_t opcode)
{
    return opcode >= OP_INVOKEVIRTUAL && opcode <= OP_INVOKEINTERFACE;
}

static bool is_field(uint8_t opcode)
{
    return opcode >= OP_GETSTATIC && opcode <= OP_PUTFIELD;
}

static bool is_allocation(uint8_t opcode)
{
    return (opcode >= OP_NEW && opcode <= OP_ANEWARRAY) || opcode == OP_MULTIANEWARRAY;
}

static bool is_opcode_of(enum probe_place place, uint8_t opcode)
{
    switch (place) {
    case PROBE_CALL:
    case PROBE_CALL_RETURN:
        return is_call(opcode);
    case PROBE_READ:
        return opcode == OP_GETSTATIC || opcode == OP_GETFIELD;
    case PROBE_WRITE:
        return opcode == OP_PUTSTATIC || opcode == OP_PUTFIELD;
    case PROBE_ALLOCATION:
        return is_allocation(opcode);
    case PROBE_MONITOR_ENTER:
    case PROBE_MONITOR_ENTERED:
        return opcode == OP_MONITORENTER;
    case PROBE_MONITOR_EXIT:
        return opcode == OP_MONITOREXIT;
    case PROBE_ENTRY:
    case PROBE_RETURN:
    case PROBE_THROW:
    case PROBE_LINE:
    case PROBE_PLACE_LIMIT:
        break;
    }
    return false;
}

/* ---- names ---- */

static size_t put_text(char *text, size_t used, const char *more, size_t length)
{
    for (size_t i = 0; i < length && used < PROBE_TARGET_BYTES; i++)
        text[used++] = more[i] == '/' ? '.' : more[i];
    return used;
}

/* As Java has them. Source: chapter 6.5, newarray; chapter 4.3.2. */
static const struct {
    uint8_t code; /* of newarray */
    char letter;
    const char *word;
} primitives[] = {{4, 'Z', "boolean"}, {5, 'C', "char"},  {6, 'F', "float"}, {7, 'D', "double"},
                  {8, 'B', "byte"},    {9, 'S', "short"}, {10, 'I', "int"},  {11, 'J', "long"}};

static const char *primitive_word(uint16_t code, char letter)
{
    for (size_t i = 0; i < JW_COUNT_OF(primitives); i++) {
        if (primitives[i].code == code || primitives[i].letter == letter)
            return primitives[i].word;
    }
    return "";
}

/* The name of a class or an array: "[Lcom/acme/Item;" is com.acme.Item[]. */
static size_t put_class(char *text, size_t used, struct classfile_text name)
{
    const char *at = name.bytes, *end = at + name.length_bytes;
    size_t dimensions = 0;

    for (; at < end && *at == '['; at++)
        dimensions++;
    if (dimensions != 0 && at < end && *at == 'L' && end[-1] == ';') {
        used = put_text(text, used, at + 1, (size_t)(end - at) - 2);
    } else if (dimensions != 0 && at < end) {
        const char *word = primitive_word(0, *at);

        used = put_text(text, used, word, strlen(word));
    } else {
        used = put_text(text, used, at, (size_t)(end - at));
    }
    for (; dimensions != 0; dimensions--)
        used = put_text(text, used, "[]", 2);
    return used;
}

static size_t put_allocated(const struct classfile *file, uint8_t opcode, uint16_t constant,
                            char *text)
{
    const char *word = primitive_word(constant, 0);
    size_t used;

    if (opcode == OP_NEWARRAY)
        return put_text(text, put_text(text, 0, word, strlen(word)), "[]", 2);
    used = put_class(text, 0, classfile_text_of(file, constant));
    return opcode == OP_ANEWARRAY ? put_text(text, used, "[]", 2) : used;
}

size_t probe_target_name(const struct classfile *file, uint8_t opcode, uint16_t constant,
                         char text[PROBE_TARGET_BYTES])
{
    size_t used;

    if (is_allocation(opcode))
        return put_allocated(file, opcode, constant, text);
    if (!is_call(opcode) && !is_field(opcode))
        return 0;

    const struct classfile_reference reference = classfile_reference_of(file, constant);
    used = put_class(text, 0, reference.owner);
    used = put_text(text, used, ".", 1);
    return put_text(text, used, reference.name.bytes, reference.name.length_bytes);
}

size_t probe_made_name(const struct classfile *file, uint8_t opcode, uint16_t constant,
                       char text[PROBE_TARGET_BYTES])
{
    if (opcode == OP_NEWARRAY) {
        for (size_t i = 0; i < JW_COUNT_OF(primitives); i++) {
            if (primitives[i].code == constant) {
                text[0] = '[';
                text[1] = primitives[i].letter;
                return 2;
            }
        }
        return 0;
    }
    const struct classfile_text name =
        is_allocation(opcode) ? classfile_text_of(file, constant) : (struct classfile_text){"", 0};
    const bool is_of_class =
        opcode == OP_ANEWARRAY && name.length_bytes != 0 && name.bytes[0] != '[';
    const int length = snprintf(text, PROBE_TARGET_BYTES, "%s%.*s%s",
                                opcode == OP_ANEWARRAY ? is_of_class ? "[L" : "[" : "",
                                (int)name.length_bytes, name.bytes, is_of_class ? ";" : "");

    return length < (int)PROBE_TARGET_BYTES ? (size_t)length : 0;
}

/* ---- an instruction ---- */

/* Of an array, as Java writes it; 0: it is none. */
static size_t dimensions_of(const char *text, size_t length_bytes)
{
    size_t count = 0;

    while (length_bytes > 2 * count && text[length_bytes - 2 * count - 1] == ']')
        count++;
    return count;
}

bool probe_is_place(const struct probe_handler *handler, const struct classfile *file,
                    uint8_t opcode, uint16_t constant)
{
    char text[PROBE_TARGET_BYTES];

    if (probe_place_named(handler->place) == PROBE_NAMED_WHOLE)
        return true;
    if (!is_opcode_of(handler->place, opcode))
        return false;
    if (handler->of == NULL)
        return true;

    const size_t length = probe_target_name(file, opcode, constant, text);
    const size_t of_length = strlen(handler->of);
    /* Of the agent's own, stars in names take no arrays by the way. */
    if (handler->target != NULL &&
        dimensions_of(text, length) != dimensions_of(handler->of, of_length))
        return false;
    return length != 0 && rules_is_match(handler->of, of_length, text, length);
}

static void add_operand(struct probe_operands *out, struct classfile_text type)
{
    if (out->count < PROBE_OPERANDS_LIMIT)
        out->types[out->count] = type.bytes[0] == '[' ? 'L' : type.bytes[0];
    out->count++;
}

static const struct classfile_text object = {"L", 1};

static void field_operands(struct probe_operands *out, uint8_t opcode,
                           struct classfile_text descriptor)
{
    uint32_t at = 0;

    if (!classfile_next_type(descriptor, &at, &out->field))
        return;
    out->has_receiver = opcode == OP_GETFIELD || opcode == OP_PUTFIELD;
    if (out->has_receiver)
        add_operand(out, object);
    if (opcode == OP_GETFIELD || opcode == OP_GETSTATIC)
        out->result = out->field;
    else
        add_operand(out, out->field);
}

void probe_operands_of(const struct classfile *file, uint8_t opcode, uint16_t constant,
                       struct probe_operands *out)
{
    struct classfile_text type;
    uint32_t at = 1;

    *out = (struct probe_operands){.result = {"V", 1}};
    if (opcode == OP_MONITORENTER)
        add_operand(out, object);
    if (is_allocation(opcode) && opcode != OP_NEW)
        out->result = object;
    out->is_unborn = opcode == OP_NEW;
    if (is_field(opcode))
        field_operands(out, opcode, classfile_reference_of(file, constant).descriptor);
    if (!is_call(opcode))
        return;

    const struct classfile_reference reference = classfile_reference_of(file, constant);
    if (opcode != OP_INVOKESTATIC) {
        out->has_receiver = true;
        out->is_unborn = opcode == OP_INVOKESPECIAL && classfile_is_text(reference.name, "<init>");
        add_operand(out, object);
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

int32_t probe_operand_of(const struct probe_capture *capture, enum probe_place place,
                         const struct probe_operands *operands)
{
    if (capture->kind == PROBE_RECEIVER)
        return operands->has_receiver ? 0 : -1;
    if (capture->kind == PROBE_CALL_ARGUMENT)
        return capture->argument + (int32_t)operands->has_receiver;
    if (capture->kind == PROBE_LOCK)
        return 0;
    if (capture->kind == PROBE_VALUE && place == PROBE_WRITE)
        return (int32_t)operands->count - 1;
    return -1;
}

static enum probe_fit fit_of(const struct probe_capture *capture, enum probe_place place,
                             const struct probe_operands *operands,
                             struct classfile_text descriptor)
{
    const bool asks_object = capture->kind == PROBE_RECEIVER || capture->kind == PROBE_ALLOCATED;

    if (probe_operand_of(capture, place, operands) >= 0 && operands->count > PROBE_OPERANDS_LIMIT)
        return PROBE_FIT_TOO_MANY;
    if (asks_object && operands->is_unborn && place != PROBE_CALL_RETURN)
        return PROBE_FIT_UNBORN;
    if (capture->kind == PROBE_CALL_ARGUMENT && !has_argument(descriptor, capture))
        return PROBE_FIT_CALL_ARGUMENT;
    if (capture->kind == PROBE_RETURNED && place == PROBE_CALL_RETURN &&
        !probe_takes(capture->type, operands->result))
        return PROBE_FIT_CALL_RETURNED;
    if (capture->kind == PROBE_VALUE &&
        (operands->field.length_bytes == 0 || !probe_takes(capture->type, operands->field)))
        return PROBE_FIT_FIELD_TYPE;
    return PROBE_FIT_GOOD;
}

enum probe_fit probe_fit_place(const struct probe_handler *handler, const struct classfile *file,
                               uint8_t opcode, uint16_t constant)
{
    struct probe_operands operands;

    if (probe_place_named(handler->place) == PROBE_NAMED_WHOLE ||
        probe_place_named(handler->place) == PROBE_NAMED_LINE)
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

/* What an instruction that is a place names: the code of a newarray, nothing of locks, else a constant. */
static uint16_t constant_at(const uint8_t *at)
{
    if (*at == OP_MONITORENTER || *at == OP_MONITOREXIT)
        return 0;
    return (uint16_t)(*at == OP_NEWARRAY ? at[1] : at[1] << 8 | at[2]);
}

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
        constant = constant_at(code.bytes + pc);
        if (!probe_is_place(handler, file, opcode, constant))
            continue;
        out->pc = pc;
        out->fit = probe_fit_place(handler, file, opcode, constant);
        return true;
    }
    return false;
}
