/*
 * probe_throws - exceptions by their class: the agent's own probe behind event=exception, and which classes its patterns take.
 *
 * For      who throws what.
 * Callers  agent, instrument.
 * Context  probe_throws_check, probe_throws_open: control, tool. probe_throws_takes: hook. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 *     exception                              every class
 *     exception:PATTERN[|PATTERN ...]
 *
 * A pattern without stars is a class, and takes what a catch clause of it does: the class itself, and all that extends it. One with stars takes the classes whose
 * own names match, as in rules: a star stands for anything within a part of a name, two for anything. docs/adr/0059-the-agents-own-probes.md
 */
#ifndef JW_PROBE_PROBE_THROWS_H
#define JW_PROBE_PROBE_THROWS_H

#include "probe/probe_handler.h"

#define PROBE_THROWS_CLASS "java/lang/JaywalkThrows"
#define PROBE_THROWS_LIMIT 64u /* patterns */

struct probe_throws_pattern {
    const char *bytes; /* in the text */
    size_t length_bytes;
    bool has_stars;
};

/* What stands behind "exception:"; NULL: there is nothing, and every class is meant. */
const char *probe_throws_patterns(const char *event);

/* The next pattern of `*at`, which it moves; false: there is none. */
bool probe_throws_next(const char **at, struct probe_throws_pattern *out);

/* Whether it is a name, with stars in it, and without an empty part. */
bool probe_throws_is_name(const struct probe_throws_pattern *pattern);

/* False and `err`, which says which pattern is none, and why. */
JW_MUST_CHECK bool probe_throws_check(const char *event, struct jw_error *err);

/* Whether it takes a class of that name, or, `is_above`, what extends one of that name. */
bool probe_throws_takes(const struct probe_throws_pattern *pattern, const char *name,
                        size_t length_bytes, bool is_above);

/* NULL and `err`: no memory. */
JW_MUST_CHECK struct probe *probe_throws_open(const char *name, struct jw_error *err);

#endif
