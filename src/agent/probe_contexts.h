/*
 * probe_contexts - what threads work for, as handlers of probes are given it.
 *
 * For      probes.c, which gives the calls to room instrument.
 * Context  hook, on the thread that is asked about; they never wait.
 */
#ifndef JW_AGENT_PROBE_CONTEXTS_H
#define JW_AGENT_PROBE_CONTEXTS_H

#include "instrument/instrument.h"

extern const struct instrument_contexts probe_contexts_calls;

#endif
