/* The innermost steps of a hook's walk, and the stack that is, all of it, the one before; handler. */
#include "walk/walk_vm_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* Who leaves Java elsewhere each time notes no more than where. */
void walk_vm_top_begin(struct walk_vm *walk, const struct vm_anchor *anchor)
{
    const struct walk_top *before = walk->cache->top;
    struct walk_top *top = walk->top;

    top->next_sp =
        before->anchor_sp == anchor->sp && before->anchor_pc == anchor->pc ? anchor->sp : 0;
    top->anchor_sp = anchor->sp;
    top->anchor_pc = anchor->pc;
    top->anchor_fp = anchor->fp;
    top->stub = 0;
    top->word_count = top->pin_count = top->frame_count = 0;
}

/* The caller of a frame of known size is two words. */
static JW_SIGNAL_SAFE void note_caller(struct walk_top *top, const struct arch_regs *caller)
{
    top->words[top->word_count++] = (struct arch_word){caller->sp - WORD_BYTES, caller->pc};
    top->words[top->word_count++] = (struct arch_word){caller->sp - 2 * WORD_BYTES, caller->fp};
}

void walk_vm_top_stub(struct walk_vm *walk, vm_addr stub, const struct arch_regs *caller)
{
    struct walk_top *top = walk->top;

    if (top->next_sp != walk->regs.sp || top->word_count != 0) {
        top->next_sp = 0;
        return;
    }
    top->stub = stub;
    top->stub_bytes = caller->sp - walk->regs.sp;
    top->next_sp = caller->sp;
    note_caller(top, caller);
}

static JW_SIGNAL_SAFE void note_pin(struct walk_vm *walk, const struct walk_cached *entry)
{
    walk->top->pins[walk->top->pin_count++] = walk->cache->log.pins[entry->pin];
}

/* Both places were looked at in this walk, so what they are pinned by is in its log. */
void walk_vm_top_code(struct walk_vm *walk, const struct walk_cached *entry,
                      const struct arch_regs *caller)
{
    struct walk_top *top = walk->top;
    const struct walk_cached *calling =
        top->next_sp == walk->regs.sp ? walk_vm_cache_find(walk, caller->pc) : NULL;

    if (walk->frame_count != 0 || top->pin_count != 0 || calling == NULL ||
        entry->pin == WALK_NO_PIN || calling->pin == WALK_NO_PIN) {
        top->next_sp = 0;
        return;
    }
    note_caller(top, caller);
    note_pin(walk, entry);
    note_pin(walk, calling);
    top->frame_count = entry->frame_count;
    for (uint32_t i = 0; i < entry->frame_count; i++)
        top->frames[i] = entry->frames[i];
}

/* Where the walk met its past before it noted a step, that past stays as it is. */
void walk_vm_top_end(struct walk_vm *walk)
{
    struct walk_top *top = walk->top;
    const struct walk_java_result *result = walk->result;

    if (top->next_sp == 0)
        return;
    top->is_sure = top->pin_count != 0 && result->past_frames > 0 &&
                   result->frame_count == top->frame_count && walk->cache->log.step_count == 0 &&
                   !result->is_truncated && !result->is_moving;
    if (!top->is_sure)
        return;
    /* The last one is most often that of the past's innermost step, too. */
    const struct walk_past *past = walk->cache->past;
    const struct walk_pin *calling = &top->pins[top->pin_count - 1];
    if (past->pin_count > 0 && walk_vm_is_same_pin(calling, &past->pins[past->pin_count - 1]))
        top->pin_count--;
    top->is_virtual = result->is_virtual;
    top->stub_pc = result->stub_pc;
}

static JW_SIGNAL_SAFE bool is_same_stub(const struct vm_code_map *map, const struct walk_top *top)
{
    struct vm_code_ref ref;

    return top->stub == 0 ||
           (vm_code_map_find(map, top->anchor_pc, &ref) && ref.blob == top->stub &&
            ref.place == VM_PLACE_RUNTIME_STUB && ref.role != VM_ROLE_UPCALL &&
            ref.role != VM_ROLE_UNPACKER && vm_code_frame_bytes(ref.blob) == top->stub_bytes);
}

static JW_SIGNAL_SAFE bool are_pinned(const struct vm_code_map *map, const struct walk_pin *pins,
                                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!walk_vm_pin_holds(map, &pins[i]))
            return false;
    return true;
}

static JW_SIGNAL_SAFE bool is_same(const struct vm_thread *thread, const struct walk_cache *cache)
{
    const struct walk_top *top = cache->top;
    const struct walk_past *past = cache->past;
    struct vm_anchor anchor;
    struct vm_code_map map;

    if (past->stack_low != thread->stack_low || past->stack_high != thread->stack_high ||
        past->with_carrier != cache->with_carrier || !vm_thread_anchor(thread, &anchor) ||
        anchor.sp != top->anchor_sp || anchor.pc != top->anchor_pc || anchor.fp != top->anchor_fp ||
        safe_match_words(top->words, top->word_count) != top->word_count ||
        safe_match_words(&past->words[WALK_WORDS_MAX - past->word_count], past->word_count) !=
            past->word_count)
        return false;
    vm_code_map_read(&map);
    return is_same_stub(&map, top) && are_pinned(&map, top->pins, top->pin_count) &&
           are_pinned(&map, past->pins, past->pin_count);
}

bool walk_vm_top_again(const void *env, const struct walk_cache *cache,
                       struct vm_call_frame *frames, uint32_t depth_max,
                       struct walk_java_result *out)
{
    const struct walk_top *top = cache->top;
    struct vm_thread thread;

    if (!top->is_sure || cache->past == NULL || cache->is_resumed || cache->with_native ||
        top->frame_count + cache->past->frame_count >= depth_max || !vm_thread_of(env, &thread) ||
        !is_same(&thread, cache))
        return false;
    for (uint32_t i = 0; i < top->frame_count; i++)
        frames[i] = top->frames[i];
    *out = (struct walk_java_result){
        .walker = WALK_VM,
        .place = VM_PLACE_NATIVE,
        .frame_count = top->frame_count,
        .past_frames = cache->past->frame_count,
        .past_steps = cache->past->step_count,
        .is_again = true,
        .is_virtual = top->is_virtual,
        .stub_pc = top->stub_pc,
        .top_kind = (enum jw_frame_kind)top->frames[0].kind,
    };
    return true;
}
