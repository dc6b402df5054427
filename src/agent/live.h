/*
 * live - which of the sampled objects are still there.
 *
 * For      option live=: leaks, and what the heap is full of.
 * Callers  alloc.c (watch, settle), begin.c, run.c (open, turn, close), tell.c, sources.c (tell, fill).
 * Context  live_watch, live_settle: hook, on the thread that allocates. live_open, _turn, _look, _close: the agent's thread. The
 *          rest: the agent's thread, dump.
 * Memory   a table of LIVE_SLOTS slots, made by the first session that asks for it and kept; the JVM keeps a weak reference for each
 *          object that is watched, at most as many as there are slots.
 * Progress watch and settle wait-free but for the JVM, which makes a reference under a lock of its own that it holds for moments.
 *
 * An object is watched by a weak global reference, which the collector clears when the object is gone. Nothing is stopped for it: the
 * agent's thread looks at the references when the collector has been at work.
 *
 * A slot             free -> claimed (hook: number, reference) -> held (hook) -> free (the agent's thread)
 * May these overlap?       watch/settle    turn/look/close
 *   watch/settle               yes               yes
 *   turn/look/close            yes          no (one agent's thread)
 *
 * The limit: where more objects are held than live= says, half of them are given up, by chance, and of those to come half are
 * passed over: each that stays stands for two. So sums stay right, whatever stays for how long, and old objects are not favoured.
 * When there is room again the next ones are watched more closely again.
 */
#ifndef JW_AGENT_LIVE_H
#define JW_AGENT_LIVE_H

#include <jni.h>

#include "options/options.h"
#include "recording/recording.h"

#define LIVE_SLOTS 32768u /* at most what the 16 bits of a record name; twice what live= may be */

/* Where an object is watched. Number 0: it is not. */
struct live_place {
    uint32_t slot, number;
};

/* This object from now on, if it is one of those to be watched; settled when its sample was taken, or not. */
struct live_place live_watch(JNIEnv *jni, jobject object);
void live_settle(JNIEnv *jni, const struct live_place *place, bool is_taken);

/* A session begins. Where it cannot be done the session goes without, and says why. */
void live_open(JNIEnv *jni, const struct options *options, const struct recording *recording);
/* Looks at the references if the collector was at work since, not too often; now. */
void live_turn(JNIEnv *jni);
void live_look(JNIEnv *jni);
/* No further ones are watched. */
void live_end(void);
/* Behind the end of the recording: all references are given back. */
void live_close(JNIEnv *jni);

/* The line of `status`. */
void live_tell(void);
void live_fill(struct recording_sources *out);

#endif
