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
#include "symbols/symbols.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"

#define ROTATE_NS        JW_NS_PER_SECOND /* at the latest; sooner at half full */
#define TURN_NS          (50 * JW_NS_PER_MS)
#define IDLE_TURN_NS     (250 * JW_NS_PER_MS)
#define NAMES_EVERY      5 /* rotations between two looks at the threads' names */
#define STOP_TIMEOUT_NS  (2 * JW_NS_PER_SECOND) /* for all of a stop; exit waits no longer */
#define DRAIN_TIMEOUT_NS (500 * JW_NS_PER_MS)

enum run_state { RUN_IDLE, RUN_STARTING, RUN_RUNNING, RUN_STOPPING };

static struct {
    pthread_mutex_t lock;   /* commands come one at a time */
    _Atomic uint32_t state; /* relaxed: written under the lock, read for status */
    struct generations *_Atomic generations;
    struct recording *recording; /* of the starter, then of the agent's thread until it ended */
    struct os_thread thread;
    struct os_wake wake;
    _Atomic uint32_t must_end;
    uint64_t start_ns;
    uint64_t samples_before;
    bool is_vm_dead;  /* the JVM is ending: nothing starts any more */
    bool is_poisoned; /* a handler did not leave in time: its memory stays, no further run */
    char path[OPTIONS_PATH_BYTES];
} run = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
    threads_reap(oldest_generation(generations));
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

static void run_body(void *argument)
{
    struct generations *generations = run_generations();
    struct recording *recording = run.recording;
    JNIEnv *jni = attach();
    uint64_t rotated_ns = jw_now_ns();
    uint64_t seen_signals = 0;
    uint32_t rotations = 0;

    (void)argument;
    sources_set_jni(jni);
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
    sources_set_jni(NULL);
    if (jni != NULL)
        (*agent.java_vm)->DetachCurrentThread(agent.java_vm);
}

static bool choose_path(const struct options *options, struct jw_error *err)
{
    const char *pattern = options->file[0] != '\0' ? options->file : "jaywalk-%p.jfr";

    return options_file_name(pattern, getpid(), jw_wall_ns(), run.path, sizeof run.path, err);
}

static enum recording_format format_of(uint64_t output)
{
    switch ((enum options_output)output) {
    case OPTIONS_OUTPUT_FLAMEGRAPH:
        return RECORDING_HTML;
    case OPTIONS_OUTPUT_COLLAPSED:
        return RECORDING_COLLAPSED;
    case OPTIONS_OUTPUT_TEXT:
        return RECORDING_TEXT;
    case OPTIONS_OUTPUT_NONE:
    case OPTIONS_OUTPUT_JFR:
    case OPTIONS_OUTPUT_LIMIT:
        return RECORDING_JFR;
    }
    return RECORDING_JFR;
}

static struct recording *open_recording(const struct options_result *options, struct jw_error *err)
{
    const struct options *values = &options->values;
    char period[32], interval[32], depth[16], off[160];
    struct recording_setting settings[] = {
        {"jdk.ExecutionSample", "enabled", "true"},
        {"jdk.ExecutionSample", "period", period},
        {"jdk.NativeMethodSample", "enabled", "true"},
        {"jdk.NativeMethodSample", "period", period},
        {NULL, "event", options_event_name(values->event)},
        {NULL, "interval", interval},
        {NULL, "jstackdepth", depth},
        {NULL, "walker", walk_is_off(off, sizeof off) ? off : "agct"},
    };

    snprintf(interval, sizeof interval, "%llu", (unsigned long long)values->interval_ns);
    /* Viewers read a number and a unit; those that know milliseconds only get them where they can. */
    if (values->interval_ns % JW_NS_PER_MS == 0)
        snprintf(period, sizeof period, "%llu ms",
                 (unsigned long long)(values->interval_ns / JW_NS_PER_MS));
    else
        snprintf(period, sizeof period, "%llu us",
                 (unsigned long long)(values->interval_ns / 1000));
    snprintf(depth, sizeof depth, "%llu", (unsigned long long)values->jstackdepth_count);

    struct recording_config config = {
        .path = run.path,
        .format = format_of(values->output),
        .chunk_bytes = values->chunksize_bytes,
        .chunk_ns = values->chunktime_ns,
        .title = values->title[0] == '\0' ? NULL : values->title,
        .settings = settings,
        .setting_count = JW_COUNT_OF(settings),
        .unsigned5_bias = vm_unsigned5_bias(),
        .tree = {.split_threads = values->is_by_thread},
        .look = {.min_width_ppm = (uint32_t)values->minwidth_ppm,
                 .method_count = (uint32_t)values->flat_count,
                 .stack_count = (uint32_t)values->traces_count},
    };
    sources_jvm(&config.jvm);
    sources_fill(&config.sources);
    return recording_open(&config, err);
}

static void publish_generations(struct generations *generations)
{
    /* order RUN_GENERATIONS: releases the opened generations to the hooks. */
    jw_store_release(&run.generations, generations);
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
    struct generations *generations = NULL;

    run.recording = NULL;
    if (!choose_path(values, err) || !hooks_catch_up(jni, err))
        return false;
    walk_open(true);
    generations = open_generations(values, err);
    if (generations == NULL)
        return false;
    run.recording = open_recording(options, err);
    if (run.recording == NULL)
        goto fail;
    symbols_want(SYMBOLS_WANT_LIBRARIES | SYMBOLS_WANT_ROWS);

    const struct sampler_config sampler_config = {
        .generations = generations,
        .interval_ns = values->interval_ns,
        .depth_max = (uint32_t)values->jstackdepth_count,
        .is_itimer = values->event == OPTIONS_EVENT_ITIMER,
        .with_native = values->cstack != OPTIONS_CSTACK_NO,
    };
    publish_generations(generations);
    /* Classes came and went since the last run, and nobody dropped their methods. */
    generations_void_methods(generations);
    if (!sampler_start(&sampler_config, err))
        goto fail;
    hooks_find_threads(jni);
    jw_store_relaxed(&run.must_end, 0);
    os_wake_init(&run.wake);
    if (os_thread_start(&run.thread, "jaywalk", run_body, NULL, err))
        return true;
    run.is_poisoned = !sampler_stop(DRAIN_TIMEOUT_NS);

fail:
    if (run.recording != NULL && !recording_close(run.recording, NULL))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s was left as it is", run.path);
    run.recording = NULL;
    publish_generations(NULL);
    return false;
}

bool run_start(JNIEnv *jni, const struct options_result *options, struct jw_error *err)
{
    bool is_started = false;

    pthread_mutex_lock(&run.lock);
    if (jw_load_relaxed(&run.state) != RUN_IDLE) {
        jw_error_set(err, "Profiler already started; stop it first");
    } else if (run.is_vm_dead) {
        jw_error_set(err, "the JVM is ending");
    } else if (run.is_poisoned) {
        jw_error_set(err, "a handler of the last run has not come back; a new run needs a new JVM");
    } else {
        jw_store_relaxed(&run.state, RUN_STARTING);
        run.start_ns = jw_now_ns();
        run.samples_before = jw_counter(JW_COUNT_SAMPLES);
        is_started = bring_up(jni, options, err);
        jw_store_relaxed(&run.state, is_started ? RUN_RUNNING : RUN_IDLE);
    }
    pthread_mutex_unlock(&run.lock);
    if (is_started)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling started, writing %s", run.path);
    return is_started;
}

/* Engines, what is under way, the agent's thread, the last chunk. */
static bool take_down(struct jw_error *err)
{
    const uint64_t deadline_ns = jw_now_ns() + STOP_TIMEOUT_NS;

    if (!sampler_stop(DRAIN_TIMEOUT_NS))
        run.is_poisoned = true;
    /* order RUN_END: releases the end of the engines to the agent's thread. */
    jw_store_release(&run.must_end, 1);
    os_wake_post(&run.wake);
    if (!os_thread_join(&run.thread, deadline_ns)) {
        os_thread_detach(&run.thread);
        run.is_poisoned = true;
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

/* The lock is held, and the run is on. */
static bool stop(struct jw_error *err)
{
    jw_store_relaxed(&run.state, RUN_STOPPING);
    const bool is_good = take_down(err);
    jw_store_relaxed(&run.state, RUN_IDLE);
    if (is_good)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling stopped after %llu seconds: %llu samples in %s",
                  (unsigned long long)((jw_now_ns() - run.start_ns) / JW_NS_PER_SECOND),
                  (unsigned long long)(jw_counter(JW_COUNT_SAMPLES) - run.samples_before),
                  run.path);
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
    if (jw_load_relaxed(&run.state) == RUN_RUNNING)
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
    if (jw_load_relaxed(&run.state) == RUN_RUNNING && !stop(&err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
    pthread_mutex_unlock(&run.lock);
}

void run_status(char *text, size_t room_bytes)
{
    if (jw_load_relaxed(&run.state) == RUN_RUNNING)
        snprintf(text, room_bytes, "Profiling is running for %llu seconds, %llu samples",
                 (unsigned long long)((jw_now_ns() - run.start_ns) / JW_NS_PER_SECOND),
                 (unsigned long long)(jw_counter(JW_COUNT_SAMPLES) - run.samples_before));
    else
        snprintf(text, room_bytes, "Profiler is not active");
}
