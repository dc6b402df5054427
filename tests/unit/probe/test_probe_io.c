/* The agent's own probe of files and sockets: a rule for each method, where it returns and where it throws, and what it is told with. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/io.h"
#include "probe/probe_io.h"
#include "rules/rules.h"

TestSuite(probe_io, .timeout = 1800);

/* Types of a descriptor, before the site and the attach: those of what is captured. */
static void expect_captured(const struct probe_handler *handler)
{
    const char *at = handler->descriptor + 1;

    for (uint32_t i = 0; i < handler->capture_count; i++) {
        cr_assert_eq(*at, handler->captures[i].type, "%s", handler->descriptor);
        at = *at == 'L' ? strchr(at, ';') + 1 : at + 1;
    }
    cr_assert_str_eq(at, "II)V");
}

static void check(bool has_plain)
{
    uint32_t whats[JW_IO_LIMIT] = {0};
    struct jw_error err = {0};
    struct probe *probe = probe_io_open("io", has_plain, &err);

    cr_assert(probe != NULL, "%s", err.message);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];
        struct rules *rules = rules_parse(handler->rules, strlen(handler->rules), &err);

        cr_assert(rules != NULL, "%s: %s", handler->rules, err.message);
        rules_close(rules);
        expect_captured(handler);
        cr_assert_eq(handler->captures[0].kind, PROBE_THIS);
        cr_assert_eq(handler->captures[handler->capture_count - 1].kind, PROBE_DURATION);
        cr_assert_eq(handler->place, i % 2 == 0 ? PROBE_RETURN : PROBE_THROW);
        cr_assert_lt(PROBE_IO_BY_OF(handler->site), PROBE_IO_BY_LIMIT);
        whats[PROBE_IO_WHAT_OF(handler->site)]++;
    }
    for (uint32_t what = 0; what < JW_IO_LIMIT; what++)
        cr_expect_neq(whats[what], 0, "nothing does %u", what);
    probe_close(probe);
}

Test(probe_io, each_method_is_told_where_it_returns_and_where_it_throws)
{
    check(false);
    check(true);
}
