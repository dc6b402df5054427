/*
 * Completion for zsh, made of the tables: what _arguments asks for, by command, with a line of help to each option. Context: tool.
 *
 * Processes come from `jaywalk jps`. Nothing else is run.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli_options_internal.h"
#include "options/options.h"

#define LINE_BYTES  72u /* of help: what fits beside a name */
#define LEAST_BYTES 24u

/* Where the details of a help begin; its length: nowhere, or so soon that they say what it is. */
static size_t before_details(const char *text)
{
    const size_t length = strcspn(text, "\n");

    for (size_t at = LEAST_BYTES; at < length; at++)
        if (text[at] == ';' || (text[at] == ':' && text[at + 1] == ' '))
            return at;
    return length;
}

/* A line of a help: up to its details, or as many words as fit. */
static void short_help(const struct cli_option *option, char line[LINE_BYTES + 4])
{
    char text[CLI_HELP_TEXT_BYTES];

    cli_help_text(option, text, sizeof text);
    size_t length = before_details(text);
    if (length <= LINE_BYTES) {
        snprintf(line, LINE_BYTES + 4, "%.*s", (int)length, text);
        return;
    }
    for (length = LINE_BYTES; length > 0 && text[length] != ' ';)
        length--;
    while (length > 0 && strchr(" ,", text[length - 1]) != NULL)
        length--;
    snprintf(line, LINE_BYTES + 4, "%.*s...", (int)length, text);
}

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
    struct options_about about;
    const char *words = option->words, *name = cli_value_name(option);
    bool is_path = option->is_path;

    if (name == NULL)
        return;
    if (option->kind == CLI_KIND_AGENT && options_about(option->name, &about)) {
        words = about.words;
        is_path = about.is_path;
    }
    fputc(':', to);
    put_quoted(name, ":\\", to);
    fputc(':', to);
    if (words != NULL && words[0] != '\0') {
        fputc('(', to);
        put_quoted(words, ":\\()", to);
        fputc(')', to);
    } else if (is_path) {
        fputs("_files", to);
    } else {
        fputc(' ', to); /* anything, of which nothing can be said */
    }
}

/* One of its two names, as one row of _arguments. What may not be repeated shuts out both. */
static void put_option(const struct cli_option *option, bool is_letter, FILE *to)
{
    char help[LINE_BYTES + 4];
    const bool has_value = cli_value_name(option) != NULL;
    const bool is_list = option->kind == CLI_KIND_LIST || strcmp(option->name, "include") == 0 ||
                         strcmp(option->name, "exclude") == 0;

    short_help(option, help);
    fputs("            '", to);
    if (is_list)
        fputc('*', to);
    else if (option->letter != 0)
        fprintf(to, "(-%c --%s)", option->letter, option->name);
    if (is_letter)
        fprintf(to, "-%c%s", option->letter, has_value ? "+" : "");
    else
        fprintf(to, "--%s%s", option->name, has_value ? "=" : "");
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
        if (option->command != command->id || option->kind == CLI_KIND_SECTION ||
            !cli_is_told(option))
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
