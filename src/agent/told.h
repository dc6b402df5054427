/*
 * told - what places in methods tell, on its way into the recording.
 *
 * For      events of probes, traced and sampled calls, exceptions, tasks that waited.
 * Callers  methods.c, exceptions.c, queues.c, probe_events.c; run.c (told_count_dropped).
 * Context  hook, on any Java thread; told_count_dropped: the agent's thread.
 * Memory   none.
 */
#ifndef JW_AGENT_TOLD_H
#define JW_AGENT_TOLD_H

#include <jni.h>

#include "event/event_values.h"
#include "sampler/sampler_hook.h"

/* Takes a sample; where one file is closed and the next not open yet it is counted as lost between them, and the end is that of a gate that is shut. */
enum sampler_hook_end told_sample(const struct sampler_hook *hook);

/* The name of a class as the next value; NULL, or one that the JVM does not name: none. */
void told_put_class(jclass klass, struct event_values *values);

/* Calls of the agent's own places that found no stack to tell by, since the last time, into `placesDropped`; and those of users that were linked to nothing, into `probePlacesMissed`. */
void told_count_dropped(JNIEnv *jni);

#endif
