/* A compiled frame that is being taken apart: from the JVM's stub that does it to its caller; handler. */
#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* Goes to the caller of the frame at `caller`, if it is one of the interpreter that was laid out. Each lies above the one before, its end
 * included: so a chain of them ends. */
static JW_SIGNAL_SAFE bool pass_bare(const struct walk_vm *walk, struct arch_regs *caller)
{
    struct vm_interpreted frame;

    if (!walk_vm_is_on_stack(walk, caller->fp) || caller->fp < caller->sp ||
        !vm_interpreted_read_bare(caller->fp, &frame))
        return false;
    *caller =
        (struct arch_regs){.pc = frame.caller_pc, .sp = frame.caller_sp, .fp = frame.caller_fp};
    return true;
}

/* The number of frames that were passed over. */
static JW_SIGNAL_SAFE uint32_t pass_all(const struct walk_vm *walk, struct arch_regs *caller)
{
    uint32_t count = 0;

    while (count < WALK_INLINED_MAX && vm_code_is_interpreter(caller->pc) &&
           pass_bare(walk, caller))
        count++;
    return count;
}

/* All are laid out, on the caller of the stub's own frame, and are being filled in. */
static JW_SIGNAL_SAFE bool caller_of_laid(const struct walk_vm *walk, size_t stub_bytes,
                                          struct arch_regs *caller)
{
    return walk_vm_caller_by_size(walk, stub_bytes, caller) && pass_all(walk, caller) > 0 &&
           walk_vm_is_proved(walk, caller);
}

/*
 * The stub itself is laying them out, from the outermost to the innermost: where the next one's caller ends, and the frame pointer, are all
 * that tells. That is the one of a frame below that end, of which the words on both sides are there; or of the frame above, which is whole; or the
 * caller's, to which the return address lies where the compiled frame had it.
 */
static JW_SIGNAL_SAFE bool caller_of_next(const struct walk_vm *walk, const struct vm_blob *blob,
                                          struct arch_regs *caller)
{
    struct arch_regs next = walk->regs;

    if (walk->position != WALK_AT_TOP || walk->ucontext == NULL ||
        !arch_step_laying(walk->ucontext, &next, blob->code_begin, blob->code_end) ||
        next.sp < walk->regs.sp || !walk_vm_is_on_stack(walk, next.sp))
        return false;
    *caller = next;
    if (next.fp >= walk->regs.sp && next.fp < next.sp) {
        caller->sp = next.fp;
        if (!arch_step_from_frame(caller))
            return false;
        caller->sp = next.sp;
    } else if (!pass_bare(walk, caller) && !safe_load_word(next.sp - WORD_BYTES, &caller->pc)) {
        return false;
    }
    (void)pass_all(walk, caller);
    return walk_vm_is_proved(walk, caller);
}

bool walk_vm_leave_unpacker(struct walk_vm *walk, const struct vm_blob *blob)
{
    struct arch_regs caller;

    const size_t stub_bytes = vm_code_frame_bytes(blob->blob);
    /* Without an anchor (JDK 17, while frames are filled in) the stack pointer is that of the stub's call, for which it was aligned. */
    if (!caller_of_next(walk, blob, &caller) && !caller_of_laid(walk, stub_bytes, &caller) &&
        (walk->position == WALK_AT_ANCHOR ||
         !caller_of_laid(walk, stub_bytes + WORD_BYTES, &caller)))
        return false;
    walk_vm_put_mark(walk, JW_MARK_UNPACKING);
    walk->regs = caller;
    walk->position = WALK_AT_CALL;
    walk->is_fp_by_size = false;
    walk->fp_slot = 0;
    return true;
}
