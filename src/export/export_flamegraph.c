/*
 * The pages, flame graph and explorer: a template whose marks, {{name}}, are replaced while it is written.
 * Context: dump, tool.
 *
 * The page must be harmless whatever names a recording holds: they stand in attributes and text
 * nowhere, in elements as escaped text, in data elements as text that cannot end them; and a
 * policy allows no script or style but those with the nonce of this page, and no connection.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/version.h"
#include "export/export_columns_internal.h"

#define EXPORT_PLAIN_ROWS 30u

/* Files of src/export/page, linked in by the build; each ends with a byte of 0. */
extern const char export_page_flamegraph[];
extern const char export_page_flamegraph_css[];
extern const char export_page_model_js[];
extern const char export_page_search_js[];
extern const char export_page_format_js[];
extern const char export_page_colour_js[];
extern const char export_page_layout_js[];
extern const char export_page_paint_js[];
extern const char export_page_panel_js[];
extern const char export_page_state_js[];
extern const char export_page_input_js[];
extern const char export_page_columns_js[];
extern const char export_page_diff_js[];
extern const char export_page_compare_js[];
extern const char export_page_save_js[];
extern const char export_page_start_js[];
/* Of the explorer alone. */
extern const char export_page_band[];
extern const char export_page_rows[];
extern const char export_page_rows_js[];
extern const char export_page_tools[];
extern const char export_page_explorer_css[];
extern const char export_page_samples_js[];
extern const char export_page_unpack_js[];
extern const char export_page_timeline_js[];
extern const char export_page_band_js[];
extern const char export_page_bandrows_js[];
extern const char export_page_events_js[];
extern const char export_page_lanes_js[];
extern const char export_page_spark_js[];
extern const char export_page_facets_js[];
extern const char export_page_views_js[];
extern const char export_page_explorer_js[];
/* Of one with a census of locks. */
extern const char export_page_locks[];
extern const char export_page_lockstool[];
extern const char export_page_locks_css[];
extern const char export_page_locks_js[];

struct export_fill {
    const struct export_job *job;
    char nonce[20];
    bool is_explorer;
    bool has_memory;
};

/*
 * A value that no name in this page can have known: it comes from all of them, and from the values. Not from a clock: equal profiles give equal pages.
 */
static void export_make_nonce(struct export_fill *fill)
{
    const struct export_job *job = fill->job;
    const struct export_options *options = job->options;
    const struct profile *profiles[2 * EXPORT_EVENTS_LIMIT] = {options->base};
    size_t profile_count = 1;
    uint64_t hash = job->node_count;

    for (size_t i = 0; i < options->other_count; i++) {
        profiles[profile_count++] = options->others[i].profile;
        profiles[profile_count++] = options->others[i].base;
    }

    if (options->census != NULL)
        hash ^= jw_hash64(options->census, strlen(options->census));
    for (uint32_t i = 0; i < job->node_count; i++) {
        const char *method = profile_name_of(job->profile, job->nodes[i].name)->method;

        hash = jw_hash_word(hash ^ export_total(job, &job->nodes[i])) +
               jw_hash64(method, strlen(method));
    }
    for (size_t n = 0; n < profile_count; n++) {
        for (uint32_t i = 0; profiles[n] != NULL && i < profile_name_count(profiles[n]); i++) {
            const char *method = profile_name_of(profiles[n], i)->method;

            hash = jw_hash_word(hash ^ jw_hash64(method, strlen(method)));
        }
    }
    for (size_t i = 0; i < 16; i++, hash >>= 4)
        fill->nonce[i] = "0123456789abcdef"[hash & 15];
    fill->nonce[16] = '\0';
}

/* As page/format.js has them. What events of others last is no time of processors, but for samples of these. */
static const char *time_words(const char *event)
{
    if (strcmp(event, "wall") == 0)
        return " of wall-clock time, ";
    if (strcmp(event, "lock") == 0)
        return " of time of waiting, ";
    const bool is_type = strchr(event, '.') != NULL;
    return is_type && strstr(event, "ExecutionSample") == NULL &&
                   strstr(event, "CPUTimeSample") == NULL
               ? " of time in all, "
               : " of CPU time, ";
}

static void export_put_summary(struct export_fill *fill)
{
    const struct export_job *job = fill->job;
    const struct profile_about *about = profile_about_of(job->profile);
    struct export_out *out = job->out;

    if (strcmp(job->unit, "samples") != 0) {
        export_put_value(out, export_total(job, &job->nodes[0]), job->unit);
        export_put(out, strcmp(job->unit, "ns") != 0 ? ", " : time_words(about->event));
    }
    export_put_grouped(out, job->nodes[0].total_samples);
    export_put(out, " samples");
    if (about->duration_ns != 0) {
        export_put(out, " in ");
        export_put_value(out, about->duration_ns, "ns");
    }
}

/* Of any of its events. */
static bool folds_contexts(struct export_fill *fill)
{
    const struct export_job *job = fill->job;
    const struct export_options *options = job->options;
    bool is_folding = export_explorer_folds(job, job->profile, options->moments, &fill->has_memory);

    for (size_t i = 0; i < options->other_count && !is_folding; i++)
        is_folding = export_explorer_folds(job, options->others[i].profile,
                                           options->others[i].moments, &fill->has_memory);
    return is_folding;
}

/* What a page gave up to be no larger than it may be. */
static void export_put_fit(struct export_fill *fill)
{
    const struct export_job *job = fill->job;
    const struct export_fit *fit = job->fit;

    if (fit == NULL)
        return;
    export_put(job->out, "<p id=\"fit\">Made coarser to fit into ");
    export_put_value(job->out, job->options->most_bytes, "bytes");
    export_put(job->out, " (--max-size): times are less exact");
    if (folds_contexts(fill))
        export_put_format(job->out,
                          ", of threads, requests and attributes that go together the %u most "
                          "frequent are told apart",
                          fit->contexts_most);
    if (fit->min_width_ppm > 0)
        export_put_format(job->out, ", what is below %u.%04u %% of the whole is [folded]",
                          fit->min_width_ppm / 10000, fit->min_width_ppm % 10000);
    export_put(job->out, ". No sample is left out.</p>\n");
}

static void export_put_plain_losses(struct export_fill *fill)
{
    struct export_out *out = fill->job->out;
    uint64_t signals;
    uint64_t samples;
    size_t count;
    const struct profile_loss *losses = profile_losses(fill->job->profile, &count);

    if (!profile_trust(fill->job->profile, &signals, &samples))
        return;
    export_put(out, "<p>");
    export_put_share(out, samples, signals);
    export_put(out, " of ");
    export_put_grouped(out, signals);
    export_put(out, " signals became samples.");
    for (size_t i = 0; i < count; i++) {
        export_put(out, "<br>");
        export_put_grouped(out, losses[i].count);
        export_put(out, " lost: ");
        export_put_escaped(out, losses[i].text[0] == '\0' ? losses[i].name : losses[i].text,
                           EXPORT_ESCAPE_HTML);
    }
    export_put(out, "</p>\n");
}

/* What is there without any script: for mail, CI logs and search. */
static void export_put_plain(struct export_fill *fill)
{
    const struct export_job *job = fill->job;
    struct export_out *out = job->out;
    const uint64_t whole = export_total(job, &job->nodes[0]);
    struct profile_view view = job->view;
    struct export_text title = {0};
    uint32_t count = 0;
    struct export_method *methods = export_methods(job, &count);

    if (methods == NULL) {
        fill->has_memory = false;
        return;
    }
    view.is_dotted = true;
    export_put_fit(fill);
    export_put_plain_losses(fill);
    export_put(out, "<table>\n<caption>Hottest methods</caption>\n<thead><tr><th>Self</th>"
                    "<th>Total</th><th>Method</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < count && i < EXPORT_PLAIN_ROWS; i++) {
        title.length_bytes = 0;
        export_title(&title, profile_name_of(job->profile, methods[i].name), &view);
        if (title.has_failed)
            break;
        export_put(out, "<tr><td>");
        export_put_share(out, methods[i].self, whole);
        export_put(out, "</td><td>");
        export_put_share(out, methods[i].total, whole);
        export_put(out, "</td><td>");
        export_put_escaped(out, title.text, EXPORT_ESCAPE_HTML);
        export_put(out, "</td></tr>\n");
    }
    export_put(out, "</tbody>\n</table>\n");
    fill->has_memory = fill->has_memory && !title.has_failed;
    export_text_free(&title);
    jw_free(methods);
}

static void export_put_page_title(struct export_fill *fill)
{
    export_put_headline(fill->job, EXPORT_ESCAPE_HTML);
}

static void export_put_nonce(struct export_fill *fill)
{
    export_put(fill->job->out, fill->nonce);
}

/* What the profile of a job is compared with: its tree alone, whose samples no filter of the page knows. */
static bool export_base_data(const struct export_fill *fill, const struct export_job *job)
{
    struct export_job base = *job;
    char prefix[40];

    if (job->options->base == NULL)
        return true;
    base.profile = job->options->base;
    base.nodes = profile_nodes(base.profile, &base.node_count);
    base.unit = base.is_by_samples ? "samples" : profile_about_of(base.profile)->unit;
    snprintf(prefix, sizeof prefix, "%sbase-", job->prefix);
    base.prefix = prefix;
    return fill->is_explorer ? export_explorer_tree(&base) : export_page_data(&base);
}

/* A further event, under names of its own. */
static bool export_other_data(const struct export_fill *fill, size_t number,
                              const struct export_extent *extent)
{
    const struct export_event *other = &fill->job->options->others[number - 1];
    struct export_options options = *fill->job->options;
    struct export_job job = *fill->job;
    char prefix[24];

    snprintf(prefix, sizeof prefix, EXPORT_EVENT_PREFIX, number);
    options.moments = other->moments;
    options.base = other->base;
    job.profile = other->profile;
    job.options = &options;
    job.nodes = profile_nodes(job.profile, &job.node_count);
    job.unit = job.is_by_samples ? "samples" : profile_about_of(job.profile)->unit;
    job.prefix = prefix;
    return export_explorer_data(&job, extent) && export_base_data(fill, &job);
}

static bool has_census(const struct export_fill *fill)
{
    return fill->is_explorer && fill->job->options->census != NULL;
}

static bool export_census_data(const struct export_fill *fill)
{
    struct export_column column = {.bytes = NULL};
    const char *census = fill->job->options->census;

    if (!has_census(fill))
        return true;
    export_column_bytes(&column, census, strlen(census));
    return export_column_put(fill->job, "locks", &column);
}

static bool export_events_data(const struct export_fill *fill)
{
    const struct export_options *options = fill->job->options;
    struct export_extent extent = {0, 0};

    export_explorer_extent(&extent, fill->job->profile, options->moments);
    for (size_t i = 0; i < options->other_count; i++)
        export_explorer_extent(&extent, options->others[i].profile, options->others[i].moments);

    bool is_put = export_explorer_data(fill->job, &extent) && export_base_data(fill, fill->job);
    for (size_t i = 0; i < options->other_count && is_put; i++)
        is_put = export_other_data(fill, i + 1, &extent);
    return is_put && export_census_data(fill);
}

static void export_put_data(struct export_fill *fill)
{
    const bool is_put = fill->is_explorer
                            ? export_events_data(fill)
                            : export_page_data(fill->job) && export_base_data(fill, fill->job);

    fill->has_memory = is_put && fill->has_memory;
}

static void export_put_style(struct export_fill *fill)
{
    export_put(fill->job->out, export_page_flamegraph_css);
    if (fill->is_explorer)
        export_put(fill->job->out, export_page_explorer_css);
    if (has_census(fill))
        export_put(fill->job->out, export_page_locks_css);
}

/* What the explorer has beside the graph: a band of time, and a list of what samples can be filtered by. */
static void export_put_band(struct export_fill *fill)
{
    if (fill->is_explorer)
        export_put(fill->job->out, export_page_band);
}

static void export_put_facets(struct export_fill *fill)
{
    if (has_census(fill))
        export_put(fill->job->out, export_page_locks);
    if (fill->is_explorer)
        export_put(fill->job->out, export_page_rows);
}

static void export_put_tools(struct export_fill *fill)
{
    if (fill->is_explorer)
        export_put(fill->job->out, export_page_tools);
    if (has_census(fill))
        export_put(fill->job->out, export_page_lockstool);
}

/* Large columns are unpacked beside the thread that draws, by the page's own code (page/unpack.js). */
static void export_put_workers(struct export_fill *fill)
{
    export_put(fill->job->out, fill->is_explorer ? "blob:" : "'none'");
}

static void export_put_version(struct export_fill *fill)
{
    export_put(fill->job->out, "jaywalk " JAYWALK_VERSION);
}

static void export_put_program(struct export_fill *fill)
{
    const bool is_of_all = true, is_explorer = fill->is_explorer, has_locks = has_census(fill);
    const struct {
        const char *text;
        bool is_wanted;
    } files[] = {
        {export_page_model_js, is_of_all},     {export_page_search_js, is_of_all},
        {export_page_format_js, is_of_all},    {export_page_colour_js, is_of_all},
        {export_page_layout_js, is_of_all},    {export_page_paint_js, is_of_all},
        {export_page_panel_js, is_of_all},     {export_page_state_js, is_of_all},
        {export_page_input_js, is_of_all},     {export_page_columns_js, is_of_all},
        {export_page_diff_js, is_of_all},      {export_page_compare_js, is_of_all},
        {export_page_save_js, is_of_all},      {export_page_unpack_js, is_explorer},
        {export_page_samples_js, is_explorer}, {export_page_timeline_js, is_explorer},
        {export_page_band_js, is_explorer},    {export_page_bandrows_js, is_explorer},
        {export_page_facets_js, is_explorer},  {export_page_views_js, is_explorer},
        {export_page_rows_js, is_explorer},    {export_page_explorer_js, is_explorer},
        {export_page_events_js, is_explorer},  {export_page_lanes_js, is_explorer},
        {export_page_spark_js, is_explorer},   {export_page_locks_js, has_locks},
        {export_page_start_js, is_of_all},
    };

    for (size_t i = 0; i < JW_COUNT_OF(files); i++) {
        if (files[i].is_wanted)
            export_put(fill->job->out, files[i].text);
    }
}

static bool export_page(const struct export_job *job, bool is_explorer)
{
    static const struct {
        const char *mark;
        void (*put)(struct export_fill *fill);
    } marks[] = {
        {"title", export_put_page_title}, {"nonce", export_put_nonce},
        {"summary", export_put_summary},  {"plain", export_put_plain},
        {"data", export_put_data},        {"style", export_put_style},
        {"program", export_put_program},  {"version", export_put_version},
        {"band", export_put_band},        {"tools", export_put_tools},
        {"facets", export_put_facets},    {"workers", export_put_workers},
    };
    struct export_fill fill = {.job = job, .is_explorer = is_explorer, .has_memory = true};
    const char *at = export_page_flamegraph;

    export_make_nonce(&fill);
    for (;;) {
        const char *mark = strstr(at, "{{");
        const char *end = mark == NULL ? NULL : strstr(mark, "}}");

        if (end == NULL)
            break;
        export_put_bytes(job->out, at, (size_t)(mark - at));
        for (size_t i = 0; i < JW_COUNT_OF(marks); i++) {
            if (strncmp(mark + 2, marks[i].mark, (size_t)(end - mark - 2)) == 0 &&
                marks[i].mark[end - mark - 2] == '\0')
                marks[i].put(&fill);
        }
        at = end + 2;
    }
    export_put(job->out, at);
    return fill.has_memory;
}

bool export_flamegraph(const struct export_job *job)
{
    return export_page(job, false);
}

static bool export_explorer_page(const struct export_job *job)
{
    return export_page(job, true);
}

bool export_explorer(const struct export_job *job)
{
    return export_fitted(job, export_explorer_page);
}
