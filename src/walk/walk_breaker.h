/*
 * walk_breaker - which walkers are in use, and which of them are given up for a while.
 *
 * For      walkers that fail or meet unreadable memory too often: what has become wrong is not gone on with,
 *          however long it was right, and nothing is given up for good.
 * Callers  walk (open, in use, count); agent (turn, tell).
 * Context  walk_breaker_java, walk_breaker_native, walk_breaker_count: handler. walk_breaker_open: control, with all
 *          engines stopped. walk_breaker_turn: dump. walk_breaker_tell, walk_breaker_get: any.
 * Memory   static.
 *
 * Handlers read one word and count. The agent's thread looks at the counts and decides, for each walker:
 *
 *     IN --- a bad batch ---> OUT --- quiet time is over ---> TRIAL --- a good small batch ---> IN
 *                              ^                                |
 *                              +--- a bad one: twice as quiet --+
 *
 * Java stacks are walked by the first of `vm` and `agct` that is IN or on TRIAL, and by none where there is none.
 * Native frames are walked while `native` is. A walk is bad when it fails, or when a load of foreign memory faulted
 * during it, though it was contained. A thread without Java frames is no failure, nor is a collection that keeps
 * AsyncGetCallTrace from walking.
 */
#ifndef JW_WALK_WALK_BREAKER_H
#define JW_WALK_WALK_BREAKER_H

#include "base/clock.h"
#include "walk/walk.h"

/* A batch is judged when it has so many walks; or when it is so old and has at least the least. */
#define WALK_BREAK_WALKS     1024u
#define WALK_BREAK_WALKS_MIN 64u
#define WALK_BREAK_NS        (60 * JW_NS_PER_SECOND)
#define WALK_TRIAL_WALKS     256u

/* More bad walks than this, and the walker is OUT: where another one takes its place; where nobody does, since
 * what it still finds is better than nothing; on trial, so that it does not come and go. */
#define WALK_BREAK_PCT      20u
#define WALK_BREAK_LAST_PCT 90u
#define WALK_TRIAL_PCT      10u

/* The one thread whose walks are worst is left out of the judgement, where all others have this part of the
 * walks: 1 / WALK_ODD_SHARE. Threads are told apart by their number, modulo so many. */
#define WALK_ODD_SHARE   8u
#define WALK_ODD_THREADS 32u

/* How long a walker is OUT: doubled each time, up to the most; from the first again, when it was IN for as long as
 * it had been OUT. The build for tests of wrong loads shortens the first. */
#ifndef WALK_QUIET_FIRST_NS
#define WALK_QUIET_FIRST_NS (60 * JW_NS_PER_SECOND)
#endif
#define WALK_QUIET_MAX_NS (3600 * JW_NS_PER_SECOND)

/* The two parts of a stack. */
enum walk_part { WALK_PART_JAVA, WALK_PART_NATIVE, WALK_PART_LIMIT };

/* ABSENT: never in use in this session. */
enum walk_standing { WALK_ABSENT, WALK_IN, WALK_TRIAL, WALK_OUT };

#define WALK_REASON_BYTES 240

/*
 * Begins a session: all walkers are IN that have no reason in `absent` to be ABSENT; an empty reason is one that
 * nobody need be told.
 */
void walk_breaker_open(const char *const absent[WALK_WALKER_LIMIT], uint64_t now_ns);

/* The walker of Java stacks; WALK_WALKER_LIMIT: none. */
JW_SIGNAL_SAFE enum walk_walker walk_breaker_java(void);
/* Whether native frames are walked. */
JW_SIGNAL_SAFE bool walk_breaker_native(void);

/* One walk more, by the thread of this number. */
JW_SIGNAL_SAFE void walk_breaker_count(enum walk_walker walker, uint32_t tid, bool is_bad);

/* Makes AsyncGetCallTrace usable, in place of `vm`. False and `err`: it cannot be used now. */
typedef bool walk_prepare(void *context, struct jw_error *err);

/* From one walker to another, or a trial that ended well: then `from` is that on trial. */
struct walk_change {
    uint64_t time_ns;
    enum walk_part part;
    const char *from, *to; /* "vm", "agct", "native", "none", those on trial as "vm on trial" */
    bool is_down, is_trial;
    uint64_t retry_ns; /* from now on until it is tried again; 0: nothing was given up */
    char reason[WALK_REASON_BYTES];
};

/*
 * Looks at what was counted since; `now_ns` never goes back. True when something has changed, which `out` tells;
 * then there may be more: it is asked again.
 */
bool walk_breaker_turn(uint64_t now_ns, walk_prepare *prepare, void *context,
                       struct walk_change *out);

/* What is known of a walker since the process started, as of the last turn. */
struct walk_breaker_counts {
    enum walk_standing standing;
    bool is_in_use;
    uint64_t walks, bad;
};
void walk_breaker_get(enum walk_walker walker, struct walk_breaker_counts *out);

/* A sentence on the walkers of a part; what is wrong, since when, and when it is tried again. False: nothing is
 * wrong. */
bool walk_breaker_tell(enum walk_part part, uint64_t now_ns, char *text, size_t room_bytes);

#endif
