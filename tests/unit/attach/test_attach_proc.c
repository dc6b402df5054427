/* What is read from /proc about processes that may be JVMs, and how they are called. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "attach/attach_internal.h"

TestSuite(attach_proc, .timeout = 1800);

static const char status_text[] =
    "Name:\tjava\nState:\tS (sleeping)\nTgid:\t4711\nNgid:\t0\nPid:\t4711\n"
    "Uid:\t1000\t1001\t1002\t1003\nGid:\t2000\t2001\t2002\t2003\n"
    "Groups:\t4 24 1000\nNStgid:\t4711\t12\t1\nNSpid:\t4711\t12\t1\n"
    "SigCgt:\t2000000181005ccf\n";

Test(attach_proc, status_gives_effective_ids_and_the_innermost_number)
{
    struct attach_status status;

    cr_assert(attach_parse_status(status_text, sizeof status_text - 1, &status));
    cr_expect_eq(status.state, 'S');
    cr_expect_eq(status.user, 1001);
    cr_expect_eq(status.group, 2001);
    cr_expect_eq(status.inner_pid, 1);
    cr_expect(status.catches_quit);
}

Test(attach_proc, a_process_without_a_handler_for_quit_is_seen)
{
    static const char text[] = "State:\tR (running)\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
                               "SigCgt:\t0000000000000000\n";
    struct attach_status status;

    cr_assert(attach_parse_status(text, sizeof text - 1, &status));
    cr_expect_not(status.catches_quit);
    cr_expect_eq(status.inner_pid, 0, "no NSpid before kernel 4.1");
}

Test(attach_proc, a_status_that_is_cut_anywhere_is_refused_or_read_but_never_past_its_end)
{
    struct attach_status status;

    for (size_t length = 0; length < sizeof status_text; length++) {
        char *text = malloc(length + 1);

        memcpy(text, status_text, length);
        const bool is_read = attach_parse_status(text, length, &status);
        cr_expect(!is_read || strstr(status_text, "SigCgt:") + 7 <= status_text + length);
        free(text);
    }
}

Test(attach_proc, s18_random_bytes_do_no_harm)
{
    char text[600], name[64];
    struct attach_status status;
    bool is_disabled;

    srand(7);
    for (int round = 0; round < 3000; round++) {
        const size_t length = (size_t)rand() % sizeof text;

        for (size_t i = 0; i < length; i++)
            text[i] = (char)(rand() % 4 == 0 ? rand()
                                             : "-XX:+DisableAttachMechanism\0Uid:\n1"[rand() % 34]);
        (void)!attach_parse_status(text, length, &status);
        if (attach_parse_name(text, length, name, sizeof name))
            cr_assert(strlen(name) < sizeof name);
        attach_find_switch(text, length, &is_disabled);
        attach_find_switch_in_environment(text, length, round % 2, &is_disabled);
    }
}

Test(attach_proc, libjvm_is_known_by_its_whole_name)
{
    cr_expect(attach_is_jvm_line("7f00 r-xp 0 fe:00 1 /usr/lib/jvm/17/lib/server/libjvm.so\n"));
    cr_expect(attach_is_jvm_line("7f00 r-xp 0 fe:00 1 /a/libjvm.so (deleted)\n"));
    cr_expect(attach_is_jvm_line("7f00 r-xp 0 fe:00 1 /a/libjvm.so"));
    cr_expect_not(attach_is_jvm_line("7f00 r-xp 0 fe:00 1 /a/libjvm.so.bak\n"));
    cr_expect_not(attach_is_jvm_line("7f00 r-xp 0 fe:00 1 /a/mylibjvm.so\n"));
    cr_expect_not(attach_is_jvm_line("7f00 r-xp 0 fe:00 1 /usr/bin/sleep\n"));
}

static bool is_off(const char *words, size_t length)
{
    bool is_disabled = false;

    attach_find_switch(words, length, &is_disabled);
    return is_disabled;
}
#define IS_OFF(words) is_off(words, sizeof(words) - 1)

Test(attach_proc, the_last_word_about_attaching_counts)
{
    cr_expect(IS_OFF("java\0-XX:+DisableAttachMechanism\0Main\0"));
    cr_expect(IS_OFF("-XX:+DisableAttachMechanism"));
    cr_expect_not(IS_OFF("java\0-XX:+DisableAttachMechanism\0-XX:-DisableAttachMechanism\0Main\0"));
    cr_expect_not(IS_OFF("java\0-XX:+DisableAttachMechanismX\0Main\0"));
    cr_expect_not(IS_OFF("java\0x-XX:+DisableAttachMechanism\0Main\0"));
    cr_expect_not(IS_OFF(""));
}

Test(attach_proc, variables_count_before_or_after_the_command_line)
{
    static const char early[] = "A=1\0JAVA_TOOL_OPTIONS=-Xmx1g -XX:+DisableAttachMechanism\0B=2\0";
    static const char late[] = "_JAVA_OPTIONS=-XX:+DisableAttachMechanism\0";
    static const char other[] = "NOTE=-XX:+DisableAttachMechanism\0";
    bool is_disabled = false;

    attach_find_switch_in_environment(early, sizeof early - 1, true, &is_disabled);
    cr_expect_not(is_disabled);
    attach_find_switch_in_environment(early, sizeof early - 1, false, &is_disabled);
    cr_expect(is_disabled);
    is_disabled = false;
    attach_find_switch_in_environment(late, sizeof late - 1, true, &is_disabled);
    cr_expect(is_disabled);
    is_disabled = false;
    attach_find_switch_in_environment(other, sizeof other - 1, false, &is_disabled);
    cr_expect_not(is_disabled);
}

Test(attach_proc, a_command_line_gives_main_class_jar_or_program)
{
#define LINE(words, name)                                                                          \
    {                                                                                              \
        words, sizeof(words) - 1, name                                                             \
    }
    static const struct {
        const char *words;
        size_t length;
        const char *name;
    } cases[] = {
        LINE("java\0Main\0", "Main"),
        LINE("/usr/bin/java\0-Xmx1g\0-cp\0a:b\0com.acme.Main\0-jar\0x\0", "com.acme.Main"),
        LINE("java\0-jar\0/opt/app/app.jar\0serve\0", "app.jar"),
        LINE("java\0--class-path\0x\0--add-opens\0a/b=c\0com.acme.Main\0", "com.acme.Main"),
        LINE("java\0-p\0mods\0-m\0acme.app/com.acme.Main\0", "com.acme.Main"),
        LINE("java\0--module=acme.app/com.acme.Main\0", "com.acme.Main"),
        LINE("java\0--module\0acme.app\0", "acme.app"),
        LINE("java\0@options\0Main\0", "Main"),
        LINE("java\0-version\0", "java"),
        LINE("java\0-cp\0", "java"),
        LINE("java\0-jar\0", "java"),
        LINE("/opt/idea/bin/idea\0-x\0", "idea"),
        LINE("java", "java"),
        LINE("java\0Main", "Main"),
    };
#undef LINE
    char name[64];

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_assert(attach_parse_name(cases[i].words, cases[i].length, name, sizeof name));
        cr_expect_str_eq(name, cases[i].name, "case %zu: %s, not %s", i, name, cases[i].name);
    }
    cr_expect_not(attach_parse_name("", 0, name, sizeof name));
    cr_expect_not(attach_parse_name("\0java", 5, name, sizeof name));
}

Test(attach_proc, a_jvm_answers_to_the_short_forms_of_its_name)
{
    cr_expect(attach_is_called("com.acme.Main", "com.acme.Main"));
    cr_expect(attach_is_called("com.acme.Main", "Main"));
    cr_expect_not(attach_is_called("com.acme.Main", "acme.Main"));
    cr_expect_not(attach_is_called("com.acme.Main", "main"));
    cr_expect(attach_is_called("app.jar", "app.jar"));
    cr_expect(attach_is_called("app.jar", "app"));
    cr_expect_not(attach_is_called("app.jar", "jar"));
    cr_expect(attach_is_called("module/com.acme.Main", "Main"));
    cr_expect_not(attach_is_called("Main", "Mai"));
    cr_expect_not(attach_is_called("Main", ""));
}
