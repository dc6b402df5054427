/* What the completions of all shells say of an option. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_complete_internal.h"
#include "options/options.h"

#define LINE_BYTES  72u /* of help: what fits beside a name */
#define LEAST_BYTES 24u

bool cli_complete_is_of(const struct cli_option *option, const struct cli_command *command)
{
    return option->command == command->id && option->kind != CLI_KIND_SECTION &&
           cli_is_told(option);
}

void cli_complete_value(const struct cli_option *option, struct cli_complete_value *out)
{
    struct options_about about;

    *out = (struct cli_complete_value){.is_path = option->is_path};
    if (option->kind != CLI_KIND_AGENT) {
        snprintf(out->words, sizeof out->words, "%s", option->words == NULL ? "" : option->words);
    } else if (options_about(option->name, &about)) {
        snprintf(out->words, sizeof out->words, "%s", about.words);
        out->is_path = about.is_path;
    }
}

bool cli_complete_repeats(const struct cli_option *option)
{
    return option->kind == CLI_KIND_LIST || strcmp(option->name, "include") == 0 ||
           strcmp(option->name, "exclude") == 0;
}

/* Where the details of a help begin; its length: nowhere, or so soon that they say what it is. */
static size_t before_details(const char *text)
{
    const size_t length = strcspn(text, "\n");

    for (size_t at = LEAST_BYTES; at < length; at++)
        if (text[at] == ';' || (text[at] == ':' && text[at + 1] == ' '))
            return at;
    return length;
}

void cli_complete_line(const struct cli_option *option, char line[CLI_COMPLETE_LINE_BYTES])
{
    char text[CLI_HELP_TEXT_BYTES];

    cli_help_text(option, text, sizeof text);
    size_t length = before_details(text);
    if (length <= LINE_BYTES) {
        snprintf(line, CLI_COMPLETE_LINE_BYTES, "%.*s", (int)length, text);
        return;
    }
    for (length = LINE_BYTES; length > 0 && text[length] != ' ';)
        length--;
    while (length > 0 && strchr(" ,", text[length - 1]) != NULL)
        length--;
    snprintf(line, CLI_COMPLETE_LINE_BYTES, "%.*s...", (int)length, text);
}
