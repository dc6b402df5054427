/* Rules that take the places of a probe's own: which do, which stay, and what is refused with which words. */
#include "probe_maker.h"

#include "rules/rules.h"

static struct classfile_memory memory;
static struct probe *probe;
static struct probe_replaced replaced;
static struct jw_error err;

static void open_all(void)
{
    memory.capacity_bytes = classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
}

static void close_all(void)
{
    probe_close(probe);
    class_maker_free(&maker);
    free(memory.bytes);
}

TestSuite(probe_rules, .init = open_all, .fini = close_all, .timeout = 1800);

#define ORDERS "orders: include class name=com.acme.Orders method name=place"
#define SLOW   "slow:\tinclude class name=com.acme.Slow method name=*"
#define QUIET  "quiet: exclude method name=log*"

/* Three handlers: two with the rules of the class, one with its own. */
static void make_probe(void)
{
    const annotation marks[] = {RULES("Probe", "rules", QUIET, ORDERS)};
    const annotation by_class[] = {PLAIN("OnEntry"), PLAIN("OnReturn")};
    const annotation own[] = {RULES("OnThrow", "value", SLOW " ; " RULE " # the shop")};
    struct classfile file;

    begin_probe(marks, 1);
    add_method(9, "entered", "()V", by_class, 2, NULL, 0);
    add_method(9, "thrown", "()V", own, 1, NULL, 0);

    const struct class_maker_bytes whole = class_maker_end(&maker);
    memory.used_bytes = 0;
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    probe_close(probe);
    jw_error_clear(&err);
    probe = probe_read(&file, NULL, NULL, &err);
    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count, 3);
}

static bool replace(const char *text)
{
    make_probe();
    return probe_replace_rules(probe, text, strlen(text), &replaced, &err);
}

static void expect_refused(const char *text, const char *why)
{
    cr_expect_not(replace(text), "%s", text);
    cr_expect(strstr(err.message, why) != NULL, "'%s' is not in: %s", why, err.message);
    cr_expect_eq(replaced.count, 0);
}

Test(probe_rules, a_rule_takes_the_place_of_the_one_of_its_name_in_all_handlers)
{
    cr_assert(
        replace("# of the shop\norders: include class name=org.shop.* method name=buy # all\n"),
        "%s", err.message);
    for (int i = 0; i < 2; i++)
        cr_expect_str_eq(probe->handlers[i].rules,
                         QUIET "\norders: include class name=org.shop.* method name=buy\n");
    cr_expect_str_eq(probe->handlers[2].rules, SLOW "\n" RULE "\n");
    cr_expect_eq(replaced.count, 1);
    cr_expect_str_eq(replaced.names, "quiet, orders, slow");
    cr_expect_str_eq(replaced.kept, "quiet, slow");
}

Test(probe_rules, rules_keep_their_order_and_their_numbers)
{
    cr_assert(
        replace("slow: include method descriptor=(I)Ljava/lang/String; ; quiet: exclude class "
                "package=org.**"),
        "%s", err.message);
    cr_expect_str_eq(probe->handlers[0].rules, "quiet: exclude class package=org.**\n" ORDERS "\n");
    cr_expect_str_eq(probe->handlers[2].rules,
                     "slow: include method descriptor=(I)Ljava/lang/String;\n" RULE "\n");
    cr_expect_str_eq(replaced.kept, "orders");

    struct rules *rules =
        rules_parse(probe->handlers[2].rules, strlen(probe->handlers[2].rules), &err);
    cr_assert_not_null(rules);
    cr_expect_str_eq(rules_name(rules, 0), "slow");
    cr_expect_str_eq(rules_name(rules, 1), "rule 2");
    cr_expect(rules_is_named(rules, 0) && !rules_is_named(rules, 1));
    rules_close(rules);
    cr_assert(replace("slow: include method name=a; quiet: exclude method name=b; orders: include "
                      "method name=c"));
    cr_expect_str_eq(replaced.kept, "");
    cr_expect_eq(replaced.count, 3);
}

Test(probe_rules, what_has_no_place_is_refused_with_the_names_that_there_are)
{
    expect_refused("\norder: include method name=a",
                   "rules, line 2: no handler has a rule order; it has quiet, orders, slow");
    expect_refused("orders: include method name=a\ninclude method name=b",
                   "rules, line 2: without a name it takes the place of none; begin it with that "
                   "of a rule of the probe: quiet, orders, slow");
    expect_refused("# nothing", "there is no rule in it");
    expect_refused("orders: includes method name=a", "exclude or include is expected");
    expect_refused("orders: exclude method name=a",
                   "with them the rules of entered would include nothing");
}

Test(probe_rules, a_probe_whose_rules_have_no_names_takes_none)
{
    const annotation own[] = {RULES("OnEntry", "value", RULE)};
    const annotation marks[] = {PLAIN("Probe")};
    struct classfile file;

    begin_probe(marks, 1);
    add_method(9, "entered", "()V", own, 1, NULL, 0);

    const struct class_maker_bytes whole = class_maker_end(&maker);
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    probe = probe_read(&file, NULL, NULL, &err);
    cr_assert_not_null(probe);
    cr_expect_not(probe_replace_rules(probe, "a: " RULE, strlen("a: " RULE), &replaced, &err));
    cr_expect(strstr(err.message, "no rule of the probe has a name") != NULL, "%s", err.message);
}

Test(probe_rules, more_than_a_probe_may_have_is_refused)
{
    static char text[RULES_TEXT_BYTES];
    size_t used = (size_t)snprintf(text, sizeof text, "orders: include class name=");

    memset(text + used, 'a', sizeof text - used);
    make_probe();
    cr_expect_not(probe_replace_rules(probe, text, sizeof text, &replaced, &err));
    cr_expect(strstr(err.message, "65,536") != NULL, "%s", err.message);
}
