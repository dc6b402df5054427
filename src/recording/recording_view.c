/* A graph into its file, another one, or to whoever takes it; dump. */
#include "base/counters.h"
#include "os/os_output.h"
#include "recording/recording_internal.h"

/* An output for the recording's own path: the one that was opened with it, then a new one each time. */
static struct os_output *own_output(struct recording *recording, struct jw_error *err)
{
    struct recording_graph *graph = &recording->graph;

    if (graph->output == NULL && recording->config.path == NULL) {
        jw_error_set(err, "this session has no file; name one with file=NAME");
        return NULL;
    }
    if (graph->output == NULL)
        return recording_graph_place(recording, err) ? graph->output : NULL;
    if (graph->is_written) {
        struct os_output *fresh = os_output_copy(graph->output, 0, err);

        if (fresh == NULL)
            return NULL;
        os_output_close(graph->output);
        graph->output = fresh;
    }
    return graph->output;
}

static bool write_file(struct recording *recording, const struct recording_view *view,
                       enum export_format format, const struct export_options *look,
                       struct jw_error *err)
{
    struct recording_graph *graph = &recording->graph;
    const bool is_own = view->path == NULL;
    struct os_output *to = is_own ? own_output(recording, err)
                                  : os_output_open(view->path, recording->config.calls, err);
    if (to == NULL)
        return false;
    const bool is_good = export_profile(graph->profile, format, look, os_output_append, to, err) &&
                         os_output_publish(to, err);

    if (is_own)
        graph->is_written = true;
    else
        os_output_close(to);
    if (!is_good)
        jw_count(JW_COUNT_WRITE_FAILED);
    return is_good;
}

enum export_format recording_export_format(enum recording_format format)
{
    static const enum export_format formats[] = {
        [RECORDING_HTML] = EXPORT_FLAMEGRAPH, [RECORDING_COLLAPSED] = EXPORT_COLLAPSED,
        [RECORDING_TEXT] = EXPORT_TEXT,       [RECORDING_TREE] = EXPORT_TREE,
        [RECORDING_PPROF] = EXPORT_PPROF,     [RECORDING_OTLP] = EXPORT_OTLP,
    };

    return formats[format];
}

bool recording_graph_write(struct recording *recording, const struct recording_view *view,
                           struct jw_error *err)
{
    const enum export_format format = recording_export_format(view->format);
    struct export_options look = view->look == NULL ? recording->config.look : *view->look;

    if (view->look == NULL)
        look.title = NULL; /* the profile has it */
    look.part = recording->graph.part.text;
    look.filtered_samples = recording->graph.part.left_out;
    recording_graph_tell(recording);
    if (recording->has_failed) {
        jw_error_set(err, "%s", recording->failure.message);
        return false;
    }
    if (view->write != NULL)
        return export_profile(recording->graph.profile, format, &look, view->write, view->context,
                              err);
    return write_file(recording, view, format, &look, err);
}
