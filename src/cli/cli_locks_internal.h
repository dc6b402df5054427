/*
 * cli_locks_internal - the census of locks of recordings.
 *
 * For      `jaywalk locks`: cmd_locks.c (line, recordings), cli_locks_read.c (events, waits), cli_locks_owners.c (who made them wait), cli_locks_objects.c (which objects they waited for), cli_locks_taken.c (which objects' locks are taken), cli_locks_judge.c (what of it is to be said),
 *          cli_locks_text.c (words); and the same in an explorer page: cli_locks_page.c.
 * Callers  these.   Context  tool.
 * Memory   a row for each site and caller, with its texts; and the waits (cli_contention_internal.h).
 *
 * Read is the last jaywalk.LockSite of each site of a recording, with each jaywalk.LockCaller behind it, and each jdk.JavaMonitorEnter and jdk.ThreadPark, whose innermost frame
 * that is not of the lock itself says the site. Recordings are not added up: each has sites of its own.
 */
#ifndef JW_CLI_CLI_LOCKS_INTERNAL_H
#define JW_CLI_CLI_LOCKS_INTERNAL_H

#include <stdio.h>

#include "base/map.h"
#include "cli/cli_contention_internal.h"

enum locks_verdict {
    LOCKS_UNKNOWN, /* it is not counted */
    LOCKS_NEVER,
    LOCKS_ALONE,     /* one thread only */
    LOCKS_CONTENDED, /* somebody waited */
    LOCKS_SHARED,    /* several threads, of which none waited */
    LOCKS_CONFINED,  /* likewise, and each object is used by one of them only */
    LOCKS_VERDICT_LIMIT,
};
const char *locks_verdict_word(enum locks_verdict verdict);

/* A method of the program whose calls come to a place of the JDK. */
struct locks_caller {
    char *place;                           /* "shop.Cart.add", or in brackets why there is none */
    uint64_t samples, acquisitions, error; /* estimated, and within that in 95 of 100 cases */
};

/* Who had the lock in waits, and what that one waited for meanwhile, most of the time; numbers of texts, 0: not known. */
struct locks_owner {
    uint32_t owner, next_lock, next_owner;
    uint64_t waits;
    int64_t waited_ns, next_ns; /* the latter: of these, 0 where it waited for nothing */
};

/* One of the objects whose lock is taken most, by identity hash. */
struct locks_busy {
    uint64_t hash, acquisitions, threads; /* the latter: 3 for more than two */
};

/* Objects whose locks are taken at a site; where nobody asked for them all is 0. */
#define LOCKS_BUSY 10u
struct locks_taken {
    uint64_t objects, acquisitions, alone, four_fifths;
    uint64_t other_objects, other_acquisitions, other_several; /* for which there was no room */
    struct locks_busy busy[LOCKS_BUSY];
    size_t told;
};

/* Of times: below 1 us, then each up to ten times the one before, from 100 ms on the last. */
#define LOCKS_STEPS 7u

struct locks_site {
    char *place;  /* "shop.Cart.add" */
    char *kind;   /* "monitor", "synchronized", "static synchronized", "ReentrantLock" ... */
    char *thread; /* one that came there */
    uint64_t line;
    uint64_t acquisitions, threads;
    uint64_t holds, weight;
    int64_t hold_ns, longest_hold_ns; /* the sum is estimated: weight of the holds were seen */
    int64_t hold_error_ns;            /* within that of the sum in 95 of 100 cases */
    uint64_t hold_steps[LOCKS_STEPS], wait_steps[LOCKS_STEPS];
    uint64_t waits;
    int64_t waited_ns, longest_wait_ns;
    const char *lock_class; /* that was waited for first; "": none */
    bool is_platform, is_counted;
    enum locks_verdict verdict;
    struct locks_caller *callers; /* most first */
    size_t caller_count, caller_capacity;
    struct locks_owner *owners; /* longest first */
    size_t owner_count, owner_capacity;
    const struct contention_group *objects; /* NULL: none that has a number */
    struct locks_taken taken;
};

struct locks {
    struct contention waits;
    struct locks_site *sites;
    size_t count, capacity;
    size_t first;         /* of the recording that is read */
    struct jw_map owners; /* once waits are settled: site and who -> number of its owner + 1 */
    struct contention_item *items; /* likewise: waits at sites */
    size_t item_count;
    struct contention_objects objects; /* of sites */
    uint64_t waits_elsewhere;          /* for locks, at no site */
    bool is_out_of_memory;
    bool takes_bias; /* objects lost their biased locks by being told */
};

bool locks_is_call(const struct locks_site *site); /* of a lock of java.util.concurrent */

/* Adds the sites of a recording. False and `err`: it cannot be read. */
JW_MUST_CHECK bool locks_read(struct locks *all, const char *path, bool is_quiet,
                              struct jw_error *err);
/* Who waited where, for whom, and what of each is to be said. False: no memory. */
JW_MUST_CHECK bool locks_settle(struct locks *all);
/* Of a wait at the site, once waits are settled. False: no memory. */
JW_MUST_CHECK bool locks_take_owner(struct locks *all, struct locks_site *site,
                                    const struct contention_wait *wait);
void locks_sort_owners(struct locks_site *site);
/* Likewise, and, once all are taken, which objects each site has waited for. False: no memory. */
void locks_take_object(struct locks *all, const struct locks_site *site,
                       const struct contention_wait *wait);
JW_MUST_CHECK bool locks_sum_objects(struct locks *all);
void locks_close(struct locks *all);

/* Of events that stand behind their site's: all objects, and one of them. */
struct jfr_reader_event;
void locks_read_taken(struct locks_site *site, const struct jfr_reader_event *event);
void locks_read_busy(struct locks_site *site, const struct jfr_reader_event *event);
bool locks_has_taken(const struct locks_site *site);
/* No object was seen with two threads, and all are known. */
bool locks_is_confined(const struct locks_site *site);

/* ---- what is to be said: of the command and of the page alike ---- */

struct locks_sums {
    uint64_t sites, reached, acquisitions, uncounted;
};
struct locks_sums locks_sum_of(const struct locks *all, bool is_platform);

/* Lines at the head: what was counted, and what was not. Their names; NULL: there is nothing to say. */
#define LOCKS_LINES      4u
#define LOCKS_LINE_BYTES 200u
const char *locks_line(const struct locks *all, unsigned number, char out[LOCKS_LINE_BYTES]);
extern const char locks_note[]; /* how to read it */

struct locks_table {
    const char *key, *title;    /* for links, for people */
    enum locks_verdict verdict; /* LOCKS_VERDICT_LIMIT: any that was come to */
    bool is_platform;
};
#define LOCKS_TABLES 6u
extern const struct locks_table locks_tables[LOCKS_TABLES];

/* Whether it is told where it has no rows: a question that not every recording answers is not asked of others. */
bool locks_is_always_told(const struct locks_table *table);
/* Its sites in order, into `out` with room for all; how many. */
size_t locks_choose(const struct locks *all, const struct locks_table *table,
                    const struct locks_site **out);

int64_t locks_mean_hold_ns(const struct locks_site *site);
/* The sum of holds, less its error and with it. */
int64_t locks_held_at_least_ns(const struct locks_site *site);
int64_t locks_held_at_most_ns(const struct locks_site *site);
/* The class that somebody waited for, where that says which lock it is; else "". */
const char *locks_told_class(const struct locks_site *site);
/* "75.0 % +- 1.2  shop.Cart.add": how much of the place's acquisitions. */
#define LOCKS_CALLER_BYTES 1200u
void locks_caller_text(const struct locks_site *site, const struct locks_caller *caller,
                       char out[LOCKS_CALLER_BYTES]);
/* "30.0 ms in 2 waits  worker-1, who waited 8.0 ms for shop.Desk of worker-2". */
#define LOCKS_OWNER_BYTES (3 * 1024u + 200u)
void locks_owner_text(const struct locks *all, const struct locks_owner *owner,
                      char out[LOCKS_OWNER_BYTES]);
/* "40.0 ms in all +- 1.2 %: < 1 us 93.1 %, 1-10 us 6.9 %"; "": none was timed, nobody waited. */
#define LOCKS_TIMES_BYTES 256u
void locks_holds_text(const struct locks_site *site, char out[LOCKS_TIMES_BYTES]);
void locks_waits_text(const struct locks_site *site, char out[LOCKS_TIMES_BYTES]);
/* "1 of 400 objects takes 97.0 % of the time: look at that one first; #17 12.3 s in 912 waits"; "": not known. */
#define LOCKS_OBJECTS_BYTES 480u
void locks_objects_text(const struct locks_site *site, char out[LOCKS_OBJECTS_BYTES]);
/* "1 of 4,000 objects takes 97.0 %, 3,999 of them used by one thread only; @1b2c3d 97,000 by more threads"; "": not known. */
#define LOCKS_TAKEN_BYTES 640u
void locks_taken_text(const struct locks_site *site, char out[LOCKS_TAKEN_BYTES]);
/* What follows from it; "": nothing. */
#define LOCKS_FOLLOWS_BYTES (1024u + 200u)
void locks_follows(const struct locks_site *site, char out[LOCKS_FOLLOWS_BYTES]);

void locks_text(const struct locks *all, size_t top, FILE *to);
void locks_json(const struct locks *all, FILE *to);
void locks_json_objects(const struct locks_site *site, FILE *to);
void locks_json_taken(const struct locks_site *site, FILE *to);
void locks_json_owners(const struct locks *all, const struct locks_site *site, FILE *to);

/*
 * The census of a recording as JSON for its page (export.h), freed by jw_free. NULL: it has none, or `err` says why it cannot be read.
 */
char *locks_page(const char *path, struct jw_error *err);

#endif
