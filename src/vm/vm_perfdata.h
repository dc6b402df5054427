/*
 * vm_perfdata - the performance counters that the JVM keeps in its memory for jstat.
 *
 * For      counting safepoints; what the heap, classes and threads of the JVM are, without asking it.
 * Callers  vm, agent.
 * Context  vm_perfdata_find: control. What it finds is read by contained loads, anywhere.
 * Memory   none: the counters lie in the JVM's memory, as long as it runs. With -XX:-UsePerfData there are none.
 */
#ifndef JW_VM_VM_PERFDATA_H
#define JW_VM_VM_PERFDATA_H

#include "vm/vm.h"

#define VM_PERFDATA_NUMBER 'J'
#define VM_PERFDATA_TEXT   'B' /* with its NUL */

/* Address of the counter of this name ("sun.rt.safepoints") and kind; 0: this JVM has none. */
vm_addr vm_perfdata_find(const char *name, char kind);

#endif
