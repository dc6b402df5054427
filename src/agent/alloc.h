/*
 * alloc - allocations in the heap, as the JVM samples them.
 *
 * For      alloc= and event=alloc.
 * Callers  begin.c, run.c (begin, end), hooks (sampled), output.c and tell.c (texts).
 * Context  alloc_sampled: hook, on the thread that allocates. alloc_choose, _begin, _end: the agent's thread. Texts: the agent's
 *          thread.
 * Memory   static.
 *
 * Source: JEP 331, JVMTI event SampledObjectAlloc, JDK 11 on. The JVM has one interval for all agents: JVMTI,
 * SetHeapSamplingInterval. Who sets another one changes ours, too; where the JVM's symbols tell the interval in force, each
 * sample is weighed by that, and at the end the one before is there again.
 */
#ifndef JW_AGENT_ALLOC_H
#define JW_AGENT_ALLOC_H

#include <jvmti.h>

#include "options/options.h"

/* Whether a new session can have what it asks for. Asked for alone: false, and `err` where not; else allocations are off, and it is
 * said why. */
JW_MUST_CHECK bool alloc_choose(const struct options *values, struct jw_error *err);

/* Behind the start of the sampler, and before its stop. */
void alloc_begin(const struct options *values);
void alloc_end(void);

/* The JVM has sampled this object, of this class. */
void alloc_sampled(jvmtiEnv *jvmti, JNIEnv *jni, jobject object, jclass klass, jlong object_bytes);

/* "on", "off", or the reason why they are off. */
const char *alloc_text(const struct options *values);

#endif
