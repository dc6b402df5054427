/*
 * exceptions - exceptions that are made, by their class: event=exception of a session, from its begin to its end.
 *
 * For      jdk.JavaExceptionThrow, jdk.ExceptionStatistics, and graphs of exceptions.
 * Callers  begin.c (choose, begin), run.c (the rest).
 * Context  the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_EXCEPTIONS_H
#define JW_AGENT_EXCEPTIONS_H

#include <jni.h>

#include "options/options.h"

struct recording;

bool exceptions_are_asked(const struct options *options);

/* False and `err`: a pattern is none. */
JW_MUST_CHECK bool exceptions_choose(const struct options *options, struct jw_error *err);

void exceptions_begin(JNIEnv *jni,
                      const struct options *options); /* likewise where it is on already */
void exceptions_turn(JNIEnv *jni, struct recording *recording);
/* The class is written back; says which pattern took nothing, and how many there were. `recording` NULL: nobody writes that any more. */
void exceptions_end(JNIEnv *jni, struct recording *recording);
void exceptions_leave(JNIEnv *jni,
                      struct recording *recording); /* the JVM ends: no class is written back */

#endif
