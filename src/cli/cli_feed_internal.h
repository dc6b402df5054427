/*
 * cli_feed_internal - from the events of a recording to a profile.
 *
 * For      cli_feed.c (chunks), cli_feed_threads.c (who reads which), cli_feed_pieces.c (one chunk for several), cli_feed_notes.c (sums), cli_feed_events.c (what an event is and stands for),
 *          cli_feed_stacks.c (frames), cli_feed_ways.c (ends of stacks seen before), cli_feed_known.c (stacks of chunks before), cli_feed_plan.c (types whose events are all alike), cli_feed_methods.c (names), cli_feed_contexts.c (what it was taken for).
 * Callers  these.   Context  tool.
 * Memory   of a chunk: a row for each distinct stack (and what it is taken apart by), one for each
 *          distinct frame, one for each thread, and some for what stacks have in common.
 */
#ifndef JW_CLI_CLI_FEED_INTERNAL_H
#define JW_CLI_CLI_FEED_INTERNAL_H

#include <pthread.h>

#include "base/counters.h"
#include "base/map.h"
#include "base/perf_event.h"
#include "cli/cli_contexts_internal.h"
#include "cli/cli_feed_known_internal.h"
#include "cli/cli_internal.h"
#include "jfr/jfr_context.h"
#include "jfr/jfr_reader.h"
#include "profile/profile.h"

#define CLI_SLICES_LIMIT 64u

/* What samples have in common that are one row. */
struct cli_group_key {
    uint64_t trace;
    uint64_t object_class;
    profile_frame_id roots[PROFILE_ROOTS_LIMIT];
};

/* Samples of one stack in one box. */
struct cli_group {
    uint64_t samples;
    uint64_t weight;
    struct jfr_value trace; /* reader NULL: no stack */
    struct jfr_value
        object_class; /* on top of it: what was allocated, or waited for; reader NULL: nothing */
    profile_frame_id roots[PROFILE_ROOTS_LIMIT];
};

#define CLI_WAY_BYTES 16u /* of a stack, taken at once */

/* Where the frames lead that lie in some bytes of a stack, and in all behind them to its end: see cli_feed_ways.c. */
struct cli_way {
    uint64_t words[CLI_WAY_BYTES / sizeof(uint64_t)];
    uint32_t
        before; /* the number of the way of the bytes behind them; or where the tree is entered */
    uint32_t number; /* of this way; less than `first`: the slot is free */
    profile_stack_id at;
    uint16_t depth;
    uint8_t left_bytes; /* of these, in front: of a frame that is not whole yet */
    bool is_complete;   /* this chunk has all that the frames from here to the end name */
};

#define CLI_WAYS_AHEAD 32u

struct cli_ways {
    /* Of the stack that comes next, and of the one in hand: hashes of its first pieces, whose slots are on their way from memory. */
    struct cli_ahead {
        const unsigned char *begin, *end; /* of its frames; NULL: of no stack */
        uint32_t count;
        uint64_t hashes[CLI_WAYS_AHEAD];
    } ahead[2];
    unsigned ahead_last;
    struct cli_way *slots;
    size_t slot_count;                  /* a power of two, or 0 */
    uint32_t first, next;               /* numbers: those of this chunk are the first one and up */
    struct jfr_stack stack;             /* of the type of stacks that was asked last */
    const struct jfr_reader_type *type; /* that type; NULL: none */
    bool can_turn;
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
    bool is_times_weight;    /* it is to be multiplied by field "weight", any number */
    bool is_of_sets;         /* those of one time are a set, and the last set alone counts */
    const char *unit;        /* of what they stand for; NULL: time */
    const char *class_field; /* of the object that it is about; NULL: of none */
    const char *size_field;  /* bytes of that object; NULL: it does not say */
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
    bool has_wall;  /* beside another event */
    bool has_alloc; /* likewise, or alone */
    bool has_live;
    bool has_lock;
    uint64_t interval_ns;
    uint64_t wall_ns;
};

/* What a chunk says that has to be taken in the order of the file. */
enum cli_note_kind {
    CLI_NOTE_TITLE,     /* of the run */
    CLI_NOTE_COUNTED,   /* struct cli_counted: jaywalk.Diagnostics */
    CLI_NOTE_RECORDING, /* int64_t, when it began, in ms */
    CLI_NOTE_LEDGER,    /* struct jw_ledger */
    CLI_NOTE_COST,      /* struct jw_cost_sums */
    CLI_NOTE_THREAD,    /* struct cli_thread_told, and the name */
    CLI_NOTE_GROUP,     /* likewise, of threads of one name */
};

struct cli_counted {
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;
    int64_t at_ms; /* since the base of the moments, where there are any */
};

struct cli_thread_told {
    int64_t numbers[2];
    int64_t used_ns, sampled_ns;
    uint64_t ended;
};

/* One after the other, of each: its head, its bytes, its text. */
struct cli_notes {
    unsigned char *bytes;
    size_t used_bytes, capacity_bytes;
};

/* CPU time and samples of a thread that was not said to have ended. */
struct cli_thread_cpu {
    struct jfr_text name;
    int64_t used_ns;
    int64_t sampled_ns;
    bool is_ended;
};

/* Where the last counters stood: the next ones tell what was lost between. */
struct cli_gaps {
    uint64_t signals; /* as of the last counters */
    uint64_t lost;
    int64_t counted_ms;
    bool has_counted;
};

/* Notes of all chunks, summed up one chunk after the other. */
struct cli_sums {
    const struct cli_wish *wish;
    struct profile *profile;
    bool is_out_of_memory;
    struct jfr_text title; /* of the run; empty: none was given */
    struct cli_gaps gaps;

    /* jaywalk.Diagnostics: sums since its recording began; several recordings add up. */
    bool has_counters;
    struct cli_counted counted;
    struct cli_counted counted_before;

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
};

#define CLI_RECENT_CONTEXTS 64u /* a power of two */

/* Samples that are kept with their time: see wish->moments. */
struct cli_moments {
    struct jw_map thread_of; /* of this chunk: key of a thread -> its text + 1 */
    struct jw_map state_of;
    struct jw_map
        context_of; /* of this chunk: keys of a thread and a state, of planned samples -> the context + 1 */
    struct cli_recent_context {
        uint64_t keys[2];
        uint64_t context;          /* + 1; 0: nothing is kept here */
    } recent[CLI_RECENT_CONTEXTS]; /* of these, where they were asked for last */
    profile_stack_id *stacks;      /* of the groups of this chunk */
    size_t stack_capacity;
    profile_stack_id *near_stacks; /* of this chunk, by small keys of stacks, of planned samples */
    size_t near_capacity;
};

/* What events of a type are to us; asked for by name once a chunk. */
enum cli_kind {
    CLI_KIND_UNKNOWN,
    CLI_KIND_EXECUTION,
    CLI_KIND_COUNTER,
    CLI_KIND_SAMPLE,
    CLI_KIND_COUNTERS, /* of jaywalk itself */
    CLI_KIND_SETTING,
    CLI_KIND_ASKED, /* stands before a sample, and says that its thread was asked to stop */
    CLI_KIND_OTHER,
};

/* Where the fields of a source stand in events of a type, and what else is the same for each of them. */
struct cli_places {
    const struct cli_source *source; /* NULL: of none */
    uint32_t count_at, time_at, class_at;
    bool is_wished, is_wall;
};

/* How events of a type are taken whose fields are numbers, where nobody asks for more than sums of stacks: see cli_feed_plan.c. */
struct cli_plan {
    uint32_t
        field_count; /* so many from the first one on are looked at; 0: they are taken one by one */
    uint32_t time_at, count_at;   /* JFR_FIELD_NONE: none */
    uint32_t thread_at, state_at; /* where samples are kept with their time; likewise */
    bool is_int_count;
    bool has_context; /* they can tell what they were taken for */
};

struct cli_type_memo {
    const struct jfr_reader_type *type; /* NULL: nothing is kept here */
    struct cli_plan plan;
    struct cli_places places[2]; /* of its sources: of CLI_KIND_EXECUTION CPU time and wall */
    uint32_t trace_at, weight_at;
    bool is_park, is_native; /* jdk.ThreadPark; jdk.NativeMethodSample without a weight */
    bool is_told;            /* names of its attributes are noted */
    enum cli_kind kind;
    const struct cli_source *source; /* of CLI_KIND_SAMPLE */
    const struct cli_lane *lane;     /* NULL: of none, or nobody asks */
    bool has_wall_time;              /* of CLI_KIND_EXECUTION: a field of that name */
    bool is_passed;                  /* its name is noted, or it has no stacks */
};

#define CLI_TYPE_MEMOS 64u

/* Keys that are looked up by their place: methods are counted from 1 on by some recorders, and types of frames by all. */
#define CLI_NEAR_METHODS (1u << 16)
#define CLI_NEAR_TYPES   16u

/* Methods by their names: see cli_feed_methods.c. */
struct cli_methods {
    /* Of this chunk: whether they are read, and how many there are; those whose keys are too large have no number here. */
    bool is_read;
    uint32_t seen, left_out;
    uint32_t *numbers; /* of this chunk, by key; 0: none */
    size_t number_capacity;
    uint8_t types[CLI_METHOD_TYPES]; /* of this chunk, by key: the number + 1 */
    struct jw_map number_of;         /* of all chunks: bytes of the names */
    uint32_t count;
    char type_texts[CLI_METHOD_TYPES][32]; /* of all chunks: length, bytes, 0 */
    uint32_t type_count;
    profile_frame_id *frames; /* of all chunks, by both numbers: the frame + 1 */
    size_t frame_capacity;
};

/* Who asks a thread to stop. */
#define CLI_ASKED_SAFEPOINT "safepoint"

struct cli_feed {
    const struct cli_wish *wish;
    struct profile *profile;
    struct cli_found *found;
    const struct cli_requests *requests; /* NULL: nobody asks for endpoints */
    struct jfr_reader *reader;

    struct cli_group *groups; /* of this chunk */
    size_t group_count;
    size_t group_capacity;
    /* Of this chunk, by small keys of stacks, of groups without boxes and classes: the group + 1. */
    uint32_t *near_groups;
    size_t near_group_count;
    /* Of this chunk, by small keys of stacks, what planned events came to. */
    struct cli_near_sum {
        uint64_t samples; /* 0: none */
        uint64_t weight;
    } * near_sums;
    size_t near_sum_count;
    size_t near_stacks;           /* of them with samples */
    struct jfr_value near_traces; /* a reference to such a stack; reader NULL: there are none yet */
    struct jw_map group_of;       /* struct cli_group_key -> group + 1, of all others */
    struct jw_map thread_of;      /* key of a thread -> its box */
    uint64_t slices_begin_ns, slices_end_ns; /* of Unix time */
    int64_t live_ns;                         /* of the last set of live objects, of Unix time */
    profile_frame_id slice_roots[CLI_SLICES_LIMIT]; /* 0: not made yet */
    struct jw_map thread_fits; /* key of a thread -> 1: it is of the part, 2: it is not */

    struct cli_type_memo types[CLI_TYPE_MEMOS]; /* of this chunk */
    struct cli_type_memo *memo;                 /* of them the one of the event in hand; or NULL */
    struct cli_context context;                 /* of the sample in hand */
    struct cli_asked {
        const char *by;      /* NULL: by nobody */
        uint64_t thread_key; /* of which thread; in this chunk */
        bool is_fresh;       /* the event before was this one */
    } asked;

    /* Of this chunk, of small keys, by both: the frame + 1; 0: not looked up yet. */
    profile_frame_id *near_frames;
    size_t near_count; /* a power of two, or 0 */
    size_t near_used;

    struct cli_methods methods;

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

    struct cli_ways ways;
    struct cli_known known;
    profile_frame_id *stack; /* scratch: one that has no ways */
    size_t stack_capacity;

    struct jfr_method method; /* scratch */
    struct jfr_text text;     /* scratch */
    struct jfr_text other_text;
    struct cli_notes notes; /* of this chunk */

    int64_t ticks_per_second;
    struct jfr_reader_chunk chunk; /* under way */
    struct cli_moments moments;
    struct cli_clocks clocks;  /* of this chunk */
    struct cli_source counter; /* the last one that a sample told of */
    bool is_out_of_memory;
};

/* Events of a chunk that a thread takes in a row, all of them or some, and what those before them have said. */
struct cli_piece {
    struct jfr_reader_chunk chunk;
    uint32_t number; /* in the chunk: 0, 1 ... */
    bool is_last;
    uint64_t begin_bytes, end_bytes; /* of the file; not of a whole chunk */
    struct cli_clocks clocks;
    char counter[JW_PERF_NAME_BYTES]; /* of the last sample of one; "": there was none */
};

/* A chunk that is cut: whoever has nothing else to do takes its next piece. */
struct cli_cut {
    struct cli_cut *next;
    const struct jfr_reader *owner;
    struct cli_piece *pieces;
    uint32_t count;
    uint32_t taken, done;
};

/* Chunks that are cut, and who may still cut one. Under the lock: all of it, and what a cut chunk counts. */
struct cli_cuts {
    pthread_mutex_t lock;
    pthread_cond_t
        changed; /* a piece can be taken, or is done, or nobody looks for a chunk any more */
    struct cli_cut *first;
    unsigned looking; /* threads that may be about to cut a chunk */
};

/*
 * cli_feed_pieces.c: cuts the chunk that feed->reader has in hand into pieces of about the same number of bytes of events, so that `jobs` threads have something
 * to do while it and what lies behind it are read. NULL: it is to be read in one piece, as where there is no memory; or, with `err`, it is damaged.
 */
struct cli_cut *cli_cut_chunk(struct cli_feed *feed, const struct jfr_reader_chunk *chunk,
                              unsigned jobs, struct jw_error *err);
void cli_free_cut(struct cli_cut *cut); /* NULL is fine */

/* Before somebody asks for a chunk; and when he knows what becomes of it: `cut`, or NULL. */
void cli_cuts_begin_look(struct cli_cuts *cuts);
void cli_cuts_end_look(struct cli_cuts *cuts, struct cli_cut *cut);
/* The next piece of `of`, or of any where that is NULL. Who has nothing else to do waits until there is one. NULL: there is none. */
struct cli_cut *cli_cuts_take(struct cli_cuts *cuts, struct cli_cut *of, bool is_waiting,
                              struct cli_piece *piece);
void cli_cuts_done(struct cli_cuts *cuts, struct cli_cut *cut);
/* Its owner, when no piece is left to be taken: waits until all are done. From then on nobody knows it. */
void cli_cuts_finish(struct cli_cuts *cuts, struct cli_cut *cut);

void cli_clocks_take(struct cli_clocks *clocks, const char *name, const char *value);

/* What is known of the type of an event; valid until the next one. Forgotten at the end of each chunk. */
struct cli_type_memo *cli_look_up_type(struct cli_feed *feed, const struct jfr_reader_event *event);
static inline struct cli_type_memo *cli_type_of(struct cli_feed *feed,
                                                const struct jfr_reader_event *event)
{
    struct cli_type_memo *memo = feed->memo;

    return memo != NULL && memo->type == event->type ? memo : cli_look_up_type(feed, event);
}
void cli_forget_types(struct cli_feed *feed);

/* Of a type by its name: those of samples are told apart by their sources. */
enum cli_kind cli_kind_of(const char *type_name);
/* The counter that a sample of one tells of; false: it does not. */
bool cli_counter_name(struct cli_feed *feed, const struct jfr_reader_event *event, char *out,
                      size_t room);
/* What kind of sample an event is; NULL: none that we know or that was asked for. */
const struct cli_source *cli_source_of(struct cli_feed *feed, const struct jfr_reader_event *event);
bool cli_is_wished(const struct cli_wish *wish, const struct cli_source *source, const char *type);
/* The same of the event in hand, by what is known of its type. */
bool cli_is_event_wished(struct cli_feed *feed, const struct cli_source *source,
                         const struct jfr_reader_event *event);
/* Where the fields of this source stand in events of that type; valid until the next one. */
const struct cli_places *cli_places_of(struct cli_feed *feed, const struct cli_source *source,
                                       const struct jfr_reader_event *event);
void cli_weigh(struct cli_feed *feed, const struct cli_source *source,
               const struct jfr_reader_event *event, struct cli_value *out);
/* Samples that nobody asked for. */
void cli_note_passed(struct cli_found *found, const char *event, uint64_t samples);
/* Types that may hold samples of an event, 0, 1 ...; NULL: no more. */
const char *cli_source_type(const char *event, size_t number);
/* A park for something to happen, where waits for locks are wanted. */
bool cli_is_other_park(struct cli_feed *feed, const struct jfr_reader_event *event);
bool cli_is_park_of_no_lock(struct cli_feed *feed, const struct jfr_reader_event *event);
/* A sample by another producer of a thread inside a native method, whether it ran or waited: none of CPU time. */
bool cli_is_left_out(struct cli_feed *feed, const struct jfr_reader_event *event,
                     const struct cli_value *value);
/* Settings of a recording, as they come: which clocks ran, the title of a run. */
void cli_take_setting(struct cli_feed *feed, const struct jfr_reader_event *event);
bool cli_is_in_state(struct cli_feed *feed, const struct jfr_reader_event *event);

/* cli_feed_asked.c: each event, before it is looked at: what it says of the next one; and who had asked the thread of the event
 * in hand to stop, NULL: nobody, or it is not known. */
void cli_note_asked(struct cli_feed *feed, const struct jfr_reader_event *event);
const char *cli_asked_by(const struct cli_feed *feed, const struct jfr_reader_event *event);

/* cli_feed_plan.c: how events of this type are taken. */
void cli_plan_type(struct cli_feed *feed, const struct jfr_reader_event *event,
                   struct cli_type_memo *memo);
/* Takes an event so. False: it is none of the plan, and nothing was done. */
JW_MUST_CHECK bool cli_take_planned(struct cli_feed *feed, const struct jfr_reader_event *event,
                                    const struct cli_type_memo *memo);
/* What they came to, stack by stack, and forgets it. */
void cli_feed_near(struct cli_feed *feed);

/* cli_feed_contexts.c: notes whether it says anything, and what it could say. */
void cli_look_for_context(struct cli_feed *feed, const struct jfr_reader_event *event);
/* What the sample was taken for, into feed->context. False: it is not in the part. */
bool cli_is_in_part(struct cli_feed *feed, const struct jfr_reader_event *event);
/* Whether a thread is one of the part's; `key` is the thread's, of this chunk. */
bool cli_thread_is_in_part(struct cli_feed *feed, struct cli_part *part, uint64_t key,
                           const struct jfr_value *thread);
/* cli_latency.c: a moment by the chunk's clock in ns of Unix time, from 0 on. */
int64_t cli_moment_ns(const struct jfr_reader_chunk *chunk, int64_t ticks);
/* It took long enough, or was inside of what did. */
bool cli_is_latent(struct cli_part *part, const struct jfr_reader_chunk *chunk,
                   const struct jfr_reader_event *event);
/* How long an event took; false: it does not say. */
bool cli_duration_ns(const struct jfr_reader_chunk *chunk, const struct jfr_reader_event *event,
                     int64_t *out);
/* A moment or a span as a number of ns; false: it stands for none, or for ever. */
bool cli_field_ns(const struct jfr_reader_chunk *chunk, const struct jfr_field *field,
                  int64_t *out);
/* What the event in hand has for a box, "GET /orders", "main"; of what it lacks, "[no endpoint]", "[no context]". Cut to fit. */
void cli_box_text(struct cli_feed *feed, const struct cli_by *by,
                  const struct jfr_reader_event *event, char *out, size_t room);
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

/* cli_feed_ledger.c: notes of events of the CPU ledger. True: it was one. */
bool cli_take_ledger(struct cli_feed *feed, const struct jfr_reader_event *event);
/* Sums of them, and at the end of all what they come to, where the profile is one of CPU time. */
void cli_sum_recording(struct cli_sums *sums, int64_t start_ms);
void cli_sum_thread(struct cli_sums *sums, const struct cli_thread_told *told, const char *name);
void cli_sum_group(struct cli_sums *sums, const struct cli_thread_told *told, const char *name);
void cli_tell_ledger(struct cli_sums *sums);
void cli_forget_ledger(struct cli_sums *sums);

/* cli_feed_notes.c: a note of this chunk; `text` may be NULL. */
void cli_note(struct cli_feed *feed, enum cli_note_kind kind, const void *bytes, size_t count_bytes,
              const char *text);
void cli_note_counters(struct cli_feed *feed, const struct jfr_reader_event *event);
/* Those of a chunk, in the order of chunks; and at the end of all what they come to. */
void cli_sum_notes(struct cli_sums *sums, const struct cli_notes *notes);
void cli_tell_sums(struct cli_sums *sums);
void cli_forget_sums(struct cli_sums *sums);
/* What was found in a chunk, in the order of chunks. */
void cli_sum_found(struct cli_found *sum, const struct cli_found *found);
/* Keeps the name of an event that has samples, which outlives `found`. */
void cli_note_event(struct cli_found *found, const char *event);
void cli_sort_events(struct cli_found *found); /* when all are noted */
/* Of a copy: what was called by the counter of the other one, at `from`, is by its own, at `to`. */
void cli_move_counter(struct cli_found *found, const char *from, const char *to);

/* cli_feed_moments.c, where wish->moments is there: a sample of this group; when an event was; what was lost since the
 * counters before; the end of a chunk. */
void cli_keep_moment(struct cli_feed *feed, const struct jfr_reader_event *event,
                     const struct cli_group *group, const struct cli_value *value);
/* A planned one, whose first fields are these. False: it tells more than thread and state; nothing was done. */
JW_MUST_CHECK bool cli_keep_planned_moment(struct cli_feed *feed,
                                           const struct jfr_reader_event *event,
                                           const uint64_t *numbers, const struct cli_value *value);
int64_t cli_moment_ms(const struct cli_feed *feed, const struct jfr_reader_event *event);
void cli_keep_gap(struct cli_gaps *kept, struct profile_moments *moments,
                  const struct cli_counted *counted);
void cli_reserve_stacks(struct cli_feed *feed);      /* before its groups are told */
void cli_reserve_near_stacks(struct cli_feed *feed); /* before those of planned samples are */
/* When an event began, in microseconds since the base of the moments; far away where that makes no sense. */
double cli_moment_us(const struct cli_feed *feed, const struct jfr_reader_event *event);
/* cli_feed_lanes.c: events for the lanes of a timeline. NULL: a type is none. */
const struct cli_lane *cli_lane_of(const char *type);
void cli_keep_span(struct cli_feed *feed, const struct jfr_reader_event *event,
                   const struct cli_lane *lane);
void cli_settle_moments(struct cli_feed *feed);
void cli_forget_moments(struct cli_feed *feed);
/* Of cli_feed_contexts.c: the thread of a sample, reader NULL: not known; the key that names it in this chunk. */
uint64_t cli_thread_key(const struct jfr_reader_event *event, struct jfr_value *thread);

/* The box of a thread; reader NULL: not known. */
profile_frame_id cli_resolve_thread(struct cli_feed *feed, const struct jfr_value *thread);

/* A frame as a profile takes it; texts live until the next one. False: out of memory. */
JW_MUST_CHECK bool cli_read_frame(struct cli_feed *feed, const struct jfr_stack_frame *from,
                                  struct profile_frame *out);

/*
 * The events of a chunk that feed->reader has in hand into feed->profile, feed->found, which is empty, and feed->notes. False and `err`: they
 * cannot be read.
 */
JW_MUST_CHECK bool cli_feed_piece(struct cli_feed *feed, const struct cli_piece *piece,
                                  struct cli_progress *progress, struct jw_error *err);
void cli_feed_close(struct cli_feed *feed);

/* cli_feed_methods.c: where the frame of this method and type is kept + 1, without its line, 0: not looked up yet; NULL: nowhere. And
 * the end of a chunk, and of all. */
profile_frame_id *cli_method_frame(struct cli_feed *feed, const struct jfr_stack_frame *from);
/* Before that, all methods and types of frames of the chunk that this frame is of. False: most cannot be told by their keys, or no memory. */
JW_MUST_CHECK bool cli_read_meanings(struct cli_feed *feed, const struct jfr_stack_frame *from);
void cli_forget_methods(struct cli_methods *methods);
void cli_close_methods(struct cli_methods *methods);

/* The frame of these keys; PROFILE_FRAME_NONE: none, or memory is out. */
profile_frame_id cli_know_frame(struct cli_feed *feed, const struct jfr_stack *stack,
                                const struct jfr_stack_keys *from);
static inline profile_frame_id cli_frame_of(struct cli_feed *feed, const struct jfr_stack *stack,
                                            const struct jfr_stack_keys *from)
{
    const size_t at = (size_t)from->method_key * CLI_NEAR_TYPES + (size_t)from->type_key;

    return from->method_key < CLI_NEAR_METHODS && from->type_key < CLI_NEAR_TYPES &&
                   at < feed->near_count && feed->near_frames[at] != 0
               ? feed->near_frames[at] - 1
               : cli_know_frame(feed, stack, from);
}

/* cli_feed_ways.c: where the stack of a group ends, whose boxes are in `stack`. False: it cannot be read so, and nothing was added. */
JW_MUST_CHECK bool cli_walk_stack(struct cli_feed *feed, const struct cli_group *group,
                                  struct profile_stack *stack, profile_stack_id *at,
                                  uint32_t *depth);
/* That stack is walked after the one in hand: what its way begins with is brought near, if it is entered at the root. */
void cli_ask_ways(struct cli_feed *feed, const struct jfr_value *trace);
/* Before the first one of a chunk: those of the chunk before are forgotten. */
void cli_begin_ways(struct cli_feed *feed, uint64_t stack_bytes);

/* Adds a group to the profile. PROFILE_STACK_NONE: memory is out. */
profile_stack_id cli_feed_group(struct cli_feed *feed, const struct cli_group *group);

/* Adds all groups of the chunk to the profile, and forgets what belongs to the chunk. */
void cli_feed_groups(struct cli_feed *feed);
void cli_feed_forget(struct cli_feed *feed);

#endif
