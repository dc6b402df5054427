/* Objects by their class: which patterns are some, which instructions they take, and by what name. */
#include "weave_maker.h"

#include <criterion/new/assert.h>
#include <stdio.h>

#include "probe/probe_internal.h"
#include "probe/probe_news.h"
#include "probe/probe_throws.h"

static struct probe *probe;

static void close_both(void)
{
    close_all();
    probe_close(probe);
    probe = NULL;
}

TestSuite(probe_news, .init = open_all, .fini = close_both, .timeout = 1800);

enum { NEWARRAY = 188, ANEWARRAY = 189, MULTIANEWARRAY = 197, CODE_BYTE = 8, CODE_LONG = 11 };

Test(probe_news, what_is_no_class_is_refused_with_its_text)
{
    static const char *const wrong[] = {
        "com.acme.", ".a", "a..b", "a|", "|a",  "a.B.<init>",        "a b",
        "a.B()",     "a[", "a[]]", "[]", "a=b", "[Lcom.acme.Order;", "com.acme.[]"};
    char event[64];

    for (size_t i = 0; i < JW_COUNT_OF(wrong); i++) {
        struct jw_error err = {{0}};

        snprintf(event, sizeof event, "new:%s", wrong[i]);
        cr_assert_not(probe_news_check(event, &err), "%s", wrong[i]);
        cr_assert_not_null(strstr(err.message, "names no class"), "%s", err.message);
    }
}

Test(probe_news, primitive_types_and_nothing_at_all_are_refused_with_what_to_do)
{
    struct jw_error err = {{0}};

    cr_assert_not(probe_news_check("new:com.acme.Order|int", &err));
    cr_assert_str_eq(err.message, "there are no objects of int; of arrays it is int[]");
    err.message[0] = '\0';
    cr_assert_not(probe_news_check("new", &err));
    cr_assert_not_null(strstr(err.message, "of which classes?"), "%s", err.message);
    cr_assert(probe_news_check("new:int[]|com/acme/Order|com.acme.**[]|Shop$Order|**", &err), "%s",
              err.message);
}

Test(probe_news, more_patterns_than_there_is_room_for_are_refused)
{
    char event[256] = "new:a";
    struct jw_error err = {{0}};

    for (unsigned i = 1; i < PROBE_NEWS_LIMIT; i++)
        strcat(event, "|a");
    cr_assert(probe_news_check(event, &err), "%s", err.message);
    strcat(event, "|a");
    cr_assert_not(probe_news_check(event, &err));
    cr_assert_not_null(strstr(err.message, "use stars"));
}

/* The handler of one pattern, as the agent has it. */
static void open_probe(const char *event)
{
    struct jw_error err = {{0}};

    probe = probe_news_open("event", event, &err);
    cr_assert(probe != NULL, "%s", err.message);
    count = probe->handler_count;
    cr_assert(count <= JW_COUNT_OF(all));
    for (uint32_t i = 0; i < count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];

        all[i] = (struct probe_weave_handler){
            .handler = handler,
            .rules = rules_parse(handler->rules, strlen(handler->rules), &err),
            .attach = 7,
            .number = i,
            .place = i};
        cr_assert(all[i].rules != NULL, "%s", err.message);
    }
}

/* void <init>(int): a byte[], a long[], an Item[], an Item[][], of both dimensions, and an Item. */
static void make_maker(const char *class_name)
{
    uint16_t item, items, init;

    class_maker_begin(&maker, 52, class_name, "java/lang/Object");
    item = class_maker_class(&maker, "com/acme/Item");
    items = class_maker_class(&maker, "[[Lcom/acme/Item;");
    init = class_maker_method_ref(&maker, "java/lang/Object", "<init>", "()V");

    const uint8_t bytes[] = {
        ALOAD_0,
        INVOKESPECIAL,
        (uint8_t)(init >> 8),
        (uint8_t)init, /* 0 */
        ILOAD_1,
        NEWARRAY,
        CODE_BYTE,
        POP, /* 4 */
        ILOAD_1,
        NEWARRAY,
        CODE_LONG,
        POP, /* 8 */
        ILOAD_1,
        ANEWARRAY,
        (uint8_t)(item >> 8),
        (uint8_t)item, /* 12 */
        POP,
        ILOAD_1,
        ILOAD_1, /* 16 */
        MULTIANEWARRAY,
        (uint8_t)(items >> 8),
        (uint8_t)items,
        2, /* 19 */
        POP,
        NEW,
        (uint8_t)(item >> 8),
        (uint8_t)item, /* 23 */
        POP,
        RETURN, /* 27 */
    };
    class_maker_method(&maker, CLASSFILE_PUBLIC, "<init>", "(I)V",
                       &(struct class_maker_code){
                           .bytes = bytes, .length = sizeof bytes, .stack = 3, .locals = 2});
}

static char names[256];

static int32_t name_it(const struct probe_handler *handler, struct classfile_text made,
                       struct classfile_text class_name, struct classfile_text method,
                       struct classfile_text descriptor)
{
    cr_assert(handler->site < 0);
    cr_assert(classfile_is_text(class_name, "com/acme/Shop"));
    cr_assert(classfile_is_text(method, "<init>") && classfile_is_text(descriptor, "(I)V"));
    snprintf(names + strlen(names), sizeof names - strlen(names), "%.*s ", (int)made.length_bytes,
             made.bytes);
    return 4;
}

static void weave_maker_class(const char *class_name)
{
    make_maker(class_name);

    const struct class_maker_bytes whole = class_maker_end(&maker);
    const struct probe_weave_class of = {
        .bytes = whole.bytes, .length_bytes = whole.length, .site_of = name_it};

    memory.used_bytes = 0;
    names[0] = '\0';
    cr_assert_eq(probe_weave(all, count, &of, &memory, &out, woven), CLASSFILE_OK);
}

static void expect_names(const char *event, const char *expected)
{
    open_probe(event);
    weave_maker_class("com/acme/Shop");
    cr_assert_str_eq(names, expected, "%s: %s", event, names);
    close_both();
    open_all();
}

Test(probe_news, each_pattern_takes_what_it_names_and_stars_take_no_arrays_by_the_way)
{
    expect_names("new:com.acme.Item", "com/acme/Item ");
    expect_names("new:com/acme/*", "com/acme/Item ");
    expect_names("new:**", "com/acme/Item ");
    expect_names("new:**[]", "[B [J [Lcom/acme/Item; ");
    expect_names("new:long[]", "[J ");
    expect_names("new:com.acme.Item[]", "[Lcom/acme/Item; ");
    expect_names("new:**.Item[][]", "[[Lcom/acme/Item; ");
    expect_names("new:Item|com.acme.Ite|Item[]", "");
}

Test(probe_news, what_two_patterns_take_is_told_once_and_both_have_met_it)
{
    open_probe("new:com.acme.Item|com.**");
    weave_maker_class("com/acme/Shop");
    cr_assert_eq(woven[0].methods, 1);
    cr_assert_eq(woven[1].methods, 1);
    cr_assert_str_eq(names, "com/acme/Item com/acme/Item ", "%s", names);
    cr_assert(classfile_read(out.bytes, out.length_bytes, &read_memory, &written) == CLASSFILE_OK);

    struct classfile_code code;
    uint32_t pc, next_pc = 0, calls = 0;
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    while (classfile_next_instruction(&code, &pc, &next_pc)) {
        if (code.bytes[pc] != INVOKESTATIC)
            continue;
        calls++;
        cr_assert_eq(code.bytes[pc - 3], ICONST_0 + 4);
        cr_assert_eq(code.bytes[pc - 2], BIPUSH);
        cr_assert_eq(code.bytes[pc - 1], 7);
        cr_assert_eq(code.bytes[pc + 3], NEW);
    }
    cr_assert(eq(u32, calls, 1));
}

Test(probe_news, code_of_the_jdk_is_left_alone)
{
    open_probe("new:**");
    weave_maker_class("java/util/Shop");
    cr_assert_not(out.is_changed);
    cr_assert_str_eq(names, "");
}
