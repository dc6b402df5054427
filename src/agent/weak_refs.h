/*
 * weak_refs - references to what others wait for, and to virtual threads that they may come to wait for, by numbers.
 *
 * For      asking the JVM what the owner of a lock does, who is on no carrier: nobody finds it again by its number.
 * Callers  locks.c (note, let go), away.c (find).
 * Context  weak_refs_note: hook, on a thread in native code that Java or the JVM called. weak_refs_find, _let_go: the agent's thread.
 * Memory   a table of WEAK_REFS weak global references for each kind, from the first session that wants it on: they keep nothing alive. Of those that meet in a place the last one is kept.
 * Progress wait-free but for what JNI does: a reference is in the table, or one thread's to let go.
 */
#ifndef JW_AGENT_WEAK_REFS_H
#define JW_AGENT_WEAK_REFS_H

#include <jvmti.h>

#include "base/jw.h"

#define WEAK_REFS 1024u

enum weak_refs_kind {
    WEAK_THREADS, /* virtual ones, by their numbers */
    WEAK_LATCHES, /* locks of java.util.concurrent, by their hashes */
};

/* Without memory nothing is noted, nor found. Context: the agent's thread. */
void weak_refs_open(void);

/* Where that number stands already it costs a look. */
void weak_refs_note(JNIEnv *jni, enum weak_refs_kind kind, jobject object, uint64_t number);

/* A local reference; NULL: it is not known, or is no more. */
jobject weak_refs_find(jvmtiEnv *jvmti, JNIEnv *jni, enum weak_refs_kind kind, uint64_t number);

void weak_refs_let_go(JNIEnv *jni);

#endif
