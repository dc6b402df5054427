/* `jaywalk convert`: a recording becomes a graph or a list. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli_beside_internal.h"
#include "cli/cli_contexts_internal.h"
#include "cli/cli_internal.h"
#include "cli/cli_locks_internal.h"
#include "options/options.h"
#include "options/options_value.h"
#include "profile/profile.h"
#include "profile/profile_moments.h"

#define CLI_PAGE_BYTES (64ull << 20) /* of an explorer page at the most, unless asked otherwise */

/* The explorer looks like a flame graph by the agent's table, which has no word for it. */
static bool cli_is_explorer(const struct cli_values *values, const char *out)
{
    enum export_format format;

    return (values->format != NULL ? export_format_by_name(values->format, &format)
                                   : export_format_by_ending(out, &format)) &&
           format == EXPORT_EXPLORER;
}

bool cli_read_look(const struct cli_values *values, const char *out, struct options_result *look,
                   struct jw_error *err)
{
    static const char *const by_format[] = {[EXPORT_COLLAPSED] = "collapsed",
                                            [EXPORT_FLAMEGRAPH] = "flamegraph",
                                            [EXPORT_EXPLORER] = "flamegraph",
                                            [EXPORT_TEXT] = "text",
                                            [EXPORT_TREE] = "tree",
                                            [EXPORT_PPROF] = "pprof",
                                            [EXPORT_OTLP] = "otlp"};
    struct cli_agent_options options = values->agent;
    enum export_format format;

    if (values->format != NULL && cli_is_explorer(values, out)) {
        options.names[options.count] = by_format[EXPORT_EXPLORER];
        options.values[options.count++] = NULL;
    } else if (values->format != NULL) {
        if (!cli_read_output(values->format, true, &options, err))
            return false;
    } else if (export_format_by_ending(out, &format)) {
        options.names[options.count] = by_format[format];
        options.values[options.count++] = NULL;
    } else {
        jw_error_set(
            err,
            "convert: the ending of '%.200s' names no format; use .html, "
            ".explorer.html, .collapsed, .txt, .tree, .pb.gz, .otlp, .jsonl or .csv, or add "
            "--output=html",
            out);
        return false;
    }

    const bool is_good = options_parse_pairs(options.names, options.values, options.count, look);
    if (!is_good) {
        jw_error_set(err, "--%s", look->errors.texts[0]);
        return false;
    }
    if (look->warnings.count > 0) {
        cli_refuse_warning(look->warnings.texts[0], err);
        return false;
    }
    if (look->values.output == OPTIONS_OUTPUT_JFR) {
        jw_error_set(err, "convert: makes a recording of a recording where OUT ends in .jfr or "
                          ".jfr.zst, without --output");
        return false;
    }
    return cli_check_patterns(&look->values, err);
}

static enum export_format cli_format_of(const struct options *look)
{
    switch ((enum options_output)look->output) {
    case OPTIONS_OUTPUT_COLLAPSED:
        return EXPORT_COLLAPSED;
    case OPTIONS_OUTPUT_FLAMEGRAPH:
        return EXPORT_FLAMEGRAPH;
    case OPTIONS_OUTPUT_TREE:
        return EXPORT_TREE;
    case OPTIONS_OUTPUT_PPROF:
        return EXPORT_PPROF;
    case OPTIONS_OUTPUT_OTLP:
        return EXPORT_OTLP;
    case OPTIONS_OUTPUT_NONE:
    case OPTIONS_OUTPUT_JFR:
    case OPTIONS_OUTPUT_TEXT:
    case OPTIONS_OUTPUT_LIMIT:
        break;
    }
    return EXPORT_TEXT;
}

/* Samples with their time, where the output shows them. False and `err`: no memory. */
static bool cli_want_moments(struct cli_wish *wish, const struct options *look,
                             struct jw_error *err)
{
    wish->moments = profile_moments_open(err);
    wish->is_moment_count = look->count == OPTIONS_COUNT_SAMPLES;
    return wish->moments != NULL;
}

bool cli_is_same_file(const char *left, const char *right)
{
    struct stat one;
    struct stat other;

    return stat(left, &one) == 0 && stat(right, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* A profile of the file; a second one where the first shows that another event should have been asked for. */
static struct profile *cli_read(struct cli_input *input, const struct cli_values *values,
                                const struct profile_config *config, struct cli_wish *wish,
                                struct jw_error *err)
{
    static char event[JW_PERF_NAME_BYTES];
    struct profile *profile = cli_read_event(input, 1, config, wish, err);
    const bool is_asked = values->event != NULL || strcmp(wish->event, "cpu") != 0;
    const char *other = profile == NULL || is_asked ? NULL : cli_session_event(&input->found);

    if (other == NULL)
        return profile;
    snprintf(event, sizeof event, "%s", other);
    profile_close(profile);
    wish->event = event;
    wish->is_weightless = false;
    return cli_read_event(input, 1, config, wish, err);
}

static void cli_tell_nothing(const char *in, const struct cli_values *values,
                             const struct cli_wish *wish, const struct cli_found *found)
{
    char filters[512];

    if (found->samples == 0) {
        cli_complain("%s: no samples of '%s'", in, wish->event);
        return;
    }
    cli_filters_tell(values, filters, sizeof filters);
    cli_complain("%s: the filters left nothing of %" PRIu64 " samples of '%s':%s", in,
                 found->samples, wish->event, filters);
}

/* Patterns without effect are mistyped, or regular expressions without their slashes. */
static void cli_tell_idle_patterns(const char *in, const struct profile *profile)
{
    const char *pattern;
    bool is_exclude;

    for (size_t n = 0; (pattern = profile_idle_pattern(profile, n, &is_exclude)) != NULL; n++) {
        const char *option = is_exclude ? "exclude" : "include";
        const bool is_regex = pattern[0] == '/' && strlen(pattern) > 2;
        const bool is_like_regex =
            !is_regex && (strpbrk(pattern, "^|\\+?") != NULL || strstr(pattern, ".*") != NULL);

        cli_complain("%s: no frame is matched by --%s='%.200s'%s%.200s%s", in, option, pattern,
                     is_like_regex ? "; a regular expression stands between slashes: '/" : "",
                     is_like_regex ? pattern
                     : is_regex || strchr(pattern, '*') != NULL
                         ? ""
                         : "; a part of a name stands between stars",
                     is_like_regex ? "/'" : "");
    }
}

/* What else the recording has, each with its number. */
static void cli_tell_others(const char *in, const struct cli_wish *wish,
                            const struct cli_found *found)
{
    const char *const names[CLI_OTHERS] = {"cpu",  "wall",        found->counter, "alloc",
                                           "lock", CLI_EXCEPTION, CLI_NEW};

    for (size_t i = 0; i < CLI_OTHERS; i++)
        if (found->others[i] > 0)
            cli_complain("%s: shows '%s'; --event=%s shows the %" PRIu64 " samples of '%s'", in,
                         wish->event, names[i], found->others[i], names[i]);
}

static void cli_tell(const char *in, const struct cli_values *values, const struct cli_wish *wish,
                     const struct cli_found *found, const struct profile *profile)
{
    const uint64_t without_stack = profile_frameless_samples(profile);
    uint32_t count;
    const uint64_t samples = profile_nodes(profile, &count)[0].total_samples;

    if (found->notice[0] != '\0')
        cli_complain("%s", found->notice);
    if (samples == 0)
        cli_tell_nothing(in, values, wish, found);
    cli_tell_others(in, wish, found);
    cli_tell_idle_part(in, wish->part);
    if (found->let_in > 0)
        cli_tell_idle_patterns(in, profile);
    if (wish->is_weightless)
        cli_complain("%s: only some samples say what time they stand for; all count as one", in);
    if (found->left_out_attributes > 0)
        cli_complain("%s: attributes beyond the first %u names are left out, %" PRIu64
                     " values in all",
                     in, PROFILE_COLUMNS_LIMIT, found->left_out_attributes);
    if (found->native_left_out > 0)
        cli_complain("%s: %" PRIu64 " samples in native methods are left out, of threads that may "
                     "have been waiting; --event=jdk.NativeMethodSample shows them",
                     in, found->native_left_out);
    if (without_stack > 0)
        cli_complain("%s: %" PRIu64 " of %" PRIu64 " samples have no stack", in, without_stack,
                     samples);
}

/* A mistyped event or state would otherwise replace the output with an empty one. */
static int cli_check_found(const struct cli_input *input, const struct cli_wish *wish)
{
    const char *in = input->path;
    const struct cli_found *found = &input->found;
    struct jw_error err = {{0}};

    if (!found->has_event) {
        cli_complain("%s: no samples of '%s'%s%s%s", in, wish->event,
                     found->other_types[0] == '\0' ? "" : "; it has stacks of ", found->other_types,
                     found->other_types[0] == '\0' ? "" : ": name one with --event");
        return CLI_FAILED;
    }
    if (wish->state != NULL && found->let_in == 0 && !profile_is_known_state(wish->state)) {
        static const char *const words[] = {"running", "sleeping", "parked",
                                            "blocked", "waiting",  "native"};
        const char *nearest = cli_nearest(wish->state, words, JW_COUNT_OF(words));

        jw_error_set(&err, "--state: '%.100s' is no state of a thread%s%s%s; there are " CLI_STATES,
                     wish->state, nearest == NULL ? "" : " (did you mean '",
                     nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?)");
        return cli_usage_error(&cli_commands[CLI_COMMAND_CONVERT], &err);
    }
    return cli_check_contexts(input, wish) ? CLI_OK : CLI_FAILED;
}

/* What the graph is made of. */
struct cli_made {
    struct cli_input input;
    struct cli_wish wish;
    struct profile *profile;
    struct profile *base;
    struct cli_beside *beside; /* NULL: no page with events */
    char *census;              /* of locks, for such a page; NULL: none */
};

/* What is read beside the profile goes into its options. */
static bool cli_add_beside(struct cli_made *made, const struct cli_values *values,
                           const struct profile_config *config, struct cli_cut *cut,
                           struct export_options *options, struct jw_error *err)
{
    const struct cli_beside_of of = {.input = &made->input,
                                     .wish = &made->wish,
                                     .config = config,
                                     .cut = cut,
                                     .base_path = values->base};

    if (values->base != NULL) {
        const char *slash = strrchr(values->base, '/');

        options->base_name = slash == NULL ? values->base : slash + 1;
        options->base = made->base = cli_read_base(values->base, &made->wish, config, cut, err);
        if (made->base == NULL)
            return false;
    }
    if (made->beside == NULL)
        return true;
    if (!cli_beside_read(made->beside, &of, err))
        return false;
    options->others = made->beside->others;
    options->other_count = made->beside->other_count;
    options->census = made->census = locks_page(made->input.path, err);
    if (err->message[0] != '\0')
        return false;
    if (cli_beside_shows(made->beside, made->input.found.other_event))
        made->input.found.other_samples = 0; /* they are shown */
    return true;
}

/* Value of --max-size, by default what browsers open without a wait. */
static bool cli_max_size_read(const char *text, uint64_t *most_bytes, struct jw_error *err)
{
    *most_bytes = CLI_PAGE_BYTES;
    if (text == NULL)
        return true;

    const enum options_value_status status = options_value_size(text, strlen(text), most_bytes);
    if (status == OPTIONS_VALUE_OK)
        return true;
    jw_error_set(err, "--max-size: '%.100s' %s; give a size such as 20m", text,
                 options_value_status_text(status));
    return false;
}

static int cli_make(struct cli_made *made, const char *out, const struct cli_values *values,
                    struct cli_cut *cut, const struct options *look, struct jw_error *err)
{
    const struct profile_config config = {.split_lines = look->has_lines};
    struct cli_input *input = &made->input;
    struct export_options options;
    char part[512];

    if (made->wish.moments != NULL || cli_needs_requests(&cut->part, &cut->bys))
        input->requests = cli_read_requests(input->path, cut, values->is_quiet, err);
    if (err->message[0] == '\0')
        made->profile = cli_read(input, values, &config, &made->wish, err);
    if (made->profile == NULL)
        return CLI_FAILED;

    export_look(look, &options);
    options.title = look->title;
    options.view.is_normalised |=
        values->base != NULL; /* names of lambdas differ from run to run */
    options.filtered_samples = input->found.samples - input->found.let_in;
    cli_part_tell(&cut->part, part, sizeof part);
    options.part = part;
    options.moments = made->wish.moments;
    if (!cli_max_size_read(values->max_size, &options.most_bytes, err))
        return CLI_FAILED;
    options.base = NULL;

    const int status = cli_check_found(input, &made->wish);
    if (status != CLI_OK)
        return status;
    return cli_add_beside(made, values, &config, cut, &options, err) &&
                   cli_write(made->profile, out,
                             made->beside != NULL ? EXPORT_EXPLORER : cli_format_of(look), &options,
                             err)
               ? CLI_OK
               : CLI_FAILED;
}

/* A page of several events begins with the first. False and `err`: they have no sense, or no memory. */
static bool cli_want_events(struct cli_made *made, const struct cli_values *values,
                            const struct options *look, struct jw_error *err)
{
    made->beside = jw_alloc(sizeof *made->beside);
    if (made->beside == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    if (!cli_beside_names(made->beside, values->event, err))
        return false;
    if (values->event != NULL)
        made->wish.event = made->beside->names[0];
    return cli_want_moments(&made->wish, look, err);
}

static int cli_convert_file(const char *in, const char *out, const struct cli_values *values,
                            struct cli_cut *cut, const struct options *look)
{
    struct cli_made made = {
        .input = {.path = in},
        .wish = {.event = values->event == NULL ? "cpu" : cli_event_of(values->event),
                 .state = values->state,
                 .part = &cut->part,
                 .bys = &cut->bys,
                 .no_context = "context",
                 .jobs = cut->jobs,
                 .is_quiet = values->is_quiet,
                 .counts_objects =
                     cli_format_of(look) == EXPORT_PPROF || cli_format_of(look) == EXPORT_OTLP},
    };
    struct jw_error err = {{0}};
    int status = CLI_FAILED;

    if (!cli_is_explorer(values, out) || cli_want_events(&made, values, look, &err))
        status = cli_make(&made, out, values, cut, look, &err);
    if (err.message[0] != '\0')
        cli_complain("%s", err.message);
    if (status == CLI_OK && !values->is_quiet)
        cli_tell(in, values, &made.wish, &made.input.found, made.profile);
    profile_close(made.base);
    profile_close(made.profile);
    profile_moments_close(made.wish.moments);
    cli_beside_close(made.beside);
    cli_requests_close(made.input.requests);
    jw_free(made.census);
    return status;
}

/* What does not go with this output. */
static bool cli_check_output(const char *in, const char *out, const struct cli_values *values,
                             const struct options *look, struct jw_error *err)
{
    const bool is_explorer = cli_is_explorer(values, out);

    if (cli_is_same_file(in, out))
        jw_error_set(err, "convert: '%.200s' is the recording itself; name another output", out);
    else if (cli_has_events(values->event) && !is_explorer)
        jw_error_set(err,
                     "--event: '%.200s' are several; explorer pages show several events, and all "
                     "other outputs one",
                     values->event);
    else if (values->base != NULL && !is_explorer && cli_format_of(look) != EXPORT_FLAMEGRAPH)
        jw_error_set(err, "--diff: only html and explorer show a comparison; 'jaywalk compare "
                          "BEFORE AFTER' prints one");
    else
        return true;
    return false;
}

static int convert(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_CONVERT];
    struct jw_error err = {{0}};

    if (values->operands.count != 2) {
        jw_error_set(&err, "convert: %s; usage: %s",
                     values->operands.count < 2 ? "a recording and an output are needed"
                                                : "only one recording and one output are taken",
                     command->usage);
        return cli_usage_error(command, &err);
    }

    const char *in = values->operands.texts[0];
    const char *out = values->operands.texts[1];
    struct {
        struct options_result look;
        struct cli_cut cut;
    } *read = jw_alloc(sizeof *read);
    int status;

    uint64_t most_bytes;
    if (values->max_size != NULL && !cli_is_explorer(values, out))
        jw_error_set(&err, "--max-size: only explorer pages are made to fit into a size");
    if (err.message[0] != '\0' || !cli_max_size_read(values->max_size, &most_bytes, &err)) {
        jw_free(read);
        return cli_usage_error(command, &err);
    }

    const enum cli_events_format events = cli_events_format_of(values, out);
    if (events != CLI_EVENTS_NONE) {
        jw_free(read);
        return cli_convert_events(in, out, events, values);
    }
    if (values->times != NULL) {
        jw_free(read);
        jw_error_set(&err, "--times: is about the moments of events; add -o jsonl or -o csv");
        return cli_usage_error(command, &err);
    }
    if (values->format == NULL && values->base == NULL && cli_is_recording_name(out)) {
        jw_free(read);
        return cli_repack(in, out, values);
    }
    if (read == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    if (!cli_read_look(values, out, &read->look, &err) ||
        !cli_jobs_read(values->jobs, &read->cut.jobs, &err) ||
        !cli_part_read(values, &read->cut.part, &err) ||
        !cli_bys_read(values, read->look.values.is_by_thread, &read->cut.bys, &err)) {
        status = cli_usage_error(command, &err);
    } else if (!cli_check_output(in, out, values, &read->look.values, &err)) {
        status = cli_usage_error(command, &err);
    } else {
        status = cli_convert_file(in, out, values, &read->cut, &read->look.values);
    }
    cli_part_close(&read->cut.part);
    jw_free(read);
    return status;
}

int cli_convert(const struct cli_values *values)
{
    struct cli_values shown = *values;
    struct jw_error err = {{0}};

    if (values->is_live && values->event != NULL && strcmp(values->event, "live") != 0) {
        jw_error_set(&err,
                     "--live: is --event=live, and --event=%.100s another one; take one of them",
                     values->event);
        return cli_usage_error(&cli_commands[CLI_COMMAND_CONVERT], &err);
    }
    if (values->is_blame && (values->is_live || values->event != NULL) &&
        (values->event == NULL || strcmp(values->event, "blame") != 0)) {
        jw_error_set(&err, "--blame: is --event=blame, and another event is asked for, too; take "
                           "one of them");
        return cli_usage_error(&cli_commands[CLI_COMMAND_CONVERT], &err);
    }
    if (values->is_live)
        shown.event = "live";
    if (values->is_blame)
        shown.event = "blame";
    return convert(&shown);
}
