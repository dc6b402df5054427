/* Requests that are served: what their endpoints are called, and which of several methods is the request. */
#include "context/context.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "base/counters.h"
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

TestSuite(context_route, .init = open_contexts, .timeout = 1800);

/* ---- which method is the request ---- */

static const struct context_place *place_of(context_slot slot)
{
    return context_place_of(slot);
}

/* What it is left by; `is_asked` (may be NULL): it was the request. */
static uint32_t serve(context_slot slot, uintptr_t frame, const char *path, bool *is_asked)
{
    bool is_wanted;
    const uint32_t entered = context_route_enter(slot, frame, true, &is_wanted);

    if (is_wanted)
        context_route_open(NULL, slot, text_of("GET"), text_of(path), "test", 0);
    if (is_asked != NULL)
        *is_asked = is_wanted;
    return entered;
}

Test(context_route, the_outermost_method_is_the_request)
{
    const context_slot slot = context_bind(7, false);
    const uint32_t outer = serve(slot, 1000, "/orders", NULL);
    bool is_asked;

    const uint64_t root = place_of(slot)->root_span_id;
    cr_assert(ne(u64, root, 0));
    cr_assert(eq(u32, serve(slot, 900, "/other", &is_asked), 0), "it is called by the first one");
    cr_assert_not(is_asked);
    cr_assert_not(context_route_leave(slot, 0));
    cr_assert(eq(u64, place_of(slot)->root_span_id, root));
    cr_assert(context_route_leave(slot, outer), "the thread works for nothing any more");
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));

    const uint32_t next = serve(slot, 1000, "/orders", NULL);
    cr_assert(ne(u64, place_of(slot)->root_span_id, root),
              "each request has a root span of its own");
    cr_assert(context_route_leave(slot, next));
}

Test(context_route, one_without_a_request_lets_the_next_one_be_it)
{
    const context_slot slot = context_bind(7, false);
    bool is_asked;
    const uint32_t outer = context_route_enter(slot, 1000, true, &is_asked);

    context_route_open(NULL, slot, text_of(""), text_of(""), "test", 0);
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    const uint32_t inner = serve(slot, 900, "/orders", NULL);
    cr_assert(ne(u64, place_of(slot)->root_span_id, 0));
    cr_assert_not(context_route_leave(slot, inner));
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    cr_assert(context_route_leave(slot, outer));
}

Test(context_route, what_the_program_says_itself_stays)
{
    const context_slot slot = context_bind(7, false);

    context_set(slot, &(struct context_ids){0, 0, 42, 42});
    uint32_t entered = serve(slot, 1000, "/orders", NULL);
    cr_assert(eq(u64, place_of(slot)->root_span_id, 42));
    cr_assert_not(context_route_leave(slot, entered));
    cr_assert(eq(u64, place_of(slot)->root_span_id, 42));

    context_set(slot, &(struct context_ids){0, 0, 0, 0});
    entered = serve(slot, 1000, "/orders", NULL);
    context_set(slot, &(struct context_ids){0, 0, 43, 43});
    cr_assert_not(context_route_leave(slot, entered), "it has said something else meanwhile");
    cr_assert(eq(u64, place_of(slot)->root_span_id, 43));
}

/* A program that passes on a trace alone has no root span: it gets one, and keeps its trace. */
Test(context_route, a_trace_of_the_program_stays_with_the_root_span_of_the_request)
{
    const context_slot slot = context_bind(7, false);
    struct context_ids ids;

    context_set(slot, &(struct context_ids){1, 2, 3, 0});
    const uint32_t entered = serve(slot, 1000, "/orders", NULL);
    cr_assert(context_get(slot, &ids));
    cr_assert(ne(u64, ids.root_span_id, 0));
    cr_assert(ids.trace_high == 1 && ids.trace_low == 2 && ids.span_id == 3);
    cr_assert_not(context_route_leave(slot, entered), "it still works for its trace");
    cr_assert(context_get(slot, &ids));
    cr_assert(ids.trace_high == 1 && ids.trace_low == 2 && ids.span_id == 3);
    cr_assert(eq(u64, ids.root_span_id, 0));
}

/* A call whose end was not told, for want of stack: whoever stands above it on the stack was not called by it. */
Test(context_route, one_that_was_left_without_a_word_is_forgotten)
{
    const context_slot slot = context_bind(7, false);

    (void)serve(slot, 1000, "/lost", NULL);
    const uint64_t lost = place_of(slot)->root_span_id;
    const uint32_t entered = serve(slot, 1000, "/orders", NULL);
    cr_assert(ne(u64, place_of(slot)->root_span_id, lost));
    cr_assert(context_route_leave(slot, entered));
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
}

Test(context_route, those_that_one_has_called_are_left_with_it)
{
    const context_slot slot = context_bind(7, true);
    bool is_asked;
    const uint32_t outer = context_route_enter(slot, 0, true, &is_asked);

    context_route_open(NULL, slot, text_of(""), text_of(""), "test", 0);
    cr_assert(ne(u32, serve(slot, 0, "/lost", NULL), 0));
    cr_assert(ne(u64, place_of(slot)->root_span_id, 0));
    cr_assert(context_route_leave(slot, outer), "the end of the other one was lost");
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    cr_assert(eq(u32, place_of(slot)->route_depth, 0));
    cr_assert_not(context_route_leave(slot, outer), "it is left once, whoever tells it twice");
}

static uint32_t take(context_slot slot, const char *path, uint64_t goes_on_from)
{
    bool is_asked;
    const uint32_t entered = context_route_enter(slot, 1000, true, &is_asked);

    context_route_open(NULL, slot, text_of("GET"), text_of(path), "test", goes_on_from);
    cr_assert(context_route_is_open(slot, entered));
    return entered;
}

/* `to`: it goes on under that; 0: it is over. */
static uint64_t serve_under(context_slot slot, const char *path, uint64_t goes_on_from, uint64_t to)
{
    const uint32_t entered = take(slot, path, goes_on_from);
    const uint64_t root = place_of(slot)->root_span_id;

    if (to != 0)
        context_route_suspend(slot, to);
    else
        context_route_tell(NULL, slot, goes_on_from);
    cr_assert(context_route_leave(slot, entered));
    return root;
}

#define KEY ((uint64_t)1 << 20)

Test(context_route, a_request_that_goes_on_is_one)
{
    const context_slot slot = context_bind(7, true), other = context_bind(8, true);
    const uint64_t root = serve_under(slot, "/slow", 0, KEY);

    cr_assert(ne(u64, serve_under(slot, "/slow", 0, 0), root), "another one may come meanwhile");
    cr_assert(eq(u64, serve_under(other, "/slow", KEY, KEY), root));
    cr_assert(eq(u64, serve_under(slot, "/slow", KEY, 0), root));
    cr_assert(ne(u64, serve_under(other, "/slow", KEY, 0), root), "it is over");

    (void)serve_under(slot, "/slow", 0, KEY);
    cr_assert(ne(u64, serve_under(other, "/other", KEY, 0), root), "it is another one's");
}

/* Whoever takes it in has said that it is asynchronous, and has not left it: another one goes on with it, ends it, and takes in the next one. */
Test(context_route, others_go_on_with_a_request_that_is_not_left_yet)
{
    const context_slot slot = context_bind(7, true), other = context_bind(8, true);
    const uint32_t first = take(slot, "/slow", 0);
    const uint64_t root = place_of(slot)->root_span_id;

    cr_assert_not(context_route_is_started(slot));
    context_route_start(slot, KEY);
    cr_assert(context_route_is_started(slot) && context_route_is_kept(slot));
    cr_assert(eq(u64, serve_under(other, "/slow", KEY, 0), root));

    const uint32_t next = take(other, "/slow", 0);
    const uint64_t next_root = place_of(other)->root_span_id;
    cr_assert(ne(u64, next_root, root));
    context_route_start(other, KEY);
    context_route_suspend(slot, KEY);
    cr_assert(context_route_leave(slot, first));
    cr_assert_not(context_route_is_kept(slot));
    context_route_suspend(other, 0);
    cr_assert(context_route_leave(other, next));
    cr_assert(eq(u64, serve_under(slot, "/slow", KEY, 0), next_root),
              "who comes late takes nobody's place");
}

Test(context_route, who_ends_a_request_does_not_end_the_one_that_came_behind_it)
{
    const context_slot slot = context_bind(7, true), other = context_bind(8, true);
    const uint32_t first = take(slot, "/slow", 0);

    context_route_start(slot, KEY);
    const uint32_t next = take(other, "/slow", 0);
    const uint64_t root = place_of(other)->root_span_id;
    context_route_start(other, KEY);
    cr_assert(context_route_leave(other, next));
    context_route_tell(NULL, slot, KEY);
    cr_assert(context_route_leave(slot, first));
    cr_assert(eq(u64, serve_under(slot, "/slow", KEY, 0), root));
}

/* One after the other that nobody ends, as a container of new requests has them: the last ones are there. */
static uint32_t take_turn_under(context_slot slot, uint64_t key, bool is_last)
{
    bool is_asked;
    const uint32_t entered = context_route_enter(slot, 1000, true, &is_asked);

    cr_assert(is_asked);
    context_route_open_kept(slot, "test", key);
    context_route_turn(slot, key, is_last);
    return entered;
}

static uint32_t take_turn(context_slot slot, bool is_last)
{
    return take_turn_under(slot, KEY, is_last);
}

Test(context_route, a_request_that_comes_in_turns_is_one)
{
    const context_slot slot = context_bind(7, false);
    uint32_t entered = serve(slot, 1000, "/blobs/4711", NULL);
    const uint64_t root = place_of(slot)->root_span_id;

    context_route_turn(slot, KEY, false);
    cr_assert(context_route_is_kept(slot));
    cr_assert(context_route_leave(slot, entered));
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    for (int i = 0; i < 3; i++) {
        entered = take_turn(slot, i == 2);
        cr_assert(eq(u64, place_of(slot)->root_span_id, root));
        cr_assert(context_route_leave(slot, entered));
        cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    }
    /* It is over: what comes is of none. */
    entered = take_turn(slot, false);
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    cr_assert(context_route_leave(slot, entered));
}

/* On the same connection, whose request before was never read to its end. */
Test(context_route, a_turn_is_of_the_request_that_came_last)
{
    const context_slot slot = context_bind(7, false);
    uint32_t entered = serve(slot, 1000, "/blobs/4711", NULL);

    context_route_turn(slot, KEY, false);
    cr_assert(context_route_leave(slot, entered));
    entered = serve(slot, 1000, "/orders", NULL);
    const uint64_t root = place_of(slot)->root_span_id;
    context_route_turn(slot, KEY, false);
    cr_assert(context_route_leave(slot, entered));
    entered = take_turn(slot, true);
    cr_assert(eq(u64, place_of(slot)->root_span_id, root));
    cr_assert(context_route_leave(slot, entered));
}

Test(context_route, a_whole_request_keeps_nothing)
{
    const context_slot slot = context_bind(7, false);
    uint32_t entered = serve(slot, 1000, "/orders", NULL);

    context_route_turn(slot, KEY, true);
    context_route_turn(slot, 0, false);
    cr_assert_not(context_route_is_kept(slot));
    cr_assert(context_route_leave(slot, entered));
    entered = take_turn(slot, true);
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    cr_assert(context_route_leave(slot, entered));
    entered = take_turn_under(slot, 0, true);
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
    cr_assert(context_route_leave(slot, entered));
}

/* What the program works for itself stays, in each turn. */
Test(context_route, turns_of_what_the_program_says_are_its_own)
{
    const context_slot slot = context_bind(7, false);
    uint32_t entered;

    context_set(slot, &(struct context_ids){0, 0, 42, 42});
    entered = serve(slot, 1000, "/blobs/4711", NULL);
    context_route_turn(slot, KEY, false);
    cr_assert_not(context_route_is_kept(slot));
    cr_assert_not(context_route_leave(slot, entered));
    entered = take_turn(slot, true);
    cr_assert(eq(u64, place_of(slot)->root_span_id, 42));
    cr_assert_not(context_route_leave(slot, entered));
}

Test(context_route, requests_that_nobody_ends_make_room_for_others)
{
    const context_slot slot = context_bind(7, true);
    uint64_t root = 0;

    for (uint64_t key = 1; key <= 20000; key++)
        root = serve_under(slot, "/slow", 0, key);
    cr_assert(eq(u64, serve_under(slot, "/slow", 20000, 0), root));
}

Test(context_route, a_request_may_have_a_name_of_its_own)
{
    static const char name[] = "grpc.health.v1.Health/Check4711";
    const context_slot slot = context_bind(7, true);
    char told[CONTEXT_TOLD_BYTES + 1], longer[2 * CONTEXT_ROUTE_BYTES];
    uint64_t root = 0;

    for (int i = 0; i < 3; i++) {
        bool is_asked;
        const uint32_t entered = context_route_enter(slot, 0, true, &is_asked);

        context_route_open_named(NULL, slot, text_of(name), "grpc", i == 0 ? 0 : KEY);
        cr_assert(root == 0 || place_of(slot)->root_span_id == root);
        root = place_of(slot)->root_span_id;
        told[context_endpoint_of(root, told)] = '\0';
        cr_assert_str_eq(told, name);
        context_route_suspend(slot, KEY);
        cr_assert(context_route_leave(slot, entered));
    }
    memset(longer, 'a', sizeof longer);
    bool is_asked;
    const uint32_t entered = context_route_enter(slot, 0, true, &is_asked);
    context_route_open_named(NULL, slot, (struct context_text){longer, sizeof longer}, "grpc", 0);
    cr_assert(context_route_is_open(slot, entered));
    cr_assert(context_route_leave(slot, entered));
}

/* ---- what a framework has matched ---- */

static void match(context_slot slot, const char *pattern)
{
    context_route_match(
        NULL, slot, &(struct context_match){.method = text_of("GET"), .pattern = text_of(pattern)});
}

static void expect_told(uint64_t root_span_id, const char *wanted)
{
    char told[CONTEXT_TOLD_BYTES + 1];

    told[context_endpoint_of(root_span_id, told)] = '\0';
    cr_assert_str_eq(told, wanted);
}

Test(context_route, the_first_pattern_is_the_endpoint_of_the_request)
{
    const context_slot slot = context_bind(7, false);
    const uint32_t entered = serve(slot, 1000, "/users/anna", NULL);
    const uint64_t root = place_of(slot)->root_span_id;

    expect_told(root, "GET /users/anna");
    cr_assert(context_route_may_match(slot, false));
    match(slot, "/users/{name}");
    cr_assert(eq(u64, place_of(slot)->root_span_id, root));
    expect_told(root, "GET /users/{name}");
    cr_assert_not(context_route_may_match(slot, false));
    match(slot, "/error");
    expect_told(root, "GET /users/{name}");
    cr_assert(context_route_leave(slot, entered));
    cr_assert_not(context_route_may_match(slot, false));

    const uint32_t next = serve(slot, 1000, "/users/anna", NULL);
    expect_told(place_of(slot)->root_span_id, "GET /users/anna");
    cr_assert(context_route_may_match(slot, false));
    cr_assert(context_route_leave(slot, next));
}

static void match_in_turns(context_slot slot, const char *pattern, bool is_begin)
{
    context_route_match(NULL, slot,
                        &(struct context_match){.method = text_of("GET"),
                                                .prefix = text_of("/shop/api/"),
                                                .pattern = text_of(pattern),
                                                .is_begin = is_begin,
                                                .goes_on = true});
}

Test(context_route, a_pattern_in_several_turns_is_one)
{
    const context_slot slot = context_bind(7, false);
    const uint32_t entered = serve(slot, 1000, "/shop/api/users/anna/orders/berta", NULL);
    const uint64_t root = place_of(slot)->root_span_id;

    cr_assert(context_route_may_match(slot, true));
    match_in_turns(slot, "/users/{name}", true);
    expect_told(root, "GET /shop/api/users/{name}/**");
    cr_assert_not(context_route_may_match(slot, false), "who knows nothing of the begin");
    match(slot, "/error");
    expect_told(root, "GET /shop/api/users/{name}/**");
    cr_assert(context_route_may_match(slot, true));
    match_in_turns(slot, "orders", true);
    expect_told(root, "GET /shop/api/users/{name}/orders/**");
    match_in_turns(slot, "{order : .*}/", false);
    expect_told(root, "GET /shop/api/users/{name}/orders/{order}");
    cr_assert_not(context_route_may_match(slot, true));
    match_in_turns(slot, "/error", false);
    expect_told(root, "GET /shop/api/users/{name}/orders/{order}");
    cr_assert(context_route_leave(slot, entered));
}

Test(context_route, what_is_below_may_have_no_path)
{
    const context_slot slot = context_bind(7, false);
    uint32_t entered = serve(slot, 1000, "/shop/api/users/anna", NULL);

    match_in_turns(slot, "/users/{name}", true);
    match_in_turns(slot, "", false);
    expect_told(place_of(slot)->root_span_id, "GET /shop/api/users/{name}");
    cr_assert(context_route_leave(slot, entered));

    entered = serve(slot, 1000, "/anna", NULL);
    context_route_match(NULL, slot,
                        &(struct context_match){
                            .method = text_of("GET"), .pattern = text_of("/"), .is_begin = true});
    expect_told(place_of(slot)->root_span_id, "GET /**");
    match_in_turns(slot, "/", false);
    expect_told(place_of(slot)->root_span_id, "GET /");
    cr_assert(context_route_leave(slot, entered));
}

/* The next request of the thread is not below anything. */
Test(context_route, a_begin_ends_with_its_request)
{
    const context_slot slot = context_bind(7, false);
    uint32_t entered = serve(slot, 1000, "/shop/api/users/anna", NULL);

    match_in_turns(slot, "/users/{name}", true);
    cr_assert(context_route_leave(slot, entered));
    entered = serve(slot, 1000, "/shop/api/orders/berta", NULL);
    match_in_turns(slot, "/orders/{id}", false);
    expect_told(place_of(slot)->root_span_id, "GET /shop/api/orders/{id}");
    cr_assert(context_route_leave(slot, entered));
}

Test(context_route, a_begin_may_be_long)
{
    const context_slot slot = context_bind(7, false);
    const uint32_t entered = serve(slot, 1000, "/shop/api/users/anna", NULL);
    char pattern[CONTEXT_ROUTE_BYTES];

    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = "/{a}"[i % 4];
    for (int i = 0; i < 3; i++)
        context_route_match(NULL, slot,
                            &(struct context_match){.method = text_of("GET"),
                                                    .pattern = {pattern, sizeof pattern},
                                                    .is_begin = i != 2,
                                                    .goes_on = true});
    cr_assert_not(context_route_may_match(slot, true));
    cr_assert(context_route_leave(slot, entered));
}

/* Beyond so many patterns all are [other]; then there is nothing to go on with. */
Test(context_route, what_goes_on_with_another_is_another)
{
    const context_slot slot = context_bind(7, false);
    char pattern[32];
    uint32_t entered;

    for (uint32_t i = 0; i < CONTEXT_ROUTES_LIMIT; i++) {
        entered = serve(slot, 1000, "/a", NULL);
        (void)snprintf(pattern, sizeof pattern, "/{a}/%c%c", 'a' + (int)(i / 26),
                       'a' + (int)(i % 26));
        match(slot, pattern);
        cr_assert(context_route_leave(slot, entered));
    }
    entered = serve(slot, 1000, "/a", NULL);
    match_in_turns(slot, "/users/{name}", true);
    expect_told(place_of(slot)->root_span_id, "[other]");
    match_in_turns(slot, "/orders", false);
    expect_told(place_of(slot)->root_span_id, "[other]");
    cr_assert(context_route_leave(slot, entered));
}

Test(context_route, who_serves_nothing_is_not_matched)
{
    const context_slot slot = context_bind(7, false);

    cr_assert_not(context_route_may_match(slot, false));
    cr_assert_not(context_route_may_match(CONTEXT_NO_SLOT, true));
    match(slot, "/users/{name}");
    match(CONTEXT_NO_SLOT, "/users/{name}");
    cr_assert(eq(u64, place_of(slot)->root_span_id, 0));
}

Test(context_route, an_asynchronous_request_stays_what_it_was_matched_as)
{
    const context_slot slot = context_bind(7, true), other = context_bind(8, true);
    const uint32_t first = take(slot, "/users/anna", 0);
    const uint64_t root = place_of(slot)->root_span_id;

    match(slot, "/users/{name}");
    context_route_suspend(slot, KEY);
    cr_assert(context_route_leave(slot, first));

    const uint32_t second = take(other, "/users/anna", KEY);
    cr_assert(eq(u64, place_of(other)->root_span_id, root));
    expect_told(root, "GET /users/{name}");
    cr_assert_not(context_route_may_match(other, false));
    context_route_tell(NULL, other, KEY);
    cr_assert(context_route_leave(other, second));

    const uint32_t third = take(slot, "/users/berta", 0);
    cr_assert(context_route_may_match(slot, false));
    cr_assert(context_route_leave(slot, third));
}

/* With the API, for the root span that it was given, or that was its own already. */
Test(context_route, an_endpoint_that_the_program_has_said_stays)
{
    const context_slot slot = context_bind(7, false);

    context_set(slot, &(struct context_ids){0, 0, 42, 42});
    const uint32_t entered = serve(slot, 1000, "/users/anna", NULL);
    (void)context_endpoint(NULL, 42, text_of("users"), text_of(""), slot);
    match(slot, "/users/{name}");
    expect_told(42, "users");
    cr_assert_not(context_route_leave(slot, entered));

    const uint32_t next = serve(slot, 1000, "/users/anna", NULL);
    expect_told(42, "GET /users/anna");
    match(slot, "/users/{name}");
    expect_told(42, "GET /users/{name}");
    cr_assert_not(context_route_leave(slot, next));
}

Test(context_route, paths_of_many_names_take_no_room_from_patterns)
{
    const context_slot slot = context_bind(7, false);
    uint64_t before = jw_counter(JW_COUNT_ROUTES_OTHER), root = 0;
    char path[64];

    for (uint32_t i = 0; i < 2 * CONTEXT_ROUTES_LIMIT; i++) {
        snprintf(path, sizeof path, "/users/%c%c%c", 'g' + (char)(i % 17),
                 'g' + (char)(i / 17 % 17), 'g' + (char)(i / 289 % 17));
        const uint32_t entered = serve(slot, 1000, path, NULL);
        root = place_of(slot)->root_span_id;
        match(slot, "/users/{name}");
        cr_assert(context_route_leave(slot, entered));
    }
    expect_told(root, "GET /users/{name}");
    cr_assert(eq(u64, jw_counter(JW_COUNT_ROUTES_OTHER), before), "all have the one that it is");

    for (uint32_t i = 0; i < CONTEXT_ROUTES_LIMIT + 20; i++) {
        snprintf(path, sizeof path, "/{a}/%c%c%c", 'g' + (char)(i % 17), 'g' + (char)(i / 17 % 17),
                 'g' + (char)(i / 289 % 17));
        const uint32_t entered = serve(slot, 1000, "/users/ggg", NULL);
        match(slot, path);
        cr_assert(context_route_leave(slot, entered));
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_ROUTES_OTHER) - before, 21));
}

Test(context_route, a_method_that_is_left_and_was_never_entered_is_nothing)
{
    const context_slot slot = context_bind(7, false);
    bool is_asked;

    cr_assert_not(context_route_leave(slot, 1));
    cr_assert_not(context_route_leave(CONTEXT_NO_SLOT, 1));
    cr_assert(eq(u32, context_route_enter(CONTEXT_NO_SLOT, 0, true, &is_asked), 0));
    cr_assert_not(is_asked);
}

Test(context_route, endpoints_are_few)
{
    const context_slot slot = context_bind(7, false);
    const uint64_t before = jw_counter(JW_COUNT_ROUTES_OTHER);
    char path[64];

    for (uint32_t i = 0; i < CONTEXT_ROUTES_LIMIT + 20; i++) {
        snprintf(path, sizeof path, "/shop/%c%c%c", 'g' + (char)(i % 17), 'g' + (char)(i / 17 % 17),
                 'g' + (char)(i / 289 % 17));
        cr_assert(context_route_leave(slot, serve(slot, 1000, path, NULL)));
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_ROUTES_OTHER) - before, 20));
}
