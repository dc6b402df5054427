/*
 * probe_queues - ThreadPoolExecutor, where it is given tasks and where its threads take them: the agent's own probe behind queue=.
 *
 * For      how long tasks of executors wait, and who has handed over what a thread runs.
 * Callers  agent, instrument.
 * Context  control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 * Five methods of one class, each with one handler, a method of JaywalkQueues; where the end of tasks is told, too, one of them with another.
 * docs/adr/0062-time-in-queues.md
 */
#ifndef JW_PROBE_PROBE_QUEUES_H
#define JW_PROBE_PROBE_QUEUES_H

#include "probe/probe_handler.h"

#define PROBE_QUEUES_CLASS    "java/lang/JaywalkQueues"
#define PROBE_QUEUES_EXECUTOR "java/util/concurrent/ThreadPoolExecutor"
#define PROBE_QUEUES_HANDLERS 5u
#define PROBE_QUEUES_ENDS     1u /* more, where ends are told */

/* NULL and `err`: no memory. */
JW_MUST_CHECK struct probe *probe_queues_open(const char *name, bool has_ends,
                                              struct jw_error *err);

#endif
