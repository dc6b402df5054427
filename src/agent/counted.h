/*
 * counted - exact counts that the program's own threads make, as a recording is told of them: what has changed since it was told last.
 *
 * For      jaywalk.MethodCount and jaywalk.ObjectCount.
 * Callers  methods.c (calls), news.c (objects).
 * Context  the agent's thread.
 * Memory   the caller's.
 */
#ifndef JW_AGENT_COUNTED_H
#define JW_AGENT_COUNTED_H

#include <jni.h>

#include "instrument/instrument.h"
#include "probe/probe_own.h"

struct recording;

struct counted {
    uint64_t began_ns, turned_ns;
    uint64_t told[PROBE_OWN_SITES]; /* of each number that the recording has been told of */
};

/*
 * `recording`: NULL: it is not told. `is_cut`: what is told is the end of it, and each begins anew. All that there were, since the cut before;
 * 0 where they cannot be read now, and are told the next time.
 */
uint64_t counted_put(JNIEnv *jni, enum instrument_counted what, struct counted *counted,
                     struct recording *recording, bool is_cut);

#endif
