/*
 * vm_heap - how many bytes of the Java heap are in use, as the JVM reckons it for its own events.
 *
 * For      the heap as a collection begins, which the counters for jstat do not tell: most are those of the collection before.
 * Callers  agent.
 * Context  vm_heap_open: control, after vm_open. vm_heap_used: hook, on the VM's thread while all others stand still.
 * Memory   none: a dozen contained loads at the most.
 *
 * Serial and Parallel: what lies below the tops of their spaces. G1: its sum of all regions, in which the ones that
 * threads allocate in at that moment are not: less than a region each. Other collectors: not known.
 */
#ifndef JW_VM_VM_HEAP_H
#define JW_VM_VM_HEAP_H

#include "vm/vm.h"

/* Which of them it is, by the JVM's tables. */
void vm_heap_open(void);

/* False: not known with this JVM or its collector. */
JW_MUST_CHECK bool vm_heap_used(uint64_t *bytes);

#endif
