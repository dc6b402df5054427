/* Class files made for probes: they are whole, have the names and methods that others call, and do not overrun their room. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe_classes.h"

static struct classfile_memory memory;
static struct classfile file;
static uint8_t bytes[PROBE_CLASS_BYTES];

/* Every kind of parameter, as many as a handler may have. */
#define LONG_TYPE "(JDFIZBCSLjava/lang/Object;JDLjava/lang/Object;JDJLjava/lang/Object;)V"

static void open_all(void)
{
    memory.capacity_bytes = classfile_memory_bytes(PROBE_CLASS_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
}

static void close_all(void)
{
    free(memory.bytes);
}

TestSuite(probe_classes, .init = open_all, .fini = close_all, .timeout = 1800);

static void read_class(size_t length_bytes, const char *name)
{
    cr_assert(length_bytes > 0);
    memory.used_bytes = 0;
    cr_assert(classfile_read(bytes, length_bytes, &memory, &file) == CLASSFILE_OK);
    cr_expect(classfile_is_text(classfile_name(&file), name));
}

static const struct classfile_member *find(const char *name)
{
    for (uint16_t i = 0; i < file.method_count; i++) {
        if (classfile_is_text(classfile_text_of(&file, file.methods[i].name_index), name))
            return &file.methods[i];
    }
    cr_assert_fail("no method %s", name);
    return NULL;
}

static void expect_type(const char *method, const char *descriptor)
{
    const struct classfile_text text = classfile_text_of(&file, find(method)->descriptor_index);

    cr_expect(classfile_is_text(text, descriptor), "%s: %.*s", method, (int)text.length_bytes,
              text.bytes);
}

Test(probe_classes, a_gate_is_entered_with_the_number_of_the_attach_behind_all_else)
{
    read_class(probe_gate_class(3, "(Ljava/lang/Object;J)V", bytes, sizeof bytes),
               "java/lang/JaywalkGate3");
    cr_expect(classfile_is_text(classfile_super(&file), "java/lang/JaywalkGate"));
    expect_type("enter", "(Ljava/lang/JaywalkGate3;Ljava/lang/Object;JI)V");
    expect_type("slowly", "(Ljava/lang/JaywalkGate3;Ljava/lang/Object;J)V");
    expect_type("call", "(Ljava/lang/Object;J)V");
    cr_expect((find("call")->access & CLASSFILE_ABSTRACT) != 0);
}

Test(probe_classes, a_place_is_a_static_method_of_the_same_type)
{
    read_class(probe_place_class(12, 3, "(Ljava/lang/Object;J)V", bytes, sizeof bytes),
               "java/lang/JaywalkPlace12");
    expect_type("enter", "(Ljava/lang/Object;JI)V");
    cr_expect_eq(file.field_count, 1);
}

Test(probe_classes, types_of_all_kinds_have_locals_and_stack_enough)
{
    struct classfile_code code;

    read_class(probe_gate_class(0, LONG_TYPE, bytes, sizeof bytes), "java/lang/JaywalkGate0");
    cr_assert(classfile_code_of(&file, find("enter"), &code));
    /* Seven of two words and nine of one, the gate, the attach, the thread's number, its slot, calls and what was thrown. */
    cr_expect_eq(code.local_count, 7 * 2 + 9 + 2 + 2 + 1 + 2 + 1);
    cr_expect_geq(code.stack_count, 7 * 2 + 9 + 1);
    cr_assert(classfile_code_of(&file, find("slowly"), &code));
    /* ... the gate, the slot and what was thrown. */
    cr_expect_eq(code.local_count, 7 * 2 + 9 + 3);
    cr_expect_geq(code.stack_count, 7 * 2 + 9 + 1);
    read_class(probe_place_class(0, 0, LONG_TYPE, bytes, sizeof bytes), "java/lang/JaywalkPlace0");
    cr_assert(classfile_code_of(&file, find("enter"), &code));
    cr_expect_geq(code.stack_count, 7 * 2 + 9 + 2);
}

Test(probe_classes, a_bridge_lies_beside_its_handler)
{
    const struct probe_handler handler = {
        .class_name = "com/acme/Slow",
        .method_name = "seen",
        .descriptor = "(Ljava/lang/Throwable;[Ljava/lang/Object;J)V",
        .capture_count = 3,
        .captures = {{PROBE_THROWN, 0, 'L'}, {PROBE_ARGUMENTS, 0, 'L'}, {PROBE_DURATION, 0, 'J'}}};

    cr_assert_leq(probe_bridge_room_bytes(&handler), 2 * sizeof bytes);
    read_class(probe_bridge_class(&handler, 9, 3, bytes, sizeof bytes), "com/acme/Slow$Jaywalk9");
    cr_expect(classfile_is_text(classfile_super(&file), "java/lang/JaywalkGate3"));
    expect_type("call", "(Ljava/lang/Object;Ljava/lang/Object;J)V");
}

Test(probe_classes, a_bridge_fetches_what_no_place_gives)
{
    const struct probe_handler handler = {
        .class_name = "com/acme/Slow",
        .method_name = "seen",
        .descriptor = "(Ljava/lang/String;JLjava/lang/String;JLjava/lang/String;I)V",
        .capture_count = 6,
        .captures = {{PROBE_CALLER, 0, 'L'},
                     {PROBE_DURATION, 0, 'J'},
                     {PROBE_ENDPOINT, 0, 'L'},
                     {PROBE_SPAN, 0, 'J'},
                     {PROBE_TRACE, 0, 'L'},
                     {PROBE_ARGUMENT, 0, 'I'}}};
    static const char *const calls[][2] = {{"caller", "()Ljava/lang/String;"},
                                           {"endpoint", "()Ljava/lang/String;"},
                                           {"spanId", "()J"},
                                           {"traceId", "()Ljava/lang/String;"}};
    struct classfile_code code;
    char type[PROBE_CALL_TYPE_BYTES];

    probe_call_type(&handler, type);
    cr_expect_str_eq(type, "(JI)V");
    const size_t length_bytes = probe_bridge_class(&handler, 9, 3, bytes, sizeof bytes);
    read_class(length_bytes, "com/acme/Slow$Jaywalk9");
    expect_type("call", "(JI)V");
    cr_assert(classfile_code_of(&file, find("call"), &code));
    cr_expect_eq(code.local_count, 1 + 2 + 1);
    cr_expect_eq(code.stack_count, 1 + 2 + 1 + 2 + 1 + 1);
    cr_expect(memmem(bytes, length_bytes, PROBE_CONTEXT_CLASS, strlen(PROBE_CONTEXT_CLASS)));
    for (size_t i = 0; i < JW_COUNT_OF(calls); i++) {
        for (size_t j = 0; j < 2; j++)
            cr_expect(memmem(bytes, length_bytes, calls[i][j], strlen(calls[i][j])), "%s",
                      calls[i][j]);
    }
}

Test(probe_classes, too_little_room_gives_nothing_and_is_not_overrun)
{
    const size_t whole = probe_gate_class(1, LONG_TYPE, bytes, sizeof bytes);

    for (size_t room = 0; room < whole; room++) {
        memset(bytes, 0xaa, sizeof bytes);
        cr_assert_eq(probe_gate_class(1, LONG_TYPE, bytes, room), 0);
        cr_assert_eq(bytes[room], 0xaa);
    }
    cr_expect_eq(probe_gate_class(1, LONG_TYPE, bytes, whole), whole);
}
