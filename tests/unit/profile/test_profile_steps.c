/*
 * Stacks that the caller takes step by step from where they part from the one before: the same tree as added whole, with and
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

static struct profile *plain, *stepping;
static struct jw_error err;

static void open_profiles(void)
{
    const struct profile_config config = {.split_lines = false};

    plain = profile_open(&config, &err);
    stepping = profile_open(&config, &err);
    cr_assert(plain != NULL && stepping != NULL);
}

static void close_profiles(void)
{
    profile_close(plain);
    profile_close(stepping);
}

TestSuite(profile_steps, .init = open_profiles, .fini = close_profiles, .timeout = 1800);

/* The same in both, as both are given the same in the same order. */
static profile_frame_id frame_of(unsigned name)
{
    const char text[] = {(char)('a' + name), '\0'};
    const struct profile_frame frame = {
        .type = PROFILE_FRAME_COMPILED, .class_name = "C", .method = text};
    const profile_frame_id id = profile_frame(plain, &frame);

    cr_assert_eq(id, profile_frame(stepping, &frame));
    return id;
}

static profile_frame_id box_of(unsigned name)
{
    const char text[] = {(char)('r' + name), '\0'};
    const struct profile_value value = {.dimension = PROFILE_DIMENSION_ENDPOINT, .value = text};
    const profile_frame_id id = profile_value(plain, &value);

    cr_assert_eq(id, profile_value(stepping, &value));
    return id;
}

struct made {
    profile_frame_id frames[FRAMES_LIMIT], roots[2];
    size_t frame_count;
    bool is_truncated;
    profile_stack_id ways[FRAMES_LIMIT + 1]; /* behind so many of the outermost frames */
    uint32_t depths[FRAMES_LIMIT + 1];
};

/* Of its outermost frames the first `same` by the way of the stack before, if both begin at one place. */
static profile_stack_id step(struct made *made, const struct made *before, size_t same,
                             const struct profile_stack *stack)
{
    made->ways[0] = profile_way_begin(stepping, stack, &made->depths[0]);
    for (size_t i = 0; i < made->frame_count; i++) {
        made->depths[i + 1] = made->depths[i];
        if (i < same && made->ways[0] == before->ways[0]) {
            made->ways[i + 1] = before->ways[i + 1];
            made->depths[i + 1] = before->depths[i + 1];
        } else {
            made->ways[i + 1] =
                profile_way_on(stepping, made->ways[i], made->frames[made->frame_count - 1 - i],
                               &made->depths[i + 1]);
        }
        cr_assert_neq(made->ways[i + 1], PROFILE_STACK_NONE);
    }
    profile_way_end(stepping, made->ways[made->frame_count], made->depths[made->frame_count],
                    stack->samples, stack->weight);
    return made->ways[made->frame_count];
}

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
    uint64_t stacks, other_stacks;

    cr_assert_eq(profile_listed_frames(plain, &stacks),
                 profile_listed_frames(stepping, &other_stacks));
    cr_assert_eq(stacks, other_stacks);

    cr_assert(profile_seal(plain, NULL, &err) && profile_seal(stepping, NULL, &err));

    const struct profile_node *nodes = profile_nodes(plain, &count);
    const struct profile_node *others = profile_nodes(stepping, &other_count);
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
        const struct profile_stack stack = {.frames = made->frames,
                                            .frame_count = made->frame_count,
                                            .roots = made->roots,
                                            .root_count = has_boxes ? 2 : 0,
                                            .is_truncated = made->is_truncated,
                                            .samples = 1,
                                            .weight = i + 1};

        const profile_stack_id id = profile_add(plain, &stack);
        cr_assert(id != PROFILE_STACK_NONE && id == step(made, &stacks[(i + 1) % 2], same, &stack));
    }
    compare();
}

Test(profile_steps, gives_the_same_tree)
{
    const unsigned seed = (unsigned)getpid();

    printf("seed %u\n", seed);
    srandom(seed);
    add_all(false);
}

Test(profile_steps, gives_the_same_tree_with_boxes_that_differ)
{
    const unsigned seed = (unsigned)getpid();

    printf("seed %u\n", seed);
    srandom(seed);
    add_all(true);
}
