/*
 * probes - commands and options of probes, and their turn of the agent's thread.
 *
 * For      probe=, probe-attach, probe-list, probe-detach.
 * Callers  entry.c (prepare), commands.c (begin, obey, turn), tell.c (tell).
 * Context  probes_prepare: control, in Agent_OnLoad. probes_tell, probes_are_any: any. The rest: the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_PROBES_H
#define JW_AGENT_PROBES_H

#include <jni.h>

#include "options/options.h"

#define PROBES_WAIT_NS (250 * JW_NS_PER_MS) /* between two turns */

void probes_prepare(
    const struct options *options); /* where a probe is named at the start of the JVM */
void probes_begin(JNIEnv *jni, const struct options *options); /* of a session that has begun */
JW_MUST_CHECK bool probes_obey(JNIEnv *jni, const struct options *options, struct jw_error *err);
void probes_turn(JNIEnv *jni);
bool probes_are_any(void);
void probes_tell(void); /* in status */

#endif
