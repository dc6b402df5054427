/* Calls of handlers in methods: which methods, by which instruction, with what; and what is left alone. */
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

static void open_all(void)
{
    memory.capacity_bytes = read_memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
    read_memory.bytes = malloc(read_memory.capacity_bytes);
    count = 0;
}

static void close_all(void)
{
    for (uint32_t i = 0; i < count; i++)
        rules_close((struct rules *)(uintptr_t)all[i].rules);
    class_maker_free(&maker);
    free(memory.bytes);
    free(read_memory.bytes);
}

TestSuite(probe_weave, .init = open_all, .fini = close_all, .timeout = 300);

/* A handler that is given the first argument, as an int. */
static struct probe_handler *add_handler(enum probe_place place, const char *rules)
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
static void make_class(uint16_t major, const char *name)
{
    static const uint8_t bytes[] = {ILOAD_1, IRETURN};
    const struct class_maker_code code = {
        .bytes = bytes, .length = sizeof bytes, .stack = 1, .locals = 2};

    class_maker_begin(&maker, major, name, "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "add", "(I)I", &code);
    class_maker_method(&maker, CLASSFILE_PUBLIC, "all", "()I", &code);
}

static int32_t site_of(const struct probe_handler *handler, struct classfile_text class_name,
                       struct classfile_text method, struct classfile_text descriptor)
{
    cr_assert(handler->site < 0);
    cr_assert(classfile_is_text(class_name, "com/acme/Shop"));
    cr_assert(classfile_is_text(descriptor, "(I)I") || classfile_is_text(descriptor, "()I"));
    return classfile_is_text(method, "add") ? 4 : -1;
}

static enum classfile_verdict weave_as(bool is_platform)
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

static bool weave(void)
{
    cr_assert(weave_as(false) == CLASSFILE_OK);
    return out.is_changed;
}

/* Where that instruction stands first in a method's code; 0: nowhere. What is looked for is never the first instruction. */
static uint32_t find(uint16_t method, uint8_t opcode, struct classfile_code *code)
{
    cr_assert(classfile_code_of(&written, &written.methods[method], code));
    for (uint32_t i = 1; i < code->length_bytes; i++) {
        if (code->bytes[i] == opcode)
            return i;
    }
    return 0;
}

static bool has_bootstraps(void)
{
    struct classfile_attribute attribute;

    return classfile_find_attribute(&written, written.attributes, "BootstrapMethods", &attribute);
}

Test(probe_weave, classes_of_the_application_are_linked_dynamically)
{
    struct classfile_code code;

    add_handler(PROBE_ENTRY, "include class name=com.acme.*");
    make_class(52, "com/acme/Shop");
    cr_assert(weave());

    const uint32_t at = find(0, INVOKEDYNAMIC, &code);
    cr_assert(at != 0 && has_bootstraps());
    const struct classfile_reference site =
        classfile_reference_of(&written, (uint16_t)(code.bytes[at + 1] << 8 | code.bytes[at + 2]));
    cr_expect(classfile_is_text(site.descriptor, "(II)V"));
    cr_expect_eq(find(1, INVOKEDYNAMIC, &code), 0);
    cr_expect(woven[0].methods == 1 && woven[0].places == 1);
    cr_expect_eq(woven[0].unfit, 1); /* all() has no argument */
}

/* The text of the string that a ldc_w in a method loads. */
static struct classfile_text loaded_text(uint16_t method)
{
    enum { LDC_W = 19 };
    struct classfile_code code;
    const uint32_t at = find(method, LDC_W, &code);
    const uint32_t first = code.bytes[0] == LDC_W ? 0 : at;
    const uint8_t *string =
        written.bytes +
        written.constant_offsets[code.bytes[first + 1] << 8 | code.bytes[first + 2]];

    cr_assert(string[0] == CLASSFILE_TAG_STRING);
    return classfile_text_of(&written, (uint16_t)(string[1] << 8 | string[2]));
}

Test(probe_weave, a_handler_is_given_the_name_of_the_rule_that_took_the_method)
{
    struct probe_handler *handler =
        add_handler(PROBE_ENTRY, "exclude method name=none\n"
                                 "sums: include class name=com.acme.* method name=add\n"
                                 "include class name=com.acme.*");

    handler->descriptor = "(Ljava/lang/String;)V";
    handler->captures[0] = (struct probe_capture){PROBE_RULE, 0, 'L'};
    make_class(52, "com/acme/Shop");
    cr_assert(weave());
    cr_expect(classfile_is_text(loaded_text(0), "sums"));
    cr_expect(classfile_is_text(loaded_text(1), "rule 3"));
}

Test(probe_weave, old_classes_and_those_of_the_platform_are_called_statically)
{
    for (int i = 0; i < 2; i++) {
        struct classfile_code code;
        char name[PROBE_CLASS_NAME_BYTES];

        count = 0;
        add_handler(PROBE_RETURN, "include class name=com.acme.*");
        make_class(i == 0 ? 50 : 52, "com/acme/Shop");
        cr_assert(weave_as(i == 1) == CLASSFILE_OK && out.is_changed);
        const uint32_t at = find(0, INVOKESTATIC, &code);
        cr_assert(at != 0 && !has_bootstraps());
        const struct classfile_reference called = classfile_reference_of(
            &written, (uint16_t)(code.bytes[at + 1] << 8 | code.bytes[at + 2]));
        probe_place_name(5, name);
        cr_expect(classfile_is_text(called.owner, name));
        cr_expect(classfile_is_text(called.descriptor, "(II)V"));
        rules_close((struct rules *)(uintptr_t)all[0].rules);
        count = 0;
    }
}

Test(probe_weave, handlers_of_a_place_are_called_in_their_order)
{
    struct classfile_code code;
    unsigned seen = 0;

    add_handler(PROBE_ENTRY, "include class name=com.acme.* method name=add");
    add_handler(PROBE_RETURN, "include class name=com.acme.* method name=add");
    add_handler(PROBE_ENTRY, "include class name=com.acme.Shop method name=add");
    make_class(50, "com/acme/Shop");
    cr_assert(weave());
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    for (uint32_t i = 0; i + 2 < code.length_bytes; i++) {
        static const unsigned order[] = {5, 7, 6};
        char name[PROBE_CLASS_NAME_BYTES];

        if (code.bytes[i] != INVOKESTATIC)
            continue;
        probe_place_name(order[seen++], name);
        cr_expect(classfile_is_text(
            classfile_reference_of(&written, (uint16_t)(code.bytes[i + 1] << 8 | code.bytes[i + 2]))
                .owner,
            name));
        i += 2;
    }
    cr_expect_eq(seen, 3);
}

Test(probe_weave, the_next_attach_asks_for_no_further_constants)
{
    static uint8_t first[CLASS_MAKER_BYTES];
    uint32_t first_end;

    add_handler(PROBE_ENTRY, "include class name=com.acme.*");
    add_handler(PROBE_RETURN, "include class name=com.acme.*");
    make_class(52, "com/acme/Shop");
    cr_assert(weave());
    first_end = written.constants_end_bytes;
    memcpy(first, out.bytes, out.length_bytes);
    all[0].attach = all[1].attach = 30000;
    cr_assert(weave());
    cr_assert_eq(written.constants_end_bytes, first_end);
    cr_expect(memcmp(out.bytes, first, first_end) == 0);
    cr_expect(memcmp(out.bytes, first, out.length_bytes) != 0);
}

Test(probe_weave, what_no_rule_takes_and_what_cannot_be_told_stays)
{
    add_handler(PROBE_ENTRY, "include class name=org.other.*");
    make_class(52, "com/acme/Shop");
    cr_expect(!weave());
    cr_expect(!probe_weave_may_touch(all, count, "com/acme/Shop", NULL));
    add_handler(PROBE_ENTRY, "include class name=com.acme.* loader=app");
    cr_expect(probe_weave_may_touch(all, count, "com/acme/Shop", NULL));
    cr_expect(!weave());
    cr_expect(woven[0].untold == 0 && woven[1].untold == 2);
}

Test(probe_weave, what_calls_of_handlers_stand_on_is_left_alone_whatever_rules_lift)
{
    static const char *const beneath[] = {
        "java/lang/invoke/MethodHandle", "java/lang/Integer",  "java/lang/VirtualThread",
        "jdk/internal/vm/Continuation",  "java/lang/System$1", "jdk/internal/access/SharedSecrets",
        "java/lang/JaywalkSlot"};
    static const uint8_t bytes[] = {ILOAD_1, IRETURN};
    const struct class_maker_code code = {
        .bytes = bytes, .length = sizeof bytes, .stack = 1, .locals = 2};

    add_handler(PROBE_ENTRY, "include class name=** lift platform");
    for (size_t i = 0; i < JW_COUNT_OF(beneath); i++) {
        make_class(52, beneath[i]);
        cr_expect(weave_as(true) == CLASSFILE_OK && !out.is_changed, "%s", beneath[i]);
        cr_expect(!probe_weave_may_touch(all, count, beneath[i], NULL), "%s", beneath[i]);
    }
    make_class(52, "java/util/ArrayList");
    cr_expect(weave_as(true) == CLASSFILE_OK && out.is_changed);

    class_maker_begin(&maker, 52, "java/lang/Thread", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "getContinuation", "(I)I", &code);
    cr_expect(weave_as(true) == CLASSFILE_OK && !out.is_changed);
    class_maker_begin(&maker, 52, "java/lang/Thread", "java/lang/Object");
    class_maker_method(&maker, CLASSFILE_PUBLIC, "start", "(I)I", &code);
    cr_expect(weave_as(true) == CLASSFILE_OK && out.is_changed);
}

Test(probe_weave, a_class_that_is_cut_or_damaged_stays_as_it_is_or_is_whole)
{
    static uint8_t damaged[CLASS_MAKER_BYTES];
    uint32_t random = 12345;

    add_handler(PROBE_ENTRY, "include class name=**");
    add_handler(PROBE_THROW, "include class name=**")->captures[0].kind = PROBE_ARGUMENT;
    make_class(52, "com/acme/Shop");

    const struct class_maker_bytes whole = class_maker_end(&maker);
    for (uint32_t i = 0; i < 20000; i++) {
        struct probe_weave_class of = {.bytes = damaged, .length_bytes = whole.length};

        memcpy(damaged, whole.bytes, whole.length);
        random = random * 1103515245u + 12345u;
        if (i < whole.length)
            of.length_bytes = i;
        else
            damaged[(random >> 8) % whole.length] = (uint8_t)(random >> 24);
        memory.used_bytes = read_memory.used_bytes = 0;
        if (probe_weave(all, count, &of, &memory, &out, woven) != CLASSFILE_OK || !out.is_changed)
            cr_assert(out.bytes == damaged && out.length_bytes == of.length_bytes);
        else
            cr_assert(classfile_read(out.bytes, out.length_bytes, &read_memory, &written) ==
                      CLASSFILE_OK);
    }
}

Test(probe_weave, calls_of_the_agents_own_are_static_in_each_class)
{
    struct probe_handler *handler = add_handler(PROBE_RETURN, "include class name=com.acme.*");
    struct classfile_code code;
    uint32_t at;

    handler->target = "java/lang/JaywalkTimer";
    handler->method_name = "returned";
    handler->descriptor = "(JII)V";
    handler->site = 3;
    handler->captures[0] = (struct probe_capture){PROBE_DURATION, 0, 'J'};
    make_class(52, "com/acme/Shop");
    cr_assert(weave());
    cr_assert_eq(woven[0].methods, 2);
    cr_assert_eq(woven[0].places, 2);
    cr_assert_not(has_bootstraps(), "it is no dynamic call");
    /* nanoTime at the beginning, into a local behind those of the method; at the end the difference, the site, the attach, the call. */
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    cr_assert_eq(code.bytes[0], INVOKESTATIC);
    cr_assert_eq(code.bytes[3], LSTORE);
    cr_assert_geq(code.bytes[4], 2);
    at = find(0, LSUB, &code);
    cr_assert_neq(at, 0);
    cr_assert_eq(code.bytes[at + 1], ICONST_0 + 3);
    cr_assert_eq(code.bytes[at + 2], BIPUSH);
    cr_assert_eq(code.bytes[at + 3], all[0].attach);
    cr_assert_eq(code.bytes[at + 4], INVOKESTATIC);
    cr_assert_eq(code.bytes[at + 7], IRETURN);
}

Test(probe_weave, what_is_counted_is_so_once_at_the_entry_if_there_is_a_number_for_it)
{
    struct classfile_code code;

    for (int i = 0; i < 2; i++) {
        struct probe_handler *handler = add_handler(PROBE_ENTRY, "include class name=com.acme.*");

        handler->target = "java/lang/JaywalkCounts";
        handler->method_name = "counted";
        handler->descriptor = "(II)V";
        handler->site = -1;
        handler->capture_count = 0;
    }
    make_class(52, "com/acme/Shop");
    cr_assert(weave());
    cr_assert_eq(woven[0].methods, 1, "the other one has no number");
    cr_assert_eq(woven[1].methods, 1, "its pattern has met the method, too");
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    cr_assert_eq(code.bytes[0], ICONST_0 + 4);
    cr_assert_eq(code.bytes[1], BIPUSH);
    cr_assert_eq(code.bytes[2], all[0].attach);
    cr_assert_eq(code.bytes[3], INVOKESTATIC);
    cr_assert_eq(code.bytes[6], ILOAD_1, "there is one call");
    cr_assert_eq(find(1, INVOKESTATIC, &code), 0);
}

/* ---- places within methods ---- */

static struct probe_handler *add_call_handler(enum probe_place place, const char *of,
                                              const char *descriptor)
{
    struct probe_handler *handler =
        add_handler(place, "include class name=com.acme.* method name=use lift constructors");

    handler->of = of;
    handler->descriptor = descriptor;
    handler->capture_count = 0;
    return handler;
}

static void capture(struct probe_handler *handler, enum probe_kind kind, uint8_t argument,
                    char type)
{
    handler->captures[handler->capture_count++] = (struct probe_capture){kind, argument, type};
}

/* int use(int): Db.query(int) of an object, Db.all() that is static, and new Item(int). */
static void make_caller(void)
{
    uint16_t query, all_of, item, init;

    class_maker_begin(&maker, 52, "com/acme/Shop", "java/lang/Object");
    query = class_maker_method_ref(&maker, "com/acme/Db", "query", "(I)I");
    all_of = class_maker_method_ref(&maker, "com/acme/Db", "all", "()V");
    item = class_maker_class(&maker, "com/acme/Item");
    init = class_maker_method_ref(&maker, "com/acme/Item", "<init>", "(I)V");

    const uint8_t bytes[] = {ALOAD_0,
                             ILOAD_1,
                             INVOKEVIRTUAL, /* 2 */
                             (uint8_t)(query >> 8),
                             (uint8_t)query,
                             INVOKESTATIC, /* 5 */
                             (uint8_t)(all_of >> 8),
                             (uint8_t)all_of,
                             NEW, /* 8 */
                             (uint8_t)(item >> 8),
                             (uint8_t)item,
                             ILOAD_1,
                             INVOKESPECIAL, /* 12 */
                             (uint8_t)(init >> 8),
                             (uint8_t)init,
                             IRETURN};
    static const uint16_t lines[][2] = {{5, 12}, {0, 11}, {12, 12}, {11, 13}, {15, 11}};
    class_maker_method(&maker, CLASSFILE_PUBLIC, "use", "(I)I",
                       &(struct class_maker_code){.bytes = bytes,
                                                  .length = sizeof bytes,
                                                  .stack = 3,
                                                  .locals = 2,
                                                  .lines = lines,
                                                  .line_count = 5});
}

static void expect_code(const uint8_t *bytes, size_t length)
{
    struct classfile_code code;

    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    cr_assert_geq(code.length_bytes, length);
    for (size_t i = 0; i < length; i++)
        cr_expect(bytes[i] == 255 || code.bytes[i] == bytes[i], "byte %zu is %u, not %u", i,
                  code.bytes[i], bytes[i]);
}

Test(probe_weave, before_a_call_its_operands_are_moved_aside_and_come_back)
{
    struct probe_handler *handler =
        add_call_handler(PROBE_CALL, "com.acme.Db.q*", "(Ljava/lang/Object;I)V");
    struct classfile_code code;

    capture(handler, PROBE_RECEIVER, 0, 'L');
    capture(handler, PROBE_CALL_ARGUMENT, 0, 'I');
    make_caller();
    cr_assert(weave());
    /* 255: an index of the pool */
    const uint8_t expected[] = {ALOAD_0,
                                ILOAD_1,
                                ISTORE,
                                2,
                                ASTORE,
                                3,
                                ALOAD,
                                3,
                                ILOAD,
                                2,
                                ALOAD,
                                3,
                                ILOAD,
                                2,
                                BIPUSH,
                                7,
                                INVOKEDYNAMIC,
                                255,
                                255,
                                0,
                                0,
                                INVOKEVIRTUAL,
                                255,
                                255,
                                INVOKESTATIC};
    expect_code(expected, sizeof expected);
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    cr_expect(code.local_count == 4 && code.stack_count == 3 + 3);
    cr_expect(woven[0].methods == 1 && woven[0].places == 1);
    cr_expect(woven[0].placeless == 0 && woven[0].misfits == 0 && woven[0].unfit == 0);
}

Test(probe_weave, behind_a_call_are_what_it_returned_and_what_it_was_called_with)
{
    struct probe_handler *handler =
        add_call_handler(PROBE_CALL_RETURN, "com.acme.Db.query", "(II)V");

    capture(handler, PROBE_RETURNED, 0, 'I');
    capture(handler, PROBE_CALL_ARGUMENT, 0, 'I');
    make_caller();
    cr_assert(weave());
    /* The receiver, for which nobody asks, stays where it lies. */
    const uint8_t expected[] = {ALOAD_0, ILOAD_1, ISTORE,       2, ILOAD, 2, INVOKEVIRTUAL, 255,
                                255,     DUP,     ISTORE,       3, ILOAD, 3, ILOAD,         2,
                                BIPUSH,  7,       INVOKEDYNAMIC};
    expect_code(expected, sizeof expected);
    cr_expect(woven[0].methods == 1 && woven[0].places == 1);
}

Test(probe_weave, a_new_object_is_given_behind_its_constructor_and_not_before)
{
    struct probe_handler *before =
        add_call_handler(PROBE_CALL, "com.acme.Item.<init>", "(Ljava/lang/Object;)V");
    struct probe_handler *behind =
        add_call_handler(PROBE_CALL_RETURN, "com.acme.Item.<init>", "(Ljava/lang/Object;)V");

    capture(before, PROBE_RECEIVER, 0, 'L');
    capture(behind, PROBE_RECEIVER, 0, 'L');
    make_caller();
    cr_assert(weave());
    cr_expect(woven[0].methods == 0 && woven[0].unfit == 1);
    cr_expect(woven[1].methods == 1 && woven[1].places == 1);
    const uint8_t expected[] = {ILOAD_1,       ISTORE, 2,   ASTORE, 3, ALOAD,  3, ILOAD,        2,
                                INVOKESPECIAL, 255,    255, ALOAD,  3, BIPUSH, 7, INVOKEDYNAMIC};
    struct classfile_code code;
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    for (size_t i = 0; i < sizeof expected; i++)
        cr_expect(expected[i] == 255 || code.bytes[11 + i] == expected[i], "byte %zu is %u", i,
                  code.bytes[11 + i]);
}

Test(probe_weave, places_that_have_not_what_is_asked_for_are_counted_and_left_alone)
{
    struct probe_handler *handler = add_call_handler(PROBE_CALL, "com.acme.**", "(I)V");
    struct probe_handler *nowhere = add_call_handler(PROBE_CALL, "com.acme.*", "()V");
    struct classfile_code code;

    capture(handler, PROBE_CALL_ARGUMENT, 0, 'I');
    make_caller();
    cr_assert(weave());
    cr_expect(woven[0].methods == 1 && woven[0].places == 2 && woven[0].misfits == 1,
              "%u places, %u misfits", woven[0].places, woven[0].misfits);
    cr_expect(woven[1].methods == 0 && woven[1].placeless == 1 && woven[1].unfit == 0);
    cr_expect(nowhere->place == PROBE_CALL);

    count = 1;
    handlers[0].of = "org.other.**";
    cr_expect(!weave() && woven[0].placeless == 1, "nothing is kept where nothing is called");
    rules_close((struct rules *)(uintptr_t)all[1].rules);
    (void)code;
}

Test(probe_weave, a_line_is_where_it_begins_first)
{
    struct probe_handler *handler = add_handler(PROBE_LINE, "include class name=com.acme.*");

    handler->line = 12;
    handler->descriptor = "(I)V";
    handler->captures[0] = (struct probe_capture){PROBE_LINE_NUMBER, 0, 'I'};
    make_caller();
    cr_assert(weave());
    const uint8_t expected[] = {ALOAD_0,     ILOAD_1, INVOKEVIRTUAL, 255, 255, BIPUSH, 12,
                                BIPUSH,      7,       INVOKEDYNAMIC, 255, 255, 0,      0,
                                INVOKESTATIC};
    expect_code(expected, sizeof expected);
    cr_expect(woven[0].methods == 1 && woven[0].places == 1);
    handler->line = 14;
    cr_expect(!weave() && woven[0].placeless == 1);
}

Test(probe_weave, places_within_are_found_with_their_lines)
{
    static const uint32_t pcs[] = {2, 5, 12};
    static const uint16_t lines[] = {11, 12, 12};
    struct probe_handler *handler = add_call_handler(PROBE_CALL, "**", "(I)V");
    struct probe_found found;
    uint32_t next_pc = 0, number = 0, pc = 0;

    capture(handler, PROBE_CALL_ARGUMENT, 0, 'I');
    make_caller();

    const struct class_maker_bytes whole = class_maker_end(&maker);
    cr_assert(classfile_read(whole.bytes, whole.length, &read_memory, &written) == CLASSFILE_OK);
    for (; probe_next_place(handler, &written, &written.methods[0], &next_pc, &found); number++) {
        cr_assert_lt(number, 3);
        cr_expect_eq(found.pc, pcs[number]);
        cr_expect_eq(found.fit, number == 1 ? PROBE_FIT_CALL_ARGUMENT : PROBE_FIT_GOOD);
        cr_expect_eq(classfile_line_of(&written, &written.methods[0], found.pc), lines[number]);
    }
    cr_expect_eq(number, 3);
    cr_expect(classfile_line_begins(&written, &written.methods[0], 11, &pc) && pc == 0);
    cr_expect(classfile_line_begins(&written, &written.methods[0], 13, &pc) && pc == 11);
    cr_expect(!classfile_line_begins(&written, &written.methods[0], 10, &pc));
}
