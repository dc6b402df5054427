/*
 * memory - what the agent's memory is for, and the one limit of it all.
 *
 * For      `memlimit`: a share for each part of the agent, charged before memory is used.
 * Callers  base (jw_alloc, arenas), thread, symbols, sampler, context, generation, recording, agent.
 * Context  jw_memory_charge, jw_memory_credit, jw_memory_room_bytes: all. The rest: any, dump, control, tool.
 * Memory   static, and a node for each mapping.
 * Progress jw_memory_charge lock-free, jw_memory_credit wait-free.
 *
 * Memory that jw_alloc gives is charged by it. A mapping is address space, and charged by its owner: whole, or as
 * much as he is about to touch. So what is charged is never less than what lies in memory, and what is charged
 * stays within the limit. Until jw_memory_share is called nothing is limited.
 */
#ifndef JW_BASE_MEMORY_H
#define JW_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jw.h"

#define JW_MEMORY_SMALLEST_BYTES ((uint64_t)40 << 20)
#define JW_MEMORY_DEFAULT_BYTES  ((uint64_t)512 << 20)
#define JW_MEMORY_MOST_BYTES     ((uint64_t)64 << 30)

struct jw_memory_info {
    const char *name;    /* "samples" */
    const char *outcome; /* what happens at the limit */
    uint64_t smallest_bytes;
    uint64_t default_bytes;
    uint64_t most_bytes; /* 0: any */
    bool borrows;
};

extern const struct jw_memory_info jw_memory_infos[JW_MEMORY_LIMIT];

struct jw_memory_figures {
    uint64_t used_bytes;     /* in memory: allocated, and touched of mappings */
    uint64_t charged_bytes;  /* not less */
    uint64_t reserved_bytes; /* address space of mappings */
    uint64_t limit_bytes;    /* 0: none */
    uint64_t refused_count;  /* what its limit cost, in the units of its counters */
};

/* Shares out this much; once for a process, before the rooms are opened. Limits below the smallest are raised to it. */
void jw_memory_share(uint64_t limit_bytes);
uint64_t jw_memory_limit_bytes(void); /* of all; 0: none */

/* Tests: nothing is limited any more. */
void jw_memory_unlimit(void);

/* The share of a part of such a limit. */
uint64_t jw_memory_share_of(enum jw_memory_part part, uint64_t limit_bytes);

/* The share of a part; `otherwise` when nothing is limited. Context: all. */
JW_SIGNAL_SAFE uint64_t jw_memory_limit_of(enum jw_memory_part part, uint64_t otherwise);

/* Before so many bytes more are used; false, counted as MEMORY_REFUSED: the part, or all, would exceed its limit. */
JW_MUST_CHECK JW_SIGNAL_SAFE bool jw_memory_charge(enum jw_memory_part part, uint64_t bytes);
JW_SIGNAL_SAFE void jw_memory_credit(enum jw_memory_part part, uint64_t bytes);

/* What is left of the whole for parts that borrow; UINT64_MAX when nothing is limited. */
JW_SIGNAL_SAFE uint64_t jw_memory_room_bytes(void);

/*
 * Address space, zero, not charged, in no core dump; NULL with errno set. Huge pages would make a page of a touched byte:
 * there are none.
 */
void *jw_memory_map(enum jw_memory_part part, size_t bytes);
void jw_memory_unmap(void *address, size_t bytes);

/* Counts memory that is there anyway, such as a thread's stack, as a mapping of this part; until it is forgotten. */
void jw_memory_note(enum jw_memory_part part, void *address, size_t bytes);
void jw_memory_forget(const void *address);

/* The variables of the library itself, once. */
void jw_memory_note_library(void);

/* jw_alloc: as jw_memory_charge and _credit, of memory that is no mapping. */
JW_MUST_CHECK bool jw_memory_charge_block(enum jw_memory_part part, uint64_t bytes);
void jw_memory_credit_block(enum jw_memory_part part, uint64_t bytes);

/* What the limit of a part cost, alone: asks nothing of the system, as jw_memory_get does for each page. */
uint64_t jw_memory_refused_count(enum jw_memory_part part);

void jw_memory_get(enum jw_memory_part part, struct jw_memory_figures *out);
void jw_memory_get_all(
    struct jw_memory_figures *out); /* refused_count: parts that are at their limit */

#endif
