/*
 * vm_safepoint - how often the JVM has stopped all threads so far, how long that took, and whether it is just at it.
 *
 * For      knowing that what was told by an address still holds: a method whose address another method takes
 *          was on no stack in between, and the JVM stops all threads before it brings methods in by redefinition. And for
 *          finding who keeps a safepoint waiting.
 * Callers  vm_open; sampler, agent.
 * Context  vm_safepoint_open: control, once.  vm_safepoint_open_delays: control.  vm_safepoint_begin_ns, vm_safepoint_operation: any.  The
 *          rest: as each says, or handler, any.
 * Memory   none: the numbers are the JVM's own performance counters, in its memory.
 */
#ifndef JW_VM_VM_SAFEPOINT_H
#define JW_VM_VM_SAFEPOINT_H

#include "vm/vm.h"

/* Finds the counters, which a JVM run with -XX:-UsePerfData does not have. */
void vm_safepoint_open(void);

/*
 * Safepoints that have begun: told before the threads are stopped. False when that cannot be told.
 * Source: OpenJDK, RuntimeService::record_safepoint_begin, JDK 8 to 26.
 */
JW_SIGNAL_SAFE bool vm_safepoint_count(uint64_t *count);

/*
 * A number that is another one after each safepoint, as its operation sees the threads: it changes when one begins, and again when the
 * last thread has stopped, before the operation. So between two looks that tell the same no operation has begun, and who looks while
 * one is at work is on a thread whose frames it takes for roots. False when that cannot be told.
 * Source: OpenJDK, RuntimeService::record_safepoint_begin, _synchronized, JDK 8 to 28.
 */
JW_SIGNAL_SAFE bool vm_safepoint_date(uint64_t *date);

/*
 * One look. `sync_ns` grows at the moment at which the last thread has stopped, by what that took; `inside_ns` when the threads go
 * on, by what lay between. So a safepoint that is counted, with `sync_ns` as before, is being waited for.
 * Source: OpenJDK, runtimeService.cpp (record_safepoint_begin, _synchronized, _end), JDK 8 to 28.
 */
struct vm_safepoint_look {
    uint64_t count, sync_ns, inside_ns;
};

/* Finds what vm_safepoint_look reads. False, and why, on a JVM that has none of it. */
JW_MUST_CHECK bool vm_safepoint_open_delays(struct jw_error *err);
/* And the symbols that the next three read, once the JVM's are known; asked once a second. Context: dump. */
void vm_safepoint_find_symbols(void);
JW_SIGNAL_SAFE bool vm_safepoint_look(struct vm_safepoint_look *out);

/* Of the JVM's symbols, which one that was stripped does not have. Source: OpenJDK, safepoint.hpp (SynchronizeState), JDK 8 to 28. */
enum vm_safepoint_state {
    VM_SAFEPOINT_NONE,
    VM_SAFEPOINT_SYNCHRONIZING,
    VM_SAFEPOINT_SYNCHRONIZED,
    VM_SAFEPOINT_UNTOLD,
};
JW_SIGNAL_SAFE enum vm_safepoint_state vm_safepoint_state(void);

/* Whether it can be told: found, and it holds a state. Context: dump. */
enum vm_safepoint_finding { VM_SAFEPOINT_SOUGHT, VM_SAFEPOINT_FOUND, VM_SAFEPOINT_MISSING };
enum vm_safepoint_finding vm_safepoint_finding(void);

/* When the last one began, of jw_now_ns; 0: this JVM does not tell (before 13, or stripped). */
uint64_t vm_safepoint_begin_ns(void);

/*
 * What the VM's thread does at this moment, as the address of the table of functions of that operation's class; 0: nothing, or
 * not known. A safepoint of the JVM's own timer may have none.
 */
vm_addr vm_safepoint_operation(void);

/* Its name as the JVM logs it ("G1CollectForAllocation"), from the names of its functions. False: they have none. Context: dump. */
JW_MUST_CHECK bool vm_safepoint_operation_name(vm_addr operation, char *name, size_t room_bytes);

#endif
