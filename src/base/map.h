/*
 * map - bytes to a number, growing.
 *
 * For      what is looked up by content: pool keys, sums by stack and thread, answers that need not be
 *          asked for twice.
 * Callers  recording, cli.   Context  dump, tool.
 * Memory   a map that is all zero, but for `part`, is empty and valid; bytes are copied.
 */
#ifndef JW_BASE_MAP_H
#define JW_BASE_MAP_H

#include "base/jw.h"

struct jw_map_entry;

struct jw_map {
    uint32_t *slots; /* index of an entry + 1; 0: free */
    struct jw_map_entry *entries;
    unsigned char *bytes;
    size_t slot_count; /* a power of two, or 0 */
    size_t entry_count;
    size_t entry_capacity;
    size_t used_bytes;
    size_t capacity_bytes;
    enum jw_memory_part part; /* what it allocates for */
};

/*
 * The number kept for these bytes, 0 on first sight; the caller sets it. Valid until the next put.
 * NULL: out of memory, and nothing was added.
 */
JW_MUST_CHECK uint64_t *jw_map_put(struct jw_map *map, const void *bytes, size_t length_bytes);

/* The same number without adding: 0 where there is none. */
uint64_t jw_map_get(const struct jw_map *map, const void *bytes, size_t length_bytes);

size_t jw_map_bytes(const struct jw_map *map); /* of memory held */

void jw_map_clear(struct jw_map *map); /* keeps the memory */
void jw_map_close(struct jw_map *map); /* gives it back; empty and valid again */

#endif
