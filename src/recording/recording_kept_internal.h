/*
 * recording_kept - bytes that outlive a take, each once, for as long as somebody holds them.
 *
 * For      stacks of threads that wait, and the methods in them.
 * Callers  recording.   Context  dump.
 * Memory   one allocation for each distinct content; a table that is all zero is empty and valid.
 *
 * Bytes begin at an address that suits any type.
 */
#ifndef JW_RECORDING_RECORDING_KEPT_INTERNAL_H
#define JW_RECORDING_RECORDING_KEPT_INTERNAL_H

#include "base/jw.h"

struct recording_kept {
    struct recording_kept *next; /* in its slot */
    uint64_t hash;
    uint64_t chunk; /* the one that has its constant, under `key`; 0: none */
    uint64_t key;
    uint32_t holder_count;
    uint32_t length_bytes;
};

struct recording_kept_table {
    struct recording_kept **slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    size_t used_bytes; /* of memory for contents */
};

/*
 * What is kept with these bytes, held once more. NULL: `limit_bytes` would be exceeded, or memory is out.
 */
JW_MUST_CHECK struct recording_kept *recording_keep(struct recording_kept_table *table,
                                                    const void *bytes, size_t length_bytes,
                                                    size_t limit_bytes);

/* Held once less; the last holder frees it. True: it is gone. */
bool recording_let_go(struct recording_kept_table *table, struct recording_kept *kept);

void recording_kept_close(struct recording_kept_table *table);

static inline const void *recording_kept_bytes(const struct recording_kept *kept)
{
    return kept + 1;
}

struct recording;
struct recording_told_owner;

/* recording_wall_stacks.c: the stack of an owner as it was told; NULL: there is no room for it. */
struct recording_kept *recording_kept_told_stack(struct recording *recording,
                                                 const struct recording_told_owner *owner);

#endif
