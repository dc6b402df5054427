/* Where a frame's caller may be, and the proof that it is there; handler. */
#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* Words that compiled code or a stub may have pushed on top of its frame. */
#define PUSHED_WORDS_MAX 4

bool walk_vm_find_described(const struct vm_nmethod *nmethod, uintptr_t pc, uintptr_t sp,
                            uint32_t *scope)
{
    uintptr_t original_pc;

    return vm_nmethod_scope_at(nmethod, pc, VM_PC_EXACT, scope) ||
           (vm_nmethod_original_pc(nmethod->blob, pc, sp, &original_pc) &&
            vm_nmethod_scope_at(nmethod, original_pc, VM_PC_EXACT, scope));
}

static JW_SIGNAL_SAFE bool is_proved(const struct walk_vm *walk, const struct arch_regs *regs)
{
    struct vm_code_ref ref;
    struct vm_nmethod nmethod;
    struct vm_interpreted frame;
    struct vm_anchor anchor;
    uint32_t scope;

    if (!walk_vm_is_on_stack(walk, regs->sp) || !vm_code_contains(regs->pc))
        return false;
    if (vm_code_is_interpreter(regs->pc))
        return walk_vm_is_on_stack(walk, regs->fp) && regs->fp >= regs->sp &&
               vm_interpreted_read(regs->fp, 0, &frame);
    /* What is remembered of a return address was described by the compiler. */
    if (walk->cache != NULL && walk_vm_cache_find(walk, regs->pc) != NULL)
        return true;
    if (!vm_code_map_find(&walk->map, regs->pc, &ref))
        return false;
    /* The end of a virtual thread's stack: no other native method calls Java. */
    if (ref.place == VM_PLACE_NATIVE_WRAPPER)
        return arch_is_behind_call(regs->pc);
    if (walk_vm_is_barrier(vm_stub_find(regs->pc)))
        return true;
    if (ref.place == VM_PLACE_STUB)
        return vm_is_entry_return(regs->pc) && vm_entry_anchor(regs->fp, &anchor);
    return ref.place == VM_PLACE_NMETHOD && vm_nmethod_read(ref.blob, &nmethod) &&
           walk_vm_find_described(&nmethod, regs->pc, regs->sp, &scope);
}

bool walk_vm_is_proved(const struct walk_vm *walk, const struct arch_regs *regs)
{
    return is_proved(walk, regs);
}

size_t walk_vm_saved_bytes(const struct walk_vm *walk)
{
    struct vm_blob blob;

    return vm_code_find(walk->regs.pc, &blob) ? arch_saved_bytes(walk->regs.pc, blob.code_end) : 0;
}

bool walk_vm_caller_below_saved(const struct walk_vm *walk, size_t frame_bytes,
                                struct arch_regs *caller)
{
    const size_t saved_bytes = frame_bytes == 0 ? 0 : walk_vm_saved_bytes(walk);

    return saved_bytes != 0 && walk_vm_caller_by_size(walk, frame_bytes + saved_bytes, caller) &&
           is_proved(walk, caller);
}

/* False where the call before this return address is one of another method's code than `blob`. */
static JW_SIGNAL_SAFE bool may_have_called(const struct walk_vm *walk, uintptr_t return_pc,
                                           vm_addr blob)
{
    const uintptr_t target = arch_call_target(return_pc);
    struct vm_code_ref ref;

    return target == 0 || !vm_code_map_find(&walk->map, target, &ref) || ref.blob == blob ||
           (ref.place != VM_PLACE_NMETHOD && ref.place != VM_PLACE_NATIVE_WRAPPER);
}

/* As below, where words are pushed so often that what an earlier call left in the frame is met: the first that may have called
 * this code, else the first. */
static JW_SIGNAL_SAFE bool caller_below_x87(const struct walk_vm *walk, size_t frame_bytes,
                                            struct arch_regs *caller)
{
    struct arch_regs first;
    struct vm_code_ref own;
    bool is_found = false;

    if (!vm_code_map_find(&walk->map, walk->regs.pc, &own))
        return false;
    for (size_t pushed = 0; pushed <= PUSHED_WORDS_MAX && frame_bytes != 0; pushed++) {
        if (!walk_vm_caller_by_size(walk, frame_bytes + pushed * WORD_BYTES, caller))
            break;
        if (is_proved(walk, caller)) {
            if (may_have_called(walk, caller->pc, own.blob))
                return true;
            if (!is_found)
                first = *caller;
            is_found = true;
        } else if (vm_code_contains(caller->pc)) {
            break;
        }
    }
    if (is_found)
        *caller = first;
    return is_found;
}

/* The caller of a frame of this size, on which the code may have pushed a few words. `is_fp_kept`: of code that leaves its caller's frame
 * pointer where it is, which must then be the one that it saved. */
static JW_SIGNAL_SAFE bool caller_below_words(const struct walk_vm *walk, size_t frame_bytes,
                                              bool is_fp_kept, struct arch_regs *caller)
{
    if (!is_fp_kept && vm_computes_by_x87())
        return caller_below_x87(walk, frame_bytes, caller);
    for (size_t pushed = 0; pushed <= PUSHED_WORDS_MAX && frame_bytes != 0; pushed++) {
        if (!walk_vm_caller_by_size(walk, frame_bytes + pushed * WORD_BYTES, caller))
            return false;
        if (is_fp_kept && caller->fp != walk->regs.fp)
            continue;
        if (is_proved(walk, caller))
            return true;
        /* Nothing was pushed, then, and the guess would go on to the caller's caller. */
        if (vm_code_contains(caller->pc))
            return false;
    }
    return false;
}

bool walk_vm_caller_below_pushed(const struct walk_vm *walk, vm_addr nmethod,
                                 struct arch_regs *caller)
{
    const size_t frame_bytes = vm_code_frame_bytes(nmethod);
    const bool is_top = walk->position == WALK_AT_TOP;

    /* At a call of a stub the frame pointer is as the code has left it: what says nothing is asked without it. */
    if (vm_nmethod_is_c1(nmethod) && (is_top || walk->position == WALK_AT_LEAF_CALL) &&
        caller_below_words(walk, frame_bytes, true, caller))
        return true;
    return !(is_top && vm_nmethod_is_c1(nmethod)) &&
           caller_below_words(walk, frame_bytes, false, caller);
}

bool walk_vm_caller_below_all(const struct walk_vm *walk, vm_addr blob, struct arch_regs *caller)
{
    if (!vm_computes_by_x87() || !vm_nmethod_is_c1(blob))
        return false;
    const size_t frame_bytes = vm_code_frame_bytes(blob);
    const size_t pushed_bytes = arch_pushed_all_bytes(walk->regs.sp, walk->regs.fp);

    return pushed_bytes != 0 && frame_bytes != 0 &&
           walk_vm_caller_by_size(walk, frame_bytes + pushed_bytes, caller) &&
           caller->fp == walk->regs.fp && is_proved(walk, caller);
}

/* As is_proved; and a call of this very stub is one, though the compiler need not have described it. */
static JW_SIGNAL_SAFE bool is_call_proved(const struct walk_vm *walk, const struct vm_blob *blob,
                                          const struct vm_stub *stub, const struct arch_regs *regs,
                                          enum walk_position *position)
{
    struct vm_code_ref ref;

    *position = WALK_AT_CALL;
    if (is_proved(walk, regs))
        return true;
    *position = WALK_AT_LEAF_CALL;
    return walk_vm_is_on_stack(walk, regs->sp) && vm_code_contains(regs->pc) &&
           (arch_is_call_of(regs->pc, blob->code_begin) ||
            (stub != NULL && arch_is_call_of(regs->pc, stub->begin))) &&
           vm_code_map_find(&walk->map, regs->pc, &ref) && ref.place == VM_PLACE_NMETHOD;
}

/* Code in which a walk can begin as well as at the jump to it: the same registers will stand there. */
static JW_SIGNAL_SAFE bool is_jumped_to(const struct walk_vm *walk, const struct arch_regs *regs)
{
    struct vm_code_ref ref;

    return walk->position == WALK_AT_TOP && walk_vm_is_on_stack(walk, regs->sp) &&
           !vm_code_is_interpreter(regs->pc) && vm_code_map_find(&walk->map, regs->pc, &ref) &&
           ref.place != VM_PLACE_ADAPTER;
}

bool walk_vm_follow_stub(const struct walk_vm *walk, const struct vm_blob *blob,
                         const struct vm_stub *stub, struct arch_regs *caller,
                         enum walk_position *position)
{
    const bool is_whole = blob->place == VM_PLACE_RUNTIME_STUB;
    const void *const ucontext = walk->position == WALK_AT_TOP ? walk->ucontext : NULL;
    struct arch_way way;

    if ((!is_whole &&
         (blob->place != VM_PLACE_STUB || stub == NULL || stub->setup_offset != ARCH_NO_FRAME)) ||
        !arch_follow(ucontext, &walk->regs, is_whole ? blob->code_begin : stub->begin,
                     is_whole ? blob->code_end : stub->end, &way))
        return false;
    *caller = way.regs;
    if (caller->sp < walk->regs.sp)
        return false;
    if (is_call_proved(walk, blob, stub, caller, position))
        return true;
    if (way.is_return && walk_vm_is_on_stack(walk, caller->sp) && vm_code_contains(caller->pc) &&
        arch_is_behind_call(caller->pc))
        return true;
    /* A handler of polls returns behind the poll, which no call stands before. */
    *position = WALK_AT_TOP;
    return way.is_sure && is_jumped_to(walk, caller);
}

bool walk_vm_caller_of_stub(const struct walk_vm *walk, const struct vm_blob *blob,
                            const struct vm_stub *stub, struct arch_regs *caller,
                            enum walk_position *position)
{
    const size_t frame_bytes = vm_code_frame_bytes(blob->blob);
    const uintptr_t fp_bytes = walk->regs.fp - walk->regs.sp;
    const bool has_setup = stub != NULL && stub->setup_offset != ARCH_NO_FRAME;

    /* The likeliest first. A frame of the right size between both pointers; where a stub sets none up, because it goes on
     * with that of another, the frame pointer counts. */
    *caller = walk->regs;
    if (frame_bytes > 2 * WORD_BYTES &&
        (fp_bytes == frame_bytes - 2 * WORD_BYTES ||
         (!has_setup && fp_bytes < frame_bytes - 2 * WORD_BYTES)) &&
        arch_step_from_frame(caller) && is_call_proved(walk, blob, stub, caller, position))
        return true;
    /* The frame that the blob tells of, then what its code says. */
    if (blob->frame_complete_offset >= 0 &&
        walk->regs.pc - blob->code_begin >= (uintptr_t)blob->frame_complete_offset &&
        walk_vm_caller_by_size(walk, frame_bytes, caller) &&
        is_call_proved(walk, blob, stub, caller, position))
        return true;
    *caller = walk->regs;
    if (walk_step(blob->place, blob, stub, caller) &&
        is_call_proved(walk, blob, stub, caller, position))
        return true;
    /* That of the simplest stubs (exceptions, traps): two words, below which the frame pointer is still the caller's. */
    if (!has_setup && frame_bytes == 2 * WORD_BYTES &&
        walk_vm_caller_by_size(walk, frame_bytes, caller) &&
        is_call_proved(walk, blob, stub, caller, position))
        return true;
    *caller = walk->regs;
    if (arch_step_from_frame(caller) && is_call_proved(walk, blob, stub, caller, position))
        return true;
    *caller = walk->regs;
    if (arch_step_from_entry(caller)) {
        if (is_call_proved(walk, blob, stub, caller, position))
            return true;
        /* On top lies a return address that nothing describes: a stub that handles an exception has put the handler's
         * there. What lies behind it is not the caller, whatever can be proved of it. */
        if (vm_code_contains(caller->pc))
            return false;
    }
    *position = WALK_AT_CALL;
    return caller_below_words(walk, 2 * WORD_BYTES, false, caller) ||
           caller_below_words(walk, frame_bytes, false, caller);
}

bool walk_vm_thrower_of_stub(const struct walk_vm *walk, const struct vm_blob *blob,
                             const struct vm_stub *stub, struct arch_regs *caller)
{
    /* Many generated stubs lie in one blob, which has no begin of interest. */
    const bool is_whole = blob->place == VM_PLACE_RUNTIME_STUB;

    *caller = walk->regs;
    return walk->position == WALK_AT_TOP && walk->ucontext != NULL && (is_whole || stub != NULL) &&
           arch_step_exception(walk->ucontext, caller, is_whole ? blob->code_begin : stub->begin,
                               is_whole ? blob->code_end : stub->end) &&
           is_proved(walk, caller);
}

/* An anchor that tells of frames further out, or that there are none. */
static JW_SIGNAL_SAFE bool is_sound(const struct walk_vm *walk, const struct vm_anchor *anchor)
{
    return anchor->sp == 0 ||
           (anchor->sp > walk->regs.sp && walk_vm_is_on_stack(walk, anchor->sp) &&
            vm_code_contains(anchor->pc));
}

/* The stub's frame is where the frame pointer says: at its return that is its caller's again. */
static JW_SIGNAL_SAFE bool has_own_frame(const struct walk_vm *walk, const struct vm_stub *stub)
{
    struct arch_regs by_code = walk->regs, by_frame = walk->regs;

    return arch_step_stub(&by_code, stub->begin, stub->setup_offset, stub->end) &&
           arch_step_from_frame(&by_frame) && by_code.sp == by_frame.sp;
}

bool walk_vm_call_stub_anchor(const struct walk_vm *walk, const struct vm_stub *stub,
                              struct vm_anchor *anchor)
{
    if (walk->position != WALK_AT_TOP || walk->ucontext == NULL || stub == NULL ||
        !vm_is_entry_stub(stub->begin, stub->end))
        return false;
    const uintptr_t fp = has_own_frame(walk, stub) ? walk->regs.fp : 0; /* 0: of none */

    return vm_call_stub_anchor(stub->begin, walk->regs.pc, fp, arch_first_argument(walk->ucontext),
                               anchor) &&
           is_sound(walk, anchor);
}

bool walk_vm_upcall_anchor(const struct walk_vm *walk, vm_addr blob, struct vm_anchor *anchor)
{
    return vm_upcall_anchor(blob, walk->regs.sp, anchor) && is_sound(walk, anchor);
}

int32_t walk_vm_bci_behind(const struct walk_vm *walk, const struct vm_nmethod *nmethod)
{
    struct vm_scope found = {.sender = VM_NO_SCOPE};

    if (walk->position != WALK_AT_TOP ||
        !vm_nmethod_scope_before(nmethod, walk->regs.pc, &found.sender))
        return JW_BCI_UNKNOWN;
    for (int depth = 0; depth < WALK_INLINED_MAX && found.sender != VM_NO_SCOPE; depth++) {
        if (!vm_nmethod_scope(nmethod, found.sender, &found))
            return JW_BCI_UNKNOWN;
    }
    return found.sender == VM_NO_SCOPE && found.method == nmethod->method ? found.bci
                                                                          : JW_BCI_UNKNOWN;
}

bool walk_vm_step_from_edge(const struct walk_vm *walk, struct vm_blob *blob,
                            struct arch_regs *caller)
{
    *caller = walk->regs;
    return walk->position == WALK_AT_TOP && vm_code_find(walk->regs.pc, blob) &&
           walk_step(blob->place, blob, NULL, caller);
}
