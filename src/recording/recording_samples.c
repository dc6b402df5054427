/* Records of a generation as events of a chunk; dump. */
#include <string.h>

#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_internal.h"

#define FIRST_IDS ((size_t)256)

/* A number of trace_keys: key of the stack + 1, above the bit that tells native code. */
#define TRACE_IS_NATIVE 1u

static bool reserve_ids(struct recording_ids *ids, size_t count)
{
    size_t capacity = ids->capacity == 0 ? FIRST_IDS : ids->capacity;

    while (capacity < count)
        capacity *= 2;
    if (capacity == ids->capacity)
        return true;

    uint64_t *values = jw_realloc(ids->values, jw_mul_bytes(capacity, sizeof *values));
    if (values == NULL)
        return false;
    memset(values + ids->capacity, 0, (capacity - ids->capacity) * sizeof *values);
    ids->values = values;
    ids->capacity = capacity;
    return true;
}

bool recording_ids_reset(struct recording_ids *ids, uint32_t last_id)
{
    if (!reserve_ids(ids, (size_t)last_id + 1))
        return false;
    memset(ids->values, 0, ids->capacity * sizeof *ids->values);
    return true;
}

uint64_t *recording_ids_at(struct recording_ids *ids, uint32_t id)
{
    return reserve_ids(ids, (size_t)id + 1) ? &ids->values[id] : NULL;
}

void recording_ids_close(struct recording_ids *ids)
{
    jw_free(ids->values);
    *ids = (struct recording_ids){0};
}

uint64_t recording_take_method(struct recording_take *take, uint32_t id)
{
    struct recording *recording = take->recording;
    uint64_t *known = recording_ids_at(&recording->method_keys, id);

    if (known == NULL) {
        recording_fail_memory(recording);
        return 0;
    }
    if (*known == 0) {
        const struct method_record *record = method_record_get(take->generation->methods, id, NULL);

        *known = 1 + (record == NULL
                          ? recording_mark_method(&recording->names, JW_MARK_UNREADABLE_METHOD)
                          : recording_java_method(&recording->names, take->generation, record));
    }
    return *known - 1;
}

/* Was the thread in native code on its own account: a native method, or no Java at all? A C function
 * called from the middle of Java code, and a Java stack that could not be walked, are none. */
static bool is_native(const struct store_trace *trace)
{
    if (trace->flags & STORE_FAILED)
        return false;
    for (uint32_t i = 0; i < trace->frame_count; i++) {
        const enum jw_frame_kind kind = jw_frame_kind_of(trace->frames[i]);

        if (kind <= JW_FRAME_JAVA_NATIVE)
            return kind == JW_FRAME_JAVA_NATIVE;
    }
    return true;
}

/* Key of the stack + 1, and the bit below it. `thrown`: of an exception its class; a trace is of one class alone, whose constructors are in it. */
static uint64_t resolve_trace(struct recording_take *take, store_id id, dict_id thrown)
{
    struct store_trace trace;

    if (!store_get(take->generation->traces, id, &trace))
        trace = (struct store_trace){0};
    const uint64_t key = recording_part_of_trace(
        take, &trace, recording_frames_of_own(take->generation, &trace, thrown));
    return (key + 1) << 1 | (is_native(&trace) ? TRACE_IS_NATIVE : 0);
}

/* What trace_keys has of the trace; 0: no memory. */
static uint64_t trace_key(struct recording_take *take, store_id trace, dict_id thrown)
{
    uint64_t *known = recording_ids_at(&take->recording->trace_keys, trace);

    if (known == NULL) {
        recording_fail_memory(take->recording);
        return 0;
    }
    if (*known == 0)
        *known = resolve_trace(take, trace, thrown);
    return *known;
}

uint64_t recording_trace_key(struct recording_take *take, store_id trace)
{
    const uint64_t known = trace_key(take, trace, DICT_NONE);

    return known == 0 ? 0 : (known >> 1) - 1;
}

struct recording_who recording_who_of(struct recording *recording, uint32_t index, uint32_t serial,
                                      const struct recording_fields *context)
{
    const uint64_t platform = recording_thread_key(&recording->names, index, serial);

    return context->virtual_thread_key == 0
               ? (struct recording_who){platform, 0}
               : (struct recording_who){context->virtual_thread_key, platform};
}

static bool is_of_throw(const struct event_record *record)
{
    return record->kind == EVENT_COUNTER_SAMPLE && (record->flags & EVENT_OF_THROW) != 0;
}

/* The stack of a sample, and whether it was in native code; false: no memory. */
static bool find_stack(struct recording_take *take, const struct event_record *record,
                       struct recording_taken *out)
{
    const dict_id thrown = is_of_throw(record) ? record->class_name : DICT_NONE;
    struct recording_kept *under = recording_tasks_under(take->recording, record);
    struct store_trace trace;

    if (under != NULL)
        under = recording_kept_joined(take, record->trace, thrown, under);
    if (under != NULL) {
        out->stack = recording_kept_stack_key(take->recording, under);
        out->is_native =
            store_get(take->generation->traces, record->trace, &trace) && is_native(&trace);
        return true;
    }
    const uint64_t known = trace_key(take, record->trace, thrown);

    out->stack = (known >> 1) - 1;
    out->is_native = (known & TRACE_IS_NATIVE) != 0;
    return known != 0;
}

bool recording_taken_of(struct recording_take *take, const struct event_record *record,
                        struct recording_taken *out)
{
    if (!find_stack(take, record, out))
        return false;
    out->context = recording_context_fields(take, record->context);
    out->who = recording_who_of(take->recording, record->thread_index,
                                (uint32_t)record->thread_serial, &out->context);
    return true;
}

void recording_put_waited(struct recording *recording, const struct event_record *record,
                          const struct recording_taken *taken, const char *clock)
{
    static const uint32_t either = EVENT_ASKED_BY_HANDSHAKE | EVENT_ASKED_BY_WATERMARK;
    struct jfr_buffer *out = &recording->events;
    const uint32_t asked = record->flags & either;
    const enum jfr_type type = asked == 0 ? JFR_TYPE_SAFEPOINT_SAMPLE : JFR_TYPE_POLL_SAMPLE;

    if ((record->flags & (EVENT_WAITED_FOR | either)) == 0 ||
        !jfr_type_is_declared(recording_dialect(recording), type))
        return;
    const size_t begin = recording_event(recording, type, record->time_ns);
    jfr_put_varint(out, taken->who.thread);
    jfr_put_varint(out, taken->stack);
    jfr_put_varint(out, recording->cpu_state_key);
    jfr_put_string(out, clock);
    if (asked != 0)
        jfr_put_string(out, asked == either                     ? "safepoint or handshake"
                            : asked == EVENT_ASKED_BY_HANDSHAKE ? "handshake"
                                                                : "stack watermark");
    jfr_event_end(out, begin);
}

/* The fields that all samples begin with, and those that all end with. */
static size_t begin_sample(struct recording *recording, const struct recording_foreign *told)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = jfr_event_begin(out, told->type);

    recording_put_time(recording, told->start_ns);
    jfr_put_varint(out, told->thread);
    jfr_put_varint(out, told->stack);
    return begin;
}

static void end_sample(struct recording *recording, const struct recording_foreign *told,
                       uint64_t carrier, size_t begin)
{
    recording_put_carrier(recording, carrier);
    recording_put_context(recording, &told->context);
    jfr_event_end(&recording->events, begin);
}

static void put_cpu(struct recording *recording, const struct recording_foreign *told,
                    uint64_t weight_ns, uint64_t carrier)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = begin_sample(recording, told);

    jfr_put_varint(out, told->state);
    jfr_put_varint(out, weight_ns);
    if (!told->is_native && (recording->left_out & JFR_OF_WALL) == 0)
        jfr_put_varint(out, 0); /* wallTime */
    end_sample(recording, told, carrier, begin);
}

static void take_cpu(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_taken taken;

    if (!recording_taken_of(take, record, &taken))
        return;
    const struct recording_foreign told = {
        .type = taken.is_native ? JFR_TYPE_NATIVE_METHOD_SAMPLE : JFR_TYPE_EXECUTION_SAMPLE,
        .start_ns = recording_time(recording, record->time_ns),
        .thread = taken.who.thread,
        .stack = taken.stack,
        .state = recording->cpu_state_key,
        .turn_count = 1,
        .is_native = taken.is_native,
        .context = taken.context,
    };
    recording_put_waited(recording, record, &taken, "cpu");
    if (!recording_put_foreign(recording, &told))
        put_cpu(recording, &told, record->weight_ns, taken.who.carrier);
    recording->samples++;
    recording->law.events++;
    recording_ledger_sample(recording, record);
    recording_stops_take(take, record);
}

static void put_counter(struct recording *recording, const struct recording_foreign *told,
                        uint64_t count, uint64_t carrier)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = begin_sample(recording, told);

    jfr_put_varint(out, told->state);
    jfr_put_varint(out, recording->counter_key);
    jfr_put_varint(out, count);
    end_sample(recording, told, carrier, begin);
}

/* An exception, or an object that is made by its class. */
static void put_made(struct recording *recording, const struct recording_foreign *told,
                     uint64_t count, uint64_t carrier)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = begin_sample(recording, told);

    if (told->type != JFR_TYPE_NEW_OBJECT)
        jfr_put_string(out, NULL); /* a message may hold what is nobody else's */
    jfr_put_varint(out, told->object.class_key);
    jfr_put_varint(out, count);
    end_sample(recording, told, carrier, begin);
}

static void take_made(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_taken taken;

    if (!recording_taken_of(take, record, &taken))
        return;
    const struct recording_foreign told = {
        .type = (record->flags & EVENT_OF_NEW) != 0     ? JFR_TYPE_NEW_OBJECT
                : (record->flags & EVENT_OF_ERROR) != 0 ? JFR_TYPE_JAVA_ERROR_THROW
                                                        : JFR_TYPE_JAVA_EXCEPTION_THROW,
        .start_ns = recording_time(recording, record->time_ns),
        .thread = taken.who.thread,
        .stack = taken.stack,
        .state = recording->cpu_state_key,
        .turn_count = 1,
        .context = taken.context,
        .object = {.class_key =
                       recording_class(&recording->names, take->generation, record->class_name)},
    };
    if (!recording_put_foreign(recording, &told))
        put_made(recording, &told, record->weight_ns, taken.who.carrier);
    recording->hook_samples++;
}

static void take_counter(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_taken taken;

    if (!recording_taken_of(take, record, &taken))
        return;
    const struct recording_foreign told = {
        .type =
            (record->flags & EVENT_BY_HOOK) != 0 ? JFR_TYPE_CALL_SAMPLE : JFR_TYPE_COUNTER_SAMPLE,
        .start_ns = recording_time(recording, record->time_ns),
        .thread = taken.who.thread,
        .stack = taken.stack,
        .state = recording->cpu_state_key,
        .turn_count = 1,
        .context = taken.context,
    };
    recording_put_waited(recording, record, &taken, "counter");
    if (!recording_put_foreign(recording, &told))
        put_counter(recording, &told, record->weight_ns, taken.who.carrier);
    if ((record->flags & EVENT_BY_HOOK) != 0) {
        recording->hook_samples++;
        return;
    }
    recording->samples++;
    recording->law.events++;
}

static void put_alloc(struct recording *recording, const struct recording_foreign *told,
                      uint64_t carrier)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = begin_sample(recording, told);

    jfr_put_varint(out, told->object.class_key);
    jfr_put_varint(out, told->object.weight_bytes);
    jfr_put_varint(out, told->object.size_bytes);
    end_sample(recording, told, carrier, begin);
}

static void take_alloc(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct recording_taken taken;

    if (!recording_taken_of(take, record, &taken))
        return;
    const struct recording_foreign told = {
        .type = JFR_TYPE_OBJECT_ALLOCATION_SAMPLE,
        .start_ns = recording_time(recording, record->time_ns),
        .thread = taken.who.thread,
        .stack = taken.stack,
        .context = taken.context,
        .object = {.class_key =
                       recording_class(&recording->names, take->generation, record->class_name),
                   .size_bytes = record->value,
                   .weight_bytes = record->weight_ns},
    };
    if (!recording_put_foreign(recording, &told))
        put_alloc(recording, &told, taken.who.carrier);
    recording->hook_samples++;
    recording_live_take(take, record);
}

static struct recording_kept *keep_trace(void *context, store_id trace)
{
    return recording_kept_stack(context, trace);
}

static void take_record(const struct event_record *record, void *argument)
{
    struct recording_take *take = argument;

    if (record->kind == EVENT_TASK)
        recording_tasks_passed(take->recording);
    if (take->recording->has_failed || record->kind == EVENT_TASK)
        return;
    recording_relieve(take->recording);
    if (record->kind == EVENT_CPU_SAMPLE)
        take_cpu(take, record);
    else if (is_of_throw(record) ||
             (record->kind == EVENT_COUNTER_SAMPLE && (record->flags & EVENT_OF_NEW) != 0))
        take_made(take, record);
    else if (record->kind == EVENT_COUNTER_SAMPLE)
        take_counter(take, record);
    else if (record->kind == EVENT_ALLOC_SAMPLE)
        take_alloc(take, record);
    else if (record->kind == EVENT_LOCK)
        recording_take_lock(take, record);
    else if (record->kind == EVENT_LOCK_OWNER)
        recording_take_lock_owner(take, record);
    else if (record->kind == EVENT_ENDPOINT)
        recording_take_endpoint(take, record);
    else if (record->kind == EVENT_SPAN)
        recording_take_span(take, record);
    else if (record->kind == EVENT_DECLARED)
        recording_take_declared(take, record);
    else if (record->kind == EVENT_METHOD_TRACE)
        recording_take_method_trace(take, record);
    else if (record->kind == EVENT_QUEUE_TIME)
        recording_take_queue_time(take, record);
    else if (record->kind == EVENT_IO || record->kind == EVENT_CLASS)
        recording_take_program(take, record);
    else if (record->kind == EVENT_LATE)
        recording_delays_take(take, record);
    else if (JW_INVARIANT(record->kind == EVENT_WALL_SAMPLE || record->kind == EVENT_WALL_IDLE))
        recording_wall_take(take, record);
}

void recording_take_events(struct recording *recording, struct generation *generation)
{
    struct recording_take take = {.recording = recording, .generation = generation};

    if (recording_context_needs_chunk(recording, generation) ||
        recording_declared_has_new_type(recording))
        recording_next_chunk(recording);
    recording_names_new_take(&recording->names);
    recording_virtual_begin_take(recording, generation);
    if (!recording_ids_reset(&recording->method_keys, dict_last_id(generation->methods)) ||
        !recording_ids_reset(&recording->trace_keys, store_last_id(generation->traces)) ||
        !recording_context_begin_take(&take) || !recording_declared_begin_take(&take) ||
        !recording_wall_begin_take(&take)) {
        recording_fail_memory(recording);
        return;
    }
    recording_name_hot(&take);
    recording_stops_begin_take(recording);
    recording_delays_begin_take(recording);
    recording_tasks_begin_take(recording, generation,
                               &(struct recording_tasks_keeper){keep_trace, &take});
    event_take(generation->events, take_record, &take);
    recording_locks_end_take(&take);
    recording_wall_end_take(recording);
    recording_delays_end_take(recording, false);
    recording_live_end_take(recording);
}
