/*
 * vm_code - what a pc in the code cache belongs to.
 *
 * For      mending a stack before AsyncGetCallTrace sees it, the tier of a sample's top frame, and the
 *          place at which a walk failed.
 * Callers  walk, sampler.   Context  handler.   Memory  none.
 */
#ifndef JW_VM_VM_CODE_H
#define JW_VM_VM_CODE_H

#include "vm/vm.h"

/* What the pc was in; the names stand in jaywalk.WalkFailure. */
enum vm_place {
#define VM_PLACE(name, text) VM_PLACE_##name,
#include "vm/vm_places.def"
#undef VM_PLACE
    VM_PLACE_LIMIT
};

struct vm_blob {
    enum vm_place place;
    vm_addr blob;
    uintptr_t code_begin, code_end;
    int32_t frame_complete_offset; /* of an nmethod, from code_begin; -1: never complete */
    int32_t frame_size_words;
};

/* True when pc lies in the code cache: interpreter, stubs and compiled methods. */
JW_SIGNAL_SAFE bool vm_code_contains(uintptr_t pc);

/* Describes the blob around pc; false when there is none or it cannot be read. */
JW_SIGNAL_SAFE bool vm_code_find(uintptr_t pc, struct vm_blob *out);

/* True when pc lies in the interpreter; costs no load where the JVM tells its range. */
JW_SIGNAL_SAFE bool vm_code_is_interpreter(uintptr_t pc);

const char *vm_place_text(enum vm_place place); /* "itable stub"; any */

#endif
