/*
 * options_parser_internal - an agent string on its way into struct options.
 *
 * For      options_parse.c (item by item), options_conclude.c (what follows from all of them).
 * Callers  these.
 * Context  control, tool.
 * Memory   the caller's.
 */
#ifndef JW_OPTIONS_OPTIONS_PARSER_INTERNAL_H
#define JW_OPTIONS_OPTIONS_PARSER_INTERNAL_H

#include "options/options_internal.h"

#define OPTIONS_QUOTED_BYTES 96 /* of an item, in a message */

/* One option of the string: `name` or `name=value`. */
struct options_item {
    const char *text;
    size_t name_bytes;
    const char *value; /* NULL: no `=` */
    size_t value_bytes;
    char quoted[OPTIONS_QUOTED_BYTES]; /* whole, printable */
};

struct options_parser {
    struct options_result *result;
    bool is_seen[OPTIONS_ID_LIMIT];
    bool is_foreign_action_seen;
    bool has_interval;
    struct options_item interval; /* read when it is known what it counts */
};

/* A number of such an option, into its field; or why not. */
void options_take_number(struct options_parser *parser, const struct options_row *row,
                         const struct options_item *item);

/* All items are read. False: there are errors. */
JW_MUST_CHECK bool options_conclude(struct options_parser *parser);

#endif
