/* Class files made for probes, byte by byte. Context: control, tool. Source: The Java Virtual Machine Specification, chapters 4 and 6. */
#include "probe/probe_classes.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_internal.h"

/*
 * Below 50 there is no StackMapTable: gates have branches, and are classes of the boot loader, of which verification, where it is asked
 * for at all, finds the types by itself. Bridges are verified, and have no branch.
 */
#define GATE_VERSION   49
#define BRIDGE_VERSION 52

#define GATE     "java/lang/JaywalkGate"
#define HANDLER  "java/lang/JaywalkHandler"
#define SLOT     "java/lang/JaywalkSlot"
#define HANDLERS "L" HANDLER ";"
#define SLOTS    "L" SLOT ";"

enum op {
    OP_ICONST_0 = 3,
    OP_ICONST_1 = 4,
    OP_LCONST_0 = 9,
    OP_ILOAD = 21,
    OP_LLOAD = 22,
    OP_FLOAD = 23,
    OP_DLOAD = 24,
    OP_ALOAD = 25,
    OP_ASTORE = 58,
    OP_POP = 87,
    OP_DUP = 89,
    OP_IADD = 96,
    OP_IFEQ = 153,
    OP_IFNE = 154,
    OP_IF_ICMPNE = 160,
    OP_GOTO = 167,
    OP_RETURN = 177,
    OP_GETSTATIC = 178,
    OP_GETFIELD = 180,
    OP_PUTFIELD = 181,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKESPECIAL = 183,
    OP_INVOKESTATIC = 184,
    OP_CHECKCAST = 192,
    OP_IFNULL = 198,
};

struct out {
    uint8_t *bytes;
    size_t used_bytes;
    size_t room_bytes;
    bool is_failed;
};

#define CODE_BYTES     2048
#define LABELS         16
#define HANDLERS_LIMIT 8

/* The code of one method. */
struct code {
    uint8_t bytes[CODE_BYTES];
    size_t used_bytes;
    uint16_t labels[LABELS]; /* where they stand */
    uint16_t jumps[LABELS];  /* where the offsets to them stand ... */
    uint8_t jump_to[LABELS]; /* ... and which */
    uint32_t jump_count;
    uint8_t protects[HANDLERS_LIMIT][3]; /* labels: from, to, handler */
    uint32_t protect_count;
    uint16_t stack, locals;
};

struct making {
    struct out out; /* the constants, until the class is put together */
    uint16_t constants;
    struct out methods;
    uint16_t method_count;
    uint8_t method_bytes[4096];
};

static void put(struct out *out, const void *bytes, size_t length_bytes)
{
    if (out->is_failed || out->room_bytes - out->used_bytes < length_bytes) {
        out->is_failed = true;
        return;
    }
    memcpy(out->bytes + out->used_bytes, bytes, length_bytes);
    out->used_bytes += length_bytes;
}

static void put_u2(struct out *out, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};

    put(out, bytes, sizeof bytes);
}

static void put_u4(struct out *out, size_t value)
{
    put_u2(out, (uint32_t)(value >> 16));
    put_u2(out, (uint32_t)value & 0xffff);
}

/* ---- constants: each use makes its own, as there are few ---- */

static uint16_t text(struct making *making, const char *bytes, size_t length_bytes)
{
    const uint8_t tag = CLASSFILE_TAG_UTF8;

    put(&making->out, &tag, 1);
    put_u2(&making->out, (uint32_t)length_bytes);
    put(&making->out, bytes, length_bytes);
    making->out.is_failed |= length_bytes > UINT16_MAX;
    return ++making->constants;
}

static uint16_t word(struct making *making, const char *bytes)
{
    return text(making, bytes, strlen(bytes));
}

static uint16_t pair(struct making *making, enum classfile_tag tag, uint16_t first, uint16_t second)
{
    const uint8_t byte = (uint8_t)tag;

    put(&making->out, &byte, 1);
    put_u2(&making->out, first);
    if (tag != CLASSFILE_TAG_CLASS)
        put_u2(&making->out, second);
    return ++making->constants;
}

static uint16_t class_text(struct making *making, const char *name, size_t length_bytes)
{
    return pair(making, CLASSFILE_TAG_CLASS, text(making, name, length_bytes), 0);
}

static uint16_t class_of(struct making *making, const char *name)
{
    return class_text(making, name, strlen(name));
}

static uint16_t member(struct making *making, enum classfile_tag tag, const char *owner,
                       const char *name, const char *descriptor)
{
    const uint16_t owner_index = class_of(making, owner);
    const uint16_t name_index = word(making, name);
    const uint16_t both =
        pair(making, CLASSFILE_TAG_NAME_AND_TYPE, name_index, word(making, descriptor));

    return pair(making, tag, owner_index, both);
}

/* ---- code ---- */

static void op(struct code *code, enum op opcode)
{
    if (code->used_bytes + 4 <= CODE_BYTES)
        code->bytes[code->used_bytes++] = (uint8_t)opcode;
}

static void op2(struct code *code, enum op opcode, uint32_t operand)
{
    op(code, opcode);
    code->bytes[code->used_bytes++] = (uint8_t)(operand >> 8);
    code->bytes[code->used_bytes++] = (uint8_t)operand;
}

static void local(struct code *code, enum op opcode, uint16_t number)
{
    op(code, opcode); /* fewer than 256 of them: PROBE_CAPTURES_LIMIT */
    code->bytes[code->used_bytes++] = (uint8_t)number;
}

static void here(struct code *code, uint8_t label)
{
    code->labels[label] = (uint16_t)code->used_bytes;
}

static void jump(struct code *code, enum op opcode, uint8_t label)
{
    op2(code, opcode, 0);
    code->jumps[code->jump_count] = (uint16_t)(code->used_bytes - 2);
    code->jump_to[code->jump_count++] = label;
}

static void protect(struct code *code, uint8_t from, uint8_t to, uint8_t handler)
{
    uint8_t *row = code->protects[code->protect_count++];

    row[0] = from;
    row[1] = to;
    row[2] = handler;
}

static void field(struct making *making, struct code *code, enum op opcode, const char *owner,
                  const char *name, const char *descriptor)
{
    op2(code, opcode, member(making, CLASSFILE_TAG_FIELD, owner, name, descriptor));
}

static void call(struct making *making, struct code *code, enum op opcode, const char *owner,
                 const char *name, const char *descriptor)
{
    op2(code, opcode, member(making, CLASSFILE_TAG_METHOD, owner, name, descriptor));
}

/* Loads the parameters of a type, which lie from local `at` on; the local behind them. */
static uint16_t load_parameters(struct code *code, const char *type, uint16_t at)
{
    for (type++; *type != ')'; type++) {
        const enum op load = *type == 'L'   ? OP_ALOAD
                             : *type == 'J' ? OP_LLOAD
                             : *type == 'D' ? OP_DLOAD
                             : *type == 'F' ? OP_FLOAD
                                            : OP_ILOAD;

        local(code, load, at);
        at = (uint16_t)(at + (*type == 'J' || *type == 'D' ? 2 : 1));
        if (*type == 'L')
            type = strchr(type, ';');
    }
    return at;
}

static uint16_t parameter_words(const char *type)
{
    return load_parameters(&(struct code){.used_bytes = 0}, type, 0);
}

static void resolve_jumps(struct code *code)
{
    for (uint32_t i = 0; i < code->jump_count; i++) {
        const int offset = code->labels[code->jump_to[i]] - (code->jumps[i] - 1);

        code->bytes[code->jumps[i]] = (uint8_t)(offset >> 8);
        code->bytes[code->jumps[i] + 1] = (uint8_t)offset;
    }
}

/* ---- methods and the class ---- */

static void method(struct making *making, uint16_t access, const char *name, const char *descriptor,
                   struct code *code)
{
    struct out *out = &making->methods;

    put_u2(out, access);
    put_u2(out, word(making, name));
    put_u2(out, word(making, descriptor));
    put_u2(out, code != NULL);
    making->method_count++;
    if (code == NULL)
        return;
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

static void begin(struct making *making, uint8_t *bytes, size_t room_bytes, uint16_t version)
{
    static const uint8_t head[] = {0xca, 0xfe, 0xba, 0xbe, 0, 0};

    *making = (struct making){.out = {.bytes = bytes, .room_bytes = room_bytes}};
    making->methods =
        (struct out){.bytes = making->method_bytes, .room_bytes = sizeof making->method_bytes};
    put(&making->out, head, sizeof head);
    put_u2(&making->out, version);
    put_u2(&making->out, 0); /* number of constants */
}

/* `field_name` NULL: none. */
static size_t finish(struct making *making, uint16_t access, const char *name, const char *super,
                     const char *field_name, const char *field_type)
{
    struct out *out = &making->out;
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

void probe_gate_name(unsigned gate, char name[PROBE_CLASS_NAME_BYTES])
{
    snprintf(name, PROBE_CLASS_NAME_BYTES, GATE "%u", gate);
}

void probe_place_name(unsigned place, char name[PROBE_CLASS_NAME_BYTES])
{
    snprintf(name, PROBE_CLASS_NAME_BYTES, "java/lang/JaywalkPlace%u", place);
}

void probe_place_type(const char *type, char text_out[PROBE_PLACE_TYPE_BYTES])
{
    snprintf(text_out, PROBE_PLACE_TYPE_BYTES, "%.*sI)V", (int)strcspn(type, ")"), type);
}

/* "(Lclass;..." of a static method that is given an object of the class before what `type` has. */
static void with_object(const char *name, const char *type, char *text_out, size_t room_bytes)
{
    snprintf(text_out, room_bytes, "(L%s;%s", name, type + 1);
}

/* Constructor of a class that extends `super`, which takes a handler. */
static void constructor(struct making *making, uint16_t access, const char *super)
{
    struct code code = {.stack = 2, .locals = 2};

    local(&code, OP_ALOAD, 0);
    local(&code, OP_ALOAD, 1);
    call(making, &code, OP_INVOKESPECIAL, super, "<init>", "(" HANDLERS ")V");
    op(&code, OP_RETURN);
    method(making, access, "<init>", "(" HANDLERS ")V", &code);
}

enum label {
    TRY_ENTER,
    ENTERED,
    TRY_CALL,
    CALLED,
    LEAVE,
    OUTSIDE,
    TRY_LEAVE,
    LEFT,
    DONE,
    THROWN,
    TRY_TELL,
    TOLD,
    UNTOLD,
    UNENTERED,
    LOST,
    UNMEASURED,
};

static void put_handler(struct making *making, struct code *code)
{
    local(code, OP_ALOAD, 0);
    field(making, code, OP_GETFIELD, GATE, "handler", HANDLERS);
}

/* What was thrown is on the stack, and goes. */
static void count_one(struct making *making, struct code *code, const char *counter)
{
    op(code, OP_POP);
    put_handler(making, code);
    op(code, OP_DUP);
    field(making, code, OP_GETFIELD, HANDLER, counter, "I");
    op(code, OP_ICONST_1);
    op(code, OP_IADD);
    field(making, code, OP_PUTFIELD, HANDLER, counter, "I");
}

static void put_zero(struct making *making, struct code *code, uint16_t slot, const char *name,
                     const char *type)
{
    local(code, OP_ALOAD, slot);
    op(code, type[0] == 'J' ? OP_LCONST_0 : OP_ICONST_0);
    field(making, code, OP_PUTFIELD, SLOT, name, type);
}

/* The slot gets to know that the thread is out: where the thread owns it by loads and stores alone, which cannot fail. */
static void put_leaving(struct making *making, struct code *code, uint16_t slot)
{
    here(code, LEAVE);
    local(code, OP_ALOAD, slot);
    field(making, code, OP_GETFIELD, SLOT, "isShared", "Z");
    jump(code, OP_IFNE, TRY_LEAVE);
    put_zero(making, code, slot, "begunNs", "J");
    put_zero(making, code, slot, "isSpecial", "Z");
    here(code, OUTSIDE);
    local(code, OP_ALOAD, slot);
    op(code, OP_DUP);
    field(making, code, OP_GETFIELD, SLOT, "number", "J");
    field(making, code, OP_PUTFIELD, SLOT, "outside", "J");
    op(code, OP_RETURN);
    here(code, DONE);
    op(code, OP_RETURN);
    here(code, TRY_LEAVE);
    local(code, OP_ALOAD, slot);
    call(making, code, OP_INVOKESTATIC, SLOT, "leaveShared", "(" SLOTS ")V");
    here(code, LEFT);
    op(code, OP_RETURN);
    here(code, LOST);
    count_one(making, code, "lost");
    op(code, OP_RETURN);
    protect(code, TRY_LEAVE, LEFT, LOST);
}

static void put_enter(struct making *making, struct code *code, const char *name, const char *type)
{
    const uint16_t attach = (uint16_t)(parameter_words(type) + 1);
    const uint16_t slot = (uint16_t)(attach + 1), thrown = (uint16_t)(slot + 1);

    code->stack = (uint16_t)(slot + 4);
    code->locals = (uint16_t)(slot + 2);
    /* Code that was made for an earlier attach may still run, and be linked now. */
    put_handler(making, code);
    field(making, code, OP_GETFIELD, HANDLER, "attach", "I");
    local(code, OP_ILOAD, attach);
    jump(code, OP_IF_ICMPNE, DONE);
    here(code, TRY_ENTER);
    put_handler(making, code);
    call(making, code, OP_INVOKESTATIC, SLOT, "enter", "(" HANDLERS ")" SLOTS);
    here(code, ENTERED);
    local(code, OP_ASTORE, slot);
    local(code, OP_ALOAD, slot);
    jump(code, OP_IFNULL, DONE);
    here(code, TRY_CALL);
    local(code, OP_ALOAD, 0);
    (void)load_parameters(code, type, 1);
    call(making, code, OP_INVOKEVIRTUAL, name, "call", type);
    local(code, OP_ALOAD, slot);
    field(making, code, OP_GETFIELD, SLOT, "isSpecial", "Z");
    jump(code, OP_IFEQ, OUTSIDE); /* most calls */
    here(code, TRY_TELL);
    local(code, OP_ALOAD, slot);
    put_handler(making, code);
    call(making, code, OP_INVOKESTATIC, SLOT, "measured", "(" SLOTS HANDLERS ")V");
    here(code, CALLED);
    put_leaving(making, code, slot);
    here(code, THROWN);
    local(code, OP_ASTORE, thrown);
    here(code, UNMEASURED);
    put_handler(making, code);
    local(code, OP_ALOAD, thrown);
    call(making, code, OP_INVOKESTATIC, HANDLER, "threw", "(" HANDLERS "Ljava/lang/Throwable;)V");
    here(code, TOLD);
    jump(code, OP_GOTO, LEAVE);
    here(code, UNTOLD);
    count_one(making, code, "dropped");
    jump(code, OP_GOTO, LEAVE);
    here(code, UNENTERED);
    count_one(making, code, "dropped");
    op(code, OP_RETURN);
    protect(code, TRY_ENTER, ENTERED, UNENTERED);
    protect(code, TRY_CALL, TRY_TELL, THROWN);
    protect(code, TRY_TELL, CALLED, UNTOLD);
    protect(code, UNMEASURED, TOLD, UNTOLD);
}

size_t probe_gate_class(unsigned gate, const char *type, uint8_t *bytes, size_t room_bytes)
{
    char name[PROBE_CLASS_NAME_BYTES], place_type[PROBE_PLACE_TYPE_BYTES];
    char entry[PROBE_PLACE_TYPE_BYTES + PROBE_CLASS_NAME_BYTES + 4];
    struct making making;
    struct code code = {.used_bytes = 0};

    probe_gate_name(gate, name);
    probe_place_type(type, place_type);
    with_object(name, place_type, entry, sizeof entry);
    begin(&making, bytes, room_bytes, GATE_VERSION);
    constructor(&making, CLASSFILE_PROTECTED, GATE);
    method(&making, CLASSFILE_PUBLIC | CLASSFILE_ABSTRACT, "call", type, NULL);
    put_enter(&making, &code, name, type);
    method(&making, CLASSFILE_PUBLIC | CLASSFILE_STATIC, "enter", entry, &code);
    return finish(&making, CLASSFILE_PUBLIC | CLASSFILE_ABSTRACT | CLASSFILE_SYNCHRONIZED, name,
                  GATE, NULL, NULL);
}

size_t probe_place_class(unsigned place, unsigned gate, const char *type, uint8_t *bytes,
                         size_t room_bytes)
{
    char name[PROBE_CLASS_NAME_BYTES], gate_name[PROBE_CLASS_NAME_BYTES];
    char place_type[PROBE_PLACE_TYPE_BYTES], field_type[PROBE_CLASS_NAME_BYTES + 2];
    char entry[PROBE_PLACE_TYPE_BYTES + PROBE_CLASS_NAME_BYTES + 4];
    const uint16_t attach = parameter_words(type), found = (uint16_t)(attach + 1);
    struct making making;
    struct code code = {.stack = (uint16_t)(attach + 3), .locals = (uint16_t)(found + 1)};

    probe_place_name(place, name);
    probe_gate_name(gate, gate_name);
    probe_place_type(type, place_type);
    with_object(gate_name, place_type, entry, sizeof entry);
    snprintf(field_type, sizeof field_type, "L%s;", gate_name);
    begin(&making, bytes, room_bytes, GATE_VERSION);
    field(&making, &code, OP_GETSTATIC, name, "gate", field_type);
    local(&code, OP_ASTORE, found);
    local(&code, OP_ALOAD, found);
    jump(&code, OP_IFNULL, DONE);
    local(&code, OP_ALOAD, found);
    (void)load_parameters(&code, type, 0);
    local(&code, OP_ILOAD, attach);
    call(&making, &code, OP_INVOKESTATIC, gate_name, "enter", entry);
    here(&code, DONE);
    op(&code, OP_RETURN);
    method(&making, CLASSFILE_PUBLIC | CLASSFILE_STATIC, "enter", place_type, &code);
    return finish(&making, CLASSFILE_PUBLIC | CLASSFILE_FINAL | CLASSFILE_SYNCHRONIZED, name,
                  "java/lang/Object", "gate", field_type);
}

size_t probe_bridge_room_bytes(const struct probe_handler *handler)
{
    return PROBE_CLASS_BYTES + 3 * strlen(handler->class_name) + strlen(handler->method_name) +
           2 * strlen(handler->descriptor);
}

static void fetch(struct making *making, struct code *code, const char *name,
                  struct classfile_text type)
{
    char descriptor[64];

    snprintf(descriptor, sizeof descriptor, "()%.*s", (int)type.length_bytes, type.bytes);
    call(making, code, OP_INVOKESTATIC, PROBE_CONTEXT_CLASS, name, descriptor);
}

/* The handler's own types are those of the gate, but for its references. */
static void load_cast(struct making *making, struct code *code, const struct probe_handler *handler)
{
    const struct classfile_text descriptor = {handler->descriptor,
                                              (uint32_t)strlen(handler->descriptor)};
    struct classfile_text type;
    uint32_t at = 1; /* behind the parenthesis */
    uint16_t number = 1, stack = 0;

    for (unsigned i = 0; classfile_next_type(descriptor, &at, &type); i++) {
        const char first = type.bytes[0];
        const bool is_reference = first == 'L' || first == '[';
        const uint16_t words = first == 'J' || first == 'D' ? 2 : 1;
        const char *fetched =
            i < handler->capture_count ? probe_kind_fetched(handler->captures[i].kind) : NULL;

        stack = (uint16_t)(stack + words);
        if (fetched != NULL) {
            fetch(making, code, fetched, type);
            continue;
        }

        local(code,
              is_reference   ? OP_ALOAD
              : first == 'J' ? OP_LLOAD
              : first == 'D' ? OP_DLOAD
              : first == 'F' ? OP_FLOAD
                             : OP_ILOAD,
              number);
        number = (uint16_t)(number + words);
        if (is_reference && !classfile_is_text(type, "Ljava/lang/Object;"))
            op2(code, OP_CHECKCAST,
                first == '[' ? class_text(making, type.bytes, type.length_bytes)
                             : class_text(making, type.bytes + 1, type.length_bytes - 2));
    }
    code->locals = number;
    code->stack = stack;
}

size_t probe_bridge_class(const struct probe_handler *handler, unsigned number, unsigned gate,
                          uint8_t *bytes, size_t room_bytes)
{
    char gate_name[PROBE_CLASS_NAME_BYTES], type[PROBE_CALL_TYPE_BYTES], name[1024];
    struct making making;
    struct code code = {.used_bytes = 0};
    const int name_bytes = snprintf(name, sizeof name, "%s$Jaywalk%u", handler->class_name, number);

    if (name_bytes < 0 || (size_t)name_bytes >= sizeof name)
        return 0;
    probe_gate_name(gate, gate_name);
    probe_call_type(handler, type);
    begin(&making, bytes, room_bytes, BRIDGE_VERSION);
    constructor(&making, CLASSFILE_PUBLIC, gate_name);
    load_cast(&making, &code, handler);
    call(&making, &code, OP_INVOKESTATIC, handler->class_name, handler->method_name,
         handler->descriptor);
    op(&code, OP_RETURN);
    method(&making, CLASSFILE_PUBLIC, "call", type, &code);
    return finish(&making,
                  CLASSFILE_PUBLIC | CLASSFILE_FINAL | CLASSFILE_SYNCHRONIZED | CLASSFILE_SYNTHETIC,
                  name, gate_name, NULL, NULL);
}
