/*
 * instrument_census_known - classes that the census of locks has looked at, and the numbers of their sites.
 *
 * Callers  instrument_census.c.
 * Context  any, each under a lock of its own; census_known_begin, _count, _site, _turn: the agent's thread.
 * Memory   a row for each class and site, and their texts. What is known of classes that are unloaded goes when half of all numbers are given out.
 *
 * A class that is read again has the same sites again, with their numbers, also in a later census: a thread may still be in code that was
 * written for an earlier one. Sites stay when their class is unloaded, since what was counted there is to be told; their numbers are
 * given out again where there would be none otherwise.
 */
#ifndef JW_INSTRUMENT_INSTRUMENT_CENSUS_KNOWN_H
#define JW_INSTRUMENT_INSTRUMENT_CENSUS_KNOWN_H

#include <jni.h>

#include "census/census.h"
#include "instrument/instrument.h"

/* A class, by its loader and name; never 0. */
uint64_t census_known_key(uint32_t loader, const char *name);

void census_known_begin(void);
/* The class has these sites: the numbers that it had, or new ones. False: there is no room for them, which is counted. */
JW_MUST_CHECK bool census_known_take(uint64_t key, uint32_t loader, const struct census_class *of,
                                     bool is_platform, uint32_t *first);
void census_known_note_sites(const struct census_class *of, uint32_t first); /* that are refused */
/* Nothing is counted in that class, whether sites of it were numbered or not. */
void census_known_refuse(uint64_t key, uint32_t loader);
void census_known_leave_alone(uint64_t key, uint32_t loader);
/* Of a class that this census has looked at, how many sites it has. */
uint32_t census_known_sites(uint64_t key, bool *is_known);

/* Numbers that are given out, up to the highest. */
uint32_t census_known_count(void);
/* All but what was counted; its texts live until the next question. False: nothing is to be told of that number. */
bool census_known_site(uint32_t number, struct instrument_lock_site *out);
bool census_known_is_platform(
    uint32_t number); /* it is of this census, and in a class of the JDK; any */
struct instrument_census census_known_figures(void);
/* Gives numbers of classes that are unloaded back, where few are left. */
void census_known_turn(JNIEnv *jni);

#endif
