/* Calls of handlers in methods: which methods, by which instruction, with what; and what is left alone. */
#include "weave_maker.h"

TestSuite(probe_weave, .init = open_all, .fini = close_all, .timeout = 1800);

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

/* Names as JVMTI and the hook have them, of JDK 8, 14 and 17. */
Test(probe_weave, m24_classes_without_a_source_of_their_own_are_left_alone_early)
{
    static const char *const alone[] = {"com/acme/Shop$$Lambda$14/1324119927",
                                        "com/acme/Shop$$Lambda$14/0x0000000800066840",
                                        "com/acme/Shop$$Lambda.0x00007f8f5c000a00",
                                        "com/acme/Shop.0x0000000800c03000",
                                        "sun/reflect/GeneratedMethodAccessor12",
                                        "jdk/internal/reflect/GeneratedMethodAccessor3",
                                        "jdk/internal/reflect/GeneratedConstructorAccessor1",
                                        "[Lcom/acme/Shop",
                                        "[I",
                                        "java/lang/JaywalkSlot",
                                        "io/jaywalk/ProbeLoader"};
    static const char *const others[] = {
        "com/acme/Shop",          "com/acme/Shop$1",
        "com/acme/Lambda",        "com/acme/Shop$Lambda",
        "sun/reflect/Reflection", "jdk/internal/reflect/MethodAccessorGenerator"};

    cr_expect(probe_weave_is_left_alone(NULL));
    for (size_t i = 0; i < JW_COUNT_OF(alone); i++)
        cr_expect(probe_weave_is_left_alone(alone[i]), "%s", alone[i]);
    for (size_t i = 0; i < JW_COUNT_OF(others); i++)
        cr_expect(!probe_weave_is_left_alone(others[i]), "%s", others[i]);
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
