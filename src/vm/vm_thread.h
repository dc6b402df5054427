/*
 * vm_thread - what a Java thread waits for, as the JVM keeps it.
 *
 * For      the state of a wall-clock sample.
 * Callers  sampler.
 * Context  handler, on the thread that is asked about: another one's JavaThread may be freed any time. vm_thread_delay: any, too.
 * Memory   none.
 */
#ifndef JW_VM_VM_THREAD_H
#define JW_VM_VM_THREAD_H

#include "vm/vm.h"

enum vm_thread_wait {
    VM_THREAD_UNKNOWN,     /* this JVM does not tell (JDK 8), or not what we know */
    VM_THREAD_RUNS,        /* nothing of the below */
    VM_THREAD_ENTERS,      /* a monitor */
    VM_THREAD_WAITS,       /* in Object.wait */
    VM_THREAD_SLEEPS,      /* in Thread.sleep */
    VM_THREAD_ON_CONDITION /* in LockSupport.park, or of the JVM itself */
};

enum vm_thread_place {
    VM_THREAD_ELSEWHERE,
    VM_THREAD_IN_JAVA, /* compiled or interpreted code */
    VM_THREAD_BLOCKED, /* in the JVM, on something of its own or of Java */
};

struct vm_thread_state {
    enum vm_thread_wait wait;
    enum vm_thread_place place;
};

/* False: not a Java thread, or not readable. */
JW_SIGNAL_SAFE bool vm_thread_state(const void *env, struct vm_thread_state *out);

/* Whether a safepoint that begins now has to wait for the thread. */
enum vm_thread_delay {
    VM_THREAD_DELAYS_NOT, /* it waits, or runs native code, or comes back from there to stop; or cannot be read */
    VM_THREAD_DELAYS_IN_JAVA,
    VM_THREAD_DELAYS_IN_VM, /* the JVM's own code, on its behalf */
};

/* Of another thread it says something only if the JVM was waiting for a safepoint before and after: no thread ends meanwhile. */
JW_SIGNAL_SAFE enum vm_thread_delay vm_thread_delay(const void *env);

/* What a thread waits for whose topmost frame is this Method*, told by its name; VM_THREAD_RUNS where nothing. */
JW_SIGNAL_SAFE enum vm_thread_wait vm_thread_wait_in(vm_addr method);

#endif
