/*
 * census - the census of locks in a session, and what its recording asks of it.
 *
 * For      locks=census, locks=objects.
 * Callers  entry.c (prepare), begin.c, run.c (begin, look, turn, end), sources.c (fill), tell.c (tell).
 * Context  census_prepare: control, in Agent_OnLoad. The rest: the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_CENSUS_H
#define JW_AGENT_CENSUS_H

#include <jni.h>

#include "options/options.h"

struct recording;
struct recording_sources;

void census_prepare(const struct options *options);
/* Behind the start of the engines. What it says is in the log; the session goes on without it where it is refused. */
void census_begin(JNIEnv *jni, const struct options *options, struct recording *recording);
/* Reads the counters; the recording is given them at its next take. */
void census_look(JNIEnv *jni);
void census_turn(JNIEnv *jni);
void census_end(JNIEnv *jni);
void census_jvm_ends(void); /* classes are not written back any more */
void census_fill(struct recording_sources *out);
void census_tell(void); /* in status */

#endif
