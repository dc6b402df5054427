/*
 * What --latency lets in: what took long itself, and what happened on a thread inside of a span that did. Context: tool.
 *
 * Spans are events of types that say how long a thread was at one piece of work; those that took long enough are
 * gathered before the samples are read, as intervals of each thread, 24 bytes each, joined where they overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_feed_internal.h"
#include "options/options_value.h"

/* Source: metadata of recordings of JDK 25 (JEP 520) and of async-profiler 4.4; jfr_types.def. */
static const char *const span_types[] = {"jaywalk.Span", "jdk.MethodTrace", "profiler.Span"};

#define SPANS_FIRST ((size_t)1024)

bool cli_latency_read(const char *text, uint64_t *latency_ns, struct jw_error *err)
{
    const size_t length = strlen(text);
    const bool has_unit = length > 0 && (text[length - 1] < '0' || text[length - 1] > '9');
    const uint64_t unit_ns = has_unit ? 1 : JW_NS_PER_MS; /* as users of async-profiler have it */
    uint64_t ns = 0;
    const enum options_value_status status = options_value_duration(text, length, &ns);

    ns = ns > (uint64_t)INT64_MAX / unit_ns ? 0 : ns * unit_ns;
    if (status == OPTIONS_VALUE_OK && ns > 0) {
        *latency_ns = ns;
        return true;
    }
    jw_error_set(err,
                 "--latency: '%.100s' is no time that something could take; give 10ms, 1s or 250us",
                 text);
    return false;
}

/* `ticks` of the chunk's clock in ns, rounded down. */
static bool ticks_to_ns(const struct jfr_reader_chunk *chunk, __int128 ticks, __int128 *ns)
{
    __int128 whole = ticks * (int64_t)JW_NS_PER_SECOND;

    if (chunk->ticks_per_second <= 0)
        return false;
    *ns = whole / chunk->ticks_per_second;
    if (whole % chunk->ticks_per_second < 0)
        --*ns;
    return true;
}

bool cli_field_ns(const struct jfr_reader_chunk *chunk, const struct jfr_field *field, int64_t *out)
{
    __int128 ns = 0;
    int64_t number;

    /* Of both ends of its range the JVM says: no such time, and for ever. */
    if (!jfr_value_integer(&field->value, &number) || number == INT64_MIN || number == INT64_MAX)
        return false;
    switch (field->measure) {
    case JFR_MEASURE_NONE:
        return false;
    case JFR_MEASURE_TIME_TICKS:
        if (!ticks_to_ns(chunk, (__int128)number - chunk->start_ticks, &ns))
            return false;
        ns += chunk->start_unix_ns;
        break;
    case JFR_MEASURE_SPAN_TICKS:
        if (!ticks_to_ns(chunk, number, &ns))
            return false;
        break;
    case JFR_MEASURE_SPAN_NS:
        ns = number;
        break;
    case JFR_MEASURE_SPAN_US:
        ns = (__int128)number * 1000;
        break;
    case JFR_MEASURE_TIME_MS:
    case JFR_MEASURE_SPAN_MS:
        ns = (__int128)number * (int64_t)JW_NS_PER_MS;
        break;
    case JFR_MEASURE_SPAN_S:
        ns = (__int128)number * (int64_t)JW_NS_PER_SECOND;
        break;
    }
    *out = (int64_t)ns;
    return ns >= INT64_MIN && ns <= INT64_MAX;
}

bool cli_duration_ns(const struct jfr_reader_chunk *chunk, const struct jfr_reader_event *event,
                     int64_t *out)
{
    struct jfr_fields fields;
    struct jfr_field field;

    if (!jfr_fields_begin(&event->value, &fields))
        return false;
    while (jfr_fields_next(&fields, &field)) {
        if (strcmp(field.name, "duration") == 0)
            return cli_field_ns(chunk, &field, out);
    }
    return false;
}

/* A number of the thread that is the same in every chunk; 0: not known. */
static uint64_t thread_of(const struct jfr_reader_event *event)
{
    static const char *const numbers[] = {"javaThreadId", "osThreadId"};
    struct jfr_value thread, field;
    int64_t number;

    (void)cli_thread_key(event, &thread);
    for (size_t i = 0; thread.reader != NULL && i < JW_COUNT_OF(numbers); i++) {
        if (jfr_value_field(&thread, numbers[i], &field) && jfr_value_integer(&field, &number) &&
            number > 0)
            return (uint64_t)number << 1 | i;
    }
    return 0;
}

int64_t cli_moment_ns(const struct jfr_reader_chunk *chunk, int64_t ticks)
{
    const __int128 since = (__int128)ticks - chunk->start_ticks;
    const int64_t rate = chunk->ticks_per_second > 0 ? chunk->ticks_per_second : 1;
    const __int128 ns = since * (int64_t)JW_NS_PER_SECOND / rate + chunk->start_unix_ns;

    return ns > INT64_MAX ? INT64_MAX : ns < 0 ? 0 : (int64_t)ns;
}

static bool add_span(struct cli_part *part, const struct cli_span *span)
{
    if (part->span_interval_count == part->span_interval_capacity) {
        const size_t capacity =
            part->span_interval_capacity == 0 ? SPANS_FIRST : part->span_interval_capacity * 2;
        struct cli_span *grown =
            jw_realloc(part->span_intervals, jw_mul_bytes(capacity, sizeof *grown));

        if (grown == NULL)
            return false;
        part->span_intervals = grown;
        part->span_interval_capacity = capacity;
    }
    part->span_intervals[part->span_interval_count++] = *span;
    return true;
}

static bool take_span(struct cli_part *part, const struct jfr_reader_chunk *chunk,
                      const struct jfr_reader_event *event)
{
    struct cli_span span = {.begin_ns = cli_moment_ns(chunk, event->start_ticks)};
    int64_t ns = 0;

    if (!cli_duration_ns(chunk, event, &ns) || ns < (int64_t)part->latency_ns)
        return true;
    span.thread = thread_of(event);
    span.end_ns = span.begin_ns > INT64_MAX - ns ? INT64_MAX : span.begin_ns + ns;
    return span.thread == 0 || add_span(part, &span);
}

static int by_thread_and_begin(const void *left, const void *right)
{
    const struct cli_span *a = left;
    const struct cli_span *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static void join_spans(struct cli_part *part)
{
    struct cli_span *spans = part->span_intervals;
    size_t kept = 0;

    if (part->span_interval_count == 0)
        return;
    qsort(spans, part->span_interval_count, sizeof *spans, by_thread_and_begin);
    for (size_t i = 1; i < part->span_interval_count; i++) {
        if (spans[i].thread != spans[kept].thread || spans[i].begin_ns > spans[kept].end_ns)
            spans[++kept] = spans[i];
        else if (spans[i].end_ns > spans[kept].end_ns)
            spans[kept].end_ns = spans[i].end_ns;
    }
    part->span_interval_count = kept + 1;
}

static bool is_span(const char *type_name)
{
    for (size_t i = 0; i < JW_COUNT_OF(span_types); i++) {
        if (strcmp(span_types[i], type_name) == 0)
            return true;
    }
    return false;
}

bool cli_latency_settle(struct cli_part *part, const char *path, struct jw_error *err)
{
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jfr_reader *reader;
    struct jw_error unread = {{0}}; /* who reads the samples says it */
    bool has_memory = true;

    part->span_interval_count = 0;
    if (part->latency_ns == 0)
        return true;
    reader = jfr_reader_open(path, err);
    if (reader == NULL)
        return false;
    while (has_memory && jfr_reader_next_types(reader, &chunk, &unread)) {
        bool has_spans = false;

        for (size_t i = 0; i < JW_COUNT_OF(span_types); i++)
            has_spans |= jfr_reader_has_event(reader, span_types[i]);
        if (!has_spans)
            continue;
        if (!jfr_reader_begin_events(reader, &unread))
            break;
        while (has_memory && jfr_reader_next_event(reader, &event, &unread)) {
            if (is_span(event.type_name))
                has_memory = take_span(part, &chunk, &event);
        }
    }
    jfr_reader_close(reader);
    join_spans(part);
    if (!has_memory)
        jw_error_set(err, "out of memory for the spans of %s; a longer --latency lets in fewer",
                     path);
    return has_memory;
}

bool cli_is_latent(struct cli_part *part, const struct jfr_reader_chunk *chunk,
                   const struct jfr_reader_event *event)
{
    const struct cli_span *spans = part->span_intervals;
    int64_t ns = 0;
    size_t low = 0;
    size_t high = part->span_interval_count;

    if (part->latency_ns == 0)
        return true;
    if (cli_duration_ns(chunk, event, &ns) && ns >= (int64_t)part->latency_ns)
        return part->is_latency_used = true;
    if (high == 0)
        return false;

    const struct cli_span wanted = {.thread = thread_of(event),
                                    .begin_ns = cli_moment_ns(chunk, event->start_ticks)};
    while (low < high) { /* the first one that begins behind it */
        const size_t middle = low + (high - low) / 2;

        if (by_thread_and_begin(&spans[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (wanted.thread == 0 || low == 0 || spans[low - 1].thread != wanted.thread ||
        wanted.begin_ns >= spans[low - 1].end_ns)
        return false;
    return part->is_latency_used = true;
}
