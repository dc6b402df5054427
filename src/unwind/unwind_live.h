/*
 * unwind_live - libunwind in handlers: native frames of the interrupted thread by a sealed copy of it.
 *
 * For      cstack=libunwind: who compares profilers, or does not believe our rows.
 * Callers  walk (the handler's part), agent (the rest).
 * Context  unwind_live_open: control, with no engine running. unwind_live_has_stack, _begin, _step, _end: handler. unwind_live_is_off: any
 *          but handler.
 * Memory   static: 32 rooms for a walk each.
 * Progress unwind_live_begin wait-free: where no room is free there is no walk.
 *
 * It sees registers of the signal's context, memory by contained loads, and descriptions of those libraries that the snapshot knows. Each step
 * is a guarded call: a fault inside of the copy ends the step, and libunwind is not called any more for the life of the process.
 */
#ifndef JW_UNWIND_UNWIND_LIVE_H
#define JW_UNWIND_UNWIND_LIVE_H

#include "arch/arch.h"
#include "base/jw.h"

struct symbols_snapshot;
struct unwind_live;

/* False, and why: what is built here has no libunwind for handlers. */
JW_MUST_CHECK bool unwind_live_open(struct jw_error *err);

/* Whether there is as much stack as a step needs (arch_facts.unwind_stack_bytes), on an alternate stack or down to where this one ends. */
JW_SIGNAL_SAFE bool unwind_live_has_stack(const void *ucontext);

/* A walk from the interrupted registers on. NULL: none can be had. Each one has to be ended. */
JW_SIGNAL_SAFE struct unwind_live *unwind_live_begin(const void *ucontext,
                                                     const struct symbols_snapshot *snapshot);
JW_SIGNAL_SAFE void unwind_live_end(struct unwind_live *live);

/*
 * Leaves a frame: pc and sp of `regs` are the caller's then, pc 0 behind the thread's first function. `is_exact`: the caller was
 * interrupted there, and made no call. False: no way is known.
 */
JW_SIGNAL_SAFE bool unwind_live_step(struct unwind_live *live, struct arch_regs *regs,
                                     bool *is_exact);

/* Behind a step out of a frame whose description has its CFA too low by so much: symbols.h, SYMBOLS_RAISED_BYTES. */
JW_SIGNAL_SAFE void unwind_live_raise(struct unwind_live *live, struct arch_regs *regs,
                                      uint32_t size_bytes);

/*
 * Goes on at a frame that was found otherwise: who called code that is not described. `regs` are those of the caller, pc where the call
 * returns to; all other registers are those that were interrupted. False: it does not begin there.
 */
JW_SIGNAL_SAFE bool unwind_live_resume(struct unwind_live *live, const struct arch_regs *regs);

/* True when it is not called any more, and why. */
bool unwind_live_is_off(struct jw_error *why);

#endif
