/*
 * probe_forks - ForkJoinPool, where it is given tasks, and where those begin that are put around others: the agent's own probe behind queue=.
 *
 * For      how long tasks of ForkJoinPool wait, and who has handed over what a thread runs.
 * Callers  agent, instrument.
 * Context  control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 * One method of the pool with two handlers, which differs from JDK to JDK, and exec() of some classes with one each, or three where the end of tasks is told, too: methods of JaywalkForks.
 * docs/adr/0062-time-in-queues.md
 */
#ifndef JW_PROBE_PROBE_FORKS_H
#define JW_PROBE_PROBE_FORKS_H

#include "probe/probe_handler.h"

#define PROBE_FORKS_CLASS      "java/lang/JaywalkForks"
#define PROBE_FORKS_POOL       "java/util/concurrent/ForkJoinPool"
#define PROBE_FORKS_AT_POOL    2u /* handlers, before those for each class */
#define PROBE_FORKS_AT_CLASS   1u
#define PROBE_FORKS_AT_END     2u /* more for each class, where ends are told */
#define PROBE_FORKS_MOST       16u
#define PROBE_FORKS_NAME_BYTES 96u

/* What a JDK has. */
struct probe_forks {
    const char *submit;    /* method of the pool by which all tasks come that are handed to it */
    uint8_t task_argument; /* of that method */
    uint32_t class_count;
    char classes[PROBE_FORKS_MOST][PROBE_FORKS_NAME_BYTES]; /* with slashes: each has an exec() */
};

/* NULL and `err`: no memory. */
JW_MUST_CHECK struct probe *probe_forks_open(const char *name, const struct probe_forks *forks,
                                             bool has_ends, struct jw_error *err);

#endif
