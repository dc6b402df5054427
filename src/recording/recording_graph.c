/*
 * Records of a generation as a profile, which becomes a graph when the recording ends; dump (open:
 * control). The stacks of a generation are added once each, with the sum of their samples.
 */
#include <string.h>

#include "base/clock.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "os/os_output.h"
#include "recording/recording_internal.h"

/* One stack on its way into the profile, and the texts of the frame in hand. */
struct graph_stack {
    struct recording *recording;
    struct generation *generation;
    profile_frame_id *frames;
    size_t capacity;
    struct jfr_buffer texts[4]; /* class, method, signature, module */
};

/* Terminated, valid UTF-8 until the text in this place is replaced; NULL for none. */
static const char *clean(struct jfr_buffer *place, struct recording_text text)
{
    jfr_buffer_clear(place);
    if (text.bytes == NULL)
        return NULL;
    jfr_put_clean_utf8(place, text.bytes, text.length_bytes);
    jfr_put_u8(place, '\0');
    return place->has_failed ? NULL : (const char *)place->bytes;
}

static struct profile_frame mark_frame(enum jw_mark mark)
{
    return (struct profile_frame){
        .type = PROFILE_FRAME_MARK, .method = jw_mark_text(mark), .line = -1};
}

static struct profile_frame java_frame(struct graph_stack *stack, jw_frame frame)
{
    static const enum profile_frame_type types[] = {
        [JW_FRAME_INTERPRETED] = PROFILE_FRAME_INTERPRETED,
        [JW_FRAME_COMPILED] = PROFILE_FRAME_COMPILED,
        [JW_FRAME_INLINED] = PROFILE_FRAME_INLINED,
        [JW_FRAME_JAVA_NATIVE] = PROFILE_FRAME_JAVA_NATIVE,
    };
    const struct generation *generation = stack->generation;
    const unsigned char *table = NULL;
    const struct method_record *record =
        method_record_get(generation->methods, jw_frame_method(frame), &table);

    if (record == NULL)
        return mark_frame(JW_MARK_UNREADABLE_METHOD);

    const enum jw_frame_kind kind = jw_frame_kind_of(frame);
    const char *class_name =
        clean(&stack->texts[0], recording_dict_text(generation->classes, record->class_name));
    return (struct profile_frame){
        .type = types[kind],
        .class_name = class_name == NULL ? "[unknown class]" : class_name,
        .method = clean(&stack->texts[1], recording_dict_text(generation->symbols, record->name)),
        .signature =
            clean(&stack->texts[2], recording_dict_text(generation->symbols, record->signature)),
        .line =
            kind == JW_FRAME_JAVA_NATIVE
                ? -1
                : recording_line_of(table, record->line_table_bytes,
                                    stack->recording->config.unsigned5_bias, jw_frame_bci(frame)),
    };
}

static struct profile_frame native_frame(struct graph_stack *stack, jw_frame frame)
{
    const struct recording_sources *sources = &stack->recording->config.sources;
    struct recording_symbol told = {0};

    if (sources->native_pc == NULL ||
        !sources->native_pc(sources->context, jw_frame_pc(frame), &told) ||
        told.library.bytes == NULL)
        return mark_frame(JW_MARK_UNKNOWN_NATIVE);
    return (struct profile_frame){
        .type = jw_frame_kind_of(frame) == JW_FRAME_KERNEL ? PROFILE_FRAME_KERNEL
                                                           : PROFILE_FRAME_NATIVE,
        .method = clean(&stack->texts[1], told.symbol.bytes != NULL ? told.symbol : told.library),
        .module = clean(&stack->texts[3], told.library),
        .line = -1,
    };
}

static profile_frame_id frame_id(struct graph_stack *stack, jw_frame frame)
{
    struct profile_frame told = mark_frame(jw_frame_mark_of(frame));

    switch (jw_frame_kind_of(frame)) {
    case JW_FRAME_INTERPRETED:
    case JW_FRAME_COMPILED:
    case JW_FRAME_INLINED:
    case JW_FRAME_JAVA_NATIVE:
        told = java_frame(stack, frame);
        break;
    case JW_FRAME_NATIVE:
    case JW_FRAME_KERNEL:
        told = native_frame(stack, frame);
        break;
    case JW_FRAME_MARK:
        break;
    }
    return profile_frame(stack->recording->profile, &told);
}

/* Room for the frames of a stack; false: no memory. */
static bool reserve_frames(struct graph_stack *stack, size_t count)
{
    if (count <= stack->capacity)
        return true;

    profile_frame_id *frames = jw_realloc(stack->frames, jw_mul_bytes(count, sizeof *frames));
    if (frames == NULL)
        return false;
    stack->frames = frames;
    stack->capacity = count;
    return true;
}

static void add_trace(struct graph_stack *stack, store_id id, uint64_t samples, uint64_t weight_ns)
{
    struct store_trace trace;

    if (!store_get(stack->generation->traces, id, &trace))
        trace = (struct store_trace){.frame_count = 0};
    if (!reserve_frames(stack, trace.frame_count)) {
        recording_fail_memory(stack->recording);
        return;
    }
    for (uint32_t i = 0; i < trace.frame_count; i++)
        stack->frames[i] = frame_id(stack, trace.frames[i]);

    const struct profile_stack added = {
        .frames = stack->frames,
        .frame_count = trace.frame_count,
        .is_truncated = (trace.flags & STORE_TRUNCATED) != 0,
        .samples = samples,
        .weight = weight_ns,
    };
    profile_add(stack->recording->profile, &added);
}

static void sum_record(const struct event_record *record, void *argument)
{
    struct recording *recording = argument;
    uint64_t *samples = recording_ids_at(&recording->trace_samples, record->trace);
    uint64_t *weight = recording_ids_at(&recording->trace_weights, record->trace);

    if (!JW_INVARIANT(record->kind == EVENT_CPU_SAMPLE))
        return;
    if (samples == NULL || weight == NULL) {
        recording_fail_memory(recording);
        return;
    }
    *samples += 1;
    *weight += record->weight_ns;
    recording->samples++;
}

void recording_take_graph(struct recording *recording, struct generation *generation)
{
    struct graph_stack stack = {.recording = recording, .generation = generation};
    const uint32_t last_id = store_last_id(generation->traces);

    if (!recording_ids_reset(&recording->trace_samples, last_id) ||
        !recording_ids_reset(&recording->trace_weights, last_id)) {
        recording_fail_memory(recording);
        return;
    }
    event_take(generation->events, sum_record, recording);
    for (size_t id = 0; id < recording->trace_samples.capacity && !recording->has_failed; id++)
        if (recording->trace_samples.values[id] != 0)
            add_trace(&stack, (store_id)id, recording->trace_samples.values[id],
                      recording->trace_weights.values[id]);
    jw_free(stack.frames);
    for (size_t i = 0; i < JW_COUNT_OF(stack.texts); i++)
        jfr_buffer_close(&stack.texts[i]);
}

bool recording_graph_open(struct recording *recording, struct jw_error *err)
{
    recording->output = os_output_open(recording->config.path, recording->config.calls, err);
    if (recording->output == NULL)
        return false;
    recording->profile = profile_open(&recording->config.tree, err);
    return recording->profile != NULL;
}

static const char *event_name(const struct recording *recording)
{
    for (size_t i = 0; i < recording->config.setting_count; i++)
        if (recording->settings[i].name != NULL &&
            strcmp(recording->settings[i].name, "event") == 0)
            return recording->settings[i].value;
    return "cpu";
}

static void tell_profile(struct recording *recording)
{
    const struct profile_about about = {
        .event = event_name(recording),
        .unit = "ns",
        .start_unix_ns = recording->opened_wall_ns,
        .duration_ns = jw_now_ns() - recording->opened_ns,
    };
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;

    profile_set_about(recording->profile, &about);
    recording_read_counters(recording, counts, &in_flight);
    profile_signals(recording->profile, counts[JW_COUNT_SIGNALS], counts[JW_COUNT_SAMPLES]);
    for (size_t i = 0; i < JW_COUNT_LIMIT; i++)
        if (jw_counter_infos[i].is_loss && counts[i] != 0)
            profile_loss(recording->profile, jw_counter_infos[i].field, jw_counter_infos[i].text,
                         counts[i]);
}

struct graph_writer {
    struct os_output *output;
    uint64_t used_bytes;
};

static bool write_graph(void *context, const void *bytes, size_t length_bytes, struct jw_error *err)
{
    struct graph_writer *writer = context;

    if (!os_output_write(writer->output, writer->used_bytes, bytes, length_bytes, err))
        return false;
    writer->used_bytes += length_bytes;
    return true;
}

bool recording_graph_write(struct recording *recording, struct jw_error *err)
{
    static const enum export_format formats[] = {
        [RECORDING_HTML] = EXPORT_FLAMEGRAPH,
        [RECORDING_COLLAPSED] = EXPORT_COLLAPSED,
        [RECORDING_TEXT] = EXPORT_TEXT,
    };
    struct graph_writer writer = {.output = recording->output};
    struct export_options look = recording->config.look;

    look.title = recording->config.title;
    if (look.method_count == 0 && look.stack_count == 0) {
        look.method_count = EXPORT_METHOD_COUNT;
        look.stack_count = EXPORT_STACK_COUNT;
    }
    tell_profile(recording);
    if (export_profile(recording->profile, formats[recording->config.format], &look, write_graph,
                       &writer, err) &&
        os_output_publish(recording->output, err))
        return true;
    jw_count(JW_COUNT_WRITE_FAILED);
    return false;
}

void recording_graph_close(struct recording *recording)
{
    os_output_close(recording->output);
    profile_close(recording->profile);
}
