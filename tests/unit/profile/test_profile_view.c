/* Views of one profile: restyled names become one box, patterns let stacks in and keep them out. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static struct profile *profile;
static struct jw_error err;

static profile_frame_id java(const char *class_name, const char *method)
{
    return profile_frame(profile, &(struct profile_frame){.type = PROFILE_FRAME_COMPILED,
                                                          .class_name = class_name,
                                                          .method = method});
}

static void add(uint64_t weight, profile_frame_id root, profile_frame_id leaf)
{
    const profile_frame_id frames[] = {leaf, root};

    profile_add(profile, &(struct profile_stack){
                             .frames = frames, .frame_count = 2, .samples = 1, .weight = weight});
}

static void open_profile(void)
{
    const struct profile_frame copy = {
        .type = PROFILE_FRAME_NATIVE, .method = "memcpy", .module = "libc.so.6"};

    profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
    cr_assert_not_null(profile);
    add(1, java("a/Main", "main"), java("a/Work$$Lambda$1+0x00007f31c8000a00", "run"));
    add(2, java("a/Main", "main"), java("a/Work$$Lambda$2+0x00007f31c8000b00", "run"));
    add(4, java("b/Main", "main"), profile_frame(profile, &copy));
    profile_add(profile, &(struct profile_stack){.samples = 1, .weight = 8});
}

static void close_profile(void)
{
    jw_alloc_fail_after(0);
    profile_close(profile);
}

TestSuite(profile_view, .init = open_profile, .fini = close_profile, .timeout = 1800);

/* "a/Main.main=3 >a/Work.run=3 ...": titles and totals in pre-order, depth as '>', without the root. */
static const char *seen(struct profile_view view)
{
    static char text[4096];
    uint32_t count;
    size_t used = 0;

    text[0] = '\0';
    jw_error_clear(&err);
    cr_assert(profile_seal(profile, &view, &err), "%s", err.message);
    const struct profile_node *nodes = profile_nodes(profile, &count);
    for (uint32_t i = 1; i < count; i++) {
        char title[256];

        profile_title(profile_name_of(profile, nodes[i].name), &view, title, sizeof title);
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s%s=%llu ",
                                 (int)nodes[i].depth - 1, ">>>>>>>>", title,
                                 (unsigned long long)nodes[i].total_weight);
    }
    return text;
}

#define SEEN(...) seen((struct profile_view){__VA_ARGS__})

Test(profile_view, methods_that_are_compiled_are_boxes_only_when_asked)
{
    static const char *const methods[] = {"one", "two"};

    close_profile();
    profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
    cr_assert_not_null(profile);
    for (size_t i = 0; i < JW_COUNT_OF(methods); i++) {
        const struct profile_frame compiling = {
            .type = PROFILE_FRAME_COMPILING, .class_name = "a/Work", .method = methods[i]};
        const profile_frame_id frames[] = {java("jit/C2", "compile"),
                                           profile_frame(profile, &compiling),
                                           java("jit/Broker", "loop")};

        profile_add(profile,
                    &(struct profile_stack){
                        .frames = frames, .frame_count = 3, .samples = 1, .weight = i + 1});
    }
    cr_expect_str_eq(seen((struct profile_view){.reverse = false}),
                     "jit/Broker.loop=3 >jit/C2.compile=3 ");
    cr_expect_str_eq(seen((struct profile_view){.reverse = true}),
                     "jit/C2.compile=3 >jit/Broker.loop=3 ");
    /* What is not shown matches nothing. */
    cr_expect_str_eq(seen((struct profile_view){.excludes = "a/Work.one\0"}),
                     "jit/Broker.loop=3 >jit/C2.compile=3 ");
    cr_expect_str_eq(
        seen((struct profile_view){.excludes = "a/Work.one\0", .has_compilations = true}),
        "jit/Broker.loop=2 >a/Work.two=2 >>jit/C2.compile=2 ");
    cr_expect_str_eq(seen((struct profile_view){.has_compilations = true}),
                     "jit/Broker.loop=3 >a/Work.one=1 >>jit/C2.compile=1 >a/Work.two=2 "
                     ">>jit/C2.compile=2 ");
}

Test(profile_view, names_that_become_equal_become_one_box)
{
    cr_expect_str_eq(SEEN(.reverse = false),
                     "a/Main.main=3 >a/Work$$Lambda$1+0x00007f31c8000a00.run=1 "
                     ">a/Work$$Lambda$2+0x00007f31c8000b00.run=2 b/Main.main=4 >memcpy=4 ");
    cr_expect_str_eq(SEEN(.is_normalised = true),
                     "a/Main.main=3 >a/Work$$Lambda.run=3 b/Main.main=4 >memcpy=4 ");
    cr_expect_str_eq(SEEN(.is_normalised = true, .is_simple = true),
                     "Main.main=7 >memcpy=4 >Work$$Lambda.run=3 ");
    cr_expect_str_eq(
        SEEN(.is_normalised = true, .is_simple = true, .reverse = true, .has_libraries = true),
        "libc.so.6`memcpy=4 >Main.main=4 Work$$Lambda.run=3 >Main.main=3 ");
    cr_expect_str_eq(SEEN(.is_normalised = true, .is_dotted = true),
                     "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ");
}

Test(profile_view, patterns_let_stacks_in_and_keep_them_out)
{
    static const struct {
        const char *includes; /* texts, each with its 0 byte */
        const char *excludes;
        const char *wanted;
        uint64_t filtered;
    } cases[] = {
        {"", "", "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ", 0},
        {"a/Main.main\0", "", "a.Main.main=3 >a.Work$$Lambda.run=3 ", 2},
        {"a.Main.main\0", "", "a.Main.main=3 >a.Work$$Lambda.run=3 ", 2},
        {"a/Main\0", "", "", 4},
        {"a/Main*\0", "", "a.Main.main=3 >a.Work$$Lambda.run=3 ", 2},
        {"*Main.main\0", "", "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ", 1},
        {"*emcp*\0", "", "b.Main.main=4 >memcpy=4 ", 3},
        {"*\0", "", "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ", 1},
        {"**\0", "memcpy\0", "a.Main.main=3 >a.Work$$Lambda.run=3 ", 2},
        {"/^[ab].Main/\0", "", "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ", 1},
        {"/mem|nothing/\0", "", "b.Main.main=4 >memcpy=4 ", 3},
        {"/cpy$/\0*Lambda.run\0", "",
         "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ", 1},
        {"", "memcpy\0*$$Lambda*\0", "", 3},
        {"memcpy\0", "b/*\0", "", 4},
        {"", "mem\0", "a.Main.main=3 >a.Work$$Lambda.run=3 b.Main.main=4 >memcpy=4 ", 0},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_expect_str_eq(SEEN(.is_normalised = true, .is_dotted = true,
                              .includes = cases[i].includes, .excludes = cases[i].excludes),
                         cases[i].wanted, "case %zu", i);
        cr_expect_eq(profile_filtered_samples(profile), cases[i].filtered, "case %zu", i);
        cr_expect_eq(profile_frameless_samples(profile), cases[i].includes[0] == '\0', "case %zu",
                     i);
    }
}

Test(profile_view, patterns_see_what_the_view_shows)
{
    cr_expect_str_eq(SEEN(.is_simple = true, .includes = "Main.main\0", .excludes = "Work*\0"),
                     "Main.main=4 >memcpy=4 ");
    cr_expect_str_eq(SEEN(.has_libraries = true, .includes = "libc.so.6`*\0"),
                     "b/Main.main=4 >libc.so.6`memcpy=4 ");
    cr_expect_str_eq(SEEN(.includes = "libc.so.6`*\0"), "");
    /* And what is not shown: packages, numbers of lambdas. */
    cr_expect_str_eq(SEEN(.is_simple = true, .includes = "b/*\0"), "Main.main=4 >memcpy=4 ");
    cr_expect_str_eq(SEEN(.is_normalised = true, .includes = "*Lambda$2*\0"),
                     "a/Main.main=2 >a/Work$$Lambda.run=2 ");
    cr_expect_str_eq(SEEN(.has_libraries = true, .includes = "memcpy\0"),
                     "b/Main.main=4 >libc.so.6`memcpy=4 ");
}

Test(profile_view, patterns_need_no_signature_and_no_line)
{
    const struct profile_frame get = {.type = PROFILE_FRAME_COMPILED,
                                      .class_name = "c/Map",
                                      .method = "get",
                                      .signature = "(I)V",
                                      .line = 7};

    close_profile();
    profile = profile_open(&(struct profile_config){.split_lines = true}, &err);
    add(1, java("a/Main", "main"), profile_frame(profile, &get));
    cr_expect_str_eq(SEEN(.split_signatures = true, .includes = "c.Map.get\0"),
                     "a/Main.main=1 >c/Map.get(I)V:7=1 ");
    cr_expect_str_eq(SEEN(.split_signatures = true, .includes = "*.get(I)V:7\0"),
                     "a/Main.main=1 >c/Map.get(I)V:7=1 ");
    cr_expect_str_eq(SEEN(.split_signatures = true, .excludes = "*.get\0"), "");
    cr_expect_str_eq(SEEN(.includes = "*.get(I)V\0"), "");
}

Test(profile_view, patterns_that_match_nothing_are_told)
{
    bool is_exclude;

    SEEN(.includes = "memcpy\0nowhere\0", .excludes = "b\0*Lambda*\0");
    cr_expect_str_eq(profile_idle_pattern(profile, 0, &is_exclude), "nowhere");
    cr_expect_not(is_exclude);
    cr_expect_str_eq(profile_idle_pattern(profile, 1, &is_exclude), "b");
    cr_expect(is_exclude);
    cr_expect_null(profile_idle_pattern(profile, 2, &is_exclude));
    SEEN(.reverse = false);
    cr_expect_null(profile_idle_pattern(profile, 0, &is_exclude));
}

Test(profile_view, what_is_no_regular_expression_is_refused)
{
    char many[2 * (PROFILE_PATTERNS_LIMIT + 1) + 1] = {0};

    cr_expect(profile_check_patterns(NULL, NULL, &err));
    cr_expect(profile_check_patterns("/a+/\0", "//\0", &err));
    cr_expect_not(profile_check_patterns("", "/a(/\0", &err));
    cr_expect_not_null(strstr(err.message, "exclude=/a(/: no regular expression"));
    jw_error_clear(&err);
    cr_expect_not(profile_seal(profile, &(struct profile_view){.includes = "/[/\0"}, &err));
    cr_expect_not_null(strstr(err.message, "include=/[/: no regular expression"));
    for (size_t i = 0; i <= PROFILE_PATTERNS_LIMIT; i++)
        many[2 * i] = 'x';
    jw_error_clear(&err);
    cr_expect_not(profile_check_patterns(many, NULL, &err));
    cr_expect_not_null(strstr(err.message, "more than 64 patterns"));
    cr_expect(profile_check_patterns(many + 2, NULL, &err));
}

Test(profile_view, a_view_that_memory_does_not_suffice_for_may_be_asked_for_again)
{
    const struct profile_view view = {
        .is_normalised = true, .is_simple = true, .reverse = true, .includes = "*Lambda*\0/x/\0"};

    for (uint64_t nth = 1;; nth++) {
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        const bool is_sealed = profile_seal(profile, &view, &err);
        jw_alloc_fail_after(0);
        if (is_sealed)
            break;
        cr_expect_neq(err.message[0], '\0');
        cr_assert_lt(nth, 200);
    }
    cr_expect_str_eq(seen(view), "Work$$Lambda.run=3 >Main.main=3 ");
}
