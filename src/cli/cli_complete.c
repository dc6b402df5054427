/*
 * Completion for bash, made of the tables: a function with a case for each command. Context: tool.
 *
 * Processes come from `jaywalk jps`. Nothing else is run, and no package (bash-completion) is needed.
 */
#include <stdio.h>

#include "cli/cli_complete_internal.h"

/* Options with a value, as patterns of a case: "-e | --event | --event=) words=..."; behind a sign alone where it may be left out. */
static void cli_bash_values(const struct cli_command *command, FILE *to)
{
    const struct cli_option *option;

    fputs("        case $option in\n", to);
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        struct cli_complete_value value;

        if (!cli_complete_is_of(option, command) || cli_value_name(option) == NULL)
            continue;
        cli_complete_value(option, &value);
        fputs("        ", to);
        if (option->letter != 0)
            fprintf(to, "-%c | ", option->letter);
        if (!cli_is_value_optional(option))
            fprintf(to, "--%s | ", option->name);
        fprintf(to, "--%s=) ", option->name);
        if (value.words[0] != '\0')
            fprintf(to, "kind=words words='%s' ;;\n", value.words);
        else
            fprintf(to, "kind=%s ;;\n", value.is_path ? "files" : "any");
    }
    fputs("        esac\n", to);
}

static void cli_bash_options(const struct cli_command *command, FILE *to)
{
    const struct cli_option *option;

    fputs("        options='", to);
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        if (!cli_complete_is_of(option, command))
            continue;
        if (option->letter != 0)
            fprintf(to, "-%c ", option->letter);
        if (cli_value_name(option) == NULL || cli_is_value_optional(option))
            fprintf(to, "--%s ", option->name);
        if (cli_value_name(option) != NULL)
            fprintf(to, "--%s= ", option->name);
    }
    fputs("'\n", to);
}

static void cli_bash_commands(FILE *to)
{
    static const char *const operands[] = {
        [CLI_OPERANDS_NONE] = "none",           [CLI_OPERANDS_JVM] = "jvms",
        [CLI_OPERANDS_RECORDING] = "recording", [CLI_OPERANDS_RECORDINGS] = "recordings",
        [CLI_OPERANDS_EITHER] = "either",       [CLI_OPERANDS_RULES] = "rules",
        [CLI_OPERANDS_PROGRAM] = "program",
    };

    fputs("# Sets what there is to know of the command $1 and its option $2, with its equals sign "
          "if it has one.\n"
          "_jaywalk_facts() {\n"
          "    local option=$2\n"
          "    kind=none options='' operands=none\n"
          "    case $1 in\n",
          to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++) {
        fprintf(to, "    %s)\n        operands=%s\n", cli_commands[i].name,
                operands[cli_commands[i].operands]);
        cli_bash_options(&cli_commands[i], to);
        cli_bash_values(&cli_commands[i], to);
        fputs("        ;;\n", to);
    }
    fputs("    help) operands=commands ;;\n    esac\n}\n\n", to);
    fputs("_jaywalk_commands='", to);
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        fprintf(to, "%s ", cli_commands[i].name);
    fputs("help'\n\n", to);
}

/* What acts on the facts. */
static const char cli_bash_body[] =
    "# Words that begin with $1, of those in $2.\n"
    "_jaywalk_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$1\")\n"
    "    # What ends with an equals sign waits for its value, with a colon for a name.\n"
    "    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace "
    "2>/dev/null\n"
    "}\n\n"
    "# Files that begin with $1 and end with $2, packed or not, and directories.\n"
    "_jaywalk_files() {\n"
    "    mapfile -t COMPREPLY < <(compgen -f -X \"!*$2\" -- \"$1\"\n"
    "        [[ -z $2 ]] || compgen -f -X \"!*$2.zst\" -- \"$1\"\n"
    "        compgen -d -S / -- \"$1\")\n"
    "    compopt -o filenames -o nospace 2>/dev/null\n"
    "}\n\n"
    "# JVMs by number, and by main class or jar without its directory.\n"
    "_jaywalk_jvms() {\n"
    "    local id name found=''\n"
    "    while read -r id name; do\n"
    "        name=${name%% *}\n"
    "        found+=\"$id ${name##*/} \"\n"
    "    done < <(\"$2\" jps 2>/dev/null)\n"
    "    _jaywalk_words \"$1\" \"$found\"\n"
    "}\n\n"
    "_jaywalk() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command='' option='' kind options operands words word count=0 ended=''\n"
    "    local -i i\n"
    "    COMPREPLY=()\n"
    "    # The equals sign is a word of its own in bash.\n"
    "    if [[ $current == = ]]; then\n"
    "        option=$before= current=''\n"
    "    elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]}=\n"
    "    elif [[ $before == -* && $before != -- ]]; then\n"
    "        option=$before\n"
    "    fi\n"
    "    # Without a command, profile is meant.\n"
    "    word=${COMP_WORDS[1]}\n"
    "    [[ \" $_jaywalk_commands \" != *\" $word \"* || $COMP_CWORD -eq 1 ]] || "
    "command=$word\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} != -- ]] || ended=yes\n"
    "    done\n"
    "    _jaywalk_facts \"${command:-profile}\" \"$option\"\n"
    "    if [[ $operands == program && -n $ended ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$current\"; compgen -f -- \"$current\")\n"
    "        return\n"
    "    fi\n"
    "    case $kind in\n"
    "    words) _jaywalk_words \"$current\" \"$words\"; return ;;\n"
    "    files) _jaywalk_files \"$current\" ''; return ;;\n"
    "    any) return ;;\n"
    "    esac\n"
    "    if [[ $current == -* ]]; then\n"
    "        _jaywalk_words \"$current\" \"$options\"\n"
    "        return\n"
    "    fi\n"
    "    if [[ -z $command && $COMP_CWORD -eq 1 ]]; then\n"
    "        _jaywalk_jvms \"$current\" \"${COMP_WORDS[0]}\"\n"
    "        local -a jvms=(\"${COMPREPLY[@]}\")\n"
    "        _jaywalk_words \"$current\" \"$_jaywalk_commands\"\n"
    "        COMPREPLY+=(\"${jvms[@]}\")\n"
    "        return\n"
    "    fi\n"
    "    case $operands in\n"
    "    jvms) _jaywalk_jvms \"$current\" \"${COMP_WORDS[0]}\" ;;\n"
    "    commands) _jaywalk_words \"$current\" \"$_jaywalk_commands agent\" ;;\n"
    "    program) _jaywalk_words \"$current\" '-- java' ;;\n"
    "    recordings) _jaywalk_files \"$current\" .jfr ;;\n"
    "    rules)\n"
    "        # What to do comes first, then files.\n"
    "        if [[ $COMP_CWORD -eq 3 && ${COMP_WORDS[2]} == @(attach|list|detach) ]]; then\n"
    "            _jaywalk_jvms \"$current\" \"${COMP_WORDS[0]}\"\n"
    "        elif [[ $COMP_CWORD -gt 2 ]]; then\n"
    "            _jaywalk_files \"$current\" ''\n"
    "        elif [[ $command == rules ]]; then\n"
    "            _jaywalk_words \"$current\" 'check dry-run'\n"
    "        else\n"
    "            _jaywalk_words \"$current\" 'check attach list detach'\n"
    "        fi\n"
    "        ;;\n"
    "    either)\n"
    "        _jaywalk_jvms \"$current\" \"${COMP_WORDS[0]}\"\n"
    "        local -a either=(\"${COMPREPLY[@]}\")\n"
    "        _jaywalk_files \"$current\" .jfr\n"
    "        COMPREPLY+=(\"${either[@]}\")\n"
    "        ;;\n"
    "    recording)\n"
    "        # The first is a recording, the second an output.\n"
    "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "            [[ ${COMP_WORDS[i]} != *.jfr?(.zst) ]] || count=$((count + 1))\n"
    "        done\n"
    "        if [[ $count -eq 0 ]]; then\n"
    "            _jaywalk_files \"$current\" .jfr\n"
    "        else\n"
    "            _jaywalk_files \"$current\" ''\n"
    "        fi\n"
    "        ;;\n"
    "    esac\n"
    "}\n\n"
    "complete -F _jaywalk jaywalk\n";

bool cli_write_bash_completion(FILE *to)
{
    static const char head[] =
        "# bash completion for jaywalk                                            -*- shell-script "
        "-*-\n"
        "# Made from the option tables; a test compares the two.\n\n";
    fputs(head, to);
    cli_bash_commands(to);
    fputs(cli_bash_body, to);
    return fflush(to) == 0 && !ferror(to);
}
