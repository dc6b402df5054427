/*
 * cli_probe_internal - probes in words, and what is said to agents of them.
 *
 * For      cmd_probe.c, cli_probe_jvm.c.   Callers  this room.   Context  tool.   Memory  none.
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
/* Whose rules it has, where some are of a file. */
void cli_probe_put_replaced(const struct probe_replaced *replaced, const char *path, FILE *to);
/* A handler and its rules. */
void cli_probe_put_handler(const struct probe_handler *handler, FILE *to);

/* The same as the beginning of an object, up to "handlers":[ ... */
void cli_probe_json_head(const struct probe *probe, const char *path, FILE *to);
/* ... and as that of one of them: its closing brace is left to the caller. */
void cli_probe_json_handler(const struct probe_handler *handler, FILE *to);

/* The probe of a jar, folder or class file; NULL: it was told why not. cmd_probe.c */
struct probe *cli_probe_read(const char *path);
/* Rules of a file in the places of the probe's own; NULL: none. False: it was told why not. cmd_probe.c */
JW_MUST_CHECK bool cli_probe_replace(struct probe *probe, const char *path,
                                     struct probe_replaced *out);

/* An agent's answer to probe-list as a page; false and `err`: it is none. cli_probe_list.c */
JW_MUST_CHECK bool cli_probe_put_list(const char *text, FILE *to, struct jw_error *err);

/* The operands are the word itself, a JVM, and a file or the name of a probe. cli_probe_jvm.c */
int cli_probe_attach(const struct cli_values *values);
int cli_probe_list(const struct cli_values *values);
int cli_probe_detach(const struct cli_values *values);

#endif
