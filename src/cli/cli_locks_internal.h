/*
 * cli_locks_internal - the census of locks of recordings.
 *
 * For      `jaywalk locks`: cmd_locks.c (line, recordings), cli_locks_read.c (events, waits), cli_locks_text.c (words).
 * Callers  these.   Context  tool.
 * Memory   a row for each site, with its texts; and the waits (cli_contention_internal.h).
 *
 * Read is the last jaywalk.LockSite of each site of a recording, and each jdk.JavaMonitorEnter and jdk.ThreadPark, whose innermost frame
 * that is not of the lock itself says the site. Recordings are not added up: each has sites of its own.
 */
#ifndef JW_CLI_CLI_LOCKS_INTERNAL_H
#define JW_CLI_CLI_LOCKS_INTERNAL_H

#include <stdio.h>

#include "cli/cli_contention_internal.h"

enum locks_verdict {
    LOCKS_UNKNOWN, /* it is not counted */
    LOCKS_NEVER,
    LOCKS_ALONE,     /* one thread only */
    LOCKS_CONTENDED, /* somebody waited */
    LOCKS_SHARED,    /* several threads, of which none waited */
    LOCKS_VERDICT_LIMIT,
};
const char *locks_verdict_word(enum locks_verdict verdict);

struct locks_site {
    char *place;  /* "shop.Cart.add" */
    char *kind;   /* "monitor", "synchronized", "static synchronized", "ReentrantLock" ... */
    char *thread; /* one that came there */
    uint64_t line;
    uint64_t acquisitions, threads;
    uint64_t holds, weight;
    int64_t hold_ns, longest_hold_ns; /* the sum is estimated: weight of the holds were seen */
    uint64_t waits;
    int64_t waited_ns, longest_wait_ns;
    const char *lock_class; /* that was waited for first; "": none */
    bool is_platform, is_counted;
    enum locks_verdict verdict;
};

struct locks {
    struct contention waits;
    struct locks_site *sites;
    size_t count, capacity;
    size_t first;             /* of the recording that is read */
    uint64_t waits_elsewhere; /* for locks, at no site */
    bool is_out_of_memory;
};

bool locks_is_call(const struct locks_site *site); /* of a lock of java.util.concurrent */

/* Adds the sites of a recording. False and `err`: it cannot be read. */
JW_MUST_CHECK bool locks_read(struct locks *all, const char *path, struct jw_error *err);
void locks_settle(struct locks *all); /* who waited where, and what of each is to be said */
void locks_close(struct locks *all);

void locks_text(const struct locks *all, size_t top, FILE *to);
void locks_json(const struct locks *all, FILE *to);

#endif
