/*
 * probe_own - the agent's own probes: methods that are traced, named by patterns, without Java code of a user.
 *
 * For      options trace=, time=, count= and event=CLASS.METHOD.
 * Callers  agent (patterns), instrument.
 * Context  probe_own_rules, probe_own_open: control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 * A pattern is CLASS.METHOD, both as patterns of rules are: com.acme.Shop.add, com.acme.*.find*, com.acme.**.<init>. What a rule leaves out
 * unless it is lifted (rules_never.def) is taken where the pattern names it: classes of the platform where it begins with their
 * packages, interfaces, enums and libraries where the class has no star, getters and constructors where the method has none.
 */
#ifndef JW_PROBE_PROBE_OWN_H
#define JW_PROBE_PROBE_OWN_H

#include "probe/probe_handler.h"

#define PROBE_OWN_CLASS        "java/lang/JaywalkTimer"
#define PROBE_OWN_TIMES_CLASS  "java/lang/JaywalkTimes"
#define PROBE_OWN_COUNTS_CLASS "java/lang/JaywalkCounts"
#define PROBE_OWN_CALLS_CLASS  "java/lang/JaywalkCalls"
#define PROBE_OWN_SITES        1024u /* of methods that are timed or counted, as those classes have it */
#define PROBE_OWN_RULES_BYTES  1024u
#define PROBE_OWN_LIMIT        (PROBE_HANDLERS_LIMIT / 2) /* patterns; each has two handlers at the most */

enum probe_own_kind {
    PROBE_OWN_TRACE, /* JaywalkTimer.returned(duration, site, attach), where the method returns and where it throws */
    PROBE_OWN_TIME, /* JaywalkTimes.timed(duration, number of the method, attach), likewise */
    PROBE_OWN_COUNT, /* JaywalkCounts.counted(number of the method, attach), where the method is entered */
    PROBE_OWN_CALL, /* JaywalkCalls.called(site, attach), likewise */
    PROBE_OWN_LIMIT_OF_KINDS,
};

/*
 * Durations of a method as JaywalkTimes counts them: those below PROBE_OWN_STEPS ns one by one, and then so many steps for each doubling of
 * the time. Behind the head (total, least, most) stand the counts.
 */
#define PROBE_OWN_STEPS  64u
#define PROBE_OWN_HEAD   3u
#define PROBE_OWN_COUNTS (32u * PROBE_OWN_STEPS)

static inline uint32_t probe_own_step(uint64_t ns)
{
    const uint32_t bit = ns < PROBE_OWN_STEPS ? 0 : 63u - (uint32_t)__builtin_clzll(ns);

    return ns < PROBE_OWN_STEPS ? (uint32_t)ns
           : bit > 36           ? PROBE_OWN_COUNTS - 1
                                : (bit - 6) * PROBE_OWN_STEPS + (uint32_t)(ns >> (bit - 6));
}

/* From where on a duration is in that step. */
static inline uint64_t probe_own_step_ns(uint32_t step)
{
    return step < PROBE_OWN_STEPS ? step
                                  : (uint64_t)(PROBE_OWN_STEPS + step % PROBE_OWN_STEPS)
                                        << (step / PROBE_OWN_STEPS - 1);
}

struct probe_own_pattern {
    const char *text; /* not terminated */
    size_t length_bytes;
    int32_t site;
    uint64_t least_ns; /* shorter calls are not told */
};

/* Of each pattern; its first tells which methods have them. */
uint32_t probe_own_handlers(enum probe_own_kind kind);

/* The rule that the pattern is. False and `err`: it is none. */
JW_MUST_CHECK bool probe_own_rules(const char *pattern, size_t length_bytes,
                                   char rules[PROBE_OWN_RULES_BYTES], struct jw_error *err);

/* NULL and `err`: a pattern is none, or there are too many, or no memory. */
JW_MUST_CHECK struct probe *probe_own_open(const char *name, enum probe_own_kind kind,
                                           const struct probe_own_pattern *patterns, uint32_t count,
                                           struct jw_error *err);

#endif
