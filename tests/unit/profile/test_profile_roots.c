/* What samples are taken apart by: boxes between the root and the frames, in any number and order. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static struct profile *profile;
static struct jw_error err;

static void open_profile(void)
{
    profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
    cr_assert_not_null(profile);
}

static void close_profile(void)
{
    profile_close(profile);
}

TestSuite(profile_roots, .init = open_profile, .fini = close_profile, .timeout = 1800);

static profile_frame_id java(const char *class_name, const char *method)
{
    return profile_frame(profile, &(struct profile_frame){.type = PROFILE_FRAME_COMPILED,
                                                          .class_name = class_name,
                                                          .method = method});
}

static profile_frame_id endpoint(const char *value)
{
    return profile_value(
        profile, &(struct profile_value){.dimension = PROFILE_DIMENSION_ENDPOINT, .value = value});
}

static profile_frame_id attribute(const char *name, const char *value)
{
    return profile_value(profile,
                         &(struct profile_value){PROFILE_DIMENSION_ATTRIBUTE, .name = name, value});
}

static void add(uint64_t weight, const profile_frame_id *roots, size_t root_count)
{
    const profile_frame_id frames[] = {java("a/Work", "run"), java("a/Main", "main")};

    profile_add(profile, &(struct profile_stack){.frames = frames,
                                                 .frame_count = 2,
                                                 .roots = roots,
                                                 .root_count = root_count,
                                                 .samples = 1,
                                                 .weight = weight});
}

#define ADD(weight, ...)                                                                           \
    add(weight, (const profile_frame_id[]){__VA_ARGS__},                                           \
        sizeof((const profile_frame_id[]){__VA_ARGS__}) / sizeof(profile_frame_id))

/* Titles and totals in pre-order, depth as '>', without the root. */
static const char *seen(struct profile_view view)
{
    static char text[8192];
    uint32_t count;
    size_t used = 0;

    text[0] = '\0';
    cr_assert(profile_seal(profile, &view, &err), "%s", err.message);
    const struct profile_node *nodes = profile_nodes(profile, &count);
    for (uint32_t i = 1; i < count; i++) {
        char title[256];

        profile_title(profile_name_of(profile, nodes[i].name), &view, title, sizeof title);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%.*s%s=%u ", (int)nodes[i].depth - 1,
                             ">>>>>>>>>>>>", title, (unsigned)nodes[i].total_weight);
    }
    return text;
}

Test(profile_roots, boxes_stand_in_the_order_that_they_are_given_in)
{
    const profile_frame_id main_thread =
        profile_thread(profile, &(struct profile_thread){.java_name = "main", .os_thread_id = 7});

    ADD(1, endpoint("GET /orders"), attribute("tenant", "acme"), main_thread);
    ADD(2, endpoint("GET /orders"), attribute("tenant", NULL), main_thread);
    ADD(4, endpoint(NULL), attribute("tenant", ""), main_thread);
    cr_expect_str_eq(seen((struct profile_view){.reverse = false}),
                     "GET /orders=3 "
                     ">[no tenant]=2 >>[main tid=7]=2 >>>a/Main.main=2 >>>>a/Work.run=2 "
                     ">tenant=acme=1 >>[main tid=7]=1 >>>a/Main.main=1 >>>>a/Work.run=1 "
                     "[no endpoint]=4 "
                     ">tenant==4 >>[main tid=7]=4 >>>a/Main.main=4 >>>>a/Work.run=4 ");
}

Test(profile_roots, a_virtual_thread_has_its_own_number_and_perhaps_a_name)
{
    const struct profile_thread named = {.java_name = "request 7", .virtual_id = 1042};
    const struct profile_thread plain = {.java_name = "", .virtual_id = 1043};

    ADD(1, profile_thread(profile, &named));
    ADD(2, profile_thread(profile, &plain));
    cr_expect_str_eq(seen((struct profile_view){.reverse = false}),
                     "[request 7 virtual=1042]=1 >a/Main.main=1 >>a/Work.run=1 "
                     "[virtual=1043]=2 >a/Main.main=2 >>a/Work.run=2 ");
}

Test(profile_roots, reversed_stacks_begin_above_them)
{
    ADD(1, endpoint("GET /a"), attribute("tenant", "acme"));
    ADD(2, endpoint("GET /b"), attribute("tenant", "acme"));
    cr_expect_str_eq(seen((struct profile_view){.reverse = true}),
                     "GET /a=1 >tenant=acme=1 >>a/Work.run=1 >>>a/Main.main=1 "
                     "GET /b=2 >tenant=acme=2 >>a/Work.run=2 >>>a/Main.main=2 ");
}

Test(profile_roots, styles_of_classes_leave_values_alone)
{
    ADD(1, attribute("a/b$$Lambda$14+0x00007f31c8000a00", "x/y"), endpoint("GET /v1/$Proxy12"));
    cr_expect_str_eq(
        seen((struct profile_view){
            .is_simple = true, .is_normalised = true, .is_dotted = true, .has_libraries = true}),
        "a/b$$Lambda$14+0x00007f31c8000a00=x/y=1 >GET /v1/$Proxy12=1 >>Main.main=1 >>>Work.run=1 ");
}

Test(profile_roots, patterns_see_them)
{
    const char excludes[] = "GET /b\0[no *\0";

    ADD(1, endpoint("GET /a"));
    ADD(2, endpoint("GET /b"));
    ADD(4, endpoint(NULL));
    cr_expect_str_eq(seen((struct profile_view){.excludes = excludes}),
                     "GET /a=1 >a/Main.main=1 >>a/Work.run=1 ");
    cr_expect_eq(profile_filtered_samples(profile), 2);
}

Test(profile_roots, stacks_of_no_frames_end_in_the_last_of_them)
{
    const profile_frame_id roots[] = {endpoint("GET /a"), attribute("tenant", "acme")};

    for (int reverse = 0; reverse < 2; reverse++) {
        profile_add(profile, &(struct profile_stack){
                                 .roots = roots, .root_count = 2, .samples = 3, .weight = 3});
        cr_expect_str_eq(seen((struct profile_view){.reverse = reverse != 0}),
                         reverse ? "GET /a=6 >tenant=acme=6 " : "GET /a=3 >tenant=acme=3 ");
    }
    cr_expect_eq(profile_frameless_samples(profile), 6);
}

Test(profile_roots, what_is_past_the_limit_is_left_out)
{
    profile_frame_id roots[PROFILE_ROOTS_LIMIT + 2];

    for (size_t i = 0; i < JW_COUNT_OF(roots); i++)
        roots[i] = attribute((char[]){(char)('a' + i), '\0'}, "1");
    add(5, roots, JW_COUNT_OF(roots));
    for (int reverse = 0; reverse < 2; reverse++)
        cr_expect_null(strstr(seen((struct profile_view){.reverse = reverse != 0}), "i=1"));
    cr_expect_not_null(strstr(seen((struct profile_view){.reverse = true}), ">>>>>>>h=1=5 "));
}

Test(profile_roots, what_reads_alike_and_is_not_stays_apart)
{
    ADD(1, endpoint("[no endpoint]"));
    ADD(2, endpoint(NULL));
    cr_expect_str_eq(seen((struct profile_view){.reverse = false}),
                     "[no endpoint]=1 >a/Main.main=1 >>a/Work.run=1 "
                     "[no endpoint]=2 >a/Main.main=2 >>a/Work.run=2 ");
}
