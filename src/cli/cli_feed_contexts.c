/*
 * What a sample was taken for: whether it is in the part that is wanted, and which boxes it stands in.
 * Context: tool.
 */
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "cli/cli_feed_internal.h"

/* The value of this attribute; NULL: the sample has none. */
static const struct jfr_value *attribute_of(const struct cli_context *context, const char *name)
{
    for (size_t i = 0; context->has_told && i < context->told.attribute_count; i++) {
        const struct jfr_context_attribute *attribute = &context->told.attributes[i];

        if (strcmp(attribute->name, name) == 0)
            return attribute->value.reader == NULL ? NULL : &attribute->value;
    }
    return NULL;
}

/* Names that samples of this type can have, once in a chunk. */
static void note_attributes(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_type_memo *memo = cli_type_of(feed, event);
    char *known = feed->found->attributes;
    const char *name;

    if (memo->is_told)
        return;
    memo->is_told = true;
    for (size_t i = 0; (name = jfr_context_attribute_name(event->type, i)) != NULL; i++) {
        if (cli_has_name(known, name) ||
            strlen(known) + strlen(name) + 3 > sizeof feed->found->attributes)
            continue;
        snprintf(known + strlen(known), sizeof feed->found->attributes - strlen(known), "%s%s",
                 known[0] == '\0' ? "" : ", ", name);
    }
}

static void read_context(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_context *context = &feed->context;
    struct jfr_context *told = &context->told;

    context->is_any = false;
    context->request = NULL;
    context->has_told = jfr_context_read(event, told);
    if (!context->has_told)
        return;
    note_attributes(feed, event);
    context->request = cli_requests_find(feed->requests, told->root_span_id);
    context->is_any =
        told->span_id != 0 || told->root_span_id != 0 || told->trace_id.reader != NULL;
    for (size_t i = 0; i < told->attribute_count; i++)
        context->is_any |= told->attributes[i].value.reader != NULL;
    feed->found->has_contexts |= context->is_any;
}

/* Does anybody ask for more of a context than whether there is one? */
static bool needs_context(const struct cli_feed *feed)
{
    const struct cli_wish *wish = feed->wish;

    return (wish->part != NULL && !cli_part_is_whole(wish->part)) ||
           (wish->bys != NULL && wish->bys->count > 0) || wish->moments != NULL;
}

void cli_look_for_context(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    feed->context.has_told = false;
    note_attributes(feed, event);
    if (!feed->found->has_contexts)
        feed->found->has_contexts = jfr_context_is_any(event);
}

static bool is_in_attribute(struct cli_feed *feed, struct cli_pattern *pattern)
{
    const struct jfr_value *value = attribute_of(&feed->context, pattern->name);

    if (value == NULL || (pattern->text != NULL &&
                          (!jfr_value_text(value, &feed->text) ||
                           !jw_glob(pattern->text, strlen(pattern->text), feed->text.text))))
        return false;
    pattern->is_used = true;
    return true;
}

/* Of each attribute that is named, one pattern has to fit. */
static bool is_in_attributes(struct cli_feed *feed, struct cli_part *part)
{
    for (size_t i = 0; i < part->attribute_count; i++) {
        bool fits = false;

        for (size_t n = 0; n < part->attribute_count && !fits; n++)
            fits = strcmp(part->attributes[i].name, part->attributes[n].name) == 0 &&
                   is_in_attribute(feed, &part->attributes[n]);
        if (!fits)
            return false;
    }
    return true;
}

static bool is_in_traces(struct cli_feed *feed, const struct cli_part *part)
{
    struct cli_trace_id id;

    if (part->trace_id_count == 0)
        return true;
    if (!feed->context.has_told || feed->context.told.trace_id.reader == NULL ||
        !jfr_value_text(&feed->context.told.trace_id, &feed->text) ||
        !cli_trace_id_read(feed->text.text, &id))
        return false;
    for (size_t i = 0; i < part->trace_id_count; i++) {
        if (part->trace_ids[i].high == id.high && part->trace_ids[i].low == id.low)
            return true;
    }
    return false;
}

static bool is_in_spans(const struct cli_feed *feed, const struct cli_part *part)
{
    const uint64_t id = feed->context.has_told ? feed->context.told.span_id : 0;

    for (size_t i = 0; i < part->span_id_count; i++) {
        if (id != 0 && (part->span_ids[i].hex == id || part->span_ids[i].decimal == id))
            return true;
    }
    return part->span_id_count == 0;
}

/* When it began, in ns of Unix time. */
static double unix_ns_of(const struct cli_feed *feed, const struct jfr_reader_event *event)
{
    const struct jfr_reader_chunk *chunk = &feed->chunk;
    const double ticks = (double)event->start_ticks - (double)chunk->start_ticks;
    double unix_ns = (double)chunk->start_unix_ns;

    if (chunk->ticks_per_second > 0)
        unix_ns += ticks * 1e9 / (double)chunk->ticks_per_second;
    return unix_ns;
}

static bool is_in_window(const struct cli_feed *feed, const struct cli_part *part,
                         const struct jfr_reader_event *event)
{
    if (part->begin_ns == 0 && part->end_ns == UINT64_MAX)
        return true;

    const double unix_ns = unix_ns_of(feed, event);
    return unix_ns >= (double)part->begin_ns && unix_ns < (double)part->end_ns;
}

/* Its name as the JVM or the system has it, or its number. */
static bool is_of_thread(struct cli_feed *feed, struct cli_pattern *pattern,
                         const struct jfr_value *thread)
{
    static const char *const names[] = {"javaName", "osName"};
    static const char *const numbers[] = {"osThreadId", "javaThreadId"};
    struct jfr_value field;
    int64_t number;
    char digits[24];
    bool fits = false;

    for (size_t i = 0; i < JW_COUNT_OF(names) && !fits; i++)
        fits = jfr_value_field(thread, names[i], &field) && jfr_value_text(&field, &feed->text) &&
               feed->text.text[0] != '\0' &&
               jw_glob(pattern->text, strlen(pattern->text), feed->text.text);
    for (size_t i = 0; i < JW_COUNT_OF(numbers) && !fits; i++) {
        if (!jfr_value_field(thread, numbers[i], &field) || !jfr_value_integer(&field, &number) ||
            number <= 0)
            continue;
        snprintf(digits, sizeof digits, "%lld", (long long)number);
        fits = strcmp(pattern->text, digits) == 0;
    }
    pattern->is_used |= fits;
    return fits;
}

bool cli_thread_is_in_part(struct cli_feed *feed, struct cli_part *part, uint64_t key,
                           const struct jfr_value *thread)
{
    if (part->thread_count == 0)
        return true;

    uint64_t *known = jw_map_put(&feed->thread_fits, &key, sizeof key);
    if (known == NULL) {
        feed->is_out_of_memory = true;
        return false;
    }
    if (*known == 0) {
        bool fits = false;

        for (size_t i = 0; i < part->thread_count; i++)
            fits |= thread->reader != NULL && is_of_thread(feed, &part->threads[i], thread);
        *known = fits ? 1 : 2;
    }
    return *known == 1;
}

static bool is_in_threads(struct cli_feed *feed, struct cli_part *part,
                          const struct jfr_reader_event *event)
{
    struct jfr_value thread;

    if (part->thread_count == 0)
        return true;
    const uint64_t key = cli_thread_key(event, &thread);
    return cli_thread_is_in_part(feed, part, key, &thread);
}

static bool is_in_safepoints(const struct cli_feed *feed, struct cli_part *part,
                             const struct jfr_reader_event *event)
{
    const char *by = part->is_of_safepoints ? cli_asked_by(feed, event) : NULL;
    const bool is_it = by != NULL && strcmp(by, CLI_ASKED_SAFEPOINT) == 0;

    part->is_safepoint_used |= is_it;
    return is_it || !part->is_of_safepoints;
}

bool cli_is_in_part(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_part *part = feed->wish->part;
    const struct cli_request *request;

    if (part == NULL && feed->wish->bys == NULL)
        return true;
    if (part != NULL &&
        (!is_in_window(feed, part, event) || !is_in_threads(feed, part, event) ||
         !is_in_safepoints(feed, part, event) || !cli_is_latent(part, &feed->chunk, event)))
        return false;
    if (!needs_context(feed)) {
        cli_look_for_context(feed, event);
        return true;
    }
    read_context(feed, event);
    if (part == NULL)
        return true;
    request = feed->context.request;
    return (part->endpoint_count == 0 || (request != NULL        ? request->is_wished
                                          : feed->context.is_any ? part->has_no_endpoint
                                                                 : part->has_no_context)) &&
           is_in_spans(feed, part) && is_in_traces(feed, part) && is_in_attributes(feed, part);
}

uint64_t cli_thread_key(const struct jfr_reader_event *event, struct jfr_value *thread)
{
    struct jfr_value reference;

    thread->reader = NULL;
    if (!jfr_value_field(&event->value, "sampledThread", &reference) &&
        !jfr_value_field(&event->value, "eventThread", &reference))
        return 0;
    if (!jfr_value_constant(&reference, thread))
        thread->reader = NULL;
    return jfr_value_key(&reference);
}

static profile_frame_id thread_root(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value constant;
    const uint64_t key = cli_thread_key(event, &constant);

    uint64_t *known = jw_map_put(&feed->thread_of, &key, sizeof key);
    if (known == NULL) {
        feed->is_out_of_memory = true;
        return PROFILE_FRAME_NONE;
    }
    if (*known == 0)
        *known = cli_resolve_thread(feed, &constant);
    return (profile_frame_id)*known;
}

/* Value of a box; NULL: the sample has none, or no memory. */
static const char *value_of(struct cli_feed *feed, const struct cli_by *by)
{
    const struct cli_context *context = &feed->context;
    const struct jfr_value *value;

    switch (by->kind) {
    case CLI_BY_ENDPOINT:
        return context->request == NULL ? NULL : context->request->endpoint;
    case CLI_BY_OPERATION:
        return context->request == NULL ? NULL : context->request->operation;
    case CLI_BY_ATTRIBUTE:
        value = attribute_of(context, by->name);
        return value != NULL && jfr_value_text(value, &feed->text) ? feed->text.text : NULL;
    case CLI_BY_THREAD:
        break;
    }
    return NULL;
}

/* As the JVM or the system has it; NULL: it has none. */
static const char *thread_name(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    static const char *const names[] = {"javaName", "osName"};
    struct jfr_value thread, field;

    (void)cli_thread_key(event, &thread);
    for (size_t i = 0; thread.reader != NULL && i < JW_COUNT_OF(names); i++)
        if (jfr_value_field(&thread, names[i], &field) && jfr_value_text(&field, &feed->text) &&
            feed->text.text[0] != '\0')
            return feed->text.text;
    return NULL;
}

void cli_box_text(struct cli_feed *feed, const struct cli_by *by,
                  const struct jfr_reader_event *event, char *out, size_t room)
{
    const char *const text =
        by->kind == CLI_BY_THREAD ? thread_name(feed, event) : value_of(feed, by);

    if (text != NULL)
        snprintf(out, room, "%s", text);
    else
        snprintf(out, room, "[no %s]",
                 by->kind == CLI_BY_THREAD || feed->context.is_any ? by->name : "context");
}

/* The box of a slice of time: its number. */
static profile_frame_id slice_root(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    const double begin = (double)feed->slices_begin_ns;
    const double length = (double)feed->slices_end_ns - begin;
    const double part = length > 0 ? (unix_ns_of(feed, event) - begin) / length : 0;
    const unsigned last = feed->wish->slice_count - 1;
    const unsigned slice = part <= 0   ? 0
                           : part >= 1 ? last
                                       : (unsigned)(part * feed->wish->slice_count);
    const unsigned number = slice > last ? last : slice;
    char text[16];

    if (feed->slice_roots[number] == PROFILE_FRAME_NONE) {
        snprintf(text, sizeof text, "%u", number);
        feed->slice_roots[number] = profile_value(
            feed->profile, &(struct profile_value){.dimension = PROFILE_DIMENSION_ATTRIBUTE,
                                                   .name = "slice",
                                                   .value = text});
    }
    return feed->slice_roots[number];
}

void cli_fill_roots(struct cli_feed *feed, const struct jfr_reader_event *event,
                    profile_frame_id *roots)
{
    static const enum profile_dimension dimensions[] = {
        [CLI_BY_ENDPOINT] = PROFILE_DIMENSION_ENDPOINT,
        [CLI_BY_OPERATION] = PROFILE_DIMENSION_OPERATION,
        [CLI_BY_ATTRIBUTE] = PROFILE_DIMENSION_ATTRIBUTE,
    };
    const struct cli_bys *bys = feed->wish->bys;
    bool is_first = true; /* of what contexts tell */

    if (feed->wish->slice_count > 0)
        roots[0] = slice_root(feed, event);
    for (size_t i = 0; bys != NULL && i < bys->count; i++) {
        const struct cli_by *by = &bys->items[i];

        if (by->kind == CLI_BY_THREAD) {
            roots[i] = thread_root(feed, event);
            continue;
        }

        struct profile_value value = {
            .dimension = dimensions[by->kind], .name = by->name, .value = value_of(feed, by)};
        if (is_first && !feed->context.is_any)
            value.name = feed->wish->no_context;
        is_first = false;
        roots[i] = profile_value(feed->profile, &value);
    }
}
