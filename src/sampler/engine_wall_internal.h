/*
 * engine_wall_internal - what the sampler thread and the handler of a thread tell each other.
 *
 * One line of `shared` for each thread record. The state says whose it is:
 *
 *              sampler thread              handler
 *     NONE ---------ask--------> ASKED ------------> TAKING ----> NONE   the sample is committed
 *      ^  <------give up--------   |                        \---> LOST   it is not
 *      |                                                           |
 *      +----------------- takes the weight back -------------------+
 *
 * A signal that comes when nobody asked is counted as SPARED_UNASKED.
 */
#ifndef JW_SAMPLER_ENGINE_WALL_INTERNAL_H
#define JW_SAMPLER_ENGINE_WALL_INTERNAL_H

#include "sampler/sampler_internal.h"

enum wall_state { WALL_NONE, WALL_ASKED, WALL_TAKING, WALL_LOST };

/* Relaxed, but for the state, which publishes the others. Who brought it to TAKING may write. */
struct wall_shared {
    _Alignas(64) _Atomic uint32_t state;
    _Atomic uint32_t turns;      /* asked for: what the sample stands for */
    _Atomic uint64_t weight_ns;  /* as well */
    _Atomic uint32_t has_waited; /* the last sample that was committed saw it wait, and where */
    _Atomic uint32_t missed;     /* samples in a row that saw no Java; of the handler */
    _Atomic uint64_t serial;     /* of the life that this is about */
    _Atomic uint64_t number;     /* of the last sample that was committed; 0: none */
    _Atomic uint64_t cpu_ns;     /* the thread's clock when its last sample was done */
    _Atomic uint32_t is_inside;  /* it waits inside a handler of ours, since its last sample */
    _Atomic uint32_t is_sent;    /* a signal is on its way, asked for still or given up */
};

/* NULL until the first run with a wall clock. Constant while an engine runs. */
extern struct wall_shared *wall_shared;

/* Forgets an earlier life of the record. The state is TAKING. */
JW_SIGNAL_SAFE void wall_shared_renew(struct wall_shared *shared, uint64_t serial);

#endif
