/* From the first word to its command, help and complaints. The commands stand in cli_commands.c. Context: tool. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cli/cli_internal.h"

/* Messages quote what others wrote: names of processes, events and types of recordings, words of the JVM. */
void cli_complain(const char *format, ...)
{
    char text[CLI_MESSAGE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("jaywalk: ", stderr);
    cli_put(text, stderr);
    fputc('\n', stderr);
}

int cli_usage_error(const struct cli_command *command, const struct jw_error *err)
{
    cli_complain("%s", err->message);
    fprintf(stderr, "Try 'jaywalk help%s%s'.\n", command == NULL ? "" : " ",
            command == NULL ? "" : command->name);
    return CLI_USAGE;
}

/* Levenshtein's distance, in three rows that hold as much as a name of ours is long. */
static unsigned cli_distance(const char *left, const char *right)
{
    enum { LIMIT = 40 };
    const size_t left_length = strlen(left);
    const size_t right_length = strlen(right);
    unsigned row[LIMIT + 1];

    if (left_length > LIMIT || right_length > LIMIT)
        return LIMIT;
    for (size_t i = 0; i <= right_length; i++)
        row[i] = (unsigned)i;
    for (size_t l = 1; l <= left_length; l++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)l;
        for (size_t r = 1; r <= right_length; r++) {
            const unsigned changed = diagonal + (left[l - 1] != right[r - 1]);
            const unsigned added = (row[r] < row[r - 1] ? row[r] : row[r - 1]) + 1;

            diagonal = row[r];
            row[r] = changed < added ? changed : added;
        }
    }
    return row[right_length];
}

const char *cli_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    unsigned best_distance = (unsigned)strlen(word) / 2 + 1;

    for (size_t i = 0; i < count; i++) {
        const unsigned distance = cli_distance(word, names[i]);

        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}

static const struct cli_command *cli_find(const char *name)
{
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    }
    return NULL;
}

static int cli_unknown_command(const char *name)
{
    const char *names[CLI_COMMAND_LIMIT + 1] = {"help"};
    struct jw_error err = {{0}};

    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        names[i + 1] = cli_commands[i].name;
    const char *nearest = cli_nearest(name, names, JW_COUNT_OF(names));
    jw_error_set(&err, "'%.100s' is no command, nor the name of a JVM that this user can see%s%s%s",
                 name, nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                 nearest == NULL ? "" : "'?");
    return cli_usage_error(NULL, &err);
}

/* A recording alone says what is there, not what to do with it. */
static bool cli_is_recording(const char *word)
{
    return cli_is_recording_name(word) && access(word, F_OK) == 0;
}

static int cli_help(const char *name)
{
    if (name == NULL || strcmp(name, "help") == 0)
        return cli_help_all();
    if (strcmp(name, "agent") == 0)
        return cli_help_agent();

    const struct cli_command *command = cli_find(name);
    return command == NULL ? cli_unknown_command(name) : cli_help_command(command);
}

/* A command named by the first word; without one, profile, where that word can only be meant for it: an
 * option, a number, or the name of a JVM. NULL: none of these. */
static const struct cli_command *cli_choose(const char *word, bool *is_named)
{
    const struct cli_command *command = cli_find(word);

    *is_named = command != NULL;
    if (*is_named)
        return command;
    if (word[0] == '-' || (word[0] >= '0' && word[0] <= '9') || cli_is_jvm_name(word))
        return &cli_commands[CLI_COMMAND_PROFILE];
    return NULL;
}

static int run(const struct cli_command *command, bool is_named, char **words, size_t count)
{
    struct cli_values values = {.operands = {.count = 0}};
    struct jw_error err = {{0}};

    if (!cli_parse(command, words, count, &values, &err))
        return cli_usage_error(command, &err);
    if (values.is_help)
        return cli_help_command(command);
    if (!is_named && values.operands.count > 0 && cli_find(values.operands.texts[0]) != NULL) {
        jw_error_set(&err, "the command comes first: jaywalk %s [options] ...",
                     values.operands.texts[0]);
        return cli_usage_error(command, &err);
    }
    return command->run(&values);
}

int cli_main(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : NULL;
    bool is_named;

    if (name == NULL) {
        struct jw_error err = {{0}};

        jw_error_set(&err, "a process or a command is missing, such as 'jaywalk -d 30 PID'");
        return cli_usage_error(NULL, &err);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return cli_help(argument_count > 2 ? arguments[2] : NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-v") == 0)
        name = "version";

    if (argument_count == 2 && cli_is_recording(name)) {
        struct jw_error err = {{0}};

        jw_error_set(&err,
                     "'%.200s' is a recording; to see it: jaywalk convert %.200s flamegraph.html",
                     name, name);
        return cli_usage_error(&cli_commands[CLI_COMMAND_CONVERT], &err);
    }

    const struct cli_command *command = cli_choose(name, &is_named);
    if (command == NULL)
        return cli_unknown_command(name);

    /* A copy, since operands change places: the caller's stay where they are. */
    const size_t skipped = is_named ? 2 : 1, count = (size_t)argument_count - skipped;
    char **words = jw_alloc((count + 1) * sizeof *words);
    if (words == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    memcpy(words, arguments + skipped, count * sizeof *words);
    words[count] = NULL; /* where a program is run, the end of its words */
    const int status = run(command, is_named, words, count);
    jw_free(words);
    return status;
}
