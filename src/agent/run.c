/* The session of this process: a turn of work, and down; the agent's thread, unless a function says otherwise. */
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/agree.h"
#include "agent/alloc.h"
#include "agent/away.h"
#include "agent/census.h"
#include "agent/classes.h"
#include "agent/deadlocks.h"
#include "agent/delays.h"
#include "agent/exceptions.h"
#include "agent/instances.h"
#include "agent/io.h"
#include "agent/live.h"
#include "agent/locks.h"
#include "agent/methods.h"
#include "agent/nativecheck.h"
#include "agent/news.h"
#include "agent/owners.h"
#include "agent/parks.h"
#include "agent/queues.h"
#include "agent/routes.h"
#include "agent/session_internal.h"
#include "agent/told.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "generation/generation.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "sampler/sampler_locks.h"
#include "signals/signals.h"
#include "symbols/symbols.h"
#include "vm/vm.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"

#define ROTATE_NS    JW_NS_PER_SECOND /* at the latest; sooner at half full */
#define EARLY_NS     (100 * JW_NS_PER_MS)
#define OPENINGS     8 /* more than there are generations at a time */
#define TURN_NS      (50 * JW_NS_PER_MS)
#define SOON_TURN_NS (20 * JW_NS_PER_MS) /* while virtual threads are waited for */
#define IDLE_TURN_NS (250 * JW_NS_PER_MS)
#define NAMES_EVERY  5 /* rotations between two looks at the threads' names */

struct session session;

/* What other threads touch. */
static struct {
    struct generations *_Atomic generations;
    struct os_wake wake;
    _Atomic uint32_t
        is_given_up; /* relaxed: saves work, and decides nothing that a stop cannot undo */
    _Atomic uint32_t is_drawing; /* relaxed: how long exit waits */
    _Atomic uint32_t is_turning; /* relaxed: what status says */
} run;

struct generations *run_generations(void)
{
    /* order RUN_GENERATIONS: acquires the opened generations. */
    return jw_load_acquire(&run.generations);
}

static bool take_late(struct generation *generation, void *argument)
{
    recording_take(argument, generation);
    return true;
}

static bool is_alive(uint32_t tid, void *argument)
{
    (void)argument;
    return os_task_is_alive((int)tid);
}

/* Oldest generation that is not cleared: whoever ended before it can no longer be named. */
static uint64_t oldest_generation(struct generations *generations)
{
    uint64_t oldest = UINT64_MAX;

    for (int buffer = 0; buffer < EPOCH_BUFFERS; buffer++) {
        enum epoch_state state;
        const struct generation *generation = generations_at(generations, buffer, &state);

        if (state != EPOCH_FREE && generation->number < oldest)
            oldest = generation->number;
    }
    return oldest;
}

/*
 * Native code is named when its generation is taken. Libraries that went since the oldest generation was opened are kept for that:
 * the looks at the maps that generations were opened at, by their number.
 */
static uint64_t look_at_opening[OPENINGS], opened[OPENINGS];

static void note_opening(uint64_t number, uint64_t look_number)
{
    opened[number % OPENINGS] = number;
    look_at_opening[number % OPENINGS] = look_number;
}

static void forget_libraries(uint64_t oldest)
{
    if (opened[oldest % OPENINGS] == oldest)
        symbols_forget_before(look_at_opening[oldest % OPENINGS]);
}

/* No sample of it comes any more: its generation was cleared. */
static bool is_done(void *oldest, uint32_t index, uint32_t serial)
{
    static struct thread_info info;

    return !thread_info(index, &info) || (uint32_t)info.serial != serial ||
           thread_is_done(index, *(const uint64_t *)oldest);
}

static void outlive(uint32_t thread, uint32_t serial, void *generation)
{
    thread_outlive(thread, serial, *(const uint64_t *)generation);
}

/* Owners of what is waited for are told when the wait is over, by a record of this generation, or of the next one. */
static void keep_owners(const struct generations *generations, const struct recording *recording)
{
    uint64_t next = generations_number(generations) + 1;
    const uint64_t since_ns = sampler_lock_outlive(next);

    if (since_ns != UINT64_MAX)
        recording_lock_owners(recording, since_ns, outlive, &next);
}

/* One rotation: what was closed is written at once, what is proved empty is cleared. */
static void turn_over(struct generations *generations, struct recording *recording)
{
    const uint64_t begin_ns = jw_now_ns();
    struct jw_error err = {0};
    /* In this order: recording_cut. */
    const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);
    const struct recording_cut before = {signals, signals_inside()};
    const uint64_t look_number = symbols_look_number();
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL) {
        note_opening(generations_number(generations), look_number);
        if (!symbols_settle(&err))
            agent_log(OPTIONS_LOGLEVEL_DEBUG, "%s", err.message);
        recording_cut(recording, closed, &before);
        generations_take_late_before(generations, closed, take_late, recording);
        recording_take(recording, closed);
    }
    (void)generations_retire(generations, take_late, recording);
    (void)generations_empty_dead_cells(generations, is_alive, NULL);
    uint64_t oldest = oldest_generation(generations);
    forget_libraries(oldest);
    ledger_turn(recording, oldest);
    facts_turn(recording);
    loads_turn(recording, false);
    keep_owners(generations, recording);
    recording_give_up(recording, is_done, &oldest);
    threads_reap(oldest);
    cost_turn(recording);
    if (!recording_tick(recording, &err)) {
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
        session.has_failed = true;
        session_publish_failure(err.message);
    }
    cost_rotated(begin_ns);
}

/*
 * Compiled code calls functions of libjvm, libc and the kernel's own library (of clocks) as leaves, and its frames are
 * found only through theirs: until their rows are there, such walks fail. They cost some 10 ms of CPU time.
 */
static void want_rows(void)
{
    const uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    uintptr_t jvm_begin, jvm_end;

    /* Else the maps could not be read: the next turn tries. */
    session.has_rows = symbols_want_rows((uintptr_t)getpid);
    if (vm_text_range(&jvm_begin, &jvm_end))
        (void)symbols_want_rows(jvm_begin);
    if (vdso != 0)
        (void)symbols_want_rows(vdso);
    /* Our own, in which threads begin: a sample there would be the first to want them, and its stack end there. */
    (void)symbols_want_rows((uintptr_t)want_rows);
}

void session_serve_symbols(void)
{
    struct jw_error err = {0};

    vm_stub_settle();
    bool is_done = symbols_serve(&err);
    if (!session.has_rows) {
        want_rows(); /* of libraries that are known since the line before */
        is_done = symbols_serve(&err) && is_done;
    }
    if (!is_done)
        agent_log(OPTIONS_LOGLEVEL_DEBUG, "%s", err.message);
}

void session_want_rows(void)
{
    symbols_want(SYMBOLS_WANT_LIBRARIES | SYMBOLS_WANT_ROWS);
    session.has_rows = false;
}

void session_set_generations(struct generations *generations)
{
    /* order RUN_GENERATIONS: releases the opened generations to the hooks. */
    jw_store_release(&run.generations, generations);
}

void run_rest(uint64_t most_ns)
{
    (void)os_wake_wait(&run.wake, jw_now_ns() + most_ns);
}

void run_wake(void)
{
    os_wake_post(&run.wake);
}

void run_give_up(bool is_given_up)
{
    jw_store_relaxed(&run.is_given_up, is_given_up);
}

bool run_is_given_up(void)
{
    return jw_load_relaxed(&run.is_given_up) != 0;
}

bool run_is_turning(void)
{
    return jw_load_relaxed(&run.is_turning) != 0;
}

bool run_is_drawing(void)
{
    return jw_load_relaxed(&run.is_drawing) != 0;
}

enum states_state run_settled(void)
{
    return session.is_on               ? STATES_RUNNING
           : session.recording != NULL ? STATES_KEPT
           : session.has_ended         ? STATES_ENDED
                                       : STATES_IDLE;
}

/* ---- a turn of work ---- */

enum states_command run_work(JNIEnv *jni)
{
    const uint64_t now_ns = jw_now_ns();
    const uint64_t wall_ns = jw_wall_ns();
    const uint64_t told = jw_counter(JW_COUNT_SIGNALS) + jw_counter(JW_COUNT_HOOK_CALLS);

    sampler_scan();
    session_serve_symbols();
    breaker_turn(jni, session.recording);
    agree_turn(session.recording);
    nativecheck_turn(session.recording);
    live_turn(jni);
    delays_turn(session.recording);
    owners_turn(jni); /* before those who follow owners */
    deadlocks_turn(jni);
    away_turn(jni, session.recording);
    census_turn(jni);
    methods_turn(jni, session.recording);
    news_turn(jni, session.recording);
    exceptions_turn(jni, session.recording);
    if (session.options.overhead_ppm != 0)
        cost_look(session.recording);
    /* What follows a change of the libraries is in a generation of its own, in which each pc has one meaning. */
    const bool is_early = now_ns - session.rotated_ns >= EARLY_NS && symbols_take_news();
    if (is_early || now_ns - session.rotated_ns >= ROTATE_NS ||
        generations_is_half_full(run_generations())) {
        told_count_dropped(jni);
        if (jni != NULL && session.rotations++ % NAMES_EVERY == 0)
            hooks_refresh_thread_names(jni);
        turn_over(run_generations(), session.recording);
        session.rotated_ns = now_ns;
        session_publish();
    }
    if (session.has_failed || limits_is_over(&session.timeout, now_ns, wall_ns))
        return STATES_STOP;
    if (limits_is_over(&session.loop, now_ns, wall_ns))
        return STATES_TURN;
    (void)os_wake_wait(&run.wake, now_ns + (away_is_soon()              ? SOON_TURN_NS
                                            : told == session.seen_told ? IDLE_TURN_NS
                                                                        : TURN_NS));
    session.seen_told = told;
    return STATES_COMMAND_LIMIT;
}

/* All that was sampled until now goes into the recording. Twice: the second takes what came into the generation
 * that the first one opened. */
static void take_all(JNIEnv *jni)
{
    if (jni != NULL)
        hooks_refresh_thread_names(jni);
    session_serve_symbols();
    loads_turn(session.recording, true);
    turn_over(run_generations(), session.recording);
    turn_over(run_generations(), session.recording);
    session.rotated_ns = jw_now_ns();
}

/* ---- down ---- */

static void note_undrained(void)
{
    struct generations_stats stats;

    session.is_undrained = true;
    generations_stats(run_generations(), &stats);
    jw_count_add(JW_COUNT_LATE, stats.cells_taken);
}

/* Engines, and what is under way. `is_turn`: for a moment. */
static void take_down(JNIEnv *jni, bool is_turn)
{
    if (is_turn) {
        methods_cut(jni, session.recording);
        news_cut(jni, session.recording);
    } else {
        methods_end(jni, session.recording);
    }
    if (!is_turn) {
        if (session.recording != NULL)
            recording_tasks_over(session.recording, jw_now_ns());
        queues_end(jni);
        io_end(jni);
        classes_end();
        exceptions_end(jni, session.recording);
        news_end(jni, session.recording);
    }
    alloc_end();
    locks_end(jni);
    owners_end(jni);
    away_end(jni);
    live_end();
    if (session.is_sampling && !sampler_stop(SESSION_DRAIN_NS))
        note_undrained();
    else
        locks_let_go(jni);
    session.is_sampling = false;
    if (!is_turn) {
        parks_end(jni);
        instances_end(jni != NULL);
        routes_end(jni);
    }
    nativecheck_close(session.recording);
    live_look(jni);
    census_look(jni);
    told_count_dropped(jni);
    take_all(jni);
    deadlocks_end();
    session_set_generations(NULL);
}

uint64_t session_counted(void)
{
    /* Before those that they are among, each of which was counted earlier. */
    const uint64_t told = jw_counter(JW_COUNT_TASK_RECORDS);

    return jw_counter(JW_COUNT_SAMPLES) + jw_counter(JW_COUNT_HOOK_SAMPLES) - told;
}

uint64_t session_since(uint64_t before)
{
    const uint64_t now = session_counted();

    return now > before ? now - before : 0;
}

uint64_t session_samples(void)
{
    return session.is_on ? session_since(session.samples_before) : session.samples;
}

/* The end of the recording; the samples of a graph stay. */
static bool end_recording(struct jw_error *err)
{
    if (recording_format_of(session.recording) != RECORDING_JFR && !session.has_failed) {
        const bool is_good = !session.has_file || write_own(err);

        recording_pause(session.recording);
        return is_good;
    }
    struct jw_error why = {0};
    const bool is_good = recording_close(session.recording, &why);
    session.recording = NULL;
    session.has_ended = true;
    if (!is_good)
        jw_error_set(err, "%s%s", session.has_failed ? "the session has ended: " : "", why.message);
    return is_good;
}

static void tell_stop(void)
{
    const unsigned long long seconds = (session.stop_ns - session.start_ns) / JW_NS_PER_SECOND;
    const unsigned long long samples = session.samples;

    if (session.has_file)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling stopped after %llu seconds: %llu samples in %s",
                  seconds, samples, session.path);
    else
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "Profiling stopped after %llu seconds: %llu samples kept in memory", seconds,
                  samples);
    tell_ledger();
    queues_tell();
    cost_tell();
}

/* From here on exit waits longer: of a graph that the start named nothing is on disk before it is drawn. */
static void note_drawing(void)
{
    jw_store_relaxed(&run.is_drawing,
                     session.has_file && recording_format_of(session.recording) != RECORDING_JFR);
}

bool run_stop(JNIEnv *jni, const struct options *asked, struct jw_error *err)
{
    struct jw_error why = {0};

    note_drawing();
    take_down(jni, false);
    census_end(jni);
    session.samples = session_samples();
    session.stop_ns = jw_now_ns();
    if (recording_format_of(session.recording) != RECORDING_JFR)
        recording_settle(session.recording);
    /* A recording that goes is copied before it is closed. */
    const bool is_copied = asked == NULL || write_asked(asked, true, &why);
    const bool is_written = end_recording(err);
    live_close(jni);
    symbols_forget_before(UINT64_MAX);
    symbols_forget_names(); /* an idle agent keeps no file open */
    jw_store_relaxed(&run.is_drawing, 0);
    session.is_on = false;
    session_publish();
    if (is_written && (asked == NULL || !asked->is_quiet))
        tell_stop();
    if (!is_copied)
        jw_error_set(err, "%s", why.message);
    return is_written && is_copied;
}

void run_end(JNIEnv *jni)
{
    methods_leave(jni, session.recording);
    routes_leave();
    queues_leave();
    io_leave();
    exceptions_leave(jni, session.recording);
    news_leave(jni, session.recording);
    census_jvm_ends();
    told_count_dropped(jni);
    recording_shutdown(session.recording, "The JVM ended");
}

bool run_dump(JNIEnv *jni, const struct options *asked, struct jw_error *err)
{
    if (session.recording == NULL) {
        jw_error_set(
            err,
            "the last session is complete in %s; 'jaywalk convert %s OUT.html' makes a graph "
            "of it",
            session.path, session.path);
        return false;
    }
    note_drawing();
    if (session.is_on) {
        live_look(jni);
        census_look(jni);
        methods_look(jni, session.recording);
        news_look(jni, session.recording);
        take_all(jni);
    }
    const bool is_good = write_asked(asked, false, err);
    jw_store_relaxed(&run.is_drawing, 0);
    session_publish();
    return is_good;
}

/* Of a session that ends between two files: what stayed in classes for the next one. */
static void leave_classes(JNIEnv *jni)
{
    methods_end(jni, NULL);
    parks_end(jni);
    routes_end(jni);
    queues_end(jni);
    io_end(jni);
    classes_end();
    exceptions_end(jni, NULL);
    news_end(jni, NULL);
    census_end(jni);
}

/* The file is ended and the next one begun, with the same engines at rest in between: so each sample is in one
 * of the two, and the counters of each add up. */
static bool turn(JNIEnv *jni, struct jw_error *err)
{
    const struct limits_deadline last = session.loop;
    struct jw_error why = {0};

    note_drawing();
    take_down(jni, true);
    session.samples = session_samples();
    session.stop_ns = jw_now_ns();
    session.is_on = false;
    if (!recording_close(session.recording, &why))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", why.message);
    else
        tell_stop();
    live_close(jni);
    jw_store_relaxed(&run.is_drawing, 0);
    session.recording = NULL;
    session.has_ended = true;
    session.recording = session_open_recording(&session.options, err);
    if (session.recording == NULL) {
        session_publish_failure(err->message);
        leave_classes(jni);
        return false;
    }
    session.start_ns = jw_now_ns();
    session.samples_before = session_counted();
    session.loop = limits_next(session.options.loop, &last, jw_now_ns(), jw_wall_ns());
    run_give_up(false);
    if (session_go(jni, session.recording, err))
        return true;
    session_publish_failure(err->message);
    leave_classes(jni);
    session_abandon(session.recording);
    session.recording = NULL;
    return false;
}

bool run_turn(JNIEnv *jni, struct jw_error *err)
{
    jw_store_relaxed(&run.is_turning, 1);
    const bool goes_on = turn(jni, err);
    jw_store_relaxed(&run.is_turning, 0);
    return goes_on;
}
