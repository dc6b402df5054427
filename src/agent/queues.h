/*
 * queues - tasks of executors that waited in a queue, and who handed them over: queue= and asyncstacks of a session, from its begin to its end.
 *
 * For      jaywalk.QueueTime; stacks under those of tasks.
 * Callers  begin.c (begin), run.c (end).
 * Context  the agent's thread.
 * Memory   those of rooms instrument and context.
 */
#ifndef JW_AGENT_QUEUES_H
#define JW_AGENT_QUEUES_H

#include <jni.h>

#include "options/options.h"

void queues_begin(JNIEnv *jni, const struct options *options); /* likewise where it is on already */
void queues_end(JNIEnv *jni); /* the class is written back; who waits is forgotten */
void queues_tell(
    void); /* what became of stacks of who handed over, in this session or the last one */
void queues_leave(void); /* the JVM ends: no class is written back */

#endif
