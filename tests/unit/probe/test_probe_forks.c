/* The agent's own probe of ForkJoinPool: a rule for each method, and what it is told with. */
#include <criterion/criterion.h>
#include <string.h>

#include "probe/probe_forks.h"
#include "rules/rules.h"

TestSuite(probe_forks, .timeout = 1800);

Test(probe_forks, each_class_has_a_handler_behind_those_of_the_pool)
{
    static const struct probe_forks forks = {
        .submit = "poolSubmit",
        .task_argument = 1,
        .class_count = 2,
        .classes = {"java/util/concurrent/ForkJoinTask$A", "java/util/concurrent/Other$B"}};
    struct jw_error err = {0};
    struct probe *probe = probe_forks_open("queue-forks", &forks, false, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count, PROBE_FORKS_AT_POOL + 2);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];
        struct rules *rules = rules_parse(handler->rules, strlen(handler->rules), &err);

        cr_assert(rules != NULL, "%s: %s", handler->rules, err.message);
        rules_close(rules);
        cr_assert_eq(handler->captures[0].kind, PROBE_THIS);
        cr_assert_eq(handler->capture_count, i < PROBE_FORKS_AT_POOL ? 2 : 1);
    }
    cr_assert_eq(probe->handlers[0].captures[1].argument, 1);
    cr_assert_eq(probe->handlers[1].place, PROBE_THROW);
    cr_assert(strstr(probe->handlers[3].rules, "java.util.concurrent.Other$B ") != NULL);
    probe_close(probe);
}

Test(probe_forks, the_end_of_a_task_is_told_in_whatever_way_it_ends)
{
    static const struct probe_forks forks = {
        .submit = "externalPush", .class_count = 1, .classes = {"java/util/concurrent/Other$B"}};
    struct jw_error err = {0};
    struct probe *probe = probe_forks_open("queue-forks", &forks, true, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count,
                 PROBE_FORKS_AT_POOL + PROBE_FORKS_AT_CLASS + PROBE_FORKS_AT_END);
    cr_assert_str_eq(probe->handlers[2].method_name, "begun");
    cr_assert_str_eq(probe->handlers[3].method_name, "ended");
    cr_assert_eq(probe->handlers[3].place, PROBE_RETURN);
    cr_assert_str_eq(probe->handlers[4].method_name, "ended");
    cr_assert_eq(probe->handlers[4].place, PROBE_THROW);
    probe_close(probe);
}
