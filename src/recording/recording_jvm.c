/* What a recording tells of the JVM around its samples: flags, heap, collections, counts of threads and classes; dump. */
#include <string.h>

#include "recording/recording_internal.h"

/* The origin of flags that stand in the first chunk alone: there are more than a thousand, and they never change. */
#define UNCHANGED "Default"

/* ---- once a chunk ---- */

static void put_flag(struct recording *recording, uint64_t now_ns,
                     const struct recording_flag *flag)
{
    static const enum jfr_type types[] = {
        [RECORDING_FLAG_BOOLEAN] = JFR_TYPE_BOOLEAN_FLAG,
        [RECORDING_FLAG_INT] = JFR_TYPE_INT_FLAG,
        [RECORDING_FLAG_UINT] = JFR_TYPE_UNSIGNED_INT_FLAG,
        [RECORDING_FLAG_LONG] = JFR_TYPE_LONG_FLAG,
        [RECORDING_FLAG_ULONG] = JFR_TYPE_UNSIGNED_LONG_FLAG,
        [RECORDING_FLAG_DOUBLE] = JFR_TYPE_DOUBLE_FLAG,
        [RECORDING_FLAG_TEXT] = JFR_TYPE_STRING_FLAG,
    };
    struct jfr_buffer *out = &recording->events;
    const uint64_t origin = recording_simple(&recording->names, JFR_TYPE_FLAG_ORIGIN, flag->origin);
    const size_t begin = recording_event(recording, types[flag->kind], now_ns);

    jfr_put_string(out, flag->name);
    switch (flag->kind) {
    case RECORDING_FLAG_BOOLEAN:
        jfr_put_u8(out, flag->number != 0);
        break;
    case RECORDING_FLAG_INT:
    case RECORDING_FLAG_UINT:
        jfr_put_int(out, (int32_t)flag->number);
        break;
    case RECORDING_FLAG_LONG:
    case RECORDING_FLAG_ULONG:
        jfr_put_varint(out, flag->number);
        break;
    case RECORDING_FLAG_DOUBLE:
        jfr_put_be64(out, flag->number);
        break;
    case RECORDING_FLAG_TEXT:
    case RECORDING_FLAG_UNTOLD:
        jfr_put_string(out, flag->text);
        break;
    }
    jfr_put_varint(out, origin);
    jfr_event_end(out, begin);
}

/* Key of a text in a pool of one field; 0: it is not known. */
static uint64_t simple_or_none(struct recording *recording, enum jfr_type type, const char *text)
{
    return text == NULL ? 0 : recording_simple(&recording->names, type, text);
}

static void put_heap(struct recording *recording, uint64_t now_ns,
                     const struct recording_heap *heap)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t young = simple_or_none(recording, JFR_TYPE_GC_NAME, heap->young_collector);
    const uint64_t old = simple_or_none(recording, JFR_TYPE_GC_NAME, heap->old_collector);
    const uint64_t mode = simple_or_none(recording, JFR_TYPE_OOP_MODE, heap->compressed_mode);

    size_t begin = recording_event(recording, JFR_TYPE_GC_CONFIGURATION, now_ns);
    jfr_put_varint(out, young);
    jfr_put_varint(out, old);
    jfr_put_varint(out, heap->parallel_threads);
    jfr_put_varint(out, heap->concurrent_threads);
    jfr_put_u8(out, heap->has_dynamic_threads);
    jfr_put_u8(out, heap->is_explicit_concurrent);
    jfr_put_u8(out, heap->is_explicit_disabled);
    jfr_put_long(out, heap->pause_target_ms);
    jfr_put_varint(out, heap->time_ratio);
    jfr_event_end(out, begin);

    begin = recording_event(recording, JFR_TYPE_GC_HEAP_CONFIGURATION, now_ns);
    jfr_put_varint(out, heap->min_bytes);
    jfr_put_varint(out, heap->max_bytes);
    jfr_put_varint(out, heap->initial_bytes);
    jfr_put_u8(out, heap->is_compressed);
    jfr_put_varint(out, mode);
    jfr_put_varint(out, heap->alignment_bytes);
    jfr_put_u8(out, heap->address_bits);
    jfr_event_end(out, begin);
}

void recording_put_flags(struct recording *recording, uint64_t now_ns)
{
    const struct recording_sources *sources = &recording->config.sources;
    const bool is_first = recording->chunks == 1;
    struct recording_flag flag;
    struct recording_heap heap;

    for (uint32_t i = 0; sources->flag != NULL && sources->flag(sources->context, i, &flag); i++)
        if (flag.kind != RECORDING_FLAG_UNTOLD && (is_first || strcmp(flag.origin, UNCHANGED) != 0))
            put_flag(recording, now_ns, &flag);
    if (sources->heap != NULL && sources->heap(sources->context, &heap))
        put_heap(recording, now_ns, &heap);
}

/* ---- collections ---- */

/* Keys. */
struct whens {
    uint64_t before, after;
};

struct heap_summary {
    uint64_t time_ns, when, committed_bytes, used_bytes;
};

static void put_heap_summary(struct recording *recording, const struct recording_collection *told,
                             const struct heap_summary *heap)
{
    struct jfr_buffer *out = &recording->events;

    if (heap->used_bytes == 0)
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_GC_HEAP_SUMMARY, heap->time_ns);
    jfr_put_varint(out, told->number);
    jfr_put_varint(out, heap->when);
    jfr_put_varint(out, 0); /* start */
    jfr_put_varint(out, 0); /* committedEnd */
    jfr_put_varint(out, heap->committed_bytes);
    jfr_put_varint(out, 0); /* reservedEnd */
    jfr_put_varint(out, told->reserved_bytes);
    jfr_put_varint(out, heap->used_bytes);
    jfr_event_end(out, begin);
}

static void put_collection(struct recording *recording, const struct recording_collection *told,
                           const struct whens *whens)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t name = simple_or_none(recording, JFR_TYPE_GC_NAME, told->name);
    const uint64_t cause = simple_or_none(recording, JFR_TYPE_GC_CAUSE, told->cause);
    const uint64_t begin_ns = recording_span(recording, told->begin_ns, told->end_ns);
    const uint64_t span_ns = told->end_ns > begin_ns ? told->end_ns - begin_ns : 0;

    put_heap_summary(recording, told,
                     &(struct heap_summary){begin_ns, whens->before, told->committed_before_bytes,
                                            told->used_before_bytes});
    size_t begin = recording_event(recording, JFR_TYPE_GARBAGE_COLLECTION, begin_ns);
    recording_put_length(recording, begin_ns, span_ns);
    jfr_put_varint(out, told->number);
    jfr_put_varint(out, name);
    jfr_put_varint(out, cause);
    recording_put_length(recording, begin_ns, span_ns);
    recording_put_length(recording, begin_ns, span_ns);
    jfr_event_end(out, begin);

    begin = recording_event(recording, JFR_TYPE_GC_PHASE_PAUSE, begin_ns);
    recording_put_length(recording, begin_ns, span_ns);
    jfr_put_varint(out, 0); /* eventThread */
    jfr_put_varint(out, told->number);
    jfr_put_string(out, "GC Pause");
    jfr_event_end(out, begin);

    if (told->kind != RECORDING_COLLECTION_ANY) {
        begin = recording_event(recording,
                                told->kind == RECORDING_COLLECTION_YOUNG
                                    ? JFR_TYPE_YOUNG_GARBAGE_COLLECTION
                                    : JFR_TYPE_OLD_GARBAGE_COLLECTION,
                                begin_ns);
        recording_put_length(recording, begin_ns, span_ns);
        jfr_put_varint(out, told->number);
        jfr_event_end(out, begin);
    }

    put_heap_summary(recording, told,
                     &(struct heap_summary){told->end_ns, whens->after, told->committed_bytes,
                                            told->used_bytes});
}

static void put_sizes(struct jfr_buffer *out, uint64_t committed_bytes, uint64_t used_bytes,
                      uint64_t reserved_bytes)
{
    jfr_put_varint(out, committed_bytes);
    jfr_put_varint(out, used_bytes);
    jfr_put_varint(out, reserved_bytes);
}

static uint64_t less(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

/* As of now, which is a moment behind the last collection. */
static void put_metaspace(struct recording *recording, uint64_t now_ns, uint32_t number,
                          uint64_t when)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct jfr_buffer *out = &recording->events;
    struct recording_metaspace told;

    if (sources->metaspace == NULL || !sources->metaspace(sources->context, &told))
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_METASPACE_SUMMARY, now_ns);
    jfr_put_varint(out, number);
    jfr_put_varint(out, when);
    put_sizes(out, told.committed_bytes, told.used_bytes, told.reserved_bytes);
    put_sizes(out, less(told.committed_bytes, told.class_committed_bytes),
              less(told.used_bytes, told.class_used_bytes),
              less(told.reserved_bytes, told.class_reserved_bytes));
    put_sizes(out, told.class_committed_bytes, told.class_used_bytes, told.class_reserved_bytes);
    jfr_event_end(out, begin);
}

static void put_collections(struct recording *recording, uint64_t now_ns)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_collection told;
    struct whens whens = {0, 0};
    uint32_t last = 0;

    while (sources->collection != NULL && sources->collection(sources->context, &told)) {
        /* Of before the recording. */
        if (told.end_ns < recording->opened_ns)
            continue;
        if (last == 0)
            whens =
                (struct whens){recording_simple(&recording->names, JFR_TYPE_GC_WHEN, "Before GC"),
                               recording_simple(&recording->names, JFR_TYPE_GC_WHEN, "After GC")};
        put_collection(recording, &told, &whens);
        last = told.number;
    }
    if (last != 0)
        put_metaspace(recording, now_ns, last, whens.after);
}

/* ---- counts ---- */

static void put_counts(struct recording *recording, uint64_t now_ns)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct jfr_buffer *out = &recording->events;
    struct recording_jvm_counts counts;

    if (sources->counts == NULL || !sources->counts(sources->context, &counts))
        return;
    size_t begin = recording_event(recording, JFR_TYPE_THREAD_STATISTICS, now_ns);
    jfr_put_varint(out, counts.threads);
    jfr_put_varint(out, counts.daemon_threads);
    jfr_put_varint(out, counts.started_threads);
    jfr_put_varint(out, counts.peak_threads);
    jfr_event_end(out, begin);

    begin = recording_event(recording, JFR_TYPE_CLASS_STATISTICS, now_ns);
    jfr_put_varint(out, counts.loaded_classes);
    jfr_put_varint(out, counts.unloaded_classes);
    jfr_event_end(out, begin);
}

void recording_put_jvm(struct recording *recording, uint64_t now_ns)
{
    put_collections(recording, now_ns);
    put_counts(recording, now_ns);
}
