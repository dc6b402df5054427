/*
 * profile_internal - the tables of a profile, shared by the files of this room.
 *
 * For      profile.c (feeding), profile_merge.c, profile_names.c (interning), profile_view.c (from stacks as they were
 *          added to boxes as they are looked at), profile_style.c, profile_filter.c, profile_seal.c (order).
 * Callers  these, tests.   Context  dump, tool.   Memory  as profile.h says.
 */
#ifndef JW_PROFILE_PROFILE_INTERNAL_H
#define JW_PROFILE_PROFILE_INTERNAL_H

#include "profile/profile.h"

/* An open-addressed table of item numbers by hash; what items are equal is the caller's business. */
struct profile_index {
    struct profile_slot {
        uint32_t hash;
        uint32_t item_plus_one; /* 0: free */
    } * slots;
    uint32_t slot_count; /* a power of two, or 0 */
    uint32_t used_count;
};

typedef bool profile_equal(const void *context, uint32_t item, const void *key);

#define PROFILE_ABSENT UINT32_MAX /* no item has this number */

struct profile_block {
    struct profile_block *next;
    size_t capacity_bytes;
    size_t used_bytes;
    char bytes[];
};

/* A frame as its callers know it: a name, and the tier it was seen in. */
struct profile_seen {
    uint32_t name;
    uint32_t tier; /* enum profile_tier; PROFILE_TIER_LIMIT where the name is no Java method */
};

/* A frame on the way from the root, in the order of adding: a parent always stands before its children. */
struct profile_branch {
    profile_frame_id frame; /* PROFILE_FRAME_NONE: the root */
    uint32_t parent;
    uint64_t self_samples;
    uint64_t self_weight;
};

/* The same for a view: a node of the sealed tree before it has its place. */
struct profile_box {
    uint32_t name;
    uint32_t parent;
    uint64_t self_samples;
    uint64_t self_weight;
    uint64_t total_samples;
    uint64_t total_weight;
    uint64_t tier_weight[PROFILE_TIER_LIMIT];
};

/* Distinct names by number; 0 is the root. */
struct profile_names {
    struct profile_name *items;
    uint32_t count, capacity;
    struct profile_index index;
};

/* The tree of a view while it is made; siblings stand in no order yet. */
struct profile_boxes {
    struct profile_box *items; /* 0: the root */
    uint32_t count, capacity;
    struct profile_index index; /* of those that do not stand right behind their parent */
};

struct profile {
    struct profile_config config;
    struct profile_about about;
    bool is_out_of_memory; /* sticky */

    struct profile_block *blocks; /* text */
    uint64_t blocks_bytes;

    const char **texts;
    uint32_t text_count, text_capacity;
    struct profile_index text_index;

    struct profile_names names; /* as told */

    struct profile_seen *seen; /* frame id - 1 */
    uint32_t seen_count, seen_capacity;
    struct profile_index seen_index;

    struct profile_branch *branches; /* 0: the root */
    uint64_t listed_stacks, listed_frames;
    uint32_t branch_count, branch_capacity;
    /* From parent and frame to a branch that does not stand right behind its parent; what is compared stands in the slot, so that a step is one place in memory. */
    struct profile_step_slot {
        uint32_t parent;
        profile_frame_id frame; /* PROFILE_FRAME_NONE: free */
        uint32_t branch;
    } * steps;
    uint32_t step_slots; /* a power of two, or 0 */
    uint32_t step_count; /* that are taken */
    /* The way of the stack that was added last, from the root: the next one has most of it in common. */
    struct profile_path_step {
        profile_frame_id frame;
        uint32_t branch;
    } * path;
    uint32_t path_count, path_capacity;
    uint64_t samples; /* added */

    bool has_trust;
    uint64_t trust_signals, trust_samples;
    struct profile_loss *losses; /* sorted by name */
    size_t loss_count, loss_capacity;

    bool has_cost;
    struct jw_cost_sums cost;
    bool has_ledger;
    struct jw_ledger ledger;
    struct profile_cpu *cpus; /* sorted by name */
    size_t cpu_count, cpu_capacity;

    /* As of the last seal; names and nodes in their final order. */
    struct profile_node *nodes;
    uint32_t node_count;
    uint32_t *stack_nodes; /* by branch; NULL: the view does not know stacks */
    uint32_t stack_count;
    struct profile_name *sealed_names;
    uint32_t sealed_name_count;
    uint64_t frameless_samples;
    const char *idle_patterns[PROFILE_PATTERNS_LIMIT]; /* excludes from `idle_excludes` on */
    size_t idle_count, idle_excludes;
};

/* The item that equals `key`, or PROFILE_ABSENT. */
uint32_t profile_index_find(const struct profile_index *index, uint32_t hash, profile_equal *equal,
                            const void *context, const void *key);

/* Adds an item that profile_index_find did not find; false when memory is out. */
JW_MUST_CHECK bool profile_index_add(struct profile_index *index, uint32_t hash, uint32_t item);
void profile_index_free(struct profile_index *index);

/* Room for one more element; false and sticky when memory is out. */
JW_MUST_CHECK bool profile_reserve(struct profile *profile, void **array, uint32_t *capacity,
                                   uint32_t used, size_t element_bytes);

/* The one copy of this text; "" for NULL, and when memory is out. Equal texts: equal pointers. */
const char *profile_text(struct profile *profile, const char *text);

/* Number of the name that is made of these texts; PROFILE_ABSENT when memory is out. */
uint32_t profile_intern_name(struct profile *profile, struct profile_names *names,
                             const struct profile_name *wanted);
void profile_names_free(struct profile_names *names);
/* Id of a frame of that name and tier; PROFILE_FRAME_NONE when memory is out. */
profile_frame_id profile_intern_seen(struct profile *profile, struct profile_seen wanted);

/* One step towards the leaf, adding a branch on first sight; PROFILE_ABSENT: out of memory. */
uint32_t profile_step(struct profile *profile, uint32_t at, profile_frame_id frame);
/* What stacks that end there, `depth` steps below the root, stand for. */
void profile_branch_add(struct profile *profile, uint32_t branch, uint32_t depth, uint64_t samples,
                        uint64_t weight);

/* In place, which suits since both only take away: a class in internal form, arrays too. */
void profile_normalise_class(char *class_name);
void profile_simplify_class(char *class_name);

/* The name that a view makes of one as told, in `names`; PROFILE_ABSENT when memory is out. */
uint32_t profile_style_name(struct profile *profile, struct profile_names *names,
                            const struct profile_name *told, const struct profile_view *view);

/* Whether a box of this name, as told and as shown, lets its stacks in or keeps them out; false: no memory to
 * tell. */
JW_MUST_CHECK bool profile_filter_match(struct profile_filter *filter,
                                        const struct profile_name *told,
                                        const struct profile_name *shown, bool *is_included,
                                        bool *is_excluded);

/* Patterns that matched nothing, into the profile. */
void profile_filter_tell(const struct profile_filter *filter, struct profile *profile);

/* Names and boxes of what was added, as this view has them. False and `err`: see profile_seal. */
JW_MUST_CHECK bool profile_make_view(struct profile *profile, const struct profile_view *view,
                                     struct profile_names *names, struct profile_boxes *boxes,
                                     struct jw_error *err);
void profile_boxes_free(struct profile_boxes *boxes);

/* The name of a frame, its texts not copied; without its line. */
struct profile_name profile_name_of_frame(const struct profile_frame *frame,
                                          enum profile_tier *tier);

/* Order of names, by bytes; 0 only for one and the same name. */
int profile_compare_names(const struct profile_name *left, const struct profile_name *right);

#endif
