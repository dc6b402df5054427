/* Feeding and sealing: what makes a box, what is summed, and that the order of adding is lost. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static struct profile *profile;
static struct jw_error err;
static struct profile_view view;

static void open_with(struct profile_config config)
{
    jw_error_clear(&err);
    view = (struct profile_view){.reverse = false};
    profile = profile_open(&config, &err);
    cr_assert_not_null(profile, "%s", err.message);
}

static void open_plain(void)
{
    open_with((struct profile_config){.split_lines = false});
}

static void close_profile(void)
{
    jw_alloc_fail_after(0);
    profile_close(profile);
}

TestSuite(profile, .init = open_plain, .fini = close_profile, .timeout = 1800);

static profile_frame_id java(enum profile_frame_type type, const char *class_name,
                             const char *method)
{
    const struct profile_frame frame = {
        .type = type, .class_name = class_name, .method = method, .signature = "()V", .line = 7};

    return profile_frame(profile, &frame);
}

static profile_frame_id native(const char *symbol, const char *module)
{
    const struct profile_frame frame = {
        .type = PROFILE_FRAME_NATIVE, .method = symbol, .module = module};

    return profile_frame(profile, &frame);
}

static profile_frame_id thread(const char *java_name, const char *os_name, int64_t os_thread_id)
{
    return profile_thread(profile, &(struct profile_thread){.java_name = java_name,
                                                            .os_name = os_name,
                                                            .os_thread_id = os_thread_id});
}

/* Root first, ends with PROFILE_FRAME_NONE. */
static void add(uint64_t weight, const profile_frame_id *root_first)
{
    profile_frame_id frames[16];
    size_t count = 0;

    while (root_first[count] != PROFILE_FRAME_NONE)
        count++;
    for (size_t i = 0; i < count; i++)
        frames[i] = root_first[count - 1 - i];
    profile_add(profile,
                &(struct profile_stack){
                    .frames = frames, .frame_count = count, .samples = 1, .weight = weight});
}

#define ADD(weight, ...) add((weight), (const profile_frame_id[]){__VA_ARGS__, PROFILE_FRAME_NONE})

/* The sealed tree as text: "all 5(0) > a.B.m 5(2) ..." in pre-order, depth as '>'. */
static const char *tree(void)
{
    static char text[4096];
    uint32_t count;
    size_t used = 0;

    cr_assert(profile_seal(profile, &view, &err), "%s", err.message);
    const struct profile_node *nodes = profile_nodes(profile, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct profile_name *name = profile_name_of(profile, nodes[i].name);

        for (uint32_t depth = 0; depth < nodes[i].depth; depth++)
            used += (size_t)snprintf(text + used, sizeof text - used, ">");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s %llu(%llu) ",
                                 name->class_name, name->class_name[0] == '\0' ? "" : ".",
                                 name->method, (unsigned long long)nodes[i].total_weight,
                                 (unsigned long long)nodes[i].self_weight);
    }
    return text;
}

Test(profile, an_empty_profile_is_a_root_of_nothing)
{
    cr_expect_str_eq(tree(), "all 0(0) ");
}

Test(profile, stacks_that_begin_alike_share_their_boxes)
{
    const profile_frame_id main = java(PROFILE_FRAME_COMPILED, "a/Main", "main");
    const profile_frame_id run = java(PROFILE_FRAME_COMPILED, "a/Work", "run");

    ADD(2, main);
    ADD(3, main, run);
    ADD(5, run);
    cr_expect_str_eq(tree(), "all 10(0) >a/Main.main 5(2) >>a/Work.run 3(3) >a/Work.run 5(5) ");
}

Test(profile, tiers_of_a_method_are_one_box_that_knows_them)
{
    uint32_t count;
    const profile_frame_id compiled = java(PROFILE_FRAME_COMPILED, "a/Main", "main");
    const profile_frame_id inlined = java(PROFILE_FRAME_INLINED, "a/Main", "main");

    cr_expect_neq(compiled, inlined);
    cr_expect_eq(compiled, java(PROFILE_FRAME_COMPILED, "a/Main", "main"));
    ADD(2, compiled);
    ADD(3, inlined);
    cr_expect_str_eq(tree(), "all 5(0) >a/Main.main 5(5) ");
    const struct profile_node *nodes = profile_nodes(profile, &count);
    cr_expect_eq(nodes[1].tier_weight[PROFILE_TIER_COMPILED], 2);
    cr_expect_eq(nodes[1].tier_weight[PROFILE_TIER_INLINED], 3);
    cr_expect_eq(nodes[1].total_samples, 2);
}

Test(profile, signatures_and_lines_split_only_when_asked)
{
    struct profile_frame frame = {.type = PROFILE_FRAME_COMPILED,
                                  .class_name = "a/Main",
                                  .method = "main",
                                  .signature = "(I)V",
                                  .line = 3};
    const profile_frame_id first = profile_frame(profile, &frame);

    frame.line = 4;
    cr_expect_eq(profile_frame(profile, &frame), first);
    ADD(1, first);
    frame.signature = "(J)V";
    ADD(2, profile_frame(profile, &frame));
    cr_expect_str_eq(tree(), "all 3(0) >a/Main.main 3(3) ");
    view.split_signatures = true;
    cr_expect_str_eq(tree(), "all 3(0) >a/Main.main 1(1) >a/Main.main 2(2) ");
    view.split_signatures = false;
    cr_expect_str_eq(tree(), "all 3(0) >a/Main.main 3(3) ");
    close_profile();
    open_with((struct profile_config){.split_lines = true});
    const profile_frame_id other = profile_frame(profile, &frame);
    frame.line = 5;
    cr_expect_neq(profile_frame(profile, &frame), other);
}

Test(profile, native_code_is_c_or_cpp_by_symbol_and_library)
{
    static const struct {
        const char *symbol;
        const char *module;
        enum profile_name_kind kind;
        const char *shown;
    } cases[] = {
        {"write", "libc.so.6", PROFILE_NAME_NATIVE, "write"},
        {"JVM_Clone", "libjvm.so", PROFILE_NAME_CPP, "JVM_Clone"},
        {"Node::pinned", "libjvm.so", PROFILE_NAME_CPP, "Node::pinned"},
        {"GCTaskThread::run()", "x.so", PROFILE_NAME_CPP, "GCTaskThread::run()"},
        {"_ZN4Node6pinnedEv", "x.so", PROFILE_NAME_CPP, "_ZN4Node6pinnedEv"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        bool is_found = false;

        ADD(1, native(cases[i].symbol, cases[i].module));
        cr_assert(profile_seal(profile, &view, &err));
        for (uint32_t name = 0; name < profile_name_count(profile); name++) {
            const struct profile_name *found = profile_name_of(profile, name);

            is_found = is_found || (strcmp(found->method, cases[i].shown) == 0 &&
                                    found->kind == cases[i].kind &&
                                    strcmp(found->module, cases[i].module) == 0);
        }
        cr_expect(is_found, "%s", cases[i].symbol);
    }
}

Test(profile, a_truncated_stack_says_so_at_its_root_end)
{
    const profile_frame_id run = java(PROFILE_FRAME_COMPILED, "a/Work", "run");

    profile_add(
        profile,
        &(struct profile_stack){
            .frames = &run, .frame_count = 1, .is_truncated = true, .samples = 1, .weight = 4});
    cr_expect_str_eq(tree(), "all 4(0) >[truncated] 4(0) >>a/Work.run 4(4) ");
}

Test(profile, threads_are_boxes_under_the_root)
{
    const profile_frame_id run = java(PROFILE_FRAME_COMPILED, "a/Work", "run");
    const profile_frame_id threads[] = {thread("main", "java", 12), thread(NULL, "", 13)};

    for (size_t i = 0; i < JW_COUNT_OF(threads); i++)
        profile_add(profile, &(struct profile_stack){.frames = &run,
                                                     .frame_count = 1,
                                                     .roots = &threads[i],
                                                     .root_count = 1,
                                                     .samples = 1,
                                                     .weight = i + 1});
    cr_expect_str_eq(tree(), "all 3(0) >[main tid=12] 1(0) >>a/Work.run 1(1) >[tid=13] 2(0) "
                             ">>a/Work.run 2(2) ");
    cr_expect_eq(thread("", "java", 12), thread(NULL, "java", 12));
    cr_expect_eq(profile_thread(profile, NULL), thread("no thread", NULL, 0));
}

Test(profile, reversed_stacks_begin_with_their_leaf)
{
    const profile_frame_id main = java(PROFILE_FRAME_COMPILED, "a/Main", "main");
    const profile_frame_id run = java(PROFILE_FRAME_COMPILED, "a/Work", "run");
    ADD(2, main, run);
    ADD(1, run);
    view.reverse = true;
    cr_expect_str_eq(tree(), "all 3(0) >a/Work.run 3(1) >>a/Main.main 2(2) ");
}

Test(profile, reversed_stacks_of_a_thread_stay_with_it_and_end_with_their_cut)
{
    const profile_frame_id main_thread = thread("main", NULL, 1);
    const profile_frame_id frames[] = {java(PROFILE_FRAME_COMPILED, "a/Work", "run"),
                                       java(PROFILE_FRAME_INLINED, "a/Main", "main")};
    struct profile_stack stack = {.frames = frames,
                                  .frame_count = 2,
                                  .roots = &main_thread,
                                  .root_count = 1,
                                  .is_truncated = true,
                                  .samples = 1,
                                  .weight = 5};
    uint32_t count;

    profile_add(profile, &stack);
    stack.frame_count = 0;
    stack.is_truncated = false;
    profile_add(profile, &stack);
    view.reverse = true;
    cr_expect_str_eq(tree(), "all 10(0) >[main tid=1] 10(5) >>a/Work.run 5(0) "
                             ">>>a/Main.main 5(0) >>>>[truncated] 5(5) ");
    cr_expect_eq(profile_frameless_samples(profile), 1);
    cr_expect_eq(profile_nodes(profile, &count)[3].tier_weight[PROFILE_TIER_INLINED], 5);
}

Test(profile, frames_that_are_none_are_left_out)
{
    const profile_frame_id frames[] = {java(PROFILE_FRAME_COMPILED, "a/B", "c"), PROFILE_FRAME_NONE,
                                       99999};

    profile_add(profile, &(struct profile_stack){
                             .frames = frames, .frame_count = 3, .samples = 1, .weight = 1});
    cr_expect_str_eq(tree(), "all 1(0) >a/B.c 1(1) ");
}

Test(profile, sealing_may_be_repeated_with_more_in_between)
{
    const profile_frame_id main = java(PROFILE_FRAME_COMPILED, "b/Main", "main");

    ADD(2, main);
    cr_expect_str_eq(tree(), "all 2(0) >b/Main.main 2(2) ");
    ADD(3, java(PROFILE_FRAME_COMPILED, "a/First", "x"));
    cr_expect_str_eq(tree(), "all 5(0) >a/First.x 3(3) >b/Main.main 2(2) ");
}

Test(profile, losses_add_up_by_name_and_those_of_nothing_are_left_out)
{
    uint64_t signals;
    uint64_t samples;
    size_t count;

    cr_expect_not(profile_trust(profile, &signals, &samples));
    profile_signals(profile, 0, 0);
    cr_expect_not(profile_trust(profile, &signals, &samples), "of no signal there is no share");
    profile_signals(profile, 10, 7);
    profile_loss(profile, "lostReentry", "text", 2);
    profile_loss(profile, "lostForked", "text", 0);
    profile_loss(profile, "lostCell", "text", 1);
    profile_loss(profile, "lostReentry", "text", 1);
    cr_expect(profile_trust(profile, &signals, &samples));
    cr_expect_eq(signals, 10);
    cr_expect_eq(samples, 7);
    const struct profile_loss *losses = profile_losses(profile, &count);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(losses[0].name, "lostCell");
    cr_expect_eq(losses[1].count, 3);
}

Test(profile, every_signal_of_the_counters_is_a_sample_a_loss_or_in_flight)
{
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t signals;
    uint64_t samples;
    uint64_t lost = 0;
    uint64_t spared = 0;
    size_t count;

    for (size_t i = 0; i < JW_COUNT_LIMIT; i++) {
        counts[i] = jw_counter_infos[i].is_loss ? i : jw_counter_infos[i].is_spared ? 2 * i : 1000;
        spared += jw_counter_infos[i].is_spared ? counts[i] : 0;
    }
    profile_counters(profile, counts, 3);
    cr_expect(profile_trust(profile, &signals, &samples));
    cr_expect(spared > 0 && signals == 1000 - spared,
              "those that were spared are no signals of the profile");
    cr_expect_eq(samples, 1000);
    const struct profile_loss *losses = profile_losses(profile, &count);
    for (size_t i = 0; i < count; i++)
        lost += losses[i].count;
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        lost -= jw_counter_infos[i].is_loss ? i : 0;
    cr_expect_eq(lost, 3);
    cr_expect_str_eq(losses[0].name, "inFlight");
}

Test(profile, out_of_memory_is_told_by_the_seal_and_never_half_shown)
{
    for (uint64_t nth = 1;; nth++) {
        close_profile();
        jw_error_clear(&err);
        jw_alloc_fail_after(nth);
        profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
        if (profile != NULL) {
            ADD(1, thread(NULL, "t", 1), java(PROFILE_FRAME_COMPILED, "a/B", "c"));
            profile_loss(profile, "x", "y", 1);
        }
        const bool is_sealed = profile != NULL && profile_seal(profile, &view, &err);
        jw_alloc_fail_after(0);
        if (is_sealed) {
            cr_expect_str_eq(tree(), "all 1(0) >[t tid=1] 1(0) >>a/B.c 1(1) ");
            break;
        }
        cr_expect_neq(err.message[0], '\0');
        cr_assert_lt(nth, 200);
    }
}

Test(profile, long_texts_are_cut_and_empty_ones_are_none)
{
    static char text[200000];

    memset(text, 'x', sizeof text - 1);
    ADD(1, java(PROFILE_FRAME_COMPILED, text, NULL));
    cr_assert(profile_seal(profile, &view, &err));
    cr_expect_eq(strlen(profile_name_of(profile, 1)->class_name), 65536);
    cr_expect_str_eq(profile_name_of(profile, 1)->method, "");
}
