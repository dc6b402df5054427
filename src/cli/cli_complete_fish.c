/*
 * Completion for fish, made of the tables: a line for each option of each command, with its help. Context: tool.
 *
 * Processes come from `jaywalk jps`. Nothing else is run.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli_complete_internal.h"

/* Within single quotes, where a backslash quotes itself and them. */
static void put_quoted(const char *text, FILE *to)
{
    fputc('\'', to);
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
    fputc('\'', to);
}

static void put_option(const struct cli_command *command, const struct cli_option *option, FILE *to)
{
    char help[CLI_COMPLETE_LINE_BYTES];
    struct cli_complete_value value;

    fprintf(to, "complete -c jaywalk -n '__jaywalk_is %s", command->name);
    if (!cli_complete_repeats(option)) {
        fprintf(to, "; and __jaywalk_lacks --%s", option->name);
        if (option->letter != 0)
            fprintf(to, " -%c", option->letter);
    }
    fputc('\'', to);
    if (option->letter != 0)
        fprintf(to, " -s %c", option->letter);
    fprintf(to, " -l %s", option->name);
    if (cli_value_name(option) != NULL) {
        /* Then behind an equals sign alone. */
        const bool is_optional = cli_is_value_optional(option);

        cli_complete_value(option, &value);
        if (value.words[0] != '\0') {
            fputs(is_optional ? " -a " : " -x -a ", to);
            put_quoted(value.words, to);
        } else if (!is_optional) {
            fputs(value.is_path ? " -r -F" : " -x", to);
        }
    }
    cli_complete_line(option, help);
    fputs(" -d ", to);
    put_quoted(help, to);
    fputc('\n', to);
}

static void put_operands(const struct cli_command *command, FILE *to)
{
    static const char *const operands[] = {
        [CLI_OPERANDS_NONE] = NULL,
        [CLI_OPERANDS_JVM] = "__jaywalk_jvms",
        [CLI_OPERANDS_RECORDING] = "__jaywalk_recording_then_output",
        [CLI_OPERANDS_RECORDINGS] = "__jaywalk_recordings",
        [CLI_OPERANDS_EITHER] = "__jaywalk_jvms; __jaywalk_recordings",
        [CLI_OPERANDS_RULES] = "__jaywalk_rules",
        [CLI_OPERANDS_PROGRAM] = "__jaywalk_program",
    };
    const char *const offered = operands[command->operands];

    if (offered != NULL)
        fprintf(to, "complete -c jaywalk -n '__jaywalk_is %s' -k -a '(%s)'\n", command->name,
                offered);
}

static void put_command(const struct cli_command *command, FILE *to)
{
    const struct cli_option *option;

    fprintf(to, "\ncomplete -c jaywalk -n __jaywalk_begins -a %s -d ", command->name);
    put_quoted(command->summary, to);
    fputc('\n', to);
    put_operands(command, to);
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++)
        if (cli_complete_is_of(option, command))
            put_option(command, option, to);
}

/* What the lines below ask. */
static const char body[] =
    "# The command line up to the word at the cursor begins with the command $argv; without one, "
    "profile is meant.\n"
    "function __jaywalk_is\n"
    "    set -l words (commandline -opc)\n"
    "    if set -q words[2]; and contains -- $words[2] $__jaywalk_commands\n"
    "        test $words[2] = $argv[1]\n"
    "    else\n"
    "        test $argv[1] = profile\n"
    "    end\n"
    "end\n\n"
    "# The word at the cursor is the first one.\n"
    "function __jaywalk_begins\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n\n"
    "# None of these options was given, nor has a program begun. The one whose value is at the "
    "cursor counts not.\n"
    "function __jaywalk_lacks\n"
    "    set -l words (commandline -opc)\n"
    "    contains -- -- $words; and return 1\n"
    "    string match -q -- '*=*' $words[-1]; or set -e words[-1]\n"
    "    for word in $words\n"
    "        contains -- (string replace -r '=.*' '' -- $word) $argv; and return 1\n"
    "    end\n"
    "    return 0\n"
    "end\n\n"
    "# JVMs by number, with main class or jar, and by the name of either without its directory.\n"
    "function __jaywalk_jvms\n"
    "    set -l words (commandline -opc)\n"
    "    for line in ($words[1] jps 2>/dev/null)\n"
    "        set -l id (string split -m 1 ' ' -- $line)\n"
    "        printf '%s\\t%s\\n' $id[1] \"$id[2]\"\n"
    "        printf '%s\\n' (string replace -r ' .*' '' -- \"$id[2]\" | string replace -r '.*/' "
    "'')\n"
    "    end\n"
    "end\n\n"
    "# Recordings, packed or not, and directories.\n"
    "function __jaywalk_recordings\n"
    "    __fish_complete_path (commandline -ct) | string match -r "
    "'^[^\\t]*(?:/|\\.jfr|\\.jfr\\.zst)(?:\\t.*)?$'\n"
    "end\n\n"
    "# The first is a recording, the second an output.\n"
    "function __jaywalk_recording_then_output\n"
    "    if string match -qr '\\.jfr(\\.zst)?$' -- (commandline -opc)[2..-1]\n"
    "        __fish_complete_path (commandline -ct)\n"
    "    else\n"
    "        __jaywalk_recordings\n"
    "    end\n"
    "end\n\n"
    "# What to do comes first, then a JVM or files.\n"
    "function __jaywalk_rules\n"
    "    set -l words (commandline -opc)\n"
    "    if test (count $words) -eq 2\n"
    "        test $words[2] = rules; and printf '%s\\n' check dry-run; or printf '%s\\n' attach "
    "list detach check\n"
    "    else if test (count $words) -eq 3; and contains -- $words[3] attach list detach\n"
    "        __jaywalk_jvms\n"
    "    else\n"
    "        __fish_complete_path (commandline -ct)\n"
    "    end\n"
    "end\n\n"
    "function __jaywalk_program\n"
    "    set -l words (commandline -opc)\n"
    "    if contains -- -- $words\n"
    "        __fish_complete_command\n"
    "        __fish_complete_path (commandline -ct)\n"
    "    else\n"
    "        printf '%s\\n' -- java\n"
    "    end\n"
    "end\n\n"
    "# Files come where they are asked for.\n"
    "complete -c jaywalk -f\n";

bool cli_write_fish_completion(FILE *to)
{
    fputs("# fish completion for jaywalk: a directory of $fish_complete_path has it as "
          "jaywalk.fish.\n"
          "# Made from the option tables; a test compares the two.\n\n"
          "set -g __jaywalk_commands",
          to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        fprintf(to, " %s", cli_commands[i].name);
    fprintf(to, " help\n\n%s", body);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        put_command(&cli_commands[i], to);
    fputs("\ncomplete -c jaywalk -n __jaywalk_begins -a help -d 'show the help of a command'\n"
          "complete -c jaywalk -n '__jaywalk_is help' -a \"$__jaywalk_commands agent\"\n",
          to);
    return fflush(to) == 0 && !ferror(to);
}
