/*
 * vm_colour - addresses in words that ZGC has coloured.
 *
 * For      reading objects of a JVM whose collector moves them while threads run, as long as it has not begun to.
 * Callers  room vm.
 * Context  vm_colour_find: control. vm_uncolour: handler.
 * Memory   the caller's.
 *
 * A word whose colour is good leads to the object where it stands; what is read there holds if the word, looked at again behind it, still is good.
 */
#ifndef JW_VM_VM_COLOUR_H
#define JW_VM_VM_COLOUR_H

#include "vm/vm.h"

struct vm_colour {
    vm_addr
        bad_bits; /* word of the JVM's with the bits of colours that are not good now; 0: words have no colour */
    vm_addr
        shift; /* likewise: how far the address stands above its colour; 0: the colour is part of the address */
};

/* False: ZGC is not used, or does not tell. */
JW_MUST_CHECK bool vm_colour_find(struct vm_colour *out);

/* The address in a word; false where the collector has something to do with it first. */
JW_SIGNAL_SAFE bool vm_uncolour(const struct vm_colour *colour, uint64_t *word);

#endif
