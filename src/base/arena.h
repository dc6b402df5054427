/*
 * arena - memory reserved whole at start, handed out by bumping, cleared whole.
 *
 * For      everything that handlers write: text of a dictionary, frames of a trace store.
 * Callers  dict, store, event.
 * Context  jw_arena_take: handler, hook, any (the owner's overlap rules hold). jw_arena_open, _close,
 *          _reset, _seal: control, dump, with nobody inside.
 * Memory   mapped without being touched. Pages once touched stay for the next use, so that handlers do
 *          not fault them in again; after a spike they go back to the system by an eighth a reset.
 * Progress wait-free.
 */
#ifndef JW_BASE_ARENA_H
#define JW_BASE_ARENA_H

#include "base/jw.h"

struct jw_arena {
    unsigned char *bytes;
    size_t capacity_bytes;
    _Atomic size_t used_bytes;    /* relaxed: who gets a piece publishes it on his own */
    _Atomic size_t touched_bytes; /* pages below may be in memory; jw_arena_reset alone writes it */
};

/* Address space of the part that the calling file allocates for, charged by the owner of the arena: base/memory.h. */
JW_MUST_CHECK bool jw_arena_open_for(enum jw_memory_part part, struct jw_arena *arena,
                                     size_t capacity_bytes, const char *name, struct jw_error *err);
#define jw_arena_open(arena, capacity_bytes, name, err)                                            \
    jw_arena_open_for(JW_MEMORY_HERE, (arena), (capacity_bytes), (name), (err))
void jw_arena_close(struct jw_arena *arena);

/* `size_bytes` of zeroed memory, 8-byte aligned; NULL when full: the caller counts the loss. */
JW_SIGNAL_SAFE void *jw_arena_take(struct jw_arena *arena, size_t size_bytes);

/*
 * The same; `lost_bytes` gets what nobody will have now: the rest of an arena that the first of several racing
 * takers ran over the end of. 0 as a rule.
 */
JW_SIGNAL_SAFE void *jw_arena_take_or_lose(struct jw_arena *arena, size_t size_bytes,
                                           size_t *lost_bytes);

/* Bytes handed out; never more than the capacity. Context: all. */
JW_SIGNAL_SAFE size_t jw_arena_used_bytes(const struct jw_arena *arena);

/* Bytes, whole pages as a rule, that may be in memory: handed out now, or not given back since. Context: all. */
size_t jw_arena_touched_bytes(const struct jw_arena *arena);

/* Brings the first `bytes` into memory, so that no handler faults them in. Nothing handed out yet, or with
 * nobody inside. */
void jw_arena_warm(struct jw_arena *arena, size_t bytes);

/* Zeroes what was used and forgets it. */
void jw_arena_reset(struct jw_arena *arena);

/*
 * Sealed, the memory cannot be touched: who does is ended by SIGSEGV. With nobody inside; for tests. False: the
 * kernel refuses, and nothing has changed.
 */
JW_MUST_CHECK bool jw_arena_seal(const struct jw_arena *arena, bool is_sealed);

/* Gives back all pages from `from_bytes` (a multiple of the page size) to the end; they read as zero. What
 * was handed out stays handed out. */
void jw_arena_drop(struct jw_arena *arena, size_t from_bytes);

#endif
