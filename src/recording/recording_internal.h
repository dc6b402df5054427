/*
 * recording_internal - what the files of a recording share.
 *
 * For      recording.c (chunks, times, flushes), recording_samples.c (records and stacks), recording_context.c (what threads work for),
 *          recording_events.c (everything that is no sample), recording_ledger.c (CPU time that is and
 *          is not sampled), recording_law.c (what became of each signal),
 *          recording_cost.c (what jaywalk takes), recording_graph.c (other formats).
 * Callers  these.   Context  dump; opening and closing: control.   Memory  the recording's.
 */
#ifndef JW_RECORDING_RECORDING_INTERNAL_H
#define JW_RECORDING_RECORDING_INTERNAL_H

#include "base/counters.h"
#include "base/thread_state.h"
#include "dict/dict.h"
#include "event/event.h"
#include "jfr/jfr_reader.h"
#include "os/os_info.h"
#include "recording/recording.h"
#include "recording/recording_file.h"
#include "recording/recording_frames_internal.h"
#include "recording/recording_idle_internal.h"
#include "recording/recording_names_internal.h"
#include "store/store.h"

struct os_output;
struct profile;
struct recording_group;

/* Numbers by id of a generation; 0: not asked yet. */
struct recording_ids {
    uint64_t *values;
    size_t capacity;
};

/* A virtual thread. */
struct recording_virtual {
    uint64_t number;            /* 0: it is none */
    struct recording_text name; /* NULL: not known, or it has none; good until the next take */
};

/* recording_part.c: which samples of a graph count. */
struct recording_part {
    uint64_t begin_ns, end_ns; /* by the clock of records, the end not included */
    bool has_threads;
    struct jw_map threads; /* of this take: thread -> whether it is meant */
    struct jfr_buffer scratch;
    struct jfr_text name;
    uint64_t left_out; /* samples that do not count */
    char text[512];    /* as a picture says it; "": all count */
};

/* Of the formats that are no JFR. */
struct recording_graph {
    struct os_output *output; /* its place; NULL: none, or not now */
    bool is_written;          /* something went into it: the next time takes a new one */
    struct profile *profile;
    struct recording_group *groups; /* of this take: sums */
    size_t group_count;
    size_t group_capacity;
    struct jw_map group_of; /* of this take: trace, class, thread index, serial -> group + 1 */
    struct jw_map frames;   /* of this take: frame -> its id in the profile */
    uint64_t left_out[RECORDING_SHOWS_LIMIT]; /* samples, turns of what is not shown */
    struct recording_part part;
    bool has_shown;
};

/* Of wall records, whatever the format. What is of a take are addresses; 0: not asked yet. */
struct recording_wall {
    struct recording_idle idle;
    struct recording_ids traces;  /* of this take: stack that is kept of a trace, */
    struct recording_ids methods; /* Java method of an id, */
    struct jw_map pcs;            /* native method at a pc */
    struct jfr_buffer scratch;    /* one stack or method under construction */
    struct jfr_buffer stack_scratch;
};

/* What threads work for. */
struct recording_contexts {
    struct jfr_attributes attributes; /* that the open chunk has fields for */
    bool has_any;                     /* came once: each chunk from then on has fields for it */
    bool has_virtual;                 /* threads */
    struct recording_ids known;       /* of this take: where the fields of a context lie in */
    struct jfr_buffer fields;
    struct recording_ids kept; /* of this take: context that is kept; 0: not asked yet */
    struct jfr_buffer scratch;
};

/* Names of virtual threads, as far as they were told: recording_virtual.c. */
struct recording_virtuals {
    struct jw_map names; /* number -> where in `texts`; 0: not known */
    char *texts;
    size_t used_bytes;
    size_t capacity_bytes;
};

/* The encoded fields of a context, as an event of the open chunk has them. */
struct recording_fields {
    const unsigned char *bytes;
    size_t length_bytes;
    uint64_t virtual_thread_key; /* whose context it is; 0: of a platform thread */
};

/* CPU time and samples of some threads. */
struct recording_cpu_sums {
    int64_t used_ns;
    int64_t sampled_ns;
    uint64_t samples;
};

struct recording_account;
struct recording_cpu_group;

/* The CPU ledger: an account for each thread that lives, and the sums of all others. */
struct recording_ledger {
    struct recording_account *accounts; /* by index of the thread's record */
    size_t account_count;
    int64_t process_ns;
    int64_t process_before_ns; /* of the time before a pause */
    bool is_kept;              /* somebody tells of the clocks */
    int64_t closed_used_ns;    /* sums of accounts that are closed */
    int64_t closed_lines_ns[JW_LEDGER_LIMIT];
    uint64_t ended_threads;
    uint64_t short_threads;

    /* Of the open chunk: events of one thread each, and sums of what is too much for that. */
    uint32_t closed_rows;
    struct recording_cpu_group *groups;
    size_t group_count;
    size_t group_capacity;
    struct jw_map group_of; /* name -> group + 1 */
};

/*
 * The conservation law of each chunk, recording_law.c. Counts since the recording began, as of a cut: between the
 * rotation of a generation and the take of its records.
 */
struct recording_law_cut {
    uint64_t entered;                  /* SIGNALS */
    uint64_t outcomes[JW_COUNT_LIMIT]; /* losses and spared ones; 0 at all others */
    uint64_t
        most; /* signals that have entered and whose outcome may be in nothing taken, at the most */
};

/* What is told of it up to some time, since the recording began. */
struct recording_law_told {
    struct recording_law_cut cut;
    uint64_t samples, turns, idle, idle_turns, events;
};

struct recording_law {
    struct recording_law_cut staged; /* its records are not taken yet */
    struct recording_law_cut last;
    struct recording_law_told before; /* the open chunk */
    uint64_t staged_number;           /* of the generation whose records it waits for; 0: of none */
    bool has_cut;                     /* there was one: else nothing is told */
    uint64_t idle, idle_turns, events; /* written since the recording began */
};

/* What viewers show of the process and its machine: recording_host.c. */
#define RECORDING_INTERFACES_MAX 32
struct recording_host {
    struct os_interface interfaces[RECORDING_INTERFACES_MAX];
    size_t interface_count;
    uint64_t interfaces_ns; /* when they were read; 0: never */
    uint64_t switches, switches_ns;
    uint64_t look;           /* at the libraries */
    struct jw_map libraries; /* of this chunk: those that were told */
    uint64_t *lives;         /* by index of a thread's record: its serial, and what was told */
    size_t life_count;
    uint32_t life_rows; /* of this chunk */
};

struct recording {
    struct recording_config config; /* its texts are in `texts` */
    bool has_frames_in_line;        /* of a recording for JFR: in its stacks */
    unsigned left_out;              /* JFR_OF_...: of this no event of the open chunk has fields */
    char *texts;
    struct recording_setting *settings;

    /* JFR */
    struct recording_file *file;
    struct recording_names names;
    struct jfr_buffer events;         /* taken, not yet in the file */
    struct jfr_buffer stack;          /* one stack under construction */
    struct recording_ids method_keys; /* of this take, + 1 */
    struct recording_ids
        trace_keys; /* of this take, + 1; the stack, and below it whether it is native */
    struct jfr_declared_set *declared;   /* of the open chunk; NULL: none yet */
    struct recording_ids declared_keys;  /* of this take: key of the stack of such an event, + 1 */
    uint64_t state_keys[JW_STATE_LIMIT]; /* in this chunk */
    uint64_t cpu_state_key;              /* of samples of CPU time */
    uint64_t counter_key;                /* likewise; of no use without config.counter */
    uint64_t checkpoint_offset;          /* of the last one in the open chunk; 0: none */

    struct recording_graph graph;
    struct recording_wall wall;
    struct recording_contexts contexts;
    struct recording_virtuals virtuals;
    struct recording_ledger ledger;
    struct recording_law law;
    struct recording_host host;

    struct recording_stops *stops;   /* NULL: none were taken yet */
    struct recording_delays *delays; /* likewise */
    struct recording_live *live;     /* likewise */
    struct recording_locks *locks;   /* NULL: none yet */
    struct recording_tasks *tasks;   /* NULL: none are told */

    struct jw_cost cost;
    bool has_cost;
    uint64_t writes, write_ns, write_max_ns; /* of parts of the file */
    uint64_t written_bytes;

    /* One clock: wall time is where the recording began, plus ticks since. */
    uint64_t opened_ns;
    uint64_t opened_wall_ns;
    uint64_t tick_zero_ns;      /* tick 0, and */
    unsigned tick_bits;         /* how long a tick is, as a power of two of ns */
    uint64_t chunk_begun_ns;    /* when the open chunk was begun, for its age */
    uint64_t chunk_earliest_ns; /* no event of the open chunk may be older */
    uint64_t chunk_start_ns;    /* of its header: lowered for records that come late */
    uint64_t last_event_ns;
    uint64_t paused_ns; /* since when nothing is taken; 0: it goes on */
    uint64_t idle_ns;   /* how long that was, before */

    uint64_t samples;      /* by signals */
    uint64_t hook_samples; /* by hooks */
    uint64_t turns;        /* of the wall clock */
    uint64_t chunks;
    uint64_t diagnosed_ns;
    uint64_t zero[JW_COUNT_LIMIT];  /* the counters when the recording began */
    struct recording_ids walk_zero; /* counts of walk failures, likewise, by number */
    struct generation_part_stats part_zero[GENERATION_PART_LIMIT]; /* totals of them, likewise */
    uint64_t refused_zero[JW_MEMORY_LIMIT];                        /* of memory, likewise */
    struct os_cpu_times cpu;                                       /* at the last jdk.CPULoad */
    bool has_cpu;
    bool is_ending; /* no engine runs: what is under way has its outcome in a moment */

    struct jw_error failure; /* the first one */
    bool has_failed;
    bool is_told;
};

/* Remembers the first failure; nothing is written after it. */
void recording_fail(struct recording *recording, const struct jw_error *why);
void recording_fail_memory(struct recording *recording);

/* Ends the chunk and begins another; nothing after a failure, or without a file. */
void recording_next_chunk(struct recording *recording);

/* Notes that something happened at this time, or at the first moment of the chunk when it is older
 * (counted); returns that. */
uint64_t recording_time(struct recording *recording, uint64_t time_ns);

/*
 * recording_ticks.c: chosen as the recording begins, for all of its chunks, since jdk.jfr goes by the clock of a file's first one, and for all recordings of the
 * process, which are joined most. What probes tell of may be short. Source: OpenJDK 25, tried with files that were merged.
 */
void recording_choose_ticks(struct recording *recording);
/* A moment, rounded down, also before tick 0: so what was in a span is in it; the same put; a length, which ends where a moment there is; one without a begin. */
int64_t recording_ticks_at(const struct recording *recording, uint64_t time_ns);
void recording_put_time(struct recording *recording, uint64_t time_ns);
void recording_put_length(struct recording *recording, uint64_t begin_ns, uint64_t length_ns);
void recording_put_ticks(struct recording *recording, int64_t length_ns);

/* From the start of the open chunk (of the recording, where there are none) past its last event. */
uint64_t recording_duration_ns(const struct recording *recording, uint64_t now_ns);

/*
 * Begins an event of this type in `events` at this time, as recording_time has it. Returns what jfr_event_end wants.
 */
size_t recording_event(struct recording *recording, enum jfr_type type, uint64_t time_ns);

/* The type that tells events of this one in the recording's dialect: jfr/jfr_dialects.def. */
enum jfr_dialect recording_dialect(const struct recording *recording);
enum jfr_type recording_type(const struct recording *recording, enum jfr_type type);

/* Events that open each chunk: the recording, its settings, the JVM and the machine. */
void recording_put_facts(struct recording *recording, uint64_t now_ns);

/* recording_host.c: a chunk begins; what is due of that which is told now and then; all is over. */
void recording_host_new_chunk(struct recording *recording, uint64_t now_ns);
void recording_put_host(struct recording *recording, uint64_t now_ns);
void recording_host_close(struct recording *recording);

/* recording_jvm.c: flags and heap, as a chunk begins; collections and what the JVM counts, once a second. */
void recording_put_flags(struct recording *recording, uint64_t now_ns);
void recording_put_jvm(struct recording *recording, uint64_t now_ns);

/* Load and memory of the machine; then what jaywalk itself did and lost. */
void recording_put_load(struct recording *recording, uint64_t now_ns);
void recording_put_diagnostics(struct recording *recording, uint64_t now_ns);

/* What each dictionary holds, and what it refused since the recording began. */
void recording_put_dictionaries(struct recording *recording, uint64_t now_ns,
                                uint64_t put_off_count);
void recording_zero_dictionaries(struct recording *recording);
/* The same of memory. */
void recording_put_memory(struct recording *recording, uint64_t now_ns);
void recording_zero_memory(struct recording *recording);

/* The counters as they are now become zero. */
void recording_zero_counters(struct recording *recording);
/* Counts since then, each outcome no greater than its signals; `in_flight` gets the rest, which is waited for at the end. */
void recording_read_counters(const struct recording *recording, uint64_t counts[JW_COUNT_LIMIT],
                             uint64_t *in_flight);

/* recording_law.c: the records of a generation are taken; a chunk begins; what it tells. */
void recording_law_settle(struct recording *recording, const struct generation *taken);
void recording_law_new_chunk(struct recording *recording);
void recording_put_law(struct recording *recording, uint64_t now_ns);

/* recording_cost.c: what jaywalk took, if somebody told; `is_chunk_end`: the distribution, too. */
void recording_put_cost(struct recording *recording, uint64_t now_ns, bool is_chunk_end);
/* A part of this length was written since then. */
void recording_note_write(struct recording *recording, uint64_t begin_ns, uint64_t length_bytes);

/* Between two events: writes what waits, if it is much. */
void recording_relieve(struct recording *recording);

/* Room for ids up to `last_id`, all 0. False: no memory. */
JW_MUST_CHECK bool recording_ids_reset(struct recording_ids *ids, uint32_t last_id);
/* Where the value of an id lies; NULL: an id that came after the reset and found no memory. */
uint64_t *recording_ids_at(struct recording_ids *ids, uint32_t id);
void recording_ids_close(struct recording_ids *ids);

/* What a record is resolved against. */
struct recording_take {
    struct recording *recording;
    struct generation *generation;
};

/* Keys of the thread that an event is of, and of the one that carried it; 0: it is no virtual one. */
struct recording_who {
    uint64_t thread, carrier;
};
struct recording_who recording_who_of(struct recording *recording, uint32_t index, uint32_t serial,
                                      const struct recording_fields *context);

/* What records of threads that left a stack have in common. */
struct recording_taken {
    uint64_t stack; /* its key in this chunk; 0: it has no frames */
    bool is_native; /* the thread was in native code on its own account */
    struct recording_fields context;
    struct recording_who who;
};
/* False: no memory, of which the recording says so itself. */
JW_MUST_CHECK bool recording_taken_of(struct recording_take *take,
                                      const struct event_record *record,
                                      struct recording_taken *out);

/* Right before a sample: that a safepoint was waiting for its thread, or who else had asked it to stop, where that is so. */
void recording_put_waited(struct recording *recording, const struct event_record *record,
                          const struct recording_taken *taken, const char *clock);

/* recording_declared.c: the types that the chunk which begins has; is there one that it has not; an event of such a type. */
void recording_declared_new_chunk(struct recording *recording);
bool recording_declared_has_new_type(const struct recording *recording);
JW_MUST_CHECK bool recording_declared_begin_take(struct recording_take *take);
void recording_take_declared(struct recording_take *take, const struct event_record *record);
void recording_declared_close(struct recording *recording);
/* A call of a traced method; the stack begins with that method. */
void recording_take_method_trace(struct recording_take *take, const struct event_record *record);
void recording_take_queue_time(struct recording_take *take, const struct event_record *record);
void recording_take_program(struct recording_take *take, const struct event_record *record);

/*
 * How many frames on top are the agent's own: of a wait that LockSupport told of (parks.h of room agent), of a call that is sampled (methods.h); or, of an exception
 * (exceptions.h), its own making: `class_name`, which is DICT_NONE elsewhere, is its class.
 */
uint32_t recording_frames_of_own(const struct generation *generation,
                                 const struct store_trace *trace, dict_id class_name);

/* Wall records as JFR events: between begin and end of a take; what still waits when all ends. */
JW_MUST_CHECK bool recording_wall_begin_take(struct recording_take *take);
void recording_wall_take(struct recording_take *take, const struct event_record *record);
void recording_wall_end_take(struct recording *recording);
void recording_wall_give_up(struct recording *recording, recording_is_done *is_done, void *whose);
void recording_wall_end(struct recording *recording);
void recording_wall_close(struct recording *recording);

/* Fields for what came meanwhile, in the chunk that begins. Has the open one none for a name of an attribute, or a context of this generation? */
void recording_context_new_chunk(struct recording *recording);
bool recording_context_needs_chunk(struct recording *recording,
                                   const struct generation *generation);
/* The carrier of a virtual thread, 0 of others; a context: each where the chunk has fields for it. */
void recording_put_carrier(struct recording *recording, uint64_t carrier);
void recording_put_context(struct recording *recording, const struct recording_fields *context);
JW_MUST_CHECK bool recording_context_begin_take(struct recording_take *take);
void recording_context_close(struct recording *recording);

/* The fields of a context of this generation, until the next one is asked for. DICT_NONE, or no memory: none. */
struct recording_fields recording_context_fields(struct recording_take *take, dict_id id);

/* A context, kept for later; NULL: none, or there is no room for it (counted). Its fields, likewise. */
struct recording_kept *recording_kept_context(struct recording_take *take, dict_id id);
struct recording_fields recording_kept_context_fields(struct recording *recording,
                                                      const struct recording_kept *kept);
/* Whose it was, with the name that is known by now. */
struct recording_virtual recording_kept_virtual(struct recording *recording,
                                                const struct recording_kept *kept);

/* What virtual threads of this generation are called, for all takes from here on; before a take. */
void recording_virtual_begin_take(struct recording *recording, const struct generation *generation);
/* Whose context of this generation it is. */
struct recording_virtual recording_virtual_of(struct recording *recording,
                                              const struct generation *generation, dict_id context);
/* The name by which the recording knows that one: from the first time on that it was told. */
struct recording_text recording_virtual_name(struct recording *recording, uint64_t number,
                                             struct recording_text told);
void recording_virtual_close(struct recording *recording);

/*
 * recording_dialects.c: a sample, a span or an endpoint as another profiler tells it. False: the dialect has its type as it
 * is, and nothing was put.
 */
struct recording_object {
    uint64_t class_key;
    uint64_t size_bytes;
    uint64_t weight_bytes; /* what it stands for */
    uint64_t time_ns;      /* of its allocation */
    uint32_t age;          /* pauses of the collector since */
};
struct recording_foreign {
    enum jfr_type type; /* of the standard dialect */
    uint64_t start_ns;  /* as recording_time or recording_span has it */
    uint64_t duration_ns;
    uint64_t thread, stack, state; /* keys */
    uint64_t turn_count;
    bool is_native; /* of a sample: in native code on its own account */
    struct recording_fields context;
    struct recording_text name, operation;
    uint64_t root_span_id; /* of an endpoint */
    struct recording_object object;
    struct recording_lock {
        uint64_t class_key, owner; /* keys */
        uint64_t address;
        int64_t timeout; /* ms, 0: none; of a park ns, as jdk.ThreadPark has it */
        int64_t until;   /* of a park: ms since the Unix epoch, likewise */
        int64_t held_ns; /* at least, from the begin on; INT64_MIN: not known */
        uint32_t object; /* its number; 0: it has none */
        bool is_expired;
        bool is_free; /* of a park: nobody had it when it was over */
    } lock;
};
bool recording_put_foreign(struct recording *recording, const struct recording_foreign *told);
/* recording_locks.c: the fields of a wait that all dialects have, behind its begin. */
void recording_put_wait(struct recording *recording, enum jfr_type type,
                        const struct recording_foreign *told);
/* A chunk begins: states of threads, as the dialect calls them. */
void recording_put_states(struct recording *recording);

/* recording_locks.c: a wait for a lock: taken, and told. */
void recording_take_lock(struct recording_take *take, const struct event_record *record);
void recording_put_lock(struct recording_take *take, const struct event_record *record);

/* recording_lock_owners.c: a sample of an owner; a wait, until the end of the take, where all are told; false: no memory. */
struct recording_wait {
    uint64_t address, begin_ns, end_ns;
    uint64_t thread, class_key; /* keys */
    uint64_t owner;             /* at its begin, or what carried it; key, 0: not known */
    uint32_t object;            /* number of what was waited for; 0: it has none */
};
/* A sample of an owner that belongs to a wait. */
struct recording_proof {
    struct recording_who who; /* keys; thread 0: there is none */
    uint64_t
        last_ns; /* of the last one of that thread in the wait, before anybody else; behind its begin */
};
void recording_take_lock_owner(struct recording_take *take, const struct event_record *record);
JW_MUST_CHECK bool recording_keep_wait(struct recording *recording,
                                       const struct event_record *record);
void recording_locks_end_take(struct recording_take *take);
void recording_locks_close(struct recording *recording);
/* The first owner who proved that he was it; events of all of them. */
void recording_wait_owner(struct recording *recording, const struct recording_wait *wait,
                          struct recording_proof *out);
void recording_put_owners(struct recording *recording, const struct recording_wait *wait);

void recording_take_endpoint(struct recording_take *take, const struct event_record *record);
void recording_take_span(struct recording_take *take, const struct event_record *record);

/* The stack of a trace, without frames of the agent's own on top, kept for later; NULL: there is no room for it. */
struct recording_kept *recording_kept_stack(struct recording_take *take, store_id id);
/* The same with another one under it, behind a mark, kept for this take; `thrown` as of recording_frames_of_own. NULL: likewise, which is counted. */
struct recording_kept *recording_kept_joined(struct recording_take *take, store_id id,
                                             dict_id thrown, const struct recording_kept *under);
void recording_release_methods(struct recording_idle *idle, const struct recording_kept *stack);
/* Keys in this chunk: of a kept stack; of one that is but a mark. */
uint64_t recording_kept_stack_key(struct recording *recording, struct recording_kept *kept);
uint64_t recording_mark_stack_key(struct recording *recording, enum jw_mark mark);
/* Of frames as the JVM tells them, which does not say whether they are compiled. */
uint64_t recording_told_stack_key(struct recording *recording,
                                  const struct recording_told_frame *frames, uint32_t count,
                                  bool is_truncated);

/* Forgets what waiting threads are gone, and notes when memory is out. */
void recording_wall_tidy(struct recording *recording);

/* Graphs: what waits for threads that are done; what still waits when all ends. */
void recording_graph_give_up(struct recording *recording, recording_is_done *is_done, void *whose);
void recording_graph_end(struct recording *recording);

/*
 * Where the event begins that stands for the time from `begin_ns` to `end_ns`: never before the chunk, which
 * is counted. The end alone decides whether the chunk's own start is lowered for it.
 */
uint64_t recording_span(struct recording *recording, uint64_t begin_ns, uint64_t end_ns);

/* recording_ledger.c: a sample of a thread; what the open chunk still owes of live threads, when it ends,
 * and the sums of all; all of it into a profile. */
void recording_ledger_sample(struct recording *recording, const struct event_record *record);
void recording_ledger_new_chunk(struct recording *recording);
void recording_put_ledger(struct recording *recording, uint64_t now_ns, bool is_chunk_end);
void recording_ledger_tell_profile(struct recording *recording);
/* After a pause: the clocks of threads and process begin at zero again. */
void recording_ledger_resume(struct recording *recording);
void recording_ledger_close(struct recording *recording);

/* Takes the records of a generation as JFR events, or into the profile. */
void recording_take_events(struct recording *recording, struct generation *generation);
void recording_take_graph(struct recording *recording, struct generation *generation);

/* recording_part.c: which samples of a graph count. Whose a sample is: */
struct recording_whose {
    uint32_t thread_index, thread_serial;
    struct recording_virtual mounted; /* where threads matter */
};
struct recording_counted {
    uint64_t samples, weight;
};
/* False and `err`: what was asked for has no sense, or cannot be told while samples are counted. */
JW_MUST_CHECK bool recording_part_open(struct recording *recording, struct jw_error *err);
void recording_part_begin_take(struct recording *recording);
bool recording_part_has(struct recording *recording, const struct recording_whose *whose,
                        uint64_t time_ns);
/* Of turns of the wall clock those that count. */
struct recording_counted recording_part_turns(struct recording *recording,
                                              const struct recording_whose *whose,
                                              const struct recording_turns *turns);
/* When the part begins, and how long it is, out of when the whole does. */
struct profile_about;
void recording_part_cut(const struct recording *recording, struct profile_about *about);
void recording_part_close(struct recording *recording);

/* Opens the profile and its place; the place alone, again; writes a graph. */
JW_MUST_CHECK bool recording_graph_open(struct recording *recording, struct jw_error *err);
/* As a reader would show it out of a file, until the text in this place is replaced; NULL for none. */
const char *recording_shown(struct recording *recording, struct jfr_buffer *scratch,
                            struct jfr_text *place, struct recording_text text);
/* Tells the profile what holds now of the run as a whole. */
void recording_graph_tell(struct recording *recording);
JW_MUST_CHECK bool recording_graph_place(struct recording *recording, struct jw_error *err);
/* How a graph of this format is written; of a recording any. */
enum export_format recording_export_format(enum recording_format format);
JW_MUST_CHECK bool recording_graph_write(struct recording *recording,
                                         const struct recording_view *view, struct jw_error *err);
void recording_graph_close(struct recording *recording);

/* recording_delays.c: safepoints that were long waited for, and who was last. Around a take; `is_last`: the recording ends. */
void recording_delays_begin_take(struct recording *recording);
void recording_delays_take(struct recording_take *take, const struct event_record *record);
void recording_delays_end_take(struct recording *recording, bool is_last);

/* recording_live.c: sampled objects that are still there. take: the record of an allocation; end_take: forgets those that are gone;
 * put: those that are there, as one set of events of this time. */
void recording_live_take(struct recording_take *take, const struct event_record *record);
void recording_live_end_take(struct recording *recording);
void recording_live_put(struct recording *recording, uint64_t now_ns);
void recording_live_close(struct recording *recording);

/*
 * recording_tasks.c: stacks of who handed tasks over, under those of who runs them. begin_take: before the first sample is taken; the keeper keeps the
 * stack of a trace until the end of the take at least, NULL: there is no room. under: what belongs under the stack of a sample, which
 * lives as long as the take; NULL: nothing. joined: what the two became in this take, for the caller to set, 0 at first; NULL: no memory.
 */
struct recording_tasks_keeper {
    struct recording_kept *(*keep)(void *context, store_id trace);
    void *context;
};
void recording_tasks_begin_take(struct recording *recording, const struct generation *generation,
                                const struct recording_tasks_keeper *keeper);
struct recording_kept *recording_tasks_under(const struct recording *recording,
                                             const struct event_record *record);
uint64_t *recording_tasks_joined(struct recording *recording, store_id trace,
                                 const struct recording_kept *under);
/* passed: a record of a task was taken. resume: what was under way before the pause may be over. */
void recording_tasks_passed(struct recording *recording);
void recording_tasks_resume(struct recording *recording);
void recording_tasks_close(struct recording *recording);

/* recording_stops.c: where threads would have stopped, beside where they were. begin: of a take; put: rows, as events. */
void recording_stops_begin_take(struct recording *recording);
void recording_stops_take(struct recording_take *take, const struct event_record *record);
void recording_stops_put(struct recording *recording, uint64_t now_ns, bool is_chunk_end);

#endif
