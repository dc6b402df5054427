/*
 * collections - garbage collections, as JVMTI tells that they begin and end.
 *
 * For      what a recording tells of the garbage collector.
 * Callers  hooks (start, finish), facts (the rest).
 * Context  collections_start, _finish: hook, on the VM's own thread while all others stand still. collections_open: control,
 *          with nothing recorded. collections_take: dump.
 * Memory   static: the last COLLECTIONS_MAX that were not taken yet; what comes beyond is counted.
 *
 * A collection here is a time in which the collector has stopped all threads: of collectors that work beside the program
 * (ZGC, Shenandoah) each pause is one.
 */
#ifndef JW_AGENT_COLLECTIONS_H
#define JW_AGENT_COLLECTIONS_H

#include "base/jw.h"

#define COLLECTIONS_MAX         256u
#define COLLECTIONS_CAUSE_BYTES 48
#define COLLECTIONS_NO_WAY      UINT32_MAX

struct collection {
    uint64_t begin_ns, end_ns;
    uint64_t used_bytes, committed_bytes;               /* of the heap, behind it; 0: not told */
    uint64_t used_before_bytes, committed_before_bytes; /* and as it began */
    uint32_t number;                                    /* in this process, from 1 */
    uint32_t
        way; /* which of the JVM's collectors it was, 0: of the young generation; COLLECTIONS_NO_WAY */
    char cause[COLLECTIONS_CAUSE_BYTES]; /* "": not told */
};

/* Finds the counters of the JVM once, and forgets what was not taken. */
void collections_open(void);

void collections_start(void);
void collections_finish(void);

/* How many there were while a session was there, told or not. Context: any, hook. */
uint32_t collections_count(void);

/* The oldest one that was not taken. False: there is none. */
JW_MUST_CHECK bool collections_take(struct collection *out);

#endif
