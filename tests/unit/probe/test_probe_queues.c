/* The agent's own probe of ThreadPoolExecutor: a rule for each method, and what it is told with. */
#include <criterion/criterion.h>
#include <string.h>

#include "probe/probe_queues.h"
#include "rules/rules.h"

TestSuite(probe_queues, .timeout = 1800);

/* References and booleans of a descriptor, before the site and the attach. */
static uint32_t captured(const char *descriptor)
{
    uint32_t count = 0;

    for (const char *at = descriptor + 1; *at != ')'; at++) {
        if (*at == 'L')
            at = strchr(at, ';');
        count++;
    }
    return count - 2;
}

static void check(bool has_ends, uint32_t count)
{
    struct jw_error err = {0};
    struct probe *probe = probe_queues_open("queue", has_ends, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count, count);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];
        struct rules *rules = rules_parse(handler->rules, strlen(handler->rules), &err);

        cr_assert(rules != NULL, "%s: %s", handler->rules, err.message);
        rules_close(rules);
        cr_assert_eq(captured(handler->descriptor), handler->capture_count);
        cr_assert_eq(handler->captures[0].kind, PROBE_THIS);
    }
    probe_close(probe);
}

Test(probe_queues, each_method_is_told_once_with_what_it_captures)
{
    check(false, PROBE_QUEUES_HANDLERS);
    check(true, PROBE_QUEUES_HANDLERS + PROBE_QUEUES_ENDS);
}
