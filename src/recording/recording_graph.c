/*
 * Records of a generation as a profile, which becomes a graph when the recording ends; dump (open:
 * control). The stacks of a generation are added once each, with the sum of their samples.
 *
 * What comes out is, byte for byte, what the command makes of a JFR file of the same records: what
 * both tell of a frame, a thread or the counters is made in one place, here or in room profile.
 */
#include <string.h>

#include "base/clock.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "jfr/jfr_reader.h"
#include "os/os_output.h"
#include "recording/recording_internal.h"

#define FIRST_GROUPS ((size_t)256)

/* One take on its way into the profile, and the texts of the frame in hand. */
struct graph_take {
    struct recording *recording;
    struct generation *generation;
    profile_frame_id *frames; /* of the stack in hand */
    size_t capacity;
    struct jfr_buffer scratch;
    struct jfr_text texts[3];
};

/* Samples of one stack, and of one thread where those are told apart. */
struct recording_group {
    store_id trace;
    uint32_t thread_index;
    uint32_t thread_serial;
    uint64_t samples;
    uint64_t weight_ns;
};

/* As a reader would show it out of a file, until the text in this place is replaced; NULL for none. */
static const char *shown(struct recording *recording, struct jfr_buffer *scratch,
                         struct jfr_text *place, struct recording_text text)
{
    if (text.bytes == NULL)
        return NULL;
    jfr_buffer_clear(scratch);
    jfr_put_clean_utf8(scratch, text.bytes, text.length_bytes);
    if (scratch->has_failed || !jfr_text_set(place, scratch->bytes, scratch->used_bytes)) {
        recording_fail_memory(recording);
        return NULL;
    }
    return place->text;
}

static const char *shown_in(struct graph_take *take, size_t place, struct recording_text text)
{
    return shown(take->recording, &take->scratch, &take->texts[place], text);
}

static struct profile_frame mark_frame(enum jw_mark mark)
{
    return (struct profile_frame){
        .type = PROFILE_FRAME_MARK, .method = jw_mark_text(mark), .line = -1};
}

static struct profile_frame java_frame(struct graph_take *take, jw_frame frame)
{
    static const enum profile_frame_type types[] = {
        [JW_FRAME_INTERPRETED] = PROFILE_FRAME_INTERPRETED,
        [JW_FRAME_COMPILED] = PROFILE_FRAME_COMPILED,
        [JW_FRAME_INLINED] = PROFILE_FRAME_INLINED,
        [JW_FRAME_JAVA_NATIVE] = PROFILE_FRAME_JAVA_NATIVE,
    };
    const struct generation *generation = take->generation;
    const struct method_record *record =
        method_record_get(generation->methods, jw_frame_method(frame), NULL);

    if (record == NULL)
        return mark_frame(JW_MARK_UNREADABLE_METHOD);

    const struct recording_method told = recording_method_texts(generation, record);
    return (struct profile_frame){
        .type = types[jw_frame_kind_of(frame)],
        .class_name = shown_in(take, 0, told.class_name),
        .method = shown_in(take, 1, told.name),
        .signature = shown_in(take, 2, told.descriptor),
        .line = recording_frame_line(generation, frame, take->recording->config.unsigned5_bias),
    };
}

static struct profile_frame native_frame(struct graph_take *take, jw_frame frame)
{
    struct recording_symbol told;

    if (!recording_native_texts(&take->recording->config.sources, jw_frame_pc(frame), &told))
        return mark_frame(JW_MARK_UNKNOWN_NATIVE);
    return (struct profile_frame){
        .type = jw_frame_kind_of(frame) == JW_FRAME_KERNEL ? PROFILE_FRAME_KERNEL
                                                           : PROFILE_FRAME_NATIVE,
        .method = shown_in(take, 0, told.symbol),
        .module = shown_in(take, 1, told.library),
        .line = -1,
    };
}

static profile_frame_id frame_id(struct graph_take *take, jw_frame frame)
{
    struct recording *recording = take->recording;
    struct profile_frame told = {.type = PROFILE_FRAME_MARK};
    uint64_t *known = jw_map_put(&recording->graph.frames, &frame, sizeof frame);

    if (known == NULL) {
        recording_fail_memory(recording);
        return PROFILE_FRAME_NONE;
    }
    if (*known != PROFILE_FRAME_NONE)
        return (profile_frame_id)*known;

    switch (jw_frame_kind_of(frame)) {
    case JW_FRAME_INTERPRETED:
    case JW_FRAME_COMPILED:
    case JW_FRAME_INLINED:
    case JW_FRAME_JAVA_NATIVE:
        told = java_frame(take, frame);
        break;
    case JW_FRAME_NATIVE:
    case JW_FRAME_KERNEL:
        told = native_frame(take, frame);
        break;
    case JW_FRAME_MARK:
        told = mark_frame(jw_frame_mark_of(frame));
        break;
    }
    *known = profile_frame(recording->graph.profile, &told);
    return (profile_frame_id)*known;
}

static profile_frame_id thread_id(struct graph_take *take, const struct recording_group *group)
{
    const struct recording_sources *sources = &take->recording->config.sources;
    struct profile *profile = take->recording->graph.profile;
    struct recording_thread told = {0};

    if (!take->recording->config.tree.split_threads)
        return PROFILE_FRAME_NONE;
    if (sources->thread == NULL ||
        !sources->thread(sources->context, group->thread_index, group->thread_serial, &told))
        return profile_thread(profile, NULL);

    const struct profile_thread thread = {
        .java_name = shown_in(take, 0, told.java_name),
        .os_name = shown_in(take, 1, told.os_name),
        .os_thread_id = told.os_tid,
    };
    return profile_thread(profile, &thread);
}

/* Room for the frames of a stack; false: no memory. */
static bool reserve_frames(struct graph_take *take, size_t count)
{
    if (count <= take->capacity)
        return true;

    profile_frame_id *frames = jw_realloc(take->frames, jw_mul_bytes(count, sizeof *frames));
    if (frames == NULL)
        return false;
    take->frames = frames;
    take->capacity = count;
    return true;
}

static void add_group(struct graph_take *take, const struct recording_group *group)
{
    struct store_trace trace;

    if (!store_get(take->generation->traces, group->trace, &trace))
        trace = (struct store_trace){.frame_count = 0};
    if (!reserve_frames(take, trace.frame_count)) {
        recording_fail_memory(take->recording);
        return;
    }
    for (uint32_t i = 0; i < trace.frame_count; i++)
        take->frames[i] = frame_id(take, trace.frames[i]);

    const struct profile_stack added = {
        .frames = take->frames,
        .frame_count = trace.frame_count,
        .thread = thread_id(take, group),
        .is_truncated = trace.frame_count > 0 && (trace.flags & STORE_TRUNCATED) != 0,
        .samples = group->samples,
        .weight = group->weight_ns,
    };
    profile_add(take->recording->graph.profile, &added);
}

/* The group of this record, adding it on first sight; NULL: no memory. */
static struct recording_group *group_of(struct recording *recording,
                                        const struct event_record *record)
{
    struct recording_graph *graph = &recording->graph;
    const bool by_thread = recording->config.tree.split_threads;
    const uint32_t key[] = {record->trace, by_thread ? record->thread_index : 0,
                            by_thread ? (uint32_t)record->thread_serial : 0};
    uint64_t *known = jw_map_put(&graph->group_of, key, sizeof key);

    if (known == NULL)
        return NULL;
    if (*known != 0)
        return &graph->groups[*known - 1];
    if (graph->group_count == graph->group_capacity) {
        const size_t capacity =
            graph->group_capacity == 0 ? FIRST_GROUPS : 2 * graph->group_capacity;
        struct recording_group *groups =
            jw_realloc(graph->groups, jw_mul_bytes(capacity, sizeof *groups));

        if (groups == NULL)
            return NULL;
        graph->groups = groups;
        graph->group_capacity = capacity;
    }

    struct recording_group *group = &graph->groups[graph->group_count];
    *group =
        (struct recording_group){.trace = key[0], .thread_index = key[1], .thread_serial = key[2]};
    *known = ++graph->group_count;
    return group;
}

static void sum_record(const struct event_record *record, void *argument)
{
    struct recording *recording = argument;

    if (recording->has_failed || !JW_INVARIANT(record->kind == EVENT_CPU_SAMPLE))
        return;

    struct recording_group *group = group_of(recording, record);
    if (group == NULL) {
        recording_fail_memory(recording);
        return;
    }
    recording_time(recording, record->time_ns);
    group->samples++;
    group->weight_ns += record->weight_ns;
    recording->samples++;
}

void recording_take_graph(struct recording *recording, struct generation *generation)
{
    struct recording_graph *graph = &recording->graph;
    struct graph_take take = {.recording = recording, .generation = generation};

    jw_map_clear(&graph->frames);
    jw_map_clear(&graph->group_of);
    graph->group_count = 0;
    event_take(generation->events, sum_record, recording);
    for (size_t i = 0; i < graph->group_count && !recording->has_failed; i++)
        add_group(&take, &graph->groups[i]);
    jw_free(take.frames);
    jfr_buffer_close(&take.scratch);
    for (size_t i = 0; i < JW_COUNT_OF(take.texts); i++)
        jfr_text_free(&take.texts[i]);
}

bool recording_graph_open(struct recording *recording, struct jw_error *err)
{
    struct recording_graph *graph = &recording->graph;

    recording->chunk_earliest_ns = recording->chunk_start_ns = recording->opened_ns;
    graph->output = os_output_open(recording->config.path, recording->config.calls, err);
    if (graph->output == NULL)
        return false;
    graph->profile = profile_open(&recording->config.tree, err);
    return graph->profile != NULL;
}

/* The same as the command finds in a recording that ends now. */
static void tell_profile(struct recording *recording)
{
    struct profile *profile = recording->graph.profile;
    const char *title = recording->config.title;
    struct jfr_buffer scratch = {0};
    struct jfr_text text = {0};
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;
    const struct profile_about about = {
        .title = title == NULL ? NULL
                               : shown(recording, &scratch, &text,
                                       (struct recording_text){title, strlen(title)}),
        .event = "cpu",
        .unit = recording->samples > 0 ? "ns" : "samples",
        .start_unix_ns = recording->opened_wall_ns,
        .duration_ns = recording_duration_ns(recording, jw_now_ns()),
    };

    profile_set_about(profile, &about);
    jfr_buffer_close(&scratch);
    jfr_text_free(&text);
    recording_read_counters(recording, counts, &in_flight);
    profile_counters(profile, counts, in_flight);
}

bool recording_graph_write(struct recording *recording, struct jw_error *err)
{
    static const enum export_format formats[] = {
        [RECORDING_HTML] = EXPORT_FLAMEGRAPH,
        [RECORDING_COLLAPSED] = EXPORT_COLLAPSED,
        [RECORDING_TEXT] = EXPORT_TEXT,
    };
    struct recording_graph *graph = &recording->graph;
    struct export_options look = recording->config.look;

    look.title = NULL; /* the profile has it */
    tell_profile(recording);
    if (recording->has_failed)
        return false;
    if (export_profile(graph->profile, formats[recording->config.format], &look, os_output_append,
                       graph->output, err) &&
        os_output_publish(graph->output, err))
        return true;
    jw_count(JW_COUNT_WRITE_FAILED);
    return false;
}

void recording_graph_close(struct recording *recording)
{
    struct recording_graph *graph = &recording->graph;

    os_output_close(graph->output);
    profile_close(graph->profile);
    jw_map_close(&graph->frames);
    jw_map_close(&graph->group_of);
    jw_free(graph->groups);
}
