/*
 * instrument_census_loaders - loaders of classes with locks: a number for each, whether its classes may call the counting, and which are gone.
 *
 * Callers  instrument_census.c.
 * Context  census_loader_of, census_loader_knows: hook, the agent's thread. census_loaders_gone, census_loader_give_back: with the lock of
 *          the census held. The rest: the agent's thread.
 * Memory   24 KB.
 *
 * A number is the tag of the loader, which the JVM tells when it has collected it: its classes are unloaded then, all at once.
 * Source: JVMTI, ObjectFree; The Java Language Specification, 12.7.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_CENSUS_LOADERS_H
#define JW_INSTRUMENT_INSTRUMENT_CENSUS_LOADERS_H

#include <jni.h>
#include <jvmti.h>

#include "base/jw.h"

#define CENSUS_LOADER_BOOT   0u
#define CENSUS_LOADER_NONE   UINT32_MAX /* there are too many, or the JVM refuses its tag */
#define CENSUS_LOADERS_LIMIT 65536u
#define CENSUS_LOADERS_WORDS (CENSUS_LOADERS_LIMIT / 64)

/* False and `err`: this JVM does not tell what it has collected, or does not give the classes that ask. */
JW_MUST_CHECK bool census_loaders_open(JNIEnv *jni, struct jw_error *err);
/* Asks those of the classes that are loaded, on a thread of its own, for two seconds at the most: it runs their code. */
void census_loaders_ask(JNIEnv *jni);

/* The loader as a number, the same one for as long as it lives. */
uint32_t census_loader_of(jobject loader);
/*
 * Whether a call of the counting in its classes is linked without asking it. `is_loading`: one of its classes is being loaded on this
 * thread, which asks it now, as the JVM asks it for the class above that one.
 */
bool census_loader_knows(JNIEnv *jni, jobject loader, uint32_t number, bool is_loading);

void JNICALL census_loaders_on_object_free(jvmtiEnv *jvmti, jlong tag);
/* How many are gone and not given back; a bit for each number. */
uint32_t census_loaders_gone(uint64_t bits[CENSUS_LOADERS_WORDS]);
/* Nothing is known under these numbers any more. */
void census_loaders_give_back(const uint64_t bits[CENSUS_LOADERS_WORDS]);

#endif
