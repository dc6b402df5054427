/*
 * cli_contention_internal - waits for locks of recordings: by lock, place, thread; who made them wait.
 *
 * For      `jaywalk contention`: cmd_contention.c (line, recordings), cli_contention_read.c (events), cli_contention_sums.c (figures),
 *          cli_contention_holds.c (how long owners had locks), cli_contention_objects.c (which objects were waited for), cli_contention_text.c (words).
 * Callers  these.   Context  tool.
 * Memory   a row for each wait, up to CONTENTION_WAITS_MAX; the texts of distinct classes, stacks and threads.
 *
 * Read are jdk.JavaMonitorEnter, jdk.ThreadPark and jdk.JavaMonitorWait, whoever wrote them, and what jaywalk adds: jaywalk.LockOwner,
 * jaywalk.Deadlock. A wait is for a lock where it is to enter a monitor, or parked for one of java.util.concurrent's; any
 * other is for something to happen, and is told apart.
 *
 * Of a part (--from, --to, --thread, --endpoint, --attribute, --latency) tables have the waits that are wanted: those that began in
 * that time, on those threads, for those requests, and took so long. Who else waited in that time, and what owners waited for, is read all the same: convoys and chains are those
 * that a wanted wait is in.
 */
#ifndef JW_CLI_CLI_CONTENTION_INTERNAL_H
#define JW_CLI_CLI_CONTENTION_INTERNAL_H

#include <stdio.h>

#include "base/map.h"
#include "cli/cli_contexts_internal.h"

#define CONTENTION_WAITS_MAX ((size_t)4 << 20)
#define CONTENTION_CROWD     3 /* so many at once that wait for a lock are a convoy */

enum contention_kind { CONTENTION_ENTER, CONTENTION_PARK, CONTENTION_WAIT };

/* Objects of several processes have the same numbers. */
#define CONTENTION_PROCESS_SHIFT 32

/* Texts by number; 0: none. */
struct contention_texts {
    char **texts;
    size_t count, capacity;
    struct jw_map index; /* text -> number */
};

struct contention_wait {
    int64_t begin_ns, end_ns; /* of Unix time */
    uint64_t address;
    uint32_t lock; /* class */
    uint32_t stack, thread, owner;
    uint64_t
        object; /* what was waited for: its number, and of which process above that; 0: not known */
    enum contention_kind kind;
    uint64_t who, owner_who; /* threads, whatever they are called; 0: not known */
    int64_t held_ns;         /* by the owner, from the begin on, at least; negative: not known */
    bool is_for_lock, is_wanted;
    bool is_free; /* of a park: nobody had the lock when it was over */
};

/* jaywalk.LockOwner, and jaywalk.Deadlock with its number. */
struct contention_owner {
    int64_t time_ns, waited_ns;
    uint64_t address, number;
    uint64_t object;
    uint32_t lock, stack, thread;
    uint32_t other; /* who waited; of a deadlock: who owns what the thread waits for */
};

struct contention_row {
    uint32_t lock, stack, thread; /* what it is of; 0: of any */
    uint64_t count;
    int64_t total_ns, median_ns, p95_ns, p99_ns, longest_ns;
    /* Of an owner: how often it had a lock that others waited for; how long at least, the longest time that is known; how many of these times are known
     * to have begun and ended, and how long they were at most. */
    uint64_t holds, bounded;
    int64_t held_at_least_ns, held_at_most_ns;
};

struct contention_table {
    struct contention_row *rows;
    size_t count;
};

struct contention_convoy {
    uint32_t lock, owner; /* who owned it for most of those who waited */
    uint64_t object, address;
    uint64_t most, episodes, waits;
    int64_t crowded_ns; /* in which so many waited */
};

/* While the one waited for a lock of `owner`, that one waited for another lock itself. */
struct contention_chain {
    uint32_t lock, owner, next_lock, next_owner;
    uint64_t count;
    int64_t total_ns;
};

/* A wait for an object, of a class or place. */
struct contention_item {
    uint64_t object; /* 0: not known */
    uint32_t group, thread, owner;
    int64_t ns;
};

/* An object that was waited for. */
struct contention_object {
    uint64_t object;
    uint32_t owner; /* behind whom others waited longest; 0: not known */
    uint64_t waits, threads, owners;
    int64_t total_ns, longest_ns, owner_ns;
};

/* Those of one class or place, the busiest first. */
struct contention_group {
    uint32_t group;
    const struct contention_object *objects;
    size_t count, most;  /* so many of them have four fifths of the time */
    uint64_t waits;      /* for them */
    uint64_t unnumbered; /* for others, which have no number */
    int64_t total_ns;
};

struct contention_objects {
    struct contention_object *objects;
    size_t count;
    struct contention_group *groups; /* that have any */
    size_t group_count;
};

struct contention {
    int64_t threshold_ns; /* of the recording, if it was made with lock=; 0: it was not */
    uint32_t only;        /* waits for objects of this number alone are wanted; 0: for any */
    struct contention_texts texts;
    struct contention_wait *waits;
    size_t wait_count, wait_capacity;
    struct contention_owner *owners, *deadlocked;
    size_t owner_count, owner_capacity, deadlocked_count, deadlocked_capacity;
    uint64_t left_out; /* beyond CONTENTION_WAITS_MAX */
    int64_t begin_ns, end_ns;
    /* The rest: by contention_settle. */
    int64_t total_ns;
    uint64_t lock_waits;
    uint64_t unwanted; /* waits that are in no table */
    struct contention_table locks, sites, victims, holders, doings, others;
    struct contention_convoy *convoys;
    size_t convoy_count;
    struct contention_chain *chains;
    size_t chain_count;
    struct contention_objects objects; /* of classes, the one that took longest first */
    struct jw_map processes;           /* which -> its number + 1 */
    uint64_t process_count;
    bool is_out_of_memory;
};

struct contention_look {
    size_t top;       /* rows; 0: all */
    const char *part; /* in words; "": all waits */
};

/* Adds what the file has of the part. False and `err`: it cannot be read, or the part has no sense in it. */
JW_MUST_CHECK bool contention_read(struct contention *all, const char *path, struct cli_part *part,
                                   bool is_quiet, struct jw_error *err);
/* Sums it all up. False: no memory. */
JW_MUST_CHECK bool contention_settle(struct contention *all);
/* What the owner of a wait's lock waited for itself meanwhile, the longest of it, and how long; NULL: nothing. Once it is settled. */
const struct contention_wait *contention_next_of(const struct contention *all,
                                                 const struct contention_wait *wait, int64_t *ns);
void contention_close(struct contention *all);
/* Of waits that stand lock by lock, once the owners' table is there. False: no memory. */
JW_MUST_CHECK bool contention_find_holds(struct contention *all);
bool contention_is_same_lock(const struct contention_wait *one,
                             const struct contention_wait *other);

/* Likewise, in any order. */
JW_MUST_CHECK bool contention_find_objects(struct contention *all);
/* Sorts the items; groups in their order. False: no memory. What it has made is closed in any case. */
JW_MUST_CHECK bool contention_sum_objects(struct contention_item *items, size_t count,
                                          struct contention_objects *out);
uint64_t contention_number(uint64_t object); /* as events have it */
void contention_close_objects(struct contention_objects *all);
/* Several, of which none stands out. */
bool contention_is_alike(const struct contention_group *group);
/* "1 of 400 objects takes 97.0 % of the time: look at that one first". */
#define CONTENTION_SPREAD_BYTES 240u
void contention_spread(const struct contention_group *group, char out[CONTENTION_SPREAD_BYTES]);

const char *contention_text_of(const struct contention *all, uint32_t number); /* "": none */

/* "12.3 ms", in whole numbers: no locale changes them. */
#define CONTENTION_WORD_BYTES 32u
void contention_time(int64_t ns, char out[CONTENTION_WORD_BYTES]);
void contention_share(int64_t part_ns, int64_t all_ns,
                      char out[CONTENTION_WORD_BYTES]); /* "12.3 %" */

void contention_text(const struct contention *all, const struct contention_look *look, FILE *to);
void contention_json(const struct contention *all, const struct contention_look *look, FILE *to);

#endif
