/* Names of endpoints, out of paths that were asked for and patterns of frameworks. */
#include "context/context.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static struct context_text text_of(const char *text)
{
    return (struct context_text){text, strlen(text)};
}

static void expect_name(const char *method, const char *path, const char *wanted)
{
    char name[CONTEXT_ROUTE_BYTES];
    const size_t length_bytes = context_route_name(text_of(method), text_of(path), name);

    cr_assert_str_eq(name, wanted);
    cr_assert(eq(sz, length_bytes, strlen(wanted)));
}

TestSuite(context_route_name, .timeout = 1800);

Test(context_route_name, parts_that_are_one_of_many_are_ids)
{
    expect_name("GET", "/orders/4711/items", "GET /orders/{id}/items");
    expect_name("GET", "/users/8f14e45f-ceea-467f-a8b2-0123456789ab", "GET /users/{id}");
    expect_name("GET", "/blobs/da39a3ee5e6b4b0d3255bfef95601890afd80709", "GET /blobs/{id}");
    expect_name("GET", "/mail/joe@example.com", "GET /mail/{id}");
    expect_name("GET", "/search/caf%C3%A9", "GET /search/{id}");
    expect_name("GET", "/t/AbCdEf0123456789xyzXYZ", "GET /t/{id}");
}

Test(context_route_name, names_that_somebody_thought_of_stay)
{
    expect_name("GET", "/api/v2/orders", "GET /api/v2/orders");
    expect_name("GET", "/oauth2/token", "GET /oauth2/token");
    expect_name("GET", "/added/face", "GET /added/face");
    expect_name("POST", "/Shop.do", "POST /Shop.do");
    expect_name("GET", "/2024-report", "GET /2024-report");
}

Test(context_route_name, what_is_no_part_of_the_route_is_left_out)
{
    expect_name("GET", "/orders;jsessionid=4711?page=2#top", "GET /orders");
    expect_name("GET", "//orders///list/", "GET /orders/list");
    expect_name("GET", "", "GET /");
    expect_name("GET", "/", "GET /");
    expect_name("GET", "http://shop.example:8080/orders/1", "GET /orders/{id}");
    expect_name("GET", "http://shop.example", "GET /");
    expect_name("FETCH", "/orders", "[method] /orders");
    expect_name("GET", "/a/b/c/d/e/f/g/h/i/j", "GET /a/b/c/d/e/f/g/h/**");
}

static void expect_pattern(const char *prefix, const char *pattern, const char *wanted)
{
    char name[CONTEXT_ROUTE_BYTES];
    const size_t length_bytes =
        context_route_pattern_name(text_of("GET"), text_of(prefix), text_of(pattern), name);

    cr_assert_str_eq(name, wanted);
    cr_assert(eq(sz, length_bytes, strlen(wanted)));
}

Test(context_route_name, patterns_stay_as_somebody_wrote_them)
{
    expect_pattern("", "/orders/{orderId}/items", "GET /orders/{orderId}/items");
    expect_pattern("/shop", "/{a}/b/{c}/d/{e}/f/{g}/h/{i}/j",
                   "GET /shop/{a}/b/{c}/d/{e}/f/{g}/h/{i}/j");
    expect_pattern("/shop/api", "/files/**", "GET /shop/api/files/**");
    expect_pattern("", "/{id}.*", "GET /{id}.*");
    expect_pattern("", "/{*path}", "GET /{*path}");
    expect_pattern("", "orders/{id}/", "GET /orders/{id}");
    expect_pattern("/shop", "", "GET /shop");
    expect_pattern("", "/", "GET /");
}

Test(context_route_name, expressions_of_variables_are_left_out)
{
    expect_pattern("", "/orders/{id:[0-9]{3}/?}/items", "GET /orders/{id}/items");
    expect_pattern("", "/{a:x}-{b:[^/]*}", "GET /{a}-{b}");
    expect_pattern("", "/{never", "GET /{never");
    expect_pattern("", "/{ id : [0-9 ]+ }/a", "GET /{id}/a");
}

/* What has no pattern is told by the path that was asked for. */
Test(context_route_name, a_pattern_without_variables_is_taken_as_a_path)
{
    expect_pattern("/shop", "/orders/4711", "GET /shop/orders/{id}");
    expect_pattern("", "/a/b/c/d/e/f/g/h/i/j", "GET /a/b/c/d/e/f/g/h/**");
    expect_pattern("/4711", "/{a}", "GET /{id}/{a}");
}

Test(context_route_name, no_pattern_is_too_long)
{
    char pattern[CONTEXT_ROUTE_PATH_BYTES], name[CONTEXT_ROUTE_BYTES];

    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = "/{a}"[i % 4];
    cr_assert(lt(sz,
                 context_route_pattern_name(text_of("GET"), text_of(""),
                                            (struct context_text){pattern, sizeof pattern}, name),
                 (size_t)CONTEXT_ROUTE_BYTES));
}

Test(context_route_name, no_path_is_too_long)
{
    char path[3 * CONTEXT_ROUTE_PATH_BYTES], name[CONTEXT_ROUTE_BYTES];

    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 40 == 0 ? '/' : 'a';
    cr_assert(lt(sz,
                 context_route_name(text_of("GET"), (struct context_text){path, sizeof path}, name),
                 (size_t)CONTEXT_ROUTE_BYTES));
}
