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
static bool profile_seal_names(struct profile *profile, uint32_t *rank)
{
    const uint32_t count = profile->name_count;
    const struct profile_name **ordered = jw_alloc(jw_mul_bytes(count, sizeof *ordered));
    struct profile_name *sealed = jw_alloc(jw_mul_bytes(count, sizeof *sealed));

    if (ordered == NULL || sealed == NULL) {
        jw_free(ordered);
        jw_free(sealed);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        ordered[i] = &profile->names[i];
    qsort(ordered, count, sizeof *ordered, profile_compare_ordered);
    for (uint32_t i = 0; i < count; i++) {
        rank[ordered[i] - profile->names] = i;
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
    uint32_t branch;
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
 * Siblings sorted by (parent, rank); `first` is then where the children of a branch begin in it. A
 * count sort by parent would do, but qsort on twelve bytes takes 0.2 s for a million branches.
 */
static void profile_sort_siblings(const struct profile *profile, const uint32_t *rank,
                                  struct profile_sibling *siblings, uint32_t *first)
{
    const uint32_t count = profile->branch_count;

    for (uint32_t i = 1; i < count; i++) {
        const struct profile_branch *branch = &profile->branches[i];

        siblings[i - 1] = (struct profile_sibling){
            .parent = branch->parent, .rank = rank[branch->name], .branch = i};
    }
    qsort(siblings, count - 1, sizeof *siblings, profile_compare_siblings);

    uint32_t at = 0;
    for (uint32_t branch = 0; branch <= count; branch++) {
        while (at < count - 1 && siblings[at].parent < branch)
            at++;
        first[branch] = at;
    }
}

static void profile_fill_node(struct profile_node *node, const struct profile_branch *branch,
                              uint32_t name, uint32_t parent, uint32_t depth)
{
    *node = (struct profile_node){
        .name = name,
        .parent = parent,
        .depth = depth,
        .self_samples = branch->self_samples,
        .self_weight = branch->self_weight,
        .total_samples = branch->total_samples,
        .total_weight = branch->total_weight,
    };
    memcpy(node->tier_weight, branch->tier_weight, sizeof node->tier_weight);
}

/* Pre-order without recursion: `cursor` is, for each open branch, the next child to visit. */
static void profile_lay_out(const struct profile *profile, const uint32_t *rank,
                            const struct profile_sibling *siblings, const uint32_t *first,
                            uint32_t *cursor, struct profile_node *nodes)
{
    uint32_t *const branch_of = cursor + profile->branch_count; /* of each node */
    uint32_t node = 0;
    uint32_t used = 1;

    memcpy(cursor, first, profile->branch_count * sizeof *cursor);
    profile_fill_node(&nodes[0], &profile->branches[0], rank[0], 0, 0);
    branch_of[0] = 0;
    for (;;) {
        const uint32_t branch = branch_of[node];

        if (cursor[branch] < first[branch + 1]) {
            const struct profile_sibling *next = &siblings[cursor[branch]++];

            profile_fill_node(&nodes[used], &profile->branches[next->branch], next->rank, node,
                              nodes[node].depth + 1);
            branch_of[used] = next->branch;
            node = used++;
            continue;
        }
        nodes[node].end = used;
        if (node == 0)
            return;
        node = nodes[node].parent;
    }
}

static bool profile_seal_nodes(struct profile *profile, const uint32_t *rank)
{
    const uint32_t count = profile->branch_count;
    struct profile_node *nodes = jw_alloc(jw_mul_bytes(count, sizeof *nodes));
    struct profile_sibling *siblings = jw_alloc(jw_mul_bytes(count, sizeof *siblings));
    uint32_t *first = jw_alloc(jw_mul_bytes((size_t)count + 1, sizeof *first));
    uint32_t *cursor = jw_alloc(jw_mul_bytes(count, 2 * sizeof *cursor));
    const bool has_memory = nodes != NULL && siblings != NULL && first != NULL && cursor != NULL;

    if (has_memory) {
        profile_sort_siblings(profile, rank, siblings, first);
        profile_lay_out(profile, rank, siblings, first, cursor, nodes);
        jw_free(profile->nodes);
        profile->nodes = nodes;
        profile->node_count = count;
    } else {
        jw_free(nodes);
    }
    jw_free(siblings);
    jw_free(first);
    jw_free(cursor);
    return has_memory;
}

bool profile_seal(struct profile *profile, struct jw_error *err)
{
    uint32_t *rank = jw_alloc(jw_mul_bytes(profile->name_count, sizeof *rank));
    const bool is_sealed = !profile->is_out_of_memory && rank != NULL &&
                           profile_seal_names(profile, rank) && profile_seal_nodes(profile, rank);

    jw_free(rank);
    if (!is_sealed) {
        jw_error_set(err,
                     "profile: out of memory at %u names and %u tree nodes; leave lines and "
                     "threads together, or convert a shorter recording",
                     profile->name_count, profile->branch_count);
    }
    return is_sealed;
}

const struct profile_node *profile_nodes(const struct profile *profile, uint32_t *count)
{
    *count = profile->node_count;
    return profile->nodes;
}

uint32_t profile_name_count(const struct profile *profile)
{
    return profile->sealed_name_count;
}

const struct profile_name *profile_name_of(const struct profile *profile, uint32_t name)
{
    return &profile->sealed_names[name];
}
