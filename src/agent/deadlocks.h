/*
 * deadlocks - threads that wait for each other for ever: looked for once a second, and told once, in the log and in the recording.
 *
 * For      jaywalk.Deadlock (lock= of a session).
 * Callers  locks.c (begin), run.c (turn), sources.c (fill).
 * Context  the agent's thread.
 * Memory   static.
 */
#ifndef JW_AGENT_DEADLOCKS_H
#define JW_AGENT_DEADLOCKS_H

#include "base/jw.h"

struct recording_sources;

void deadlocks_begin(void);

/* Waits that take long, and whether any of them can end. */
void deadlocks_turn(void);

/* What a recording asks of them. */
void deadlocks_fill(struct recording_sources *out);

#endif
