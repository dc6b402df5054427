/* The agent's own probes: patterns become rules, or are refused, and handlers that are called without a gate. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "probe/probe_own.h"
#include "rules/rules.h"

TestSuite(probe_own, .timeout = 1800);

static const char *rules_of(const char *pattern)
{
    static char rules[PROBE_OWN_RULES_BYTES];
    struct jw_error err = {0};
    struct rules *parsed;

    cr_assert(probe_own_rules(pattern, strlen(pattern), rules, &err), "%s", err.message);
    parsed = rules_parse(rules, strlen(rules), &err);
    cr_assert(parsed != NULL, "%s", err.message);
    rules_close(parsed);
    return rules;
}

Test(probe_own, a_pattern_is_a_rule_that_lifts_what_it_names)
{
    cr_assert_str_eq(rules_of("com.acme.Shop.add"), "include class name=com.acme.Shop method "
                                                    "name=add lift "
                                                    "interfaces,enums,libraries,getters,setters,"
                                                    "synthetic");
    cr_assert_str_eq(rules_of("com.acme.**.find*"),
                     "include class name=com.acme.** method name=find*");
    cr_assert_str_eq(rules_of("com.acme.*.<init>"),
                     "include class name=com.acme.* method name=<init> lift "
                     "getters,setters,synthetic,constructors");
    cr_assert_str_eq(rules_of("java/util/*.get*"),
                     "include class name=java/util/* method name=get* lift platform");
    cr_assert_str_eq(rules_of("javassist.*.a"),
                     "include class name=javassist.* method name=a lift getters,setters,synthetic");
}

Test(probe_own, what_is_no_pattern_is_refused)
{
    static const char *const bad[] = {"",      "add",           ".add",    "com.acme.Shop.",
                                      "a.b c", "a.b;exclude c", "a.b(I)V", "a.b lift=x",
                                      "a.!b",  "a.b\n",         "a#.b",    "a.b,c"};

    for (size_t i = 0; i < JW_COUNT_OF(bad); i++) {
        char rules[PROBE_OWN_RULES_BYTES];
        struct jw_error err = {0};

        cr_assert_not(probe_own_rules(bad[i], strlen(bad[i]), rules, &err), "%s", bad[i]);
        cr_assert(strstr(err.message, "com.acme.*.find*") != NULL, "%s", err.message);
    }
    char text[PROBE_OWN_RULES_BYTES], rules[PROBE_OWN_RULES_BYTES];
    struct jw_error err = {0};
    memset(text, 'a', sizeof text);
    text[1] = '.';
    cr_assert_not(probe_own_rules(text, sizeof text, rules, &err));
}

Test(probe_own, each_pattern_is_called_where_methods_return_and_throw)
{
    static const char text[] = "com.acme.Shop.add:5ms";
    const struct probe_own_pattern pattern = {
        .text = text, .length_bytes = 17, .site = 7, .least_ns = 5000000};
    struct jw_error err = {0};
    struct probe *probe = probe_own_open("trace", PROBE_OWN_TRACE, &pattern, 1, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_str_eq(probe->name, "trace");
    cr_assert(eq(u32, probe->handler_count, 2));
    for (uint32_t i = 0; i < 2; i++) {
        const struct probe_handler *handler = &probe->handlers[i];

        cr_assert_eq(handler->place, i == 0 ? PROBE_RETURN : PROBE_THROW);
        cr_assert_str_eq(handler->target, PROBE_OWN_CLASS);
        cr_assert_str_eq(handler->pattern, "com.acme.Shop.add");
        cr_assert_eq(handler->site, 7);
        cr_assert_eq(handler->least_ns, 5000000);
    }
    probe_close(probe);
}

Test(probe_own, what_is_timed_has_a_number_for_each_method)
{
    const struct probe_own_pattern pattern = {.text = "a.B.c", .length_bytes = 5, .site = 7};
    struct jw_error err = {0};
    struct probe *probe = probe_own_open("time", PROBE_OWN_TIME, &pattern, 1, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_str_eq(probe->handlers[0].target, PROBE_OWN_TIMES_CLASS);
    cr_assert_str_eq(probe->handlers[0].method_name, "timed");
    cr_assert_eq(probe->handlers[0].site, -1);
    probe_close(probe);
}

Test(probe_own, what_is_counted_is_called_where_methods_begin)
{
    const struct probe_own_pattern patterns[] = {{.text = "a.B.c", .length_bytes = 5},
                                                 {.text = "a.B.d", .length_bytes = 5}};
    struct jw_error err = {0};
    struct probe *probe = probe_own_open("count", PROBE_OWN_COUNT, patterns, 2, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert(eq(u32, probe->handler_count, 2));
    cr_assert(eq(u32, probe_own_handlers(PROBE_OWN_COUNT), 1));
    cr_assert(eq(u32, probe_own_handlers(PROBE_OWN_TIME), 2));
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_str_eq(probe->handlers[i].target, PROBE_OWN_COUNTS_CLASS);
        cr_assert_str_eq(probe->handlers[i].method_name, "counted");
        cr_assert_str_eq(probe->handlers[i].descriptor, "(II)V");
        cr_assert_eq(probe->handlers[i].place, PROBE_ENTRY);
        cr_assert_eq(probe->handlers[i].capture_count, 0);
        cr_assert_eq(probe->handlers[i].site, -1);
        cr_assert_str_eq(probe->handlers[i].pattern, i == 0 ? "a.B.c" : "a.B.d");
    }
    probe_close(probe);
}

Test(probe_own, what_is_sampled_is_called_where_methods_begin_too)
{
    const struct probe_own_pattern pattern = {.text = "java/util/Map.get", .length_bytes = 17};
    struct jw_error err = {0};
    struct probe *probe = probe_own_open("event", PROBE_OWN_CALL, &pattern, 1, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert(eq(u32, probe->handler_count, 1));
    cr_assert_str_eq(probe->handlers[0].target, PROBE_OWN_CALLS_CLASS);
    cr_assert_str_eq(probe->handlers[0].method_name, "called");
    cr_assert_str_eq(probe->handlers[0].descriptor, "(II)V");
    cr_assert_eq(probe->handlers[0].place, PROBE_ENTRY);
    cr_assert_eq(probe->handlers[0].site, 0);
    probe_close(probe);
}

Test(probe_own, a_duration_is_in_the_step_that_says_so)
{
    for (uint32_t step = 0; step < PROBE_OWN_COUNTS; step++) {
        const uint64_t from_ns = probe_own_step_ns(step);

        cr_assert_eq(probe_own_step(from_ns), step);
        cr_assert(step == 0 || probe_own_step(from_ns - 1) == step - 1);
        cr_assert(step < PROBE_OWN_STEPS ||
                  (probe_own_step_ns(step + 1) - from_ns) * PROBE_OWN_STEPS <= from_ns);
    }
    cr_assert_eq(probe_own_step(UINT64_MAX), PROBE_OWN_COUNTS - 1);
}

Test(probe_own, more_patterns_than_there_is_room_for_are_refused)
{
    static struct probe_own_pattern patterns[PROBE_OWN_LIMIT + 1];
    struct jw_error err = {0};
    struct probe *probe;

    for (uint32_t i = 0; i < JW_COUNT_OF(patterns); i++)
        patterns[i] = (struct probe_own_pattern){.text = "a.B.c", .length_bytes = 5};
    probe = probe_own_open("trace", PROBE_OWN_TRACE, patterns, PROBE_OWN_LIMIT, &err);
    cr_assert(probe != NULL, "%s", err.message);
    probe_close(probe);
    cr_assert(probe_own_open("trace", PROBE_OWN_TRACE, patterns, PROBE_OWN_LIMIT + 1, &err) ==
              NULL);
    cr_assert(strstr(err.message, "use stars") != NULL);
}
