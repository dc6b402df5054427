/* walk_vm_scopes_internal - the methods that stand at a pc of compiled code. Inline, as it is done for each frame. */
#ifndef JW_WALK_WALK_VM_SCOPES_INTERNAL_H
#define JW_WALK_WALK_VM_SCOPES_INTERNAL_H

#include "walk/walk_vm_internal.h"

/* The methods inlined at a scope, innermost first; or the outermost one alone. False: undescribed. */
JW_SIGNAL_SAFE static inline bool walk_vm_put_scopes(struct walk_vm *walk,
                                                     const struct vm_nmethod *nmethod,
                                                     uint32_t scope, bool is_outermost_only)
{
    struct vm_scope found;

    if (scope == VM_NO_SCOPE)
        return walk_vm_put(walk, JW_FRAME_COMPILED, nmethod->method,
                           walk_vm_bci_behind(walk, nmethod)) ||
               true;
    for (int depth = 0; depth < WALK_INLINED_MAX; depth++) {
        if (!vm_nmethod_scope(nmethod, scope, &found))
            return false;
        const bool is_outermost = found.sender == VM_NO_SCOPE;

        if (is_outermost && found.method != nmethod->method)
            return false;
        if ((is_outermost || !is_outermost_only) &&
            !walk_vm_put(walk, is_outermost ? JW_FRAME_COMPILED : JW_FRAME_INLINED, found.method,
                         found.bci))
            return true; /* as deep as wanted */
        if (is_outermost)
            return true;
        scope = found.sender;
    }
    return false;
}

/* The scope at the pc; a deoptimised frame, which returns into a handler, is described by the pc that it had before. `is_by_pc`:
 * by the pc alone, as a handler's, which is that of many frames, is not. */
JW_SIGNAL_SAFE static inline bool walk_vm_find_scope(const struct walk_vm *walk,
                                                     const struct vm_nmethod *nmethod,
                                                     uint32_t *scope, bool *is_by_pc)
{
    const uintptr_t pc = walk->regs.pc;

    *is_by_pc = false;
    switch (walk->position) {
    case WALK_AT_TOP:
        return vm_nmethod_scope_at(nmethod, pc, VM_PC_NEAR, scope);
    case WALK_AT_LEAF_CALL:
        return vm_nmethod_scope_at(nmethod, pc - 1, VM_PC_NEAR, scope);
    case WALK_AT_CALL:
    case WALK_AT_ANCHOR:
        break;
    }
    *is_by_pc = vm_nmethod_scope_at(nmethod, pc, VM_PC_EXACT, scope);
    if (*is_by_pc || walk_vm_find_described(nmethod, pc, walk->regs.sp, scope))
        return true;
    return walk->position == WALK_AT_ANCHOR &&
           vm_nmethod_scope_at(nmethod, pc - 1, VM_PC_NEAR, scope);
}

#endif
