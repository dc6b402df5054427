/*
 * What a flame graph page knows beside its tree: title, unit, trust, which names are no code, and the
 * libraries of native frames; as JSON in an inert element. Context: dump, tool.
 */
#include "export/export_page_internal.h"

/* Numbers in the pool of the names of one kind, as a JSON array. */
static void export_put_kind(const struct export_page *page, const char *key,
                            enum profile_name_kind kind, uint32_t extra)
{
    const struct export_job *job = page->job;
    struct export_out *out = job->out;
    const uint32_t name_count = profile_name_count(job->profile);
    const char *comma = "";

    export_put_format(out, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < name_count; i++) {
        if (page->pool_number[i] == EXPORT_NOT_IN_POOL ||
            profile_name_of(job->profile, i)->kind != kind)
            continue;
        export_put_format(out, "%s%u", comma, page->pool_number[i]);
        comma = ",";
    }
    if (extra != 0)
        export_put_format(out, "%s%u", comma, extra);
    export_put_char(out, ']');
}

/* Libraries of native frames: [number in the pool, "libc.so.6", ...]. */
static void export_put_modules(const struct export_page *page)
{
    const struct export_job *job = page->job;
    struct export_out *out = job->out;
    const uint32_t name_count = profile_name_count(job->profile);
    const char *comma = "";

    export_put(out, ",\n\"modules\":[");
    for (uint32_t i = 0; i < name_count; i++) {
        const struct profile_name *name = profile_name_of(job->profile, i);

        if (page->pool_number[i] == EXPORT_NOT_IN_POOL || name->module[0] == '\0')
            continue;
        export_put_format(out, "%s%u,\"", comma, page->pool_number[i]);
        export_put_escaped(out, name->module, EXPORT_ESCAPE_JSON);
        export_put_char(out, '"');
        comma = ",";
    }
    export_put_char(out, ']');
}

static void export_put_losses(const struct export_job *job)
{
    struct export_out *out = job->out;
    uint64_t signals;
    uint64_t samples;
    size_t count;
    const struct profile_loss *losses = profile_losses(job->profile, &count);

    if (!profile_trust(job->profile, &signals, &samples))
        return;
    export_put(out, ",\n\"trust\":{\"signals\":");
    export_put_number(out, signals);
    export_put(out, ",\"samples\":");
    export_put_number(out, samples);
    export_put(out, ",\"losses\":[");
    for (size_t i = 0; i < count; i++) {
        export_put(out, i == 0 ? "[\"" : ",[\"");
        export_put_escaped(out, losses[i].name, EXPORT_ESCAPE_JSON);
        export_put(out, "\",\"");
        export_put_escaped(out, losses[i].text, EXPORT_ESCAPE_JSON);
        export_put(out, "\",");
        export_put_number(out, losses[i].count);
        export_put_char(out, ']');
    }
    export_put(out, "]}");
}

void export_page_meta(const struct export_page *page)
{
    const struct export_job *job = page->job;
    const struct profile_about *about = profile_about_of(job->profile);
    struct export_out *out = job->out;

    export_put_format(out, "<script type=\"application/json\" id=\"%smeta\">", job->prefix);
    export_put(out, "{\"title\":\"");
    export_put_headline(job, EXPORT_ESCAPE_JSON);
    if (job->profile == job->options->base) {
        export_put(out, "\",\"name\":\"");
        export_put_escaped(out, job->options->base_name, EXPORT_ESCAPE_JSON);
    }
    export_put(out, "\",\"event\":\"");
    export_put_escaped(out, about->event, EXPORT_ESCAPE_JSON);
    export_put(out, "\",\"unit\":\"");
    export_put_escaped(out, job->unit, EXPORT_ESCAPE_JSON);
    export_put(out, "\",\"samples\":");
    export_put_number(out, job->nodes[0].total_samples);
    export_put(out, ",\"filtered\":");
    export_put_number(out, export_filtered(job));
    export_put(out, ",\"scale\":");
    export_put_number(out, page->scale);
    export_put(out, ",\"startNs\":\""); /* as text: more digits than a JavaScript number holds */
    export_put_number(out, about->start_unix_ns);
    export_put(out, "\",\"durationNs\":");
    export_put_number(out, about->duration_ns);
    export_put_format(out, ",\"frames\":%u,\"foldedStacks\":%u,\"minWidthPpm\":%u",
                      page->frame_count + page->folded_frames, page->folded_stacks,
                      job->options->min_width_ppm);
    /* The explorer has its root at the top, next to the time that it is about. */
    export_put_format(out, ",\"inverted\":%s,\"reverse\":%s",
                      (job->options->is_inverted != job->view.reverse) != (page->line_of != NULL)
                          ? "true"
                          : "false",
                      job->view.reverse ? "true" : "false");
    export_put_losses(job);
    export_put_ledger_json(job);
    export_put_cost_json(job);
    export_put_kind(page, "marks", PROFILE_NAME_MARK, page->folded_number);
    export_put_kind(page, "threads", PROFILE_NAME_THREAD, 0);
    export_put_kind(page, "endpoints", PROFILE_NAME_ENDPOINT, 0);
    export_put_kind(page, "operations", PROFILE_NAME_OPERATION, 0);
    export_put_kind(page, "attributes", PROFILE_NAME_ATTRIBUTE, 0);
    export_put_kind(page, "missing", PROFILE_NAME_MISSING, 0);
    export_put_kind(page, "classes", PROFILE_NAME_CLASS, 0);
    export_put_modules(page);
    if (page->put_more != NULL)
        page->put_more(page, page->more);
    export_put(out, "}</script>\n");
}
