/* Native frames between pieces of Java frames, and below the outermost one; handler. */
#include "signals/signals.h"
#include "symbols/symbols.h"
#include "walk/walk_vm_internal.h"

/* Whether code of the JVM to which native frames led is that of the frame which the anchor tells of: the same piece of
 * code, behind a call, not above it on the stack. */
static JW_SIGNAL_SAFE bool is_joined(const struct walk_vm *walk, const struct arch_regs *regs,
                                     const struct vm_anchor *anchor)
{
    struct vm_code_ref here, there;

    if (anchor->sp == 0 || regs->sp > anchor->sp || !arch_is_behind_call(regs->pc))
        return false;
    if (vm_code_is_interpreter(regs->pc))
        return vm_code_is_interpreter(anchor->pc);
    return vm_code_map_find(&walk->map, regs->pc, &here) &&
           vm_code_map_find(&walk->map, anchor->pc, &there) && here.blob == there.blob;
}

/* Puts frames from these registers on, which are those behind a call. False: they led to no place that is proved. */
static JW_SIGNAL_SAFE bool put_down_to(struct walk_vm *walk, struct arch_regs *regs,
                                       const struct vm_anchor *anchor)
{
    const uintptr_t end = anchor->sp != 0 ? anchor->sp : walk->thread.stack_high;
    const struct symbols_snapshot *snapshot = symbols_enter();
    struct symbols_proof proof = {0};
    struct walk_native_state state = {0};
    bool is_whole = false;

    while (regs->sp <= end) {
        if (vm_code_contains(regs->pc)) {
            is_whole = is_joined(walk, regs, anchor);
            break;
        }
        is_whole =
            !walk_vm_put(walk, JW_FRAME_NATIVE,
                         (vm_addr)walk_of_pc(state.is_interrupted ? regs->pc : regs->pc - 1), 0);
        if (is_whole)
            break; /* as deep as wanted */
        if (!walk_native_step(snapshot, &proof, &state, regs)) {
            is_whole = anchor->sp == 0 && walk_native_is_root(snapshot, regs);
            break;
        }
    }
    symbols_leave(snapshot);
    return is_whole;
}

/* To the native code that called the stub. */
static JW_SIGNAL_SAFE bool leave(const struct walk_vm *walk, const struct vm_blob *blob,
                                 const struct vm_stub *stub, struct arch_regs *caller)
{
    *caller = walk->regs;
    return (blob == NULL ? arch_step_from_frame(caller)
                         : walk_step(blob->place, blob, stub, caller)) &&
           caller->sp > walk->regs.sp && !vm_code_contains(caller->pc) &&
           arch_is_behind_call(caller->pc);
}

bool walk_vm_put_native(struct walk_vm *walk, const struct vm_blob *blob,
                        const struct vm_stub *stub, const struct vm_anchor *anchor)
{
    const uint32_t faults_before = signals_load_faults();
    struct arch_regs caller;

    if (blob == NULL) /* an interrupted one is shown above all Java frames */
        (void)walk_vm_put(walk, JW_FRAME_NATIVE, (vm_addr)walk_of_pc(walk->regs.pc), 0);
    if (!leave(walk, blob, stub, &caller) || !put_down_to(walk, &caller, anchor))
        walk_vm_put_mark(walk, JW_MARK_NATIVE_MISSING);
    walk->result->native_faults += signals_load_faults() - faults_before;
    return !walk_vm_is_full(walk);
}
