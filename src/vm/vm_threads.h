/*
 * vm_threads - all Java threads of the JVM, those too that it tells no agent of.
 *
 * For      knowing that the owner of a monitor is a virtual thread: no thread of the JVM has its number.
 * Callers  vm_monitor (open), sampler.
 * Context  vm_threads_open: control. vm_threads_has_number: hook, any.
 * Memory   a few constants.
 *
 * The JVM publishes the list of its threads as a whole, and a new one when a thread comes or goes; an old one may be freed while it
 * is read, with loads that may fail. Source: OpenJDK, threadSMR.hpp, ThreadsSMRSupport and ThreadsList, from JDK 10 on; the number
 * is that of JavaThread::_monitor_owner_id, from 24 on.
 */
#ifndef JW_VM_VM_THREADS_H
#define JW_VM_VM_THREADS_H

#include "vm/vm.h"

/* `own`: number of the calling thread, which must be found. Otherwise no number is known to be nobody's. */
void vm_threads_open(uint64_t own);

/*
 * Whether a thread has this number, by itself or by the virtual thread that it runs; also true where that cannot be told: not opened,
 * more than VM_THREADS_MAX threads, or the list has changed meanwhile.
 */
bool vm_threads_has_number(uint64_t number);

#define VM_THREADS_MAX 1024u /* a look at one takes some ten nanoseconds */

#endif
