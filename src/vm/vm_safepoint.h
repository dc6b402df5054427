/*
 * vm_safepoint - how often the JVM has stopped all threads so far.
 *
 * For      knowing that what was told by an address still holds: a method whose address another method takes
 *          was on no stack in between, and the JVM stops all threads before it brings methods in by redefinition.
 * Callers  vm_open; sampler.
 * Context  vm_safepoint_open: control, once.  vm_safepoint_count: handler.
 * Memory   none: the number is one of the JVM's own performance counters, in its memory.
 */
#ifndef JW_VM_VM_SAFEPOINT_H
#define JW_VM_VM_SAFEPOINT_H

#include "base/jw.h"

/* Finds the counter, which a JVM run with -XX:-UsePerfData does not have. */
void vm_safepoint_open(void);

/*
 * Safepoints that have begun: told before the threads are stopped. False when that cannot be told.
 * Source: OpenJDK, RuntimeService::record_safepoint_begin, JDK 8 to 26.
 */
JW_SIGNAL_SAFE bool vm_safepoint_count(uint64_t *count);

#endif
