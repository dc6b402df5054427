/* Commands of the tool: which there are, help and complaints. Context: tool. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/cli_internal.h"

const struct cli_command cli_commands[CLI_COMMAND_LIMIT] = {
    [CLI_COMMAND_CONVERT] =
        {
            .id = CLI_COMMAND_CONVERT,
            .name = "convert",
            .usage = "jaywalk convert [options] IN.jfr OUT",
            .summary = "make a flame graph or a list from a recording",
            .text =
                "Reads a JDK Flight Recording, of jaywalk or of any other producer, and writes\n"
                "what the ending of OUT says:\n"
                "  .html               a flame graph, in one file that needs no network\n"
                "  .collapsed .folded  collapsed stacks: a line root;...;leaf and a count each\n"
                "  .txt                hottest methods and stacks\n"
                "OUT may be - for the standard output; then --format is needed. OUT is replaced\n"
                "at the end and whole, or not at all.\n",
            .examples = "  jaywalk convert profile.jfr flamegraph.html\n"
                        "  jaywalk convert --threads -I 'com/acme/' profile.jfr acme.html\n"
                        "  jaywalk convert --format=collapsed profile.jfr - | sort\n",
            .run = cli_convert,
        },
};

void cli_complain(const char *format, ...)
{
    va_list arguments;

    fputs("jaywalk: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
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
    const char *names[CLI_COMMAND_LIMIT + 2] = {"help", "version"};
    struct jw_error err = {{0}};

    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        names[i + 2] = cli_commands[i].name;
    const char *nearest = cli_nearest(name, names, JW_COUNT_OF(names));
    jw_error_set(&err, "'%.100s' is no command%s%s%s", name,
                 nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                 nearest == NULL ? "" : "'?");
    return cli_usage_error(NULL, &err);
}

/* Help that could not be printed is a failure like any other. */
static int cli_flush_help(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_OK;
    cli_complain("standard output: %s", strerror(errno));
    return CLI_FAILED;
}

static int cli_help_all(void)
{
    puts("jaywalk " JAYWALK_VERSION ", a sampling profiler for HotSpot JVMs\n\n"
         "Usage: jaywalk COMMAND [options] ...\n\nCommands:");
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        printf("  %-10s %s\n", cli_commands[i].name, cli_commands[i].summary);
    printf("  %-10s %s\n  %-10s %s\n", "help", "this text; 'jaywalk help COMMAND' for its options",
           "version", "the version");
    puts("\nTo profile a program, start it with the agent:\n"
         "  java -agentpath:/path/to/libjaywalk.so=start,file=profile.jfr ...");
    return cli_flush_help();
}

static int cli_help_command(const struct cli_command *command)
{
    printf("Usage: %s\n\n%s", command->usage, command->text);
    cli_print_options(command, stdout);
    printf("\nExamples:\n%s", command->examples);
    return cli_flush_help();
}

static int cli_help(const char *name)
{
    if (name == NULL)
        return cli_help_all();

    const struct cli_command *command = cli_find(name);
    return command == NULL ? cli_unknown_command(name) : cli_help_command(command);
}

int cli_main(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : NULL;

    if (name == NULL) {
        struct jw_error err = {{0}};

        jw_error_set(&err, "a command is missing, such as convert");
        return cli_usage_error(NULL, &err);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return cli_help(argument_count > 2 ? arguments[2] : NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        puts("jaywalk " JAYWALK_VERSION);
        return cli_flush_help();
    }

    const struct cli_command *command = cli_find(name);
    if (command == NULL)
        return cli_unknown_command(name);

    struct cli_values values = {.flat_count = EXPORT_METHOD_COUNT,
                                .traces_count = EXPORT_STACK_COUNT};
    struct jw_error err = {{0}};
    if (!cli_parse(command, arguments + 2, (size_t)argument_count - 2, &values, &err))
        return cli_usage_error(command, &err);
    if (values.is_help)
        return cli_help_command(command);
    return command->run(&values);
}
