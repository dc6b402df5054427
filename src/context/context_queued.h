/*
 * context_queued - tasks that were handed to an executor, and that no thread has taken yet.
 *
 * For      how long a task waits in a queue, and who has put it there.
 * Callers  agent.
 * Context  context_queued_open: control. The rest: any, hook; a lock for some instructions, of one part of CONTEXT_QUEUED_PARTS.
 * Memory   CONTEXT_QUEUED_MOST tasks, or fewer, as memlimit allows; touched as used, from the first open on; no task is held.
 *
 * A task is known by a key of its own and its executor's identity. One that is handed over several times is taken as often, in that
 * order. Who is handed over when its part is full takes the place of the oldest one, which maybe nobody will ever take.
 */
#ifndef JW_CONTEXT_CONTEXT_QUEUED_H
#define JW_CONTEXT_CONTEXT_QUEUED_H

#include "base/jw.h"

#define CONTEXT_QUEUED_PARTS 16u   /* a power of two, as is the next one */
#define CONTEXT_QUEUED_PART  4096u /* tasks of a part, at the most */
#define CONTEXT_QUEUED_MOST  (CONTEXT_QUEUED_PARTS * CONTEXT_QUEUED_PART)

struct context_queued {
    uint64_t begin_ns;
    uint64_t virtual_number; /* of the virtual thread that handed it over; 0: it is none */
    uint32_t thread_index, thread_serial; /* of the thread else */
    uint32_t executor_number;             /* where its key does not tell it */
    uint64_t
        number; /* of the task, under which the stack of who handed it over was recorded; 0: it was not */
};

/* Nothing is there. False and `err`: no memory. */
JW_MUST_CHECK bool context_queued_open(struct jw_error *err);
/* How many are remembered; 0: it is not open. Context: control. */
uint32_t context_queued_most(void);
/* False: another one was forgotten for it. */
JW_MUST_CHECK bool context_queued_put(uint64_t key, const struct context_queued *what);
/* The one that was put first. False: there is none. */
JW_MUST_CHECK bool context_queued_take(uint64_t key, struct context_queued *out);
/* The one that was put last will not be taken. */
void context_queued_forget(uint64_t key);

#endif
