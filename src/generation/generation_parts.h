/*
 * generation_parts - what the dictionaries and the trace store of all generations hold, waste and refuse.
 *
 * For      status, metrics and the recording: nothing that was dropped may vanish with a clear.
 * Callers  agent, recording.
 * Context  any, dump, control; at any time between generations_open and _close.
 * Memory   none.
 *
 * Exact whenever nobody is just inserting.
 */
#ifndef JW_GENERATION_GENERATION_PARTS_H
#define JW_GENERATION_GENERATION_PARTS_H

#include "base/jw.h"
#include "generation/generation.h"

enum generation_part {
    GENERATION_CLASSES,
    GENERATION_SYMBOLS,
    GENERATION_METHODS,
    GENERATION_ENDPOINTS,
    GENERATION_VALUES,
    GENERATION_CONTEXTS,
    GENERATION_PAYLOADS,
    GENERATION_TRACES, /* a key is a trace, its bytes are the frames */
    GENERATION_PART_LIMIT
};

struct generation_part_stats {
    /* What lies in the three buffers together, each since it was cleared. */
    uint64_t key_count; /* distinct within a generation, so one name may be in it three times */
    uint64_t key_bytes;
    uint64_t arena_bytes; /* taken, headers and waste included */
    uint64_t arena_pages; /* of 4 KiB, that may be in memory for it */
    uint64_t waste_bytes; /* of the arena, that no key has */
    uint64_t refused_count;
    /* What there is room for, likewise. */
    uint64_t key_capacity_count;
    uint64_t arena_capacity_bytes;
    /* Since generations_open; these never fall. */
    uint64_t keys_total; /* a name once for each generation that it was seen in */
    uint64_t key_bytes_total;
    uint64_t waste_bytes_total;
    uint64_t refused_total;
    uint64_t clears_total; /* lives that have ended */
};

/* "classes", "context_values": as in labels of metrics and in the recording. */
const char *generation_part_name(enum generation_part part);

void generation_part_stats(struct generations *generations, enum generation_part part,
                           struct generation_part_stats *out);

#endif
