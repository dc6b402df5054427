/*
 * sampler_lock_internal - the table of waits under way, for the files of engine `lock`.
 *
 * For      engine_lock.c (begin, end), engine_lock_ask.c (owners), engine_lock_away.c (owners on no carrier), engine_lock_look.c (whether they still are), engine_lock_seek.c (owners that were searched for), engine_lock_turn.c (long waits, deadlocks).
 * Callers  these.   Context  hook, handler, dump.   Memory  of engine_lock.c.
 */
#ifndef JW_SAMPLER_SAMPLER_LOCK_INTERNAL_H
#define JW_SAMPLER_SAMPLER_LOCK_INTERNAL_H

#include "sampler/sampler_locks.h"

/* From this JDK on who waits, or owns, may leave its carrier meanwhile, and is told by its own number. Source: JEP 491. */
#define LOCK_VIRTUAL_MAJOR_MIN 24

#define LOCK_KINDS        4u
#define LOCK_SERIAL_SHIFT 32
#define LOCK_INDEX_BITS   UINT32_MAX

/* Written by who waits; others take what is whole, by `begin_ns`, and look at that again behind it. */
struct lock_wait {
    _Atomic uint64_t key;      /* who, and for what; 0: free */
    _Atomic uint64_t begin_ns; /* 0: not whole */
    /* Relaxed, all: LOCK_BEGIN orders them, but `owner`, which is found behind the begin. */
    _Atomic uint64_t
        monitor; /* of PARK: where the reference to what it is parked for lies; 0: not known */
    _Atomic uint64_t address; /* as its event says */
    _Atomic uint64_t klass;   /* 0: not known */
    _Atomic uint64_t
        owner; /* its serial, and index + 1, or by LOCK_WAIT_VIRTUAL its number; 0: not known */
    _Atomic uint64_t thread; /* whose record it began with: serial and index */
    _Atomic uint32_t timeout_ms;
    _Atomic uint32_t flags; /* LOCK_WAIT_ */
};

#define LOCK_WAIT_OWN     1u /* `key` has the number of that thread, and no virtual one's */
#define LOCK_WAIT_KEPT    2u /* the reference in `monitor` is to be let go when the wait is over */
#define LOCK_WAIT_VIRTUAL 4u /* the owner was a virtual thread */
#define LOCK_WAIT_SHARED                                                                           \
    8u /* it has it as long as the monitor names nobody: found by a search for another wait, or in a lock stack */

_Static_assert(sizeof(struct lock_wait) == 64, "one wait, one cache line");

static inline JW_SIGNAL_SAFE enum event_lock engine_lock_kind_of(uint64_t key)
{
    return (enum event_lock)(key % LOCK_KINDS - 1);
}

static inline bool engine_lock_is_for_lock(enum event_lock kind)
{
    return kind == EVENT_LOCK_ENTER || kind == EVENT_LOCK_PARK;
}

/* engine_lock.c: the wait at a place below SAMPLER_LOCKS_MAX; that of a thread's number and a kind, NULL: none. */
JW_SIGNAL_SAFE struct lock_wait *engine_lock_at(uint32_t place);
struct lock_wait *engine_lock_of(uint64_t who, enum event_lock kind);
/* It is over: by who waits, or on behalf of one who never will. */
void engine_lock_leave(struct lock_wait *wait);
/* The reference to the virtual thread that waits there, which is the caller's from now on; 0: none, or somebody has it. Context: hook, dump, control. */
vm_addr engine_lock_take_waiter(uint32_t place);
/* So the one to what it waits for. */
vm_addr engine_lock_take_object(uint32_t place);
bool engine_lock_has_any(uint32_t place); /* of the two */
/* Whether there is an object anywhere. Context: dump. */
bool engine_lock_has_objects(void);
/* Who owned its lock at its begin owned it at that time, too. Context: dump. */
void engine_lock_saw(uint32_t place, uint64_t now_ns);
/* The begin of the last wait. Context: dump. */
uint64_t engine_lock_last_ns(void);
/* As keys have it: number of a thread, or of the operating system's. */
uint64_t engine_lock_who(thread_index thread);
/* The number of what runs on it now: of the virtual thread that it carries, else its own; 0: not known. Of another thread: a guess. */
JW_SIGNAL_SAFE uint64_t engine_lock_runs(thread_index thread);
/* engine_lock_owner.c: on which thread the one with this number runs, itself or carried; THREAD_NONE: on none that is known. */
thread_index engine_lock_thread_of(uint64_t number);
/*
 * engine_lock_owner.c: number of the virtual thread that owns the monitor, which was found on this carrier, or on none (THREAD_NONE); 0: none does, or it is
 * not known to be one.
 */
uint64_t engine_lock_owner_virtual(vm_addr monitor, thread_index carrier);
/*
 * engine_lock_owner.c: of a monitor that names nobody, which was found in this thread's lock stack: true, and the number of the virtual thread that owns it there, or 0:
 * the thread does. False: what ran on it has left it since, with what it had.
 */
bool engine_lock_carries_owner(vm_addr monitor, thread_index thread, uint64_t *number);

/* engine_lock_owner.c: no thread has this number, nor carries the one that has: it is a virtual thread's, as far as that can be told. */
bool engine_lock_is_away(uint64_t number);
/* engine_lock_look.c: somebody waited for a lock when it was last looked at. Context: dump. */
bool engine_lock_has_waits(void);
/* engine_lock_away.c: a session begins. */
void engine_lock_forget_away(void);

/* engine_lock_ask.c: with all hooks out. */
JW_MUST_CHECK bool engine_lock_open_asks(struct jw_error *err);
/* Its stack is wanted, while it has what this wait is for. Context: hook, dump. */
void engine_lock_ask(thread_index thread, uint32_t place);

/* Who had the lock when the wait for it began. */
struct lock_owner {
    uint64_t value; /* as lock_wait has it; 0: not known */
    bool is_virtual;
};

/* engine_lock.c: serial and index of a thread; the index + 1 where it is an owner. */
JW_SIGNAL_SAFE uint64_t engine_lock_pack(thread_index thread, uint32_t add);
/* As it was told at the begin, or else found since. */
JW_SIGNAL_SAFE struct lock_owner engine_lock_told(const struct lock_wait *wait, uint64_t begin_ns);
JW_SIGNAL_SAFE struct lock_owner engine_lock_found(const struct lock_wait *wait, uint64_t begin_ns);
/* By the agent's thread alone. */
void engine_lock_put_found(uint32_t place, uint64_t begin_ns, struct lock_owner owner);

/* engine_lock_seek.c: who was found to have the monitor, by a wait for it that goes on. Context: hook. */
struct lock_owner engine_lock_shared(vm_addr monitor);
/* Whether the owner that was found has it still. Context: handler, dump. */
JW_SIGNAL_SAFE bool engine_lock_keeps_found(const struct lock_wait *wait, uint64_t begin_ns);
/* And is the thread, or the virtual one on it; of another thread than the calling one: a guess. */
JW_SIGNAL_SAFE bool engine_lock_is_found(const struct lock_wait *wait, uint64_t begin_ns,
                                         thread_index thread);

#endif
