/*
 * classes - classes that come and go, one by one: classload of a session, from its begin to its end.
 *
 * For      jdk.ClassDefine, jdk.ClassUnload.
 * Callers  hooks.c (defined), begin.c, run.c (the rest).
 * Context  classes_defined: hook, on the thread that defines it. The rest: the agent's thread.
 * Memory   none.
 *
 * What a class is called is told at once, with its record: its address may be another's a moment later.
 */
#ifndef JW_AGENT_CLASSES_H
#define JW_AGENT_CLASSES_H

#include <jvmti.h>

#include "options/options.h"

void classes_begin(const struct options *options);
void classes_end(void);

/* JVMTI's ClassLoad. */
void classes_defined(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass);

#endif
