/*
 * Sealing: names sorted by bytes, the tree laid out in pre-order with siblings sorted by name.
 * Here the order of adding is lost, on purpose. Context: dump, tool.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"

int profile_compare_names(const struct profile_name *left, const struct profile_name *right)
{
    const char *const left_texts[] = {left->class_name, left->method, left->signature,
                                      left->module};
    const char *const right_texts[] = {right->class_name, right->method, right->signature,
                                       right->module};

    /* The root stands first; other kinds only tell apart what reads the same. */
    if ((left->kind == PROFILE_NAME_ROOT) != (right->kind == PROFILE_NAME_ROOT))
        return left->kind == PROFILE_NAME_ROOT ? -1 : 1;
    for (size_t i = 0; i < JW_COUNT_OF(left_texts); i++) {
        const int order = strcmp(left_texts[i], right_texts[i]);

        if (order != 0)
            return order;
    }
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return 0;
}

static int profile_compare_ordered(const void *left, const void *right)
{
    return profile_compare_names(*(const struct profile_name *const *)left,
                                 *(const struct profile_name *const *)right);
}

/* Fills sealed_names, and `rank` with the place of each name in it. */
static bool profile_seal_names(struct profile *profile, const struct profile_names *names,
                               uint32_t *rank)
{
    const uint32_t count = names->count;
    const struct profile_name **ordered = jw_alloc(jw_mul_bytes(count, sizeof *ordered));
    struct profile_name *sealed = jw_alloc(jw_mul_bytes(count, sizeof *sealed));

    if (ordered == NULL || sealed == NULL) {
        jw_free(ordered);
        jw_free(sealed);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        ordered[i] = &names->items[i];
    qsort(ordered, count, sizeof *ordered, profile_compare_ordered);
    for (uint32_t i = 0; i < count; i++) {
        rank[ordered[i] - names->items] = i;
        sealed[i] = *ordered[i];
    }
    jw_free(ordered);
    jw_free(profile->sealed_names);
    profile->sealed_names = sealed;
    profile->sealed_name_count = count;
    return true;
}

struct profile_sibling {
    uint32_t parent;
    uint32_t rank;
    uint32_t box;
};

static int profile_compare_siblings(const void *left, const void *right)
{
    const struct profile_sibling *a = left;
    const struct profile_sibling *b = right;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/*
 * Siblings sorted by (parent, rank); `first` is then where the children of a box begin in it. A
 * count sort by parent would do, but qsort on twelve bytes takes 0.2 s for a million boxes.
 */
static void profile_sort_siblings(const struct profile_boxes *boxes, const uint32_t *rank,
                                  struct profile_sibling *siblings, uint32_t *first)
{
    const uint32_t count = boxes->count;

    for (uint32_t i = 1; i < count; i++) {
        const struct profile_box *box = &boxes->items[i];

        siblings[i - 1] =
            (struct profile_sibling){.parent = box->parent, .rank = rank[box->name], .box = i};
    }
    qsort(siblings, count - 1, sizeof *siblings, profile_compare_siblings);

    uint32_t at = 0;
    for (uint32_t box = 0; box <= count; box++) {
        while (at < count - 1 && siblings[at].parent < box)
            at++;
        first[box] = at;
    }
}

static void profile_fill_node(struct profile_node *node, const struct profile_box *box,
                              uint32_t name, uint32_t parent, uint32_t depth)
{
    *node = (struct profile_node){
        .name = name,
        .parent = parent,
        .depth = depth,
        .self_samples = box->self_samples,
        .self_weight = box->self_weight,
        .total_samples = box->total_samples,
        .total_weight = box->total_weight,
    };
    memcpy(node->tier_weight, box->tier_weight, sizeof node->tier_weight);
}

/* Pre-order without recursion: `cursor` is, for each open box, the next child to visit. */
static void profile_lay_out(const struct profile_boxes *boxes, const uint32_t *rank,
                            const struct profile_sibling *siblings, const uint32_t *first,
                            uint32_t *cursor, struct profile_node *nodes)
{
    uint32_t *const box_of = cursor + boxes->count; /* of each node */
    uint32_t node = 0;
    uint32_t used = 1;

    memcpy(cursor, first, boxes->count * sizeof *cursor);
    profile_fill_node(&nodes[0], &boxes->items[0], rank[0], 0, 0);
    box_of[0] = 0;
    for (;;) {
        const uint32_t box = box_of[node];

        if (cursor[box] < first[box + 1]) {
            const struct profile_sibling *next = &siblings[cursor[box]++];

            profile_fill_node(&nodes[used], &boxes->items[next->box], next->rank, node,
                              nodes[node].depth + 1);
            box_of[used] = next->box;
            node = used++;
            continue;
        }
        nodes[node].end = used;
        if (node == 0)
            return;
        node = nodes[node].parent;
    }
}

/* From boxes to nodes. `room` begins with as many numbers as there are boxes, which nobody needs any more. */
static void profile_settle_stacks(struct profile *profile, uint32_t *room, uint32_t count)
{
    const uint32_t *const box_of = room + count; /* of each node */

    for (uint32_t node = 0; node < count; node++)
        room[box_of[node]] = node;
    for (uint32_t i = 0; i < profile->stack_count; i++) {
        if (profile->stack_nodes[i] != PROFILE_ABSENT)
            profile->stack_nodes[i] = room[profile->stack_nodes[i]];
    }
}

static bool profile_seal_nodes(struct profile *profile, const struct profile_boxes *boxes,
                               const uint32_t *rank)
{
    const uint32_t count = boxes->count;
    struct profile_node *nodes = jw_alloc(jw_mul_bytes(count, sizeof *nodes));
    struct profile_sibling *siblings = jw_alloc(jw_mul_bytes(count, sizeof *siblings));
    uint32_t *first = jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *first));
    uint32_t *cursor = jw_alloc(jw_mul_bytes(count, 2 * sizeof *cursor));
    const bool has_memory = nodes != NULL && siblings != NULL && first != NULL && cursor != NULL;

    if (has_memory) {
        profile_sort_siblings(boxes, rank, siblings, first);
        profile_lay_out(boxes, rank, siblings, first, cursor, nodes);
        jw_free(profile->nodes);
        profile->nodes = nodes;
        profile->node_count = count;
        profile_settle_stacks(profile, cursor, count);
    } else {
        jw_free(nodes);
    }
    jw_free(siblings);
    jw_free(first);
    jw_free(cursor);
    return has_memory;
}

bool profile_seal(struct profile *profile, const struct profile_view *view, struct jw_error *err)
{
    static const struct profile_view plain = {.reverse = false};
    struct profile_names names = {.items = NULL};
    struct profile_boxes boxes = {.items = NULL};
    struct jw_error why = {{0}};
    uint32_t *rank = NULL;
    const bool is_broken = profile->is_out_of_memory;
    bool is_sealed = !is_broken &&
                     profile_make_view(profile, view == NULL ? &plain : view, &names, &boxes, &why);

    if (is_sealed) {
        rank = jw_alloc(jw_mul_bytes(names.count, sizeof *rank));
        is_sealed = rank != NULL && profile_seal_names(profile, &names, rank) &&
                    profile_seal_nodes(profile, &boxes, rank);
    }
    jw_free(rank);
    profile_names_free(&names);
    profile_boxes_free(&boxes);
    /* A view that could not be made leaves nothing behind: what was added is as it was. */
    profile->is_out_of_memory = is_broken;
    if (!is_sealed && why.message[0] != '\0')
        jw_error_set(err, "%s", why.message);
    else if (!is_sealed)
        jw_error_set(err,
                     "profile: out of memory at %u names and %u tree nodes; leave lines and "
                     "threads together, or convert a shorter recording",
                     profile->names.count, profile->branch_count);
    return is_sealed;
}

uint64_t profile_filtered_samples(const struct profile *profile)
{
    return profile->samples - profile->nodes[0].total_samples;
}

uint64_t profile_frameless_samples(const struct profile *profile)
{
    return profile->frameless_samples;
}

const char *profile_idle_pattern(const struct profile *profile, size_t n, bool *is_exclude)
{
    *is_exclude = n >= profile->idle_excludes;
    return n < profile->idle_count ? profile->idle_patterns[n] : NULL;
}

const struct profile_node *profile_nodes(const struct profile *profile, uint32_t *count)
{
    *count = profile->node_count;
    return profile->nodes;
}

uint32_t profile_stack_node(const struct profile *profile, profile_stack_id stack)
{
    return stack < profile->stack_count ? profile->stack_nodes[stack] : PROFILE_STACK_NONE;
}

uint32_t profile_name_count(const struct profile *profile)
{
    return profile->sealed_name_count;
}

const struct profile_name *profile_name_of(const struct profile *profile, uint32_t name)
{
    return &profile->sealed_names[name];
}
