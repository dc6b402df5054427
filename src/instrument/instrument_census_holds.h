/*
 * instrument_census_holds - holds whose end was not told are given up.
 *
 * Callers  instrument_census.c.   Context  the agent's thread.   Memory   none.
 *
 * A call at an exit is missing where no stack was left for it, or where a lock of java.util.concurrent is given back by another method. The
 * hold would be open for the life of its thread, with the method's later ones inside of it. A thread that is not in the method has no
 * hold of it, or has one that no exit of that method ends: its stack says so.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_CENSUS_HOLDS_H
#define JW_INSTRUMENT_INSTRUMENT_CENSUS_HOLDS_H

#include <jni.h>

#include "base/jw.h"

JW_MUST_CHECK bool census_holds_open(JNIEnv *jni, struct jw_error *err);
/* Of those that have lasted for a second, one of each thread. */
void census_holds_look(JNIEnv *jni);

#endif
