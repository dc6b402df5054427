/*
 * exceptions - exceptions that are made, by their class: event=exception of a session, from its begin to its end.
 *
 * For      jdk.JavaExceptionThrow, and graphs of exceptions.
 * Callers  begin.c (choose, begin), run.c (the rest).
 * Context  the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_EXCEPTIONS_H
#define JW_AGENT_EXCEPTIONS_H

#include <jni.h>

#include "options/options.h"

/* False and `err`: a pattern is none. */
JW_MUST_CHECK bool exceptions_choose(const struct options *options, struct jw_error *err);

void exceptions_begin(JNIEnv *jni,
                      const struct options *options); /* likewise where it is on already */
void exceptions_turn(JNIEnv *jni);
void exceptions_end(JNIEnv *jni); /* the class is written back; says which pattern took nothing */
void exceptions_leave(void);      /* the JVM ends: no class is written back */

#endif
