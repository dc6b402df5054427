/*
 * routes - requests that the program serves have endpoints: endpoints= of a session, from its begin to its end.
 *
 * For      jaywalk.Endpoint, and the context of samples.
 * Callers  begin.c (begin), run.c (end).
 * Context  the agent's thread.
 * Memory   those of rooms instrument and context.
 */
#ifndef JW_AGENT_ROUTES_H
#define JW_AGENT_ROUTES_H

#include <jni.h>

#include "options/options.h"

void routes_begin(JNIEnv *jni, const struct options *options); /* likewise where it is on already */
/* Classes are written back. A request that is being served keeps what its thread works for until it is over. */
void routes_end(JNIEnv *jni);
void routes_leave(void); /* the JVM ends: no class is written back */

#endif
