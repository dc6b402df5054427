/* `jaywalk probe check`: what it says of probes and of methods that they would be put into, and with which status. */
#include "run_cli.h"

#include <sys/stat.h>
#include <unistd.h>

#include "unit/probe/probe_maker.h"

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-probe-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void remove_directory(void)
{
    char command[128];

    class_maker_free(&maker);
    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_probe, .init = make_directory, .fini = remove_directory, .timeout = 1800);

#define EXPECT_OUT(text)                                                                           \
    cr_expect(strstr(out_text, text) != NULL, "'%s' is not in:\n%s", text, out_text)
#define EXPECT_ERR(text)                                                                           \
    cr_expect(strstr(err_text, text) != NULL, "'%s' is not in: %s", text, err_text)

static void write_class(const char *path)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fwrite(whole.bytes, 1, whole.length, file) == whole.length &&
                  fclose(file) == 0,
              "%s", path);
}

static const annotation on_entry[] = {RULES("OnEntry", "value", RULE)};
static const annotation on_return[] = {
    RULES("OnReturn", "value", "exclude method name=none", RULE)};

/* At the entry with an argument of type int, at the return with what is returned as long. */
static void make_probe(const char *path)
{
    const annotation marks[] = {
        {OURS("Probe"), {{"name", 's', 0, {"slow"}}, {"maxThrows", 'I', 0, {NULL}}}}};
    const annotation arguments[] = {PLAIN("This"), ARGUMENT(0)};
    const annotation returned[] = {PLAIN("Returned"), PLAIN("Arguments"), PLAIN("Duration")};

    begin_probe(marks, 1);
    add_method(9, "entered", "(Ljava/lang/Object;I)V", on_entry, 1, arguments, 2);
    add_method(9, "left", "(J[Ljava/lang/Object;J)V", on_return, 1, returned, 3);
    write_class(path);
}

/* Methods that may be add of com.acme.Shop, by their types. */
static void make_application(void)
{
    static const char *const types[] = {"(I)J", "(J)J", "()V", "(II)I"};

    cr_assert_eq(mkdir("app", 0700), 0);
    class_maker_begin(&maker, 52, "com/acme/Shop", "java/lang/Object");
    for (unsigned i = 0; i < COUNT_OF(types); i++) {
        static const uint8_t code[] = {3, 172, 9, 173, 177};
        const unsigned at = types[i][strlen(types[i]) - 1] == 'V'   ? 4
                            : types[i][strlen(types[i]) - 1] == 'J' ? 2
                                                                    : 0;

        class_maker_method(
            &maker, 1, "add", types[i],
            &(struct class_maker_code){
                .stack = 2, .locals = 8, .bytes = code + at, .length = at == 4 ? 1 : 2});
    }
    write_class("app/Shop.class");
}

Test(cli_probe, check_says_what_a_probe_is)
{
    make_probe("Slow.class");
    cr_expect_eq(RUN("probe", "check", "Slow.class"), CLI_OK);
    cr_expect_str_eq(
        out_text,
        "Probe slow: class com.acme.Slow of Slow.class, for Java 8 and later\n"
        "Taken out past 10,000 ns a call, 100,000 calls a second, no limit of exceptions\n"
        "\n"
        "entry  entered(@This Object, @Argument(0) int)\n"
        "    include class name=com.acme.Shop method name=add\n"
        "\n"
        "return  left(@Returned long, @Arguments Object[], @Duration long)\n"
        "    exclude method name=none\n"
        "    include class name=com.acme.Shop method name=add\n",
        "%s", out_text);
    cr_expect_str_eq(err_text, "");
    cr_expect_eq(RUN("probe", "check", "--json", "Slow.class"), CLI_OK);
    cr_expect_str_eq(
        out_text,
        "{\"schema\":\"jaywalk.probe/1\",\n"
        "\"name\":\"slow\",\"class\":\"com.acme.Slow\",\"file\":\"Slow.class\",\"java\":8,\n"
        "\"limits\":{\"max_ns_per_call\":10000,\"max_calls_per_second\":100000,\"max_throws\":0},\n"
        "\"events\":[],\n"
        "\"handlers\":[\n"
        "{\"method\":\"entered\",\"descriptor\":\"(Ljava/lang/Object;I)V\",\"place\":\"entry\","
        "\"rules\":\"include class name=com.acme.Shop method name=add\\u000a\",\"captures\":["
        "{\"kind\":\"This\",\"type\":\"Object\"},"
        "{\"kind\":\"Argument\",\"type\":\"int\",\"argument\":0}]},\n"
        "{\"method\":\"left\",\"descriptor\":\"(J[Ljava/lang/Object;J)V\",\"place\":\"return\","
        "\"rules\":\"exclude method name=none\\u000ainclude class name=com.acme.Shop method "
        "name=add\\u000a\",\"captures\":[{\"kind\":\"Returned\",\"type\":\"long\"},"
        "{\"kind\":\"Arguments\",\"type\":\"Object[]\"},{\"kind\":\"Duration\",\"type\":\"long\"}]}"
        "]}\n",
        "%s", out_text);
}

/* void add(int): calls Db.query(int) in lines 7 and 9. */
static void make_caller(void)
{
    cr_assert_eq(mkdir("app", 0700), 0);
    class_maker_begin(&maker, 52, "com/acme/Shop", "java/lang/Object");
    const uint16_t query = class_maker_method_ref(&maker, "com/acme/Db", "query", "(I)V");
    const uint8_t high = (uint8_t)(query >> 8), low = (uint8_t)query;
    const uint8_t code[] = {27, 184, high, low, 27, 184, high, low, 177};
    static const uint8_t nothing[] = {177};
    static const uint16_t lines[][2] = {{0, 7}, {4, 9}};

    class_maker_method(&maker, 1, "add", "(I)V",
                       &(struct class_maker_code){.stack = 1,
                                                  .locals = 2,
                                                  .bytes = code,
                                                  .length = sizeof code,
                                                  .lines = lines,
                                                  .line_count = 2});
    class_maker_method(
        &maker, 1, "add", "()V",
        &(struct class_maker_code){.stack = 0, .locals = 1, .bytes = nothing, .length = 1});
    write_class("app/Shop.class");
}

/* A probe of one handler before calls. */
static void make_call_probe(const char *path, const char *of, const char *type)
{
    const annotation marks[] = {PLAIN("Probe")};
    const annotation place[] = {
        {OURS("OnCall"), {{"value", '[', 0, {RULE}}, {"of", 's', 0, {of}}}}};
    const annotation argument[] = {{OURS("CallArgument"), {{"value", 'I', 0, {NULL}}}}};

    begin_probe(marks, 1);
    add_method(9, "asked", type, place, 1, argument, 1);
    write_class(path);
}

Test(cli_probe, places_within_methods_are_told_with_their_number_and_lines)
{
    make_caller();
    make_call_probe("Asked.class", "com.acme.Db.q*", "(I)V");
    cr_expect_eq(RUN("probe", "check", "--strict", "Asked.class", "app"), CLI_OK);
    EXPECT_OUT("\ncall com.acme.Db.q*  asked(@CallArgument(0) int)\n");
    EXPECT_OUT("  rule 1            add(int)  2 places, code 9 -> ");
    EXPECT_OUT(" bytes, lines 7, 9\n");
    EXPECT_OUT("         1  a rule takes them, but: it has no such place\n");
    EXPECT_OUT("         2  of them call it: call com.acme.Db.q*\n");
    cr_expect_eq(RUN("probe", "check", "--json", "Asked.class", "app"), CLI_OK);
    EXPECT_OUT("\"place\":\"call\",\"of\":\"com.acme.Db.q*\",\"rules\":");
    EXPECT_OUT("{\"kind\":\"CallArgument\",\"type\":\"int\",\"argument\":0}");
    EXPECT_OUT("\"lines\":[7,9]}");
    EXPECT_OUT("\"no-place\":1,");
    EXPECT_OUT("\"calls\":2,\"misfits\":0,\"left_out\":0}}");

    make_call_probe("Lost.class", "com.acme.Db.ask", "(I)V");
    cr_expect_eq(RUN("probe", "check", "--strict", "Lost.class", "app"), CLI_FAILED);
    EXPECT_ERR("handler asked (call com.acme.Db.ask) is put into no method: those that its rules "
               "take have no such place");
    make_call_probe("Other.class", "com.acme.Db.query", "(J)V");
    cr_expect_eq(RUN("probe", "check", "--strict", "Other.class", "app"), CLI_FAILED);
    EXPECT_OUT("a rule takes them, but: what it calls has no argument of that number, or one of");
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

Test(cli_probe, rules_of_a_file_take_the_places_of_those_of_their_names)
{
    const annotation marks[] = {PLAIN("Probe")};
    const annotation places[] = {
        RULES("OnEntry", "value", "shop: " RULE, "other: include class name=com.acme.Other")};

    begin_probe(marks, 1);
    add_method(9, "entered", "()V", places, 1, NULL, 0);
    write_class("Named.class");
    make_application();
    cr_expect_eq(RUN("probe", "check", "--strict", "Named.class", "app"), CLI_FAILED);
    write_text("my.rules", "shop: include class name=com.acme.Nobody\n"
                           "other: include class name=com.acme.Shop method name=add\n");
    cr_expect_eq(RUN("probe", "check", "--rules", "my.rules", "Named.class", "app"), CLI_OK);
    EXPECT_OUT("\n2 of its rules are those of my.rules\n");
    EXPECT_OUT("\n    shop: include class name=com.acme.Nobody\n");
    EXPECT_OUT("\n  other             add(int)  1 places");
    write_text("my.rules", "other: include class name=com.acme.Shop method name=add\n");
    cr_expect_eq(RUN("probe", "check", "--rules=my.rules", "Named.class"), CLI_OK);
    EXPECT_OUT("\n1 of its rules are those of my.rules; as the probe has them: shop\n");
    cr_expect_eq(RUN("probe", "check", "--json", "--rules=my.rules", "Named.class"), CLI_OK);
    EXPECT_OUT("\\u000aother: include class name=com.acme.Shop method name=add\\u000a");
    write_text("my.rules", "shops: include class name=com.acme.Shop\n");
    cr_expect_eq(RUN("probe", "check", "--rules=my.rules", "Named.class"), CLI_FAILED);
    EXPECT_ERR("my.rules: rules, line 1: no handler has a rule shops; it has shop, other");
    cr_expect_eq(RUN("probe", "check", "--rules=nowhere.rules", "Named.class"), CLI_FAILED);
    EXPECT_ERR("nowhere.rules");
    cr_expect_eq(RUN("probe", "list", "--rules=my.rules", "1"), CLI_USAGE);
    EXPECT_ERR("--rules is for check and attach");
}

Test(cli_probe, methods_have_what_the_handlers_ask_for_or_are_told_why_not)
{
    make_probe("Slow.class");
    make_application();
    cr_expect_eq(RUN("probe", "check", "Slow.class", "app"), CLI_OK);
    EXPECT_OUT("com.acme.Shop  (app)\n"
               "  rule 1            add(int)  1 places, code 2 -> ");
    EXPECT_OUT("  -                 add(long)  [not what the handler asks for: its argument has "
               "another type than the handler's parameter]\n");
    EXPECT_OUT("  -                 add()  [not what the handler asks for: it has no argument of "
               "that number]\n");
    EXPECT_OUT("  rule 1            add(int, int)  1 places, code 2 -> ");
    EXPECT_OUT("  -                 add(int, int)  [not what the handler asks for: it returns "
               "another type than the handler's parameter has]\n");
    EXPECT_OUT("Methods that the handler is not put into\n"
               "         1  a rule takes them, but: it has no argument of that number\n"
               "         1  a rule takes them, but: its argument has another type");
    const char *first = strstr(out_text, "Looked at\n");
    cr_expect(first != NULL && strstr(first + 1, "Looked at\n") == NULL, "told once");
    EXPECT_OUT("rule 1 (line 1) excludes nothing\n");

    cr_expect_eq(RUN("probe", "check", "--json", "Slow.class", "app"), CLI_OK);
    EXPECT_OUT("\"outcome\":\"unfit\",\"rule\":\"rule 1\",\"why\":\"not what the handler asks "
               "for: it has no argument");
    EXPECT_OUT("\"outcomes\":{\"taken\":2,\"excluded\":0,\"against\":0,\"untold\":0,\"no-rule\":0,"
               "\"no-argument\":1,\"argument-type\":1,\"returned-type\":0,\"this-unborn\":0,");
    EXPECT_OUT("\"outcomes\":{\"taken\":2,\"excluded\":0,\"against\":0,\"untold\":0,\"no-rule\":0,"
               "\"no-argument\":0,\"argument-type\":0,\"returned-type\":2,\"this-unborn\":0,");
    EXPECT_OUT("\"cost\":{\"classes\":1,\"places\":2,");
    /* What is given at the return is kept at the entry. */
    EXPECT_OUT("\"cost\":{\"classes\":1,\"places\":4,");
}

Test(cli_probe, a_handler_that_is_there_for_nothing_is_told_and_strict_fails_for_it)
{
    const annotation marks[] = {PLAIN("Probe")};
    const annotation good[] = {RULES("OnEntry", "value", RULE)};
    const annotation lost[] = {RULES("OnThrow", "value", "include class name=com.amce.Shop")};

    make_application();
    begin_probe(marks, 1);
    add_method(9, "entered", "()V", good, 1, NULL, 0);
    write_class("Good.class");
    cr_expect_eq(RUN("probe", "check", "--strict", "Good.class", "app"), CLI_OK);
    cr_expect_str_eq(err_text, "");
    begin_probe(marks, 1);
    add_method(9, "entered", "()V", good, 1, NULL, 0);
    add_method(9, "thrown", "()V", lost, 1, NULL, 0);
    write_class("Lost.class");
    cr_expect_eq(RUN("probe", "check", "Lost.class", "app"), CLI_OK);
    EXPECT_ERR("handler thrown (throw) is put into no method");
    EXPECT_OUT("The handler is put into no method.\n");
    cr_expect_eq(RUN("probe", "check", "--strict", "Lost.class", "app"), CLI_FAILED);
    cr_expect_eq(RUN("probe", "check", "--strict", "--json", "Lost.class", "app"), CLI_FAILED);
    EXPECT_ERR("handler thrown (throw) is put into no method");
    cr_expect_eq(RUN("probe", "check", "--strict", "Lost.class"), CLI_OK);
}

Test(cli_probe, each_fault_is_a_line_with_class_and_method)
{
    const annotation marks[] = {PLAIN("Probe")};
    const annotation bad_rule[] = {RULES("OnEntry", "value", "include klass name=x")};
    const annotation returned[] = {PLAIN("Returned")};

    begin_probe(marks, 1);
    add_method(9, "entered", "(I)V", bad_rule, 1, returned, 1);
    add_method(1, "left", "()V", on_return, 1, NULL, 0);
    write_class("Bad.class");
    cr_expect_eq(RUN("probe", "check", "Bad.class"), CLI_FAILED);
    EXPECT_ERR("jaywalk: Bad.class: com.acme.Slow.entered: rules, line 1: 'klass'");
    EXPECT_ERR("jaywalk: Bad.class: com.acme.Slow.left: a handler is public and static");
    cr_expect_str_eq(out_text, "");
}

Test(cli_probe, a_file_holds_one_probe)
{
    const annotation marks[] = {PLAIN("Probe")};

    make_application();
    cr_expect_eq(RUN("probe", "check", "app"), CLI_FAILED);
    EXPECT_ERR("app: no class in it carries @Probe");
    cr_assert_eq(mkdir("app/com", 0700), 0);
    cr_assert_eq(mkdir("app/com/acme", 0700), 0);
    make_probe("app/com/acme/Slow.class");
    cr_expect_eq(RUN("probe", "check", "app"), CLI_OK);
    EXPECT_OUT("Probe slow: class com.acme.Slow of app,");
    cr_expect_eq(RUN("probe", "check", "app/"), CLI_OK);
    cr_expect_eq(RUN("probe", "check", "app/com/acme/Slow.class"), CLI_OK);
    cr_expect_eq(RUN("probe", "check", "app/com"), CLI_FAILED);
    EXPECT_ERR("app/com: the probe com/acme/Slow is not where a class loader looks for it, at "
               "com/acme/Slow.class; name the folder in which its packages begin");
    class_maker_begin(&maker, 52, "com/acme/Other", "java/lang/Object");
    class_maker_annotate_class(&maker, marks, 1);
    add_method(9, "entered", "()V", on_entry, 1, NULL, 0);
    write_class("app/com/acme/Other.class");
    cr_expect_eq(RUN("probe", "check", "app"), CLI_FAILED);
    EXPECT_ERR("app: both com/acme/Other and com/acme/Slow carry @Probe; a file holds one probe");
}

Test(cli_probe, what_is_missing_on_the_command_line_is_told)
{
    cr_expect_eq(RUN("probe"), CLI_USAGE);
    EXPECT_ERR("'check', 'attach', 'list' or 'detach' comes first");
    cr_expect_eq(RUN("probe", "check"), CLI_USAGE);
    EXPECT_ERR("a jar, folder or class file with a probe is needed");
    cr_expect_eq(RUN("probe", "chek", "x.jar"), CLI_USAGE);
    cr_expect_eq(RUN("probe", "attach", "1"), CLI_USAGE);
    EXPECT_ERR("a JVM, and a jar, folder or class file with a probe, are needed");
    cr_expect_eq(RUN("probe", "list"), CLI_USAGE);
    EXPECT_ERR("a JVM is needed");
    cr_expect_eq(RUN("probe", "detach", "1"), CLI_USAGE);
    EXPECT_ERR("the name of a probe as 'jaywalk probe list' has it");
    cr_expect_eq(RUN("probe", "detach", "1", "a", "b"), CLI_USAGE);
    cr_expect_eq(RUN("probe", "list", "99999999"), CLI_TARGET);
    cr_expect_eq(RUN("probe", "attach", "99999999", "x.jar"), CLI_TARGET);
    EXPECT_ERR("there is no process 99999999");
    cr_expect_eq(RUN("probe", "check", "nowhere.jar"), CLI_FAILED);
    EXPECT_ERR("nowhere.jar: cannot be opened");
    make_probe("Slow.class");
    cr_expect_eq(RUN("probe", "check", "Slow.class", "nowhere"), CLI_FAILED);
    EXPECT_ERR("nowhere: cannot be opened");
    cr_expect_eq(RUN("probe", "check", "Slow.class", "99999999"), CLI_TARGET);
    EXPECT_ERR("there is no process 99999999");
}

/* Whichever allocation fails: a status that says so, a complaint, and nothing lost (the lane of sanitizers looks). */
Test(cli_probe, without_memory_it_says_so)
{
    unsigned failed = 0;
    int status = CLI_FAILED;

    make_probe("Slow.class");
    make_application();
    for (uint64_t nth = 1; status != CLI_OK && nth < 200; nth++) {
        jw_alloc_fail_after(nth);
        status = RUN("probe", "check", "--json", "Slow.class", "app");
        jw_alloc_fail_after(0);
        cr_expect(status == CLI_OK || (status == CLI_FAILED && err_text[0] != '\0'),
                  "allocation %d: status %d", (int)nth, status);
        failed += status != CLI_OK;
    }
    cr_expect_eq(status, CLI_OK);
    cr_expect_gt(failed, 10);
}
