/*
 * probe_events - the types of events that probes have declared, and the events on their way into a recording.
 *
 * For      probes.c (which gives the calls to room instrument), sources.c (which types there are).
 * Context  declare, release, figures: the agent's thread. commit: hook, on any Java thread; it never waits. ask: dump.
 * Memory   some kilobytes for each type, which stay; PROBE_EVENTS_TYPES of them.
 *
 * A type is told by its probe's name and all that it has: attached again it is the same, and has the same number. A type is of a chunk
 * while a probe has it, and as long as events of it are not taken yet.
 */
#ifndef JW_AGENT_PROBE_EVENTS_H
#define JW_AGENT_PROBE_EVENTS_H

#include "instrument/instrument.h"
#include "jfr/jfr_declared.h"

#define PROBE_EVENTS_TYPES 256u /* different ones in the life of a process */

extern const struct instrument_events probe_events_calls;

/* A recording_sources function: of the types of a chunk the one with the next number after `after`, so that none is passed over where one
 * before it goes meanwhile. False: there is no more. */
bool probe_events_ask(void *context, uint32_t after, struct jfr_declared *out);

#endif
