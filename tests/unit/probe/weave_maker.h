/* Handlers, a class that they are put into, and what comes of it, for the tests of this room. */
#ifndef JW_TESTS_WEAVE_MAKER_H
#define JW_TESTS_WEAVE_MAKER_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe_classes.h"
#include "probe/probe_weave.h"
#include "support/class_maker.h"

enum {
    ICONST_0 = 3,
    BIPUSH = 16,
    ILOAD = 21,
    ALOAD = 25,
    ILOAD_1 = 27,
    ALOAD_0 = 42,
    ISTORE = 54,
    LSTORE = 55,
    ASTORE = 58,
    POP = 87,
    DUP = 89,
    LSUB = 101,
    IRETURN = 172,
    RETURN = 177,
    INVOKEVIRTUAL = 182,
    INVOKESPECIAL = 183,
    INVOKESTATIC = 184,
    INVOKEDYNAMIC = 186,
    NEW = 187,
};

static struct class_maker maker;
static struct classfile_memory memory, read_memory;
static struct classfile_rewritten out;
static struct classfile written;
static struct probe_handler handlers[4];
static struct probe_weave_handler all[4];
static struct probe_woven woven[4];
static uint32_t count;

static inline void open_all(void)
{
    memory.capacity_bytes = read_memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
    read_memory.bytes = malloc(read_memory.capacity_bytes);
    count = 0;
}

static inline void close_all(void)
{
    for (uint32_t i = 0; i < count; i++)
        rules_close((struct rules *)(uintptr_t)all[i].rules);
    class_maker_free(&maker);
    free(memory.bytes);
    free(read_memory.bytes);
}

/* A handler that is given the first argument, as an int. */
static inline struct probe_handler *add_handler(enum probe_place place, const char *rules)
{
    struct jw_error err = {0};

    handlers[count] = (struct probe_handler){.class_name = "com/acme/Slow",
                                             .method_name = "seen",
                                             .descriptor = "(I)V",
                                             .place = place,
                                             .rules = rules,
                                             .capture_count = 1,
                                             .captures = {{PROBE_ARGUMENT, 0, 'I'}}};
    all[count] = (struct probe_weave_handler){.handler = &handlers[count],
                                              .rules = rules_parse(rules, strlen(rules), &err),
                                              .attach = 7,
                                              .number = count,
                                              .place = 5 + count};
    cr_assert(all[count].rules != NULL, "%s", err.message);
    return &handlers[count++];
}

/* com.acme.Shop of two methods: int add(int), and int all(); or another name. */
static inline void make_class(uint16_t major, const char *name)
{
    static const uint8_t bytes[] = {ILOAD_1, IRETURN};
    const struct class_maker_code code = {
        .bytes = bytes, .length = sizeof bytes, .stack = 1, .locals = 2};

    class_maker_begin(&maker, major, name, "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "(I)I", &code);
    class_maker_method(&maker, CLASSFILE_PUBLIC, "all", "()I", &code);
}

static inline int32_t site_of(const struct probe_handler *handler, struct classfile_text made,
                              struct classfile_text class_name, struct classfile_text method,
                              struct classfile_text descriptor)
{
    cr_assert(handler->site < 0);
    cr_assert(made.length_bytes == 0 && classfile_is_text(class_name, "com/acme/Shop"));
    cr_assert(classfile_is_text(descriptor, "(I)I") || classfile_is_text(descriptor, "()I"));
    return classfile_is_text(method, "add") ? 4 : -1;
}

static inline enum classfile_verdict weave_as(bool is_platform)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);
    const struct probe_weave_class of = {.bytes = whole.bytes,
                                         .length_bytes = whole.length,
                                         .is_static = is_platform,
                                         .site_of = site_of};
    const size_t old_bytes = memory.used_bytes = 0;
    const enum classfile_verdict verdict = probe_weave(all, count, &of, &memory, &out, woven);

    (void)old_bytes;
    if (verdict != CLASSFILE_OK || !out.is_changed) {
        cr_assert(out.bytes == whole.bytes && out.length_bytes == whole.length);
        return verdict;
    }
    read_memory.used_bytes = 0;
    cr_assert(classfile_read(out.bytes, out.length_bytes, &read_memory, &written) == CLASSFILE_OK);
    return verdict;
}

static inline bool weave(void)
{
    cr_assert(weave_as(false) == CLASSFILE_OK);
    return out.is_changed;
}

/* Where that instruction stands first in a method's code; 0: nowhere. What is looked for is never the first instruction. */
static inline uint32_t find(uint16_t method, uint8_t opcode, struct classfile_code *code)
{
    cr_assert(classfile_code_of(&written, &written.methods[method], code));
    for (uint32_t i = 1; i < code->length_bytes; i++) {
        if (code->bytes[i] == opcode)
            return i;
    }
    return 0;
}

#endif
