/* The agent's own probe of methods that serve requests: rules that parse, and what each of them is told with. */
#include <criterion/criterion.h>
#include <string.h>

#include "probe/probe_routes.h"
#include "rules/rules.h"

TestSuite(probe_routes, .timeout = 1800);

#define ALL ((UINT64_C(1) << PROBE_ROUTES_PACKS) - 1)

#define MATCHED "(Ljava/lang/Object;Ljava/lang/Object;II)V"

static uint32_t count_of(const struct probe *probe, const char *method_name, const char *descriptor)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];

        count += strcmp(handler->method_name, method_name) == 0 &&
                 strcmp(handler->descriptor, descriptor) == 0;
    }
    return count;
}

Test(probe_routes, each_rule_is_one)
{
    struct jw_error err = {0};
    struct probe *probe = probe_routes_open("endpoints", ALL, &err);

    cr_assert(probe != NULL, "%s", err.message);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];
        struct rules *rules = rules_parse(handler->rules, strlen(handler->rules), &err);

        cr_assert(rules != NULL, "%s: %s", handler->rules, err.message);
        rules_close(rules);
    }
    probe_close(probe);
}

Test(probe_routes, who_may_be_overtaken_is_told_where_its_requests_become_asynchronous)
{
    struct jw_error err = {0};
    struct probe *probe = probe_routes_open("endpoints", ALL, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe_routes_sites(ALL), PROBE_ROUTES_SITES);
    cr_assert_eq(count_of(probe, "entered", "(Ljava/lang/Object;II)I"), PROBE_ROUTES_SITES - 2);
    cr_assert_eq(count_of(probe, "entered", "(Ljava/lang/Object;Ljava/lang/Object;II)I"), 1,
                 "what was read is given, too");
    cr_assert_eq(count_of(probe, "left", "(Ljava/lang/Object;ZIII)V"), 1, "Jetty's says its end");
    cr_assert_eq(count_of(probe, "left", "(Ljava/lang/Object;III)V"), 2 * PROBE_ROUTES_SITES - 4);
    cr_assert_eq(count_of(probe, "polls", "(II)V"), 2, "before a poll and at the end");
    cr_assert_eq(count_of(probe, "failed", "(Ljava/lang/Object;III)V"), 1,
                 "a call of gRPC is over with it");
    cr_assert_eq(count_of(probe, "started", "(Ljava/lang/Object;II)V"), 3);
    for (uint32_t i = 0; i < PROBE_ROUTES_HANDLERS * PROBE_ROUTES_SITES; i++)
        cr_assert_eq(probe->handlers[i].site, (int32_t)(i / PROBE_ROUTES_HANDLERS));
    probe_close(probe);
}

Test(probe_routes, a_framework_is_asked_for_what_servlets_take)
{
    const uint64_t spring = UINT64_C(1) << PROBE_ROUTES_SPRING_MVC;
    const uint64_t servlet = UINT64_C(1) << PROBE_ROUTES_SERVLET;
    struct jw_error err = {0};
    struct probe *probe = probe_routes_open("endpoints", spring | servlet, &err);
    uint32_t places[PROBE_ROUTES_MATCHES][PROBE_THROW + 1] = {{0}};

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe_routes_needed(spring), spring | servlet);
    cr_assert_eq(probe_routes_needed(servlet), servlet);
    cr_assert_eq(probe_routes_sites(spring | servlet), probe_routes_sites(servlet));
    cr_assert_eq(count_of(probe, "matched", MATCHED), 4);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        if (strcmp(probe->handlers[i].method_name, "matched") == 0)
            places[probe->handlers[i].site][probe->handlers[i].place]++;
    }
    for (int match = PROBE_ROUTES_MVC_JAVAX; match <= PROBE_ROUTES_MVC_JAKARTA; match++)
        cr_assert(places[match][PROBE_ENTRY] == 1 && places[match][PROBE_RETURN] == 1);
    probe_close(probe);
}

/* Whose lists hold requests is known where those are read, and which request it is where they are handed on. */
Test(probe_routes, what_is_read_is_told_by_its_list)
{
    struct jw_error err = {0};
    struct probe *probe = probe_routes_open("endpoints", UINT64_C(1) << PROBE_ROUTES_NETTY, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count, PROBE_ROUTES_HANDLERS + 1);
    cr_assert_eq(probe->handlers[0].capture_count, 2);
    cr_assert_eq(probe->handlers[0].captures[1].argument, 1);
    cr_assert_eq(probe->handlers[1].capture_count, 1);

    const struct probe_handler *read = &probe->handlers[PROBE_ROUTES_HANDLERS];
    cr_assert_str_eq(read->method_name, "read");
    cr_assert_eq(read->place, PROBE_RETURN);
    cr_assert_eq(read->captures[0].argument, 2);
    probe_close(probe);
}

/* It is told as it is given, and that it is over as the next one is asked for, or nobody asks any more. */
Test(probe_routes, what_is_polled_ends_with_the_next_poll)
{
    static const struct {
        const char *method_name, *descriptor, *rule;
        enum probe_place place;
    } wanted[PROBE_ROUTES_HANDLERS] = {
        {"polls", "(II)V", "name=poll ", PROBE_ENTRY},
        {"polled", "(Ljava/lang/Object;II)V", "name=poll ", PROBE_RETURN},
        {"polls", "(II)V", "name=close", PROBE_ENTRY}};
    struct jw_error err = {0};
    struct probe *probe = probe_routes_open("endpoints", UINT64_C(1) << PROBE_ROUTES_KAFKA, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe->handler_count, PROBE_ROUTES_HANDLERS);
    for (uint32_t i = 0; i < PROBE_ROUTES_HANDLERS; i++) {
        const struct probe_handler *handler = &probe->handlers[i];

        cr_assert_str_eq(handler->method_name, wanted[i].method_name);
        cr_assert_str_eq(handler->descriptor, wanted[i].descriptor);
        cr_assert_eq(handler->place, wanted[i].place);
        cr_assert(strstr(handler->rules, wanted[i].rule) != NULL, "%s", handler->rules);
        cr_assert_not(handler->is_paired);
        cr_assert_str_eq(handler->pattern, "kafka");
    }
    probe_close(probe);
}

/* It knows its pattern as it is entered; locators are asked apart from methods. */
Test(probe_routes, resources_are_asked_once)
{
    const uint64_t jax_rs = UINT64_C(1) << PROBE_ROUTES_JAX_RS;
    const uint64_t servlet = UINT64_C(1) << PROBE_ROUTES_SERVLET;
    struct jw_error err = {0};
    struct probe *probe = probe_routes_open("endpoints", jax_rs | servlet, &err);
    uint32_t matches = 0;

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe_routes_needed(jax_rs), jax_rs | servlet);
    cr_assert_eq(count_of(probe, "matched", MATCHED), 2);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_handler *handler = &probe->handlers[i];

        if (strcmp(handler->method_name, "matched") != 0)
            continue;
        cr_assert_eq(handler->place, PROBE_ENTRY);
        cr_assert_str_eq(handler->pattern, "jax-rs");
        cr_assert(strstr(handler->rules, handler->site == PROBE_ROUTES_RESTEASY_METHOD
                                             ? "ResourceMethodInvoker "
                                             : "ResourceLocatorInvoker ") != NULL);
        matches |= 1u << handler->site;
    }
    cr_assert_eq(matches, 1u << PROBE_ROUTES_RESTEASY_METHOD | 1u << PROBE_ROUTES_RESTEASY_LOCATOR);
    probe_close(probe);
}

Test(probe_routes, a_pack_has_its_sites_alone)
{
    struct jw_error err = {0};
    struct probe *probe =
        probe_routes_open("endpoints", UINT64_C(1) << PROBE_ROUTES_JDK_HTTP, &err);

    cr_assert(probe != NULL, "%s", err.message);
    cr_assert_eq(probe_routes_sites(UINT64_C(1) << PROBE_ROUTES_JDK_HTTP), 1);
    cr_assert_eq(probe->handler_count, PROBE_ROUTES_HANDLERS);
    probe_close(probe);
}
