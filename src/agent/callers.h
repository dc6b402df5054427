/*
 * callers - which methods of the program call places of the JDK that take locks, in a session with a census.
 *
 * For      locks=census.
 * Callers  census.c.
 * Context  all functions: the agent's thread. What it is told by: hook, on the thread that has just taken the lock.
 * Memory   caller_table.h; a byte for each kind of loader.
 *
 * The caller is the innermost frame whose class is not of the JDK's loaders, nor hidden (a lambda's), nor one that the JDK makes for calls by reflection and
 * for proxies. Stacks are walked by our own walker alone, while it is in use.
 */
#ifndef JW_AGENT_CALLERS_H
#define JW_AGENT_CALLERS_H

#include <jni.h>

#include "base/jw.h"

/* `is_again`: the census goes on, and what was told before is not told again. False and `err`: nothing is told. */
JW_MUST_CHECK bool callers_begin(bool is_again, struct jw_error *err);
void callers_end(void);

#endif
