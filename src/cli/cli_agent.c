/* From options of the command to an agent string, without loss or ambiguity. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_internal.h"
#include "options/options.h"
#include "profile/profile.h"

struct cli_string {
    char *text; /* CLI_STRING_BYTES */
    size_t used;
    bool is_full;
};

static void cli_add(struct cli_string *string, const char *name, const char *value)
{
    const size_t room = CLI_STRING_BYTES - string->used;
    const int length =
        snprintf(string->text + string->used, room, "%s%s%s%s", string->used == 0 ? "" : ",", name,
                 value == NULL ? "" : "=", value == NULL ? "" : value);

    if (length < 0 || (size_t)length >= room)
        string->is_full = true;
    else
        string->used += (size_t)length;
}

/* A relative name is meant from where the command is called, not from where the JVM runs; a percent sign
 * in that directory's own name stands for itself. */
bool cli_absolute(const char *file, char *path, size_t room, struct jw_error *err)
{
    char directory[CLI_PATH_BYTES];
    size_t used = 0;

    if (file[0] != '/') {
        if (getcwd(directory, sizeof directory) == NULL) {
            jw_error_set(err, "this directory has no path: %s; give --file an absolute one",
                         strerror(errno));
            return false;
        }
        for (const char *at = directory; *at != '\0' && used + 3 < room; at++) {
            path[used++] = *at;
            if (*at == '%')
                path[used++] = '%';
        }
        if (used > 1)
            path[used++] = '/';
    }
    if (used + strlen(file) >= room) {
        jw_error_set(err, "--file: the path has more than %zu bytes", room - 1);
        return false;
    }
    strcpy(path + used, file);
    return true;
}

static bool cli_has_no_comma(const char *name, const char *value, struct jw_error *err)
{
    if (value == NULL || strchr(value, ',') == NULL)
        return true;
    jw_error_set(err, "--%s: '%.200s' holds a comma, which ends a value of the agent; leave it out",
                 name, value);
    return false;
}

bool cli_check_patterns(const struct options *options, struct jw_error *err)
{
    struct jw_error why = {{0}};

    if (profile_check_patterns(options->includes, options->excludes, &why))
        return true;
    jw_error_set(err, "--%s", why.message);
    return false;
}

/* A warning says what the agent goes on with; here nothing goes on. */
void cli_refuse_warning(const char *text, struct jw_error *err)
{
    static const char end[] = " is used";
    const size_t length = strlen(text), end_length = sizeof end - 1;

    if (length > end_length && strcmp(text + length - end_length, end) == 0)
        jw_error_set(err, "--%.*s would be used; give that", (int)(length - end_length), text);
    else
        jw_error_set(err, "--%s", text);
}

/* Whatever the agent would refuse, change or pass over is a mistake to the command. */
static bool cli_check(const char *string, struct jw_error *err)
{
    struct options_result *result = jw_alloc(sizeof *result);

    if (result == NULL) {
        jw_error_set(err, "no memory");
        return false;
    }
    const bool is_good = options_parse(string, strlen(string), result);
    if (!is_good)
        jw_error_set(err, "--%s", result->errors.texts[0]);
    else if (result->warnings.count > 0)
        cli_refuse_warning(result->warnings.texts[0], err);
    const bool is_clean =
        is_good && result->warnings.count == 0 && cli_check_patterns(&result->values, err);
    jw_free(result);
    return is_clean;
}

static bool cli_has(const struct cli_agent_options *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++) {
        if (strcmp(options->names[i], name) == 0)
            return true;
    }
    return false;
}

/* Of a file that nobody named, by the format that somebody did. */
static const char *cli_ending(const struct cli_agent_options *format)
{
    const char *name = format->count == 0 ? "jfr" : format->names[0];

    static const char *const endings[][2] = {
        {"flamegraph", "html"}, {"jfr", "jfr"},     {"collapsed", "collapsed"},
        {"tree", "tree"},       {"pprof", "pb.gz"}, {"otlp", "otlp"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(endings); i++) {
        if (strcmp(name, endings[i][0]) == 0)
            return endings[i][1];
    }
    return "txt";
}

/* Formats that a terminal can show. */
static bool cli_is_text(const struct cli_agent_options *format)
{
    static const char *const others[] = {"html", "jfr", "pb.gz", "otlp"};

    for (size_t i = 0; i < JW_COUNT_OF(others); i++) {
        if (strcmp(cli_ending(format), others[i]) == 0)
            return false;
    }
    return true;
}

static const char *cli_file(const struct cli_values *values)
{
    return values->file != NULL && strcmp(values->file, "-") == 0 ? NULL : values->file;
}

bool cli_is_for_terminal(const struct cli_values *values)
{
    struct cli_agent_options format = {.count = 0};
    struct jw_error err = {{0}};

    return cli_file(values) == NULL && values->format != NULL &&
           cli_read_output(values->format, false, &format, &err) && cli_is_text(&format);
}

static bool cli_add_file(struct cli_string *to, const struct cli_values *values,
                         const struct cli_ask *ask, const struct cli_agent_options *format,
                         struct jw_error *err)
{
    char name[64], path[OPTIONS_PATH_BYTES];
    const char *file = cli_file(values);

    if (file == NULL && values->file != NULL && ask->pid_text != NULL && !cli_is_text(format)) {
        jw_error_set(err,
                     "--file=-: the standard output takes text and collapsed stacks; name a "
                     "file for %s",
                     cli_ending(format));
        return false;
    }
    if (file == NULL && ask->pid_text != NULL) {
        snprintf(name, sizeof name, "jaywalk-%s.%s", ask->pid_text, cli_ending(format));
        file = name;
    }
    if (file == NULL)
        return true;
    if (!cli_absolute(file, path, sizeof path, err) || !cli_has_no_comma("file", path, err))
        return false;
    cli_add(to, "file", path);
    return true;
}

bool cli_agent_command(const struct cli_values *values, const struct cli_ask *ask, char *string,
                       struct jw_error *err)
{
    struct cli_string to = {.text = string};
    struct cli_agent_options format = {.count = 0};

    if (values->format != NULL && !cli_read_output(values->format, false, &format, err))
        return false;
    cli_add(&to, ask->action, NULL);
    for (size_t i = 0; i < values->agent.count; i++) {
        if (!cli_has_no_comma(values->agent.names[i], values->agent.values[i], err))
            return false;
        cli_add(&to, values->agent.names[i], values->agent.values[i]);
    }
    for (size_t i = 0; i < format.count; i++)
        cli_add(&to, format.names[i], format.values[i]);
    if (ask->is_quiet && !cli_has(&values->agent, "loglevel"))
        cli_add(&to, "loglevel", "warn");
    if (!cli_add_file(&to, values, ask, &format, err))
        return false;
    if (to.is_full) {
        jw_error_set(err, "the options come to more than %d bytes", CLI_STRING_BYTES);
        return false;
    }
    return cli_check(string, err);
}

bool cli_agent_string(const struct cli_values *values, const char *pid_text, bool is_quiet,
                      char *string, struct jw_error *err)
{
    const struct cli_ask ask = {"start", cli_is_for_terminal(values) ? NULL : pid_text, is_quiet};

    return cli_agent_command(values, &ask, string, err);
}
