/*
 * instrument_census_counts - what was counted at the sites of the census of locks, by number, as JaywalkLocks has it.
 *
 * Callers  instrument_census.c.
 * Context  the agent's thread; fitting: any.
 * Memory   of the last reading, 192 bytes a site, and of the one that later readings begin from.
 */
#ifndef JW_INSTRUMENT_CENSUS_COUNTS_H
#define JW_INSTRUMENT_CENSUS_COUNTS_H

#include <jni.h>

#include "instrument/instrument.h"

/* False and `err`: the JVM does not give the class. */
JW_MUST_CHECK bool census_counts_open(JNIEnv *jni, struct jw_error *err);
/* From nothing on; what places say is counted from here on. */
JW_MUST_CHECK bool census_counts_begin(JNIEnv *jni, struct jw_error *err);
/* What was read last is what later readings begin from: nothing is counted twice, and nothing is left out. */
void census_counts_begin_again(void);
/* Places that are called still find nothing to do. */
void census_counts_end(JNIEnv *jni);

/* Of the first `count` sites. False and `err`: there is nothing to be had now. */
JW_MUST_CHECK bool census_counts_read(JNIEnv *jni, uint32_t count, struct jw_error *err);
uint64_t census_counts_lost(void); /* acquisitions that were not counted, as of the last reading */
/* What was counted at these sites, where nobody counts any more, is from 0 again. False: it is as it was. */
JW_MUST_CHECK bool census_counts_forget(JNIEnv *jni, const uint32_t *sites, uint32_t count,
                                        uint64_t *acquisitions);
/* Fills what was counted, and the thread. False: that site was not read. */
JW_MUST_CHECK bool census_counts_of(uint32_t site, struct instrument_lock_site *out);

/* So many bytes of a text as fit into a room with a NUL, without a part of a character. */
uint32_t census_counts_fitting(const char *text, size_t length_bytes, size_t room_bytes);

#endif
