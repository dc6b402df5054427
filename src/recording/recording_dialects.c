/*
 * Samples, spans and endpoints as other profilers have them, for tools that read nothing else; dump.
 * Which type becomes which stands in jfr/jfr_dialects.def; here are the fields in their order.
 */
#include "recording/recording_internal.h"

enum jfr_dialect recording_dialect(const struct recording *recording)
{
    static const enum jfr_dialect dialects[] = {
        [RECORDING_STANDARD] = JFR_DIALECT_STANDARD,
        [RECORDING_ASYNC_PROFILER] = JFR_DIALECT_ASYNC_PROFILER,
        [RECORDING_DATADOG] = JFR_DIALECT_DATADOG,
    };

    return dialects[recording->config.dialect];
}

enum jfr_type recording_type(const struct recording *recording, enum jfr_type type)
{
    return jfr_type_in(recording_dialect(recording), type);
}

static uint64_t state_key(struct recording *recording, enum jw_thread_state state)
{
    return recording_simple(&recording->names, JFR_TYPE_THREAD_STATE, jw_thread_state_name(state));
}

/* async-profiler's readers know running and sleeping, and take STATE_DEFAULT for CPU time, of whatever event. */
void recording_put_states(struct recording *recording)
{
    const bool is_coarse = recording_dialect(recording) == JFR_DIALECT_ASYNC_PROFILER;

    for (size_t i = 0; i < JW_STATE_LIMIT; i++)
        recording->state_keys[i] =
            state_key(recording, is_coarse && i != JW_STATE_RUNNING ? JW_STATE_SLEEPING
                                                                    : (enum jw_thread_state)i);
    recording->cpu_state_key =
        state_key(recording, is_coarse ? JW_STATE_UNKNOWN : JW_STATE_RUNNING);
}

/* The fields of a context without the trace id, which Datadog's events do not have. */
static void put_spans(struct jfr_buffer *out, const struct recording_fields *context)
{
    size_t trace_bytes = 0;

    while (trace_bytes < context->length_bytes && (context->bytes[trace_bytes] & 0x80) != 0)
        trace_bytes++;
    trace_bytes++;
    if (trace_bytes <= context->length_bytes)
        jfr_put_bytes(out, context->bytes + trace_bytes, context->length_bytes - trace_bytes);
}

static void put_who(struct jfr_buffer *out, const struct recording_foreign *told)
{
    jfr_put_varint(out, told->thread);
    jfr_put_varint(out, told->stack);
    jfr_put_varint(out, told->state);
}

static void put_datadog(struct recording *recording, const struct recording_foreign *told)
{
    struct jfr_buffer *out = &recording->events;
    const char *mode = told->type == JFR_TYPE_WALL_CLOCK_SAMPLE ? "UNKNOWN"
                       : told->is_native                        ? "NATIVE"
                                                                : "JAVA";

    put_who(out, told);
    jfr_put_varint(out, recording_simple(&recording->names, JFR_TYPE_EXECUTION_MODE, mode));
    jfr_put_varint(out, told->turn_count);
    jfr_put_varint(out, 0); /* correlationId */
    put_spans(out, &told->context);
}

static void put_who_and_class(struct jfr_buffer *out, const struct recording_foreign *told)
{
    jfr_put_varint(out, told->thread);
    jfr_put_varint(out, told->stack);
    jfr_put_varint(out, told->object.class_key);
}

/* async-profiler's has bytes alone: those that the object stands for, of which its readers make sums. */
static void put_object(struct recording *recording, enum jfr_type type,
                       const struct recording_foreign *told)
{
    const struct recording_object *object = &told->object;
    struct jfr_buffer *out = &recording->events;

    put_who_and_class(out, told);
    jfr_put_varint(out, type == JFR_TYPE_ALLOCATION_IN_NEW_TLAB ? object->size_bytes
                                                                : object->weight_bytes);
    if (type == JFR_TYPE_ALLOCATION_IN_NEW_TLAB)
        jfr_put_varint(out, object->weight_bytes);
    if (type == JFR_TYPE_PROFILER_LIVE_OBJECT)
        recording_put_time(recording, object->time_ns);
}

/* Datadog's weight is a number of objects of this size. */
static void put_datadog_object(struct jfr_buffer *out, enum jfr_type type,
                               const struct recording_foreign *told)
{
    const struct recording_object *object = &told->object;

    put_who_and_class(out, told);
    if (type == JFR_TYPE_DATADOG_LIVE_OBJECT)
        jfr_put_varint(out, object->age);
    jfr_put_varint(out, object->size_bytes);
    jfr_put_float(
        out, object->size_bytes == 0 ? 1 : (float)object->weight_bytes / (float)object->size_bytes);
    put_spans(out, &told->context);
}

static void put_text(struct jfr_buffer *out, struct recording_text text)
{
    if (text.bytes == NULL)
        jfr_put_string(out, NULL);
    else
        jfr_put_text(out, text.bytes, text.length_bytes);
}

static void put_fields(struct recording *recording, enum jfr_type type,
                       const struct recording_foreign *told)
{
    struct jfr_buffer *out = &recording->events;

    switch ((unsigned)type) {
    case JFR_TYPE_PLAIN_EXECUTION_SAMPLE:
        put_who(out, told);
        return;
    case JFR_TYPE_PROFILER_WALL_CLOCK_SAMPLE:
        put_who(out, told);
        jfr_put_varint(out, told->turn_count);
        recording_put_length(recording, told->start_ns, told->duration_ns);
        return;
    case JFR_TYPE_DATADOG_EXECUTION_SAMPLE:
    case JFR_TYPE_DATADOG_METHOD_SAMPLE:
        put_datadog(recording, told);
        return;
    case JFR_TYPE_ALLOCATION_IN_NEW_TLAB:
    case JFR_TYPE_ALLOCATION_OUTSIDE_TLAB:
    case JFR_TYPE_PROFILER_LIVE_OBJECT:
        put_object(recording, type, told);
        return;
    case JFR_TYPE_DATADOG_OBJECT_SAMPLE:
    case JFR_TYPE_DATADOG_LIVE_OBJECT:
        put_datadog_object(out, type, told);
        return;
    case JFR_TYPE_PLAIN_MONITOR_ENTER:
    case JFR_TYPE_PLAIN_THREAD_PARK:
        recording_put_wait(recording, type, told);
        return;
    case JFR_TYPE_PROFILER_SPAN:
        recording_put_length(recording, told->start_ns, told->duration_ns);
        jfr_put_varint(out, told->thread);
        put_text(out, told->name);
        return;
    case JFR_TYPE_DATADOG_ENDPOINT:
        jfr_put_varint(out, 0); /* duration */
        jfr_put_varint(out, told->thread);
        jfr_put_varint(out, 0); /* stackTrace */
        put_text(out, told->name);
        put_text(out, told->operation);
        jfr_put_varint(out, told->root_span_id);
        return;
    default:
        (void)JW_INVARIANT(false); /* jfr_dialects.def names it, and nobody writes it */
        return;
    }
}

bool recording_put_foreign(struct recording *recording, const struct recording_foreign *told)
{
    enum jfr_type type = recording_type(recording, told->type);
    struct jfr_buffer *out = &recording->events;

    if (type == told->type)
        return false;
    if (type == JFR_TYPE_NONE)
        return true;
    /* One that stands for itself alone. */
    if (type == JFR_TYPE_ALLOCATION_IN_NEW_TLAB &&
        told->object.weight_bytes == told->object.size_bytes)
        type = JFR_TYPE_ALLOCATION_OUTSIDE_TLAB;

    const size_t begin = jfr_event_begin(out, type);
    recording_put_time(recording, told->start_ns);
    put_fields(recording, type, told);
    jfr_event_end(out, begin);
    return true;
}
