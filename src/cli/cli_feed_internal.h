/*
 * cli_feed_internal - from the events of a recording to a profile.
 *
 * For      cli_feed.c (sums), cli_feed_events.c (what an event is and stands for),
 *          cli_feed_stacks.c (frames), cli_feed_contexts.c (what it was taken for).
 * Callers  these.   Context  tool.
 * Memory   of a chunk: a row for each distinct stack (and what it is taken apart by), one for each
 *          distinct frame, one for each thread.
 */
#ifndef JW_CLI_CLI_FEED_INTERNAL_H
#define JW_CLI_CLI_FEED_INTERNAL_H

#include "base/counters.h"
#include "base/map.h"
#include "base/perf_event.h"
#include "cli/cli_contexts_internal.h"
#include "cli/cli_internal.h"
#include "jfr/jfr_context.h"
#include "jfr/jfr_reader.h"
#include "profile/profile.h"

#define CLI_SLICES_LIMIT 64u

/* What samples have in common that are one row. */
struct cli_group_key {
    uint64_t trace;
    profile_frame_id roots[PROFILE_ROOTS_LIMIT];
};

/* Samples of one stack in one box. */
struct cli_group {
    uint64_t samples;
    uint64_t weight;
    struct jfr_value trace; /* reader NULL: no stack */
    profile_frame_id roots[PROFILE_ROOTS_LIMIT];
};

/* What the sample in hand was taken for. */
struct cli_context {
    struct jfr_context told;
    bool has_told;                     /* its type can tell */
    bool is_any;                       /* it says something */
    const struct cli_request *request; /* NULL: no endpoint is known */
};

/* A type of events that are samples, and which of their fields say what they stand for. */
struct cli_source {
    const char *type;
    const char *event;       /* "cpu", "wall", a counter */
    const char *count_field; /* samples; NULL: one */
    const char *time_field;  /* NULL: it does not say */
    bool is_ticks;           /* the time is in ticks of the chunk */
};

/* What an event stands for. */
struct cli_value {
    uint64_t samples;
    uint64_t time_ns;
    uint64_t weight; /* of the two the one that counts */
    bool is_timed;
};

/* What the settings of a chunk say of the clocks that samples were taken by. */
struct cli_clocks {
    char event[JW_PERF_NAME_BYTES];
    bool is_event_wall;
    bool has_wall; /* beside another event */
    uint64_t interval_ns;
    uint64_t wall_ns;
};

/* CPU time and samples of a thread that was not said to have ended. */
struct cli_thread_cpu {
    struct jfr_text name;
    int64_t used_ns;
    int64_t sampled_ns;
    bool is_ended;
};

/* Samples that are kept with their time: see wish->moments. */
struct cli_moments {
    uint64_t first;          /* of this chunk */
    struct jw_map thread_of; /* of this chunk: key of a thread -> its text + 1 */
    struct jw_map state_of;
    uint64_t signals; /* as of the last counters */
    uint64_t lost;
    int64_t counted_ms;
    bool has_counted;
    profile_stack_id *stacks; /* of the groups of this chunk */
    size_t stack_capacity;
};

/* What events of a type are to us; asked for by name once a chunk. */
enum cli_kind {
    CLI_KIND_UNKNOWN,
    CLI_KIND_EXECUTION,
    CLI_KIND_COUNTER,
    CLI_KIND_SAMPLE,
    CLI_KIND_COUNTERS, /* of jaywalk itself */
    CLI_KIND_SETTING,
    CLI_KIND_OTHER,
};

struct cli_type_memo {
    const struct jfr_reader_type *type; /* NULL: nothing is kept here */
    enum cli_kind kind;
    const struct cli_source *source; /* of CLI_KIND_SAMPLE */
    bool is_passed;                  /* its name is noted, or it has no stacks */
};

#define CLI_TYPE_MEMOS 64u

struct cli_feed {
    const struct cli_wish *wish;
    struct profile *profile;
    struct cli_found *found;
    const struct cli_requests *requests; /* NULL: nobody asks for endpoints */
    struct jfr_reader *reader;

    struct cli_group *groups; /* of this chunk */
    size_t group_count;
    size_t group_capacity;
    struct jw_map group_of;                         /* struct cli_group_key -> group + 1 */
    struct jw_map thread_of;                        /* key of a thread -> its box */
    uint64_t slices_begin_ns, slices_end_ns;        /* of Unix time */
    profile_frame_id slice_roots[CLI_SLICES_LIMIT]; /* 0: not made yet */
    struct jw_map thread_fits; /* key of a thread -> 1: it is of the part, 2: it is not */

    struct cli_type_memo types[CLI_TYPE_MEMOS]; /* of this chunk */
    struct cli_context context;                 /* of the sample in hand */
    const struct jfr_reader_type *last_type;    /* whose attributes are noted */

    struct cli_known_frame {
        uint64_t method_key, type_key;
        uint32_t line; /* 0: of any */
        bool is_there; /* false: a free slot */
        profile_frame_id frame;
    } * frames; /* of this chunk: each looked up once */
    size_t frame_count;
    size_t frame_slots;         /* a power of two, or 0 */
    struct jw_map frame_of;     /* of this chunk, for others than the feed itself */
    struct jw_map frame_of_raw; /* of all chunks: bytes of method and type, line -> frame + 1 */

    struct cli_stack {
        profile_frame_id *frames;
        uint32_t *tails_bytes; /* of each frame: from where it begins to the end of the stack */
        size_t frame_capacity, tail_capacity;
        size_t count;
        const struct jfr_reader_type *type; /* of its frames */
        const unsigned char *begin; /* of its bytes; NULL: not of this chunk, or not plain */
        const unsigned char *end;
    } stacks[2];
    unsigned stack_at; /* of the two the one in hand; the other one was before it */

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

    /* jaywalk.CPULedger: the last of the recording under way; sums of those before it. */
    bool has_ledger;
    int64_t recording_start_ms;
    struct jw_ledger ledger;
    struct jw_ledger ledgers_before;
    bool has_cost; /* jaywalk.SelfCost, likewise */
    struct jw_cost_sums cost;
    struct cli_thread_cpu *thread_cpus;
    size_t thread_cpu_count;
    size_t thread_cpu_capacity;
    struct jw_map thread_cpu_of; /* numbers of a thread -> its place + 1 */

    int64_t ticks_per_second;
    struct jfr_reader_chunk chunk; /* under way */
    struct cli_moments moments;
    struct cli_clocks clocks;  /* of this chunk */
    struct cli_source counter; /* the last one that a sample told of */
    bool is_out_of_memory;
};

void cli_clocks_take(struct cli_clocks *clocks, const char *name, const char *value);

/* What is known of the type of an event; valid until the next one. Forgotten at the end of each chunk. */
struct cli_type_memo *cli_type_of(struct cli_feed *feed, const struct jfr_reader_event *event);
void cli_forget_types(struct cli_feed *feed);

/* What kind of sample an event is; NULL: none that we know or that was asked for. */
const struct cli_source *cli_source_of(struct cli_feed *feed, const struct jfr_reader_event *event);
bool cli_is_wished(const struct cli_wish *wish, const struct cli_source *source, const char *type);
void cli_weigh(const struct cli_feed *feed, const struct cli_source *source,
               const struct jfr_reader_event *event, struct cli_value *out);
/* Types that may hold samples of an event, 0, 1 ...; NULL: no more. */
const char *cli_source_type(const char *event, size_t number);
/* A sample by another producer of a thread inside a native method, whether it ran or waited: none of CPU time. */
bool cli_is_left_out(const struct cli_feed *feed, const struct jfr_reader_event *event,
                     const struct cli_value *value);
/* Settings of a recording, as they come: which clocks ran, the title of a run. */
void cli_take_setting(struct cli_feed *feed, const struct jfr_reader_event *event);
/* The word of ours for a state as a recording has it; where there is none, without "STATE_". */
const char *cli_state_word(const char *name);
bool cli_is_in_state(struct cli_feed *feed, const struct jfr_reader_event *event);

/* cli_feed_contexts.c: what the sample was taken for, into feed->context. False: it is not in the part. */
bool cli_is_in_part(struct cli_feed *feed, const struct jfr_reader_event *event);
/* cli_latency.c: it took long enough, or was inside of what did. */
bool cli_is_latent(struct cli_part *part, const struct jfr_reader_chunk *chunk,
                   const struct jfr_reader_event *event);
/* A moment or a span as a number of ns; false: it stands for none, or for ever. */
bool cli_field_ns(const struct jfr_reader_chunk *chunk, const struct jfr_field *field,
                  int64_t *out);
/* The boxes of the sample in hand, one for each of wish->bys. */
void cli_fill_roots(struct cli_feed *feed, const struct jfr_reader_event *event,
                    profile_frame_id *roots);

/* A recording that could hold such samples, and holds none, says that there were none. */
bool cli_declares(const struct cli_feed *feed, const char *event);

/* Room for one more element behind `count`; false and marked when memory is out. */
JW_MUST_CHECK bool cli_feed_reserve(struct cli_feed *feed, void **array, size_t *capacity,
                                    size_t count, size_t element_bytes);

/* What a frame is, by the name of its type, its class and its method. */
enum profile_frame_type cli_frame_type(const char *type, const char *class_name,
                                       const char *method);

/* Events of jaywalk's own, read whole. Numbers that are not there are 0; cli_number_of takes those below for 0. */
int64_t cli_number(const struct jfr_reader_event *event, const char *name);
uint64_t cli_number_of(const struct jfr_reader_event *event, const char *name);
void cli_read_counters(const struct jfr_reader_event *event, uint64_t counts[JW_COUNT_LIMIT],
                       uint64_t *in_flight);
void cli_read_ledger(const struct jfr_reader_event *event, struct jw_ledger *out);
void cli_read_cost(const struct jfr_reader_event *event, struct jw_cost_sums *out);

/* cli_feed_ledger.c: events of the CPU ledger, where the profile is one of CPU time. True: it was one. */
bool cli_take_ledger(struct cli_feed *feed, const struct jfr_reader_event *event);
void cli_tell_ledger(struct cli_feed *feed);
void cli_forget_ledger(struct cli_feed *feed);

/* cli_feed_moments.c, where wish->moments is there: a sample of this group; the counters so far; the end of a chunk. */
void cli_keep_moment(struct cli_feed *feed, const struct jfr_reader_event *event,
                     const struct cli_group *group, const struct cli_value *value);
void cli_keep_gap(struct cli_feed *feed, const struct jfr_reader_event *event,
                  const uint64_t counts[JW_COUNT_LIMIT]);
void cli_reserve_stacks(struct cli_feed *feed); /* before its groups are told */
void cli_settle_moments(struct cli_feed *feed);
void cli_forget_moments(struct cli_feed *feed);
/* Of cli_feed_contexts.c: the thread of a sample, reader NULL: not known; the key that names it in this chunk. */
uint64_t cli_thread_key(const struct jfr_reader_event *event, struct jfr_value *thread);

/* The box of a thread; reader NULL: not known. */
profile_frame_id cli_resolve_thread(struct cli_feed *feed, const struct jfr_value *thread);

/* A frame as a profile takes it; texts live until the next one. False: out of memory. */
JW_MUST_CHECK bool cli_read_frame(struct cli_feed *feed, const struct jfr_stack_frame *from,
                                  struct profile_frame *out);

/* Adds all groups of the chunk to the profile, and forgets what belongs to the chunk. */
void cli_feed_groups(struct cli_feed *feed);
void cli_feed_forget(struct cli_feed *feed);

#endif
