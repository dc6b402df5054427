/*
 * caller_table - methods that call places where locks are taken: samples of them, by place and method, and what follows of all acquisitions there.
 *
 * For      locks=census, of places in classes of the JDK.
 * Callers  callers.c.
 * Context  caller_table_add: hook. It takes no lock but where a method is at a place for the first time, for some instructions.
 *          The rest: the agent's thread.
 * Memory   1.2 MB from the first census on, half a megabyte while it is told, and a text for each row. Where rows are out, what has none is another method's of its place
 *          (CALLER_OTHERS); where there is no room for that either it is counted.
 * Progress caller_table_add: lock-free but for the first time.
 *
 * A sample stands for `weight` acquisitions, since one of so many was taken by chance. Then its square less itself is what it adds to the
 * variance of sums of weights (Horvitz and Thompson; each is taken by itself): nothing where all are taken.
 */
#ifndef JW_AGENT_CALLER_TABLE_H
#define JW_AGENT_CALLER_TABLE_H

#include "base/jw.h"

/* In place of a method, with no class. */
#define CALLER_OTHERS "[others]"

struct caller {
    const char *class_name; /* "com/acme/Shop"; "": it is no method. Until the next look */
    const char *method;
    uint64_t samples;
    uint64_t acquisitions; /* estimated, of those that were counted at the place ... */
    uint64_t error;        /* ... within this, in 95 of 100 cases */
};

/* False and `err`: no memory. What is there is forgotten. */
JW_MUST_CHECK bool caller_table_begin(struct jw_error *err);
/* What was added until now is not told any more. */
void caller_table_begin_again(void);

void caller_table_add(uint32_t site, const char *class_name, const char *method, uint64_t weight);

/* What is told from now on is as of now. False: no memory, and nothing is told. */
bool caller_table_look(void);
/* Of a place where so many acquisitions were counted, by number, most first. False: no more. */
bool caller_table_get(uint32_t site, uint32_t number, uint64_t acquisitions, struct caller *out);
uint64_t caller_table_lost(void); /* samples without a row */

#endif
