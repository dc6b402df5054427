/* Options of the commands: the table, and its parser. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_options_internal.h"
#include "options/options.h"

static const struct cli_option cli_options[] = {
#define CLI_SECTION(command_name, heading)                                                         \
    {.command = CLI_COMMAND_##command_name, .kind = CLI_KIND_SECTION, .help = heading},
#define CLI_OPTION(command_name, kind_name, field, ...)                                            \
    {.command = CLI_COMMAND_##command_name,                                                        \
     .kind = CLI_KIND_##kind_name,                                                                 \
     .field_offset = offsetof(struct cli_values, field),                                           \
     __VA_ARGS__},
#define CLI_AGENT(command_name, option_name, option_letter)                                        \
    {.command = CLI_COMMAND_##command_name,                                                        \
     .kind = CLI_KIND_AGENT,                                                                       \
     .field_offset = offsetof(struct cli_values, agent),                                           \
     .name = option_name,                                                                          \
     .letter = option_letter},
#include "options/cli_options.def"
#undef CLI_SECTION
#undef CLI_OPTION
#undef CLI_AGENT
};

const struct cli_option *cli_option_at(size_t number)
{
    return number < JW_COUNT_OF(cli_options) ? &cli_options[number] : NULL;
}

const char *cli_value_name(const struct cli_option *option)
{
    struct options_about about;

    if (option->kind != CLI_KIND_AGENT)
        return option->value;
    return options_about(option->name, &about) ? about.value : NULL;
}

bool cli_is_value_optional(const struct cli_option *option)
{
    struct options_about about;

    return option->kind == CLI_KIND_AGENT && options_about(option->name, &about) &&
           about.value != NULL && about.is_value_optional;
}

static bool cli_option_is(const struct cli_option *option, const struct cli_command *command)
{
    return option->command == command->id && option->kind != CLI_KIND_SECTION;
}

static const struct cli_option *cli_option_by_name(const struct cli_command *command,
                                                   const char *name, size_t length)
{
    for (size_t i = 0; i < JW_COUNT_OF(cli_options); i++) {
        if (cli_option_is(&cli_options[i], command) &&
            strncmp(cli_options[i].name, name, length) == 0 && cli_options[i].name[length] == '\0')
            return &cli_options[i];
    }
    return NULL;
}

static const struct cli_option *cli_option_by_letter(const struct cli_command *command, char letter)
{
    for (size_t i = 0; i < JW_COUNT_OF(cli_options); i++) {
        if (cli_option_is(&cli_options[i], command) && cli_options[i].letter == letter)
            return &cli_options[i];
    }
    return NULL;
}

static bool cli_reads_recordings(const struct cli_command *command)
{
    return command->operands == CLI_OPERANDS_RECORDING ||
           command->operands == CLI_OPERANDS_RECORDINGS;
}

/* Options that say which samples and how they look, where they can mean nothing. */
#define CLI_OF_STACKS                                                                              \
    "include exclude endpoint state simple norm lines reverse inverted minwidth title"
#define CLI_OF_SAMPLES "from to latency thread " CLI_OF_STACKS

static const struct {
    enum cli_command_id command;
    const char *names; /* separated by spaces */
    const char *why;
} cli_refusals[] = {
    {CLI_COMMAND_SUMMARY, CLI_OF_SAMPLES,
     "a summary tells of recordings as a whole, and of what was lost in them; 'jaywalk convert' "
     "shows a part"},
    {CLI_COMMAND_DOCTOR, CLI_OF_SAMPLES,
     "a doctor looks at recordings as a whole; 'jaywalk convert' shows a part"},
    {CLI_COMMAND_SAFEPOINTS, "latency thread " CLI_OF_STACKS,
     "safepoints are those of all threads; 'jaywalk convert --safepoint' shows a part of the "
     "samples"},
    {CLI_COMMAND_LEAKS, CLI_OF_SAMPLES,
     "sets of live objects are compared as a whole; 'jaywalk convert --live' shows a part"},
    {CLI_COMMAND_CONTENTION,
     "include exclude state simple norm lines reverse inverted minwidth title",
     "owners and waiters are found in the whole recording; 'jaywalk convert -e lock' shows a part"},
    {CLI_COMMAND_LOCKS, CLI_OF_SAMPLES,
     "a census is of the whole recording; 'jaywalk convert -e lock' shows a part of the waits"},
    {CLI_COMMAND_LATENCY, "include exclude state simple norm lines reverse inverted minwidth title",
     "times are of calls and requests, not of stacks; 'jaywalk convert --event jdk.MethodTrace' "
     "draws those of traced calls"},
    {CLI_COMMAND_COMPARE, "reverse inverted",
     "methods that are compared have no direction; 'jaywalk convert --diff BEFORE AFTER out.html' "
     "draws them"},
    {CLI_COMMAND_ENDPOINTS, "reverse inverted",
     "a table has no direction; 'jaywalk convert --by endpoint' draws stacks"},
    {CLI_COMMAND_DUMP, "from to thread state",
     "a graph has counted its samples by now; name it at the start, or record a .jfr and use "
     "'jaywalk convert'"},
    {CLI_COMMAND_STOP, "from to thread state",
     "a graph has counted its samples by now; name it at the start, or record a .jfr and use "
     "'jaywalk convert'"},
};

static bool cli_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        const size_t bytes = strcspn(at, " ");

        if (bytes == length && memcmp(at, word, length) == 0)
            return true;
        at += bytes;
    }
    return false;
}

/* Why this command cannot have the option; NULL: nobody says. */
static const char *cli_refusal(const struct cli_command *command, const char *name)
{
    for (size_t i = 0; i < JW_COUNT_OF(cli_refusals); i++)
        if (&cli_commands[cli_refusals[i].command] == command &&
            cli_has_word(cli_refusals[i].names, name))
            return cli_refusals[i].why;
    return cli_reads_recordings(command) ? NULL : options_refusal(name);
}

/* What a command has, and this one has not, of those that read recordings; false: no other has it. */
static bool cli_option_of_other(const struct cli_command *command, const char *word,
                                const char *name, size_t length, struct jw_error *err)
{
    const bool is_letter = word[1] != '-' && word[1] != '\0' && word[2] == '\0';

    for (size_t i = 0; i < CLI_COMMAND_LIMIT && cli_reads_recordings(command); i++) {
        const struct cli_command *other = &cli_commands[i];
        const struct cli_option *option = NULL;

        if (other == command || !cli_reads_recordings(other))
            continue;
        if (is_letter)
            option = cli_option_by_letter(other, word[1]);
        else if (word[1] == '-')
            option = cli_option_by_name(other, name, length);
        if (option == NULL)
            continue;
        jw_error_set(err, "%s: '%.100s' is no option; it is an option of 'jaywalk %s'%s",
                     command->name, word, other->name,
                     strcmp(option->name, "threads") == 0 ? ", and '--by thread' of this one" : "");
        return true;
    }
    return false;
}

static bool cli_unknown_option(const struct cli_command *command, const char *word,
                               struct jw_error *err)
{
    const char *names[JW_COUNT_OF(cli_options)];
    size_t count = 0;
    char bare[64];
    const char *name = word + strspn(word, "-");
    const size_t length = strcspn(name, "=");

    snprintf(bare, sizeof bare, "%.*s", length < sizeof bare ? (int)length : (int)sizeof bare - 1,
             name);
    const char *why = word[1] == '-' ? cli_refusal(command, bare) : NULL;
    if (why != NULL) {
        jw_error_set(err, "%s: no --%s: %s", command->name, bare, why);
        return false;
    }
    if (cli_option_of_other(command, word, name, length, err))
        return false;
    for (size_t i = 0; i < JW_COUNT_OF(cli_options); i++) {
        if (cli_option_is(&cli_options[i], command))
            names[count++] = cli_options[i].name;
    }
    const char *nearest = cli_nearest(bare, names, count);
    jw_error_set(err, "%s: '%.100s' is no option%s%s%s", command->name, word,
                 nearest == NULL ? "" : "; did you mean '--", nearest == NULL ? "" : nearest,
                 nearest == NULL ? "" : "'?");
    return false;
}

static bool cli_list_add(struct cli_list *list, const char *text, const char *what,
                         struct jw_error *err)
{
    if (list->count == CLI_LIST_LIMIT) {
        jw_error_set(err, "%s: more than %d of them", what, CLI_LIST_LIMIT);
        return false;
    }
    list->texts[list->count++] = text;
    return true;
}

static bool cli_agent_add(struct cli_agent_options *options, const char *name, const char *value,
                          struct jw_error *err)
{
    if (options->count == CLI_LIST_LIMIT) {
        jw_error_set(err, "more than %d options for the agent", CLI_LIST_LIMIT);
        return false;
    }
    options->names[options->count] = name;
    options->values[options->count++] = value;
    return true;
}

bool cli_read_output(const char *text, bool is_of_recording, struct cli_agent_options *options,
                     struct jw_error *err)
{
    static const char *const names[][2] = {
        {"jfr", "jfr"},   {"html", "flamegraph"}, {"flamegraph", "flamegraph"},
        {"text", "text"}, {"txt", "text"},        {"collapsed", "collapsed"},
        {"flat", "flat"}, {"traces", "traces"},   {"folded", "collapsed"},
        {"tree", "tree"}, {"pprof", "pprof"},     {"pb.gz", "pprof"},
        {"otlp", "otlp"},
    };
    const char *known[JW_COUNT_OF(names)];
    const size_t length = strcspn(text, "=");
    const char *count = text[length] == '=' ? text + length + 1 : NULL;

    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        known[i] = names[i][0];
        if (strlen(names[i][0]) == length && strncmp(text, names[i][0], length) == 0)
            return cli_agent_add(options, names[i][1], count, err);
    }
    if (strcmp(text, "explorer") == 0 || strcmp(text, "heatmap") == 0) {
        jw_error_set(err,
                     "--output: an explorer is made of a recording: record a .jfr, then 'jaywalk "
                     "convert profile.jfr profile.explorer.html'");
        return false;
    }
    if (!is_of_recording && (strcmp(text, "jsonl") == 0 || strcmp(text, "csv") == 0)) {
        jw_error_set(
            err,
            "--output: %s are the events of a recording: record a .jfr, then 'jaywalk convert "
            "profile.jfr events.%s'",
            text, text);
        return false;
    }
    if (is_of_recording && strcmp(text, "json") == 0) {
        jw_error_set(err,
                     "--output: 'json' is no format of a conversion; jsonl has an object for each "
                     "event, 'jaywalk endpoints -o json' one for each endpoint");
        return false;
    }

    const size_t first = is_of_recording ? 1 : 0; /* without jfr */
    const char *nearest = cli_nearest(text, known + first, JW_COUNT_OF(known) - first);
    jw_error_set(err,
                 "--output: '%.100s' is no format; there are %shtml, collapsed, text, flat, "
                 "traces, tree, pprof and otlp%s%s%s%s",
                 text, is_of_recording ? "" : "jfr, ",
                 is_of_recording ? ", and for the events jsonl and csv" : "",
                 nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                 nearest == NULL ? "" : "'?");
    return false;
}

static bool cli_store(const struct cli_option *option, const char *text, struct cli_values *values,
                      struct jw_error *err)
{
    void *field = (char *)values + option->field_offset;

    switch (option->kind) {
    case CLI_KIND_FLAG:
        *(bool *)field = true;
        return true;
    case CLI_KIND_TEXT:
        *(const char **)field = text;
        return true;
    case CLI_KIND_LIST:
        return cli_list_add(field, text, option->name, err);
    case CLI_KIND_AGENT:
        return cli_agent_add(field, option->name, text, err);
    case CLI_KIND_SECTION:
        break;
    }
    return true;
}

/*
 * Whether the next word is the value of an option that may be without one: not an option, nor what the command is about, which
 * is the last word where none came yet: of numbers a process is one without a unit, a program is none.
 */
static bool cli_is_value(const struct cli_option *option, const char *word, bool is_last,
                         const struct cli_values *values)
{
    struct options_about about = {.is_value_number = false};
    const bool is_operand_left = is_last && values->operands.count == 0;

    (void)options_about(option->name, &about);
    if (word[0] == '-' || (about.is_value_number && (word[0] < '0' || word[0] > '9')))
        return false;
    return !is_operand_left || (about.is_value_number && word[strspn(word, "0123456789")] != '\0');
}

/* One option at words[*at]; moves on to its value where that is a word of its own. */
static bool cli_parse_option(const struct cli_command *command, char **words, size_t word_count,
                             size_t *at, struct cli_values *values, struct jw_error *err)
{
    const char *word = words[*at];
    const bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const struct cli_option *option = NULL;

    if (is_long)
        option = cli_option_by_name(
            command, word + 2, equals == NULL ? strlen(word + 2) : (size_t)(equals - word - 2));
    else if (word[2] == '\0')
        option = cli_option_by_letter(command, word[1]);
    if (option == NULL)
        return cli_unknown_option(command, word, err);

    const char *value = cli_value_name(option);
    const char *text = equals == NULL ? NULL : equals + 1;
    if (value == NULL && text != NULL) {
        jw_error_set(err, "--%s takes no value: '%.100s'", option->name, word);
        return false;
    }
    const size_t next = *at + 1;
    if (value != NULL && text == NULL && cli_is_value_optional(option) &&
        (next >= word_count || !cli_is_value(option, words[next], next + 1 == word_count, values)))
        return cli_store(option, NULL, values, err);
    if (value != NULL && text == NULL) {
        if (next >= word_count) {
            jw_error_set(err, "--%s needs a value: --%s=%s", option->name, option->name, value);
            return false;
        }
        text = words[next];
        *at = next;
    }
    if (value != NULL && text[0] == '\0') {
        jw_error_set(err, "--%s has an empty value; give --%s=%s", option->name, option->name,
                     value);
        return false;
    }
    return cli_store(option, text, values, err);
}

bool cli_parse(const struct cli_command *command, char **words, size_t word_count,
               struct cli_values *values, struct jw_error *err)
{
    bool is_ended = false; /* by "--" */

    values->operands.texts = (const char *const *)words;
    for (size_t at = 0; at < word_count; at++) {
        char *const operand = words[at];
        const char *word = operand;

        if (!is_ended && strcmp(word, "--") == 0) {
            is_ended = true;
        } else if (command->operands == CLI_OPERANDS_PROGRAM && (is_ended || word[0] != '-')) {
            values->words = words + at;
            break;
        } else if (is_ended || word[0] != '-' || word[1] == '\0') {
            words[at] = words[values->operands.count];
            words[values->operands.count++] = operand;
        } else if (!cli_parse_option(command, words, word_count, &at, values, err)) {
            return false;
        }
    }
    return true;
}

size_t cli_word_of(const char *option, const char *text, const char *const *words, size_t count,
                   struct jw_error *err)
{
    char all[128];
    size_t used = 0;

    all[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0)
            return i;
        used +=
            (size_t)snprintf(all + used, sizeof all - used, "%s%s", i == 0 ? "" : ", ", words[i]);
    }

    const char *nearest = cli_nearest(text, words, count);
    jw_error_set(err, "--%s: '%.100s' is none of %s%s%s%s", option, text, all,
                 nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                 nearest == NULL ? "" : "'?");
    return count;
}

bool cli_top_read(const char *text, size_t *top, struct jw_error *err)
{
    char *end;

    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0) {
        *top = number;
        return true;
    }
    jw_error_set(err, "--top: '%.100s' is no number of rows; give 0 for all, or 1 and up", text);
    return false;
}

bool cli_jobs_read(const char *text, unsigned *jobs, struct jw_error *err)
{
    char *end;

    *jobs = 0;
    if (text == NULL)
        return true;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number > 0 &&
        number <= CLI_JOBS_MOST) {
        *jobs = (unsigned)number;
        return true;
    }
    jw_error_set(err, "--jobs: '%.100s' is no number of threads; give 1 to %u", text,
                 CLI_JOBS_MOST);
    return false;
}
