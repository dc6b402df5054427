/*
 * virtual_search - virtual threads by their numbers, among all that there are.
 *
 * For      owners of monitors that never waited for anything, so that nobody has a reference to them (weak_refs.h), and those that nothing tells (owners.h).
 * Callers  away.c.
 * Context  the agent's thread, attached: it runs code of the JDK, which takes no lock there and stops nobody.
 * Memory   local and global references, until the search is through.
 *
 * The JDK lists its virtual threads for its own thread dumps, by what began them: jdk.internal.vm.ThreadContainers. A search goes through all of these lists, a
 * part of it in each turn. Source: OpenJDK, ThreadContainers.java, ThreadContainer.java, JDK 21 to 28; with -Djdk.trackAllThreads=false threads that no executor
 * began are in none.
 */
#ifndef JW_AGENT_VIRTUAL_SEARCH_H
#define JW_AGENT_VIRTUAL_SEARCH_H

#include <jni.h>

#include "base/jw.h"

/* That one is searched for, by this search or by the next one. So many at a time: others have to ask again. */
void virtual_search_want(uint64_t number);

/* Goes on, until that time; who is found stands among the weak references. Without anybody who is wanted it costs nothing. */
void virtual_search_turn(JNIEnv *jni, uint64_t until_ns);

/* The session is over. */
void virtual_search_end(JNIEnv *jni);

#endif
