/*
 * delays - safepoints that were long waited for, from the sampler to recordings.
 *
 * For      option ttsp=.
 * Callers  begin.c, output.c, sources.c, tell.c.
 * Context  delays_open: control, with no engine running. delays_text: dump, control. delays_fill: control. delays_tell: any.
 * Memory   static.
 */
#ifndef JW_AGENT_DELAYS_H
#define JW_AGENT_DELAYS_H

#include "base/jw.h"

struct options;
struct recording;
struct recording_sources;

/* The threshold to watch with; 0: none. Where it cannot be done the session goes without, and says why. */
uint64_t delays_open(const struct options *options, struct recording *recording);

/* Setting `ttsp` of a recording: the threshold in ns, or "off". */
const char *delays_text(const struct options *options);

/* False: the window that begin= and end= ask for cannot be seen in this JVM. */
JW_MUST_CHECK bool delays_choose(const struct options *options, struct jw_error *err);
/* Setting `window`: from which moment to which samples are taken, or "off". */
const char *delays_window_text(const struct options *options);

/* The line of `status`. */
void delays_tell(void);

/* Whether samples can be told to be of a thread that a safepoint waits for, for the recording. Context: dump, control. */
const char *delays_samples_text(void);
/* Says it in the recording once it is known. Context: dump. */
void delays_turn(struct recording *recording);
void delays_fill(struct recording_sources *out);

#endif
