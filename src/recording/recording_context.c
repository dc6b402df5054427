/*
 * What threads work for, in the recording: the fields of contexts, endpoints, spans; dump.
 *
 * A chunk has a field for each attribute that was named when it began. Whoever sets an attribute has
 * named it before, so what a take finds was named before the take: a name that is new when a take
 * begins, begins a new chunk first. Most recordings have no contexts at all, and no virtual threads: fields
 * for these are in no chunk until some come, which begins a new chunk, too (docs/adr/0074).
 */
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "context/context.h"
#include "generation/generation.h"
#include "recording/recording_internal.h"

#define TRACE_ID_BYTES  16
#define TRACE_HEX_BYTES (2 * TRACE_ID_BYTES)

/* A number of `known`: where the fields lie, and below it how many bytes they have. */
#define LENGTH_BITS 16
#define LENGTH_MASK ((1u << LENGTH_BITS) - 1)

#define NO_VALUE UINT32_MAX

/* trace, span and root span; one byte each where there is none */
#define SPAN_FIELDS 3

/* In the map of a take, beside addresses and 0. */
#define NOT_KEPT 1u

_Static_assert(JFR_ATTRIBUTES_MAX == CONTEXT_ATTRIBUTES_MAX, "a field for each attribute");
_Static_assert(JFR_ATTRIBUTE_NAME_CAPACITY == CONTEXT_NAME_MAX_BYTES + 1, "and each whole name");
_Static_assert(sizeof(uint64_t) + (SPAN_FIELDS + JFR_ATTRIBUTES_MAX) * JFR_VARINT_MAX_BYTES <=
                   LENGTH_MASK,
               "lengths fit");

/* In any recording of this process: later ones begin with fields for it. relaxed: too late is as good as not yet. */
static _Atomic bool has_come_any, has_come_virtual;

/* A context that means something without its generation. */
struct context_told {
    unsigned char trace_id[TRACE_ID_BYTES];
    uint64_t span_id;
    uint64_t root_span_id;
    struct recording_virtual mounted;
    struct recording_text values[CONTEXT_ATTRIBUTES_MAX];
};

/* The same as it is kept; the bytes of name and values follow. */
struct context_head {
    unsigned char trace_id[TRACE_ID_BYTES];
    uint64_t span_id;
    uint64_t root_span_id;
    uint64_t virtual_thread;
    uint32_t reserved;                            /* 0: the same context has the same bytes */
    uint32_t name_bytes;                          /* NO_VALUE: not known; its bytes are the first */
    uint32_t value_bytes[CONTEXT_ATTRIBUTES_MAX]; /* NO_VALUE: unset */
};

_Static_assert(sizeof(struct context_head) == TRACE_ID_BYTES + 3 * sizeof(uint64_t) +
                                                  (2 + CONTEXT_ATTRIBUTES_MAX) * sizeof(uint32_t),
               "nothing between or behind its parts");

/* ---- names of attributes ---- */

static const char *name_behind(const struct recording *recording)
{
    const struct recording_sources *sources = &recording->config.sources;
    const size_t count = recording->contexts.attributes.count;

    return sources->attribute == NULL || count == JFR_ATTRIBUTES_MAX
               ? NULL
               : sources->attribute(sources->context, (unsigned)count);
}

/* ---- fields that a chunk has ---- */

static bool has(const struct recording *recording, unsigned fields)
{
    return (recording->left_out & fields) == 0;
}

void recording_context_new_chunk(struct recording *recording)
{
    struct recording_contexts *contexts = &recording->contexts;
    const char *name;

    while ((name = name_behind(recording)) != NULL)
        (void)jfr_attributes_add(&contexts->attributes, name);
    contexts->has_any |= contexts->attributes.count > 0 || recording->config.has_contexts ||
                         jw_load_relaxed(&has_come_any);
    contexts->has_virtual |= jw_load_relaxed(&has_come_virtual);
    recording->left_out = 0;
    if (recording_dialect(recording) != JFR_DIALECT_STANDARD)
        return; /* whose readers want all fields */
    if (!contexts->has_any)
        recording->left_out |= JFR_OF_CONTEXT;
    if (!contexts->has_virtual)
        recording->left_out |= JFR_OF_VIRTUAL;
    if (recording->config.has_no_wall)
        recording->left_out |= JFR_OF_WALL;
}

/* Notes what the chunks from the next one on have fields for. */
static void note_context(struct recording_contexts *contexts, const struct context_record *record)
{
    static const struct context_record none;

    contexts->has_virtual |= record->virtual_thread != 0;
    contexts->has_any |= record->span_id != 0 || record->root_span_id != 0 ||
                         memcmp(record->trace_id, none.trace_id, sizeof none.trace_id) != 0 ||
                         memcmp(record->values, none.values, sizeof none.values) != 0;
    if (contexts->has_virtual)
        jw_store_relaxed(&has_come_virtual, true);
    if (contexts->has_any)
        jw_store_relaxed(&has_come_any, true);
}

static bool lacks_fields(const struct recording *recording)
{
    return (recording->contexts.has_any && !has(recording, JFR_OF_CONTEXT)) ||
           (recording->contexts.has_virtual && !has(recording, JFR_OF_VIRTUAL));
}

bool recording_context_needs_chunk(struct recording *recording, const struct generation *generation)
{
    struct recording_contexts *contexts = &recording->contexts;
    const uint32_t last_id = dict_last_id(generation->contexts);
    struct context_record record;

    for (uint32_t id = 1; id <= last_id && !(contexts->has_any && contexts->has_virtual); id++)
        if (context_record_get(generation->contexts, id, &record))
            note_context(contexts, &record);
    return lacks_fields(recording) || name_behind(recording) != NULL;
}

void recording_put_carrier(struct recording *recording, uint64_t carrier)
{
    if (has(recording, JFR_OF_VIRTUAL))
        jfr_put_varint(&recording->events, carrier);
}

void recording_put_context(struct recording *recording, const struct recording_fields *context)
{
    jfr_put_bytes(&recording->events, context->bytes, context->length_bytes);
}

/* ---- fields ---- */

/* Text of an id; none is none. Each id in a record is one of its generation, or a defect of ours. */
static struct recording_text text_of(const struct dict_table *table, dict_id id)
{
    struct recording_text text;

    text.bytes = dict_text(table, id, &text.length_bytes);
    (void)JW_INVARIANT(id == DICT_NONE || text.bytes != NULL);
    return text;
}

/* Likewise; all zero when there is no such context. */
static bool told_of(struct recording_take *take, dict_id id, struct context_told *told)
{
    const struct generation *generation = take->generation;
    struct context_record record;
    const bool is_known = context_record_get(generation->contexts, id, &record);

    (void)JW_INVARIANT(id == DICT_NONE || is_known);
    note_context(&take->recording->contexts, &record);
    told->mounted = recording_virtual_of(take->recording, generation, id);
    memcpy(told->trace_id, record.trace_id, sizeof told->trace_id);
    told->span_id = record.span_id;
    told->root_span_id = record.root_span_id;
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++)
        told->values[i] = text_of(generation->values, record.values[i]);
    return is_known;
}

static uint64_t trace_key(struct recording_names *names, const unsigned char trace_id[])
{
    static const unsigned char none[TRACE_ID_BYTES];
    static const char digits[] = "0123456789abcdef";
    char hex[TRACE_HEX_BYTES];

    if (memcmp(trace_id, none, sizeof none) == 0)
        return 0;
    for (size_t i = 0; i < TRACE_ID_BYTES; i++) {
        hex[2 * i] = digits[trace_id[i] >> 4];
        hex[2 * i + 1] = digits[trace_id[i] & 0xf];
    }
    return recording_text_key(names, JFR_TYPE_TRACE_ID, (struct recording_text){hex, sizeof hex});
}

/* Appends the fields of a context, with their constants. */
static void put_told(struct recording *recording, const struct context_told *told,
                     struct jfr_buffer *out)
{
    const size_t count = recording->contexts.attributes.count;

    /* One that came while those of the take were looked at. */
    if (lacks_fields(recording))
        jw_count(JW_COUNT_CONTEXT_TORN);
    if (!has(recording, JFR_OF_CONTEXT))
        return;
    jfr_put_varint(out, trace_key(&recording->names, told->trace_id));
    jfr_put_varint(out, told->span_id);
    jfr_put_varint(out, told->root_span_id);
    for (size_t i = 0; i < count; i++)
        jfr_put_varint(
            out, recording_text_key(&recording->names, JFR_TYPE_ATTRIBUTE_VALUE, told->values[i]));
    for (size_t i = count; i < CONTEXT_ATTRIBUTES_MAX; i++)
        (void)JW_INVARIANT(told->values[i].bytes == NULL); /* it has no name */
}

static struct recording_fields no_context(const struct recording *recording)
{
    static const unsigned char zeros[SPAN_FIELDS + JFR_ATTRIBUTES_MAX];
    const size_t count =
        has(recording, JFR_OF_CONTEXT) ? SPAN_FIELDS + recording->contexts.attributes.count : 0;

    return (struct recording_fields){zeros, count, 0};
}

static uint64_t virtual_key(struct recording *recording, const struct context_told *told)
{
    return told->mounted.number == 0
               ? 0
               : recording_virtual_thread_key(&recording->names, told->mounted.number,
                                              told->mounted.name);
}

/* Behind the key of the virtual thread. */
static struct recording_fields fields_at(const unsigned char *bytes, size_t length_bytes)
{
    struct recording_fields fields;

    memcpy(&fields.virtual_thread_key, bytes, sizeof fields.virtual_thread_key);
    fields.bytes = bytes + sizeof fields.virtual_thread_key;
    fields.length_bytes = length_bytes - sizeof fields.virtual_thread_key;
    return fields;
}

struct recording_fields recording_context_fields(struct recording_take *take, dict_id id)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *fields = &recording->contexts.fields;
    uint64_t *known =
        id == DICT_NONE ? NULL : recording_ids_at(&recording->contexts.known, (uint32_t)id);
    struct context_told told;

    if (known == NULL) {
        if (id != DICT_NONE)
            recording_fail_memory(recording);
        return no_context(recording);
    }
    if (*known == 0) {
        const size_t begin = fields->used_bytes;

        if (!told_of(take, id, &told))
            return no_context(recording);
        const uint64_t thread_key = virtual_key(recording, &told);
        jfr_put_bytes(fields, &thread_key, sizeof thread_key);
        put_told(recording, &told, fields);
        if (fields->has_failed) {
            recording_fail_memory(recording);
            return no_context(recording);
        }
        *known = (uint64_t)begin << LENGTH_BITS | (fields->used_bytes - begin);
    }
    return fields_at(fields->bytes + (*known >> LENGTH_BITS), *known & LENGTH_MASK);
}

/* ---- kept for the turns of a thread that waits ---- */

static struct recording_kept *keep(struct recording *recording, const struct context_told *told)
{
    struct jfr_buffer *out = &recording->contexts.scratch;
    const struct recording_text *name = &told->mounted.name;
    struct context_head head = {
        .span_id = told->span_id,
        .root_span_id = told->root_span_id,
        .virtual_thread = told->mounted.number,
        .name_bytes = name->bytes == NULL ? NO_VALUE : (uint32_t)name->length_bytes,
    };

    memcpy(head.trace_id, told->trace_id, sizeof head.trace_id);
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++)
        head.value_bytes[i] =
            told->values[i].bytes == NULL ? NO_VALUE : (uint32_t)told->values[i].length_bytes;
    jfr_buffer_clear(out);
    jfr_put_bytes(out, &head, sizeof head);
    if (name->bytes != NULL)
        jfr_put_bytes(out, name->bytes, name->length_bytes);
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++)
        if (told->values[i].bytes != NULL)
            jfr_put_bytes(out, told->values[i].bytes, told->values[i].length_bytes);
    if (out->has_failed)
        return NULL;
    return recording_idle_keep_context(&recording->wall.idle, out->bytes, out->used_bytes);
}

struct recording_kept *recording_kept_context(struct recording_take *take, dict_id id)
{
    struct recording *recording = take->recording;
    struct context_told told;
    uint64_t *known;

    if (id == DICT_NONE)
        return NULL;
    known = recording_ids_at(&recording->contexts.kept, (uint32_t)id);
    if (known == NULL) {
        jw_count(JW_COUNT_CONTEXT_NOT_KEPT);
        return NULL;
    }
    if (*known == 0) {
        struct recording_kept *kept = told_of(take, id, &told) ? keep(recording, &told) : NULL;

        *known = kept == NULL ? NOT_KEPT : (uint64_t)(uintptr_t)kept;
    }
    if (*known != NOT_KEPT)
        return (struct recording_kept *)(uintptr_t)*known;
    jw_count(JW_COUNT_CONTEXT_NOT_KEPT);
    return NULL;
}

/* The next of the texts behind a head. */
static struct recording_text kept_text(const char **at, uint32_t length_bytes)
{
    const struct recording_text text = {*at, length_bytes};

    if (length_bytes == NO_VALUE)
        return (struct recording_text){NULL, 0};
    *at += length_bytes;
    return text;
}

/* The first of the texts is its name: where it was not known then, it may be by now. */
static struct recording_virtual mounted_of(struct recording *recording,
                                           const struct context_head *head, const char **at)
{
    struct recording_virtual mounted = {head->virtual_thread, kept_text(at, head->name_bytes)};

    if (mounted.number != 0 && mounted.name.bytes == NULL)
        mounted.name = recording_virtual_name(recording, mounted.number, mounted.name);
    return mounted;
}

struct recording_virtual recording_kept_virtual(struct recording *recording,
                                                const struct recording_kept *kept)
{
    if (kept == NULL)
        return (struct recording_virtual){0};

    const struct context_head *head = recording_kept_bytes(kept);
    const char *at = (const char *)(head + 1);
    return mounted_of(recording, head, &at);
}

struct recording_fields recording_kept_context_fields(struct recording *recording,
                                                      const struct recording_kept *kept)
{
    struct jfr_buffer *out = &recording->contexts.scratch;
    struct context_told told = {.span_id = 0};

    if (kept == NULL)
        return no_context(recording);

    const struct context_head *head = recording_kept_bytes(kept);
    const char *at = (const char *)(head + 1);
    memcpy(told.trace_id, head->trace_id, sizeof told.trace_id);
    told.span_id = head->span_id;
    told.root_span_id = head->root_span_id;
    told.mounted = mounted_of(recording, head, &at);
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++)
        told.values[i] = kept_text(&at, head->value_bytes[i]);
    const uint64_t thread_key = virtual_key(recording, &told);
    jfr_buffer_clear(out);
    jfr_put_bytes(out, &thread_key, sizeof thread_key);
    put_told(recording, &told, out);
    if (out->has_failed)
        return no_context(recording);
    return fields_at(out->bytes, out->used_bytes);
}

/* ---- endpoints and spans ---- */

static uint64_t name_key(struct recording_take *take, dict_id id)
{
    return recording_text_key(&take->recording->names, JFR_TYPE_ENDPOINT_NAME,
                              text_of(take->generation->endpoints, id));
}

/* Whoever told it: the virtual thread, where it was one. */
static uint64_t thread_key(struct recording_take *take, const struct event_record *record,
                           const struct recording_fields *context)
{
    return context->virtual_thread_key != 0
               ? context->virtual_thread_key
               : recording_thread_key(&take->recording->names, record->thread_index,
                                      (uint32_t)record->thread_serial);
}

void recording_take_endpoint(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    struct context_told told;

    (void)told_of(take, record->context, &told);
    const struct recording_fields context = recording_context_fields(take, record->context);
    const struct recording_foreign foreign = {
        .type = JFR_TYPE_ENDPOINT,
        .start_ns = recording_time(recording, record->time_ns),
        .thread = thread_key(take, record, &context),
        .name = text_of(take->generation->endpoints, record->name),
        .operation = text_of(take->generation->endpoints, record->operation),
        .root_span_id = record->value,
    };
    if (recording_put_foreign(recording, &foreign))
        return;
    const size_t begin = jfr_event_begin(out, JFR_TYPE_ENDPOINT);
    recording_put_time(recording, foreign.start_ns);
    jfr_put_varint(out, foreign.thread);
    jfr_put_varint(out, trace_key(&recording->names, told.trace_id));
    jfr_put_varint(out, record->value);
    jfr_put_varint(out, name_key(take, record->name));
    jfr_put_varint(out, name_key(take, record->operation));
    jfr_event_end(out, begin);
}

/* Of a span, whose fields are in each chunk. */
static void put_always(struct recording *recording, const struct recording_fields *context)
{
    static const unsigned char none[SPAN_FIELDS];

    recording_put_context(recording, context);
    if (!has(recording, JFR_OF_CONTEXT))
        jfr_put_bytes(&recording->events, none, sizeof none);
}

/* As in JFR itself it lies in the chunk in which it ended, whenever it began. */
void recording_take_span(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;
    struct jfr_buffer *out = &recording->events;
    const uint64_t end_ns = record->time_ns + record->weight_ns;
    const struct recording_fields context = recording_context_fields(take, record->context);
    const uint64_t moved_ns = recording_time(recording, end_ns) - end_ns;
    const struct recording_foreign foreign = {
        .type = JFR_TYPE_SPAN,
        .start_ns = record->time_ns + moved_ns,
        .duration_ns = record->weight_ns,
        .thread = thread_key(take, record, &context),
        .name = text_of(take->generation->endpoints, record->name),
    };
    if (recording_put_foreign(recording, &foreign))
        return;
    const size_t begin = jfr_event_begin(out, JFR_TYPE_SPAN);

    recording_put_time(recording, foreign.start_ns);
    recording_put_length(recording, foreign.start_ns, foreign.duration_ns);
    jfr_put_varint(out, foreign.thread);
    jfr_put_varint(out, name_key(take, record->name));
    put_always(recording, &context);
    jfr_event_end(out, begin);
}

/* ---- a take ---- */

bool recording_context_begin_take(struct recording_take *take)
{
    struct recording_contexts *contexts = &take->recording->contexts;
    const uint32_t last_id = dict_last_id(take->generation->contexts);

    jfr_buffer_clear(&contexts->fields);
    return recording_ids_reset(&contexts->known, last_id) &&
           recording_ids_reset(&contexts->kept, last_id);
}

void recording_context_close(struct recording *recording)
{
    struct recording_contexts *contexts = &recording->contexts;

    recording_ids_close(&contexts->known);
    recording_ids_close(&contexts->kept);
    jfr_buffer_close(&contexts->fields);
    jfr_buffer_close(&contexts->scratch);
}
