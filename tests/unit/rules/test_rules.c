/* Rules by their text: what is understood, what is refused with which words, and whose a method is. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "support/class_maker.h"

static struct class_maker maker;
static struct classfile_memory memory;
static struct classfile file;
static struct rules *rules;
static struct jw_error err;

static void open_all(void)
{
    memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
}

static void close_all(void)
{
    rules_close(rules);
    class_maker_free(&maker);
    free(memory.bytes);
}

TestSuite(rules, .init = open_all, .fini = close_all, .timeout = 1800);

static void parse(const char *text)
{
    rules_close(rules);
    jw_error_clear(&err);
    rules = rules_parse(text, strlen(text), &err);
    cr_assert(rules != NULL, "%s", err.message);
}

static void expect_refused(const char *text, const char *why)
{
    jw_error_clear(&err);

    struct rules *none = rules_parse(text, strlen(text), &err);
    cr_expect(none == NULL, "taken: %s", text);
    cr_expect(strstr(err.message, why) != NULL, "%s: %s", text, err.message);
    rules_close(none);
}

static const uint8_t work_code[] = {3, 87, 177}; /* iconst_0, pop, return */

static void add_method(uint16_t access, const char *name, const char *descriptor)
{
    class_maker_method(
        &maker, access, name, descriptor,
        &(struct class_maker_code){
            .stack = 1, .locals = 8, .bytes = work_code, .length = sizeof work_code});
}

static void read_class(void)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);

    memory.used_bytes = 0;
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
}

static struct rules_decision decide(uint16_t method)
{
    return rules_decide(rules, &(struct rules_subject){.file = &file}, method);
}

#define EXPECT(method, wanted_outcome, wanted_rule)                                                \
    do {                                                                                           \
        const struct rules_decision found = decide(method);                                        \
        cr_expect(found.outcome == (wanted_outcome) && found.rule == (wanted_rule),                \
                  "method %d: outcome %d of rule %zu", method, (int)found.outcome, found.rule);    \
    } while (0)

Test(rules, two_exclusive_and_two_inclusive_rules_share_a_class)
{
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    add_method(1, "method_1", "()V");
    add_method(1, "method_2", "()V");
    add_method(1, "method_3", "()V");
    add_method(1, "method_4", "()V");
    read_class();
    parse("exclude class name=com.acme.A method name=method_4\n"
          "exclude class name=com.acme.* method name=nothing_here\n"
          "third: include class package=com.acme method name=method_2|method_4\n"
          "fourth: include class name=** method name=method_3|method_2|method_4\n");
    EXPECT(0, RULES_NO_RULE, 0);
    EXPECT(1, RULES_TAKEN, 2);
    EXPECT(2, RULES_TAKEN, 3);
    EXPECT(3, RULES_EXCLUDED, 0);
    cr_expect_str_eq(rules_name(rules, 2), "third");
    cr_expect_str_eq(rules_name(rules, 1), "rule 2");
    cr_expect(rules_is_exclusive(rules, 1) && !rules_is_exclusive(rules, 2));
    cr_expect(rules_count(rules) == 4 && rules_line(rules, 3) == 4);
}

Test(rules, exclusive_rules_come_first_wherever_they_stand)
{
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    add_method(1, "work", "()V");
    read_class();
    parse("include class name=com.acme.A ; exclude method name=w*");
    EXPECT(0, RULES_EXCLUDED, 1);
}

Test(rules, an_option_line_and_a_file_are_the_same_text)
{
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    add_method(9, "work", "(ILjava/lang/String;[[J)Ljava/lang/Object;");
    read_class();
    parse("exclude class name=x;include method "
          "descriptor=(ILjava.lang.String;[[J)Ljava/lang/Object; ; "
          "include class name=y # not; this\r\n\n# nor this\n");
    cr_assert(rules_count(rules) == 3);
    EXPECT(0, RULES_TAKEN, 1);
    parse("include method parameters=int,java.lang.String,long[][] returns=java.lang.Object "
          "is=public is=static");
    EXPECT(0, RULES_TAKEN, 0);
    parse("include method parameters=int,** !is=static");
    EXPECT(0, RULES_NO_RULE, 0);
}

Test(rules, what_is_not_understood_is_refused_by_line_and_word)
{
    expect_refused("include class nam=x", "no key of classes");
    expect_refused("include\n", "without any term");
    expect_refused("\n\nincluding class name=x", "line 3: 'including'");
    expect_refused("include name=x", "class or method is expected");
    expect_refused("include class name=", "no pattern behind");
    expect_refused("include class name=x method extends=y", "no key of methods");
    expect_refused("include class name=x lift all", "lift knows");
    expect_refused("exclude class name=x lift getters", "lifts nothing");
    expect_refused("a: include class name=x\na: include class name=y", "two rules of one name");
    expect_refused("include class name=x word", "neither a word");
    expect_refused(": include class name=x", "1 to 63");
    expect_refused("include class name=\x01", "control character");
    expect_refused("include class name=1 name=2 name=3 name=4 name=5 name=6 name=7 name=8 name=9 "
                   "name=10 name=11 name=12 name=13 name=14 name=15 name=16 name=17",
                   "more than 16 terms");
}

Test(rules, patterns_know_parts_of_names)
{
    static const struct {
        const char *pattern, *text;
        bool is_match;
    } all[] = {
        {"com.acme.*", "com/acme/A", true},
        {"com.acme.*", "com/acme/x/A", false},
        {"com.acme.**", "com/acme/x/A", true},
        {"**.A", "com/acme/A", true},
        {"**", "", true},
        {"*", "", true},
        {"?", "", false},
        {"*a*b*", "xaxxbx", true},
        {"*a*b*", "xbxxax", false},
        {"a**b*c", "a/b/xbzc", true},
        {"a**b*c", "a/b/x/c", false},
        {"com.?cme", "com/acme", true},
        {"com?acme", "com/acme", false},
        {"", "", true},
        {"", "a", false},
        {"*.A", "com/A", true},
        {"*.A", "com/acme/A", false},
        {"**x*y", "x/xay", true},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cr_expect(rules_is_match(all[i].pattern, strlen(all[i].pattern), all[i].text,
                                 strlen(all[i].text)) == all[i].is_match,
                  "%s and %s", all[i].pattern, all[i].text);
}

static void expect_against(const char *name, uint16_t access, uint16_t method_access,
                           const char *method, enum rules_never never)
{
    const char *word = rules_never_word(never);
    char text[128];

    class_maker_begin(&maker, 52, name, "java/lang/Object");
    maker.access = access;
    add_method(method_access, method, "()V");
    read_class();
    parse("include class name=**");

    const struct rules_decision got = decide(0);
    cr_expect(got.outcome == RULES_AGAINST && got.never == never, "%s.%s: %d, %s", name, method,
              (int)got.outcome, rules_never_text(got.never));
    if (word[0] == '\0')
        return;
    snprintf(text, sizeof text, "include class name=** lift %s", word);
    parse(text);
    EXPECT(0, RULES_TAKEN, 0);
}

Test(rules, what_is_never_instrumented_is_lifted_by_its_own_word_alone)
{
    expect_against("java/util/A", 0x21, 1, "work", RULES_NEVER_PLATFORM);
    expect_against("com/sun/A", 0x21, 1, "work", RULES_NEVER_PLATFORM);
    expect_against("org/objectweb/asm/A", 0x21, 1, "work", RULES_NEVER_LIBRARY);
    expect_against("io/jaywalk/A", 0x21, 1, "work", RULES_NEVER_OWN);
    expect_against("com/acme/I", 0x601, 1, "work", RULES_NEVER_INTERFACE);
    expect_against("com/acme/E", 0x4021, 1, "work", RULES_NEVER_ENUM);
    expect_against("com/acme/N", 0x2601, 1, "work", RULES_NEVER_ANNOTATION);
    expect_against("module-info", 0x8000, 1, "work", RULES_NEVER_MODULE);
    expect_against("com/acme/package-info", 0x1600, 1, "work", RULES_NEVER_MODULE);
    expect_against("com/acme/A", 0x1021, 1, "work", RULES_NEVER_SYNTHETIC);
    expect_against("com/acme/A", 0x21, 0x1001, "work", RULES_NEVER_SYNTHETIC);
    expect_against("com/acme/A", 0x21, 1, "<init>", RULES_NEVER_CONSTRUCTOR);
    expect_against("com/acme/A", 0x21, 8, "<clinit>", RULES_NEVER_INITIALISER);
    expect_against("com/acme/A", 0x21, 0x101, "work", RULES_NEVER_ABSTRACT);
}

Test(rules, plain_getters_and_setters_are_known_by_their_code)
{
    static const struct {
        uint8_t code[6];
        uint32_t length;
        enum rules_outcome outcome;
    } all[] = {
        {{42, 180, 0, 1, 172}, 5, RULES_AGAINST},
        {{178, 0, 1, 176}, 4, RULES_AGAINST},
        {{42, 27, 181, 0, 1, 177}, 6, RULES_AGAINST},
        {{26, 179, 0, 1, 177}, 5, RULES_AGAINST},
        {{43, 180, 0, 1, 172}, 5, RULES_TAKEN},
        {{42, 3, 181, 0, 1, 177}, 6, RULES_TAKEN},
        {{3, 172}, 2, RULES_TAKEN},
    };

    parse("include class name=**");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
        class_maker_method(
            &maker, 1, "a", "()V",
            &(struct class_maker_code){
                .stack = 2, .locals = 2, .bytes = all[i].code, .length = all[i].length});
        read_class();
        cr_expect(decide(0).outcome == all[i].outcome, "case %zu", i);
    }
}

Test(rules, what_only_a_jvm_knows_is_not_guessed)
{
    struct rules_decision got;

    class_maker_begin(&maker, 52, "com/acme/A", "com/acme/B");
    class_maker_interface(&maker, "com/acme/I");
    add_method(1, "work", "()V");
    read_class();
    parse("exclude class loader=app\ninclude method name=work");
    got = decide(0);
    cr_expect(got.outcome == RULES_UNTOLD && got.rule == 0 && got.key == RULES_KEY_LOADER);
    got = rules_decide(rules, &(struct rules_subject){.file = &file, .loader = "app"}, 0);
    cr_expect(got.outcome == RULES_EXCLUDED);
    /* What cannot be met anyhow needs no loader. */
    parse("exclude class loader=app name=other\ninclude method name=work");
    EXPECT(0, RULES_TAKEN, 1);
    parse("include class extends=com.acme.I");
    EXPECT(0, RULES_TAKEN, 0);
    parse("include class extends=com.acme.C");
    cr_expect(decide(0).outcome == RULES_UNTOLD && decide(0).key == RULES_KEY_EXTENDS);
}

static const struct classfile *find_above(void *context, struct classfile_text name)
{
    return classfile_is_text(name, "com/acme/B") ? context : NULL;
}

Test(rules, super_classes_are_looked_for_as_far_as_they_are_at_hand)
{
    static struct rules_supers supers;
    static struct classfile above;
    static struct class_maker above_maker;
    struct rules_subject subject = {
        .file = &file, .find = find_above, .context = &above, .supers = &supers};
    struct classfile_memory other = {.capacity_bytes = classfile_memory_bytes(4096)};

    class_maker_begin(&above_maker, 52, "com/acme/B", "java/lang/Object");
    class_maker_interface(&above_maker, "com/acme/B"); /* above itself */
    class_maker_interface(&above_maker, "com/acme/Far");
    const struct class_maker_bytes whole = class_maker_end(&above_maker);
    other.bytes = malloc(other.capacity_bytes);
    cr_assert(classfile_read(whole.bytes, whole.length, &other, &above) == CLASSFILE_OK);

    class_maker_begin(&maker, 52, "com/acme/A", "com/acme/B");
    add_method(1, "work", "()V");
    read_class();
    parse("include class extends=com.acme.Far");
    cr_expect(rules_decide(rules, &subject, 0).outcome == RULES_TAKEN);
    parse("include class extends=com.acme.None"); /* Far itself is not at hand */
    cr_expect(rules_decide(rules, &subject, 0).outcome == RULES_UNTOLD);
    free(other.bytes);
    class_maker_free(&above_maker);
}

Test(rules, what_stands_above_a_class_that_is_loaded_is_told)
{
    static struct rules_supers above;
    const struct rules_subject subject = {.file = &file, .above = &above};
    static const char *const names[] = {"com/acme/B", "com/acme/Far", "java/lang/Object"};
    const struct classfile_text named = {"com/acme/A", 10};

    class_maker_begin(&maker, 52, "com/acme/A", "com/acme/B");
    add_method(1, "work", "()V");
    read_class();
    for (size_t i = 0; i < 3; i++) {
        const struct classfile_text name = {names[i], (uint32_t)strlen(names[i])};

        cr_expect(rules_add_super(&above, name) && !rules_add_super(&above, name));
    }
    parse("include class extends=com.acme.Far");
    cr_expect(rules_ask_above(rules));
    cr_expect(rules_decide(rules, &subject, 0).outcome == RULES_TAKEN);
    cr_expect(rules_may_touch_named(rules, named, &above));
    parse("include class extends=com.acme.None");
    cr_expect(rules_decide(rules, &subject, 0).outcome == RULES_NO_RULE);
    cr_expect(!rules_may_touch_named(rules, named, &above));
    cr_expect(rules_may_touch_named(rules, named, NULL), "nobody knows");
    parse("include class !extends=com.acme.None");
    cr_expect(rules_decide(rules, &subject, 0).outcome == RULES_TAKEN);
    cr_expect(rules_may_touch_named(rules, named, &above));
    /* There are more of them than there is room for. */
    above.is_cut = true;
    parse("include class extends=com.acme.None");
    cr_expect(rules_decide(rules, &subject, 0).outcome == RULES_UNTOLD);
    cr_expect(rules_may_touch_named(rules, named, &above));
    parse("include class name=com.acme.*");
    cr_expect(!rules_ask_above(rules));
}

Test(rules, annotations_are_those_of_the_class_and_of_the_method)
{
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    class_maker_annotate(&maker, "Lcom/acme/Service;");
    class_maker_method(&maker, 1, "timed", "()V",
                       &(struct class_maker_code){.stack = 1,
                                                  .locals = 1,
                                                  .bytes = work_code,
                                                  .length = sizeof work_code,
                                                  .annotation = "Lcom/acme/Timed;"});
    add_method(1, "plain", "()V");
    read_class();
    parse("include class annotated=com.acme.Service method annotated=**.Timed");
    EXPECT(0, RULES_TAKEN, 0);
    EXPECT(1, RULES_NO_RULE, 0);
    parse("include class annotated=com.acme.Timed");
    EXPECT(0, RULES_NO_RULE, 0);
    cr_expect(!rules_may_touch(rules, &(struct rules_subject){.file = &file}));
    parse("include class !annotated=com.acme.Timed method name=nothing");
    cr_expect(rules_may_touch(rules, &(struct rules_subject){.file = &file}));
}

static bool may_touch_named(const char *name)
{
    return rules_may_touch_named(rules, (struct classfile_text){name, (uint32_t)strlen(name)},
                                 NULL);
}

Test(rules, a_name_alone_rules_a_class_out_only_where_nothing_else_could_let_it_in)
{
    parse("exclude class name=com.acme.A; include class name=com.acme.* !package=com.acme.util");
    cr_expect(may_touch_named("com/acme/Shop"));
    cr_expect(may_touch_named("com/acme/A")); /* which method is excluded, its bytes say */
    cr_expect(!may_touch_named("com/acme/util/List") && !may_touch_named("org/acme/Shop"));
    parse("include class extends=com.acme.Far");
    cr_expect(may_touch_named("org/acme/Shop"));
    cr_expect(!may_touch_named("java/util/ArrayList") && !may_touch_named("io/jaywalk/Native"));
    parse("include class name=** lift platform");
    cr_expect(may_touch_named("java/util/ArrayList") && !may_touch_named("javassist/Loader"));
    cr_expect(!may_touch_named("java/lang/JaywalkSlot"));
    parse("include class !name=com.acme.A");
    cr_expect(!may_touch_named("com/acme/A") && may_touch_named("com/acme/B"));
}

Test(rules, without_memory_there_are_no_rules_and_it_is_said)
{
    jw_alloc_fail_after(1);
    expect_refused("include class name=x", "out of memory");
    jw_alloc_fail_after(0);
}
