/*
 * cli_feed_known_internal - stacks that earlier chunks had, too.
 *
 * For      cli_feed_known.c, which says why and how.
 * Callers  cli_feed*.c.   Context  tool.   Memory  64 to 128 bytes a distinct stack, 32 MiB at most for each thread.
 */
#ifndef JW_CLI_CLI_FEED_KNOWN_INTERNAL_H
#define JW_CLI_CLI_FEED_KNOWN_INTERNAL_H

#include "base/hash.h"
#include "jfr/jfr_reader.h"
#include "profile/profile.h"

struct cli_feed;

#define CLI_METHOD_TYPES 16u /* of frames, that are told apart by a number */

enum cli_known_state {
    CLI_KNOWN_OFF,
    CLI_KNOWN_UNMET, /* what keys mean in this chunk was not looked at yet */
    CLI_KNOWN_ON,
};

/* Stacks by their bytes, as long as keys go on meaning what they mean: see cli_feed_known.c. */
struct cli_known {
    enum cli_known_state state;         /* in this chunk */
    bool has_all;                       /* this chunk has all keys below */
    const struct jfr_reader_type *type; /* of stacks that are known; of no others keys were met */
    struct cli_known_stack {
        struct jw_hash128 hash; /* of its bytes */
        profile_stack_id begin; /* where it is entered */
        profile_stack_id at;    /* where it ends, and how deep */
        uint32_t depth;
        bool is_there; /* false: a free slot */
    } * slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    /* Of this chunk, if any were known when it began: stacks that were looked for, and those that were known; what follows from them. */
    bool is_trial;
    uint32_t looks, hits;
    uint32_t pause,
        pause_left; /* chunks in which none are looked for: of the last pause, and of what is left of it */
    /* What the keys mean: methods' by key and types' of frames, as cli_methods has them; 0: no chunk had it. */
    uint32_t *numbers;
    size_t number_count;
    uint8_t types[CLI_METHOD_TYPES];
    uint64_t layout; /* 0: no chunk was met */
    /* Hashes of stacks that come soon, whose slots are on their way from memory. */
    struct cli_known_ahead {
        const unsigned char *bytes; /* NULL: of none */
        struct jw_hash128 hash;
    } ahead[32];
};

/*
 * Before those of a chunk; some ahead of a stack, and right ahead of it: whether it is likely to be known; where
 * it ends, if it is known; and for later chunks. All after the ways have begun.
 */
void cli_begin_known(struct cli_feed *feed);
void cli_ask_known(struct cli_feed *feed, const struct jfr_value *trace);
bool cli_is_known(struct cli_feed *feed, const struct jfr_value *trace);
/* Does this chunk have the method and the type of this frame? Asked of those that are walked; where nothing is known, any answer will do. */
JW_MUST_CHECK bool cli_has_frame(const struct cli_feed *feed, const struct jfr_stack_keys *keys);
JW_MUST_CHECK bool cli_know_stack(struct cli_feed *feed, const struct jfr_value *trace,
                                  profile_stack_id begin, profile_stack_id *at, uint32_t *depth);
/* Of whose frames the chunk has all. */
void cli_learn_stack(struct cli_feed *feed, const struct jfr_value *trace, profile_stack_id begin,
                     profile_stack_id at, uint32_t depth);
void cli_close_known(struct cli_known *known);

#endif
