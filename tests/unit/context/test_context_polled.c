/* Requests of threads that poll for what they work on. */
#include "context/context.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "context/context_internal.h"

static struct context_text text_of(const char *text)
{
    return (struct context_text){text, strlen(text)};
}

static void open_contexts(void)
{
    struct jw_error err = {0};

    cr_assert(contexts_open(&err), "%s", err.message);
    context_routes_begin();
}

TestSuite(context_polled, .init = open_contexts, .timeout = 1800);

static uint64_t root_of(context_slot slot)
{
    return context_place_of(slot)->root_span_id;
}

/* What a method is left by that serves a request of its own. */
static uint32_t serve(context_slot slot)
{
    bool is_wanted;
    const uint32_t entered = context_route_enter(slot, 1000, true, &is_wanted);

    if (is_wanted)
        context_route_open(NULL, slot, text_of("GET"), text_of("/orders"), "test", 0);
    return entered;
}

static void poll_orders(context_slot slot)
{
    context_route_polled(NULL, slot, text_of("process orders"), "kafka");
}

Test(context_polled, what_was_polled_is_the_request_until_the_next_poll)
{
    const context_slot slot = context_bind(7, false);

    cr_assert_not(context_route_poll(NULL, slot), "there was none before");
    poll_orders(slot);
    const uint64_t root = root_of(slot);
    cr_assert(ne(u64, root, 0));
    cr_assert(eq(u32, serve(slot), 0), "what is called meanwhile is a part");
    cr_assert(context_route_poll(NULL, slot), "the thread works for nothing any more");
    cr_assert(eq(u64, root_of(slot), 0));
    cr_assert_not(context_route_poll(NULL, slot));
    poll_orders(slot);
    cr_assert(ne(u64, root_of(slot), 0));
    cr_assert(ne(u64, root_of(slot), root));
    cr_assert(context_route_poll(NULL, slot));
}

Test(context_polled, what_is_polled_within_a_request_is_a_part_of_that)
{
    const context_slot slot = context_bind(7, false);
    const uint32_t outer = serve(slot);
    const uint64_t root = root_of(slot);

    poll_orders(slot);
    cr_assert(eq(u64, root_of(slot), root));
    cr_assert_not(context_route_poll(NULL, slot));
    cr_assert(eq(u64, root_of(slot), root));
    cr_assert(context_route_leave(slot, outer));
}

Test(context_polled, what_was_polled_for_a_session_that_has_ended_is_nothing)
{
    const context_slot slot = context_bind(7, false);

    poll_orders(slot);
    cr_assert_not(context_route_is_past(context_place_of(slot)));
    context_routes_end();
    cr_assert(context_route_is_past(context_place_of(slot)));
    cr_assert(context_route_poll(NULL, slot));
    poll_orders(slot);
    cr_assert_not(context_route_is_past(context_place_of(slot)));
}

Test(context_polled, what_the_program_says_itself_stays)
{
    const context_slot slot = context_bind(7, false);
    struct context_ids ids = {.span_id = 5, .root_span_id = 4};

    context_set(slot, &ids);
    poll_orders(slot);
    cr_assert(eq(u64, root_of(slot), 4));
    cr_assert_not(context_route_poll(NULL, slot), "it works for what the program said");
    cr_assert(eq(u64, root_of(slot), 4));
}
