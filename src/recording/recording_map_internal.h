/*
 * recording_map - bytes to a number, growing.
 *
 * For      pool keys by content; answers that need not be asked for twice.
 * Callers  recording.   Context  dump.
 * Memory   a map that is all zero is empty and valid; bytes are copied.
 */
#ifndef JW_RECORDING_RECORDING_MAP_INTERNAL_H
#define JW_RECORDING_RECORDING_MAP_INTERNAL_H

#include "base/jw.h"

struct recording_map_entry;

struct recording_map {
    uint32_t *slots; /* index of an entry + 1; 0: free */
    struct recording_map_entry *entries;
    unsigned char *bytes;
    size_t slot_count; /* a power of two, or 0 */
    size_t entry_count;
    size_t entry_capacity;
    size_t used_bytes;
    size_t capacity_bytes;
};

/*
 * The number kept for these bytes, 0 on first sight (`is_new`); the caller may set it. Valid until the
 * next put. NULL: out of memory, and nothing was added.
 */
JW_MUST_CHECK uint64_t *recording_map_put(struct recording_map *map, const void *bytes,
                                          size_t length_bytes, bool *is_new);

size_t recording_map_bytes(const struct recording_map *map); /* of memory held */

void recording_map_clear(struct recording_map *map); /* keeps the memory */
void recording_map_close(struct recording_map *map); /* gives it back; empty and valid again */

#endif
