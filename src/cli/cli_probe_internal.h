/*
 * cli_probe_internal - a probe in words: for people, for programs.
 *
 * For      cmd_probe.c.   Callers  this room.   Context  tool.   Memory  none.
 */
#ifndef JW_CLI_CLI_PROBE_INTERNAL_H
#define JW_CLI_CLI_PROBE_INTERNAL_H

#include "cli/cli_internal.h"
#include "probe/probe_handler.h"

#define CLI_SIGNATURE_BYTES 2048 /* of a handler; the rest is cut */

/* "added(@Argument(0) int item, ...)" without names of parameters, which class files do not have. */
void cli_probe_signature(const struct probe_handler *handler, char out[CLI_SIGNATURE_BYTES]);

/* What it is called and what it may cost. */
void cli_probe_put_head(const struct probe *probe, const char *path, FILE *to);
/* A handler and its rules. */
void cli_probe_put_handler(const struct probe_handler *handler, FILE *to);

/* The same as the beginning of an object, up to "handlers":[ ... */
void cli_probe_json_head(const struct probe *probe, const char *path, FILE *to);
/* ... and as that of one of them: its closing brace is left to the caller. */
void cli_probe_json_handler(const struct probe_handler *handler, FILE *to);

#endif
