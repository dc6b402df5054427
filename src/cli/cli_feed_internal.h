/*
 * cli_feed_internal - from the events of a recording to a profile.
 *
 * For      cli_feed.c (events, sums), cli_feed_stacks.c (frames, filters).
 * Callers  these.   Context  tool.
 * Memory   of a chunk: a row for each distinct stack (and thread), one for each distinct frame.
 */
#ifndef JW_CLI_CLI_FEED_INTERNAL_H
#define JW_CLI_CLI_FEED_INTERNAL_H

#include "base/counters.h"
#include "base/map.h"
#include "cli/cli_internal.h"
#include "jfr/jfr_reader.h"
#include "profile/profile.h"

/* Samples of one stack in one thread. */
struct cli_group {
    uint64_t samples;
    uint64_t weight;
    struct jfr_value trace; /* reader NULL: no stack */
    struct jfr_value thread;
};

/* A frame of the chunk, looked up once. */
struct cli_known_frame {
    profile_frame_id id;
    bool is_included; /* matches an include */
    bool is_excluded; /* matches an exclude */
};

struct cli_feed {
    const struct cli_wish *wish;
    struct profile *profile;
    struct cli_found *found;
    struct jfr_reader *reader;

    struct cli_group *groups; /* of this chunk */
    size_t group_count;
    size_t group_capacity;
    struct jw_map group_of; /* keys of trace and thread -> group + 1 */

    struct cli_known_frame *frames; /* of this chunk */
    size_t frame_count;
    size_t frame_capacity;
    struct jw_map frame_of; /* keys of method and type, line -> frame + 1 */

    profile_frame_id *stack;
    size_t stack_capacity;

    struct jfr_method method; /* scratch */
    struct jfr_text text;     /* scratch */
    struct jfr_text other_text;
    struct jfr_text title; /* of the run; empty: none was given */

    /* jaywalk.Diagnostics: sums since its recording began; several recordings add up. */
    bool has_counters;
    uint64_t counters[JW_COUNT_LIMIT];
    uint64_t in_flight;
    uint64_t counters_before[JW_COUNT_LIMIT];
    uint64_t in_flight_before;

    int64_t ticks_per_second;
    bool is_out_of_memory;
};

/* Room for one more element behind `count`; false and marked when memory is out. */
JW_MUST_CHECK bool cli_feed_reserve(struct cli_feed *feed, void **array, size_t *capacity,
                                    size_t count, size_t element_bytes);

/* Adds all groups of the chunk to the profile, and forgets what belongs to the chunk. */
void cli_feed_groups(struct cli_feed *feed);
void cli_feed_forget(struct cli_feed *feed);

#endif
