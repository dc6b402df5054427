/*
 * recording - one recording of one run: samples in, a file out that is readable at every instant.
 *
 * For      turning the records of closed generations into a JFR file (or, at the end, into a graph),
 *          in chunks, with names, threads and counters resolved.
 * Callers  agent.
 * Context  recording_open: control. All else: dump. One thread at a time for each recording.
 * Memory   owned by the recording; grows with the number of distinct names and stacks of a chunk and
 *          is given back when the chunk ends. All text that callers pass in is copied.
 *
 * Nothing here knows the JVM: what only it can tell comes through struct recording_sources. Names that
 * come from class files are in Java's modified UTF-8, class names with slashes ("java/lang/String").
 *
 * Failure is sticky. After the first failed write nothing more is written, the last good state of the
 * file stays readable, recording_flush and recording_close say once what failed and what was kept.
 */
#ifndef JW_RECORDING_RECORDING_H
#define JW_RECORDING_RECORDING_H

#include "base/cost.h"
#include "base/jw.h"
#include "base/ledger.h"
#include "export/export.h"
#include "generation/generation_parts.h"
#include "profile/profile.h"

struct generation;
struct os_output_calls;
struct jfr_declared;
struct recording;

/* Bytes, not always with a terminator. The giver says how long they live. {NULL, 0}: not known. */
struct recording_text {
    const char *bytes;
    size_t length_bytes;
};

struct recording_thread {
    int64_t os_tid;
    struct recording_text os_name;
    struct recording_text java_name;    /* none: not a Java thread */
    int64_t java_id;                    /* Thread.threadId(); 0: not a Java thread */
    struct recording_text group;        /* name of its thread group; none: not known */
    struct recording_text parent_group; /* none: the group has no parent */
};

struct recording_loader {
    struct recording_text
        type; /* class of the loader, "jdk/internal/loader/ClassLoaders$AppClassLoader" */
    struct recording_text name; /* "app", "platform"; none: unnamed */
};

struct recording_module {
    struct recording_text name;     /* "java.base" */
    struct recording_text version;  /* "17.0.21" */
    struct recording_text location; /* "jrt:/java.base" */
};

struct recording_symbol {
    struct recording_text library; /* file name without directories, "libc.so.6" */
    struct recording_text symbol;  /* "memcpy"; none: not known */
};

/* Samples whose Java stack could not be walked for this reason, with the pc in such a place. */
struct recording_walk_failure {
    int32_t code;
    const char *reason;
    const char *where;
    const char *walker;
    uint64_t count; /* since the process started; what was there at the beginning is taken off */
};

/* A key and what it says, a system property for example. */
struct recording_pair {
    struct recording_text key, value;
};

/* A library with code in this process. */
struct recording_library {
    struct recording_text path;
    uintptr_t base, top;
};

typedef void recording_library_visit(void *closure, const struct recording_library *library);

enum recording_flag_kind {
    RECORDING_FLAG_BOOLEAN,
    RECORDING_FLAG_INT,
    RECORDING_FLAG_UINT,
    RECORDING_FLAG_LONG,
    RECORDING_FLAG_ULONG,
    RECORDING_FLAG_DOUBLE, /* `number` are its bits */
    RECORDING_FLAG_TEXT,
    RECORDING_FLAG_UNTOLD, /* this one is left out */
};

/* A flag of the JVM. Where its origin is "Default" it is written into the first chunk alone. */
struct recording_flag {
    enum recording_flag_kind kind;
    const char *name;
    uint64_t number;
    const char *text; /* NULL: it has none */
    const char *origin;
};

/* The garbage collector and its heap. NULL texts: not known. */
struct recording_heap {
    const char *young_collector, *old_collector;
    uint32_t parallel_threads, concurrent_threads;
    bool has_dynamic_threads, is_explicit_concurrent, is_explicit_disabled;
    int64_t pause_target_ms; /* INT64_MIN: none was named */
    uint32_t time_ratio;
    uint64_t min_bytes, max_bytes, initial_bytes, alignment_bytes;
    bool is_compressed;
    const char *compressed_mode;
    unsigned address_bits;
};

/* What the JVM counts of its threads and classes. */
struct recording_jvm_counts {
    uint64_t threads, daemon_threads, started_threads, peak_threads;
    uint64_t loaded_classes, unloaded_classes;
};

struct recording_metaspace {
    uint64_t used_bytes, committed_bytes, reserved_bytes; /* class space included */
    uint64_t class_used_bytes, class_committed_bytes, class_reserved_bytes;
};

/* A time in which the garbage collector had stopped all threads. */
enum recording_collection_kind {
    RECORDING_COLLECTION_ANY, /* of a collector without generations, or not known */
    RECORDING_COLLECTION_YOUNG,
    RECORDING_COLLECTION_OLD,
};

struct recording_collection {
    uint32_t number;
    uint64_t begin_ns, end_ns;
    const char *name, *cause;                             /* NULL: not known */
    uint64_t used_bytes, committed_bytes, reserved_bytes; /* behind it; used 0: not known */
    enum recording_collection_kind kind;
    uint64_t used_before_bytes, committed_before_bytes; /* as it began; used 0: not known */
};

#define RECORDING_OPERATION_BYTES 64
#define RECORDING_RUNNING_BYTES   160

/* A safepoint that was long waited for. */
struct recording_delay {
    uint64_t number, begin_ns, reach_ns, inside_ns;
    uint64_t
        late_record; /* `value` of the EVENT_LATE of who was last; its low 16 bits are 0: nobody */
    const char *nobody;    /* why, where it is nobody: constant */
    const char *operation; /* "": not known */
    const char *running;   /* how many threads still ran, look by look */
    bool is_used_known;    /* the rest: what the last thread used meanwhile */
    uint64_t cpu_ns, waited_ns, minor_faults, major_faults;
};

/* A frame as the JVM tells it. */
struct recording_told_frame {
    struct recording_text class_name, name, descriptor; /* "java/lang/String" */
    uint32_t loader, modifiers, class_modifiers;
    int line; /* -1: none */
    int bci;
    bool is_native; /* a method of Java that is marked native */
};

/* A thread of a deadlock, which waits for a lock that `owner` has. What is told of it lives until the next one is asked for. */
struct recording_deadlocked {
    uint32_t number; /* of the deadlock */
    uint64_t begin_ns, found_ns, address;
    uint32_t thread, serial, owner, owner_serial;
    uint64_t virtual_number, owner_virtual_number; /* 0: a platform thread */
    struct recording_text virtual_name, owner_virtual_name;
    struct recording_text class_name; /* of the lock; not known: what its owner's sample says */
    const struct recording_told_frame
        *frames; /* NULL: what the newest sample of the thread says; none of a virtual one */
    uint32_t frame_count;
    bool is_truncated;
};

/* What a virtual thread on no carrier does at that time, which has a lock that others wait for. */
struct recording_told_owner {
    uint64_t time_ns, address, virtual_number;
    struct recording_text virtual_name;
    struct recording_text class_name; /* of the lock; {NULL, 0}: not known */
    const struct recording_told_frame *frames;
    uint32_t frame_count;
    bool is_truncated;
};

/* A place where a monitor is taken, and what was counted there until `time_ns`. */
struct recording_lock_site {
    uint64_t time_ns;
    const char *class_name; /* "java/util/Vector" */
    const char *method, *kind, *thread;
    uint32_t line;
    bool is_platform, is_refused;
    uint64_t acquisitions, threads, holds, weight, hold_ns, hold_most_ns;
    uint64_t hold_error_ns; /* of hold_ns: within that in 95 of 100 cases */
    const char
        *hold_histogram; /* "1000:12 10000:3": from so many ns on so many holds; NULL: none */
};

/* A method whose calls come to that place, by samples. */
struct recording_lock_caller {
    const char
        *class_name; /* "com/acme/Shop"; "": the method is none, but says what is in its place */
    const char *method;
    uint64_t samples, acquisitions, error; /* the latter two: estimated, within that */
};

/* Objects whose locks were taken at that place, by their identity hash: those that each are known of, and the others, for which there was no room. */
struct recording_lock_objects {
    uint64_t objects, acquisitions, alone, four_fifths;
    uint64_t other_objects, other_acquisitions, other_several;
    bool takes_bias; /* to be told so, each lost its biased lock */
};

struct recording_lock_object {
    uint32_t hash, threads; /* the latter: 1, 2, or 3 for more */
    uint64_t acquisitions;
};

/* What the agent knows of a sampled object that is still there. */
struct recording_live_state {
    uint32_t age;   /* pauses of the collector since it was allocated */
    uint32_t level; /* it stands for 2 to the power of this of those that were sampled as it was */
};

/* A method as a class file has it; {NULL, 0} for class and name: not known. */
struct recording_code {
    struct recording_text class_name, name;
    struct recording_text line_table; /* compressed; none: no lines */
    int32_t bci;
};

enum recording_stop_kind {
    RECORDING_STOP_UNTOLD,
    RECORDING_STOP_AT,     /* where `at` says */
    RECORDING_STOP_CALLER, /* in the caller of the compiled method */
};

/* Where a thread would have stopped that ran compiled code at a pc. */
struct recording_stop {
    enum recording_stop_kind kind;
    bool is_here;               /* the pc is at the instructions that ask whether to stop */
    struct recording_code root; /* the compiled method itself */
    struct recording_code at;
};

/*
 * Questions that only the agent can answer. Each may be NULL or answer false: not known. Text in an
 * answer must live until the next call of the same function. Asked on the dump thread only, never while
 * a lock of ours is held: about threads and native code once a take, about the rest once a chunk.
 */
struct recording_sources {
    void *context;
    bool (*thread)(void *context, uint32_t index, uint32_t serial, struct recording_thread *out);
    /* Loader 0 is not known and never asked for. The bootstrap loader has a name and no type. */
    bool (*loader)(void *context, uint32_t loader, struct recording_loader *out);
    /* Module of a package ("java/lang") as the loader defines it. */
    bool (*module)(void *context, uint32_t loader, struct recording_text package,
                   struct recording_module *out);
    /* `pc` lies inside the function: a return address comes less one. */
    bool (*native_pc)(void *context, uintptr_t pc, struct recording_symbol *out);
    /* Failures by number: 0, 1, ..., each always the same one, also while its count is 0; false: no more. */
    bool (*walk_failure)(void *context, uint32_t number, struct recording_walk_failure *out);
    /* What a dictionary of the generations holds and refused; false: there are none yet. */
    bool (*part)(void *context, enum generation_part part, struct generation_part_stats *out);
    /* About a second after the sample: the code may be another by now, which `root` shows. */
    bool (*stop)(void *context, uintptr_t pc, struct recording_stop *out);
    /* Name of an attribute of contexts by number: 0, 1, ..., each always the same one; NULL: no more yet. */
    const char *(*attribute)(void *context, unsigned number);
    /* Of the types that events of probes may have, each time anew, the one with the next number after `after`; false: no more. */
    bool (*declared)(void *context, uint32_t after, struct jfr_declared *out);
    /* System properties, and variables of the environment, by number, as they are to be written; false: no more. */
    bool (*property)(void *context, uint32_t number, struct recording_pair *out);
    bool (*variable)(void *context, uint32_t number, struct recording_pair *out);
    /* Calls `visit` for each library if there may be others than at `look`, which becomes that of now; 0: none yet. */
    void (*libraries)(void *context, uint64_t *look, recording_library_visit *visit, void *closure);
    /* Flags of the JVM by number, once a chunk; false: no more. */
    bool (*flag)(void *context, uint32_t number, struct recording_flag *out);
    bool (*heap)(void *context, struct recording_heap *out);
    bool (*counts)(void *context, struct recording_jvm_counts *out);
    bool (*metaspace)(void *context, struct recording_metaspace *out);
    /* The oldest delay of a safepoint that was not taken yet; once a take. */
    bool (*delay)(void *context, struct recording_delay *out);
    /* Whether the object is still there that the sample of an allocation names; any number of times. */
    bool (*live)(void *context, uint32_t slot, uint32_t number, struct recording_live_state *out);
    /* The oldest thread of a deadlock that was not taken yet. */
    bool (*deadlocked)(void *context, struct recording_deadlocked *out);
    /* The next site of the census of locks that was not taken yet. */
    bool (*lock_site)(void *context, struct recording_lock_site *out);
    /* The next caller of the site that was told last. */
    bool (*lock_caller)(void *context, struct recording_lock_caller *out);
    /* Objects of that site. */
    bool (*lock_objects)(void *context, struct recording_lock_objects *out);
    /* Behind those, the next one, busiest first. */
    bool (*lock_object)(void *context, struct recording_lock_object *out);
    /* The oldest collection that was not taken yet. */
    bool (*collection)(void *context, struct recording_collection *out);
};

/* Calls of a method since the session began. */
struct recording_times {
    struct recording_text class_name, name, descriptor;
    uint64_t count, elapsed_ns, total_ns, least_ns, most_ns;
    const char *histogram;
};

/* The same of one that is counted alone, or that makes objects. */
struct recording_count {
    struct recording_text made; /* of which class; empty: its calls are counted */
    struct recording_text class_name, name, descriptor; /* of objects empty: of several */
    uint64_t count, elapsed_ns;
};

enum recording_format {
    RECORDING_JFR,
    RECORDING_HTML,
    RECORDING_COLLAPSED,
    RECORDING_TEXT,
    RECORDING_TREE,
    RECORDING_PPROF,
    RECORDING_OTLP,
};

/* What a graph draws, of the clocks and counters that samples are taken by, and of what hooks tell. A JFR file holds all. */
enum recording_clock {
    RECORDING_SHOWS_CPU,
    RECORDING_SHOWS_WALL,
    RECORDING_SHOWS_COUNTER,
    RECORDING_SHOWS_ALLOC,
    RECORDING_SHOWS_LOCK,
    RECORDING_SHOWS_LIMIT
};

/* A row of jdk.ActiveSetting: event "jdk.ExecutionSample", name "period", value "10 ms". Rows whose
 * event is no type of ours go under jdk.ActiveRecording, the one event every recording has. */
struct recording_setting {
    const char *event;
    const char *name;
    const char *value;
};

/* What jdk.JVMInformation holds. NULL text: null in the event. */
struct recording_jvm {
    const char *name;
    const char *version; /* the full line, with "JRE (17.0.21+9)": viewers parse it */
    const char *arguments;
    const char *flags;
    const char *java_arguments;
    int64_t start_ms; /* since the Unix epoch */
    int64_t pid;
};

/* Whose event types a recording has: those of the JDK and ours, or another profiler's. */
enum recording_dialect {
    RECORDING_STANDARD,
    RECORDING_ASYNC_PROFILER,
    RECORDING_DATADOG,
};

/* Of a graph: which samples count, as options say it; NULL: all. See profile/profile_part.h. */
struct recording_part_config {
    const char *from, *to;
    const char *state;
    const char *threads; /* patterns, each with its 0 byte; an empty one ends them */
    /* When the session began whose later file this is, which counts from the same times of day on, and may have
     * no samples; 0: it is the first. Unix time. */
    uint64_t session_unix_ns;
};

struct recording_config {
    /* A regular file or nothing; never followed when it is a symbolic link. NULL: other formats are
     * kept in memory, for recording_write. */
    const char *path;
    enum recording_format format;
    uint64_t
        chunk_bytes;   /* a chunk ends at this size; 0: 12 MiB. At most 1.5 GiB, at least 256 KiB */
    uint64_t chunk_ns; /* or this age; 0: one hour. At least one second */
    enum recording_dialect dialect; /* JFR */
    const char *title;              /* name of the recording, of the graph; NULL: "jaywalk" */
    const struct recording_setting *settings;
    size_t setting_count;
    struct recording_jvm jvm;
    const char *counter;   /* what is counted, as base/perf_event.h spells it; NULL: nothing */
    bool has_coarse_ticks; /* JFR: ticks of 512 ns, for nothing is told whose length says more */
    bool splits_wall;      /* JFR: a plain jdk.ExecutionSample for each turn of the wall clock */
    bool has_no_wall;      /* JFR: there are no turns of the wall clock at all */
    bool has_contexts;     /* JFR: events have fields for them before the first one comes */
    enum recording_clock shows; /* other formats; samples of the other clock are left out */
    uint64_t memory_bytes;      /* other formats: what the stacks may take, about; 0: no limit */
    struct profile_config tree; /* other formats: how stacks become boxes */
    struct recording_part_config part; /* other formats */
    bool is_by_thread;                 /* other formats: each thread by itself */
    struct export_options look;        /* other formats; of the title, the one above holds */
    bool has_tasks; /* records of tasks come: who handed one over is put under who runs it */
    bool has_frames_in_line; /* JFR: in each stack, as in other dialects */
    unsigned unsigned5_bias; /* X of the JVM's line tables: 0 before JDK 21, 1 from then on */
    struct recording_sources sources;
    const struct os_output_calls *calls; /* NULL: the system's. Tests pass calls that fail */
};

/*
 * Begins a recording; the counters of the process as they are now become its zero. For JFR the file is
 * there, complete and readable, on return; for other formats its place is checked and the file appears
 * at recording_close. NULL and `err` when the path is refused or cannot be written.
 */
JW_MUST_CHECK struct recording *recording_open(const struct recording_config *config,
                                               struct jw_error *err);

/* Right before a rotation: first SIGNALS, then the handlers at work. */
struct recording_cut {
    uint64_t signals;
    uint64_t inside;
};

/*
 * This generation was closed just now: the counters are read, and hold of what is written once its records are taken.
 * Those that older generations have got since come before. Not called: nothing is said of the law of each chunk.
 */
void recording_cut(struct recording *recording, const struct generation *closed,
                   const struct recording_cut *before);

/*
 * Takes the records of a closed generation that were committed since the last call for it, resolving
 * ids against that generation. May be called again for late records, until the generation is cleared.
 * Nothing reaches the file before recording_flush.
 */
void recording_take(struct recording *recording, struct generation *generation);

/* Whether the record of a thread is about to be reaped, or was. */
typedef bool recording_is_done(void *context, uint32_t index, uint32_t serial);

/*
 * To be called before records of threads are reaped: turns of the wall clock wait for the sample that they go on with, which was lost,
 * or found no memory, if it has not come by then. They are told without a stack while their thread can still be named.
 */
void recording_give_up(struct recording *recording, recording_is_done *is_done, void *whose);

/* What the clock of a thread says. `used_ns`: since the run began, or the thread. */
struct recording_thread_cpu {
    uint32_t index, serial;
    uint64_t used_ns;
    bool is_ended;    /* this is the last that is told of it, after all of its samples were taken */
    bool is_short;    /* it ended after so little CPU time that a kernel tick is much of it */
    bool is_own;      /* a thread of jaywalk's */
    bool is_refused;  /* no timer could be made for it */
    bool is_left_out; /* nobody wants samples of it: no event of its own unless it has some */
};

/*
 * The CPU ledger. Told of all threads, whose samples were taken before, and then of the process: its CPU
 * time since the run began. From the first recording_process_cpu on the recording has a ledger, which is
 * written with the counters. False: it has none.
 */
void recording_thread_cpu(struct recording *recording, const struct recording_thread_cpu *cpu);
void recording_process_cpu(struct recording *recording, uint64_t used_ns);
bool recording_get_ledger(const struct recording *recording, struct jw_ledger *out);

/* A Java thread that is known; `end_ns` 0: it lives. Told again and again, of each until it has ended. */
struct recording_life {
    uint32_t index, serial;
    uint64_t begin_ns, end_ns;
};

/* For JFR: events of its start and end, once each, where they lie after `since_ns`. */
void recording_thread_life(struct recording *recording, const struct recording_life *life,
                           uint64_t since_ns);

/* What a thread has had since it was told last: shares of all processors, 0 to 1. */
struct recording_thread_load {
    uint32_t index, serial;
    double user, system;
};

/* For JFR: an event. */
void recording_thread_load(struct recording *recording, const struct recording_thread_load *load);

/* For JFR: the JVM ends; an event. */
void recording_shutdown(struct recording *recording, const char *reason);

/* What jaywalk took since the recording began: written with the counters. Never told: nothing is said of it. */
void recording_cost(struct recording *recording, const struct jw_cost *cost);

/* Intervals of the clocks are others from now on. For JFR: an event. Nanoseconds; 0: no such clock. */
struct recording_interval_change {
    uint64_t time_ns;
    uint64_t from_cpu_ns, to_cpu_ns;
    uint64_t from_wall_ns, to_wall_ns;
    uint64_t share_ppm, budget_ppm; /* of the process's CPU time */
};

void recording_interval_change(struct recording *recording,
                               const struct recording_interval_change *change);

/* A part of the stacks is walked by another walker from now on. */
struct recording_walker_change {
    uint64_t time_ns;
    const char *part; /* "Java frames", "native frames" */
    const char *from, *to;
    const char *reason;
    uint64_t retry_ns; /* until it is tried again; 0: nothing was given up */
};

/* For JFR: an event, and with `setting` the setting of that name for the chunks to come, whose text is a
 * constant. For other formats nothing. */
void recording_walker_change(struct recording *recording,
                             const struct recording_walker_change *change);
void recording_set(struct recording *recording, const char *setting, const char *constant);
/* The same, and for JFR the setting also stands in this chunk from now on. */
void recording_set_now(struct recording *recording, const char *setting, const char *constant);

/* For JFR: what is known of a timed method by now, or of one that is counted, or makes what is; for other formats nothing. */
void recording_put_times(struct recording *recording, const struct recording_times *times);
void recording_put_count(struct recording *recording, const struct recording_count *count);
void recording_put_exceptions(struct recording *recording, uint64_t count); /* made so far */

/*
 * Makes all that was taken visible in the file. False and `err` the first time after a write failed;
 * later calls do nothing and return true, so that a full disk is told once.
 */
JW_MUST_CHECK bool recording_flush(struct recording *recording, struct jw_error *err);

/* Ends the chunk, its counters included, and begins another. Fails as recording_flush does. */
JW_MUST_CHECK bool recording_roll(struct recording *recording, struct jw_error *err);

/* True when the chunk is due to end by size or age. */
bool recording_chunk_is_due(const struct recording *recording, uint64_t now_ns);

/* recording_roll when the chunk is due, else recording_flush: what the dump thread calls each second. */
JW_MUST_CHECK bool recording_tick(struct recording *recording, struct jw_error *err);

/*
 * Ends the recording and frees it: last flush, counters, final flag, file cut to its size; the graph for
 * other formats. Engines are stopped and all generations taken before. False and `err` when anything
 * failed, now or earlier: then the recording is not whole, and the message says what was kept.
 */
JW_MUST_CHECK bool recording_close(struct recording *recording, struct jw_error *err);

/* Gives a recording back without writing any more of it: what is in its file stays. NULL is fine. */
void recording_drop(struct recording *recording);

/* A graph of what was taken so far. */
struct recording_view {
    enum recording_format format; /* none but graphs */
    const char *path;             /* where to; or NULL, and */
    export_write *write;          /* who takes it; or NULL: to the path of the recording */
    void *context;
    const struct export_options *look; /* NULL: that of the recording */
};

/* For other formats than JFR. Failure is told and changes nothing: it may be tried again. */
JW_MUST_CHECK bool recording_write(struct recording *recording, const struct recording_view *view,
                                   struct jw_error *err);

/* For JFR: flushes, and writes a file of its own that holds all that was taken. */
JW_MUST_CHECK bool recording_snapshot(struct recording *recording, const char *path,
                                      struct jw_error *err);

/* For other formats than JFR, at the end of a session: what came without the sample that it belongs to is taken
 * as it is. */
void recording_settle(struct recording *recording);

/*
 * For other formats than JFR: between the two nothing is taken, its time does not count, and no file is
 * held open. False: the place of the graph can no longer be written.
 */
void recording_pause(struct recording *recording);
JW_MUST_CHECK bool recording_resume(struct recording *recording, struct jw_error *err);

/* Of the recording of a session, between its takes; it is told with the waits that its time lies in. */
void recording_lock_owner(struct recording *recording, const struct recording_told_owner *told);

/* Threads whose samples as owners of locks are of that time or later, and have not been told yet, or not with all waits. */
void recording_lock_owners(const struct recording *recording, uint64_t since_ns,
                           void (*visit)(uint32_t thread, uint32_t serial, void *argument),
                           void *argument);

/* From then on nobody tells where tasks end: what is sampled later has no stack of who handed over. */
void recording_tasks_over(struct recording *recording, uint64_t time_ns);

enum recording_format recording_format_of(const struct recording *recording);
uint64_t recording_began_unix_ns(const struct recording *recording);

struct recording_status {
    uint64_t samples;      /* in the recording so far, also those not flushed yet */
    uint64_t file_bytes;   /* without the reserve */
    uint64_t chunks;       /* begun */
    uint64_t memory_bytes; /* that its stacks take, other formats */
    bool has_failed;       /* nothing more is written */
};

void recording_get_status(const struct recording *recording, struct recording_status *out);

#endif
