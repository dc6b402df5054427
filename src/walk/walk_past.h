/*
 * walk_past - the outer part of a stack that was walked before, and the proof that it still stands.
 *
 * For      deep stacks, whose outer frames are the same from sample to sample.
 * Callers  sampler (which says whose past it is, and keeps it).
 * Context  handler.
 * Memory   of the caller, zeroed at first; one walk at a time uses it.
 *
 * A step of a walk is a function: from where the walk stands (pc, sp, fp if it uses it, and how it came there) and the
 * words that it reads, to frames and to where the walk stands next. So a step need not be done again when
 * the walk stands where it stood, and each word that the step read is what it was. The words are
 *
 *   - on the stack (return address, slots of an interpreted frame, anchor of an entry frame) or in a Method:
 *     they are kept with their addresses, and every one of them is compared, each time;
 *   - in the code heap, of the nmethod that the pc lies in: they never change while that nmethod lives. It
 *     is pinned: that the block at its place holds the same compilation is looked at once a walk.
 *     What this thread returns into cannot be freed before its handler returns;
 *   - in tables of the JVM or ours that are constant, and the bounds of the stack, which are compared.
 *
 * A step of which this does not hold (a guess that was proved, a deoptimised frame) is kept with a word that
 * is never what it should be. Whose stack it was does not matter for the proof, only for the hope to find it.
 *
 *            innermost                                                   outermost
 *     log    | step | step | step |            walked now, noted from some depth on
 *     past                        | step | step | ... | step |            compared: kept
 *                                 ^ the walk stands where it stood: here they meet
 *
 * In `walk_past` everything lies at the end of its array, the outermost last: what is kept stays where it
 * is, and what is new is put before it. Numbers of a step there count from the end, itself included.
 */
#ifndef JW_WALK_WALK_PAST_H
#define JW_WALK_WALK_PAST_H

#include "arch/arch.h"
#include "vm/vm_code.h"

#define WALK_DEPTH_MAX 2048u

#define WALK_STEPS_MAX (WALK_DEPTH_MAX + 256u)
#define WALK_WORDS_MAX (6u * WALK_DEPTH_MAX + 512u)
#define WALK_PINS_MAX  1024u
#define WALK_NO_PIN    UINT16_MAX

/* Of a thread that was interrupted the innermost frames change most: what is noted begins behind so many. Who samples itself
 * does it where it did before, mostly. */
#define WALK_NOTED_FROM      16u
#define WALK_NOTED_FROM_HOOK 1u

/* Stacks with fewer frames are not worth a past. */
#define WALK_WORTH_FRAMES      32u
#define WALK_WORTH_FRAMES_HOOK 4u

/* Frames of one place in compiled code, with what is inlined there: more are not remembered. */
#define WALK_CACHED_FRAMES 6

/* A compiled method and the number of its compilation. */
struct walk_pin {
    vm_addr blob, method;
    uint32_t compile_id;
    uint32_t place; /* enum vm_place */
};

struct walk_step {
    uintptr_t pc, sp, fp;
    uint32_t words;    /* log: number of the first one; past: how many from here to the end */
    uint16_t frames;   /* likewise */
    uint16_t pins;     /* log: the pin it needs, or none; past: how many of the first are needed */
    uint16_t position; /* enum walk_position */
    bool is_sure;      /* log: the words and the pin are all that it depends on */
    bool needs_fp;     /* it depends on fp, too */
};

/*
 * From where a hook's thread left Java to where the walk met its past, if that was at the first chance: through the stub that the code
 * called, and the code that called it, whose caller was found by what was remembered of that place and proved. That is a function, too, of
 * the anchor, these words, and the code that is pinned.
 */
struct walk_top {
    bool is_sure; /* so it was */
    uintptr_t anchor_sp, anchor_pc, anchor_fp;
    uintptr_t next_sp; /* while it is noted: where the next step begins; 0: it is not */
    vm_addr stub;      /* 0: there is none */
    size_t stub_bytes; /* of its frame */
    uintptr_t stub_pc;
    uint32_t word_count, pin_count, frame_count;
    struct arch_word words[4];
    struct walk_pin pins[2];
    struct vm_call_frame frames[WALK_CACHED_FRAMES];
    bool is_virtual;
};

/* A walk under way: its steps from some depth on, and what it has pinned. */
struct walk_log {
    uintptr_t stack_low, stack_high;
    uint32_t step_count, word_count, pin_count;
    uintptr_t border_sp;     /* where frames of a virtual thread end; 0: there are none */
    bool with_carrier;       /* as the cache says */
    bool is_full;            /* no more steps are noted: nothing is kept of them */
    struct walk_top top;     /* of a walk with a past that is noted from the first frame on */
    uint16_t pin_slots[512]; /* by hash of the blob; true only where the pin says so, too */
    bool pin_is_put[WALK_PINS_MAX]; /* into the past */
    struct walk_pin pins[WALK_PINS_MAX];
    struct walk_step steps[WALK_STEPS_MAX];
    struct arch_word words[WALK_WORDS_MAX];
};

struct walk_past {
    uintptr_t stack_low, stack_high;
    uint32_t step_count, word_count, frame_count, pin_count;
    uintptr_t border_sp;
    bool with_carrier;
    struct walk_pin pins[WALK_PINS_MAX]; /* those that the outermost steps need come first */
    struct walk_step steps[WALK_STEPS_MAX];
    struct vm_call_frame frames[WALK_DEPTH_MAX];
    struct arch_word words[WALK_WORDS_MAX];
};

/*
 * After a walk that ended, and was not cut short, with `kept_steps` of this past: drops the rest of it, and puts the logged steps,
 * whose frames end those of the walk, before what is kept.
 */
JW_SIGNAL_SAFE void walk_past_keep(struct walk_past *past, struct walk_log *log,
                                   uint32_t kept_steps, const struct vm_call_frame *frames,
                                   uint32_t frame_count);

#endif
