/* What stop and dump write, in which form and where to; the agent's thread. */
#include <string.h>

#include "agent/session_internal.h"

/* The form that is asked for, else that of the session, else text. */
static enum recording_format wanted_format(const struct options *asked, bool is_jfr)
{
    const uint64_t output = asked->output != OPTIONS_OUTPUT_NONE ? asked->output
                            : session.options.output != OPTIONS_OUTPUT_NONE
                                ? session.options.output
                                : (uint64_t)OPTIONS_OUTPUT_NONE;

    if (output == OPTIONS_OUTPUT_NONE)
        return is_jfr ? RECORDING_JFR : RECORDING_TEXT;
    return output_format(output);
}

/* Another name for the file that the start named. */
static bool is_own_file(const struct options *asked, const char *path)
{
    return session.has_file &&
           (strcmp(asked->file, session.options.file) == 0 || strcmp(path, session.path) == 0);
}

static bool asked_path(const struct options *asked, char *path, size_t room_bytes,
                       struct jw_error *err)
{
    path[0] = '\0';
    if (asked->file[0] == '\0')
        return true;
    if (!output_path(asked->file, session.number, path, room_bytes, err))
        return false;
    session.number++;
    return true;
}

static void tell_written(const char *path)
{
    agent_log(OPTIONS_LOGLEVEL_INFO, "%llu samples in %s", (unsigned long long)session_samples(),
              path);
}

/* A recording is on disk at any time; a copy of it is a recording, too. */
static bool write_recording(const struct options *asked, const char *path, bool is_stop,
                            enum recording_format format, struct jw_error *err)
{
    if (format != RECORDING_JFR) {
        jw_error_set(err,
                     "this session writes a recording, of which no graph is made here; 'jaywalk "
                     "convert %s OUT.html' makes one",
                     session.path);
        return false;
    }
    if (path[0] == '\0' || is_own_file(asked, path)) {
        if (is_stop)
            return true;
        if (!recording_flush(session.recording, err))
            return false;
        tell_written(session.path);
        return true;
    }
    if (!recording_snapshot(session.recording, path, err))
        return false;
    session.is_unwritten = false;
    tell_written(path);
    return true;
}

/* What of the look is not asked for stays as the start said. */
static void merge_look(const struct options *asked, struct options *merged)
{
    static struct options plain;
    const struct options *start = &session.options;

    options_defaults(&plain);
    *merged = *asked;
    if (asked->title[0] == '\0')
        memcpy(merged->title, start->title, sizeof merged->title);
    if (asked->includes[0] == '\0')
        memcpy(merged->includes, start->includes, sizeof merged->includes);
    if (asked->excludes[0] == '\0')
        memcpy(merged->excludes, start->excludes, sizeof merged->excludes);
    if (asked->minwidth_ppm == plain.minwidth_ppm)
        merged->minwidth_ppm = start->minwidth_ppm;
    if (asked->flat_count == plain.flat_count && asked->traces_count == plain.traces_count) {
        merged->flat_count = start->flat_count;
        merged->traces_count = start->traces_count;
    }
    if (asked->count == plain.count)
        merged->count = start->count;
    merged->has_signatures |= start->has_signatures;
    merged->is_normalised |= start->is_normalised;
    merged->is_simple |= start->is_simple;
    merged->is_dotted |= start->is_dotted;
    merged->has_libraries |= start->has_libraries;
    merged->has_compilations |= start->has_compilations;
    merged->is_reversed |= start->is_reversed;
    merged->is_inverted |= start->is_inverted;
    merged->is_annotated |= start->is_annotated;
}

static void set_look(const struct options *asked, struct options *merged,
                     struct export_options *look)
{
    merge_look(asked, merged);
    export_look(merged, look);
    look->title = merged->title;
    if (asked->is_by_thread && !session.options.is_by_thread)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "threads: the start did not ask for it, and the samples do not tell them apart");
    if (asked->has_lines && !session.options.has_lines)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "lines: the start did not ask for it, and the stacks do not tell them apart");
}

static bool write_graph(const struct options *asked, const char *path, bool is_stop,
                        enum recording_format format, struct jw_error *err)
{
    static struct options merged;
    struct export_options look;
    struct recording_view view = {.format = format, .look = &look};
    const bool is_binary = format == RECORDING_PPROF || format == RECORDING_OTLP;
    const bool is_named = asked->output != OPTIONS_OUTPUT_NONE && asked->file[0] == '\0';

    if (format == RECORDING_JFR) {
        jw_error_set(
            err, "the samples of this session are kept as a graph, of which no recording can be "
                 "made; ask for one at the start: start,file=profile.jfr");
        return false;
    }
    set_look(asked, &merged, &look);
    if (path[0] != '\0' && !is_own_file(asked, path)) {
        view.path = path;
    } else if (answer_takes_text() && !is_binary && (is_named || !session.has_file)) {
        view.write = answer_show;
    } else if (is_stop && !is_named) {
        return true; /* in its own file, or kept */
    } else if (is_named || !session.has_file) {
        jw_error_set(err, "where to? Name a file, such as file=%s",
                     format == RECORDING_PPROF  ? "profile.pb.gz"
                     : format == RECORDING_OTLP ? "profile.otlp"
                                                : "profile.html");
        return false;
    } else {
        view = (struct recording_view){.format = recording_format_of(session.recording)};
    }
    if (!recording_write(session.recording, &view, err))
        return false;
    session.is_unwritten = false;
    if (view.write == NULL)
        tell_written(view.path == NULL ? session.path : view.path);
    return true;
}

bool write_asked(const struct options *asked, bool is_stop, struct jw_error *err)
{
    const bool is_jfr = recording_format_of(session.recording) == RECORDING_JFR;
    const enum recording_format format = wanted_format(asked, is_jfr);
    char path[OPTIONS_PATH_BYTES];

    if (!asked_path(asked, path, sizeof path, err))
        return false;
    return is_jfr ? write_recording(asked, path, is_stop, format, err)
                  : write_graph(asked, path, is_stop, format, err);
}

bool write_own(struct jw_error *err)
{
    const struct recording_view own = {.format = recording_format_of(session.recording)};

    return recording_write(session.recording, &own, err);
}
