/*
 * sampler_locks - waits for Java locks under way: when each began, for what, and who owned it.
 *
 * For      engine `lock`: the time of a wait, told when it is over; who waits for whom.
 * Callers  agent (locks.c, deadlocks.c, owners.c, away.c).
 * Context  sampler_lock_begin, sampler_lock_end: hook, on the thread that waits, or carries who waits. sampler_lock_turn, sampler_lock_look,
 *          sampler_lock_seek, sampler_lock_away and what belongs to them: dump.
 *          sampler_lock_let_go: control, while no session runs.
 * Memory   a table of SAMPLER_LOCKS_MAX waits, reserved by the first session that wants it.
 * Progress wait-free.
 *
 * A wait is known by who waits, the thread or the virtual one, and by what for; so it may begin on one carrier and end on another. Each
 * thread has at most one wait of a kind. Waits of before a session have no begin and are counted, not told.
 */
#ifndef JW_SAMPLER_SAMPLER_LOCKS_H
#define JW_SAMPLER_SAMPLER_LOCKS_H

#include "base/clock.h"
#include "event/event.h"
#include "thread/thread.h"
#include "vm/vm.h"

#define SAMPLER_LOCKS_MAX 4096u

struct sampler_lock {
    enum event_lock kind;
    vm_addr
        monitor; /* of PARK: where the reference to what it is parked for lies, if that is a lock; 0: none, or not known */
    bool is_kept; /* that reference is the caller's to let go, once the wait is over */
    vm_addr
        waiter; /* a reference to the virtual thread that waits, the caller's to let go, too; 0: none */
    vm_addr
        object; /* a reference to what it waits for, whose owner is to be searched for, the caller's to let go, too; 0: none */
    uint64_t address;     /* as its event says; 0: that is found when it is over */
    vm_addr klass;        /* of that object; 0: not known */
    uint32_t timeout_ms;  /* 0: none; of PARK its code (base/park_time) */
    uint64_t begin_ns;    /* never that of two waits */
    uint64_t duration_ns; /* once it is over */
    thread_index owner;   /* at its begin, or who carried it; THREAD_NONE: not known */
    uint32_t owner_serial;
    uint64_t
        owner_virtual; /* number of the virtual thread that owned it, in place of `owner`; 0: none did */
    uint64_t
        seen_ns; /* so long behind the begin that owner was still seen to own it; 0: not again */
    uint64_t
        owner_number; /* of PARK, at its begin: the number of the thread that owns the lock; 0: not known */
    bool is_owner_virtual; /* it is a virtual thread's */
};

/* References that are the caller's to let go; 0: none. */
struct sampler_kept {
    vm_addr monitor, waiter, object;
};

/*
 * It begins to wait: kind, monitor, is_kept, waiter, object, address, klass, timeout_ms, owner_number and is_owner_virtual are given. Kept references that no end will
 * give back, which the caller lets go: of a wait before that never ended, or of this one, if it was refused.
 */
struct sampler_kept sampler_lock_begin(const struct sampler_lock *wait);

/* It goes on: true, and all of the wait, where that is to be told; `monitor`, `is_kept`, `waiter` and `object` also where it is not. */
JW_MUST_CHECK bool sampler_lock_end(enum event_lock kind, struct sampler_lock *wait);

/* Waits that nobody ended have left kept references: each is given to `let_go`, once. */
void sampler_lock_let_go(void (*let_go)(vm_addr reference, void *argument), void *argument);

#define SAMPLER_DEADLOCK_MAX  32u /* threads of one */
#define SAMPLER_DEADLOCKS_MAX 64u /* of a session */
#define SAMPLER_CLASS_BYTES   256u

/* A thread of a deadlock: it waits for a lock of the next one, and the last one for that of the first. */
struct sampler_deadlocked {
    uint32_t number; /* of the deadlock, from 1 */
    uint64_t begin_ns, address;
    thread_index thread; /* or what carried the virtual thread that waits */
    uint32_t serial;
    uint64_t who, owner_who; /* numbers of threads */
    bool is_virtual;
    uint32_t place; /* of its wait */
    vm_addr
        waiter; /* to the virtual thread, and from now on the caller's alone to let go; 0: none is kept */
    char class_name[SAMPLER_CLASS_BYTES]; /* of the lock, "java/lang/String"; "": not known */
};

/*
 * Owners of what has been waited for for a second are asked again; deadlocks that were not told yet, each whole: how many threads.
 * Once a second, by the agent's thread.
 */
uint32_t sampler_lock_turn(struct sampler_deadlocked *out, uint32_t room);

/* Whether owners still have what is waited for: by the agent's thread, in each of its turns. Without a wait it costs nothing. */
void sampler_lock_look(void);

/* A wait for a monitor whose owner nothing told. */
struct sampler_sought {
    uint32_t place;
    uint64_t begin_ns;
    vm_addr monitor;
    vm_addr
        object; /* a reference to what it waits for, and from now on the caller's alone to let go */
};

#define SAMPLER_SEEK_AFTER_NS (100 * JW_NS_PER_MS)

/* Of such waits that began so long ago, those that were not given out yet, `room` at most. By the agent's thread. Without one it costs nothing. */
uint32_t sampler_lock_seek(struct sampler_sought *out, uint32_t room);

/* It still goes on, and whoever had the monitor at its begin has it. Context: as the last one, in the same session. */
bool sampler_lock_is_sought(const struct sampler_sought *one);

/* The number of the virtual thread that a thread carries now; 0: none, or none that is told by its own. A guess. Context: any. */
uint64_t sampler_lock_carried(thread_index thread);

/*
 * A thread that had what it waits for in its lock stack since it began, or, if `carried` is not 0, the virtual thread of that number on it, is
 * its owner. Context: as sampler_lock_seek.
 */
void sampler_lock_found(const struct sampler_sought *one, thread_index owner, uint64_t carried);

/* The same of a virtual thread that had it, and was on no carrier. */
void sampler_lock_found_away(const struct sampler_sought *one, uint64_t number);

/* A wait for a lock that a virtual thread has, which is on no carrier, as far as anybody can tell. */
struct sampler_away {
    uint32_t place;
    uint64_t begin_ns;
    bool is_park;            /* else it is for a monitor */
    uint64_t owner, address; /* its number, of PARK a guess; of the lock, as its event says */
    uint64_t time_ns;        /* it was looked at then */
    char class_name[SAMPLER_CLASS_BYTES]; /* of the lock, "java/lang/String"; "": not known */
};

#define SAMPLER_AWAY_AFTER_NS (10 * JW_NS_PER_MS)

/*
 * Of waits that began so long ago, those of whose owner nothing was told since, or not for a second: of each lock one, `room` at most. Owners that are on a carrier
 * are asked by a signal. `is_soon`: some wait is for a virtual thread, and the next turn should come soon. By the agent's thread, in each of its turns, behind
 * sampler_lock_look. Without a wait it costs nothing.
 */
uint32_t sampler_lock_away(struct sampler_away *out, uint32_t room, bool *is_soon);

/*
 * Of a park: that virtual thread owns the lock, as the lock itself says, and so it is given out in the place of the guess. False: it is on a carrier, where it is asked by a
 * signal. Context: as the last one, in the same session.
 */
bool sampler_lock_away_of(struct sampler_away *one, uint64_t owner);

/*
 * The wait still goes on, and so does the hold: the owner of the monitor is the same, that of the lock which was parked for is the caller's to look at. Its stack from in between is
 * told, and it is not given out again soon. Context: as the last one.
 */
bool sampler_lock_is_away(const struct sampler_away *one);

/*
 * Threads that had what is waited for when those waits began outlive that generation, so that they can be named once it is over. The begin of the oldest wait
 * for a lock; UINT64_MAX: there is none. By the agent's thread, in a turn behind sampler_lock_look.
 */
uint64_t sampler_lock_outlive(uint64_t generation);

/* Its wait still goes on: who asked about it before asked about that very wait. By the agent's thread, in the same session. */
bool sampler_lock_goes_on(const struct sampler_deadlocked *one);

#endif
