/* Choosing a format, and what several of them share. Context: dump, tool. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "export/export_internal.h"
#include "export/export_proto_internal.h"

static const struct {
    const char *name; /* also an ending, after a dot */
    enum export_format format;
} export_formats[] = {
    {"html", EXPORT_FLAMEGRAPH},
    {"htm", EXPORT_FLAMEGRAPH},
    {"flamegraph", EXPORT_FLAMEGRAPH},
    {"explorer", EXPORT_EXPLORER},
    {"explorer.html", EXPORT_EXPLORER},
    {"heatmap", EXPORT_EXPLORER},
    {"heatmap.html", EXPORT_EXPLORER},
    {"collapsed", EXPORT_COLLAPSED},
    {"folded", EXPORT_COLLAPSED},
    {"txt", EXPORT_TEXT},
    {"text", EXPORT_TEXT},
    {"tree", EXPORT_TREE},
    {"pprof", EXPORT_PPROF},
    {"pb.gz", EXPORT_PPROF},
    {"otlp", EXPORT_OTLP},
};

bool export_format_by_name(const char *name, enum export_format *format)
{
    for (size_t i = 0; i < JW_COUNT_OF(export_formats); i++) {
        if (jw_ascii_equal(export_formats[i].name, name)) {
            *format = export_formats[i].format;
            return true;
        }
    }
    return false;
}

bool export_format_by_ending(const char *path, enum export_format *format)
{
    const char *file = strrchr(path, '/');
    const char *dot = strchr(file == NULL ? path : file + 1, '.');

    /* The longest first: "pb.gz", "explorer.html". */
    for (; dot != NULL; dot = strchr(dot + 1, '.')) {
        if (export_format_by_name(dot + 1, format))
            return true;
    }
    return false;
}

/* The event that is not shown; of a page with several it is. */
static const char *export_left_out(const struct export_job *job)
{
    return job->options->other_count > 0 ? "" : profile_about_of(job->profile)->left_out;
}

/* How the headline of an event reads, and how another one says that it is not shown. */
static const struct export_event_words {
    const char *event, *headline, *left_out;
} export_events[] = {
    {"cpu", "CPU profile", "CPU samples left out"},
    {"wall", "Wall clock profile", "wall clock left out"},
    {"alloc", "Allocation profile", "allocations left out"},
    {"live", "Live objects", "live objects left out"},
    {"lock", "Lock profile", "locks left out"},
    {"exception", "Exceptions", "exceptions left out"},
};

static const struct export_event_words *export_words_of(const char *event)
{
    for (size_t i = 0; i < JW_COUNT_OF(export_events); i++) {
        if (strcmp(export_events[i].event, event) == 0)
            return &export_events[i];
    }
    return NULL;
}

/* As it was called; NULL: it was not. */
static const char *export_given_headline(const struct export_job *job)
{
    const struct profile_about *about = profile_about_of(job->profile);

    if (job->options->title != NULL && job->options->title[0] != '\0')
        return job->options->title;
    return about->title[0] != '\0' ? about->title : NULL;
}

/* By its event, which may be a counter. */
static void export_put_own_headline(const struct export_job *job, enum export_escape escape)
{
    const struct profile_about *about = profile_about_of(job->profile);
    const struct export_event_words *words = export_words_of(about->event);
    const struct export_event_words *others = export_words_of(export_left_out(job));

    if (words != NULL) {
        export_put(job->out, words->headline);
    } else if (about->event[0] == '\0') {
        export_put(job->out, "Profile");
    } else {
        export_put(job->out, "Profile of ");
        export_put_escaped(job->out, about->event, escape);
    }
    if (export_left_out(job)[0] == '\0')
        return;
    export_put(job->out, ", ");
    if (others != NULL) {
        export_put(job->out, others->left_out);
    } else {
        export_put_escaped(job->out, export_left_out(job), escape);
        export_put(job->out, " left out");
    }
}

void export_put_headline(const struct export_job *job, enum export_escape escape)
{
    const char *part = job->options->part, *headline = export_given_headline(job);

    if (headline == NULL)
        export_put_own_headline(job, escape);
    else
        export_put_escaped(job->out, headline, escape);
    if (part == NULL || part[0] == '\0')
        return;
    export_put(job->out, ": ");
    export_put_escaped(job->out, part, escape);
}

static int export_compare_methods(const void *left, const void *right)
{
    const struct export_method *a = left;
    const struct export_method *b = right;

    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

/*
 * What ran on top, by node: where a stack ends, or, of reversed stacks, where it begins: the boxes under
 * the root or under what samples are taken apart by.
 */
static uint64_t export_top(const struct export_job *job, uint32_t number)
{
    const struct profile_node *node = &job->nodes[number];

    if (!job->view.reverse)
        return export_self(job, node);
    if (number == 0)
        return 0;

    const struct profile_node *parent = &job->nodes[node->parent];
    const bool is_first =
        !profile_is_root(profile_name_of(job->profile, node->name)->kind) &&
        (node->parent == 0 || profile_is_root(profile_name_of(job->profile, parent->name)->kind));
    return is_first ? export_total(job, node) : 0;
}

/*
 * One pass in pre-order. `until[name]` is the end of the outermost open subtree of that name: a
 * node before it is a recursion, already counted. Below a cut the sums are those of the tree.
 */
static void export_sum_methods(const struct export_job *job, struct export_method *methods,
                               uint32_t *until)
{
    for (uint32_t i = 0; i < job->node_count; i++) {
        const struct profile_node *node = &job->nodes[i];
        const struct profile_name *name = profile_name_of(job->profile, node->name);
        struct export_method *method = &methods[node->name];
        const uint64_t self = export_top(job, i);

        method->self += self;
        if (i >= until[node->name]) {
            method->total += export_total(job, node);
            until[node->name] = node->end;
        }
        if (method->type_self <= self) {
            method->type_self = self;
            method->type = export_type_of(name, node);
        }
    }
}

struct export_method *export_methods(const struct export_job *job, uint32_t *count)
{
    const uint32_t name_count = profile_name_count(job->profile);
    struct export_method *methods = jw_alloc(jw_mul_bytes(name_count, sizeof *methods));
    uint32_t *until = jw_alloc(jw_mul_bytes(name_count, sizeof *until));
    uint32_t kept = 0;

    if (methods == NULL || until == NULL) {
        jw_free(methods);
        methods = NULL;
        goto done;
    }
    export_sum_methods(job, methods, until);
    for (uint32_t i = 0; i < name_count; i++) {
        const enum profile_name_kind kind = profile_name_of(job->profile, i)->kind;

        methods[i].name = i;
        /* Names of stacks that are filtered out have no total. */
        if (kind != PROFILE_NAME_ROOT && kind != PROFILE_NAME_MARK &&
            kind != PROFILE_NAME_COMPILATION && !profile_is_root(kind) && methods[i].total > 0)
            methods[kept++] = methods[i];
    }
    qsort(methods, kept, sizeof *methods, export_compare_methods);
    *count = kept;

done:
    jw_free(until);
    return methods;
}

uint64_t export_drawing_bytes(const struct profile *profile, enum export_format format)
{
    const uint64_t drawing = profile_drawing_bytes(profile);
    uint64_t stacks;
    const uint64_t frames = profile_listed_frames(profile, &stacks);

    return format == EXPORT_PPROF || format == EXPORT_OTLP
               ? drawing + export_proto_bytes_most(frames, stacks)
               : drawing;
}

static bool export_is_possible(enum export_format format, const struct export_options *options,
                               struct jw_error *err)
{
    if (format != EXPORT_EXPLORER)
        return true;
    if (!export_can_pack())
        jw_error_set(err, "explorer: this build has no libdeflate to pack the page with; use html, "
                          "or install libdeflate-dev and build again");
    else if (options->moments == NULL)
        jw_error_set(err, "explorer: there are no samples with their time; convert a recording");
    else
        return true;
    return false;
}

/* What a format has in a way of its own, whatever was asked for. */
static struct profile_view export_view(enum export_format format, const struct profile_view *asked)
{
    const bool is_for_machines = format == EXPORT_PPROF || format == EXPORT_OTLP;
    struct profile_view view = *asked;

    view.reverse = view.reverse && format != EXPORT_TEXT && !is_for_machines;
    view.is_dotted =
        view.is_dotted || format == EXPORT_TEXT || format == EXPORT_TREE || is_for_machines;
    view.knows_stacks = format == EXPORT_EXPLORER;
    return view;
}

static bool export_seal_others(const struct export_options *options,
                               const struct profile_view *view, struct jw_error *err)
{
    for (size_t i = 0; i < options->other_count; i++) {
        const struct export_event *other = &options->others[i];

        if (!profile_seal(other->profile, view, err) ||
            (other->base != NULL && !profile_seal(other->base, view, err)))
            return false;
    }
    return true;
}

bool export_profile(struct profile *profile, enum export_format format,
                    const struct export_options *options, export_write *write, void *context,
                    struct jw_error *err)
{
    static bool (*const writers[EXPORT_FORMAT_LIMIT])(const struct export_job *job) = {
        [EXPORT_COLLAPSED] = export_collapsed,
        [EXPORT_TEXT] = export_text_format,
        [EXPORT_FLAMEGRAPH] = export_flamegraph,
        [EXPORT_EXPLORER] = export_explorer,
        [EXPORT_TREE] = export_tree,
        [EXPORT_PPROF] = export_pprof,
        [EXPORT_OTLP] = export_otlp,
    };
    const struct profile_view view = export_view(format, &options->view);

    if (!export_is_possible(format, options, err) || !profile_seal(profile, &view, err) ||
        (options->base != NULL && !profile_seal(options->base, &view, err)) ||
        !export_seal_others(options, &view, err))
        return false;

    struct export_out *out = jw_alloc(sizeof *out);
    struct export_job job = {
        .profile = profile, .options = options, .view = view, .prefix = "", .out = out};
    bool has_memory = out != NULL;

    if (has_memory) {
        out->write = write;
        out->context = context;
        out->err = err;
        job.nodes = profile_nodes(profile, &job.node_count);
        job.is_by_samples = options->value == EXPORT_VALUE_SAMPLES ||
                            (options->value == EXPORT_VALUE_DEFAULT && format == EXPORT_COLLAPSED);
        job.unit = job.is_by_samples ? "samples" : profile_about_of(profile)->unit;
        has_memory = writers[format](&job);
    }
    const bool is_written = has_memory && export_finish(out);
    export_out_free(out);
    if (!is_written) /* keeps what the writer said, if it was the writer */
        jw_error_set(err, "out of memory while writing the graph; free some and try again");
    return is_written;
}
