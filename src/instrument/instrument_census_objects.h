/*
 * instrument_census_objects - which objects' locks are taken at the sites of the census of locks, where that is asked for.
 *
 * Callers  instrument_census.c, instrument_census_counts.c.
 * Context  the agent's thread.
 * Memory   room census, census_objects.h.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_CENSUS_OBJECTS_H
#define JW_INSTRUMENT_INSTRUMENT_CENSUS_OBJECTS_H

#include <jni.h>

#include "census/census_objects.h"

/* Places are written to tell of objects from here on, or not to; while there is no census. False and `err`: the JVM does not give the class. */
JW_MUST_CHECK bool census_instances_open(JNIEnv *jni, bool is_asked, struct jw_error *err);
bool census_instances_are_told(void); /* any */
uint64_t census_instances_lost(void); /* as of the last reading */

/* Before a fence of all threads, and behind it. */
JW_MUST_CHECK bool census_instances_begin(JNIEnv *jni, struct jw_error *err);
JW_MUST_CHECK bool census_instances_publish(JNIEnv *jni, struct jw_error *err);
void census_instances_begin_again(void);
void census_instances_end(JNIEnv *jni);
/* What places have told. False and `err`: there is nothing to be had now. */
JW_MUST_CHECK bool census_instances_read(JNIEnv *jni, struct jw_error *err);
void census_instances_forget(JNIEnv *jni, jintArray numbers, const uint32_t *sites, uint32_t count);

#endif
