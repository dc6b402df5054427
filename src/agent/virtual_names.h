/*
 * virtual_names - what virtual threads are called that no sample in Java code told of.
 *
 * For      who waits for a lock, and who owns it (lock=): a hook stands in native code, where nobody else can read the name.
 * Callers  locks.c, latches.c.
 * Context  virtual_names_open: the agent's thread. virtual_name_of: hook, on a thread in native code that Java called.
 * Memory   the caller's.
 */
#ifndef JW_AGENT_VIRTUAL_NAMES_H
#define JW_AGENT_VIRTUAL_NAMES_H

#include <jni.h>

#include "base/jw.h"

#define VIRTUAL_NAME_BYTES 256u

struct virtual_name {
    char text[VIRTUAL_NAME_BYTES];
    size_t length_bytes; /* 0: it has none, or one that is too long */
};

void virtual_names_open(JNIEnv *jni);

/* Of a virtual thread, where these are told by their number. False: it is none. */
JW_MUST_CHECK bool virtual_name_of(JNIEnv *jni, jobject thread, struct virtual_name *out);

#endif
