/* What a run writes, and where; control. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/agree.h"
#include "agent/alloc.h"
#include "agent/delays.h"
#include "agent/events.h"
#include "agent/exceptions.h"
#include "agent/live.h"
#include "agent/locks.h"
#include "agent/nativecheck.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/version.h"
#include "recording/recording.h"
#include "vm/vm_poll.h"
#include "walk/walk.h"

/* A recording needs a file; so does what begins with the JVM, which nobody may ever come for. */
const char *output_pattern(const struct options *options)
{
    if (options->file[0] != '\0')
        return options->file;
    if (!options->is_with_jvm && options->output != OPTIONS_OUTPUT_JFR)
        return NULL;
    switch ((enum options_output)options->output) {
    case OPTIONS_OUTPUT_FLAMEGRAPH:
        return "jaywalk-%p.html";
    case OPTIONS_OUTPUT_COLLAPSED:
        return "jaywalk-%p.collapsed";
    case OPTIONS_OUTPUT_TEXT:
        return "jaywalk-%p.txt";
    case OPTIONS_OUTPUT_TREE:
        return "jaywalk-%p.tree";
    case OPTIONS_OUTPUT_PPROF:
        return "jaywalk-%p.pb.gz";
    case OPTIONS_OUTPUT_OTLP:
        return "jaywalk-%p.otlp";
    case OPTIONS_OUTPUT_NONE:
    case OPTIONS_OUTPUT_JFR:
    case OPTIONS_OUTPUT_LIMIT:
        break;
    }
    return "jaywalk-%p.jfr";
}

bool output_path(const char *pattern, uint64_t number, char *path, size_t room_bytes,
                 struct jw_error *err)
{
    return options_file_name(pattern, getpid(), jw_wall_ns(), number, path, room_bytes, err);
}

enum recording_format output_format(uint64_t output)
{
    switch ((enum options_output)output) {
    case OPTIONS_OUTPUT_FLAMEGRAPH:
        return RECORDING_HTML;
    case OPTIONS_OUTPUT_COLLAPSED:
        return RECORDING_COLLAPSED;
    case OPTIONS_OUTPUT_TEXT:
        return RECORDING_TEXT;
    case OPTIONS_OUTPUT_TREE:
        return RECORDING_TREE;
    case OPTIONS_OUTPUT_PPROF:
        return RECORDING_PPROF;
    case OPTIONS_OUTPUT_OTLP:
        return RECORDING_OTLP;
    case OPTIONS_OUTPUT_NONE:
    case OPTIONS_OUTPUT_JFR:
    case OPTIONS_OUTPUT_LIMIT:
        return RECORDING_JFR;
    }
    return RECORDING_JFR;
}

/* Viewers read a number and a unit; those that know milliseconds only get them where they can. */
static void period_text(uint64_t period_ns, char *text, size_t room_bytes)
{
    const bool is_whole = period_ns % JW_NS_PER_MS == 0;

    snprintf(text, room_bytes, "%llu %s",
             (unsigned long long)(period_ns / (is_whole ? JW_NS_PER_MS : 1000)),
             is_whole ? "ms" : "us");
}

static enum recording_clock shown_of(const struct options *values)
{
    return options_is_counting(values)            ? RECORDING_SHOWS_COUNTER
           : values->event == OPTIONS_EVENT_WALL  ? RECORDING_SHOWS_WALL
           : values->event == OPTIONS_EVENT_ALLOC ? RECORDING_SHOWS_ALLOC
           : values->event == OPTIONS_EVENT_LOCK  ? RECORDING_SHOWS_LOCK
                                                  : RECORDING_SHOWS_CPU;
}

/* Is nothing told whose length is of interest below a microsecond? Calls, waits and transfers may be that short. */
static bool has_long_spans_only(const struct options *values)
{
    return values->lock_ns == 0 && values->locks == 0 && values->io_ns == 0 &&
           values->queue_ns == 0 && values->traces_of[0] == '\0' && values->times_of[0] == '\0' &&
           values->probe[0] == '\0' && values->dialect == OPTIONS_DIALECT_STANDARD;
}

/* Without settings. */
static struct recording_config config_of(const struct options *values, const char *path)
{
    static const enum recording_dialect dialects[] = {
        [OPTIONS_DIALECT_STANDARD] = RECORDING_STANDARD,
        [OPTIONS_DIALECT_ASYNC_PROFILER] = RECORDING_ASYNC_PROFILER,
        [OPTIONS_DIALECT_DATADOG] = RECORDING_DATADOG,
    };

    return (struct recording_config){
        .path = path,
        .format = path == NULL && values->output == OPTIONS_OUTPUT_NONE
                      ? RECORDING_TEXT
                      : output_format(values->output),
        .memory_bytes = jw_memory_limit_of(JW_MEMORY_STACKS, 0),
        .chunk_bytes = values->chunksize_bytes,
        .chunk_ns = values->chunktime_ns,
        .dialect = dialects[values->dialect],
        .title = values->title[0] == '\0' ? NULL : values->title,
        .splits_wall = values->is_unbatched,
        .has_coarse_ticks = has_long_spans_only(values),
        .has_contexts = values->endpoints != 0,
        .has_no_wall = values->event != OPTIONS_EVENT_WALL && values->wall_ns == 0,
        .counter = options_is_counting(values) ? values->perf : NULL,
        .shows = shown_of(values),
        .has_tasks = values->has_async_stacks,
        .has_frames_in_line = (values->features & OPTIONS_FEATURE_PLAINSTACKS) != 0,
        .unsigned5_bias = vm_unsigned5_bias(),
        .is_by_thread = values->is_by_thread,
        .tree = {.split_lines = values->has_lines},
        .part = {.from = values->from[0] == '\0' ? NULL : values->from,
                 .to = values->to[0] == '\0' ? NULL : values->to,
                 .state =
                     values->state == OPTIONS_STATE_ANY ? NULL : options_state_name(values->state),
                 .threads = values->thread_patterns},
    };
}

/* Left as it is where there is no budget. */
static void overhead_text(const struct options *values, char *text, size_t room_bytes)
{
    if (values->overhead_ppm != 0)
        snprintf(text, room_bytes, "%llu.%04llu %%",
                 (unsigned long long)(values->overhead_ppm / 10000),
                 (unsigned long long)(values->overhead_ppm % 10000));
}

static struct recording *open_with(const struct options *values, const char *path,
                                   uint64_t session_unix_ns,
                                   const struct recording_setting *settings, size_t setting_count,
                                   struct jw_error *err)
{
    struct recording_config config = config_of(values, path);

    config.settings = settings;
    config.setting_count = setting_count;
    config.part.session_unix_ns = session_unix_ns;
    export_look(values, &config.look);
    sources_jvm(&config.jvm, !values->is_without_arguments);
    facts_collect(values, config.jvm.java_arguments);
    jvmfacts_collect(values);
    sources_fill(&config.sources);
    return recording_open(&config, err);
}

static const char *number_text(uint64_t number, char text[32])
{
    snprintf(text, 32, "%llu", (unsigned long long)number);
    return text;
}

/* Of a type of waits, whose names are those of output_open. JMC wants a time also of what is not enabled. */
#define LOCK_SETTINGS(type)                                                                        \
    {(type), "enabled", has_lock ? "true" : "false"},                                              \
    {                                                                                              \
        (type), "threshold", has_lock ? threshold : "0 ns"                                         \
    }

/* Of a type of what is counted, likewise. */
#define COUNT_SETTINGS(type, is_on) PERIOD_SETTINGS((type), (is_on), count)
#define PERIOD_SETTINGS(type, is_on, of)                                                           \
    {(type), "enabled", (is_on) ? "true" : "false"},                                               \
    {                                                                                              \
        (type), "period", (is_on) ? (of) : "off"                                                   \
    }

/* Of files and sockets, likewise. */
#define IO_SETTINGS(type)                                                                          \
    {(type), "enabled", has_io ? "true" : "false"},                                                \
    {                                                                                              \
        (type), "threshold", has_io ? io : "0 ns"                                                  \
    }
#define ALL_IO_SETTINGS                                                                            \
    IO_SETTINGS("jdk.FileRead"), IO_SETTINGS("jdk.FileWrite"), IO_SETTINGS("jdk.FileForce"),       \
        IO_SETTINGS("jdk.SocketRead"), IO_SETTINGS("jdk.SocketWrite")

/* Of what has no time and no number. */
#define ENABLED_SETTING(type, is_on)                                                               \
    {                                                                                              \
        (type), "enabled", (is_on) ? "true" : "false"                                              \
    }
#define ALONE_SETTINGS(values)                                                                     \
    ENABLED_SETTING("jdk.ClassDefine", (values)->has_classes),                                     \
        ENABLED_SETTING("jdk.ClassUnload", (values)->has_classes),                                 \
        ENABLED_SETTING("jdk.InitialSystemProperty",                                               \
                        (values)->has_properties && !(values)->is_without_arguments),              \
        ENABLED_SETTING("jdk.InitialEnvironmentVariable", (values)->has_environment)

/* Of all of these, of which a session has one. */
#define COUNTED_SETTINGS(event)                                                                    \
    COUNT_SETTINGS("jaywalk.CounterSample", (event) == OPTIONS_EVENT_PERF),                        \
        COUNT_SETTINGS("jaywalk.CallSample", (event) == OPTIONS_EVENT_METHOD),                     \
        PERIOD_SETTINGS("jdk.JavaExceptionThrow", has_throws, throws_of),                          \
        PERIOD_SETTINGS("jdk.JavaErrorThrow", has_throws, throws_of),                              \
        {"jdk.ExceptionStatistics", "enabled", has_throws ? "true" : "false"},                     \
        COUNT_SETTINGS("jaywalk.NewObject", (event) == OPTIONS_EVENT_NEW)

static uint64_t live_count(const struct options *values)
{
    return strcmp(alloc_text(values), "on") == 0 ? values->live_count : 0;
}

struct recording *output_open(const struct options *values, const char *path,
                              uint64_t session_unix_ns, struct jw_error *err)
{
    const bool has_wall = values->wall_ns != 0, has_counter = options_is_counting(values);
    const bool has_lock = strcmp(locks_text(values), "on") == 0, has_cpu = options_has_cpu(values);
    const bool has_io = values->io_ns != 0, has_throws = exceptions_are_asked(values);
    char period[32], interval[32], wall_period[32], wall[32], depth[32], off[160], count[48];
    const char *throws_of = has_counter ? count : "1 exceptions";
    char overhead[32] = "off", memlimit[32], selfcheck[256], alloc[32], live[32];
    char lock[32], threshold[32], io[32];
    const char *walker = walk_walker_in_use(off, sizeof off);
    const struct recording_setting settings[] = {
        {"jdk.ExecutionSample", "enabled", has_cpu || values->is_unbatched ? "true" : "false"},
        {"jdk.ExecutionSample", "period", period},
        {"jdk.NativeMethodSample", "enabled", has_cpu ? "true" : "false"},
        {"jdk.NativeMethodSample", "period", period},
        {"jaywalk.WallClockSample", "enabled",
         has_wall && !values->is_unbatched ? "true" : "false"},
        {"jaywalk.WallClockSample", "period", has_wall ? wall_period : "off"},
        COUNTED_SETTINGS(values->event),
        ENABLED_SETTING("jdk.ObjectAllocationSample", strcmp(alloc_text(values), "on") == 0),
        LOCK_SETTINGS("jdk.JavaMonitorEnter"),
        LOCK_SETTINGS("jdk.JavaMonitorWait"),
        LOCK_SETTINGS("jdk.ThreadPark"),
        ALL_IO_SETTINGS,
        ALONE_SETTINGS(values),
        {NULL, "event", options_event_text(values)},
        {NULL, "alluser", values->is_user_only ? "true" : "false"},
        {NULL, "perf_events", events_text(values)},
        {NULL, "interval",
         number_text(has_counter ? values->interval_count : values->interval_ns, interval)},
        {NULL, "wall", number_text(values->wall_ns, wall)},
        {NULL, "alloc", number_text(values->alloc_bytes, alloc)},
        {NULL, "allocations", alloc_text(values)},
        {NULL, "live", number_text(live_count(values), live)},
        {NULL, "lock", number_text(values->lock_ns, lock)},
        {NULL, "locks", locks_text(values)},
        {NULL, "parks", locks_parks_text(values)},
        {NULL, "nobatch", values->is_unbatched ? "true" : "false"},
        {NULL, "filter", values->filter},
        {NULL, "jstackdepth", number_text(values->jstackdepth_count, depth)},
        {NULL, "overhead", overhead},
        {NULL, "walker", walker == NULL ? off : walker},
        {NULL, "selfcheck", selfcheck_text(selfcheck, sizeof selfcheck)},
        {NULL, "agreement", agree_reason()},
        {NULL, "nativecheck", nativecheck_text(values)},
        {NULL, "nativedifference", nativecheck_example()},
        {NULL, "ttsp", delays_text(values)},
        {NULL, "window", delays_window_text(values)},
        {NULL, "safepointsamples", delays_samples_text()},
        {NULL, "pollsamples", vm_poll_told()},
        {NULL, "memlimit", number_text(jw_memory_limit_bytes(), memlimit)},
        {NULL, "version", JAYWALK_VERSION},
    };

    snprintf(count, sizeof count, "%llu %s", (unsigned long long)values->interval_count,
             jw_perf_unit(values->perf));
    snprintf(threshold, sizeof threshold, "%llu ns", (unsigned long long)values->lock_ns);
    snprintf(io, sizeof io, "%llu ns", (unsigned long long)values->io_ns);
    overhead_text(values, overhead, sizeof overhead);
    period_text(values->interval_ns, period, sizeof period);
    period_text(values->wall_ns, wall_period, sizeof wall_period);
    return open_with(values, path, session_unix_ns, settings, JW_COUNT_OF(settings), err);
}
