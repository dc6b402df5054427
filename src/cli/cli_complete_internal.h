/*
 * cli_complete_internal - what completions of all shells are made of.
 *
 * For      cli_complete*.   Callers  these.   Context  tool.
 */
#ifndef JW_CLI_CLI_COMPLETE_INTERNAL_H
#define JW_CLI_CLI_COMPLETE_INTERNAL_H

#include "cli/cli_options_internal.h"

#define CLI_COMPLETE_LINE_BYTES 76u

/* An option of that command that users are told of. */
bool cli_complete_is_of(const struct cli_option *option, const struct cli_command *command);

struct cli_complete_value {
    char words[256]; /* to choose from, separated by spaces; empty: any */
    bool is_path;
};

/* What its value may be, be it of the command or of the agent. */
void cli_complete_value(const struct cli_option *option, struct cli_complete_value *out);

/* It may be given more than once. */
bool cli_complete_repeats(const struct cli_option *option);

/* A line of its help: up to the details, or as many words as fit. */
void cli_complete_line(const struct cli_option *option, char line[CLI_COMPLETE_LINE_BYTES]);

#endif
