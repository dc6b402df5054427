/*
 * unwind - libunwind: loaded when it is wanted, and shown the process through accessors of ours alone. (unwind_live.h: another one, in handlers.)
 *
 * For      native stacks as somebody else finds them: a few of those that handlers walked by rows are unwound a second time, on a
 *          copy, and compared.
 * Callers  walk (wants, take), agent (the rest).
 * Context  unwind_check_wants, unwind_check_take: handler. unwind_check_open, unwind_check_close: control, with no engine running.
 *          unwind_check_turn: dump. unwind_check_tell: any.
 * Memory   sixteen copies, mapped when the first session wants them and kept. The library is loaded then, too, and stays.
 * Progress unwind_check_take wait-free: where no copy is free none is taken, and NATIVE_NO_ROOM counts.
 *
 * A copy is one handler's until it is full, then the agent's thread's until it is compared:
 *
 *     free --take--> being filled --> full --turn--> free
 *
 * libunwind reads registers and stack of the copy, and the frame descriptions of libraries where they are mapped, by contained
 * loads. It looks at no live stack, asks the dynamic loader nothing and keeps nothing from one stack to the next.
 */
#ifndef JW_UNWIND_UNWIND_H
#define JW_UNWIND_UNWIND_H

#include "base/jw.h"

/* Frames of a stack that are compared, at most. */
#define UNWIND_DEPTH_MAX 128u

/*
 * From now on one native stack in each `interval_ns` is taken and compared. False: libunwind cannot be used here, `err` says why,
 * and none is.
 */
JW_MUST_CHECK bool unwind_check_open(uint64_t interval_ns, struct jw_error *err);

/* None is taken any more. */
void unwind_check_close(void);

/* A native stack as a handler walked it by rows. */
struct unwind_ours {
    const uintptr_t *pcs; /* callers one byte inside of their calls */
    uint32_t count;
    uintptr_t outer_sp; /* of the caller of the last frame that was left */
    bool is_whole;      /* down to code of the JVM, or to the first function of the thread */
    bool is_cut;        /* there may be more, which was not wanted */
};

/* Whether it is time for another one. */
JW_SIGNAL_SAFE bool unwind_check_wants(void);

/* Takes a copy of the interrupted thread's registers and stack. */
JW_SIGNAL_SAFE void unwind_check_take(const void *ucontext, const struct unwind_ours *ours);

/* Compares what was taken since the last call, and counts (NATIVE_CHECKED and what follows it). */
void unwind_check_turn(void);

/* Each "" where there is nothing of the kind. */
struct unwind_texts {
    struct jw_error off;       /* why none is compared though that was asked for */
    struct jw_error different; /* how the last one differs that does */
    struct jw_error shorter;   /* where the last one ended that libunwind went on with */
};
void unwind_check_tell(struct unwind_texts *out);

#endif
