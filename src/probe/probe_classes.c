/* Class files made for probes: places and bridges; gates are in probe_gate.c. Context: control, tool. */
#include "probe/probe_classes.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_made_internal.h"

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

size_t probe_place_class(unsigned place, unsigned gate, const char *type, uint8_t *bytes,
                         size_t room_bytes)
{
    char name[PROBE_CLASS_NAME_BYTES], gate_name[PROBE_CLASS_NAME_BYTES];
    char place_type[PROBE_PLACE_TYPE_BYTES], field_type[PROBE_CLASS_NAME_BYTES + 2];
    char entry[PROBE_PLACE_TYPE_BYTES + PROBE_CLASS_NAME_BYTES + 4];
    const uint16_t attach = probe_made_parameter_words(type), found = (uint16_t)(attach + 1);
    struct probe_making making;
    struct probe_code code = {.stack = (uint16_t)(attach + 3), .locals = (uint16_t)(found + 1)};

    probe_place_name(place, name);
    probe_gate_name(gate, gate_name);
    probe_place_type(type, place_type);
    probe_made_with_object(gate_name, place_type, entry, sizeof entry);
    snprintf(field_type, sizeof field_type, "L%s;", gate_name);
    probe_made_begin(&making, bytes, room_bytes, GATE_VERSION);
    probe_made_field(&making, &code, OP_GETSTATIC, name, "gate", field_type);
    probe_made_local(&code, OP_ASTORE, found);
    probe_made_local(&code, OP_ALOAD, found);
    probe_made_jump(&code, OP_IFNULL, 0 /* the only label */);
    probe_made_local(&code, OP_ALOAD, found);
    (void)probe_made_load_parameters(&code, type, 0);
    probe_made_local(&code, OP_ILOAD, attach);
    probe_made_call(&making, &code, OP_INVOKESTATIC, gate_name, "enter", entry);
    probe_made_here(&code, 0 /* the only label */);
    probe_made_op(&code, OP_RETURN);
    probe_made_method(&making, CLASSFILE_PUBLIC | CLASSFILE_STATIC, "enter", place_type, &code);
    return probe_made_finish(&making, CLASSFILE_PUBLIC | CLASSFILE_FINAL | CLASSFILE_SYNCHRONIZED,
                             name, "java/lang/Object", "gate", field_type);
}

size_t probe_bridge_room_bytes(const struct probe_handler *handler)
{
    return PROBE_CLASS_BYTES + 3 * strlen(handler->class_name) + strlen(handler->method_name) +
           2 * strlen(handler->descriptor);
}

static void fetch(struct probe_making *making, struct probe_code *code, const char *name,
                  struct classfile_text type)
{
    char descriptor[64];

    snprintf(descriptor, sizeof descriptor, "()%.*s", (int)type.length_bytes, type.bytes);
    probe_made_call(making, code, OP_INVOKESTATIC, PROBE_CONTEXT_CLASS, name, descriptor);
}

/* The handler's own types are those of the gate, but for its references. */
static void load_cast(struct probe_making *making, struct probe_code *code,
                      const struct probe_handler *handler)
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

        probe_made_local(code,
                         is_reference   ? OP_ALOAD
                         : first == 'J' ? OP_LLOAD
                         : first == 'D' ? OP_DLOAD
                         : first == 'F' ? OP_FLOAD
                                        : OP_ILOAD,
                         number);
        number = (uint16_t)(number + words);
        if (is_reference && !classfile_is_text(type, "Ljava/lang/Object;"))
            probe_made_op2(
                code, OP_CHECKCAST,
                first == '['
                    ? probe_made_class_text(making, type.bytes, type.length_bytes)
                    : probe_made_class_text(making, type.bytes + 1, type.length_bytes - 2));
    }
    code->locals = number;
    code->stack = stack;
}

size_t probe_bridge_class(const struct probe_handler *handler, unsigned number, unsigned gate,
                          uint8_t *bytes, size_t room_bytes)
{
    char gate_name[PROBE_CLASS_NAME_BYTES], type[PROBE_CALL_TYPE_BYTES], name[1024];
    struct probe_making making;
    struct probe_code code = {.used_bytes = 0};
    const int name_bytes = snprintf(name, sizeof name, "%s$Jaywalk%u", handler->class_name, number);

    if (name_bytes < 0 || (size_t)name_bytes >= sizeof name)
        return 0;
    probe_gate_name(gate, gate_name);
    probe_call_type(handler, type);
    probe_made_begin(&making, bytes, room_bytes, BRIDGE_VERSION);
    probe_made_constructor(&making, CLASSFILE_PUBLIC, gate_name);
    load_cast(&making, &code, handler);
    probe_made_call(&making, &code, OP_INVOKESTATIC, handler->class_name, handler->method_name,
                    handler->descriptor);
    probe_made_op(&code, OP_RETURN);
    probe_made_method(&making, CLASSFILE_PUBLIC, "call", type, &code);
    return probe_made_finish(
        &making, CLASSFILE_PUBLIC | CLASSFILE_FINAL | CLASSFILE_SYNCHRONIZED | CLASSFILE_SYNTHETIC,
        name, gate_name, NULL, NULL);
}
