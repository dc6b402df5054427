/* Class files put together byte by byte. Context: control, tool. Source: The Java Virtual Machine Specification, chapters 4 and 6. */
#include "probe/probe_made_internal.h"

#include <stdio.h>
#include <string.h>

static void put(struct probe_out *out, const void *bytes, size_t length_bytes)
{
    if (out->is_failed || out->room_bytes - out->used_bytes < length_bytes) {
        out->is_failed = true;
        return;
    }
    memcpy(out->bytes + out->used_bytes, bytes, length_bytes);
    out->used_bytes += length_bytes;
}

static void put_u2(struct probe_out *out, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};

    put(out, bytes, sizeof bytes);
}

static void put_u4(struct probe_out *out, size_t value)
{
    put_u2(out, (uint32_t)(value >> 16));
    put_u2(out, (uint32_t)value & 0xffff);
}

/* ---- constants: each use makes its own, as there are few ---- */

uint16_t probe_made_text(struct probe_making *making, const char *bytes, size_t length_bytes)
{
    const uint8_t tag = CLASSFILE_TAG_UTF8;

    put(&making->out, &tag, 1);
    put_u2(&making->out, (uint32_t)length_bytes);
    put(&making->out, bytes, length_bytes);
    making->out.is_failed |= length_bytes > UINT16_MAX;
    return ++making->constants;
}

static uint16_t word(struct probe_making *making, const char *bytes)
{
    return probe_made_text(making, bytes, strlen(bytes));
}

static uint16_t pair(struct probe_making *making, enum classfile_tag tag, uint16_t first,
                     uint16_t second)
{
    const uint8_t byte = (uint8_t)tag;

    put(&making->out, &byte, 1);
    put_u2(&making->out, first);
    if (tag != CLASSFILE_TAG_CLASS)
        put_u2(&making->out, second);
    return ++making->constants;
}

uint16_t probe_made_class_text(struct probe_making *making, const char *name, size_t length_bytes)
{
    return pair(making, CLASSFILE_TAG_CLASS, probe_made_text(making, name, length_bytes), 0);
}

static uint16_t class_of(struct probe_making *making, const char *name)
{
    return probe_made_class_text(making, name, strlen(name));
}

static uint16_t member(struct probe_making *making, enum classfile_tag tag, const char *owner,
                       const char *name, const char *descriptor)
{
    const uint16_t owner_index = class_of(making, owner);
    const uint16_t name_index = word(making, name);
    const uint16_t both =
        pair(making, CLASSFILE_TAG_NAME_AND_TYPE, name_index, word(making, descriptor));

    return pair(making, tag, owner_index, both);
}

/* ---- code ---- */

void probe_made_op(struct probe_code *code, enum probe_op opcode)
{
    if (code->used_bytes + 4 <= PROBE_MADE_CODE_BYTES)
        code->bytes[code->used_bytes++] = (uint8_t)opcode;
}

void probe_made_op2(struct probe_code *code, enum probe_op opcode, uint32_t operand)
{
    probe_made_op(code, opcode);
    code->bytes[code->used_bytes++] = (uint8_t)(operand >> 8);
    code->bytes[code->used_bytes++] = (uint8_t)operand;
}

void probe_made_local(struct probe_code *code, enum probe_op opcode, uint16_t number)
{
    probe_made_op(code, opcode); /* fewer than 256 of them: PROBE_CAPTURES_LIMIT */
    code->bytes[code->used_bytes++] = (uint8_t)number;
}

void probe_made_here(struct probe_code *code, uint8_t label)
{
    code->labels[label] = (uint16_t)code->used_bytes;
}

void probe_made_jump(struct probe_code *code, enum probe_op opcode, uint8_t label)
{
    probe_made_op2(code, opcode, 0);
    code->jumps[code->jump_count] = (uint16_t)(code->used_bytes - 2);
    code->jump_to[code->jump_count++] = label;
}

void probe_made_protect(struct probe_code *code, uint8_t from, uint8_t to, uint8_t handler)
{
    uint8_t *row = code->protects[code->protect_count++];

    row[0] = from;
    row[1] = to;
    row[2] = handler;
}

void probe_made_field(struct probe_making *making, struct probe_code *code, enum probe_op opcode,
                      const char *owner, const char *name, const char *descriptor)
{
    probe_made_op2(code, opcode, member(making, CLASSFILE_TAG_FIELD, owner, name, descriptor));
}

void probe_made_call(struct probe_making *making, struct probe_code *code, enum probe_op opcode,
                     const char *owner, const char *name, const char *descriptor)
{
    probe_made_op2(code, opcode, member(making, CLASSFILE_TAG_METHOD, owner, name, descriptor));
}

/* Loads the parameters of a type, which lie from local `at` on; the local behind them. */
uint16_t probe_made_load_parameters(struct probe_code *code, const char *type, uint16_t at)
{
    for (type++; *type != ')'; type++) {
        const enum probe_op load = *type == 'L'   ? OP_ALOAD
                                   : *type == 'J' ? OP_LLOAD
                                   : *type == 'D' ? OP_DLOAD
                                   : *type == 'F' ? OP_FLOAD
                                                  : OP_ILOAD;

        probe_made_local(code, load, at);
        at = (uint16_t)(at + (*type == 'J' || *type == 'D' ? 2 : 1));
        if (*type == 'L')
            type = strchr(type, ';');
    }
    return at;
}

uint16_t probe_made_parameter_words(const char *type)
{
    return probe_made_load_parameters(&(struct probe_code){.used_bytes = 0}, type, 0);
}

static void resolve_jumps(struct probe_code *code)
{
    for (uint32_t i = 0; i < code->jump_count; i++) {
        const int offset = code->labels[code->jump_to[i]] - (code->jumps[i] - 1);

        code->bytes[code->jumps[i]] = (uint8_t)(offset >> 8);
        code->bytes[code->jumps[i] + 1] = (uint8_t)offset;
    }
}

/* ---- methods and the class ---- */

/* Which of both it is depends on the JVM, which does not look at the other. Source: OpenJDK 8, and 9 to 28. */
static void put_apart(struct probe_making *making, struct probe_out *out)
{
    static const char *const names[] = {"Ljava/lang/invoke/DontInline;",
                                        "Ljdk/internal/vm/annotation/DontInline;"};

    put_u2(out, word(making, "RuntimeVisibleAnnotations"));
    put_u4(out, 2 + JW_COUNT_OF(names) * 4);
    put_u2(out, JW_COUNT_OF(names));
    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        put_u2(out, word(making, names[i]));
        put_u2(out, 0);
    }
}

void probe_made_method(struct probe_making *making, uint16_t access, const char *name,
                       const char *descriptor, struct probe_code *code)
{
    struct probe_out *out = &making->methods;

    put_u2(out, access);
    put_u2(out, word(making, name));
    put_u2(out, word(making, descriptor));
    put_u2(out, (code != NULL) + (code != NULL && code->is_apart));
    making->method_count++;
    if (code == NULL)
        return;
    if (code->is_apart)
        put_apart(making, out);
    resolve_jumps(code);
    put_u2(out, word(making, "Code"));
    put_u4(out, 12 + code->used_bytes + 8 * (size_t)code->protect_count);
    put_u2(out, code->stack);
    put_u2(out, code->locals);
    put_u4(out, code->used_bytes);
    put(out, code->bytes, code->used_bytes);
    put_u2(out, code->protect_count);
    for (uint32_t i = 0; i < code->protect_count; i++) {
        put_u2(out, code->labels[code->protects[i][0]]);
        put_u2(out, code->labels[code->protects[i][1]]);
        put_u2(out, code->labels[code->protects[i][2]]);
        put_u2(out, 0); /* whatever is thrown */
    }
    put_u2(out, 0);
}

void probe_made_begin(struct probe_making *making, uint8_t *bytes, size_t room_bytes,
                      uint16_t version)
{
    static const uint8_t head[] = {0xca, 0xfe, 0xba, 0xbe, 0, 0};

    *making = (struct probe_making){.out = {.bytes = bytes, .room_bytes = room_bytes}};
    making->methods = (struct probe_out){.bytes = making->method_bytes,
                                         .room_bytes = sizeof making->method_bytes};
    put(&making->out, head, sizeof head);
    put_u2(&making->out, version);
    put_u2(&making->out, 0); /* number of constants */
}

/* `field_name` NULL: none. */
size_t probe_made_finish(struct probe_making *making, uint16_t access, const char *name,
                         const char *super, const char *field_name, const char *field_type)
{
    struct probe_out *out = &making->out;
    const uint16_t name_index = class_of(making, name);
    const uint16_t super_index = class_of(making, super);
    const uint16_t field_index = field_name == NULL ? 0 : word(making, field_name);
    const uint16_t type_index = field_name == NULL ? 0 : word(making, field_type);

    put_u2(out, access);
    put_u2(out, name_index);
    put_u2(out, super_index);
    put_u2(out, 0);
    put_u2(out, field_name != NULL);
    if (field_name != NULL) {
        put_u2(out, CLASSFILE_STATIC);
        put_u2(out, field_index);
        put_u2(out, type_index);
        put_u2(out, 0);
    }
    put_u2(out, making->method_count);
    put(out, making->methods.bytes, making->methods.used_bytes);
    put_u2(out, 0);
    if (out->is_failed || making->methods.is_failed)
        return 0;
    out->bytes[8] = (uint8_t)((making->constants + 1) >> 8);
    out->bytes[9] = (uint8_t)(making->constants + 1);
    return out->used_bytes;
}

/* "(Lclass;..." of a static method that is given an object of the class before what `type` has. */
void probe_made_with_object(const char *name, const char *type, char *text_out, size_t room_bytes)
{
    snprintf(text_out, room_bytes, "(L%s;%s", name, type + 1);
}

/* Constructor of a class that extends `super`, which takes a handler. */
void probe_made_constructor(struct probe_making *making, uint16_t access, const char *super)
{
    struct probe_code code = {.stack = 2, .locals = 2};

    probe_made_local(&code, OP_ALOAD, 0);
    probe_made_local(&code, OP_ALOAD, 1);
    probe_made_call(making, &code, OP_INVOKESPECIAL, super, "<init>", "(" HANDLERS ")V");
    probe_made_op(&code, OP_RETURN);
    probe_made_method(making, access, "<init>", "(" HANDLERS ")V", &code);
}
