/*
 * epoch - three buffers that take turns, and the proof that nobody is inside one of them.
 *
 * For      letting handlers and hooks write into shared memory that the dump thread clears later,
 *          without a lock and without ever waiting for each other.
 * Callers  generation (all of it); tests.
 * Context  epoch_claim, _enter, _try_enter, epoch_leave: handler, hook, any.  epoch_rotate, _next, _prove, _free,
 *          _empty_dead_cells: dump.  epoch_open, epoch_close: control, with all engines stopped.
 *          The rest: any, dump, control.
 * Memory   one block, reserved and touched by epoch_open.
 * Progress enter and leave are wait-free; nothing on the dump side waits for anybody.
 *
 * A buffer is FREE (cleared), ACTIVE (one of the three) or CLOSED. A generation is one life of a
 * buffer; lives are numbered from 1.
 *
 *        FREE ---- epoch_rotate ----> ACTIVE ---- epoch_rotate ----> CLOSED
 *          ^                                                            |
 *          +-- epoch_free <-- (owner clears) <-- epoch_prove: nobody ---+
 *
 * An activation (one run of a handler or hook) owns one cell of one cache line:
 *
 *        word:  0  -- claim -->  (tid, PENDING)  -- name -->  (tid, buffer)  -- leave -->  0
 *
 * claim, the load of `active`, the store of `active` and the look at the cells are the four
 * accesses of one order, EPOCH_SC: for every claim either the dump thread sees it, or it sees the
 * buffer that the dump thread made active. So a CLOSED buffer is empty once every cell was seen, at
 * some time since it was closed, neither PENDING nor naming it. No clock is part of the proof: an
 * activation that never ends holds one buffer for ever, and the other two take turns.
 *
 * Cells belong to activations, not to threads: a handler inside a hook simply takes another one.
 *
 * May these overlap?      enter/leave   rotate/prove/free   empty_dead_cells   open/close
 *   enter/leave               yes             yes                 yes            never
 *   rotate/prove/free         yes         no (one dump thread)    no             never
 *   state, active, numbers    yes             yes                 yes            never
 */
#ifndef JW_EPOCH_EPOCH_H
#define JW_EPOCH_EPOCH_H

#include "base/atomics.h"
#include "base/counters.h"
#include "base/jw.h"

#define EPOCH_BUFFERS 3
#define EPOCH_CELLS   256
#define EPOCH_PROBES  8
#define EPOCH_NONE    (-1) /* no buffer */

enum epoch_state {
    EPOCH_FREE,
    EPOCH_ACTIVE,
    EPOCH_CLOSED,
};

struct epoch;

/* What an activation holds between enter and leave. Comes in two registers; so claim and leave cost little more
 * than the one CAS in them. */
struct epoch_ticket {
    _Atomic uint64_t *cell; /* its word; NULL: none was free */
    uint32_t cell_index;
    uint32_t buffer; /* 0 .. EPOCH_BUFFERS - 1 */
};

/* True while a kernel thread `tid` of this process lives. Must ask anew at each call. */
typedef bool epoch_is_alive(uint32_t tid, void *arg);

/* Buffer 0 is ACTIVE in generation 1, the others are FREE. NULL and `err` when memory is refused. */
JW_MUST_CHECK struct epoch *epoch_open(struct jw_error *err);
void epoch_close(struct epoch *epoch);

/*
 * Enters the active buffer: until epoch_leave it is not cleared. `tid` is the kernel's thread id,
 * not 0. No cell, counted by nobody, when EPOCH_PROBES cells in a row are taken. From here to
 * epoch_leave: no block, no Java, no call into the JVM.
 */
JW_SIGNAL_SAFE JW_MUST_CHECK struct epoch_ticket epoch_claim(struct epoch *epoch, uint32_t tid);

/* The same for an activation that no signal stands behind: its failure is not counted as a loss. */
JW_SIGNAL_SAFE JW_MUST_CHECK static inline bool epoch_try_enter(struct epoch *epoch, uint32_t tid,
                                                                struct epoch_ticket *out)
{
    *out = epoch_claim(epoch, tid);
    return out->cell != NULL;
}

/* The same for a signal: failure is counted as LOST_NO_CELL. */
JW_SIGNAL_SAFE JW_MUST_CHECK static inline bool epoch_enter(struct epoch *epoch, uint32_t tid,
                                                            struct epoch_ticket *out)
{
    if (epoch_try_enter(epoch, tid, out))
        return true;
    jw_count(JW_COUNT_LOST_NO_CELL);
    return false;
}

JW_SIGNAL_SAFE static inline void epoch_leave(struct epoch *epoch,
                                              const struct epoch_ticket *ticket)
{
    (void)epoch;
    /* order EPOCH_CELL: releases all that the activation wrote into its buffer. */
    jw_store_release(ticket->cell, 0);
}

/* The FREE buffer that the next epoch_rotate activates: its owner prepares it; or EPOCH_NONE. */
int epoch_next(const struct epoch *epoch);

/*
 * Makes epoch_next active and closes the active one, which is returned. EPOCH_NONE, counted as
 * ROTATION_PUT_OFF, when no buffer is FREE: then nothing has changed. Success counts GENERATIONS.
 */
int epoch_rotate(struct epoch *epoch);

/* Looks at the cells once; true when `buffer` is CLOSED and proved empty. Stays true until freed. */
JW_MUST_CHECK bool epoch_prove(struct epoch *epoch, int buffer);

/* CLOSED and proved -> FREE, after its owner cleared it. Anything else is a broken invariant. */
void epoch_free(struct epoch *epoch, int buffer);

/*
 * Empties the cells whose thread is gone (it died inside an activation), counts each as
 * CELLS_EMPTIED and returns how many. `is_alive` is asked after the cell was read, so it must not
 * answer from a list made earlier. Between question and answer a tid cannot return: the kernel
 * hands out all others first.
 */
uint32_t epoch_empty_dead_cells(struct epoch *epoch, epoch_is_alive *is_alive, void *arg);

enum epoch_state epoch_state(const struct epoch *epoch, int buffer);
int epoch_active(const struct epoch *epoch);

/* Number of the life that `buffer` is in, from 1, growing by 1 with each rotation; 0: none yet. */
uint64_t epoch_generation(const struct epoch *epoch, int buffer);

/* Cells taken at this moment, by anybody; and those that name `buffer`. For status and tests. */
uint32_t epoch_cells_taken(const struct epoch *epoch);
uint32_t epoch_cells_inside(const struct epoch *epoch, int buffer);

#endif
