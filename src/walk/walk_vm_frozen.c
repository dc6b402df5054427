/* A walk goes on among frames of a virtual thread that lie in the heap, and from there to its carrier; handler. */
#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

void walk_vm_stay_frozen(struct walk_vm *walk)
{
    walk->result->is_frozen = true;
    walk->result->is_truncated = false;
    walk->result->code = 0;
    walk->result->is_moving = false; /* the mark says it of all frames */
    walk->frame_count = walk->result->stack_frames;
    walk_vm_put_mark(walk, JW_MARK_FROZEN);
}

/* What lies there is another's when another thread is mounted: it is neither noted nor met again. */
static JW_SIGNAL_SAFE void leave_past(struct walk_vm *walk)
{
    walk->past_left = 0;
    walk->step = NULL;
    if (walk->cache != NULL)
        walk->cache->log.is_full = true;
}

static JW_SIGNAL_SAFE void begin_in_heap(struct walk_vm *walk)
{
    /* The code that brings frames back has taken them from where they lay, or will: which, it does not tell. */
    if (walk->frame_count == 0 && (walk->cache == NULL || !walk->cache->is_resumed)) {
        walk_vm_put_mark(walk, JW_MARK_THAWING);
        walk->result->is_moving = true;
    }
    walk->stack_low = walk->thread.stack_low;
    walk->stack_high = walk->thread.stack_high;
    walk->is_in_heap = walk->result->is_thawed = true;
}

bool walk_vm_thaw(struct walk_vm *walk)
{
    const enum vm_frozen_answer answer = walk->is_in_heap
                                             ? vm_frozen_next(&walk->frozen)
                                             : vm_frozen_first(&walk->thread, &walk->frozen);

    walk->has_left_stack = walk->result->is_virtual = true;
    if (!walk->is_in_heap)
        walk->result->stack_frames = walk->frame_count;
    if (walk->is_in_heap && answer == VM_FROZEN_NONE)
        return false;
    if (answer != VM_FROZEN_FOUND) {
        walk_vm_stay_frozen(walk);
        return false;
    }
    leave_past(walk);
    if (!walk->is_in_heap)
        begin_in_heap(walk);
    walk->thread.stack_low = walk->frozen.sp - 2 * WORD_BYTES;
    walk->thread.stack_high = walk->frozen.high;
    walk->regs =
        (struct arch_regs){.pc = walk->frozen.pc, .sp = walk->frozen.sp, .fp = walk->frozen.fp};
    walk->position = WALK_AT_CALL;
    walk->is_fp_by_size = false;
    walk->fp_slot = 0;
    return true;
}

uintptr_t walk_vm_frozen_fp(const struct walk_vm *walk)
{
    const uintptr_t slot = walk->fp_slot != 0 ? walk->fp_slot : walk->regs.sp - 2 * WORD_BYTES;

    return slot + walk->regs.fp * WORD_BYTES;
}

bool walk_vm_is_special_in_heap(const struct walk_vm *walk)
{
    return walk->regs.sp >= walk->frozen.end || (walk->regs.pc >= walk->map.interpreter_begin &&
                                                 walk->regs.pc < walk->map.interpreter_end);
}

/* Frames that are being frozen ------------------------------------------------------------------------ */

bool walk_vm_is_resumed(const struct walk_vm *walk, uintptr_t anchor_sp, vm_addr method)
{
    return walk->cache != NULL && walk->cache->is_resumed && walk->frame_count == 0 &&
           vm_continuation_is_left(&walk->thread, anchor_sp, method);
}

bool walk_vm_find_freezing(struct walk_vm *walk, uintptr_t anchor_sp, struct arch_regs *caller)
{
    if (!vm_continuation_is_left(&walk->thread, anchor_sp, 0) ||
        walk_vm_is_resumed(walk, anchor_sp, 0))
        return false;
    *caller = walk->regs;
    if (!walk_native_to_code_cache(caller, true) || caller->sp >= anchor_sp)
        return false;
    walk->left_sp = anchor_sp;
    return true;
}

/* The innermost frames stand on the stack, and in the heap already, above those that never left it. */
static JW_SIGNAL_SAFE bool are_shown_twice(const struct walk_vm *walk)
{
    const uint32_t first = walk->result->stack_frames;

    if (!walk->is_in_heap || first >= walk->frame_count)
        return false;
    /* The code that freezes is called by a native method, whose own frame is thrown away, or by the last that is kept. */
    for (uint32_t i = 0; i < 2 && i < first; i++)
        if (walk->frames[i].method == walk->frames[first].method)
            return true;
    return false;
}

static JW_SIGNAL_SAFE void leave_heap(struct walk_vm *walk)
{
    if (!walk->is_in_heap)
        return;
    walk->thread.stack_low = walk->stack_low;
    walk->thread.stack_high = walk->stack_high;
    walk->is_in_heap = false;
}

bool walk_vm_leave_freezing(struct walk_vm *walk, bool has_failed)
{
    struct vm_anchor anchor;

    if ((!has_failed && !are_shown_twice(walk)) || !vm_thread_anchor(&walk->thread, &anchor))
        return false;
    walk_vm_cache_forget(walk);
    leave_past(walk);
    leave_heap(walk);
    *walk->result = (struct walk_java_result){.walker = WALK_VM, .place = walk->result->place};
    walk->frame_count = walk->border = walk->empty_steps = walk->top_steps = 0;
    walk->left_sp = 0;
    walk->regs = (struct arch_regs){.pc = anchor.pc, .sp = anchor.sp, .fp = anchor.fp};
    walk->position = WALK_AT_ANCHOR;
    walk->is_fp_by_size = false;
    walk->fp_slot = 0;
    return true;
}

/* The carrier --------------------------------------------------------------------------------------- */

void walk_vm_note_freezing(struct walk_vm *walk, vm_addr method)
{
    if (!vm_continuation_is_left(&walk->thread, walk->regs.sp, method))
        return;
    walk_vm_put_mark(walk, JW_MARK_FREEZING);
    walk->result->is_moving = true;
}

bool walk_vm_put_border(struct walk_vm *walk)
{
    if (walk->cache == NULL || !walk->cache->with_carrier)
        return false;
    walk_vm_put_mark(walk, JW_MARK_CARRIER);
    walk->border = walk->frame_count;
    return !walk_vm_is_full(walk);
}

/* Where the method stands by which the thread left, none of its frames has been brought back yet. */
static JW_SIGNAL_SAFE void drop_needless_mark(struct walk_vm *walk)
{
    if (!walk->is_in_heap || !walk->result->is_moving || walk->frame_count < 2 ||
        !vm_continuation_is_yield((vm_addr)walk->frames[1].method))
        return;
    walk->result->is_moving = false;
    walk->frame_count--;
    for (uint32_t i = 0; i < walk->frame_count; i++)
        walk->frames[i] = walk->frames[i + 1];
}

bool walk_vm_go_to_carrier(struct walk_vm *walk)
{
    drop_needless_mark(walk);
    leave_heap(walk);
    if (walk->result->is_truncated || !walk_vm_put_border(walk))
        return false;
    leave_past(walk);
    if (!vm_continuation_caller(&walk->thread, &walk->regs)) {
        walk_vm_lose_carrier(walk);
        return false;
    }
    walk->position = WALK_AT_CALL;
    walk->is_fp_by_size = false;
    walk->fp_slot = 0;
    return true;
}

void walk_vm_lose_carrier(struct walk_vm *walk)
{
    walk->result->is_carrier_lost = true;
    walk->result->is_truncated = false;
    walk->result->code = 0;
    walk->frame_count = walk->border;
    walk_vm_put_mark(walk, JW_MARK_BROKEN_STACK);
    leave_past(walk);
}

bool walk_vm_give_up(struct walk_vm *walk)
{
    walk_vm_cache_forget(walk);
    if (walk->border > 0)
        walk_vm_lose_carrier(walk);
    else if (walk->is_in_heap)
        walk_vm_stay_frozen(walk);
    else
        return false;
    return true;
}
