/* Java stacks by our own walker over what HotSpot exports; handler, but for walk_own_stack. */
#include <string.h>

#include "walk/walk_vm_internal.h"
#include "walk/walk_vm_scopes_internal.h"

#define WORD_BYTES sizeof(uintptr_t)

/* Frames without a method (stubs, entry frames, frames of native code) that a stack may hold beside its Java frames. */
#define EMPTY_STEPS_MAX 4096

/* Hops in the maps of the code heaps: some 30 for each frame of the deepest stack. */
#define HOPS_MAX 65536

/* Code without a frame, one on top of the other, before the first frame of Java. */
#define TOP_STEPS_MAX 6

/* What the stub of the barrier at the entry of a compiled method pushes on its return address, before its
 * frame. Source: OpenJDK, StubGenerator::generate_method_entry_barrier for x86-64, JDK 17 to 25. */
#define ENTRY_BARRIER_COOKIE UINTPTR_MAX

enum outcome { GO_ON, ENDED, FAILED };

static JW_SIGNAL_SAFE enum outcome fail(struct walk_vm *walk, int32_t code, enum vm_place place)
{
    walk->result->code = code;
    walk->result->failed_at = place;
    return FAILED;
}

/* A caller's stack pointer lies above, on this thread's stack. */
static inline JW_SIGNAL_SAFE bool rises(const struct walk_vm *walk, uintptr_t sp,
                                        enum walk_position position)
{
    return walk_vm_is_on_stack(walk, sp) &&
           (sp > walk->regs.sp || (sp == walk->regs.sp && walk_vm_may_be_level(walk, position)));
}

/* Takes over the caller's registers. */
static JW_SIGNAL_SAFE enum outcome move(struct walk_vm *walk, const struct arch_regs *to,
                                        enum walk_position position, enum vm_place place)
{
    if (!rises(walk, to->sp, position))
        return fail(walk, WALK_CODE_STACK, place);
    walk->regs = *to;
    walk->position = position;
    walk->is_fp_by_size = false;
    walk->fp_slot = 0;
    return GO_ON;
}

/* The same to the caller of a frame of known size, where its words were read. `pin`: what tells the size; the return address is
 * then all else that the step under way depends on. */
static JW_SIGNAL_SAFE enum outcome move_by_size(struct walk_vm *walk, const struct arch_regs *to,
                                                uint16_t pin, enum vm_place place)
{
    if (walk->step != NULL) {
        walk_vm_note_word(walk, to->sp - WORD_BYTES, to->pc);
        walk_vm_note_pinned(walk, pin);
    }
    const enum outcome outcome = move(walk, to, WALK_AT_CALL, place);

    walk->is_fp_by_size = true;
    return outcome;
}

/* Goes on with the frames of a virtual thread that lie in the heap. */
static JW_SIGNAL_SAFE enum outcome thaw(struct walk_vm *walk)
{
    return walk_vm_thaw(walk) ? GO_ON : ENDED;
}

static JW_SIGNAL_SAFE enum outcome
move_to_anchor(struct walk_vm *walk, const struct vm_anchor *anchor, enum vm_place place)
{
    return move(walk, &(struct arch_regs){.pc = anchor->pc, .sp = anchor->sp, .fp = anchor->fp},
                WALK_AT_ANCHOR, place);
}

static JW_SIGNAL_SAFE enum outcome leave_frame(struct walk_vm *walk, vm_addr blob,
                                               enum walk_position position, enum vm_place place)
{
    struct arch_regs caller;

    if (!walk_vm_caller_by_size(walk, vm_code_frame_bytes(blob), &caller))
        return fail(walk, WALK_CODE_STACK, place);
    if (walk->top != NULL && place == VM_PLACE_RUNTIME_STUB)
        walk_vm_top_stub(walk, blob, &caller);
    return move(walk, &caller, position, place);
}

/* Compiled code -------------------------------------------------------------------------------------- */

/*
 * First and last instructions of the interrupted method, where its frame is not there: its caller is found
 * by the code. The method itself is shown, without what is inlined in it.
 */
static JW_SIGNAL_SAFE enum outcome leave_edge(struct walk_vm *walk,
                                              const struct vm_nmethod *nmethod,
                                              const struct vm_blob *blob,
                                              const struct arch_regs *caller)
{
    const uintptr_t pc = walk->regs.pc;
    uint32_t scope = VM_NO_SCOPE;

    if ((int64_t)(pc - blob->code_begin) < blob->frame_complete_offset) {
        if (!vm_nmethod_is_before_entry(blob->blob, pc))
            (void)walk_vm_put(walk, JW_FRAME_COMPILED, nmethod->method, 0);
    } else if (!vm_nmethod_scope_at(nmethod, pc, VM_PC_NEAR, &scope) ||
               !walk_vm_put_scopes(walk, nmethod, scope, true)) {
        return fail(walk, WALK_CODE_UNDESCRIBED, VM_PLACE_NMETHOD);
    }
    return move(walk, caller, WALK_AT_CALL, VM_PLACE_NMETHOD);
}

static JW_SIGNAL_SAFE enum outcome do_nmethod(struct walk_vm *walk, vm_addr addr)
{
    struct vm_nmethod nmethod;
    struct arch_regs caller;
    struct vm_blob blob;
    uint32_t scope;
    bool is_by_pc;
    const uint32_t first = walk->frame_count;

    if (!vm_nmethod_read(addr, &nmethod))
        return fail(walk, WALK_CODE_UNREADABLE, VM_PLACE_NMETHOD);
    if (first == 0 && (walk->position == WALK_AT_TOP || walk->position == WALK_AT_LEAF_CALL))
        walk->result->top_pc = walk->regs.pc;
    if (walk->position == WALK_AT_TOP && walk_vm_step_from_edge(walk, &blob, &caller))
        return leave_edge(walk, &nmethod, &blob, &caller);
    if (!walk_vm_find_scope(walk, &nmethod, &scope, &is_by_pc) ||
        !walk_vm_put_scopes(walk, &nmethod, scope, false))
        return fail(walk, WALK_CODE_UNDESCRIBED, VM_PLACE_NMETHOD);
    if (walk_vm_is_full(walk))
        return ENDED;
    const uint16_t pin =
        is_by_pc ? walk_vm_pin(walk, addr, nmethod.method, VM_PLACE_NMETHOD) : WALK_NO_PIN;
    walk_vm_cache_put(walk, pin, first);
    if (walk->position == WALK_AT_CALL && is_by_pc) {
        if (walk_vm_caller_by_size(walk, vm_code_frame_bytes(addr), &caller))
            return move_by_size(walk, &caller, pin, VM_PLACE_NMETHOD);
    } else if (walk->position != WALK_AT_CALL &&
               (walk_vm_caller_below_all(walk, addr, &caller) ||
                walk_vm_caller_below_saved(walk, vm_code_frame_bytes(addr), &caller) ||
                walk_vm_caller_below_pushed(walk, addr, &caller))) {
        walk_vm_cache_put_anchor(walk, &caller);
        return move(walk, &caller, WALK_AT_CALL, VM_PLACE_NMETHOD);
    }
    return leave_frame(walk, addr, WALK_AT_CALL, VM_PLACE_NMETHOD);
}

/* At the end of a virtual thread's frames; below it those of its carrier follow. */
static __attribute__((noinline)) JW_SIGNAL_SAFE enum outcome do_border(struct walk_vm *walk,
                                                                       vm_addr addr, vm_addr method)
{
    const uint16_t pin =
        walk->step == NULL ? WALK_NO_PIN : walk_vm_pin(walk, addr, method, VM_PLACE_NATIVE_WRAPPER);
    struct arch_regs caller;

    if (walk->left_sp != 0 && walk->left_sp != walk->regs.sp)
        return fail(walk, WALK_CODE_STACK, VM_PLACE_NATIVE_WRAPPER);
    walk->result->is_virtual = true;
    if (walk->cache != NULL)
        walk->cache->log.border_sp = walk->regs.sp;
    if (!walk_vm_put_border(walk)) {
        if (walk->step != NULL)
            walk_vm_note_pinned(walk, pin);
        return ENDED;
    }
    if (!walk_vm_caller_by_size(walk, vm_code_frame_bytes(addr), &caller))
        return fail(walk, WALK_CODE_STACK, VM_PLACE_NATIVE_WRAPPER);
    return move_by_size(walk, &caller, pin, VM_PLACE_NATIVE_WRAPPER);
}

static JW_SIGNAL_SAFE enum outcome do_native_wrapper(struct walk_vm *walk, vm_addr addr)
{
    const vm_addr method = vm_nmethod_method(addr);
    struct arch_regs caller;
    struct vm_blob blob;

    /* Java calls a native method and that one Java by way of an entry frame. What Java returns into
     * directly is enterSpecial, on which a virtual thread's frames lie. */
    if (walk->position == WALK_AT_CALL && walk->frame_count > 0 && !walk->is_in_heap)
        return do_border(walk, addr, method);
    if (walk->position == WALK_AT_ANCHOR && walk_vm_is_resumed(walk, walk->regs.sp, method))
        return thaw(walk);
    if (walk->position == WALK_AT_ANCHOR && walk->frame_count == 0)
        walk_vm_note_freezing(walk, method);
    if (method == 0)
        return fail(walk, WALK_CODE_UNREADABLE, VM_PLACE_NATIVE_WRAPPER);
    /* An intrinsic of method handles: a jump to its target, without a frame. */
    caller = walk->regs;
    if (vm_code_frame_bytes(addr) < 2 * WORD_BYTES && walk->position == WALK_AT_TOP &&
        arch_step_from_entry(&caller))
        return move(walk, &caller, WALK_AT_CALL, VM_PLACE_NATIVE_WRAPPER);
    (void)walk_vm_put(walk, JW_FRAME_JAVA_NATIVE, method, JW_BCI_NATIVE);
    if (walk_vm_step_from_edge(walk, &blob, &caller))
        return move(walk, &caller, WALK_AT_CALL, VM_PLACE_NATIVE_WRAPPER);
    if (walk_vm_is_full(walk))
        return ENDED;
    if (!walk_vm_caller_by_size(walk, vm_code_frame_bytes(addr), &caller))
        return fail(walk, WALK_CODE_STACK, VM_PLACE_NATIVE_WRAPPER);
    return move_by_size(walk, &caller, walk_vm_pin(walk, addr, method, VM_PLACE_NATIVE_WRAPPER),
                        VM_PLACE_NATIVE_WRAPPER);
}

/* Interpreted code ----------------------------------------------------------------------------------- */

static JW_SIGNAL_SAFE enum outcome do_interpreted(struct walk_vm *walk)
{
    const uintptr_t fp = walk->regs.fp;
    const bool is_live = walk->position == WALK_AT_TOP || walk->position == WALK_AT_LEAF_CALL;
    struct vm_interpreted frame;

    if (!walk_vm_is_on_stack(walk, fp) || fp < walk->regs.sp)
        return fail(walk, WALK_CODE_STACK, VM_PLACE_INTERPRETER);
    const bool is_begun =
        walk->position == WALK_AT_TOP && !vm_interpreted_is_whole(walk->regs.sp, fp);
    if (is_begun ? !vm_interpreted_read_begun(walk->regs.sp, fp, walk->live_bcp, &frame)
                 : !vm_interpreted_read(fp, is_live ? walk->live_bcp : 0, &frame))
        return fail(walk, WALK_CODE_INTERPRETED, VM_PLACE_INTERPRETER);
    if (frame.method != 0)
        (void)walk_vm_put(walk,
                          frame.bci == JW_BCI_NATIVE ? JW_FRAME_JAVA_NATIVE : JW_FRAME_INTERPRETED,
                          frame.method, frame.bci);
    if (walk_vm_is_full(walk))
        return ENDED;
    if (walk->step != NULL) {
        walk_vm_note_fp(walk);
        vm_interpreted_words(fp, &frame, &walk->cache->log.words[walk->cache->log.word_count]);
        walk->cache->log.word_count += VM_INTERPRETED_WORDS;
    }

    /* Word by word: as a whole, they would be waited for until they are stored. */
    if (!walk_vm_is_on_stack(walk, frame.caller_sp))
        return fail(walk, WALK_CODE_STACK, VM_PLACE_INTERPRETER);
    if (__builtin_expect(frame.caller_sp <= fp, 0))
        frame.caller_sp = vm_interpreted_end(fp);
    walk->regs.sp = frame.caller_sp;
    walk->regs.fp = frame.caller_fp;
    walk->regs.pc = frame.caller_pc;
    walk->position = WALK_AT_CALL;
    walk->is_fp_by_size = false;
    return GO_ON;
}

/* At the end of a chunk, or in an interpreted frame of it: apart, as no other walk should pay. */
static __attribute__((noinline)) JW_SIGNAL_SAFE enum outcome step_in_heap(struct walk_vm *walk)
{
    const uintptr_t fp = walk_vm_frozen_fp(walk);
    struct vm_interpreted frame;

    if (walk->regs.sp == walk->frozen.end)
        return thaw(walk);
    if (walk->regs.sp > walk->frozen.end || !walk_vm_is_on_stack(walk, fp) || fp < walk->regs.sp)
        return fail(walk, WALK_CODE_STACK, VM_PLACE_INTERPRETER);
    if (!vm_frozen_interpreted(fp, &frame))
        return fail(walk, WALK_CODE_INTERPRETED, VM_PLACE_INTERPRETER);
    (void)walk_vm_put(walk,
                      frame.bci == JW_BCI_NATIVE ? JW_FRAME_JAVA_NATIVE : JW_FRAME_INTERPRETED,
                      frame.method, frame.bci);
    if (walk_vm_is_full(walk))
        return ENDED;
    const struct arch_regs caller = {
        .pc = frame.caller_pc, .sp = frame.caller_sp, .fp = frame.caller_fp};
    const enum outcome outcome = move(walk, &caller, WALK_AT_CALL, VM_PLACE_INTERPRETER);
    walk->fp_slot = fp;
    return outcome;
}

/* Everything else ------------------------------------------------------------------------------------ */

/* From a stub by which native code called Java. `blob`: of one that is interrupted, and may have no frame; or NULL. */
static __attribute__((noinline)) JW_SIGNAL_SAFE enum outcome
leave_java(struct walk_vm *walk, const struct vm_blob *blob, const struct vm_stub *stub,
           const struct vm_anchor *anchor, enum vm_place place)
{
    const bool is_full =
        walk_vm_wants_native(walk, anchor->sp) && !walk_vm_put_native(walk, blob, stub, anchor);

    return is_full || anchor->sp == 0 ? ENDED : move_to_anchor(walk, anchor, place);
}

static JW_SIGNAL_SAFE enum outcome do_entry(struct walk_vm *walk)
{
    struct vm_anchor anchor;

    if (!vm_entry_anchor(walk->regs.fp, &anchor))
        return fail(walk, WALK_CODE_UNREADABLE, VM_PLACE_STUB);
    if (walk->step != NULL)
        walk_vm_note_entry(walk);
    return leave_java(walk, NULL, NULL, &anchor, VM_PLACE_STUB);
}

/* Code without a method, or without a frame of its own: on top of the stack, or below native code that it called. */
static JW_SIGNAL_SAFE enum outcome leave_stub(struct walk_vm *walk)
{
    struct arch_regs caller = walk->regs;
    enum walk_position position;
    struct vm_anchor anchor;
    const struct vm_stub *stub;
    struct vm_blob blob;
    const enum vm_place place = walk_place_of(walk->regs.pc, &blob, &stub);

    if (walk->top_steps++ == 0)
        walk->result->stub_pc = stub != NULL ? stub->begin : 0;
    /* A runtime stub that has gone on into the JVM told so; a stub that the JVM calls (SafeFetch) runs in its state. */
    if ((place == VM_PLACE_RUNTIME_STUB || (place == VM_PLACE_STUB && !walk->thread.is_in_java)) &&
        vm_thread_anchor(&walk->thread, &anchor) && anchor.sp > walk->regs.sp)
        return place == VM_PLACE_STUB ? leave_java(walk, &blob, stub, &anchor, place)
                                      : move_to_anchor(walk, &anchor, place);
    if (walk->top_steps > TOP_STEPS_MAX)
        return fail(walk, WALK_CODE_ENDLESS, place);
    if (walk_vm_thrower_of_stub(walk, &blob, stub, &caller) ||
        walk_vm_caller_of_adapter(walk, &blob, &caller) ||
        walk_vm_caller_at_poll(walk, &blob, &caller)) {
        walk->regs = caller; /* the very frame below: its stack pointer may be that of the stub */
        walk->position = WALK_AT_CALL;
        return GO_ON;
    }
    if (walk_vm_call_stub_anchor(walk, stub, &anchor) ||
        (blob.role == VM_ROLE_UPCALL && walk_vm_upcall_anchor(walk, blob.blob, &anchor)) ||
        walk_vm_unwound_anchor(walk, &blob, stub, &anchor))
        return leave_java(walk, &blob, stub, &anchor, place);
    if (blob.role == VM_ROLE_UNPACKER && walk_vm_leave_unpacker(walk, &blob))
        return GO_ON;
    if (walk_vm_follow_stub(walk, &blob, stub, &caller, &position)) {
        walk_vm_go_on_at(walk, &caller, position);
        return GO_ON;
    }
    if (place == VM_PLACE_RUNTIME_STUB &&
        walk_vm_caller_of_stub(walk, &blob, stub, &caller, &position))
        return move(walk, &caller, position, place);
    /* The frames that are being brought back, and those before them, lie in the heap. */
    if (walk->frame_count == 0 && stub != NULL && stub->kind >= VM_STUB_BARRIER)
        return thaw(walk);
    caller = walk->regs;
    if (!walk_step(place, &blob, stub, &caller) ||
        (caller.pc == ENTRY_BARRIER_COOKIE && !arch_step_from_entry(&caller)))
        return fail(walk, WALK_CODE_STUB, place);
    /* What the JVM does as a leaf of Java calls stubs, too: the flush of the instruction cache, when an adapter mends the call
     * that led to it. From JDK 21 on that stub lies in a blob of its own. */
    if (!vm_code_contains(caller.pc) && !walk_native_to_code_cache(&caller, false))
        return fail(walk, WALK_CODE_STUB, place);
    if (walk_vm_follow_interpreter(walk, &caller))
        return move(walk, &caller, WALK_AT_CALL, place);
    return move(walk, &caller, WALK_AT_LEAF_CALL, place);
}

static JW_SIGNAL_SAFE enum outcome do_stub(struct walk_vm *walk, const struct vm_code_ref *ref)
{
    struct vm_anchor anchor;

    if (walk->position == WALK_AT_TOP ||
        (walk->position == WALK_AT_LEAF_CALL && !vm_is_entry_return(walk->regs.pc)))
        return leave_stub(walk);
    if (ref->role == VM_ROLE_UPCALL && walk_vm_upcall_anchor(walk, ref->blob, &anchor))
        return leave_java(walk, NULL, NULL, &anchor, ref->place);
    if (ref->role == VM_ROLE_UNPACKER &&
        walk_vm_leave_unpacker(walk, &(struct vm_blob){.blob = ref->blob}))
        return GO_ON;
    if (ref->place != VM_PLACE_STUB)
        return leave_frame(walk, ref->blob, WALK_AT_ANCHOR, ref->place);
    if (vm_is_entry_return(walk->regs.pc))
        return do_entry(walk);
    if (!walk_vm_is_barrier(vm_stub_find(walk->regs.pc)))
        return fail(walk, WALK_CODE_STUB, VM_PLACE_STUB);
    return walk->is_in_heap ? fail(walk, WALK_CODE_STUB, VM_PLACE_STUB) : thaw(walk);
}

/* A return address that was walked before, and those that follow as long as they were. What is saved of fp is read at their end alone. */
static JW_SIGNAL_SAFE enum outcome do_cached(struct walk_vm *walk, struct walk_cached *entry)
{
    uintptr_t word;

    for (;;) {
        if (!walk_vm_put_cached(walk, entry))
            return ENDED;

        const uintptr_t sp = walk->regs.sp + entry->frame_words * WORD_BYTES;
        if (!walk_vm_is_on_stack(walk, sp) || !safe_load_word(sp - WORD_BYTES, &word))
            return fail(walk, WALK_CODE_STACK, VM_PLACE_NMETHOD);
        if (walk->step != NULL) {
            walk_vm_note_word(walk, sp - WORD_BYTES, word);
            walk_vm_note_pinned(walk, entry->pin);
        }
        walk->regs.sp = sp;
        walk->is_fp_by_size = true;
        if (walk->is_in_heap && sp >= walk->frozen.end)
            break;
        entry = walk_vm_cache_follow(walk, entry, word);
        if (entry == NULL)
            break;
        walk->regs.pc = entry->pc;
        if (walk_vm_past_step(walk))
            return ENDED;
    }
    walk->regs.pc = arch_code_address(word);
    walk->fp_slot = 0;
    return safe_load_word(walk->regs.sp - 2 * WORD_BYTES, &walk->regs.fp)
               ? GO_ON
               : fail(walk, WALK_CODE_STACK, VM_PLACE_NMETHOD);
}

/* Where Java was left, at a pc that was walked before: the caller is looked for where it was found then, and has to be proved anew. */
static JW_SIGNAL_SAFE enum outcome do_cached_anchor(struct walk_vm *walk,
                                                    const struct walk_cached *entry)
{
    struct arch_regs caller;
    const size_t words = entry->frame_words + entry->saved_words - 1u;

    if (entry->saved_words == 0 || !walk_vm_caller_by_size(walk, words * WORD_BYTES, &caller) ||
        !walk_vm_is_proved(walk, &caller))
        return do_nmethod(walk, entry->blob);
    if (walk->top != NULL)
        walk_vm_top_code(walk, entry, &caller);
    return walk_vm_put_cached(walk, entry) ? move(walk, &caller, WALK_AT_CALL, VM_PLACE_NMETHOD)
                                           : ENDED;
}

static JW_SIGNAL_SAFE enum outcome one_step(struct walk_vm *walk)
{
    struct vm_code_ref ref;
    const uintptr_t pc = walk->regs.pc;

    if (walk->is_in_heap && walk_vm_is_special_in_heap(walk))
        return step_in_heap(walk);
    if (walk_vm_past_step(walk))
        return ENDED;
    if (pc >= walk->map.interpreter_begin && pc < walk->map.interpreter_end)
        return do_interpreted(walk);
    if (walk->position >= WALK_AT_CALL && walk->cache != NULL) {
        struct walk_cached *known = walk_vm_cache_find(walk, pc);

        if (known != NULL)
            return walk->position == WALK_AT_CALL ? do_cached(walk, known)
                                                  : do_cached_anchor(walk, known);
    }
    if (!vm_code_map_find(&walk->map, pc, &ref))
        return fail(walk, walk->hops_left == 0 ? WALK_CODE_ENDLESS : WALK_CODE_LOST,
                    vm_code_contains(pc) ? VM_PLACE_UNKNOWN : VM_PLACE_NATIVE);
    if (ref.place == VM_PLACE_NMETHOD)
        return do_nmethod(walk, ref.blob);
    if (++walk->empty_steps > EMPTY_STEPS_MAX)
        return fail(walk, WALK_CODE_ENDLESS, ref.place);
    if (ref.place == VM_PLACE_NATIVE_WRAPPER)
        return do_native_wrapper(walk, ref.blob);
    return do_stub(walk, &ref);
}

/* From native code: the anchor, or Java code that called it as a leaf, or while the JVM has put the anchor away: it does so on the
 * way into Java and back (JavaCallWrapper). */
static __attribute__((noinline)) JW_SIGNAL_SAFE enum outcome find_java(struct walk_vm *walk)
{
    struct arch_regs caller = walk->regs;
    struct vm_anchor anchor;

    if (!vm_thread_anchor(&walk->thread, &anchor))
        return fail(walk, WALK_CODE_UNREADABLE, VM_PLACE_NATIVE);
    if (anchor.sp != 0 && walk_vm_find_freezing(walk, anchor.sp, &caller))
        return move(walk, &caller, WALK_AT_LEAF_CALL, VM_PLACE_NATIVE);
    if (anchor.sp != 0) {
        if (walk->top != NULL)
            walk_vm_top_begin(walk, &anchor);
        return move_to_anchor(walk, &anchor, VM_PLACE_NATIVE);
    }
    const bool is_whole = walk->cache != NULL && walk->cache->is_native_whole;
    if (!is_whole && walk_native_to_code_cache(&caller, true))
        return move(walk, &caller,
                    walk_vm_follow_interpreter(walk, &caller) ? WALK_AT_CALL : WALK_AT_LEAF_CALL,
                    VM_PLACE_NATIVE);
    return fail(walk, walk->thread.is_in_java ? WALK_CODE_STUB : 0, VM_PLACE_NATIVE);
}

/* Apart, as it is the one place for which the compiler has to keep what is at hand. */
static __attribute__((noinline)) JW_SIGNAL_SAFE enum outcome go(struct walk_vm *walk,
                                                                enum outcome outcome)
{
    while (outcome == GO_ON)
        outcome = one_step(walk);
    return outcome;
}

/* A walk that failed, or has come to the end of frames that lie in the heap; the carrier's may follow. */
static __attribute__((noinline)) JW_SIGNAL_SAFE enum outcome judge(struct walk_vm *walk,
                                                                   enum outcome outcome)
{
    if (walk->is_in_heap && !vm_frozen_stood_still(&walk->frozen))
        outcome = FAILED;
    const bool goes_on = walk->left_sp != 0 && walk_vm_leave_freezing(walk, outcome == FAILED);
    if (!goes_on && outcome == FAILED)
        outcome = walk_vm_give_up(walk) ? ENDED : FAILED;
    if (!goes_on && (outcome == FAILED || walk->border > 0 || !walk_vm_go_to_carrier(walk)))
        return outcome;
    outcome = go(walk, GO_ON);
    return outcome == FAILED && walk_vm_give_up(walk) ? ENDED : outcome;
}

static JW_SIGNAL_SAFE void run(struct walk_vm *walk)
{
    vm_code_map_read(&walk->map);
    walk->hops_left = HOPS_MAX;
    walk->map.hops_left = &walk->hops_left;

    enum outcome outcome = vm_code_contains(walk->regs.pc) ? GO_ON : find_java(walk);
    if (walk->regs.pc >= walk->map.interpreter_begin && walk->regs.pc < walk->map.interpreter_end)
        walk_vm_leave_entry(walk);
    if (walk->cache != NULL)
        walk_vm_past_begin(walk);
    outcome = go(walk, outcome);
    if (outcome != ENDED || walk->has_left_stack)
        outcome = judge(walk, outcome);
    if (walk->cache != NULL)
        walk_vm_past_end(walk);
    /* What a walk found before it failed is a guess from there on backwards, too. */
    walk->result->frame_count = outcome == ENDED ? walk->frame_count : 0;
    if (walk->result->frame_count > 0)
        walk->result->top_kind = (enum jw_frame_kind)walk->frames[0].kind;
    if (walk->top != NULL)
        walk_vm_top_end(walk);
}

/* Apart, as a stack that is known again needs none of it. */
static __attribute__((noinline)) JW_SIGNAL_SAFE void
walk_anew(const void *ucontext, void *env, struct walk_cache *cache, struct vm_call_frame *frames,
          uint32_t depth_max, struct walk_java_result *out)
{
    struct walk_vm walk = {.position = WALK_AT_TOP,
                           .ucontext = ucontext,
                           .frames = frames,
                           .depth_max = depth_max,
                           .result = out,
                           .cache = cache,
                           .with_native = cache != NULL && cache->with_native};

    if (cache != NULL) {
        cache->stamp++;
        if (cache->top != NULL)
            walk.top = &cache->log.top;
        cache->log.top.is_sure = false;
        cache->log.top.anchor_sp = 0;
    }
    memset(out, 0, sizeof *out);
    out->walker = WALK_VM;
    arch_regs_read(ucontext, &walk.regs);
    walk.live_bcp = arch_interpreter_bcp(ucontext);
    out->place = walk_quick_place_of(walk.regs.pc);
    if (vm_thread_of(env, &walk.thread))
        run(&walk);
    else
        (void)fail(&walk, WALK_CODE_UNREADABLE, out->place);
}

void walk_java_vm(const void *ucontext, void *env, struct walk_cache *cache,
                  struct vm_call_frame *frames, uint32_t depth_max, struct walk_java_result *out)
{
    if (cache == NULL || cache->top == NULL ||
        !walk_vm_top_again(env, cache, frames, depth_max, out))
        walk_anew(ucontext, env, cache, frames, depth_max, out);
}

void walk_own_stack(void *env, struct vm_call_frame *frames, uint32_t depth_max,
                    struct walk_java_result *out)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct walk_vm walk = {.regs = {.sp = here & ~(WORD_BYTES - 1)},
                           .frames = frames,
                           .depth_max = depth_max,
                           .result = out};

    *out = (struct walk_java_result){.walker = WALK_VM, .place = VM_PLACE_NATIVE};
    if (vm_thread_of(env, &walk.thread))
        run(&walk);
    else
        (void)fail(&walk, WALK_CODE_UNREADABLE, VM_PLACE_NATIVE);
    if (out->is_frozen)
        out->frame_count = out->stack_frames; /* without the mark */
}
