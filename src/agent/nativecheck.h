/*
 * nativecheck - do native stacks look to libunwind as they do to us? Some of those of the program are compared while a session runs.
 *
 * For      option nativecheck=; room unwind does it.
 * Callers  begin.c, run.c, output.c, tell.c.
 * Context  nativecheck_open: control, with no engine running. nativecheck_close: dump, likewise. nativecheck_turn, nativecheck_text,
 *          nativecheck_example: dump, control. nativecheck_tell: any.
 * Memory   static.
 */
#ifndef JW_AGENT_NATIVECHECK_H
#define JW_AGENT_NATIVECHECK_H

#include "base/jw.h"

struct options;
struct recording;

/* As the options want it. Where it cannot be done the session goes without, and says why. */
void nativecheck_open(const struct options *options, struct recording *recording);

/* No further stack is taken; those that were are compared. */
void nativecheck_close(struct recording *recording);

/* Compares, and hands what is new to log and recording. */
void nativecheck_turn(struct recording *recording);

/* Setting `nativecheck` of a recording: the interval in ns, or "off". */
const char *nativecheck_text(const struct options *options);

/* How the last stack differs that does, "" while none did: setting `nativedifference` of a recording. */
const char *nativecheck_example(void);

/* The line of `status`. */
void nativecheck_tell(void);

#endif
