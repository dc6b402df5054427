/* Bump memory; jw_arena_take in every context, the rest with nobody inside. */
#include "base/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "base/memory.h"

#define PAGE_BYTES   ((size_t)4096)
#define SHRINK_SHARE 8
#define KEEP_BYTES   ((size_t)64 * 1024) /* never given back by a reset */

bool jw_arena_open_for(enum jw_memory_part part, struct jw_arena *arena, size_t capacity_bytes,
                       const char *name, struct jw_error *err)
{
    void *bytes = jw_memory_map(part, capacity_bytes);

    if (bytes == NULL) {
        jw_error_set(err, "cannot reserve %zu bytes for %s: %s; try a smaller memlimit",
                     capacity_bytes, name, strerror(errno));
        return false;
    }
    arena->bytes = bytes;
    arena->capacity_bytes = capacity_bytes;
    jw_store_relaxed(&arena->touched_bytes, 0);
    jw_store_relaxed(&arena->used_bytes, 0);
    return true;
}

void jw_arena_close(struct jw_arena *arena)
{
    jw_memory_unmap(arena->bytes, arena->capacity_bytes);
    arena->bytes = NULL;
    arena->capacity_bytes = 0;
    jw_store_relaxed(&arena->used_bytes, 0);
}

void *jw_arena_take(struct jw_arena *arena, size_t size_bytes)
{
    size_t lost_bytes;

    return jw_arena_take_or_lose(arena, size_bytes, &lost_bytes);
}

void *jw_arena_take_or_lose(struct jw_arena *arena, size_t size_bytes, size_t *lost_bytes)
{
    const size_t aligned_bytes = (size_bytes + 7) & ~(size_t)7;

    *lost_bytes = 0;
    if (aligned_bytes < size_bytes || aligned_bytes > arena->capacity_bytes)
        return NULL;

    /* Looked at first, so that the mark of a full arena stays near its capacity and cannot wrap. */
    if (jw_load_relaxed(&arena->used_bytes) > arena->capacity_bytes - aligned_bytes)
        return NULL;
    const size_t start = jw_add_relaxed(&arena->used_bytes, aligned_bytes);

    if (start > arena->capacity_bytes - aligned_bytes) {
        /* The first over the end has the rest; all who come later start behind it. */
        *lost_bytes = start < arena->capacity_bytes ? arena->capacity_bytes - start : 0;
        return NULL;
    }
    return arena->bytes + start;
}

size_t jw_arena_used_bytes(const struct jw_arena *arena)
{
    const size_t used_bytes = jw_load_relaxed(&arena->used_bytes);

    return used_bytes < arena->capacity_bytes ? used_bytes : arena->capacity_bytes;
}

size_t jw_arena_touched_bytes(const struct jw_arena *arena)
{
    const size_t used_bytes = jw_arena_used_bytes(arena);
    const size_t touched_bytes = jw_load_relaxed(&arena->touched_bytes);

    return touched_bytes > used_bytes ? touched_bytes : used_bytes;
}

static size_t to_page(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* Zeroes [from, to), which starts at a page, and gives its pages back to the system. */
static void give_back(const struct jw_arena *arena, size_t from_bytes, size_t to_bytes)
{
    /* MADV_DONTNEED on private anonymous memory: the next touch finds zeroes. */
    if (from_bytes < to_bytes &&
        madvise(arena->bytes + from_bytes, to_bytes - from_bytes, MADV_DONTNEED) != 0)
        memset(arena->bytes + from_bytes, 0, to_bytes - from_bytes);
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

void jw_arena_warm(struct jw_arena *arena, size_t bytes)
{
    const size_t warm_bytes = bytes < arena->capacity_bytes ? bytes : arena->capacity_bytes;

    memset(arena->bytes, 0, warm_bytes); /* zero already; the write is what counts */
    jw_store_relaxed(&arena->touched_bytes,
                     greater(jw_load_relaxed(&arena->touched_bytes), warm_bytes));
}

void jw_arena_reset(struct jw_arena *arena)
{
    const size_t used_bytes = jw_arena_used_bytes(arena);
    const size_t touched_bytes = greater(used_bytes, jw_load_relaxed(&arena->touched_bytes));
    const size_t shrunk_bytes = greater(touched_bytes - touched_bytes / SHRINK_SHARE, KEEP_BYTES);
    const size_t kept_bytes = to_page(greater(shrunk_bytes, used_bytes));

    memset(arena->bytes, 0, used_bytes);
    if (touched_bytes > kept_bytes)
        give_back(arena, kept_bytes, to_page(touched_bytes));
    jw_store_relaxed(&arena->touched_bytes,
                     touched_bytes < kept_bytes ? touched_bytes : kept_bytes);
    jw_store_relaxed(&arena->used_bytes, 0);
}

bool jw_arena_seal(const struct jw_arena *arena, bool is_sealed)
{
    return mprotect(arena->bytes, arena->capacity_bytes,
                    is_sealed ? PROT_NONE : PROT_READ | PROT_WRITE) == 0;
}

void jw_arena_drop(struct jw_arena *arena, size_t from_bytes)
{
    give_back(arena, from_bytes, arena->capacity_bytes);
}
