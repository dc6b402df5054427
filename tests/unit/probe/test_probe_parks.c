/* The agent's own probe of LockSupport: a rule for each method that is one, and what it is told with. */
#include <criterion/criterion.h>
#include <string.h>

#include "probe/probe_parks.h"
#include "rules/rules.h"

TestSuite(probe_parks, .timeout = 1800);

Test(probe_parks, each_method_is_told_where_it_begins_and_where_it_ends)
{
    struct jw_error err = {0};
    struct probe *probe = probe_parks_open("parks", &err);
    uint32_t places[PROBE_PLACE_LIMIT] = {0};

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count, 3 * PROBE_PARKS_METHODS);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];
        struct rules *rules = rules_parse(handler->rules, strlen(handler->rules), &err);

        cr_assert(rules != NULL, "%s: %s", handler->rules, err.message);
        rules_close(rules);
        places[handler->place]++;
        /* What is captured, the site and the attach. */
        cr_assert_eq(strchr(handler->descriptor, ')') - handler->descriptor - 1,
                     (strstr(handler->descriptor, "Object;") != NULL ? 18 : 0) +
                         (strchr(handler->descriptor, 'J') != NULL ? 1 : 0) + 2);
        cr_assert_eq(handler->capture_count,
                     (strstr(handler->descriptor, "Object;") != NULL ? 1 : 0) +
                         (strchr(handler->descriptor, 'J') != NULL ? 1 : 0));
    }
    for (int place = 0; place <= PROBE_THROW; place++)
        cr_assert_eq(places[place], PROBE_PARKS_METHODS);
    probe_close(probe);
}
