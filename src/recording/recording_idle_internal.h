/*
 * recording_idle - what a thread waited on, and for whom: stack and context of its last wall sample,
 * for the turns of the wall clock after it, which come without.
 *
 * For      records of wall samples and of idle threads, whatever the format.
 * Callers  recording.   Context  dump.
 * Memory   a row for each thread record, and each distinct stack of a live thread's last sample once,
 *          RECORDING_IDLE_MAX_BYTES of stacks and as much of methods and of contexts at most, less by memlimit (see
 *          base/memory.def); what does not fit is not kept: idle turns are shown as [unknown wait] or without a context, counted.
 *          What a thread waited on is forgotten when the thread samples again, when its record is another life's, or reaped.
 *
 * Stacks and contexts are kept as bytes that mean something without their generation and without their chunk; what
 * they are made of is the format's business.
 *
 * Records of a take come shard by shard, not by time. An idle record that names a sample not seen yet
 * is put when that sample is: at the end of the take; or, when the sample was late and is taken with
 * what its generation left behind, in that later take. RECORDING_WAITING_MAX such records are kept
 * from take to take; the oldest beyond, those of threads whose records are about to be reaped, and what is left at the end,
 * are put without a stack.
 */
#ifndef JW_RECORDING_RECORDING_IDLE_INTERNAL_H
#define JW_RECORDING_RECORDING_IDLE_INTERNAL_H

#include "base/frame.h"
#include "base/map.h"
#include "event/event.h"
#include "recording/recording_kept_internal.h"

#define RECORDING_IDLE_MAX_BYTES ((size_t)32 << 20)
#define RECORDING_WAITING_MAX    ((size_t)1024)

/* A wall record: turns of the clock that found one thread on one stack. */
struct recording_turns {
    uint64_t thread_serial;
    uint64_t number; /* of the sample that saw the stack */
    uint64_t time_ns;
    uint64_t weight_ns;
    uint32_t thread_index;
    uint32_t turn_count;
    uint32_t state;
};

/* Plain events that one record may become (nobatch); the rest of its turns share one of ours. */
#define RECORDING_TURNS_SPLIT_MAX 1000u

/* When turn `number` of these ended, from 1 to turn_count: they share out the time evenly. */
static inline uint64_t recording_turn_end_ns(const struct recording_turns *turns, uint32_t number)
{
    const uint32_t count = turns->turn_count;

    return turns->time_ns - turns->weight_ns + turns->weight_ns / count * number +
           turns->weight_ns % count * number / count;
}

/* What a wall sample saw. */
struct recording_seen {
    struct recording_kept *stack;   /* NULL: not kept */
    struct recording_kept *context; /* NULL: none, or not kept */
    uint32_t state;
};

/* A thread's last wall sample. */
struct recording_idle_thread {
    uint64_t serial; /* 0: nothing is known */
    uint64_t number;
    struct recording_seen seen;
};

struct recording_held {
    struct recording_kept **kept;
    size_t count;
    size_t capacity;
};

/*
 * Puts idle turns into the output; what was not seen has neither stack nor context. Turns of number 0 go
 * on with no sample: none was taken of the thread when it should have been.
 */
typedef void recording_idle_put(void *context, const struct recording_turns *turns,
                                const struct recording_seen *seen);

/* Whether a thread's record is still there. */
typedef bool recording_idle_is_alive(void *context, uint32_t index, uint32_t serial);

/* Whether it is about to go, as recording_is_done. */
typedef bool recording_idle_is_done(void *context, uint32_t index, uint32_t serial);

struct recording_idle {
    struct recording_kept_table stacks;
    struct recording_kept_table methods;
    struct recording_kept_table contexts;
    struct recording_idle_thread *threads; /* by index */
    size_t thread_capacity;
    size_t next_checked;
    struct recording_turns *waiting; /* oldest first */
    size_t waiting_count;
    size_t waiting_capacity;
    struct jw_map passed_of; /* of this take: samples that are not the last of their threads */
    struct recording_seen *passed;
    size_t passed_count;
    size_t passed_capacity;
    struct recording_held held_stacks; /* by this take, in which somebody may still name them */
    struct recording_held held_methods;
    struct recording_held held_contexts;
    size_t limit_bytes; /* 0: RECORDING_IDLE_MAX_BYTES */
    /* Lets the methods go that a stack holds; NULL: it holds none. */
    void (*release)(struct recording_idle *idle, const struct recording_kept *stack);
};

void recording_idle_open(struct recording_idle *idle);

struct recording_turns recording_turns_of(const struct event_record *record);

/* Keep a stack, a method or a context, as recording_keep does, until the end of the take at least. The only holder
 * of a stack is the take when it is new: then who made it holds the methods in it. */
JW_MUST_CHECK struct recording_kept *
recording_idle_keep_stack(struct recording_idle *idle, const void *bytes, size_t length_bytes);
JW_MUST_CHECK struct recording_kept *
recording_idle_keep_method(struct recording_idle *idle, const void *bytes, size_t length_bytes);
JW_MUST_CHECK struct recording_kept *
recording_idle_keep_context(struct recording_idle *idle, const void *bytes, size_t length_bytes);

/* A stack that was held beyond its take is held once less; NULL: nothing. */
void recording_idle_let_go(struct recording_idle *idle, struct recording_kept *stack);

/* A wall sample was taken, of this stack and context; NULL: not kept, or none. */
void recording_idle_note(struct recording_idle *idle, const struct recording_turns *turns,
                         struct recording_kept *stack, struct recording_kept *context);

/* An idle record was taken: it is put now or later. It has the state of its sample, unless it says one. */
void recording_idle_take(struct recording_idle *idle, const struct recording_turns *turns,
                         recording_idle_put *put, void *context);

/* Puts what can be put by now, and forgets some of the threads that are gone. */
void recording_idle_end_take(struct recording_idle *idle, recording_idle_put *put, void *context);
/* Puts the records that wait for a sample of a thread whose record is about to be reaped: none comes any more. */
void recording_idle_give_up(struct recording_idle *idle, recording_idle_is_done *is_done,
                            void *whose, recording_idle_put *put, void *context);
void recording_idle_forget(struct recording_idle *idle, recording_idle_is_alive *is_alive,
                           void *context);

/* Puts all that waits. */
void recording_idle_end(struct recording_idle *idle, recording_idle_put *put, void *context);

void recording_idle_close(struct recording_idle *idle);

/* What stands in place of a stack that is not known; counts turns whose sample there was. */
enum jw_mark recording_idle_mark(const struct recording_turns *turns);

#endif
