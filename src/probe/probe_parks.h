/*
 * probe_parks - LockSupport.park and its like: the agent's own probe behind waits that no native method sees.
 *
 * For      parks of virtual threads (lock=), and of all where Unsafe.park is left alone.
 * Callers  agent, instrument.
 * Context  control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 * Each of the six methods is told with what the thread parks for and how long, as far as it has that as parameters: JaywalkParks.entered, and
 * JaywalkParks.left where it returns and where it throws. docs/adr/0061-parks-of-virtual-threads.md
 */
#ifndef JW_PROBE_PROBE_PARKS_H
#define JW_PROBE_PROBE_PARKS_H

#include "probe/probe_handler.h"

#define PROBE_PARKS_CLASS   "java/lang/JaywalkParks"
#define PROBE_PARKS_METHODS 6u

/* NULL and `err`: no memory. */
JW_MUST_CHECK struct probe *probe_parks_open(const char *name, struct jw_error *err);

#endif
