/* Calls of handlers at places within methods: which places, and what is moved aside for them. */
#include "weave_maker.h"

TestSuite(probe_places, .init = open_all, .fini = close_all, .timeout = 1800);

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

Test(probe_places, before_a_call_its_operands_are_moved_aside_and_come_back)
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

Test(probe_places, behind_a_call_are_what_it_returned_and_what_it_was_called_with)
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

Test(probe_places, a_new_object_is_given_behind_its_constructor_and_not_before)
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

Test(probe_places, places_that_have_not_what_is_asked_for_are_counted_and_left_alone)
{
    struct probe_handler *handler = add_call_handler(PROBE_CALL, "com.acme.**", "(I)V");
    struct probe_handler *nowhere = add_call_handler(PROBE_CALL, "com.acme.*", "()V");

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
}

Test(probe_places, a_line_is_where_it_begins_first)
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

Test(probe_places, places_within_are_found_with_their_lines)
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

/* void use(int): this.count = its argument, a static long is read, a byte[] is made, and there is a lock. */
static void make_other(void)
{
    enum { GETSTATIC = 178, PUTFIELD = 181, NEWARRAY = 188, MONITORENTER = 194, MONITOREXIT = 195 };
    uint16_t written_ref, read_ref;

    class_maker_begin(&maker, 52, "com/acme/Shop", "java/lang/Object");
    /* A reference of a method and of a field differ by their tag alone, at which nobody looks here. */
    written_ref = class_maker_method_ref(&maker, "com/acme/Shop", "count", "I");
    read_ref = class_maker_method_ref(&maker, "com/acme/Shop", "all", "J");

    const uint8_t bytes[] = {ALOAD_0,
                             ILOAD_1,
                             PUTFIELD, /* 2 */
                             (uint8_t)(written_ref >> 8),
                             (uint8_t)written_ref,
                             GETSTATIC, /* 5 */
                             (uint8_t)(read_ref >> 8),
                             (uint8_t)read_ref,
                             88, /* pop2 */
                             ILOAD_1,
                             NEWARRAY, /* 10: of bytes */
                             8,
                             POP,
                             ALOAD_0,
                             MONITORENTER, /* 14 */
                             ALOAD_0,
                             MONITOREXIT, /* 16 */
                             RETURN};
    class_maker_method(&maker, CLASSFILE_PUBLIC, "use", "(I)V",
                       &(struct class_maker_code){
                           .bytes = bytes, .length = sizeof bytes, .stack = 2, .locals = 2});
}

Test(probe_places, behind_a_write_are_what_was_written_and_whose_field_it_is)
{
    struct probe_handler *handler =
        add_call_handler(PROBE_WRITE, "com.acme.Shop.count", "(ILjava/lang/Object;)V");

    capture(handler, PROBE_VALUE, 0, 'I');
    capture(handler, PROBE_RECEIVER, 0, 'L');
    make_other();
    cr_assert(weave());
    const uint8_t expected[] = {ALOAD_0, ILOAD_1,      ISTORE, 2,   ASTORE, 3, ALOAD, 3, ILOAD,
                                2,       181,          255,    255, ILOAD,  2, ALOAD, 3, BIPUSH,
                                7,       INVOKEDYNAMIC};
    expect_code(expected, sizeof expected);
    cr_expect(woven[0].methods == 1 && woven[0].places == 1);
    handler->captures[0].type = 'J';
    cr_expect(!weave() && woven[0].unfit == 1, "its field is no long");
}

Test(probe_places, fields_arrays_and_locks_are_told_apart)
{
    static const struct {
        enum probe_place place;
        const char *of;
        enum probe_kind kind;
        char type;
        uint32_t pc;
    } all_places[] = {
        {PROBE_READ, "**.all", PROBE_VALUE, 'J', 5},
        {PROBE_WRITE, "**", PROBE_VALUE, 'L', 2},
        {PROBE_ALLOCATION, "byte[]", PROBE_ALLOCATED, 'L', 10},
        {PROBE_MONITOR_ENTER, NULL, PROBE_LOCK, 'L', 14},
        {PROBE_MONITOR_EXIT, NULL, PROBE_LINE_NUMBER, 'I', 16},
    };
    struct probe_found found;

    make_other();

    const struct class_maker_bytes whole = class_maker_end(&maker);
    cr_assert(classfile_read(whole.bytes, whole.length, &read_memory, &written) == CLASSFILE_OK);
    for (size_t i = 0; i < JW_COUNT_OF(all_places); i++) {
        struct probe_handler handler = {.place = all_places[i].place,
                                        .of = all_places[i].of,
                                        .capture_count = 1,
                                        .captures = {{all_places[i].kind, 0, all_places[i].type}}};
        uint32_t next_pc = 0;

        cr_assert(probe_next_place(&handler, &written, &written.methods[0], &next_pc, &found));
        cr_expect(found.pc == all_places[i].pc && found.fit == PROBE_FIT_GOOD, "place %zu at %u", i,
                  found.pc);
        cr_expect(!probe_next_place(&handler, &written, &written.methods[0], &next_pc, &found));
    }
}

Test(probe_places, a_lock_is_at_hand_where_it_is_taken_and_left_out_where_nothing_protects_it)
{
    struct probe_handler *entering =
        add_call_handler(PROBE_MONITOR_ENTER, NULL, "(Ljava/lang/Object;)V");
    struct probe_handler *entered =
        add_call_handler(PROBE_MONITOR_ENTERED, NULL, "(Ljava/lang/Object;)V");

    capture(entering, PROBE_LOCK, 0, 'L');
    capture(entered, PROBE_LOCK, 0, 'L');
    (void)add_call_handler(PROBE_MONITOR_EXIT, NULL, "()V");
    make_other();
    cr_assert(weave());
    cr_expect(woven[0].places == 1 && woven[0].skipped == 0);
    cr_expect(woven[1].places == 0 && woven[1].methods == 0 && woven[1].skipped == 1);
    cr_expect(woven[2].places == 1 && woven[2].skipped == 0);
}
