/*
 * cli_options_internal - the rows of cli_options.def, for what is made from them.
 *
 * For      parser, help, man page, completion.   Callers  these, tests.   Context  tool.
 * Memory   constant tables.
 */
#ifndef JW_CLI_CLI_OPTIONS_INTERNAL_H
#define JW_CLI_CLI_OPTIONS_INTERNAL_H

#include "cli/cli_internal.h"

enum cli_kind {
    CLI_KIND_SECTION, /* a heading of the help */
    CLI_KIND_FLAG,
    CLI_KIND_TEXT,
    CLI_KIND_LIST,
    CLI_KIND_AGENT, /* of the agent string */
};

struct cli_option {
    enum cli_command_id command;
    enum cli_kind kind;
    const char *name;    /* without "--" */
    char letter;         /* 0: none */
    const char *value;   /* what its value is called; NULL: none, or the agent's table says */
    const char *help;    /* NULL: not told, or the agent's table says */
    const char *words;   /* values to choose from, separated by spaces; NULL: any, or as above */
    bool is_path;        /* its value is one */
    size_t field_offset; /* in struct cli_values */
};

/* The table by number, 0, 1 ..., headings included; NULL: no more. */
const struct cli_option *cli_option_at(size_t number);

/* What its value is called; NULL: it takes none. */
const char *cli_value_name(const struct cli_option *option);

/* Its name alone means a value of its own. */
bool cli_is_value_optional(const struct cli_option *option);

/* False: understood, but nobody is told. */
bool cli_is_told(const struct cli_option *option);

#define CLI_HELP_TEXT_BYTES 1024u

/* What an option does; of the agent's, what its table says, and the default. */
void cli_help_text(const struct cli_option *option, char *text, size_t room);

/* Files that stand in docs/, made of the tables; a test compares. False: they could not be written. */
JW_MUST_CHECK bool cli_write_man(FILE *to);
JW_MUST_CHECK bool cli_write_bash_completion(FILE *to);
JW_MUST_CHECK bool cli_write_zsh_completion(FILE *to);
JW_MUST_CHECK bool cli_write_fish_completion(FILE *to);

#endif
