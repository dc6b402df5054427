/*
 * cli_text_internal - texts for people and programs.
 *
 * For      tables and pages of the command.   Callers  this room.   Context  tool.   Memory  the caller's.
 *
 * Names come from whoever was profiled: no control character of theirs reaches a terminal, and none of them ends a
 * string of JSON, nor a script element that a page might hold it in.
 */
#ifndef JW_CLI_CLI_TEXT_INTERNAL_H
#define JW_CLI_CLI_TEXT_INTERNAL_H

#include <stdio.h>

#include "base/jw.h"

#define CLI_CELL_BYTES   1024 /* a longer text is cut in the middle everywhere */
#define CLI_SHARE_BYTES  16
#define CLI_GAP          2  /* between columns */
#define CLI_TEXT_COLUMNS 96 /* of paragraphs */

/* What a text takes on a terminal, in code points. */
size_t cli_text_width(const char *text);

/* A copy without control characters, at most CLI_CELL_BYTES long: the middle of a longer one is left out. */
void cli_text_clean(const char *text, char out[CLI_CELL_BYTES]);

/* Text in so many columns, its middle cut where it is wider. Ends the line where `is_last`. */
void cli_text_put_cell(const char *text, size_t columns, bool is_last, FILE *to);

/* Text from a column on, broken at spaces, and the end of the line. */
void cli_text_put_wrapped(const char *text, int column, FILE *to);

/* 1,234,567 */
void cli_text_digits(uint64_t number, char out[32]);

/* " 12.34 %"; 100 only for all of it. */
void cli_text_share(uint64_t part, uint64_t all, char out[CLI_SHARE_BYTES]);

/* A class as the JVM has it, "[Ljava/lang/String;", as people write it: "java.lang.String[]". */
void cli_text_class(const char *name, char out[CLI_CELL_BYTES]);

/* As a string of JSON, with its quotes. */
void cli_text_json(const char *text, FILE *to);

#endif
