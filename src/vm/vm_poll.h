/*
 * vm_poll - whether a thread was asked to stop: by a safepoint, by a handshake with it alone, or by the collector (a stack watermark).
 *
 * For      telling of a sample what others were waiting for.
 * Callers  agent (finds), sampler (asks).
 * Context  vm_poll_find: dump.  vm_poll_told: any.  The rest: handler, on the thread that is asked about.
 * Memory   none.
 *
 * Each Java thread has a word that its polls look at. Where it lies no table says: the interpreter's polls, of which there is one
 * before each bytecode that jumps, all name it. The first threads that are asked have to be found with a word that nobody has armed,
 * and a word that no poll can have, whenever it is seen, ends the matter.
 */
#ifndef JW_VM_VM_POLL_H
#define JW_VM_VM_POLL_H

#include "vm/vm.h"

enum vm_poll_state {
    VM_POLL_UNTOLD,
    VM_POLL_CLEAR,
    VM_POLL_ARMED,
    VM_POLL_WATERMARK, /* the collector wants to be asked before a frame above the word is left; from JDK 16 on */
};

/* Looks for the word, until it is found or known not to be; costs the first time some 0.3 ms. */
void vm_poll_find(void);
/* "on", "not yet: ..." or "off: ..."; lives as long as the process. */
const char *vm_poll_told(void);
/* Where in a thread the word lies, in bytes; 0: it is not known, or was another one. Context: any. */
uint32_t vm_poll_offset(void);

JW_SIGNAL_SAFE enum vm_poll_state vm_poll_state(const void *env);

/* Who has asked the calling thread to stop, and waits for it: it runs Java or the JVM's code. */
enum vm_poll_asked {
    VM_POLL_ASKED_NOT, /* or it cannot be told */
    VM_POLL_ASKED_BY_SAFEPOINT,
    VM_POLL_ASKED_BY_HANDSHAKE,
    VM_POLL_ASKED_BY_WATERMARK,
    VM_POLL_ASKED_BY_EITHER, /* safepoint or handshake: the JVM has no symbols */
};
JW_SIGNAL_SAFE enum vm_poll_asked vm_poll_asked(const void *env);

#endif
