/*
 * events - which engine samples the CPU time of a session, and why it is not the one that was asked for.
 *
 * For      begin.c, output.c (the recording says it), tell.c (so does status).
 * Callers  these.
 * Context  the agent's thread.
 * Memory   static.
 */
#ifndef JW_AGENT_EVENTS_H
#define JW_AGENT_EVENTS_H

#include "options/options.h"
#include "sampler/sampler.h"

/*
 * For a new session: asks whether event=cpu-clock can be had, and says so where it cannot: timers take its place. Of a counter
 * nothing does: false, and `err`.
 */
JW_MUST_CHECK bool events_choose(const struct options *values, struct jw_error *err);

/* Of the session that was chosen for; and all that engine `perf` is to know. */
enum sampler_cpu_engine events_engine(const struct options *values);
void events_fill(const struct options *values, struct sampler_config *config);

/* What a counter asks the kernel for, its place found; false and `err`: there is no such. */
JW_MUST_CHECK bool events_find(const char *text, struct os_perf_event *out, struct jw_error *err);

/* Says which counters this process may have, and why not the others. Context: any. */
void events_list(void);

/* For the recording: "on", "off", or the reason why timers take their place. */
const char *events_text(const struct options *values);

/* Names of the kernel's functions, once a session; where there are none, this is said. */
void events_read_kernel(void);

/* Why timers stand where perf_events were asked for; "": they do not. */
const char *events_reason(void);

#endif
