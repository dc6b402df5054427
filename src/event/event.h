/*
 * event - records of a generation, of fixed size: what happened, when, to whom, how much.
 *
 * For      handing samples from handlers to the dump thread without formatting anything.
 * Callers  generation (open, clear, close); sampler (reserve, commit); recording (take).
 * Context  event_reserve, event_commit: handler, hook, any, inside the generation of the ring.
 *          event_take, event_clear, event_stats: dump.  event_open, event_close: control, with all
 *          engines stopped.  event_reserved_count, event_capacity_count: any.
 * Memory   EVENT_SHARDS shards, reserved whole by event_open, pages touched when used.
 * Progress reserve and commit wait-free.
 *
 * A record is reserved (its memory is zero), filled by its owner alone, and committed, which
 * publishes it. A thread starts at the shard that its thread pointer hashes to and goes on to the
 * next when that one is full, so that a single busy thread can use them all. (Not by CPU: in some C
 * libraries sched_getcpu is a system call or not safe in a handler, and the shard only has to keep
 * most threads apart.)
 *
 * May these overlap?    reserve/commit    take    clear
 *   reserve/commit          yes           yes     never (epoch)
 *   take                    yes           no      no (one dump thread)
 */
#ifndef JW_EVENT_EVENT_H
#define JW_EVENT_EVENT_H

#include "base/jw.h"

#define EVENT_SHARDS       16
#define EVENT_RECORD_BYTES 64

enum event_kind {
    EVENT_NONE = 0, /* never committed */
    EVENT_CPU_SAMPLE = 1,
    EVENT_WALL_SAMPLE = 2,
    EVENT_ALLOC_SAMPLE =
        3, /* weight_ns: bytes that it stands for; value: bytes of the object; of class_name; name: number of the
              live object, 0: it is not watched; flags: its slot */
    EVENT_LOCK = 4,      /* a wait for a lock that is over; see EVENT_LOCK_KIND */
    EVENT_WALL_IDLE = 5, /* a thread that still waits where its last wall sample saw it; no trace */
    EVENT_ENDPOINT = 6,  /* which request a root span is; no trace */
    EVENT_SPAN = 7,      /* a span that ended; no trace */
    EVENT_COUNTER_SAMPLE = 8, /* weight_ns is a number of what the session counts, no time */
    EVENT_LOCK_OWNER =
        10, /* a thread that others wait for; value: address of the lock, as in LOCK; of class_name */
    EVENT_DECLARED =
        11, /* of a probe; weight_ns: its duration, time_ns: its begin; name: dict_id in `payloads`, event_values.h */
    EVENT_METHOD_TRACE =
        12, /* a call that a traced method has ended; weight_ns: its duration, time_ns: its begin */
    EVENT_QUEUE_TIME =
        13, /* a task that waited in a queue; weight_ns: how long, time_ns: from when on; name: as of DECLARED, without a type: classes of task and
               executor, who handed it over, length of the queue; no trace that says anything */
    EVENT_TASK =
        14, /* of an executor; flags: enum event_task, value: its number; of HANDED with the stack of who hands it over */
    EVENT_IO =
        15, /* a file or a socket was read or written; flags: enum jw_io and EVENT_IO_END; weight_ns: its duration, time_ns: its begin;
                      value: bytes; name: as of DECLARED, without a type: path or host, address, port */
    EVENT_CLASS =
        16, /* of class_name; flags: enum event_class; name: number of its loader, 0: not known */
    EVENT_LATE = 9, /* a thread that a safepoint waited for; `state`: enum vm_thread_delay */
};

/* Flags of CPU_SAMPLE: of Java, and `value` is where compiled code on top runs on, 0 where no such code does. */
#define EVENT_TOP_KNOWN (1u << 1)
/*
 * LOCK: flags say what was waited for; time_ns: of its begin, never that of two waits; weight_ns: how long; value: address of the monitor or, by
 * EVENT_LOCK_HASH, hash of the object, and of a park above its 32 bits how long it lasts at most (base/park_time); of class_name; state: thread_index + 1 of the owner at its begin, 0: not known; name: the low bits of
 * its serial; share: how much of the duration was over when that owner was last seen to have it. Of Object.wait name: milliseconds after which it would have ended by itself, 0: never.
 */
#define EVENT_LOCK_KIND    3u /* enum event_lock */
#define EVENT_LOCK_EXPIRED (1u << 2)
#define EVENT_LOCK_HASH    (1u << 3)
#define EVENT_LOCK_FREE    (1u << 5)  /* of PARK: nobody owned it when it was over */
#define EVENT_LOCK_SHARES  UINT16_MAX /* so many are all of the duration */
#define EVENT_LOCK_VIRTUAL                                                                         \
    (1u << 4) /* the owner was a virtual thread: state, name: its number, upper bits first */

/* Flags of TASK. Tasks of a thread may lie within one another: one helps while it waits for another. */
enum event_task {
    EVENT_TASK_HANDED, /* to an executor */
    EVENT_TASK_BEGUN, /* by this thread; value 0: it was handed over before there was anybody to notice */
    EVENT_TASK_ENDED,     /* the one that was begun last */
    EVENT_TASK_ENDED_ALL, /* the thread looks for another one */
};

/* Flags of IO, beside what it was: there was nothing more to be read. */
#define EVENT_IO_END (1u << 8)

enum event_class {
    EVENT_CLASS_DEFINED, /* on this thread */
    EVENT_CLASS_UNLOADED,
};

enum event_lock {
    EVENT_LOCK_ENTER, /* to enter a monitor */
    EVENT_LOCK_WAIT,  /* in Object.wait */
    EVENT_LOCK_PARK,  /* in LockSupport.park */
};

/* Of CPU_SAMPLE, WALL_SAMPLE and COUNTER_SAMPLE: a safepoint was waiting for the thread. */
#define EVENT_WAITED_FOR (1u << 2)
/* Likewise, in place of that: a handshake was, or the collector's watermark was set; both flags: a safepoint or a handshake, which cannot be told. */
#define EVENT_ASKED_BY_HANDSHAKE (1u << 3)
#define EVENT_ASKED_BY_WATERMARK (1u << 4)
/* Of COUNTER_SAMPLE: calls of a method are counted, by a hook, and no signal stands behind it; it is none of those that the law is about. */
#define EVENT_BY_HOOK (1u << 5)
/* Likewise, and with that: an exception, of class_name. */
#define EVENT_OF_THROW (1u << 6)
#define EVENT_OF_ERROR (1u << 7) /* with both: it extends java.lang.Error */
/* With EVENT_BY_HOOK: an object, of class_name, is made. */
#define EVENT_OF_NEW (1u << 8)

/*
 * One cache line. Every id is one of the generation that the record lies in; the owner fills what
 * his kind of event has and leaves the rest 0.
 */
struct event_record {
    uint16_t kind;  /* enum event_kind */
    uint16_t flags; /* by kind */
    uint32_t
        thread_index; /* of the thread's record; ENDPOINT, SPAN: UINT32_MAX where it has none */
    uint32_t thread_serial; /* which life of that thread record, its low bits */
    uint32_t
        object; /* LOCK: number of what was waited for, which no other object has; 0: it has none */
    uint64_t
        time_ns; /* CLOCK_MONOTONIC, read after the generation was entered; SPAN: of its begin */
    uint64_t weight_ns; /* time that this event stands for; SPAN: its duration */
    /* By kind: bytes, a duration. Wall kinds: number, from 1, of the wall sample in this life of the
     * thread; an idle record has that of the sample that it goes on with. ENDPOINT: the root span's id. CPU_SAMPLE: a
     * pc, see EVENT_TOP_KNOWN. LATE: which record of which safepoint (SAMPLER_DELAY_VALUE). */
    uint64_t value;
    uint32_t trace; /* store_id */
    union {
        uint32_t class_name;   /* dict_id in `classes`, by kind */
        uint32_t sample_count; /* wall kinds: turns of the wall clock that this stands for */
        uint32_t operation;    /* ENDPOINT: dict_id in `endpoints`, or none */
    };
    uint32_t
        context; /* dict_id in `contexts`: what the thread worked for; none: nothing, or not known */
    uint32_t name;             /* ENDPOINT, SPAN: dict_id in `endpoints` */
    uint16_t state;            /* enum jw_thread_state, by kind */
    uint16_t share;            /* LOCK: see EVENT_LOCK_SHARES */
    _Atomic uint32_t progress; /* room event alone: 0 filling, committed, taken */
};

_Static_assert(sizeof(struct event_record) == EVENT_RECORD_BYTES, "one record, one cache line");

struct event_ring;

struct event_stats {
    uint64_t reserved_count;
    uint64_t committed_count; /* taken ones included */
    uint64_t taken_count;
    uint64_t capacity_count;
    uint64_t refused_count; /* NULL given by event_reserve since the last clear */
};

/*
 * Room for at least `capacity_count` records, rounded up to a page for each shard. NULL and `err`
 * when the kernel refuses or the capacity is 0.
 */
JW_MUST_CHECK struct event_ring *event_open(size_t capacity_count, struct jw_error *err);
void event_close(struct event_ring *ring);
void event_warm(struct event_ring *ring); /* brings the first records of each shard into memory */

/*
 * A zeroed record for the caller to fill and commit before he leaves the generation. NULL when all
 * shards are full, counted as LOST_EVENTS_FULL.
 */
JW_SIGNAL_SAFE struct event_record *event_reserve(struct event_ring *ring);

/* The same for a record that no signal stands behind: NULL is not counted as a loss. */
JW_SIGNAL_SAFE struct event_record *event_try_reserve(struct event_ring *ring);
/* The same for one that samples go before: NULL as soon as three quarters of the ring are reserved. */
JW_SIGNAL_SAFE struct event_record *event_spare_reserve(struct event_ring *ring);
/* Whether there is room for one of those; a moment later it may be gone. Also of a ring that nobody has entered. Context: all. */
JW_SIGNAL_SAFE bool event_has_spare(const struct event_ring *ring);
JW_SIGNAL_SAFE void event_commit(struct event_record *record);

/*
 * Calls back once for each record committed and not yet taken, shard by shard, and returns how
 * many. Uncommitted ones stay for a later call. Times do not come sorted.
 */
typedef void event_visit(const struct event_record *record, void *arg);
uint64_t event_take(struct event_ring *ring, event_visit *visit, void *arg);

/* The same, but they are not taken by it: for what must be known before the first is. */
void event_look(const struct event_ring *ring, event_visit *visit, void *arg);

/*
 * Forgets all records. Pages stay for the next life; after a spike they go back bit by bit.
 * Returns how many were reserved and never committed: their threads died on the way.
 */
uint64_t event_clear(struct event_ring *ring);

/* As dict_seal. */
JW_MUST_CHECK bool event_seal(const struct event_ring *ring, bool is_sealed);

/* Records reserved so far, for rotation at half full: reserved / capacity. Cheap. */
JW_SIGNAL_SAFE uint64_t event_reserved_count(const struct event_ring *ring);
JW_SIGNAL_SAFE uint64_t event_capacity_count(const struct event_ring *ring);

/* Counts by looking at every reserved record. */
void event_stats(const struct event_ring *ring, struct event_stats *out);

#endif
