/*
 * probe_news - objects by their class: the agent's own probe behind event=new:, at the places of the application's code that make some.
 *
 * For      who makes which objects, and how many.
 * Callers  agent, instrument.
 * Context  control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 *     new:PATTERN[|PATTERN ...]
 *
 * A pattern takes classes by their own names, as in rules: a star stands for anything within a part of a name, two for anything; what extends
 * one is another class. With [] behind it, once for each dimension, it takes arrays, and no objects: byte[], com.acme.**[]. Patterns are walked over by
 * probe_throws_next. docs/adr/0059-the-agents-own-probes.md
 */
#ifndef JW_PROBE_PROBE_NEWS_H
#define JW_PROBE_PROBE_NEWS_H

#include "probe/probe_handler.h"

#define PROBE_NEWS_CLASS "java/lang/JaywalkNews"
#define PROBE_NEWS_LIMIT PROBE_HANDLERS_LIMIT /* patterns */

/* What stands behind "new:"; NULL: there is nothing. */
const char *probe_news_patterns(const char *event);

/* False and `err`, which says which pattern is none, and why. */
JW_MUST_CHECK bool probe_news_check(const char *event, struct jw_error *err);

/* A handler for each pattern, in their order. NULL and `err`: a pattern is none, or no memory. */
JW_MUST_CHECK struct probe *probe_news_open(const char *name, const char *event,
                                            struct jw_error *err);

#endif
