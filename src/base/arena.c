/* Bump memory; jw_arena_take in every context, the rest with nobody inside. */
#include "base/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomics.h"

#define PAGE_BYTES ((size_t)4096)

bool jw_arena_open(struct jw_arena *arena, size_t capacity_bytes, const char *name,
                   struct jw_error *err)
{
    void *bytes = mmap(NULL, capacity_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (bytes == MAP_FAILED) {
        jw_error_set(err, "cannot reserve %zu bytes for %s: %s; try a smaller memlimit",
                     capacity_bytes, name, strerror(errno));
        return false;
    }
    /* A core dump of the host must not grow by our reserve. */
    (void)madvise(bytes, capacity_bytes, MADV_DONTDUMP);
    arena->bytes = bytes;
    arena->capacity_bytes = capacity_bytes;
    jw_store_relaxed(&arena->used_bytes, 0);
    return true;
}

void jw_arena_close(struct jw_arena *arena)
{
    if (arena->bytes != NULL)
        munmap(arena->bytes, arena->capacity_bytes);
    arena->bytes = NULL;
    arena->capacity_bytes = 0;
    jw_store_relaxed(&arena->used_bytes, 0);
}

void *jw_arena_take(struct jw_arena *arena, size_t size_bytes)
{
    const size_t aligned_bytes = (size_bytes + 7) & ~(size_t)7;

    if (aligned_bytes < size_bytes || aligned_bytes > arena->capacity_bytes)
        return NULL;

    /* Looked at first, so that the mark of a full arena stays near its capacity and cannot wrap. */
    if (jw_load_relaxed(&arena->used_bytes) > arena->capacity_bytes - aligned_bytes)
        return NULL;
    const size_t start = jw_add_relaxed(&arena->used_bytes, aligned_bytes);

    if (start > arena->capacity_bytes - aligned_bytes)
        return NULL;
    return arena->bytes + start;
}

size_t jw_arena_used_bytes(const struct jw_arena *arena)
{
    const size_t used_bytes = jw_load_relaxed(&arena->used_bytes);

    return used_bytes < arena->capacity_bytes ? used_bytes : arena->capacity_bytes;
}

void jw_arena_reset(struct jw_arena *arena, size_t keep_bytes)
{
    const size_t used_bytes = jw_arena_used_bytes(arena);
    size_t kept_bytes = (keep_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

    if (kept_bytes > used_bytes)
        kept_bytes = used_bytes;
    memset(arena->bytes, 0, kept_bytes);
    if (used_bytes > kept_bytes) {
        const size_t end_bytes = (used_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

        /* MADV_DONTNEED on private anonymous memory: the next touch finds zeroes. */
        if (madvise(arena->bytes + kept_bytes, end_bytes - kept_bytes, MADV_DONTNEED) != 0)
            memset(arena->bytes + kept_bytes, 0, used_bytes - kept_bytes);
    }
    jw_store_relaxed(&arena->used_bytes, 0);
}
