/* The one run of this process: start, the agent's own thread, stop. Control; run_body: dump. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "generation/generation.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "signals/signals.h"
#include "symbols/symbols.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"

#define ROTATE_NS        JW_NS_PER_SECOND /* at the latest; sooner at half full */
#define TURN_NS          (50 * JW_NS_PER_MS)
#define IDLE_TURN_NS     (250 * JW_NS_PER_MS)
#define NAMES_EVERY      5 /* rotations between two looks at the threads' names */
#define STOP_TIMEOUT_NS  (2 * JW_NS_PER_SECOND) /* for all of a stop; exit waits no longer */
#define DRAIN_TIMEOUT_NS (500 * JW_NS_PER_MS)

enum run_state {
    RUN_IDLE,
    RUN_STARTING,
    RUN_RUNNING,
    RUN_STOPPING,
    RUN_FAILED, /* idle, and the agent's thread, which could not start, is still to be joined */
};

static struct {
    pthread_mutex_t lock; /* commands come one at a time */
    /* relaxed: whoever changes it holds the lock, or is the agent's thread and leaves RUN_STARTING; what
     * belongs to a state is passed on by starting and joining that thread. */
    _Atomic uint32_t state;
    struct generations *_Atomic generations;
    struct recording *recording; /* of the starter, then of the agent's thread until it ended */
    struct os_thread thread;
    struct os_wake wake;
    _Atomic uint32_t must_end;
    struct sampler_config sampler;
    pthread_mutex_t engine_lock;  /* around the start of the engines, against a stop */
    _Atomic uint32_t is_given_up; /* relaxed: decides under engine_lock, elsewhere saves work */
    bool is_sampling;             /* under engine_lock */
    bool is_late;                 /* the agent's thread starts the engines */
    uint64_t start_ns;
    uint64_t samples_before;
    bool is_vm_dead;   /* the JVM is ending: nothing starts any more */
    bool is_undrained; /* a handler did not leave in time: no further run until it did */
    bool is_abandoned; /* the agent's thread did not end in time: no further run */
    char path[OPTIONS_PATH_BYTES];
} run = {.lock = PTHREAD_MUTEX_INITIALIZER, .engine_lock = PTHREAD_MUTEX_INITIALIZER};

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

/* One rotation: what was closed is written at once, what is proved empty is cleared. */
static void turn_over(struct generations *generations, struct recording *recording)
{
    struct jw_error err = {0};
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        recording_take(recording, closed);
    (void)generations_retire(generations, take_late, recording);
    (void)generations_empty_dead_cells(generations, is_alive, NULL);
    const uint64_t oldest = oldest_generation(generations);
    ledger_turn(recording, oldest);
    threads_reap(oldest);
    if (!recording_tick(recording, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
}

static void serve_symbols(void)
{
    struct jw_error err = {0};

    vm_stub_settle();
    if (!symbols_serve(&err))
        agent_log(OPTIONS_LOGLEVEL_DEBUG, "%s", err.message);
}

/* The agent's thread is known to the JVM, so that it may ask for modules and thread names; it is a daemon
 * and never keeps the JVM from ending. */
static JNIEnv *attach(void)
{
    static char name[] = "jaywalk";
    JavaVMAttachArgs arguments = {.version = JNI_VERSION_1_6, .name = name};
    JNIEnv *jni = NULL;

    if ((*agent.java_vm)->AttachCurrentThreadAsDaemon(agent.java_vm, (void **)&jni, &arguments) !=
        JNI_OK)
        return NULL;
    return jni;
}

static void publish_generations(struct generations *generations)
{
    /* order RUN_GENERATIONS: releases the opened generations to the hooks. */
    jw_store_release(&run.generations, generations);
}

static bool start_engines(struct jw_error *err)
{
    pthread_mutex_lock(&run.engine_lock);
    if (jw_load_relaxed(&run.is_given_up) != 0)
        jw_error_set(err, "stopped before it began");
    else
        run.is_sampling = sampler_start(&run.sampler, err);
    const bool is_sampling = run.is_sampling;
    pthread_mutex_unlock(&run.engine_lock);
    return is_sampling;
}

/* The part of a start that grows with the application: classes, threads, then the engines. */
static bool begin(JNIEnv *jni, struct jw_error *err)
{
    if (!hooks_catch_up(jni, err))
        return false;
    /* Classes came and went since the last run, and nobody dropped their methods. */
    generations_void_methods(run_generations());
    if (!start_engines(err))
        return false;
    hooks_find_threads(jni);
    return true;
}

static bool change_state(uint32_t from, uint32_t to)
{
    return jw_cas_relaxed(&run.state, &from, to);
}

static void tell_start(void)
{
    agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling started, writing %s", run.path);
}

static void drop_recording(void)
{
    if (run.recording != NULL && !recording_close(run.recording, NULL))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s was left as it is", run.path);
    run.recording = NULL;
    publish_generations(NULL);
}

/* On the agent's thread. False: there is no run, the thread may end. A stop that came in between ends the run
 * as any other. */
static bool begin_late(JNIEnv *jni)
{
    struct jw_error err = {0};
    bool is_on = true;

    answer_adopt();
    if (jni == NULL)
        jw_error_set(&err, "the JVM takes no further thread");
    if (jni != NULL && begin(jni, &err)) {
        (void)change_state(RUN_STARTING, RUN_RUNNING);
        tell_start();
        answer_end(0);
        return true;
    }
    agent_log(OPTIONS_LOGLEVEL_ERROR, "profiling was not started: %s", err.message);
    if (change_state(RUN_STARTING, RUN_STOPPING)) {
        drop_recording();
        jw_store_relaxed(&run.state, RUN_FAILED);
        is_on = false;
    }
    answer_end(200);
    return is_on;
}

static void work(JNIEnv *jni)
{
    struct generations *generations = run_generations();
    struct recording *recording = run.recording;
    uint64_t rotated_ns = jw_now_ns();
    uint64_t seen_signals = 0;
    uint32_t rotations = 0;

    /* order RUN_END: acquires the decision of run_stop, made after the engines were drained. */
    while (jw_load_acquire(&run.must_end) == 0) {
        const uint64_t now_ns = jw_now_ns();
        const uint64_t signals = jw_counter(JW_COUNT_SIGNALS);

        sampler_scan();
        serve_symbols();
        if (now_ns - rotated_ns >= ROTATE_NS || generations_is_half_full(generations)) {
            if (jni != NULL && rotations++ % NAMES_EVERY == 0)
                hooks_refresh_thread_names(jni);
            turn_over(generations, recording);
            rotated_ns = now_ns;
        }
        (void)os_wake_wait(&run.wake, now_ns + (signals == seen_signals ? IDLE_TURN_NS : TURN_NS));
        seen_signals = signals;
    }
    if (jni != NULL)
        hooks_refresh_thread_names(jni);
    serve_symbols();
    /* Twice: the second takes what came into the generation that the first one opened. */
    turn_over(generations, recording);
    turn_over(generations, recording);
}

static void run_body(void *argument)
{
    JNIEnv *jni = attach();

    (void)argument;
    sources_set_jni(jni);
    if (!run.is_late || begin_late(jni))
        work(jni);
    sources_set_jni(NULL);
    if (jni != NULL)
        (*agent.java_vm)->DetachCurrentThread(agent.java_vm);
}

/* Opened by the first run and kept: a hook may hold the pointer beyond the end of a run. */
static struct generations *open_generations(const struct options *options, struct jw_error *err)
{
    static struct generations *kept;
    static uint64_t kept_bytes;

    if (kept != NULL) {
        if (kept_bytes != options->memlimit_bytes)
            agent_log(OPTIONS_LOGLEVEL_WARN, "memlimit stays at %llu bytes, as in the first run",
                      (unsigned long long)kept_bytes);
        return kept;
    }
    const struct generations_config memory = {.memory_bytes = (size_t)options->memlimit_bytes};
    kept = generations_open(&memory, err);
    kept_bytes = options->memlimit_bytes;
    return kept;
}

/* Everything up in layer order; the first refusal takes all of it down again, in reverse. */
static bool bring_up(JNIEnv *jni, const struct options_result *options, struct jw_error *err)
{
    const struct options *values = &options->values;

    run.recording = NULL;
    if (!output_path(values, run.path, sizeof run.path, err) || !hooks_open_vm(err))
        return false;
    walk_open(true);

    struct generations *generations = open_generations(values, err);
    if (generations == NULL)
        return false;
    run.recording = output_open(options, run.path, err);
    if (run.recording == NULL)
        goto fail;
    symbols_want(SYMBOLS_WANT_LIBRARIES | SYMBOLS_WANT_ROWS);
    run.sampler = (struct sampler_config){
        .generations = generations,
        .interval_ns = values->interval_ns,
        .depth_max = (uint32_t)values->jstackdepth_count,
        .is_itimer = values->event == OPTIONS_EVENT_ITIMER,
        .with_native = values->cstack != OPTIONS_CSTACK_NO,
    };
    run.is_late = jni == NULL;
    run.is_sampling = false;
    jw_store_relaxed(&run.is_given_up, 0);
    jw_store_relaxed(&run.must_end, 0);
    os_wake_init(&run.wake);
    publish_generations(generations);
    ledger_begin();
    if (!run.is_late && !begin(jni, err))
        goto fail;
    answer_park();
    if (os_thread_start(&run.thread, "jaywalk", run_body, NULL, err))
        return true;
    answer_adopt();
    if (run.is_sampling)
        run.is_undrained = !sampler_stop(DRAIN_TIMEOUT_NS);

fail:
    drop_recording();
    return false;
}

/* A thread that could not start has ended, or is about to. */
static void join_failed(void)
{
    if (jw_load_relaxed(&run.state) != RUN_FAILED)
        return;
    if (!os_thread_join(&run.thread, jw_now_ns() + STOP_TIMEOUT_NS)) {
        os_thread_detach(&run.thread);
        run.is_abandoned = true;
    }
    jw_store_relaxed(&run.state, RUN_IDLE);
}

/* A handler that did not leave when the last run stopped: it may have since. */
static bool is_still_inside(void)
{
    if (run.is_undrained)
        run.is_undrained = !signals_drain(DRAIN_TIMEOUT_NS);
    return run.is_undrained;
}

bool run_start(JNIEnv *jni, const struct options_result *options, struct jw_error *err)
{
    bool is_started = false;

    pthread_mutex_lock(&run.lock);
    join_failed();
    if (jw_load_relaxed(&run.state) != RUN_IDLE) {
        jw_error_set(err, "Profiler already started; stop it first");
    } else if (run.is_vm_dead) {
        jw_error_set(err, "the JVM is ending");
    } else if (run.is_abandoned) {
        jw_error_set(err, "the last run never ended its recording; a new run needs a new JVM");
    } else if (is_still_inside()) {
        jw_error_set(err, "a handler of the last run has not come back yet; try again later");
    } else {
        jw_store_relaxed(&run.state, RUN_STARTING);
        run.start_ns = jw_now_ns();
        run.samples_before = jw_counter(JW_COUNT_SAMPLES);
        is_started = bring_up(jni, options, err);
        if (!is_started)
            jw_store_relaxed(&run.state, RUN_IDLE);
        else if (jni != NULL)
            jw_store_relaxed(&run.state, RUN_RUNNING);
    }
    pthread_mutex_unlock(&run.lock);
    if (is_started && jni != NULL)
        tell_start();
    return is_started;
}

static void note_undrained(void)
{
    struct generations_stats stats;

    run.is_undrained = true;
    generations_stats(run_generations(), &stats);
    jw_count_add(JW_COUNT_LATE, stats.cells_taken);
}

/* Engines, what is under way, the agent's thread, the last chunk. */
static bool take_down(struct jw_error *err)
{
    const uint64_t deadline_ns = jw_now_ns() + STOP_TIMEOUT_NS;

    pthread_mutex_lock(&run.engine_lock);
    jw_store_relaxed(&run.is_given_up, 1);
    const bool was_sampling = run.is_sampling;
    pthread_mutex_unlock(&run.engine_lock);
    if (was_sampling && !sampler_stop(DRAIN_TIMEOUT_NS))
        note_undrained();
    /* order RUN_END: releases the end of the engines to the agent's thread. */
    jw_store_release(&run.must_end, 1);
    os_wake_post(&run.wake);
    if (!os_thread_join(&run.thread, deadline_ns)) {
        os_thread_detach(&run.thread);
        run.is_abandoned = true;
        jw_error_set(err,
                     "the recording could not be ended in time; %s holds what was written until "
                     "the last second",
                     run.path);
        return false;
    }
    const bool is_written = recording_close(run.recording, err);
    run.recording = NULL;
    publish_generations(NULL);
    return is_written;
}

/* The lock is held. False: there is no run, or its start is failing at this moment. */
static bool claim_stop(void)
{
    return change_state(RUN_RUNNING, RUN_STOPPING) || change_state(RUN_STARTING, RUN_STOPPING) ||
           change_state(RUN_RUNNING, RUN_STOPPING); /* it was starting between the two */
}

static void tell_ledger(void)
{
    char text[320];

    if (ledger_tell(text, sizeof text))
        agent_log(OPTIONS_LOGLEVEL_INFO, "%s", text);
}

/* The lock is held, and the stop is claimed. */
static bool stop(struct jw_error *err)
{
    const bool is_good = take_down(err);
    jw_store_relaxed(&run.state, RUN_IDLE);
    if (is_good)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling stopped after %llu seconds: %llu samples in %s",
                  (unsigned long long)((jw_now_ns() - run.start_ns) / JW_NS_PER_SECOND),
                  (unsigned long long)(jw_counter(JW_COUNT_SAMPLES) - run.samples_before),
                  run.path);
    if (is_good)
        tell_ledger();
    agent_log(OPTIONS_LOGLEVEL_DEBUG,
              "handler time: median %llu ns, 90 %% below %llu ns, 99 %% below %llu ns",
              (unsigned long long)sampler_cost_ns(50), (unsigned long long)sampler_cost_ns(90),
              (unsigned long long)sampler_cost_ns(99));
    return is_good;
}

bool run_stop(struct jw_error *err)
{
    bool is_good = false;

    pthread_mutex_lock(&run.lock);
    if (claim_stop())
        is_good = stop(err);
    else
        jw_error_set(err, "Profiler is not active");
    pthread_mutex_unlock(&run.lock);
    return is_good;
}

/* A start or stop that is under way comes to its end first, so that its recording does; exit waits no
 * longer for it than for a stop of its own. */
static bool lock_before_exit(void)
{
    const uint64_t deadline_ns = jw_wall_ns() + STOP_TIMEOUT_NS;
    const struct timespec deadline = {
        .tv_sec = (time_t)(deadline_ns / JW_NS_PER_SECOND),
        .tv_nsec = (long)(deadline_ns % JW_NS_PER_SECOND),
    };

    return pthread_mutex_timedlock(&run.lock, &deadline) == 0;
}

void run_vm_death(void)
{
    struct jw_error err = {0};

    if (!lock_before_exit()) {
        agent_log(
            OPTIONS_LOGLEVEL_ERROR,
            "a start or stop did not end before the JVM; %s holds what was written until then",
            run.path);
        return;
    }
    run.is_vm_dead = true;
    if (claim_stop() && !stop(&err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
    pthread_mutex_unlock(&run.lock);
}

bool run_is_given_up(void)
{
    return jw_load_relaxed(&run.is_given_up) != 0;
}

void run_tell_status(void)
{
    const uint32_t state = jw_load_relaxed(&run.state);

    if (state != RUN_RUNNING && state != RUN_STARTING) {
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiler is not active");
        return;
    }
    agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling is running for %llu seconds",
              (unsigned long long)((jw_now_ns() - run.start_ns) / JW_NS_PER_SECOND));
    agent_log(OPTIONS_LOGLEVEL_INFO, "%llu samples in %s%s",
              (unsigned long long)(jw_counter(JW_COUNT_SAMPLES) - run.samples_before), run.path,
              state == RUN_STARTING ? "; it is still starting" : "");
    tell_ledger();
}
