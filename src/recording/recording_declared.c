/*
 * Events that probes declared, as events of a chunk; dump.
 *
 * The types of a chunk are those that there are when it begins. A type that is new when a take begins, begins a new chunk first: so a
 * chunk declares each type that a record of its takes has.
 *
 * The stack of such an event begins where the probe's handler was called: what lies above are the agent's own methods, and the
 * probe's. Each of the ways from a place to a handler passes a gate, java.lang.JaywalkGate<n>.enter, below which lies what linked it
 * (src/probe/probe_classes.h).
 */
#include <string.h>

#include "base/counters.h"
#include "event/event_values.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_internal.h"

#define GATE  "java/lang/JaywalkGate"
#define PLACE "java/lang/JaywalkPlace"
#define LINK  "java/lang/invoke/"
/* What stands above a traced method. */
#define TIMER "java/lang/JaywalkTimer"
#define TOLD  "io/jaywalk/MethodEvents"
/* Frames between a handler and its gate: the bridge. */
#define BRIDGE_FRAMES 1u
/* Above the probe's own code: the native method, and the method of the event. */
#define COMMIT_FRAMES 2u

/* Where a trace is parted. */
struct parted {
    uint32_t handler; /* its frame; UINT32_MAX: none */
    uint32_t first;   /* of the program, or of the probe where no handler was called */
};

/* ---- types ---- */

static bool ask(const struct recording *recording, uint32_t after, struct jfr_declared *out)
{
    const struct recording_sources *sources = &recording->config.sources;

    return sources->declared != NULL && sources->declared(sources->context, after, out);
}

void recording_declared_new_chunk(struct recording *recording)
{
    struct jfr_declared one;

    if (recording->declared != NULL)
        recording->declared->count = 0;
    for (uint32_t after = 0; ask(recording, after, &one); after = one.number) {
        if (recording->declared == NULL)
            recording->declared = jw_alloc(sizeof *recording->declared);
        if (recording->declared == NULL) {
            recording_fail_memory(recording);
            return;
        }
        if (recording->declared->count == JFR_DECLARED_MAX)
            return;
        recording->declared->each[recording->declared->count++] = one;
    }
}

bool recording_declared_has_new_type(const struct recording *recording)
{
    struct jfr_declared one;
    uint32_t known = 0;

    for (uint32_t after = 0; ask(recording, after, &one); after = one.number, known++) {
        if (jfr_declared_find(recording->declared, one.number) == NULL)
            return known < JFR_DECLARED_MAX;
    }
    return false;
}

void recording_declared_close(struct recording *recording)
{
    recording_ids_close(&recording->declared_keys);
    jw_free(recording->declared);
    recording->declared = NULL;
}

/* ---- the stack ---- */

static bool begins_with(struct recording_text text, const char *prefix)
{
    const size_t length_bytes = strlen(prefix);

    return text.length_bytes >= length_bytes && memcmp(text.bytes, prefix, length_bytes) == 0;
}

/* Of a Java frame; no texts: it is none. */
static struct recording_method method_of(const struct generation *generation, jw_frame frame)
{
    if (jw_frame_kind_of(frame) > JW_FRAME_JAVA_NATIVE)
        return (struct recording_method){.name = {NULL, 0}};

    const struct method_record *record =
        method_record_get(generation->methods, jw_frame_method(frame), NULL);
    return record == NULL ? (struct recording_method){.name = {NULL, 0}}
                          : recording_method_texts(generation, record);
}

static struct recording_text class_of(const struct generation *generation, jw_frame frame)
{
    return method_of(generation, frame).class_name;
}

/* What stands between the gate and the method of the place. */
static bool is_link(struct recording_text class_name)
{
    return begins_with(class_name, GATE) || begins_with(class_name, PLACE) ||
           begins_with(class_name, LINK);
}

static struct parted part(const struct recording_take *take, const struct store_trace *trace)
{
    uint32_t gate = 0, first;

    while (gate < trace->frame_count &&
           !begins_with(class_of(take->generation, trace->frames[gate]), GATE))
        gate++;
    if (gate == trace->frame_count)
        return (struct parted){UINT32_MAX, trace->frame_count < COMMIT_FRAMES ? 0 : COMMIT_FRAMES};
    first = gate;
    while (first < trace->frame_count && is_link(class_of(take->generation, trace->frames[first])))
        first++;
    return (struct parted){gate > BRIDGE_FRAMES ? gate - BRIDGE_FRAMES - 1 : UINT32_MAX, first};
}

static uint64_t method_at(struct recording_take *take, const struct store_trace *trace,
                          uint32_t frame)
{
    return frame < trace->frame_count &&
                   jw_frame_kind_of(trace->frames[frame]) <= JW_FRAME_JAVA_NATIVE
               ? recording_frame_method(take, trace->frames[frame])
               : 0;
}

/* Key of the stack from there on + 1, for the rest of the take. */
static uint64_t stack_key(struct recording_take *take, store_id id, const struct store_trace *trace,
                          uint32_t first)
{
    uint64_t *known = recording_ids_at(&take->recording->declared_keys, id);

    if (known == NULL) {
        recording_fail_memory(take->recording);
        return 0;
    }
    if (*known == 0)
        *known = 1 + recording_part_of_trace(take, trace, first);
    return *known - 1;
}

/* ---- fields ---- */

static uint64_t thread_key(struct recording *recording, const struct event_values_thread *thread)
{
    if (thread->is_none)
        return 0;
    return thread->virtual_number != 0
               ? recording_virtual_thread_key(&recording->names, thread->virtual_number,
                                              (struct recording_text){NULL, 0})
               : recording_thread_key(&recording->names, thread->index, thread->serial);
}

static void put_floating(struct jfr_buffer *out, enum jfr_type type, int64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    if (type == JFR_TYPE_FLOAT)
        jfr_put_float(out, (float)value);
    else
        jfr_put_double(out, value);
}

static void put_field(struct recording *recording, enum jfr_type type,
                      struct event_values_taker *taker)
{
    struct jfr_buffer *out = &recording->events;
    struct recording_text text = {NULL, 0};

    if (type == JFR_TYPE_STRING || type == JFR_TYPE_CLASS) {
        text.bytes = event_values_take_text(taker, &text.length_bytes);
        if (type == JFR_TYPE_CLASS)
            jfr_put_varint(
                out, text.bytes == NULL ? 0 : recording_class_of_text(&recording->names, text));
        else if (text.bytes == NULL)
            jfr_put_string(out, NULL);
        else
            jfr_put_text(out, text.bytes, text.length_bytes);
    } else if (type == JFR_TYPE_THREAD) {
        const struct event_values_thread thread = event_values_take_thread(taker);

        jfr_put_varint(out, thread_key(recording, &thread));
    } else if (type == JFR_TYPE_FLOAT || type == JFR_TYPE_DOUBLE) {
        put_floating(out, type, event_values_take_number(taker));
    } else if (type == JFR_TYPE_BOOLEAN || type == JFR_TYPE_BYTE) {
        jfr_put_u8(out, (uint8_t)event_values_take_number(taker));
    } else if (type == JFR_TYPE_LONG) {
        jfr_put_long(out, event_values_take_number(taker));
    } else if (type == JFR_TYPE_INT) {
        jfr_put_int(out, (int)event_values_take_number(taker));
    } else { /* char and short */
        jfr_put_varint(out, (uint16_t)event_values_take_number(taker));
    }
}

static void put(struct recording_take *take, const struct event_record *record,
                const struct jfr_declared *declared, struct event_values_taker *taker)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    const uint64_t end_ns = record->time_ns + record->weight_ns;
    struct recording_fields context = recording_context_fields(take, record->context);
    const struct recording_who who = recording_who_of(recording, record->thread_index,
                                                      (uint32_t)record->thread_serial, &context);
    struct store_trace trace;

    if (!store_get(take->generation->traces, record->trace, &trace))
        trace = (struct store_trace){0};
    const struct parted parted = part(take, &trace);
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    const uint64_t handler = method_at(take, &trace, parted.handler);
    const uint64_t method =
        parted.handler == UINT32_MAX ? 0 : method_at(take, &trace, parted.first);
    const uint64_t stack =
        declared->has_stack ? stack_key(take, record->trace, &trace, parted.first) : 0;
    const size_t begin =
        jfr_event_begin(out, (enum jfr_type)(JFR_DECLARED_FIRST_ID + declared->number));

    recording_put_time(recording, (declared->has_duration ? record->time_ns : end_ns) + moved_ns);
    if (declared->has_duration)
        recording_put_length(recording, record->time_ns + moved_ns, record->weight_ns);
    jfr_put_varint(out, who.thread);
    if (declared->has_stack)
        jfr_put_varint(out, stack);
    jfr_put_varint(
        out, recording_symbol(&recording->names,
                              (struct recording_text){declared->probe, strlen(declared->probe)}));
    jfr_put_varint(out, handler);
    jfr_put_varint(out, method);
    recording_put_carrier(recording, who.carrier);
    for (uint32_t i = 0; i < declared->field_count; i++)
        put_field(recording, declared->fields[i].type, taker);
    (void)JW_INVARIANT(!taker->is_damaged && taker->left_bytes == 0);
    recording_put_context(recording, &context);
    jfr_event_end(out, begin);
}

void recording_take_declared(struct recording_take *take, const struct event_record *record)
{
    struct event_values_taker taker;
    size_t length_bytes = 0;
    const void *bytes = dict_text(take->generation->payloads, record->name, &length_bytes);
    const struct jfr_declared *declared = jfr_declared_find(
        take->recording->declared, event_values_taking(&taker, bytes, length_bytes));

    if (declared == NULL) { /* more types at a time than a chunk declares */
        jw_count(JW_COUNT_PROBE_EVENTS_UNTOLD);
        return;
    }
    put(take, record, declared, &taker);
    take->recording->hook_samples++;
}

/* ---- calls of traced methods ---- */

static uint32_t behind_timer(const struct recording_take *take, const struct store_trace *trace)
{
    uint32_t first = 0;

    while (first < trace->frame_count &&
           (begins_with(class_of(take->generation, trace->frames[first]), TIMER) ||
            begins_with(class_of(take->generation, trace->frames[first]), TOLD)))
        first++;
    return first;
}

void recording_take_method_trace(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    const uint64_t end_ns = record->time_ns + record->weight_ns;
    struct recording_fields context = recording_context_fields(take, record->context);
    const struct recording_who who = recording_who_of(recording, record->thread_index,
                                                      (uint32_t)record->thread_serial, &context);
    struct store_trace trace;

    if (!store_get(take->generation->traces, record->trace, &trace))
        trace = (struct store_trace){0};
    const uint32_t first = behind_timer(take, &trace);
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    const uint64_t method = method_at(take, &trace, first);
    const uint64_t stack = stack_key(take, record->trace, &trace, first);
    const size_t begin = jfr_event_begin(out, JFR_TYPE_METHOD_TRACE);

    recording_put_time(recording, record->time_ns + moved_ns);
    recording_put_length(recording, record->time_ns + moved_ns, record->weight_ns);
    jfr_put_varint(out, who.thread);
    jfr_put_varint(out, stack);
    jfr_put_varint(out, method);
    recording_put_carrier(recording, who.carrier);
    recording_put_context(recording, &context);
    jfr_event_end(out, begin);
    recording->hook_samples++;
}

/* ---- tasks that waited ---- */

static uint64_t class_key(struct recording *recording, struct event_values_taker *taker)
{
    struct recording_text text;

    text.bytes = event_values_take_text(taker, &text.length_bytes);
    return text.bytes == NULL ? 0 : recording_class_of_text(&recording->names, text);
}

void recording_take_queue_time(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    struct recording_fields context = recording_context_fields(take, record->context);
    const struct recording_who who = recording_who_of(recording, record->thread_index,
                                                      (uint32_t)record->thread_serial, &context);
    const uint64_t end_ns = record->time_ns + record->weight_ns;
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    struct event_values_taker taker;
    size_t length_bytes = 0;
    const void *bytes = dict_text(take->generation->payloads, record->name, &length_bytes);

    (void)event_values_taking(&taker, bytes, length_bytes);
    const uint64_t task = class_key(recording, &taker), executor = class_key(recording, &taker);
    const struct event_values_thread submitter = event_values_take_thread(&taker);
    const int32_t queue_length = (int32_t)event_values_take_number(&taker);
    (void)JW_INVARIANT(!taker.is_damaged && taker.left_bytes == 0);
    const uint64_t by = thread_key(recording, &submitter);
    const size_t begin = jfr_event_begin(out, JFR_TYPE_QUEUE_TIME);

    recording_put_time(recording, record->time_ns + moved_ns);
    recording_put_length(recording, record->time_ns + moved_ns, record->weight_ns);
    jfr_put_varint(out, who.thread);
    jfr_put_varint(out, task);
    jfr_put_varint(out, executor);
    jfr_put_varint(out, by);
    jfr_put_int(out, queue_length);
    recording_put_carrier(recording, who.carrier);
    recording_put_context(recording, &context);
    jfr_event_end(out, begin);
    recording->hook_samples++;
}

/* Above LockSupport.park, where that tells of a park, and above a method whose calls are sampled. */
static bool is_own(struct recording_text class_name)
{
    static const char *const classes[] = {
        "io/jaywalk/ParkEvents",   "java/lang/JaywalkParks", "io/jaywalk/CallEvents",
        "java/lang/JaywalkCalls",  "io/jaywalk/ThrowEvents", "java/lang/JaywalkThrows",
        "io/jaywalk/NewEvents",    "java/lang/JaywalkNews",  "io/jaywalk/QueueEvents",
        "java/lang/JaywalkQueues", "io/jaywalk/ForkEvents",  "java/lang/JaywalkForks",
        "io/jaywalk/IoEvents",     "java/lang/JaywalkIo"};

    for (size_t i = 0; i < JW_COUNT_OF(classes); i++) {
        if (begins_with(class_name, classes[i]))
            return true;
    }
    return false;
}

static bool is_same(struct recording_text left, struct recording_text right)
{
    return left.length_bytes == right.length_bytes &&
           memcmp(left.bytes, right.bytes, left.length_bytes) == 0;
}

/*
 * An exception of class X is made by constructors that call each other: Throwable's on top, and those of X undermost, of which one may have called another.
 * What lies below them made it, and may be a constructor, too.
 */
static uint32_t behind_constructors(const struct generation *generation,
                                    const struct store_trace *trace, uint32_t first,
                                    dict_id class_name)
{
    struct recording_text thrown;
    uint32_t behind = first;

    thrown.bytes = dict_text(generation->classes, class_name, &thrown.length_bytes);
    for (uint32_t i = first; thrown.bytes != NULL && i < trace->frame_count; i++) {
        const struct recording_method method = method_of(generation, trace->frames[i]);
        const bool is_thrown = is_same(method.class_name, thrown);

        if (method.name.bytes == NULL ||
            !is_same(method.name, (struct recording_text){"<init>", 6}) ||
            (behind != first && !is_thrown))
            break;
        if (is_thrown)
            behind = i + 1;
    }
    return behind;
}

uint32_t recording_frames_of_own(const struct generation *generation,
                                 const struct store_trace *trace, dict_id class_name)
{
    uint32_t first = 0;

    if (trace->frame_count == 0)
        return 0;
    /* What tells is native, and on top. */
    const struct recording_text teller = class_of(generation, trace->frames[0]);
    if (!begins_with(teller, "io/jaywalk/"))
        return 0;
    while (first < trace->frame_count && is_own(class_of(generation, trace->frames[first])))
        first++;
    /* Where so few frames are wanted that they are all there is (jstackdepth=1), they say more than nothing. */
    if (first == trace->frame_count)
        return 0;
    return class_name != DICT_NONE && begins_with(teller, "io/jaywalk/ThrowEvents")
               ? behind_constructors(generation, trace, first, class_name)
               : first;
}

bool recording_declared_begin_take(struct recording_take *take)
{
    return recording_ids_reset(&take->recording->declared_keys,
                               store_last_id(take->generation->traces));
}
