/*
 * Random profiles against a slow model: the tree adds up, its order is that of names, the order of
 * adding is lost, and no exporter says another total. Prints its seed.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/export_internal.h"
#include "profile/profile.h"
#include "profile/profile_moments.h"

#define STACKS     400
#define MAX_FRAMES 12
#define METHODS    9

TestSuite(profile_sums, .timeout = 1800);

struct stack {
    int methods[MAX_FRAMES]; /* leaf first */
    int count;
    uint64_t weight;
};

static struct stack stacks[STACKS];

static void make_stacks(unsigned seed)
{
    srandom(seed);
    for (int i = 0; i < STACKS; i++) {
        stacks[i].count = (int)(random() % (MAX_FRAMES + 1));
        stacks[i].weight = 1 + (uint64_t)random() % 1000;
        for (int frame = 0; frame < stacks[i].count; frame++)
            stacks[i].methods[frame] = (int)(random() % METHODS);
    }
}

static struct profile *feed(int first, int step)
{
    struct profile *profile = profile_open(&(struct profile_config){.split_lines = false}, NULL);

    cr_assert_not_null(profile);
    for (int n = 0, i = first; n < STACKS; n++, i = (i + step) % STACKS) {
        profile_frame_id frames[MAX_FRAMES];

        for (int frame = 0; frame < stacks[i].count; frame++) {
            char name[16];

            snprintf(name, sizeof name, "m%d", stacks[i].methods[frame]);
            frames[frame] =
                profile_frame(profile, &(struct profile_frame){.type = (enum profile_frame_type)(
                                                                   stacks[i].methods[frame] % 3),
                                                               .class_name = "a/B",
                                                               .method = name});
        }
        profile_add(profile, &(struct profile_stack){.frames = frames,
                                                     .frame_count = (size_t)stacks[i].count,
                                                     .samples = 1,
                                                     .weight = stacks[i].weight});
    }
    return profile;
}

static bool collect(void *context, const void *bytes, size_t length_bytes, struct jw_error *err)
{
    (void)err;
    return fwrite(bytes, 1, length_bytes, context) == length_bytes;
}

static char *export_all(struct profile *profile, enum export_format format, size_t *length)
{
    struct jw_error err = {{0}};
    struct profile_moments *none = profile_moments_open(&err); /* the explorer wants some */
    const struct export_options options = {
        .method_count = 100, .stack_count = 100, .value = EXPORT_VALUE_WEIGHT, .moments = none};
    char *text = NULL;
    FILE *to = open_memstream(&text, length);

    cr_assert(export_profile(profile, format, &options, collect, to, &err), "%s", err.message);
    fclose(to);
    profile_moments_close(none);
    return text;
}

Test(profile_sums, totals_are_those_of_a_slow_model)
{
    const unsigned seed = 20260;
    uint64_t all = 0;
    uint64_t self[METHODS] = {0};
    uint64_t total[METHODS] = {0};
    uint64_t found_self[METHODS] = {0};
    uint64_t found_total[METHODS] = {0};
    uint32_t until[METHODS] = {0};
    uint32_t count;

    fprintf(stderr, "seed %u\n", seed);
    make_stacks(seed);
    for (int i = 0; i < STACKS; i++) {
        bool seen[METHODS] = {false};

        all += stacks[i].weight;
        if (stacks[i].count > 0)
            self[stacks[i].methods[0]] += stacks[i].weight;
        for (int frame = 0; frame < stacks[i].count; frame++) {
            const int method = stacks[i].methods[frame];

            total[method] += seen[method] ? 0 : stacks[i].weight;
            seen[method] = true;
        }
    }
    struct profile *profile = feed(0, 1);
    cr_assert(profile_seal(profile, NULL, NULL));
    const struct profile_node *nodes = profile_nodes(profile, &count);
    cr_expect_eq(nodes[0].total_weight, all);
    cr_expect_eq(nodes[0].end, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t below = nodes[i].self_weight;
        uint32_t name = 0;

        for (uint32_t child = i + 1; child < nodes[i].end; child = nodes[child].end) {
            cr_assert_eq(nodes[child].parent, i);
            cr_assert_eq(nodes[child].depth, nodes[i].depth + 1);
            cr_assert_gt(nodes[child].name, name);
            name = nodes[child].name;
            below += nodes[child].total_weight;
        }
        cr_assert_eq(below, nodes[i].total_weight);
        if (i == 0)
            continue;
        const int method = profile_name_of(profile, nodes[i].name)->method[1] - '0';
        found_self[method] += nodes[i].self_weight;
        if (i >= until[method]) {
            found_total[method] += nodes[i].total_weight;
            until[method] = nodes[i].end;
        }
    }
    cr_expect_arr_eq(found_self, self, sizeof self);
    cr_expect_arr_eq(found_total, total, sizeof total);
    profile_close(profile);
}

Test(profile_sums, the_order_of_adding_does_not_show_in_any_format)
{
    make_stacks(77);
    struct profile *one = feed(0, 1);
    struct profile *other = feed(123, 7); /* 7 and 400 share no divisor: all of them, once */

    for (int format = 0; format < EXPORT_FORMAT_LIMIT; format++) {
        if (format == EXPORT_EXPLORER && !export_can_pack())
            continue; /* this compiler links no libdeflate */
        size_t one_length;
        size_t other_length;
        char *one_text = export_all(one, (enum export_format)format, &one_length);
        char *other_text = export_all(other, (enum export_format)format, &other_length);

        cr_assert_eq(one_length, other_length, "format %d", format);
        cr_expect(memcmp(one_text, other_text, one_length) == 0, "format %d", format);
        free(one_text);
        free(other_text);
    }
    profile_close(one);
    profile_close(other);
}

Test(profile_sums, collapsed_lines_add_up_to_the_total)
{
    uint64_t all = 0;
    uint64_t sum = 0;
    size_t length;

    make_stacks(5);
    for (int i = 0; i < STACKS; i++)
        all += stacks[i].weight;
    struct profile *profile = feed(0, 1);
    char *text = export_all(profile, EXPORT_COLLAPSED, &length);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
    cr_expect_eq(sum, all);
    free(text);
    profile_close(profile);
}
