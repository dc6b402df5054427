/* Exceptions by their class: which patterns are some, what they take, and where the probe stands. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "probe/probe_throws.h"
#include "rules/rules.h"

TestSuite(probe_throws, .timeout = 1800);

static bool takes(const char *event, const char *name, bool is_above)
{
    const char *at = probe_throws_patterns(event);
    struct probe_throws_pattern pattern;

    while (probe_throws_next(&at, &pattern)) {
        if (probe_throws_takes(&pattern, name, strlen(name), is_above))
            return true;
    }
    return false;
}

Test(probe_throws, without_patterns_there_are_none)
{
    struct jw_error err = {{0}};
    struct probe_throws_pattern pattern;
    const char *at = probe_throws_patterns("exception");

    cr_assert_null(at);
    cr_assert_not(probe_throws_next(&at, &pattern));
    cr_assert(probe_throws_check("exception", &err));
}

Test(probe_throws, a_name_takes_what_extends_it_and_stars_take_names_alone)
{
    static const char event[] = "exception:java.io.IOException|com.acme.*|**.Lost";

    cr_assert(takes(event, "java/io/IOException", false));
    cr_assert(takes(event, "java/io/IOException", true));
    cr_assert(takes(event, "com/acme/Failed", false));
    cr_assert_not(takes(event, "com/acme/Failed", true));
    cr_assert_not(takes(event, "com/acme/part/Failed", false));
    cr_assert(takes(event, "com/acme/part/Lost", false));
    cr_assert_not(takes(event, "java/io/EOFException", false));
    cr_assert(takes("exception:a/B", "a/B", true));
    cr_assert(takes("exception:Shop$Failed", "Shop$Failed", false));
    cr_assert_not(takes("exception:Shop", "Shop$Failed", false));
}

Test(probe_throws, what_is_no_name_is_refused_with_its_text)
{
    static const char *const wrong[] = {"java.io.", ".a", "a..b", "",     "a.B.<init>", "a b",
                                        "a.B()",    "a|", "|a",   "!a.B", "a=b"};
    char event[64];

    for (size_t i = 0; i < JW_COUNT_OF(wrong); i++) {
        struct jw_error err = {{0}};

        snprintf(event, sizeof event, "exception:%s", wrong[i]);
        cr_assert_not(probe_throws_check(event, &err), "%s", wrong[i]);
        cr_assert_not_null(strstr(err.message, "names no class of exceptions"), "%s", err.message);
    }
}

Test(probe_throws, more_patterns_than_there_is_room_for_are_refused)
{
    char event[256] = "exception:a";
    struct jw_error err = {{0}};

    for (unsigned i = 1; i < PROBE_THROWS_LIMIT; i++)
        strcat(event, "|a");
    cr_assert(probe_throws_check(event, &err), "%s", err.message);
    strcat(event, "|a");
    cr_assert_not(probe_throws_check(event, &err));
    cr_assert_not_null(strstr(err.message, "use stars"));
}

Test(probe_throws, the_probe_stands_where_constructors_of_throwable_return)
{
    struct jw_error err = {{0}};
    struct probe *probe = probe_throws_open("event", &err);
    struct rules *rules;

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert(eq(u32, probe->handler_count, 1));
    cr_assert_str_eq(probe->handlers[0].target, PROBE_THROWS_CLASS);
    cr_assert_str_eq(probe->handlers[0].descriptor, "(Ljava/lang/Object;II)V");
    cr_assert_eq(probe->handlers[0].place, PROBE_RETURN);
    cr_assert_eq(probe->handlers[0].capture_count, 1);
    cr_assert_eq(probe->handlers[0].captures[0].kind, PROBE_THIS);
    rules = rules_parse(probe->handlers[0].rules, strlen(probe->handlers[0].rules), &err);
    cr_assert(rules != NULL, "%s", err.message);
    rules_close(rules);
    probe_close(probe);
}
