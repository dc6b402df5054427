/* What the head of an explorer page says of its samples: bins, lanes, values of columns, other events. Context: tool. */
#include <string.h>

#include "export/export_explorer_internal.h"

bool export_explorer_has_place(const struct explorer *explorer, const struct profile_span *span)
{
    const int64_t begin_us = span->begin_us - (int64_t)explorer->first_ms * 1000;

    return begin_us < (int64_t)explorer->bin_count * explorer->bin_ms * 1000 &&
           begin_us + (int64_t)span->length_us >= 0;
}

/* Names of the lanes, and texts of their spans by number. */
static void put_lanes(const struct explorer *explorer)
{
    struct export_out *out = explorer->page->job->out;
    const struct profile_moments *moments = explorer->moments;
    size_t count;
    const struct profile_span *spans = profile_moments_spans(moments, &count);
    uint32_t last = 0;

    export_put_format(out, ",\"spans\":%zu,\"leftOutSpans\":", explorer->span_count);
    export_put_number(out, profile_moments_left_out_spans(moments));
    export_put(out, ",\"lanes\":[");
    for (uint32_t i = 0; i < profile_moments_lane_count(moments); i++) {
        export_put(out, i == 0 ? "\"" : ",\"");
        export_put_escaped(out, profile_moments_lane_name(moments, i), EXPORT_ESCAPE_JSON);
        export_put_char(out, '"');
    }
    export_put(out, "],\"spanTexts\":{");
    for (size_t i = 0; i < count; i++) {
        /* Texts come in runs: a pause says what the one before it said. */
        if (spans[i].text == last || !export_explorer_has_place(explorer, &spans[i]))
            continue;
        export_put_format(out, "%s\"%u\":\"", last == 0 ? "" : ",", spans[i].text);
        last = spans[i].text;
        export_put_escaped(out, profile_moments_text_at(moments, last), EXPORT_ESCAPE_JSON);
        export_put_char(out, '"');
    }
    export_put_char(out, '}');
}

/* Values of a column by their number: sorted by it, since texts have another order. */
static void put_values(const struct explorer *explorer, uint32_t column, uint32_t *texts)
{
    struct export_out *out = explorer->page->job->out;
    const uint32_t count = profile_moments_text_count(explorer->moments);
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = explorer->value_of[(size_t)column * count + i];

        if (number == 0)
            continue;
        texts[number - 1] = i;
        used++;
    }
    for (uint32_t i = 0; i < used; i++) {
        export_put(out, i == 0 ? "\"" : ",\"");
        export_put_escaped(out, profile_moments_text_at(explorer->moments, texts[i]),
                           EXPORT_ESCAPE_JSON);
        export_put_char(out, '"');
    }
    if (explorer->folded_number[column] != 0) /* the last one */
        export_put(out, used == 0 ? "\"" FOLDED_TEXT "\"" : ",\"" FOLDED_TEXT "\"");
}

/* What was given up for a page that is no larger than it may be. */
static void put_fit(const struct explorer *explorer)
{
    const struct export_job *job = explorer->page->job;
    struct export_out *out = job->out;

    if (job->fit == NULL)
        return;
    export_put(out, ",\"fit\":{\"most\":");
    export_put_number(out, job->options->most_bytes);
    export_put_format(out, ",\"minWidthPpm\":%u,\"contexts\":%u,\"foldedSamples\":",
                      job->fit->min_width_ppm, explorer->context_count - explorer->folded_count);
    export_put_number(out, explorer->folded_samples);
    export_put_char(out, '}');
}

/* The events of the page by their prefixes, where there are several: in the head of the first alone. */
static void put_events(const struct export_job *job)
{
    const struct export_options *options = job->options;

    if (options->other_count == 0 || job->prefix[0] != '\0')
        return;
    export_put(job->out, ",\"events\":[[\"\",\"");
    export_put_escaped(job->out, profile_about_of(job->profile)->event, EXPORT_ESCAPE_JSON);
    for (size_t i = 0; i < options->other_count; i++) {
        export_put_format(job->out, "\"],[\"" EXPORT_EVENT_PREFIX "\",\"", i + 1);
        export_put_escaped(job->out, profile_about_of(options->others[i].profile)->event,
                           EXPORT_ESCAPE_JSON);
    }
    export_put(job->out, "\"]]");
}

void export_explorer_meta(const struct export_page *page, void *context)
{
    static const char *const kinds[] = {
        [PROFILE_COLUMN_THREAD] = "thread",       [PROFILE_COLUMN_STATE] = "state",
        [PROFILE_COLUMN_ASKED] = "asked",         [PROFILE_COLUMN_ENDPOINT] = "endpoint",
        [PROFILE_COLUMN_OPERATION] = "operation", [PROFILE_COLUMN_ATTRIBUTE] = "attribute",
    };
    struct explorer *explorer = context;
    const struct profile_moments *moments = explorer->moments;
    struct export_out *out = page->job->out;
    /* value_of has room for a column more than there are. */
    uint32_t *const spare = explorer->value_of + (size_t)profile_moments_text_count(moments) *
                                                     profile_moments_column_count(moments);
    const int64_t start_ms =
        (int64_t)(profile_moments_base_unix_ns(moments) / 1000000) + explorer->first_ms;

    export_put_format(out, ",\n\"explorer\":{\"binMs\":%u,\"bins\":%u,\"startMs\":%lld",
                      explorer->bin_ms, explorer->bin_count, (long long)start_ms);
    export_put(out, ",\"samples\":");
    export_put_number(out, explorer->row_count);
    export_put(out, ",\"scale\":");
    export_put_number(out, explorer->scale);
    export_put_format(out, ",\"stacks\":%u,\"contexts\":%u", explorer->stack_count,
                      explorer->context_count);
    export_put(out, ",\"mistimed\":");
    export_put_number(out, profile_moments_mistimed(moments));
    export_put(out, ",\"untold\":");
    export_put_number(out, profile_moments_untold(moments));
    put_events(page->job);
    put_fit(explorer);
    if (page->job->prefix[0] == '\0')
        put_lanes(explorer);
    export_put(out, ",\"columns\":[");
    for (uint32_t i = 0; i < profile_moments_column_count(moments); i++) {
        const struct profile_column *column = profile_moments_column_at(moments, i);

        export_put_format(out, "%s\n{\"kind\":\"%s\",\"name\":\"", i == 0 ? "" : ",",
                          kinds[column->kind]);
        export_put_escaped(out, column->name, EXPORT_ESCAPE_JSON);
        export_put(out, "\",\"values\":[");
        put_values(explorer, i, spare);
        export_put(out, "]}");
    }
    export_put(out, "]}");
}
