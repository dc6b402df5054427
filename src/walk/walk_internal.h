/* walk_internal - shared by the steppers of room walk. */
#ifndef JW_WALK_WALK_INTERNAL_H
#define JW_WALK_WALK_INTERNAL_H

#include "arch/arch.h"
#include "vm/vm_stub.h"
#include "walk/walk.h"

/* Steps out of native frames until the pc lies in the code cache; false when it never does. Not `is_interrupted`: at a return address. */
JW_SIGNAL_SAFE bool walk_native_to_code_cache(struct arch_regs *regs, bool is_interrupted);
/* Of registers to which that led in vain: whether they are those of the thread's first function. */
JW_SIGNAL_SAFE bool walk_native_ended_at_root(const struct arch_regs *regs);

/*
 * Native frames from these registers on, which lie outside the code cache: as walk_native. `ucontext` has further registers, on
 * which frames of single functions hang; NULL: they are not known.
 */
JW_SIGNAL_SAFE uint32_t walk_native_frames(const void *ucontext, struct arch_regs *regs,
                                           enum walk_native_by by, uintptr_t *pcs,
                                           uint32_t depth_max, struct walk_landmark *mark,
                                           enum walk_native_end *end);

/* What a step goes by besides the registers; zeroed, of a frame that waits for a call. */
struct walk_native_state {
    bool is_interrupted;  /* regs->pc is no return address, and all of the registers are known */
    uint8_t kept;         /* where the register is that struct symbols_rule calls kept */
    uintptr_t kept_addr;  /* where it is on the stack */
    const void *ucontext; /* of the frame walked first; NULL: other registers are not known */
};

/* Leaves one frame. `proof`: of the frame before, zeroed at first. And whether it is a thread's first, which cannot be left. */
struct symbols_snapshot;
struct symbols_proof;
JW_SIGNAL_SAFE bool walk_native_step(const struct symbols_snapshot *snapshot,
                                     struct symbols_proof *proof, struct walk_native_state *state,
                                     struct arch_regs *regs);
JW_SIGNAL_SAFE bool walk_native_is_root(const struct symbols_snapshot *snapshot,
                                        const struct arch_regs *regs);

/* What the pc lies in, with blob and stub where there are any. */
JW_SIGNAL_SAFE enum vm_place walk_place_of(uintptr_t pc, struct vm_blob *blob,
                                           const struct vm_stub **stub);

/* Enough to tell the tier of a frame that was found, without looking at the blob: half of what a
 * sample of compiled code would otherwise touch. */
JW_SIGNAL_SAFE enum vm_place walk_quick_place_of(uintptr_t pc);

/*
 * Steps `regs` to the caller of the code at its pc, which has no frame yet or no longer, or is a stub or
 * native code. False when no rule applies. The result's pc is a return address.
 */
JW_SIGNAL_SAFE bool walk_step(enum vm_place place, const struct vm_blob *blob,
                              const struct vm_stub *stub, struct arch_regs *regs);

/* False: AsyncGetCallTrace cannot be used here, and why. Context: control. */
JW_MUST_CHECK bool walk_agct_open(char *reason, size_t room_bytes);

/* The walkers, each with the contract of walk_java, but that failures are not counted. `with_carrier`: as in the cache. */
JW_SIGNAL_SAFE void walk_java_agct(const void *ucontext, void *env, bool with_carrier,
                                   struct vm_call_frame *frames, uint32_t depth_max,
                                   struct walk_java_result *out);
JW_SIGNAL_SAFE void walk_java_vm(const void *ucontext, void *env, struct walk_cache *cache,
                                 struct vm_call_frame *frames, uint32_t depth_max,
                                 struct walk_java_result *out);

#endif
