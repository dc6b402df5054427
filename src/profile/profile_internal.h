/*
 * profile_internal - the tables of a profile, shared by the files of this room.
 *
 * For      profile.c (feeding), profile_names.c (interning), profile_seal.c (reading).
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

/* A node as it grows, in the order of adding: a parent always stands before its children. */
struct profile_branch {
    uint32_t name;
    uint32_t parent;
    uint64_t self_samples;
    uint64_t self_weight;
    uint64_t total_samples;
    uint64_t total_weight;
    uint64_t tier_weight[PROFILE_TIER_LIMIT];
};

struct profile {
    struct profile_config config;
    struct profile_about about;
    bool is_out_of_memory; /* sticky */

    struct profile_block *blocks; /* text */

    const char **texts;
    uint32_t text_count, text_capacity;
    struct profile_index text_index;

    struct profile_name *names; /* 0: the root */
    uint32_t name_count, name_capacity;
    struct profile_index name_index;

    struct profile_seen *seen; /* frame id - 1 */
    uint32_t seen_count, seen_capacity;
    struct profile_index seen_index;

    struct profile_branch *branches; /* 0: the root */
    uint32_t branch_count, branch_capacity;
    struct profile_index branch_index;

    bool has_trust;
    uint64_t trust_signals, trust_samples;
    struct profile_loss *losses; /* sorted by name */
    size_t loss_count, loss_capacity;

    /* As of the last seal; names and nodes in their final order. */
    struct profile_node *nodes;
    uint32_t node_count;
    struct profile_name *sealed_names;
    uint32_t sealed_name_count;
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
uint32_t profile_intern_name(struct profile *profile, const struct profile_name *wanted);

/* Order of names, by bytes; 0 only for one and the same name. */
int profile_compare_names(const struct profile_name *left, const struct profile_name *right);

#endif
