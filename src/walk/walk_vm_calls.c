/* Calls between Java, and from native code, that are under way: nobody has a frame of its own; handler. */
#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* From where a call's arguments end down to where they begin: a method has 255 of them, and as many locals as fit. */
#define SENDER_BYTES_MAX ((uintptr_t)65536 * WORD_BYTES)

/* The caller's stack pointer as the call left it in a register. */
static JW_SIGNAL_SAFE bool find_sender(const struct walk_vm *walk, struct arch_sender *out)
{
    if (walk->position != WALK_AT_TOP || walk->ucontext == NULL)
        return false;
    arch_sender_read(walk->ucontext, out);
    return out->sp >= walk->regs.sp && out->sp - walk->regs.sp <= SENDER_BYTES_MAX &&
           walk_vm_is_on_stack(walk, out->sp);
}

static JW_SIGNAL_SAFE bool is_caller(const struct walk_vm *walk, uintptr_t sp, uintptr_t pc,
                                     struct arch_regs *caller)
{
    *caller = (struct arch_regs){.sp = sp, .fp = walk->regs.fp, .pc = pc};
    return walk_vm_is_proved(walk, caller);
}

/* The same, if the word at `addr` is where it is returned to. */
static JW_SIGNAL_SAFE bool is_caller_by(const struct walk_vm *walk, uintptr_t sp, uintptr_t addr,
                                        struct arch_regs *caller)
{
    uintptr_t pc;

    return safe_load_word(addr, &pc) && is_caller(walk, sp, pc, caller);
}

/* While it lies nowhere but where the call has put it, and in the register into which it was popped from there. */
static JW_SIGNAL_SAFE bool is_caller_popped(const struct walk_vm *walk,
                                            const struct arch_sender *sender,
                                            struct arch_regs *caller)
{
    uintptr_t pc;

    return safe_load_word(sender->sp - WORD_BYTES, &pc) && pc == sender->pc &&
           is_caller(walk, sender->sp, pc, caller);
}

bool walk_vm_caller_of_adapter(const struct walk_vm *walk, const struct vm_blob *blob,
                               struct arch_regs *caller)
{
    const uintptr_t sp = walk->regs.sp;
    const bool is_top = walk->position == WALK_AT_TOP;
    struct arch_sender sender;

    if (blob->place != VM_PLACE_ADAPTER || walk->ucontext == NULL)
        return false;
    *caller = walk->regs;
    if (arch_step_adapter(walk->ucontext, caller, blob->code_begin, !is_top))
        return walk_vm_is_proved(walk, caller);
    if (!is_top)
        return false;
    /* The return address is on top; on the way there, it is where the call has put it, or in a register. */
    const enum arch_sender_kind kind = arch_sender_in(blob->code_begin, walk->regs.pc);
    const bool is_found = kind != ARCH_SENDER_NONE && find_sender(walk, &sender);
    if (is_found && kind == ARCH_SENDER_ENTRY)
        return is_caller_by(walk, sender.sp + WORD_BYTES, sender.sp, caller);
    if (is_found)
        return is_caller_popped(walk, &sender, caller) ||
               is_caller_by(walk, sender.sp, sp, caller) ||
               is_caller_by(walk, sender.sp, sender.sp - WORD_BYTES, caller);
    arch_sender_read(walk->ucontext, &sender);
    return is_caller_by(walk, sp + WORD_BYTES, sp, caller) ||
           is_caller(walk, sp, sender.pc, caller);
}

bool walk_vm_follow_interpreter(const struct walk_vm *walk, struct arch_regs *caller)
{
    struct arch_way way;

    if (!vm_code_is_interpreter(caller->pc) ||
        !arch_follow(walk->ucontext, caller, walk->map.interpreter_begin, walk->map.interpreter_end,
                     &way) ||
        way.is_frame_left || way.regs.sp <= walk->regs.sp || !walk_vm_is_proved(walk, &way.regs))
        return false;
    *caller = way.regs;
    return true;
}

void walk_vm_go_on_at(struct walk_vm *walk, struct arch_regs *at, enum walk_position position)
{
    const bool is_caller = position == WALK_AT_LEAF_CALL && walk_vm_follow_interpreter(walk, at);

    walk->regs = *at;
    walk->position = is_caller ? WALK_AT_CALL : position;
    walk->is_fp_by_size = false;
    walk->fp_slot = 0;
}

void walk_vm_leave_entry(struct walk_vm *walk)
{
    const uintptr_t sp = walk->regs.sp;
    struct arch_regs caller = walk->regs;
    struct arch_sender sender;

    if (walk->position == WALK_AT_TOP && walk->ucontext != NULL &&
        arch_step_interpreted_edge(walk->ucontext, &caller) && walk_vm_is_proved(walk, &caller)) {
        walk->regs = caller;
        walk->position = WALK_AT_CALL;
        return;
    }
    /* Compiled code returns with the stack pointer as it was aligned: on top may lie what any earlier call left there. */
    if (!find_sender(walk, &sender) || (walk->regs.fp >= sp && walk->regs.fp < sender.sp) ||
        vm_interpreted_is_reentered(walk->regs.pc))
        return;
    /* While room for locals is made, the return address is in a register. */
    if ((sender.sp > sp && is_caller_by(walk, sender.sp, sp, &caller)) ||
        (sender.sp > sp + WORD_BYTES && is_caller_by(walk, sender.sp, sp + WORD_BYTES, &caller)) ||
        is_caller(walk, sender.sp, sender.pc, &caller)) {
        walk->regs = caller;
        walk->position = WALK_AT_CALL;
    }
}

bool walk_vm_caller_at_poll(const struct walk_vm *walk, const struct vm_blob *blob,
                            struct arch_regs *caller)
{
    uintptr_t poll_pc;

    *caller = walk->regs;
    return blob->role == VM_ROLE_POLL_HANDLER && walk->position == WALK_AT_TOP &&
           vm_thread_fault_pc(&walk->thread, &poll_pc) &&
           arch_step_poll(caller, poll_pc, blob->code_begin, blob->code_end) &&
           walk_vm_is_proved(walk, caller);
}

bool walk_vm_unwound_anchor(const struct walk_vm *walk, const struct vm_blob *blob,
                            const struct vm_stub *stub, struct vm_anchor *anchor)
{
    struct arch_regs caller = walk->regs;

    if (walk->position != WALK_AT_TOP || stub == NULL ||
        !vm_is_entry_stub(stub->begin, stub->end) || !walk_step(blob->place, blob, stub, &caller) ||
        caller.sp < walk->regs.sp || vm_code_contains(caller.pc) || !arch_is_behind_call(caller.pc))
        return false;
    if (walk_native_to_code_cache(&caller, false))
        *anchor = (struct vm_anchor){.sp = caller.sp, .pc = caller.pc, .fp = caller.fp};
    else if (walk_native_ended_at_root(&caller))
        *anchor = (struct vm_anchor){0};
    else
        return false;
    return true;
}
