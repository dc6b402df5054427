/*
 * vm_code - what a pc in the code cache belongs to.
 *
 * For      walking stacks: from a return address to the compiled method or stub that it lies in.
 * Callers  walk, sampler.   Context  handler.   Memory  none.
 */
#ifndef JW_VM_VM_CODE_H
#define JW_VM_VM_CODE_H

#include "vm/vm.h"

#define VM_CODE_HEAPS_MAX 8

/* What the pc was in; the names stand in jaywalk.WalkFailure. */
enum vm_place {
#define VM_PLACE(name, text) VM_PLACE_##name,
#include "vm/vm_places.def"
#undef VM_PLACE
    VM_PLACE_LIMIT
};

/* What a stub of the runtime (VM_PLACE_RUNTIME_STUB) is for, where a walk does not leave it as it leaves all others. */
enum vm_role {
    VM_ROLE_NONE,
    VM_ROLE_POLL_HANDLER, /* the JVM sends a thread there that a poll has stopped */
    VM_ROLE_UNPACKER,     /* takes a frame of compiled code apart into frames of the interpreter */
    VM_ROLE_UPCALL,       /* by it native code calls Java without the call stub */
};

struct vm_blob {
    enum vm_place place;
    enum vm_role role;
    vm_addr blob;
    uintptr_t code_begin, code_end;
    int32_t frame_complete_offset; /* of an nmethod, from code_begin; -1: never complete */
    int32_t frame_size_words;
};

/* True when pc lies in the code cache: interpreter, stubs and compiled methods. */
JW_SIGNAL_SAFE bool vm_code_contains(uintptr_t pc);

/* Describes the blob around pc; false when there is none or it cannot be read. */
JW_SIGNAL_SAFE bool vm_code_find(uintptr_t pc, struct vm_blob *out);

/* The heaps of the code cache as they are now: one look for all frames of a walk. */
struct vm_code_map {
    uintptr_t interpreter_begin, interpreter_end; /* 0: the JVM does not tell */
    uintptr_t highs[VM_CODE_HEAPS_MAX];           /* where what is committed ends; 0: not known */
    /* How often all looks together may still hop from segment to segment, so that a broken map does not make
     * a walk of thousands of frames long; each look alone is bounded, too. NULL: no more than that. */
    uint32_t *hops_left;
};

/* What a walk needs first of the blob around a pc. */
struct vm_code_ref {
    enum vm_place place;
    enum vm_role role;
    vm_addr blob;
};

JW_SIGNAL_SAFE void vm_code_map_read(struct vm_code_map *out);
JW_SIGNAL_SAFE bool vm_code_map_find(const struct vm_code_map *map, uintptr_t pc,
                                     struct vm_code_ref *out);

/* Whether there is a blob that begins just there, and it is of that kind: less than what finds it by any pc. */
JW_SIGNAL_SAFE bool vm_code_map_has(const struct vm_code_map *map, vm_addr blob,
                                    enum vm_place place);

/* Bytes of a frame of the blob, return address included; 0 when it has none. */
JW_SIGNAL_SAFE size_t vm_code_frame_bytes(vm_addr blob);

/* True when pc lies in the interpreter; costs no load where the JVM tells its range. */
JW_SIGNAL_SAFE bool vm_code_is_interpreter(uintptr_t pc);

const char *vm_place_text(enum vm_place place); /* "itable stub"; any */

#endif
