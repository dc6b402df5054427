/*
 * Stacks of which the caller knows how many outermost frames are those of the stack before: the same tree as without that, with and
 * without boxes that differ, and where one of two was cut. Random, prints its seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/profile.h"

#define STACKS       2000
#define FRAMES_LIMIT 10
#define NAMES        4

static struct profile *plain, *following;
static struct jw_error err;

static void open_profiles(void)
{
    const struct profile_config config = {.split_lines = false};

    plain = profile_open(&config, &err);
    following = profile_open(&config, &err);
    cr_assert(plain != NULL && following != NULL);
}

static void close_profiles(void)
{
    profile_close(plain);
    profile_close(following);
}

TestSuite(profile_same, .init = open_profiles, .fini = close_profiles, .timeout = 300);

/* The same in both, as both are given the same in the same order. */
static profile_frame_id frame_of(unsigned name)
{
    const char text[] = {(char)('a' + name), '\0'};
    const struct profile_frame frame = {
        .type = PROFILE_FRAME_COMPILED, .class_name = "C", .method = text};
    const profile_frame_id id = profile_frame(plain, &frame);

    cr_assert_eq(id, profile_frame(following, &frame));
    return id;
}

static profile_frame_id box_of(unsigned name)
{
    const char text[] = {(char)('r' + name), '\0'};
    const struct profile_value value = {.dimension = PROFILE_DIMENSION_ENDPOINT, .value = text};
    const profile_frame_id id = profile_value(plain, &value);

    cr_assert_eq(id, profile_value(following, &value));
    return id;
}

struct made {
    profile_frame_id frames[FRAMES_LIMIT], roots[2];
    size_t frame_count;
    bool is_truncated;
};

/* Some frames of the stack before, and others above them. */
static size_t make(struct made *stack, const struct made *before)
{
    const size_t same = (size_t)random() % (before->frame_count + 1);
    const size_t own = (size_t)random() % (FRAMES_LIMIT - same + 1);

    stack->frame_count = own + same;
    for (size_t i = 0; i < own; i++)
        stack->frames[i] = frame_of((unsigned)random() % NAMES);
    for (size_t i = 0; i < same; i++)
        stack->frames[own + i] = before->frames[before->frame_count - same + i];
    for (size_t i = 0; i < 2; i++)
        stack->roots[i] = random() % 3 == 0 ? PROFILE_FRAME_NONE : box_of((unsigned)random() % 2);
    stack->is_truncated = random() % 4 == 0;
    return same;
}

static void compare(void)
{
    uint32_t count, other_count;

    cr_assert(profile_seal(plain, NULL, &err) && profile_seal(following, NULL, &err));

    const struct profile_node *nodes = profile_nodes(plain, &count);
    const struct profile_node *others = profile_nodes(following, &other_count);
    cr_assert_eq(count, other_count);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(nodes[i].name == others[i].name && nodes[i].parent == others[i].parent &&
                      nodes[i].self_weight == others[i].self_weight &&
                      nodes[i].total_weight == others[i].total_weight,
                  "node %u of %u", i, count);
}

static void add_all(bool has_boxes)
{
    struct made stacks[2] = {{.frame_count = 0}, {.frame_count = 0}};

    for (unsigned i = 0; i < STACKS; i++) {
        struct made *made = &stacks[i % 2];
        const size_t same = make(made, &stacks[(i + 1) % 2]);
        struct profile_stack stack = {.frames = made->frames,
                                      .frame_count = made->frame_count,
                                      .roots = made->roots,
                                      .root_count = has_boxes ? 2 : 0,
                                      .is_truncated = made->is_truncated,
                                      .samples = 1,
                                      .weight = i + 1};

        cr_assert_neq(profile_add(plain, &stack), PROFILE_STACK_NONE);
        stack.same_count = same;
        cr_assert_neq(profile_add(following, &stack), PROFILE_STACK_NONE);
    }
    compare();
}

Test(profile_same, gives_the_same_tree)
{
    const unsigned seed = (unsigned)getpid();

    printf("seed %u\n", seed);
    srandom(seed);
    add_all(false);
}

Test(profile_same, gives_the_same_tree_with_boxes_that_differ)
{
    const unsigned seed = (unsigned)getpid();

    printf("seed %u\n", seed);
    srandom(seed);
    add_all(true);
}
