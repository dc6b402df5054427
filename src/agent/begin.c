/* The session of this process, up: what has to hold, the recording, the rooms in layer order, the engines; the
 * agent's thread. */
#include <string.h>

#include "agent/alloc.h"
#include "agent/census.h"
#include "agent/classes.h"
#include "agent/delays.h"
#include "agent/events.h"
#include "agent/exceptions.h"
#include "agent/io.h"
#include "agent/live.h"
#include "agent/locks.h"
#include "agent/methods.h"
#include "agent/nativecheck.h"
#include "agent/news.h"
#include "agent/queues.h"
#include "agent/routes.h"
#include "agent/session_internal.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/memory.h"
#include "context/context.h"
#include "context/context_process.h"
#include "generation/generation.h"
#include "instrument/instrument.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "sampler/sampler_hook.h"
#include "signals/signals.h"
#include "symbols/symbols.h"
#include "thread/thread_filter.h"
#include "unwind/unwind_live.h"
#include "vm/vm_safepoint.h"

/* Of the samples' share: what is not in generations, as activation cells and heads of tables. */
#define SAMPLES_REST_BYTES ((size_t)512 << 10)

static bool start_engines(struct jw_error *err)
{
    if (run_is_given_up())
        jw_error_set(err, "stopped before it began");
    else
        session.is_sampling = sampler_start(&session.sampler, err);
    return session.is_sampling;
}

/* Of a JVM that begins, little is compiled. */
static void tell_dropped_code(void)
{
    if (instrument_has_dropped_code() && !session.options.is_with_jvm)
        agent_log(
            OPTIONS_LOGLEVEL_INFO,
            "this JVM dropped its compiled code, as it does when classes are written again for "
            "the first time; it does not where that was asked for at its start");
}

/* The part of a start that grows with the application: classes, threads, then the engines. */
static bool begin(JNIEnv *jni, struct jw_error *err)
{
    if (!hooks_catch_up(jni, err))
        return false;
    /* A start that failed, or a handler that came back late, left records that are none of this session. */
    generations_forget(run_generations());
    /* A JVM that has just begun does not wait for it: then it is part of the first turn. */
    if (!session.options.is_with_jvm)
        session_serve_symbols();
    if (!start_engines(err))
        return false;
    overhead_begin(session.recording, session.options.overhead_ppm, session.number > 1);
    hooks_find_threads(jni);
    facts_threads_begin();
    loads_begin(session.recording);
    instrument_set_pause(session.options.pause_ns);
    live_open(jni, &session.options, session.recording);
    alloc_begin(&session.options);
    locks_begin(jni, &session.options);
    methods_begin(jni, &session.options);
    routes_begin(jni, &session.options);
    queues_begin(jni, &session.options);
    io_begin(jni, &session.options);
    classes_begin(&session.options);
    exceptions_begin(jni, &session.options);
    news_begin(jni, &session.options);
    census_begin(jni, &session.options, session.recording);
    tell_dropped_code();
    return true;
}

static void tell_start(bool is_resumed)
{
    agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling %s, %s%s", is_resumed ? "resumed" : "started",
              session.has_file ? "writing " : "samples are kept in memory",
              session.has_file ? session.path : "");
}

/* By the first session: tables are reserved by it, and kept. */
void run_share_memory(const struct options *options)
{
    const uint64_t shared_bytes = jw_memory_limit_bytes();

    if (shared_bytes == 0) {
        jw_memory_share(options->memlimit_bytes);
        jw_memory_note_library();
    } else if (shared_bytes != options->memlimit_bytes) {
        agent_log(OPTIONS_LOGLEVEL_WARN, "memlimit stays at %llu bytes, as in the first session",
                  (unsigned long long)shared_bytes);
    }
}

/* Opened by the first session and kept: a hook may hold the pointer beyond the end of a session. */
static struct generations *_Atomic kept_generations;

struct generations *session_kept_generations(void)
{
    /* order KEPT_GENERATIONS: acquires what open_generations released, the opened generations. */
    return jw_load_acquire(&kept_generations);
}

static struct generations *open_generations(struct jw_error *err)
{
    struct generations *kept = session_kept_generations();
    const size_t share_bytes = jw_memory_limit_of(JW_MEMORY_SAMPLES, GENERATIONS_DEFAULT_BYTES);
    const struct generations_config memory = {.memory_bytes = share_bytes < GENERATIONS_MAX_BYTES
                                                                  ? share_bytes - SAMPLES_REST_BYTES
                                                                  : GENERATIONS_MAX_BYTES,
                                              .is_free_sealed = JW_IS_CHECKED};

    if (kept != NULL)
        return kept;
    kept = generations_open(&memory, err);
    /* order KEPT_GENERATIONS: releases the opened generations to who asks what is in them. */
    jw_store_release(&kept_generations, kept);
    return kept;
}

/* A handler that did not leave when the last session stopped: it may have since. */
static bool is_still_inside(void)
{
    if (session.is_undrained)
        session.is_undrained = !signals_drain(SESSION_DRAIN_NS) || !sampler_hook_close(jw_now_ns());
    return session.is_undrained;
}

/* Another copy of the library would take our signals for foreign ones, and we its. */
static bool is_alone(struct jw_error *err)
{
    struct copies copies;

    copies_look(&copies);
    if (!copies.is_active)
        return true;
    jw_error_set(err,
                 "another copy of jaywalk samples this JVM already: %s; stop that one, or use it",
                 copies.path);
    return false;
}

static bool may_begin(JNIEnv *jni, struct jw_error *err)
{
    if (jni == NULL)
        jw_error_set(err, "the JVM takes no further thread");
    else if (is_still_inside())
        jw_error_set(err, "a handler of the last session has not come back yet; try again later");
    else
        return is_alone(err) && hooks_open_vm(jni, err);
    return false;
}

/* The file of a session and of each turn; NULL pattern: it is kept in memory. */
struct recording *session_open_recording(const struct options *options, struct jw_error *err)
{
    const char *pattern = output_pattern(options);
    char path[OPTIONS_PATH_BYTES];

    if (pattern != NULL && !output_path(pattern, session.number, path, sizeof path, err))
        return NULL;

    struct recording *recording =
        output_open(options, pattern == NULL ? NULL : path, session.began_unix_ns, err);
    if (recording == NULL)
        return NULL;
    cost_forget();
    session.number++;
    session.has_file = pattern != NULL;
    memcpy(session.path, pattern == NULL ? "" : path, pattern == NULL ? 1 : strlen(path) + 1);
    return recording;
}

/* From one moment on and before the other, round and round: none, asked for, stopped. */
static uint32_t window_of(const struct options *values)
{
    static const uint32_t state_from[] = {
        [OPTIONS_MOMENT_ASKED] = VM_SAFEPOINT_SYNCHRONIZING,
        [OPTIONS_MOMENT_REACHED] = VM_SAFEPOINT_SYNCHRONIZED,
        [OPTIONS_MOMENT_LEFT] = VM_SAFEPOINT_NONE,
    };
    uint32_t states = 0;

    if (values->window_begin == OPTIONS_MOMENT_NONE)
        return 0;
    for (uint32_t state = state_from[values->window_begin]; state != state_from[values->window_end];
         state = (state + 1) % VM_SAFEPOINT_UNTOLD)
        states |= 1u << state;
    return states;
}

static void set_sampler(const struct options *values, struct generations *generations)
{
    session.sampler = (struct sampler_config){
        .generations = generations,
        .interval_ns = values->interval_ns,
        .wall_interval_ns = values->wall_ns,
        .lock_ns = values->lock_ns,
        .window = window_of(values),
        .filter = values->filter,
        .depth_max = (uint32_t)values->jstackdepth_count,
        .with_native = values->cstack != OPTIONS_CSTACK_NO,
        .with_compiled = (values->features & OPTIONS_FEATURE_COMPTASK) != 0,
        .by_frame_pointer = values->cstack == OPTIONS_CSTACK_FP,
        .by_libunwind = values->cstack == OPTIONS_CSTACK_LIBUNWIND,
        .with_mixed = values->cstack == OPTIONS_CSTACK_VMX ||
                      (values->cstack == OPTIONS_CSTACK_VM &&
                       (values->features & OPTIONS_FEATURE_MIXED) != 0),
        .with_receivers = (values->features & OPTIONS_FEATURE_VTABLE) != 0,
        .with_addresses = (values->features & OPTIONS_FEATURE_PCADDR) != 0,
        .with_carriers = (values->features & OPTIONS_FEATURE_CARRIER) != 0,
    };
    events_fill(values, &session.sampler);
}

/* Rooms and engines for an open recording; the first refusal takes all of it down again, in reverse. */
static bool bring_up(JNIEnv *jni, struct jw_error *err)
{
    struct generations *generations = open_generations(err);

    if (generations == NULL)
        return false;
    locks_let_go(jni); /* where the last stop could not: it saw somebody inside */
    session_want_rows();
    set_sampler(&session.options, generations);
    session.is_sampling = false;
    session.has_failed = false;
    session.rotated_ns = jw_now_ns();
    session.rotations = 0;
    session_set_generations(generations);
    ledger_begin(options_has_cpu(&session.options));
    cost_begin();
    nativecheck_open(&session.options, session.recording);
    session.sampler.late_ns = delays_open(&session.options, session.recording);
    if (begin(jni, err))
        return true;
    if (run_is_given_up())
        return false; /* the stop that did so ends it, as any other */
    if (session.is_sampling)
        session.is_undrained = !sampler_stop(SESSION_DRAIN_NS);
    session.is_sampling = false;
    session_set_generations(NULL);
    return false;
}

/* One that was taken back while it started is on all the same, without engines: the stop that did so ends it,
 * and its file is whole. */
static bool is_taken_back(void)
{
    return run_is_given_up() && run_generations() != NULL;
}

static void warn_of_loop(const struct options *options)
{
    const char *pattern = output_pattern(options);

    if (options->loop != 0 && pattern != NULL && !options_file_is_numbered(pattern))
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "loop: file=%s holds neither %%t nor %%n: each turn replaces the file of the one "
                  "before",
                  pattern);
}

static void set_times(const struct options *options)
{
    const uint64_t now_ns = jw_now_ns();
    const uint64_t wall_ns = jw_wall_ns();

    session.timeout = limits_first(options->timeout, now_ns, wall_ns);
    session.loop = limits_first(options->loop, now_ns, wall_ns);
}

/* `recording` is open, and becomes that of the session; what was kept before goes, unless it is the same. */
bool session_go(JNIEnv *jni, struct recording *recording, struct jw_error *err)
{
    struct recording *kept = session.recording == recording ? NULL : session.recording;

    session.recording = recording;
    const bool is_up = bring_up(jni, err);
    if (!is_up && !is_taken_back())
        return false;
    recording_drop(kept);
    session.is_on = true;
    session.is_unwritten = !session.has_file;
    session_publish_failure("");
    session_publish();
    return is_up;
}

/* Of a session that did not come about: a recording is there already, and made whole; of a graph nothing is. */
void session_abandon(struct recording *recording)
{
    if (recording_format_of(recording) != RECORDING_JFR)
        recording_drop(recording);
    else if (!recording_close(recording, NULL))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s was left as it is", session.path);
}

/* Those of the option, before the recording begins. A name that was given once stays. */
static bool name_attributes(const char *text, struct jw_error *err)
{
    static const char separators[] = ";/";

    for (const char *at = text; *at != '\0';) {
        const size_t length_bytes = strcspn(at, separators);

        if (context_attribute(at, length_bytes, err) < 0)
            return false;
        at += length_bytes;
        if (*at != '\0' && *++at == '\0') {
            jw_error_set(err, "attributes: nothing stands after the last separator; example: "
                              "attributes=tenant;shop");
            return false;
        }
    }
    return true;
}

/* A context that is there already has no service, or another one. */
static void tell_service(const char *name)
{
    struct jw_error why = {0};

    context_process_set_service(name);
    if (!context_process_publish(&why))
        agent_log(OPTIONS_LOGLEVEL_WARN, "service=%s is not told outside: %s", name, why.message);
}

static bool begin_new(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    static struct session before;
    struct recording *kept = session.recording;

    if (!thread_filter_check(options->filter, err) ||
        (options->cstack == OPTIONS_CSTACK_LIBUNWIND && !unwind_live_open(err)))
        return false;
    if (options->loop != 0 && output_pattern(options) == NULL) {
        jw_error_set(err, "loop: each turn needs a file; try file=profile-%%t.jfr");
        return false;
    }
    if (!name_attributes(options->attributes, err) || !events_choose(options, err) ||
        !alloc_choose(options, err) || !locks_choose(options, err) ||
        !delays_choose(options, err) || !methods_choose(options, err) ||
        !exceptions_choose(options, err) || !news_choose(options, err))
        return false;
    if (options->service[0] != '\0')
        tell_service(options->service);
    selfcheck_open_walker(options);
    before = session;
    session.number = 0;
    session.began_unix_ns = 0;
    struct recording *recording = session_open_recording(options, err);
    if (recording == NULL) {
        session = before; /* what is kept can still be written */
        return false;
    }
    session.options = *options;
    session.began_unix_ns = recording_began_unix_ns(recording);
    session.start_ns = jw_now_ns();
    session.samples_before = session_counted();
    set_times(options);
    warn_of_loop(options);
    if (session_go(jni, recording, err))
        return true;
    if (!session.is_on) {
        session.recording = NULL;
        recording_drop(kept);
        session_abandon(recording);
        session.has_ended = false;
    }
    return false;
}

/* What a resume may change of a session that is kept. */
static void tell_unchanged(const struct options *options)
{
    if (options->event != OPTIONS_EVENT_CPU && options->event != session.options.event)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "event=%s is not taken: resume goes on with %s; start begins anew",
                  options_event_text(options), options_event_text(&session.options));
    if (options->file[0] != '\0')
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "file=%s is not taken: resume goes on with what the session has; name it at stop "
                  "or dump",
                  options->file);
}

static bool resume_kept(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    if (!recording_resume(session.recording, err))
        return false;
    tell_unchanged(options);
    session.options.timeout = options->timeout;
    session.options.loop = 0;
    session.samples_before = session_counted() - session.samples;
    session.start_ns += jw_now_ns() - session.stop_ns;
    set_times(&session.options);
    if (session_go(jni, session.recording, err))
        return true;
    if (!session.is_on)
        recording_pause(session.recording);
    return false;
}

/* The first option by which a session counts a part of its samples; NULL: it counts all. */
static const char *part_option(const struct options *options)
{
    return options->from[0] != '\0'              ? "from"
           : options->to[0] != '\0'              ? "to"
           : options->thread_patterns[0] != '\0' ? "thread"
           : options->state != OPTIONS_STATE_ANY ? "state"
                                                 : NULL;
}

/* After a recording, or a graph that came to an end: with its options, into a new file. */
static bool resume_ended(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    if (options->file[0] == '\0') {
        jw_error_set(err,
                     "the last session is complete in %s; name a file for what comes now: "
                     "resume,file=NAME",
                     session.path);
        return false;
    }
    const char *part = part_option(&session.options);
    if (part != NULL && options->output == OPTIONS_OUTPUT_JFR) {
        jw_error_set(err,
                     "%s: the session counted a part of the samples, and a recording has all of "
                     "them; name a graph, or start anew",
                     part);
        return false;
    }
    struct options *again = jw_alloc(sizeof *again);
    if (again == NULL) {
        jw_error_set(err, "no memory for the options of the last session");
        return false;
    }
    *again = session.options;
    memcpy(again->file, options->file, sizeof again->file);
    again->output = options->output;
    again->timeout = options->timeout;
    again->loop = options->loop;
    const bool is_begun = begin_new(jni, again, err);
    jw_free(again);
    return is_begun;
}

bool run_begin(JNIEnv *jni, const struct options *options, bool is_resume, struct jw_error *err)
{
    const bool was_kept = session.recording != NULL;

    run_share_memory(options);
    if (!may_begin(jni, err))
        return false;
    const bool is_started = is_resume && was_kept            ? resume_kept(jni, options, err)
                            : is_resume && session.has_ended ? resume_ended(jni, options, err)
                                                             : begin_new(jni, options, err);
    if (is_started)
        tell_start(is_resume && was_kept);
    session_publish();
    return is_started;
}
