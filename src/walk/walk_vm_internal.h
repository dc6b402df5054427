/* walk_vm_internal - a walk by our own walker while it is under way. */
#ifndef JW_WALK_WALK_VM_INTERNAL_H
#define JW_WALK_WALK_VM_INTERNAL_H

#include "vm/vm_continuation.h"
#include "vm/vm_frozen.h"
#include "vm/vm_nmethod.h"
#include "vm/vm_stack.h"
#include "walk/walk_internal.h"

/* Methods inlined at one place, far more than any has. */
#define WALK_INLINED_MAX 512

/* How the registers came to be, and with that what is known of their pc. */
enum walk_position {
    WALK_AT_TOP, /* interrupted here: any instruction */
    WALK_AT_LEAF_CALL, /* behind a call of a stub or of native code, which the compiler need not describe */
    WALK_AT_CALL,   /* behind a call of Java: the compiler described this very pc */
    WALK_AT_ANCHOR, /* where the JVM says that Java was left, or below the stub in which it was */
};

struct walk_vm {
    struct vm_code_map map;
    uint32_t hops_left; /* of the map */
    struct arch_regs regs;
    enum walk_position position;
    uintptr_t live_bcp;   /* of the interrupted thread; 0: not known */
    const void *ucontext; /* of the interrupted thread; NULL: it walks itself */
    struct vm_thread thread;
    struct vm_call_frame *frames;
    uint32_t frame_count, depth_max;
    uint32_t empty_steps, top_steps;
    struct walk_java_result *result;
    struct walk_cache *cache; /* NULL: none */
    struct walk_top *top;     /* noted, too; NULL: not */
    struct walk_step *step;   /* the one under way; NULL: not noted */
    bool is_fp_by_size;       /* fp was read where a frame of known size saved it */
    bool with_native;         /* wanted are native frames between those of Java, too */
    uint32_t border;          /* frames down to the border, itself included; 0: it was not met */
    bool has_left_stack; /* some of its frames lie in the heap, whether they can be walked or not */
    bool is_in_heap;     /* among frames that lie in the heap: */
    struct vm_frozen frozen;
    uintptr_t stack_low,
        stack_high; /* of the thread: where the walk is, the bounds are the heap's */
    uintptr_t
        left_sp; /* where the JVM says that Java was left while frames are frozen; 0: they are not */
    uintptr_t fp_slot;  /* there, where fp was read, if not below sp; 0: it was */
    uint32_t past_left; /* of the past: steps that may still be met, pins that hold, differences */
    uint32_t past_pins, past_tries;
};

/* Where Java was called, `below` it more Java, or 0. Of a thread that comes to its first method, or has left its last one, native
 * frames are all that there is. */
JW_SIGNAL_SAFE static inline bool walk_vm_wants_native(const struct walk_vm *walk, uintptr_t below)
{
    return walk->with_native || (below == 0 && walk->frame_count == 0 && walk->ucontext != NULL);
}

/* False when the stack is as deep as the caller wants it. */
JW_SIGNAL_SAFE static inline bool walk_vm_put(struct walk_vm *walk, enum jw_frame_kind kind,
                                              vm_addr method, int32_t bci)
{
    if (walk->frame_count >= walk->depth_max)
        return false;
    walk->frames[walk->frame_count++] =
        (struct vm_call_frame){.bci = bci, .kind = (uint32_t)kind, .method = (jmethodID)method};
    return true;
}

JW_SIGNAL_SAFE static inline void walk_vm_put_mark(struct walk_vm *walk, enum jw_mark mark)
{
    (void)walk_vm_put(walk, JW_FRAME_MARK, (vm_addr)walk_of_mark(mark), 0);
}

JW_SIGNAL_SAFE static inline bool walk_vm_is_full(struct walk_vm *walk)
{
    walk->result->is_truncated = walk->frame_count >= walk->depth_max;
    return walk->result->is_truncated;
}

/* More than one step depends on: fp, an interpreted frame, and the word of a step that is not sure. */
#define WALK_STEP_WORDS_MAX (VM_INTERPRETED_WORDS + 2)

/* Steps of a walk and what they depend on: walk_past.h. _begin: once, with the map read. */
JW_SIGNAL_SAFE void walk_vm_past_begin(struct walk_vm *walk);
JW_SIGNAL_SAFE void walk_vm_past_end(struct walk_vm *walk);
/* True when all frames from here on are those of the past. */
JW_SIGNAL_SAFE bool walk_vm_past_meet(struct walk_vm *walk);
JW_SIGNAL_SAFE void walk_vm_note_step(struct walk_vm *walk);
JW_SIGNAL_SAFE bool walk_vm_is_same_pin(const struct walk_pin *one, const struct walk_pin *other);
/* True when what was there is there still. */
JW_SIGNAL_SAFE bool walk_vm_pin_holds(const struct vm_code_map *map, const struct walk_pin *pin);

/* walk_vm_top.c: the innermost steps of a hook's walk (struct walk_top): where it begins, a stub that it passes, and the code that called that one. */
JW_SIGNAL_SAFE void walk_vm_top_begin(struct walk_vm *walk, const struct vm_anchor *anchor);
JW_SIGNAL_SAFE void walk_vm_top_stub(struct walk_vm *walk, vm_addr stub,
                                     const struct arch_regs *caller);
JW_SIGNAL_SAFE void walk_vm_top_code(struct walk_vm *walk, const struct walk_cached *entry,
                                     const struct arch_regs *caller);
JW_SIGNAL_SAFE void walk_vm_top_end(struct walk_vm *walk);
/* True: all of the stack is what it was. */
JW_SIGNAL_SAFE bool walk_vm_top_again(const void *env, const struct walk_cache *cache,
                                      struct vm_call_frame *frames, uint32_t depth_max,
                                      struct walk_java_result *out);

/* Before each step that begins at a return address or an anchor; true when the walk is over. */
JW_SIGNAL_SAFE static inline bool walk_vm_past_step(struct walk_vm *walk)
{
    if (walk->frame_count == 0 || walk->cache == NULL || walk->cache->past == NULL)
        return false;
    if (walk->past_left > 0 &&
        walk->cache->past->steps[WALK_STEPS_MAX - walk->past_left].sp <= walk->regs.sp &&
        walk_vm_past_meet(walk))
        return true;
    if (walk->frame_count >= walk->cache->noted_from)
        walk_vm_note_step(walk);
    return false;
}

JW_SIGNAL_SAFE static inline void walk_vm_note_word(struct walk_vm *walk, uintptr_t addr,
                                                    uintptr_t value)
{
    struct walk_log *log = &walk->cache->log;

    log->words[log->word_count++] = (struct arch_word){addr, value};
}

/* The step under way depends on code that is pinned, and on the words noted for it, alone. */
JW_SIGNAL_SAFE static inline void walk_vm_note_pinned(struct walk_vm *walk, uint16_t pin)
{
    walk->step->pins = pin;
    walk->step->is_sure = pin != WALK_NO_PIN;
}

/* The word that fp was read from, by the frame before. */
JW_SIGNAL_SAFE static inline void walk_vm_note_fp_word(struct walk_vm *walk)
{
    walk_vm_note_word(walk, walk->regs.sp - 2 * sizeof(uintptr_t), walk->regs.fp);
}

/* The step under way depends on fp, too. What notes words of its own to it (an interpreted frame) says where
 * the next one's fp is from. */
JW_SIGNAL_SAFE static inline void walk_vm_note_fp(struct walk_vm *walk)
{
    if (walk->is_fp_by_size)
        walk_vm_note_fp_word(walk);
    walk->step->needs_fp = true;
    walk->step->is_sure = true;
}

/* The frame of the call stub. */
JW_SIGNAL_SAFE static inline void walk_vm_note_entry(struct walk_vm *walk)
{
    struct walk_log *log = &walk->cache->log;
    const uint32_t count = vm_entry_words(walk->regs.fp, &log->words[log->word_count]);

    log->word_count += count;
    if (count > 0)
        walk_vm_note_fp(walk);
}

JW_SIGNAL_SAFE static inline uint16_t *walk_vm_pin_slot(struct walk_log *log, vm_addr blob)
{
    _Static_assert(JW_COUNT_OF(log->pin_slots) == 512, "the hash has nine bits");
    return &log->pin_slots[(blob * UINT64_C(0x9e3779b97f4a7c15)) >> 55];
}

/* The number of the pin of this blob in this walk; WALK_NO_PIN: none. */
JW_SIGNAL_SAFE static inline uint16_t walk_vm_find_pin(struct walk_log *log, vm_addr blob)
{
    const uint16_t known = *walk_vm_pin_slot(log, blob);

    return known < log->pin_count && log->pins[known].blob == blob ? known : WALK_NO_PIN;
}

/* Pins code that the walk returns into: true when it is still what it was. _pin: what is there now;
 * WALK_NO_PIN where that cannot be told, or there are too many. */
JW_SIGNAL_SAFE bool walk_vm_pin_again(const struct walk_vm *walk, const struct walk_pin *pin,
                                      uint16_t *out);
JW_SIGNAL_SAFE uint16_t walk_vm_pin(const struct walk_vm *walk, vm_addr blob, vm_addr method,
                                    enum vm_place place);

/* True for an aligned address of this thread's stack. */
JW_SIGNAL_SAFE static inline bool walk_vm_is_on_stack(const struct walk_vm *walk, uintptr_t addr)
{
    return addr >= walk->thread.stack_low && addr <= walk->thread.stack_high &&
           (addr & (sizeof(uintptr_t) - 1)) == 0;
}

/* Who is interrupted need not have moved the stack pointer that its caller left it, where a call pushes nothing. */
JW_SIGNAL_SAFE static inline bool walk_vm_may_be_level(const struct walk_vm *walk,
                                                       enum walk_position position)
{
    return position == WALK_AT_LEAF_CALL ||
           (walk->position == WALK_AT_TOP && arch_facts.has_link_register);
}

/* True of the stub on which the frames of a virtual thread that still lie in the heap would follow. */
JW_SIGNAL_SAFE static inline bool walk_vm_is_barrier(const struct vm_stub *stub)
{
    return stub != NULL && stub->kind == VM_STUB_BARRIER;
}

/* The caller of a frame by its size: the return address is its last word, the caller's frame pointer the
 * one before. False when that cannot be read. */
JW_SIGNAL_SAFE static inline bool
walk_vm_caller_by_size(const struct walk_vm *walk, size_t frame_bytes, struct arch_regs *caller)
{
    caller->sp = walk->regs.sp + frame_bytes;
    caller->link = 0;
    if (frame_bytes < 2 * sizeof(uintptr_t) || !walk_vm_is_on_stack(walk, caller->sp) ||
        !safe_load_word(caller->sp - sizeof(uintptr_t), &caller->pc) ||
        !safe_load_word(caller->sp - 2 * sizeof(uintptr_t), &caller->fp))
        return false;
    caller->pc = arch_code_address(caller->pc);
    return true;
}

/* Where the interrupted code stands that is not described: in the method's return, as near as can be said. */
JW_SIGNAL_SAFE int32_t walk_vm_bci_behind(const struct walk_vm *walk,
                                          const struct vm_nmethod *nmethod);

/* The scope of a return address that the compiler described; a deoptimised frame, which returns into a
 * handler, is described by the pc that it had before. */
JW_SIGNAL_SAFE bool walk_vm_find_described(const struct vm_nmethod *nmethod, uintptr_t pc,
                                           uintptr_t sp, uint32_t *scope);

JW_SIGNAL_SAFE static inline struct walk_cached *walk_vm_cache_entry(struct walk_cache *cache,
                                                                     uintptr_t pc)
{
    _Static_assert(WALK_CACHE_COUNT == 1024, "the hash has ten bits");
    return &cache->entries[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Looks whether an entry of an earlier walk still holds; false: it does not, or is none. */
JW_SIGNAL_SAFE bool walk_vm_cache_renew(const struct walk_vm *walk, struct walk_cached *entry);

/* The entry for a return address; NULL where nothing is known of it, or no longer. What this thread returns
 * into cannot be freed while it stands here: one look a walk is enough. */
JW_SIGNAL_SAFE static inline struct walk_cached *walk_vm_cache_find(const struct walk_vm *walk,
                                                                    uintptr_t pc)
{
    struct walk_cached *entry = walk_vm_cache_entry(walk->cache, pc);

    if (entry->pc != pc)
        return NULL;
    if (entry->stamp == walk->cache->stamp && entry->frame_words != 0)
        return entry;
    return walk_vm_cache_renew(walk, entry) ? entry : NULL;
}

/* The same for the return address `word` of the frame of `entry`. Stacks being alike, it is mostly the one that
 * followed before: so the walk need not wait for a hash. */
JW_SIGNAL_SAFE static inline struct walk_cached *
walk_vm_cache_follow(const struct walk_vm *walk, struct walk_cached *entry, uintptr_t word)
{
    struct walk_cached *next = &walk->cache->entries[entry->next];

    if (next->pc == word && next->stamp == walk->cache->stamp && next->frame_words != 0)
        return next;
    next = walk_vm_cache_find(walk, arch_code_address(word));
    if (next != NULL)
        entry->next = (uint16_t)(next - walk->cache->entries);
    return next;
}

/* Remembers the frames that were put since `first` for the return address at which the walk stands, in
 * code that is pinned; what does not fit is not remembered. */
JW_SIGNAL_SAFE void walk_vm_cache_put(const struct walk_vm *walk, uint16_t pin, uint32_t first);

/* Puts them. False when the stack is as deep as the caller wants it. */
JW_SIGNAL_SAFE static inline bool walk_vm_put_cached(struct walk_vm *walk,
                                                     const struct walk_cached *entry)
{
    if (walk->frame_count + entry->frame_count < walk->depth_max) {
        for (uint32_t i = 0; i < entry->frame_count; i++)
            walk->frames[walk->frame_count + i] = entry->frames[i];
        walk->frame_count += entry->frame_count;
        return true;
    }
    for (uint32_t i = 0; i < entry->frame_count; i++)
        (void)walk_vm_put(walk, (enum jw_frame_kind)entry->frames[i].kind,
                          (vm_addr)entry->frames[i].method, entry->frames[i].bci);
    return !walk_vm_is_full(walk);
}

/* Remembers in the entry for where the walk stands, an anchor, how far above `caller`, which was found and proved, lies: if it is what would
 * always be tried first. */
JW_SIGNAL_SAFE void walk_vm_cache_put_anchor(const struct walk_vm *walk,
                                             const struct arch_regs *caller);

/* Forgets what this walk, which failed, has put. */
JW_SIGNAL_SAFE void walk_vm_cache_forget(const struct walk_vm *walk);

/*
 * Goes on with the frames of a virtual thread that lie in the heap: the innermost of all, or those of the next chunk. False: the
 * walk is over, at the thread's entry, or where frames stay frozen.
 */
JW_SIGNAL_SAFE bool walk_vm_thaw(struct walk_vm *walk);
/* They cannot be had: what was walked on the stack counts. */
JW_SIGNAL_SAFE void walk_vm_stay_frozen(struct walk_vm *walk);
/*
 * Whether a virtual thread's frames are being frozen by the native code at which the walk begins: then they stand where they stood, above
 * the entry at which the JVM says that Java was left, and `caller` is the innermost of them.
 */
JW_SIGNAL_SAFE bool walk_vm_find_freezing(struct walk_vm *walk, uintptr_t anchor_sp,
                                          struct arch_regs *caller);
/* A walk from there has ended. True: nothing of it counts, and the walk is to go on at the entry. */
JW_SIGNAL_SAFE bool walk_vm_leave_freezing(struct walk_vm *walk, bool has_failed);
/* At the innermost native method of a thread that left Java: a mark if this is enterSpecial, which calls no native code. */
JW_SIGNAL_SAFE bool walk_vm_is_resumed(const struct walk_vm *walk, uintptr_t anchor_sp,
                                       vm_addr method);
JW_SIGNAL_SAFE void walk_vm_note_freezing(struct walk_vm *walk, vm_addr method);
/* Behind the frames of a virtual thread. False: the carrier's are not wanted, or the stack is as deep as it may be. */
JW_SIGNAL_SAFE bool walk_vm_put_border(struct walk_vm *walk);
/* Goes on with the carrier's frames where the others lay in the heap; false when they are not wanted or not told. */
JW_SIGNAL_SAFE bool walk_vm_go_to_carrier(struct walk_vm *walk);
/* They cannot be walked: those down to the border count. */
JW_SIGNAL_SAFE void walk_vm_lose_carrier(struct walk_vm *walk);
/* Gives up what is not proved: the carrier's frames, or those in the heap. False: the whole stack. */
JW_SIGNAL_SAFE bool walk_vm_give_up(struct walk_vm *walk);
/* Puts the stub by which native code called Java and the frames of that code, down to the anchor behind them, or to the first
 * function of the thread where there is none; what is not proved becomes a mark. `blob`, `stub`: of a stub that is interrupted;
 * NULL: the walk stands behind its call. False: the stack is as deep as it may be. */
JW_SIGNAL_SAFE bool walk_vm_put_native(struct walk_vm *walk, const struct vm_blob *blob,
                                       const struct vm_stub *stub, const struct vm_anchor *anchor);
/* There, at the end of a chunk, or in an interpreted frame. */
JW_SIGNAL_SAFE bool walk_vm_is_special_in_heap(const struct walk_vm *walk);
/* There, where the interpreted frame begins at which the walk stands: fp is a number of words from where it is written. */
JW_SIGNAL_SAFE uintptr_t walk_vm_frozen_fp(const struct walk_vm *walk);

/* The registers of the caller, where the interrupted code has no frame yet or no longer. */
JW_SIGNAL_SAFE bool walk_vm_step_from_edge(const struct walk_vm *walk, struct vm_blob *blob,
                                           struct arch_regs *caller);
/*
 * From a stub that takes a compiled frame apart: goes on behind those of the frames in its place that are not filled in yet, laid out or not,
 * if it is proved who called the outermost of them. Which methods they are of is not known: a mark.
 */
JW_SIGNAL_SAFE bool walk_vm_leave_unpacker(struct walk_vm *walk, const struct vm_blob *blob);

/* Guesses, each followed by a proof: false when none could be proved.
 * The caller of this nmethod's frame, on which its code may have pushed a few words. */
JW_SIGNAL_SAFE bool walk_vm_caller_below_pushed(const struct walk_vm *walk, vm_addr nmethod,
                                                struct arch_regs *caller);
/* The caller of this nmethod's frame, where it is by C1 and has pushed all registers below it. */
JW_SIGNAL_SAFE bool walk_vm_caller_below_all(const struct walk_vm *walk, vm_addr blob,
                                             struct arch_regs *caller);
/* So many bytes has the code saved below its frame around the call before the pc, as it says behind it; 0: none. */
JW_SIGNAL_SAFE size_t walk_vm_saved_bytes(const struct walk_vm *walk);
/* The caller of a frame of this size, below which the code has saved registers around a call. */
JW_SIGNAL_SAFE bool walk_vm_caller_below_saved(const struct walk_vm *walk, size_t frame_bytes,
                                               struct arch_regs *caller);
/* The caller of a stub of the JVM's runtime, whose frame may be there, or not, or in part. `position`: what is known of
 * its pc. */
JW_SIGNAL_SAFE bool walk_vm_caller_of_stub(const struct walk_vm *walk, const struct vm_blob *blob,
                                           const struct vm_stub *stub, struct arch_regs *caller,
                                           enum walk_position *position);
/* In the call stub itself, before its call or behind it: the frames below are those of its wrapper. */
JW_SIGNAL_SAFE bool walk_vm_call_stub_anchor(const struct walk_vm *walk, const struct vm_stub *stub,
                                             struct vm_anchor *anchor);
/* The same of a stub by which C called Java. */
JW_SIGNAL_SAFE bool walk_vm_upcall_anchor(const struct walk_vm *walk, vm_addr blob,
                                          struct vm_anchor *anchor);
/* The native frames below the call stub say where Java was left before, when nothing else does any more: `anchor`, of sp 0 at the
 * thread's first function. */
JW_SIGNAL_SAFE bool walk_vm_unwound_anchor(const struct walk_vm *walk, const struct vm_blob *blob,
                                           const struct vm_stub *stub, struct vm_anchor *anchor);
/* A call from Java to Java that is under way: the caller of an adapter, and from an interpreted method that has no frame yet. */
JW_SIGNAL_SAFE bool walk_vm_caller_of_adapter(const struct walk_vm *walk,
                                              const struct vm_blob *blob, struct arch_regs *caller);
JW_SIGNAL_SAFE void walk_vm_leave_entry(struct walk_vm *walk);
/* From the interpreter's code at which a stub or C is returned to: to the method that called it, where it has no frame (methods of
 * mathematics and checksums, which the interpreter does by a call). */
JW_SIGNAL_SAFE bool walk_vm_follow_interpreter(const struct walk_vm *walk,
                                               struct arch_regs *caller);
/* Goes on where the thread will be in some instructions: a jump may leave the stack pointer as it is. */
JW_SIGNAL_SAFE void walk_vm_go_on_at(struct walk_vm *walk, struct arch_regs *at,
                                     enum walk_position position);
/* From a stub, by what its code does until it is left. `position`: AT_TOP where it jumps into other code that is no caller. */
JW_SIGNAL_SAFE bool walk_vm_follow_stub(const struct walk_vm *walk, const struct vm_blob *blob,
                                        const struct vm_stub *stub, struct arch_regs *caller,
                                        enum walk_position *position);
/* The code that was stopped by a fault at its poll, from the stub to which the JVM sent it. */
JW_SIGNAL_SAFE bool walk_vm_caller_at_poll(const struct walk_vm *walk, const struct vm_blob *blob,
                                           struct arch_regs *caller);
/* True when `regs` are those behind a call of Java. What was left on the stack by calls that have returned may look so, too: this
 * tells a wrong guess, it does not make a guess right. */
JW_SIGNAL_SAFE bool walk_vm_is_proved(const struct walk_vm *walk, const struct arch_regs *regs);
/* From an interrupted stub that was jumped to with an exception, whose caller stands in a register alone. */
JW_SIGNAL_SAFE bool walk_vm_thrower_of_stub(const struct walk_vm *walk, const struct vm_blob *blob,
                                            const struct vm_stub *stub, struct arch_regs *caller);

#endif
