/*
 * From stacks as they were added to boxes as they are looked at: names restyled, filters applied, turned
 * round where callers are wanted. Context: dump, tool.
 *
 * Names are restyled and matched once each, before any stack is looked at. Branches stand after their
 * parents, so that what a stack has on its way is known in one pass down, and sums in one pass up.
 */
#include <string.h>

#include "base/hash.h"
#include "profile/profile_internal.h"

/* A name as told, in this view. */
struct profile_label {
    uint32_t name;
    bool is_included;
    bool is_excluded;
};

/* A branch, in this view. */
struct profile_flow {
    uint64_t samples; /* of its subtree, without what is filtered out */
    uint64_t weight;
    uint32_t box;
    bool is_included; /* by something from here to the root */
    bool is_excluded;
};

struct profile_making {
    struct profile *profile;
    const struct profile_view *view;
    struct profile_filter *filter; /* NULL: none */
    struct profile_names *names;
    struct profile_boxes *boxes;
    struct profile_label *labels; /* by number of the name as told */
    struct profile_flow *flows;   /* by branch */
};

static bool profile_box_equals(const void *context, uint32_t item, const void *key)
{
    const struct profile_box *box = &((const struct profile_boxes *)context)->items[item];
    const struct profile_box *wanted = key;

    return box->parent == wanted->parent && box->name == wanted->name;
}

/* The child of `parent` with this name, adding it on first sight; PROFILE_ABSENT: out of memory. As branches do, most stand right behind their parent. */
static uint32_t profile_child(struct profile_making *making, uint32_t parent, uint32_t name)
{
    struct profile_boxes *boxes = making->boxes;
    const struct profile_box wanted = {.parent = parent, .name = name};
    const bool is_last = parent + 1 == boxes->count; /* it has no children yet */
    uint32_t hash = 0;

    if (!is_last) {
        if (profile_box_equals(boxes, parent + 1, &wanted))
            return parent + 1;
        hash = (uint32_t)jw_hash_word((uint64_t)parent << 32 | name);

        const uint32_t known =
            profile_index_find(&boxes->index, hash, profile_box_equals, boxes, &wanted);
        if (known != PROFILE_ABSENT)
            return known;
    }

    void *items = boxes->items;
    if (!profile_reserve(making->profile, &items, &boxes->capacity, boxes->count,
                         sizeof *boxes->items))
        return PROFILE_ABSENT;
    boxes->items = items;
    if (!is_last && !profile_index_add(&boxes->index, hash, boxes->count)) {
        making->profile->is_out_of_memory = true;
        return PROFILE_ABSENT;
    }
    boxes->items[boxes->count] = wanted;
    return boxes->count++;
}

void profile_boxes_free(struct profile_boxes *boxes)
{
    profile_index_free(&boxes->index);
    jw_free(boxes->items);
    *boxes = (struct profile_boxes){0};
}

static const struct profile_seen *profile_seen_of(const struct profile *profile, uint32_t branch)
{
    return &profile->seen[profile->branches[branch].frame - 1];
}

/* Is there no box for frames of this name, as told, in the view? */
static bool profile_is_passed(const struct profile_making *making, uint32_t name)
{
    return !making->view->has_compilations &&
           making->profile->names.items[name].kind == PROFILE_NAME_COMPILATION;
}

/* Restyles all names and asks the filter about each that has boxes. */
static bool profile_label_names(struct profile_making *making)
{
    struct profile *profile = making->profile;

    for (uint32_t i = 0; i < profile->names.count; i++) {
        struct profile_label *label = &making->labels[i];

        *label = (struct profile_label){
            .name =
                profile_style_name(profile, making->names, &profile->names.items[i], making->view),
        };
        if (label->name == PROFILE_ABSENT)
            return false;
        if (i > 0 && making->filter != NULL && !profile_is_passed(making, i) &&
            !profile_filter_match(making->filter, &profile->names.items[i],
                                  &making->names->items[label->name], &label->is_included,
                                  &label->is_excluded))
            return false;
    }
    return true;
}

static bool profile_is_taken(const struct profile_flow *flow)
{
    return flow->is_included && !flow->is_excluded;
}

/* Down: what a stack has on its way; up: what is left of each subtree. */
static void profile_fill_flows(struct profile_making *making)
{
    const struct profile *profile = making->profile;
    struct profile_flow *flows = making->flows;

    flows[0] = (struct profile_flow){.is_included = making->filter == NULL ||
                                                    !profile_filter_has_includes(making->filter)};
    for (uint32_t i = 0; i < profile->branch_count; i++) {
        const struct profile_branch *branch = &profile->branches[i];
        struct profile_flow *flow = &flows[i];

        if (i > 0) {
            const struct profile_label *label = &making->labels[profile_seen_of(profile, i)->name];

            *flow = (struct profile_flow){
                .is_included = flows[branch->parent].is_included || label->is_included,
                .is_excluded = flows[branch->parent].is_excluded || label->is_excluded,
            };
        }
        flow->samples = profile_is_taken(flow) ? branch->self_samples : 0;
        flow->weight = profile_is_taken(flow) ? branch->self_weight : 0;
    }
    for (uint32_t i = profile->branch_count - 1; i > 0; i--) {
        struct profile_flow *parent = &flows[profile->branches[i].parent];

        parent->samples += flows[i].samples;
        parent->weight += flows[i].weight;
    }
}

/*
 * A step from `box` to its child for this branch, with these values passing; `box` itself for a frame that
 * has none. PROFILE_ABSENT: no memory.
 */
static uint32_t profile_enter(struct profile_making *making, uint32_t box, uint32_t branch,
                              uint64_t samples, uint64_t weight)
{
    const struct profile_seen *seen = profile_seen_of(making->profile, branch);

    if (profile_is_passed(making, seen->name))
        return box;

    const uint32_t child = profile_child(making, box, making->labels[seen->name].name);

    if (child == PROFILE_ABSENT)
        return PROFILE_ABSENT;

    struct profile_box *entered = &making->boxes->items[child];
    entered->total_samples += samples;
    entered->total_weight += weight;
    if (seen->tier < PROFILE_TIER_LIMIT)
        entered->tier_weight[seen->tier] += weight;
    return child;
}

static void profile_end(struct profile_making *making, uint32_t box, uint32_t branch)
{
    struct profile_box *last = &making->boxes->items[box];

    last->self_samples += making->profile->branches[branch].self_samples;
    last->self_weight += making->profile->branches[branch].self_weight;
    if (making->profile->stack_nodes != NULL)
        making->profile->stack_nodes[branch] = box;
}

static bool profile_make_forward(struct profile_making *making)
{
    const struct profile *profile = making->profile;

    for (uint32_t i = 0; i < profile->branch_count; i++) {
        struct profile_flow *flow = &making->flows[i];

        if (flow->samples == 0 && flow->weight == 0)
            continue;
        if (i > 0)
            flow->box = profile_enter(making, making->flows[profile->branches[i].parent].box, i,
                                      flow->samples, flow->weight);
        if (flow->box == PROFILE_ABSENT)
            return false;
        if (profile_is_taken(flow))
            profile_end(making, flow->box, i);
    }
    return true;
}

static bool profile_is_root_branch(const struct profile *profile, uint32_t branch)
{
    const struct profile_seen *seen = profile_seen_of(profile, branch);

    return profile_is_root(profile->names.items[seen->name].kind);
}

/* The innermost of the boxes that this stack is taken apart by, or the root. */
static uint32_t profile_enter_roots(struct profile_making *making, uint32_t branch,
                                    uint64_t samples, uint64_t weight)
{
    const struct profile *profile = making->profile;
    uint32_t roots[PROFILE_ROOTS_LIMIT];
    size_t count = 0;
    uint32_t box = 0;

    for (; branch != 0; branch = profile->branches[branch].parent) {
        if (profile_is_root_branch(profile, branch) && count < PROFILE_ROOTS_LIMIT)
            roots[count++] = branch;
    }
    while (count > 0 && box != PROFILE_ABSENT)
        box = profile_enter(making, box, roots[--count], samples, weight);
    return box;
}

/* Each stack from its leaf; what it is taken apart by stays at the root. */
static bool profile_make_reverse(struct profile_making *making)
{
    const struct profile *profile = making->profile;

    for (uint32_t i = 0; i < profile->branch_count; i++) {
        const struct profile_branch *stack = &profile->branches[i];

        if (!profile_is_taken(&making->flows[i]) ||
            (stack->self_samples == 0 && stack->self_weight == 0))
            continue;

        uint32_t box = profile_enter_roots(making, i, stack->self_samples, stack->self_weight);
        for (uint32_t at = i; at != 0 && box != PROFILE_ABSENT; at = profile->branches[at].parent) {
            if (!profile_is_root_branch(profile, at))
                box = profile_enter(making, box, at, stack->self_samples, stack->self_weight);
        }
        if (box == PROFILE_ABSENT)
            return false;
        profile_end(making, box, i);
    }
    return true;
}

/* Stacks of no frames: what ends at the root, or at a box that stacks are taken apart by. */
static uint64_t profile_count_frameless(const struct profile_making *making)
{
    const struct profile *profile = making->profile;
    uint64_t samples = 0;

    for (uint32_t i = 0; i < profile->branch_count; i++) {
        const bool is_bare = i == 0 || profile_is_root_branch(profile, i);

        if (is_bare && profile_is_taken(&making->flows[i]))
            samples += profile->branches[i].self_samples;
    }
    return samples;
}

/* Where each stack ends: boxes here, which profile_seal turns into nodes. */
static bool profile_begin_stacks(struct profile *profile, const struct profile_view *view)
{
    jw_free(profile->stack_nodes);
    profile->stack_nodes = NULL;
    profile->stack_count = 0;
    if (!view->knows_stacks)
        return true;
    profile->stack_nodes =
        jw_alloc(jw_mul_bytes(profile->branch_count, sizeof *profile->stack_nodes));
    if (profile->stack_nodes == NULL)
        return false;
    profile->stack_count = profile->branch_count;
    memset(profile->stack_nodes, 0xff, profile->stack_count * sizeof *profile->stack_nodes);
    return true;
}

static bool profile_make_boxes(struct profile_making *making)
{
    struct profile *profile = making->profile;
    void *items = NULL;

    making->labels = jw_alloc(jw_mul_bytes(profile->names.count, sizeof *making->labels));
    making->flows = jw_alloc(jw_mul_bytes(profile->branch_count, sizeof *making->flows));
    if (making->labels == NULL || making->flows == NULL || !profile_label_names(making) ||
        !profile_begin_stacks(profile, making->view) ||
        !profile_reserve(profile, &items, &making->boxes->capacity, 0,
                         sizeof *making->boxes->items))
        return false;
    profile_fill_flows(making);
    making->boxes->items = items;
    making->boxes->items[0] = (struct profile_box){.total_samples = making->flows[0].samples,
                                                   .total_weight = making->flows[0].weight};
    making->boxes->count = 1;
    profile->frameless_samples = profile_count_frameless(making);
    return making->view->reverse ? profile_make_reverse(making) : profile_make_forward(making);
}

bool profile_make_view(struct profile *profile, const struct profile_view *view,
                       struct profile_names *names, struct profile_boxes *boxes,
                       struct jw_error *err)
{
    struct profile_making making = {
        .profile = profile, .view = view, .names = names, .boxes = boxes};

    profile->idle_count = profile->idle_excludes = 0;
    making.filter = profile_filter_open(view, err);
    if (err->message[0] != '\0')
        return false;

    const bool is_made = profile_make_boxes(&making);
    if (making.filter != NULL && is_made)
        profile_filter_tell(making.filter, profile);
    profile_filter_close(making.filter);
    jw_free(making.labels);
    jw_free(making.flows);
    return is_made;
}
