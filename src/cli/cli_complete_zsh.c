/*
 * Completion for zsh, made of the tables: what _arguments asks for, by command, with a line of help to each option. Context: tool.
 *
 * Processes come from `jaywalk jps`. Nothing else is run.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli_complete_internal.h"

/* Within single quotes, and where `special` have a meaning of their own. */
static void put_quoted(const char *text, const char *special, FILE *to)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", to);
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', to);
        fputc(*text, to);
    }
}

static void put_value(const struct cli_option *option, FILE *to)
{
    const char *const name = cli_value_name(option);
    struct cli_complete_value value;

    if (name == NULL)
        return;
    cli_complete_value(option, &value);
    fputs(cli_is_value_optional(option) ? "::" : ":", to);
    put_quoted(name, ":\\", to);
    fputc(':', to);
    if (value.words[0] != '\0') {
        fputc('(', to);
        put_quoted(value.words, ":\\()", to);
        fputc(')', to);
    } else if (value.is_path) {
        fputs("_files", to);
    } else {
        fputc(' ', to); /* anything, of which nothing can be said */
    }
}

/* How _arguments is told where a value stands: one that may be left out in the same word alone. */
static const char *sign(const struct cli_option *option, bool is_letter)
{
    if (cli_value_name(option) == NULL)
        return "";
    if (cli_is_value_optional(option))
        return is_letter ? "-" : "=-";
    return is_letter ? "+" : "=";
}

/* One of its two names, as one row of _arguments. What may not be repeated shuts out both. */
static void put_option(const struct cli_option *option, bool is_letter, FILE *to)
{
    char help[CLI_COMPLETE_LINE_BYTES];

    cli_complete_line(option, help);
    fputs("            '", to);
    if (cli_complete_repeats(option))
        fputc('*', to);
    else if (option->letter != 0)
        fprintf(to, "(-%c --%s)", option->letter, option->name);
    if (is_letter)
        fprintf(to, "-%c%s", option->letter, sign(option, is_letter));
    else
        fprintf(to, "--%s%s", option->name, sign(option, is_letter));
    fputc('[', to);
    put_quoted(help, "[]\\", to);
    fputc(']', to);
    put_value(option, to);
    fputs("'\n", to);
}

static void put_command(const struct cli_command *command, FILE *to)
{
    static const char *const operands[] = {
        [CLI_OPERANDS_NONE] = "",
        [CLI_OPERANDS_JVM] = "            '1:JVM:_jaywalk_jvms'\n",
        [CLI_OPERANDS_RECORDING] = ("            '1:recording:_jaywalk_recordings'\n"
                                    "            '2:output:_files'\n"),
        [CLI_OPERANDS_RECORDINGS] = "            '*:recording:_jaywalk_recordings'\n",
        [CLI_OPERANDS_EITHER] = "            '*:recording or JVM:_jaywalk_either'\n",
        [CLI_OPERANDS_RULES] = "            '*:what to do:_jaywalk_rules'\n",
        [CLI_OPERANDS_PROGRAM] = "            '*:::program:_jaywalk_program'\n",
    };
    const struct cli_option *option;

    fprintf(to, "    %s)\n        rows=(\n", command->name);
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        if (!cli_complete_is_of(option, command))
            continue;
        if (option->letter != 0)
            put_option(option, true, to);
        put_option(option, false, to);
    }
    fprintf(to, "%s        )\n        ;;\n", operands[command->operands]);
}

static void put_commands(FILE *to)
{
    fputs("_jaywalk_commands=(\n", to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        fprintf(to, "    '%s:", cli_commands[i].name);
        put_quoted(cli_commands[i].summary, "\\", to);
        fputs("'\n", to);
    }
    fputs("    'help:show the help of a command'\n)\n\n", to);
    fputs("# Sets `rows` to what _arguments is to know of the command $1.\n"
          "_jaywalk_facts() {\n"
          "    case $1 in\n",
          to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        put_command(&cli_commands[i], to);
    fputs("    help) rows=('1:command:_jaywalk_topics') ;;\n    esac\n}\n\n", to);
}

/* What acts on the facts. */
static const char body[] =
    "# JVMs by number, with main class or jar, and by the name of either without its directory.\n"
    "_jaywalk_jvms() {\n"
    "    local id name\n"
    "    local -a jvms names\n"
    "    while read -r id name; do\n"
    "        jvms+=(\"$id:${name//:/\\\\:}\")\n"
    "        names+=(\"${${name%% *}:t}\")\n"
    "    done < <(_call_program jvms $_jaywalk_name jps 2>/dev/null)\n"
    "    _describe -V -t jvms 'JVM' jvms\n"
    "    compadd -a names\n"
    "}\n\n"
    "_jaywalk_recordings() { _files -g '*.jfr(|.zst)(-.)' }\n\n"
    "_jaywalk_either() {\n"
    "    _jaywalk_jvms\n"
    "    _jaywalk_recordings\n"
    "}\n\n"
    "_jaywalk_topics() {\n"
    "    local -a topics=($_jaywalk_commands 'agent:options of the agent string')\n"
    "    _describe -t commands 'command' topics\n"
    "}\n\n"
    "# What to do comes first, then a JVM or files.\n"
    "_jaywalk_rules() {\n"
    "    local -a what=(check attach list detach)\n"
    "    [[ $_jaywalk_command != rules ]] || what=(check dry-run)\n"
    "    if (( CURRENT == 2 )); then\n"
    "        compadd -a what\n"
    "    elif (( CURRENT == 3 )) && [[ $words[2] == (attach|list|detach) ]]; then\n"
    "        _jaywalk_jvms\n"
    "    else\n"
    "        _files\n"
    "    fi\n"
    "}\n\n"
    "_jaywalk_program() {\n"
    "    [[ $words[1] != -- ]] || { shift words; (( CURRENT-- )) }\n"
    "    _normal\n"
    "}\n\n"
    "_jaywalk() {\n"
    "    local _jaywalk_name=$words[1] _jaywalk_command=profile\n"
    "    local -a rows\n"
    "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
    "        _describe -t commands 'command' _jaywalk_commands\n"
    "        _jaywalk_jvms\n"
    "        return\n"
    "    fi\n"
    "    # Without a command, profile is meant.\n"
    "    if (( ${_jaywalk_commands[(I)${(b)words[2]}:*]} )); then\n"
    "        _jaywalk_command=$words[2]\n"
    "        shift words\n"
    "        (( CURRENT-- ))\n"
    "    fi\n"
    "    _jaywalk_facts $_jaywalk_command\n"
    "    _arguments -s -S $rows\n"
    "}\n\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
    "    _jaywalk \"$@\"\n"
    "else\n"
    "    compdef _jaywalk jaywalk\n"
    "fi\n";

bool cli_write_zsh_completion(FILE *to)
{
    static const char head[] =
        "#compdef jaywalk\n"
        "# zsh completion for jaywalk: a directory of $fpath has it as _jaywalk, or it is sourced "
        "behind compinit.\n"
        "# Made from the option tables; a test compares the two.\n\n"
        "typeset -ga _jaywalk_commands\n";
    fputs(head, to);
    put_commands(to);
    fputs(body, to);
    return fflush(to) == 0 && !ferror(to);
}
