/* Help: of all, of a command, of the agent string; from the tables. Context: tool. */
#include <stdio.h>

#include "base/version.h"
#include "cli/cli_options_internal.h"
#include "cli/cli_text_internal.h"
#include "options/options.h"

#define CLI_HELP_COLUMN 26

void cli_help_text(const struct cli_option *option, char *text, size_t room)
{
    struct options_about about;

    if (option->kind != CLI_KIND_AGENT)
        snprintf(text, room, "%s", option->help);
    else if (!options_about(option->name, &about))
        text[0] = '\0';
    else if (about.default_text[0] == '\0')
        snprintf(text, room, "%s", about.help);
    else
        snprintf(text, room, "%s (%s by default)", about.help, about.default_text);
}

bool cli_is_told(const struct cli_option *option)
{
    return option->kind == CLI_KIND_AGENT || option->help != NULL;
}

static void cli_print_options(const struct cli_command *command, FILE *to)
{
    const struct cli_option *option;

    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++) {
        char head[64], text[CLI_HELP_TEXT_BYTES];

        if (option->command != command->id || !cli_is_told(option))
            continue;
        if (option->kind == CLI_KIND_SECTION) {
            fprintf(to, "\n%s:\n", option->help);
            continue;
        }
        const char letter[] = {'-', option->letter, ',', ' ', '\0'};
        const char *value = cli_value_name(option);
        snprintf(head, sizeof head,
                 cli_is_value_optional(option) ? "  %s--%s[%s%s]" : "  %s--%s%s%s",
                 option->letter == 0 ? "    " : letter, option->name, value == NULL ? "" : "=",
                 value == NULL ? "" : value);
        cli_help_text(option, text, sizeof text);
        fprintf(to, "%-*s ", CLI_HELP_COLUMN - 1, head);
        cli_text_put_wrapped(text, CLI_HELP_COLUMN, to);
    }
}

const char cli_examples[] = "  jaywalk -d 30 -f flamegraph.html 12345\n"
                            "  jaywalk -d 30 -t -I 'com/acme/*' -o flat=20 -f hot.txt app.jar\n"
                            "  jaywalk record -f flamegraph.html -- java -jar app.jar\n"
                            "  jaywalk convert profile.jfr flamegraph.html\n";

int cli_help_all(void)
{
    puts("jaywalk " JAYWALK_VERSION ", a sampling profiler for HotSpot JVMs\n\n"
         "Usage: jaywalk [options] PID\n"
         "       jaywalk COMMAND [options] ...\n\nCommands:");
    for (size_t i = 0; i < CLI_COMMAND_LIMIT; i++)
        printf("  %-10s %s\n", cli_commands[i].name, cli_commands[i].summary);
    printf("  %-10s %s\n", "help",
           "this text; 'jaywalk help COMMAND' for its options, 'jaywalk help agent' for those\n"
           "             of -agentpath:libjaywalk.so=...");
    printf("\nExamples:\n%s\n"
           "Status: 0 done, 1 failed, 2 mistake in the command line, 3 the process cannot be "
           "profiled,\n        4 it grew beyond the limit given to compare.\n",
           cli_examples);
    return cli_end_output(CLI_OK);
}

int cli_help_command(const struct cli_command *command)
{
    printf("Usage: %s\n\n%s", command->usage, command->text);
    cli_print_options(command, stdout);
    printf("\nExamples:\n%s", command->examples);
    return cli_end_output(CLI_OK);
}

int cli_help_agent(void)
{
    enum { ROOM = 32768 };
    char *text = jw_alloc(ROOM);

    if (text == NULL) {
        cli_complain("no memory");
        return CLI_FAILED;
    }
    options_help_text(text, ROOM);
    fputs(text, stdout);
    jw_free(text);
    return cli_end_output(CLI_OK);
}
