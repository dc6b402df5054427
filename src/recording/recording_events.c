/* Every event that is no sample; dump. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "recording/recording_internal.h"

#define RECORDING_ID      1
#define OS_TEXT_BYTES     2048
#define CPU_TEXT_BYTES    1024
#define FOREVER           INT64_MAX
#define FLUSH_INTERVAL_MS 1000
#define DEFAULT_NAME      "jaywalk"
/* How long the end waits for outcomes, in looks: a machine that stands still takes none of them away. */
#define OUTCOME_LOOKS   2500
#define OUTCOME_LOOK_NS 200000

/* The path from the root; as it was given where that cannot be told. */
static void full_path(const char *path, char out[PATH_MAX])
{
    char directory[PATH_MAX];

    if (path[0] == '/' || getcwd(directory, sizeof directory) == NULL ||
        snprintf(out, PATH_MAX, "%s/%s", directory, path) >= PATH_MAX)
        snprintf(out, PATH_MAX, "%s", path);
}

static void put_active_recording(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;
    char destination[PATH_MAX];
    full_path(recording->config.path, destination);
    const size_t begin = recording_event(recording, JFR_TYPE_ACTIVE_RECORDING, now_ns);

    jfr_put_long(out, RECORDING_ID);
    jfr_put_string(out, recording->config.title == NULL ? DEFAULT_NAME : recording->config.title);
    jfr_put_string(out, destination);
    jfr_put_u8(out, 1);         /* disk */
    jfr_put_long(out, FOREVER); /* maxAge */
    jfr_put_long(out, FLUSH_INTERVAL_MS);
    jfr_put_long(out, 0); /* maxSize: none */
    jfr_put_long(out, (int64_t)(recording->opened_wall_ns / JW_NS_PER_MS));
    jfr_put_long(out, FOREVER); /* recordingDuration: until it is stopped */
    jfr_event_end(out, begin);
}

/* Viewers look the id up among the event types of the chunk. */
static void put_setting(struct recording *recording, uint64_t now_ns, enum jfr_type event,
                        const char *name, const char *value)
{
    struct jfr_buffer *out = &recording->events;

    if (!jfr_type_is_declared(recording_dialect(recording), event))
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_ACTIVE_SETTING, now_ns);

    jfr_put_varint(out, event);
    jfr_put_string(out, name);
    jfr_put_string(out, value);
    jfr_event_end(out, begin);
}

static const enum jfr_type always_enabled[] = {
    JFR_TYPE_ACTIVE_RECORDING,
    JFR_TYPE_ACTIVE_SETTING,
    JFR_TYPE_JVM_INFORMATION,
    JFR_TYPE_OS_INFORMATION,
    JFR_TYPE_CPU_INFORMATION,
    JFR_TYPE_CPU_LOAD,
    JFR_TYPE_PHYSICAL_MEMORY,
    JFR_TYPE_DIAGNOSTICS,
    JFR_TYPE_WALK_FAILURE,
    JFR_TYPE_WALKER_CHANGE,
    JFR_TYPE_THREAD_CPU,
    JFR_TYPE_THREADS_CPU,
    JFR_TYPE_CPU_LEDGER,
    JFR_TYPE_DICTIONARY,
    JFR_TYPE_ENDPOINT,
    JFR_TYPE_SPAN,
    JFR_TYPE_MEMORY,
    JFR_TYPE_CONSERVATION,
    JFR_TYPE_SELF_COST,
    JFR_TYPE_INTERVAL_CHANGE,
    JFR_TYPE_HANDLER_TIME,
    JFR_TYPE_HANDLER_TIME_BUCKET,
    JFR_TYPE_SAFEPOINT_BIAS,
    JFR_TYPE_RESIDENT_SET_SIZE,
    JFR_TYPE_CONTEXT_SWITCH_RATE,
    JFR_TYPE_NETWORK_UTILIZATION,
    JFR_TYPE_NATIVE_LIBRARY,
    JFR_TYPE_THREAD_START,
    JFR_TYPE_THREAD_END,
    JFR_TYPE_THREAD_CPU_LOAD,
    JFR_TYPE_SHUTDOWN,
    JFR_TYPE_THREAD_STATISTICS,
    JFR_TYPE_CLASS_STATISTICS,
    JFR_TYPE_GC_CONFIGURATION,
    JFR_TYPE_GC_HEAP_CONFIGURATION,
    JFR_TYPE_GARBAGE_COLLECTION,
    JFR_TYPE_GC_PHASE_PAUSE,
    JFR_TYPE_YOUNG_GARBAGE_COLLECTION,
    JFR_TYPE_OLD_GARBAGE_COLLECTION,
    JFR_TYPE_GC_HEAP_SUMMARY,
    JFR_TYPE_METASPACE_SUMMARY,
    JFR_TYPE_BOOLEAN_FLAG,
    JFR_TYPE_INT_FLAG,
    JFR_TYPE_UNSIGNED_INT_FLAG,
    JFR_TYPE_LONG_FLAG,
    JFR_TYPE_UNSIGNED_LONG_FLAG,
    JFR_TYPE_DOUBLE_FLAG,
    JFR_TYPE_STRING_FLAG,
};

static void put_settings(struct recording *recording, uint64_t now_ns)
{
    for (size_t i = 0; i < JW_COUNT_OF(always_enabled); i++)
        put_setting(recording, now_ns, recording_type(recording, always_enabled[i]), "enabled",
                    "true");
    put_setting(recording, now_ns, JFR_TYPE_CPU_LOAD, "period", "1000 ms");
    put_setting(recording, now_ns, JFR_TYPE_PHYSICAL_MEMORY, "period", "1000 ms");

    put_setting(recording, now_ns, JFR_TYPE_RESIDENT_SET_SIZE, "period", "1000 ms");
    put_setting(recording, now_ns, JFR_TYPE_THREAD_STATISTICS, "period", "1000 ms");
    put_setting(recording, now_ns, JFR_TYPE_CLASS_STATISTICS, "period", "1000 ms");
    put_setting(recording, now_ns, JFR_TYPE_NETWORK_UTILIZATION, "period", "5 s");
    put_setting(recording, now_ns, JFR_TYPE_CONTEXT_SWITCH_RATE, "period", "10 s");
    put_setting(recording, now_ns, JFR_TYPE_THREAD_CPU_LOAD, "period", "10 s");

    /* The recording has a name even where none was given; whoever draws it wants the given one. */
    if (recording->config.title != NULL)
        put_setting(recording, now_ns, JFR_TYPE_ACTIVE_RECORDING, "title", recording->config.title);

    for (size_t i = 0; i < recording->config.setting_count; i++) {
        const struct recording_setting *setting = &recording->settings[i];
        enum jfr_type event =
            setting->event == NULL ? JFR_TYPE_LIMIT : jfr_type_named(setting->event);

        if (!jfr_type_is_event(event))
            event = JFR_TYPE_ACTIVE_RECORDING;
        /* Several types may be one in a dialect: what is off must not hide what is on. */
        const enum jfr_type told = recording_type(recording, event);
        if (told != event &&
            (strcmp(setting->value, "false") == 0 || strcmp(setting->value, "off") == 0))
            continue;
        event = told;
        put_setting(recording, now_ns, event, setting->name, setting->value);
    }
}

static void put_jvm(struct recording *recording, uint64_t now_ns)
{
    const struct recording_jvm *jvm = &recording->config.jvm;
    struct jfr_buffer *out = &recording->events;
    const size_t begin = recording_event(recording, JFR_TYPE_JVM_INFORMATION, now_ns);

    jfr_put_string(out, jvm->name);
    jfr_put_string(out, jvm->version);
    jfr_put_string(out, jvm->arguments);
    jfr_put_string(out, jvm->flags);
    jfr_put_string(out, jvm->java_arguments);
    jfr_put_long(out, jvm->start_ms);
    jfr_put_long(out, jvm->pid);
    jfr_event_end(out, begin);
}

static void put_machine(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;
    struct os_cpu_info cpu;
    char text[OS_TEXT_BYTES];

    const size_t text_bytes = os_version_text(text, sizeof text);
    size_t begin = recording_event(recording, JFR_TYPE_OS_INFORMATION, now_ns);
    jfr_put_text(out, text, text_bytes);
    jfr_event_end(out, begin);

    /* VisualVM takes the first line of the description for the processor's name. */
    os_cpu_info(&cpu);
    snprintf(text, CPU_TEXT_BYTES, "Brand: %s, Vendor: %s\n%s", cpu.model, cpu.vendor,
             cpu.description);
    begin = recording_event(recording, JFR_TYPE_CPU_INFORMATION, now_ns);
    jfr_put_string(out, cpu.model);
    jfr_put_string(out, text);
    jfr_put_varint(out, cpu.sockets);
    jfr_put_varint(out, cpu.cores);
    jfr_put_varint(out, cpu.hardware_threads);
    jfr_event_end(out, begin);
}

void recording_put_facts(struct recording *recording, uint64_t now_ns)
{
    put_active_recording(recording, now_ns);
    put_settings(recording, now_ns);
    put_jvm(recording, now_ns);
    put_machine(recording, now_ns);
}

void recording_put_load(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;
    struct os_cpu_times cpu;
    struct os_cpu_load load;
    struct os_memory memory;

    if (os_cpu_times(&cpu)) {
        if (recording->has_cpu && os_cpu_load_between(&recording->cpu, &cpu, &load)) {
            const size_t begin = recording_event(recording, JFR_TYPE_CPU_LOAD, now_ns);

            jfr_put_float(out, (float)load.process_user);
            jfr_put_float(out, (float)load.process_system);
            jfr_put_float(out, (float)load.machine_total);
            jfr_event_end(out, begin);
        }
        recording->cpu = cpu;
        recording->has_cpu = true;
    }

    os_memory(&memory);
    if (memory.total_bytes != 0) {
        const size_t begin = recording_event(recording, JFR_TYPE_PHYSICAL_MEMORY, now_ns);

        jfr_put_varint(out, memory.total_bytes);
        jfr_put_varint(out, memory.used_bytes);
        jfr_event_end(out, begin);
    }
}

static bool is_outcome(size_t id)
{
    return id == JW_COUNT_SAMPLES || jw_counter_infos[id].is_loss || jw_counter_infos[id].is_spared;
}

/* Reads all counters, SIGNALS last: then none has more outcomes than signals. */
static void read_raw(uint64_t counts[JW_COUNT_LIMIT])
{
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        if (is_outcome(i))
            counts[i] = jw_counter((enum jw_counter_id)i);
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        if (!is_outcome(i))
            counts[i] = jw_counter((enum jw_counter_id)i);
}

static uint64_t sum_of_outcomes(const uint64_t counts[JW_COUNT_LIMIT])
{
    uint64_t sum = 0;

    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        sum += is_outcome(i) ? counts[i] : 0;
    return sum;
}

void recording_zero_counters(struct recording *recording)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_walk_failure failure;

    read_raw(recording->zero);
    /* Signals under way at the beginning have their outcome in this recording, so they count in it. */
    recording->zero[JW_COUNT_SIGNALS] = sum_of_outcomes(recording->zero);
    recording_zero_dictionaries(recording);
    recording_zero_memory(recording);

    for (uint32_t i = 0;
         sources->walk_failure != NULL && sources->walk_failure(sources->context, i, &failure);
         i++) {
        uint64_t *zero = recording_ids_at(&recording->walk_zero, i);

        if (zero == NULL)
            recording_fail_memory(recording);
        else
            *zero = failure.count;
    }
}

/* Counts since the recording began; returns how many signals have no outcome yet. */
static uint64_t read_since_zero(const struct recording *recording, uint64_t counts[JW_COUNT_LIMIT])
{
    read_raw(counts);
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        counts[i] -= recording->zero[i];

    const uint64_t outcomes = sum_of_outcomes(counts);
    return counts[JW_COUNT_SIGNALS] > outcomes ? counts[JW_COUNT_SIGNALS] - outcomes : 0;
}

void recording_read_counters(const struct recording *recording, uint64_t counts[JW_COUNT_LIMIT],
                             uint64_t *in_flight)
{
    const struct timespec pause = {.tv_nsec = OUTCOME_LOOK_NS};

    *in_flight = read_since_zero(recording, counts);
    /* One that was pending when its timer was deleted comes whenever its thread runs, and is counted as lost in a moment. */
    for (int looks = 0; recording->is_ending && *in_flight != 0 && looks < OUTCOME_LOOKS; looks++) {
        (void)nanosleep(&pause, NULL);
        *in_flight = read_since_zero(recording, counts);
    }
}

static void put_walk_failures(struct recording *recording, uint64_t now_ns)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_walk_failure failure;

    for (uint32_t i = 0;
         sources->walk_failure != NULL && sources->walk_failure(sources->context, i, &failure);
         i++) {
        struct jfr_buffer *out = &recording->events;
        const uint64_t *zero = recording_ids_at(&recording->walk_zero, i);

        if (zero == NULL || failure.count <= *zero)
            continue;

        const size_t begin = recording_event(recording, JFR_TYPE_WALK_FAILURE, now_ns);

        jfr_put_int(out, failure.code);
        jfr_put_string(out, failure.reason);
        jfr_put_string(out, failure.where);
        jfr_put_string(out, failure.walker);
        jfr_put_varint(out, failure.count - *zero);
        jfr_event_end(out, begin);
    }
}

void recording_walker_change(struct recording *recording,
                             const struct recording_walker_change *change)
{
    struct jfr_buffer *out = &recording->events;

    if (recording->file == NULL || recording->has_failed)
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_WALKER_CHANGE, change->time_ns);

    jfr_put_string(out, change->part);
    jfr_put_string(out, change->from);
    jfr_put_string(out, change->to);
    jfr_put_string(out, change->reason);
    jfr_put_long(out, (int64_t)change->retry_ns);
    jfr_event_end(out, begin);
}

void recording_set(struct recording *recording, const char *setting, const char *constant)
{
    for (size_t i = 0; i < recording->config.setting_count; i++) {
        if (strcmp(recording->settings[i].name, setting) == 0)
            recording->settings[i].value = constant;
    }
}

void recording_set_now(struct recording *recording, const char *setting, const char *constant)
{
    recording_set(recording, setting, constant);
    if (recording->file != NULL && !recording->has_failed)
        put_setting(recording, jw_now_ns(), JFR_TYPE_ACTIVE_RECORDING, setting, constant);
}

void recording_put_times(struct recording *recording, const struct recording_times *times)
{
    const struct recording_method told = {
        .class_name = times->class_name, .name = times->name, .descriptor = times->descriptor};
    struct jfr_buffer *out = &recording->events;
    const uint64_t now_ns = jw_now_ns();

    if (recording->file == NULL || recording->has_failed || times->count == 0)
        return;
    const uint64_t method = recording_method_key(&recording->names, &told);
    size_t begin = recording_event(recording, JFR_TYPE_METHOD_TIMING, now_ns);

    jfr_put_varint(out, method);
    jfr_put_varint(out, times->count);
    recording_put_ticks(recording, (int64_t)times->least_ns);
    recording_put_ticks(recording, (int64_t)(times->total_ns / times->count));
    recording_put_ticks(recording, (int64_t)times->most_ns);
    jfr_event_end(out, begin);
    begin = recording_event(recording, JFR_TYPE_METHOD_LATENCY, now_ns);
    jfr_put_varint(out, method);
    jfr_put_varint(out, times->count);
    jfr_put_varint(out, times->elapsed_ns);
    jfr_put_varint(out, times->total_ns);
    jfr_put_varint(out, times->least_ns);
    jfr_put_varint(out, times->most_ns);
    jfr_put_string(out, times->histogram);
    jfr_event_end(out, begin);
    recording_relieve(recording);
}

void recording_put_count(struct recording *recording, const struct recording_count *count)
{
    const struct recording_method told = {
        .class_name = count->class_name, .name = count->name, .descriptor = count->descriptor};
    struct jfr_buffer *out = &recording->events;

    if (recording->file == NULL || recording->has_failed || count->count == 0)
        return;
    const bool is_made = count->made.length_bytes != 0;
    const uint64_t made = is_made ? recording_class_of_text(&recording->names, count->made) : 0;
    const uint64_t method =
        count->name.length_bytes == 0 ? 0 : recording_method_key(&recording->names, &told);
    const size_t begin = recording_event(
        recording, is_made ? JFR_TYPE_OBJECT_COUNT : JFR_TYPE_METHOD_COUNT, jw_now_ns());

    if (is_made)
        jfr_put_varint(out, made);
    jfr_put_varint(out, method);
    jfr_put_varint(out, count->count);
    jfr_put_varint(out, count->elapsed_ns);
    jfr_event_end(out, begin);
    recording_relieve(recording);
}

void recording_put_diagnostics(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;

    recording_read_counters(recording, counts, &in_flight);
    const size_t begin = recording_event(recording, JFR_TYPE_DIAGNOSTICS, now_ns);
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        jfr_put_varint(out, counts[i]);
    jfr_put_varint(out, in_flight);
    jfr_put_varint(out, recording->samples);
    jfr_put_varint(out, recording->turns);
    jfr_event_end(out, begin);
    put_walk_failures(recording, now_ns);
    recording_put_dictionaries(recording, now_ns, counts[JW_COUNT_ROTATION_PUT_OFF]);
    recording_put_memory(recording, now_ns);
}
