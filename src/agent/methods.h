/*
 * methods - methods that are traced, timed and counted: trace=, time=, count= and event=CLASS.METHOD of a session, from its begin to its end.
 *
 * For      jdk.MethodTrace; jdk.MethodTiming and jaywalk.MethodLatency; jaywalk.MethodCount; samples of calls.
 * Callers  begin.c (choose, begin), run.c (the rest).
 * Context  the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_METHODS_H
#define JW_AGENT_METHODS_H

#include <jni.h>

#include "options/options.h"

struct recording;

#define METHODS_LEAST_NS (10 * JW_NS_PER_MS) /* of a traced pattern without a time */
#define METHODS_TURN_NS                                                                            \
    (10 * JW_NS_PER_SECOND) /* between two events of a method that is timed or counted */

/* False and `err`: a pattern is none. */
JW_MUST_CHECK bool methods_choose(const struct options *options, struct jw_error *err);

bool methods_are_asked(const struct options *options);
void methods_begin(JNIEnv *jni, const struct options *options); /* the engines run */
void methods_turn(JNIEnv *jni, struct recording *recording);
void methods_look(JNIEnv *jni, struct recording *recording); /* all until now is in the recording */
/* The same, and what comes from now on is of the next one: methods stay as they are, so that no call is lost in between. */
void methods_cut(JNIEnv *jni, struct recording *recording);
/* What was seen is in the generation and the recording, unless that is NULL; says what was named and is nowhere. */
void methods_end(JNIEnv *jni, struct recording *recording);
void methods_leave(JNIEnv *jni,
                   struct recording *recording); /* the JVM ends: no class is written back */

#endif
