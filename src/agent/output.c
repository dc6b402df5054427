/* What a run writes, and where; control. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "recording/recording.h"
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
    case OPTIONS_OUTPUT_NONE:
    case OPTIONS_OUTPUT_JFR:
    case OPTIONS_OUTPUT_LIMIT:
        return RECORDING_JFR;
    }
    return RECORDING_JFR;
}

struct recording *output_open(const struct options *values, const char *path, struct jw_error *err)
{
    char period[32], interval[32], depth[16], off[160];
    const char *walker = walk_walker_in_use(off, sizeof off);
    struct recording_setting settings[] = {
        {"jdk.ExecutionSample", "enabled", "true"},
        {"jdk.ExecutionSample", "period", period},
        {"jdk.NativeMethodSample", "enabled", "true"},
        {"jdk.NativeMethodSample", "period", period},
        {NULL, "event", options_event_name(values->event)},
        {NULL, "interval", interval},
        {NULL, "jstackdepth", depth},
        {NULL, "walker", walker == NULL ? off : walker},
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
        .path = path,
        .format = path == NULL && values->output == OPTIONS_OUTPUT_NONE
                      ? RECORDING_TEXT
                      : output_format(values->output),
        .memory_bytes = values->memlimit_bytes,
        .chunk_bytes = values->chunksize_bytes,
        .chunk_ns = values->chunktime_ns,
        .title = values->title[0] == '\0' ? NULL : values->title,
        .settings = settings,
        .setting_count = JW_COUNT_OF(settings),
        .unsigned5_bias = vm_unsigned5_bias(),
        .tree = {.split_threads = values->is_by_thread},
    };
    export_look(values, &config.look);
    sources_jvm(&config.jvm);
    sources_fill(&config.sources);
    return recording_open(&config, err);
}
