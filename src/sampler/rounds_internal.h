/*
 * rounds_internal - which threads the sampler thread looks at in a turn.
 *
 * For      engines that read clocks of many threads with few readings a turn. Room sampler only.
 * Context  rounds_open, rounds_reset: control, with no sampler thread running. The rest: sampler thread.
 * Memory   two tables as long as that of the thread records, reserved once, touched as used.
 *
 * Threads that ran lately are looked at each turn, in an order that begins anywhere, as far as half of the
 * readings go; a sweep over all threads takes what they leave, and goes on in the next turn where it ended. So
 * with R readings a turn and N threads, of which fewer than R / 2 run, a thread that began to run is noticed
 * after 2 N / R turns at the latest; a new one in the next turn.
 */
#ifndef JW_SAMPLER_ROUNDS_INTERNAL_H
#define JW_SAMPLER_ROUNDS_INTERNAL_H

#include "thread/thread.h"

enum rounds_found {
    ROUNDS_NOTHING, /* no thread of this engine: no clock was read */
    ROUNDS_STILL,   /* it did not run */
    ROUNDS_RAN,
};

typedef enum rounds_found rounds_visit(thread_index thread);

struct rounds_thread;

struct rounds {
    struct rounds_thread *threads;
    thread_index *active; /* those that ran lately */
    uint32_t active_count;
    thread_index sweep_next;
    uint32_t turn;
    uint64_t random;
    uint64_t ran_count; /* visits since the reset that found a thread running */
};

JW_MUST_CHECK bool rounds_open(struct rounds *rounds, struct jw_error *err);
void rounds_reset(struct rounds *rounds);

/* A new thread: is looked at in the next turn. */
void rounds_note(struct rounds *rounds, thread_index thread);

/* One turn: calls `visit` for each thread whose turn it is. */
void rounds_turn(struct rounds *rounds, uint32_t readings_max, rounds_visit *visit);

/* The next of a series of numbers that look random. */
uint64_t rounds_random(struct rounds *rounds);

/* Readings of clocks that take about a hundredth of a turn of this length. Of one that is stretched, as many as before it was,
 * as far as the sweep is through in a second with them: so what turns take gives way as they become fewer. */
uint32_t rounds_readings(uint64_t turn_ns);

#endif
