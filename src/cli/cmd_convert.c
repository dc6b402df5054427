/* `jaywalk convert`: a recording becomes a graph or a list. Context: tool. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/cli_internal.h"
#include "profile/profile.h"

struct cli_patterns {
    regex_t compiled[CLI_LIST_LIMIT];
    size_t count;
};

static bool cli_compile(const char *option, const struct cli_list *list,
                        struct cli_patterns *patterns, struct jw_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const int code = regcomp(&patterns->compiled[i], list->texts[i], REG_EXTENDED | REG_NOSUB);

        if (code != 0) {
            char reason[128];

            regerror(code, &patterns->compiled[i], reason, sizeof reason);
            jw_error_set(err, "--%s: '%.100s' is no regular expression: %s", option, list->texts[i],
                         reason);
            return false;
        }
        patterns->count++;
    }
    return true;
}

static void cli_forget(struct cli_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        regfree(&patterns->compiled[i]);
}

static bool cli_read_format(const struct cli_values *values, const char *out,
                            enum export_format *format, struct jw_error *err)
{
    static const char *const names[] = {"html", "collapsed", "text"};

    if (values->format != NULL) {
        if (export_format_by_name(values->format, format))
            return true;
        const char *nearest = cli_nearest(values->format, names, JW_COUNT_OF(names));
        jw_error_set(err, "--format: '%.100s' is none of html, collapsed, text%s%s%s",
                     values->format, nearest == NULL ? "" : "; did you mean '",
                     nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
        return false;
    }
    if (export_format_by_ending(out, format))
        return true;
    jw_error_set(err,
                 "convert: the ending of '%.200s' names no format; use .html, .collapsed or .txt, "
                 "or add --format=html",
                 out);
    return false;
}

static bool cli_read_value(const struct cli_values *values, enum export_value *value,
                           struct jw_error *err)
{
    *value = EXPORT_VALUE_DEFAULT;
    if (values->count == NULL)
        return true;
    if (strcasecmp(values->count, "samples") == 0)
        *value = EXPORT_VALUE_SAMPLES;
    else if (strcasecmp(values->count, "weight") == 0)
        *value = EXPORT_VALUE_WEIGHT;
    else
        jw_error_set(err, "--count: '%.100s' is neither samples nor weight", values->count);
    return *value != EXPORT_VALUE_DEFAULT;
}

static bool cli_is_same_file(const char *left, const char *right)
{
    struct stat one;
    struct stat other;

    return stat(left, &one) == 0 && stat(right, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* What is shown where nobody asks for an event: what the session was about, or what there is. */
static bool cli_must_show_wall(const struct cli_values *values, const struct cli_wish *wish,
                               const struct cli_found *found)
{
    return values->event == NULL && strcmp(wish->event, "cpu") == 0 &&
           (found->is_of_wall || (found->before_filters == 0 && found->native_left_out == 0 &&
                                  found->other_samples > 0));
}

/* A profile fed from the file; a second time where that shows what should have been asked for: the wall
 * clock, or, where only some samples have a weight, none. */
static struct profile *cli_read(const char *in, const struct cli_values *values,
                                struct cli_wish *wish, struct cli_found *found,
                                struct jw_error *err)
{
    const struct profile_config config = {
        .split_signatures = values->has_signatures,
        .split_lines = values->has_lines,
        .split_threads = values->is_by_thread,
        .reverse = values->is_reversed,
    };
    struct profile *profile = profile_open(&config, err);
    bool is_fed = profile != NULL && cli_feed(in, wish, profile, found, err);

    for (bool is_good = false; is_fed && !is_good;) {
        if (cli_must_show_wall(values, wish, found))
            wish->event = "wall";
        else if (found->has_weight && found->lacks_weight && !wish->is_weightless)
            wish->is_weightless = true;
        else
            is_good = true;
        if (is_good)
            continue;
        profile_close(profile);
        profile = profile_open(&config, err);
        is_fed = profile != NULL && cli_feed(in, wish, profile, found, err);
    }
    if (is_fed)
        return profile;
    profile_close(profile);
    return NULL;
}

/* Adds " --include='x'" and the like to a text that is cut to fit. */
static void cli_name_filters(const struct cli_values *values, char *text, size_t room)
{
    const struct cli_list *lists[] = {&values->includes, &values->excludes};
    static const char *const names[] = {"include", "exclude"};
    size_t used = 0;

    text[0] = '\0';
    if (values->state != NULL)
        used += (size_t)snprintf(text, room, " --state='%.100s'", values->state);
    for (size_t i = 0; i < JW_COUNT_OF(lists); i++) {
        for (size_t k = 0; k < lists[i]->count && used < room; k++)
            used += (size_t)snprintf(text + used, room - used, " --%s='%.100s'", names[i],
                                     lists[i]->texts[k]);
    }
}

static void cli_tell_nothing(const char *in, const struct cli_values *values,
                             const struct cli_wish *wish, const struct cli_found *found)
{
    char filters[512];

    if (found->before_filters == 0) {
        cli_complain("%s: no samples of '%s'", in, wish->event);
        return;
    }
    cli_name_filters(values, filters, sizeof filters);
    cli_complain("%s: the filters left nothing of %" PRIu64 " samples of '%s':%s", in,
                 found->before_filters, wish->event, filters);
}

static void cli_tell(const char *in, const struct cli_values *values, const struct cli_wish *wish,
                     const struct cli_found *found)
{
    if (found->notice[0] != '\0')
        cli_complain("%s", found->notice);
    if (found->samples == 0)
        cli_tell_nothing(in, values, wish, found);
    if (found->other_samples > 0)
        cli_complain("%s: shows '%s'; --event=%s shows the %" PRIu64 " samples of '%s'", in,
                     wish->event, found->other_event, found->other_samples, found->other_event);
    if (wish->is_weightless)
        cli_complain("%s: only some samples say what time they stand for; all count as one", in);
    if (found->native_left_out > 0)
        cli_complain("%s: %" PRIu64 " samples in native methods are left out, of threads that may "
                     "have been waiting; --event=jdk.NativeMethodSample shows them",
                     in, found->native_left_out);
    if (found->without_stack > 0)
        cli_complain("%s: %" PRIu64 " of %" PRIu64 " samples have no stack", in,
                     found->without_stack, found->samples);
}

/* A mistyped event or state would otherwise replace the output with an empty one. */
static int cli_check_found(const char *in, const struct cli_wish *wish,
                           const struct cli_found *found)
{
    struct jw_error err = {{0}};

    if (!found->has_event) {
        cli_complain("%s: no samples of '%s'%s%s%s", in, wish->event,
                     found->other_types[0] == '\0' ? "" : "; it has stacks of ", found->other_types,
                     found->other_types[0] == '\0' ? "" : ": name one with --event");
        return CLI_FAILED;
    }
    if (wish->state != NULL && found->in_state == 0 && !cli_is_known_state(wish->state)) {
        jw_error_set(&err, "--state: '%.100s' is no state of a thread; there are " CLI_STATES,
                     wish->state);
        return cli_usage_error(&cli_commands[CLI_COMMAND_CONVERT], &err);
    }
    return CLI_OK;
}

static int cli_convert_file(const char *in, const char *out, const struct cli_values *values,
                            struct cli_wish *wish, enum export_format format,
                            enum export_value value)
{
    struct export_options options = {
        .title = values->title,
        .value = value,
        .min_width_ppm = values->minwidth_ppm,
        .is_inverted = values->is_inverted,
        .is_annotated = values->is_annotated,
        .is_dotted = values->is_dotted,
        .method_count = values->flat_count,
        .stack_count = values->traces_count,
    };
    struct cli_found found;
    struct jw_error err = {{0}};
    struct profile *profile = cli_read(in, values, wish, &found, &err);
    int status = CLI_FAILED;

    if (profile != NULL) {
        options.filtered_samples = found.before_filters - found.samples;
        status = cli_check_found(in, wish, &found);
        if (status == CLI_OK && !cli_write(profile, out, format, &options, &err))
            status = CLI_FAILED;
    }
    profile_close(profile);
    if (err.message[0] != '\0')
        cli_complain("%s", err.message);
    if (status == CLI_OK && !values->is_quiet)
        cli_tell(in, values, wish, &found);
    return status;
}

int cli_convert(const struct cli_values *values)
{
    const struct cli_command *command = &cli_commands[CLI_COMMAND_CONVERT];
    struct cli_patterns includes = {.count = 0};
    struct cli_patterns excludes = {.count = 0};
    enum export_format format;
    enum export_value value;
    struct jw_error err = {{0}};
    int status;

    if (values->operands.count != 2) {
        jw_error_set(&err, "convert: %s; usage: %s",
                     values->operands.count < 2 ? "a recording and an output are needed"
                                                : "only one recording and one output are taken",
                     command->usage);
        return cli_usage_error(command, &err);
    }

    const char *in = values->operands.texts[0];
    const char *out = values->operands.texts[1];
    if (!cli_read_format(values, out, &format, &err) || !cli_read_value(values, &value, &err) ||
        !cli_compile("include", &values->includes, &includes, &err) ||
        !cli_compile("exclude", &values->excludes, &excludes, &err)) {
        status = cli_usage_error(command, &err);
    } else if (cli_is_same_file(in, out)) {
        jw_error_set(&err, "convert: '%.200s' is the recording itself; name another output", out);
        status = cli_usage_error(command, &err);
    } else {
        struct cli_wish wish = {
            .event = values->event == NULL ? "cpu" : values->event,
            .state = values->state,
            .includes = includes.compiled,
            .include_count = includes.count,
            .excludes = excludes.compiled,
            .exclude_count = excludes.count,
            .is_quiet = values->is_quiet,
        };
        status = cli_convert_file(in, out, values, &wish, format, value);
    }
    cli_forget(&includes);
    cli_forget(&excludes);
    return status;
}
