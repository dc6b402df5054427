/*
 * store - call traces of a generation, each kept once: frames in, small id out.
 *
 * For      records that must carry a stack in four bytes.
 * Callers  generation (open, clear, close); sampler (put); recording (get, each).
 * Context  store_put: handler, hook, any, inside the generation of the store.  store_get: the same,
 *          and dump.  store_each, store_clear: dump.  store_open, store_close: control, with all
 *          engines stopped.  store_stats: any.
 * Memory   reserved whole by store_open, a page touched when the first trace needs it. Room `epoch`
 *          alone decides when a store is cleared.
 * Progress store_get wait-free, store_put lock-free, never more than STORE_PROBES slots.
 *
 * May these overlap?    put/get    each    clear
 *   put/get               yes       yes    never (epoch)
 *   each                  yes       yes    no (one dump thread)
 *
 * Two traces are one when count, flags and every frame are equal; within a generation they then
 * have one id. Slots, places and entries lie as in dict.h.
 */
#ifndef JW_STORE_STORE_H
#define JW_STORE_STORE_H

#include "base/frame.h"
#include "base/jw.h"

typedef uint32_t store_id;       /* means something only in the generation that gave it */
#define STORE_NONE ((store_id)0) /* never the id of a trace */

#define STORE_PROBES      64
#define STORE_MAX_FRAMES  65536u     /* of one trace */
#define STORE_INDEX_BYTES 40u        /* of slots and place for one trace, at most; for budgets */
#define STORE_MAX_ENTRIES (1u << 28) /* of one store */

/* Flags of a trace; part of what makes it equal to another. */
enum store_flag {
    STORE_TRUNCATED = 1u << 0,     /* deeper than the limit: the outermost frames are missing */
    STORE_FAILED = 1u << 1,        /* the Java part could not be walked; a mark says why */
    STORE_WALKER_AGCT = 1u << 2,   /* made by AsyncGetCallTrace */
    STORE_WALKER_OWN = 1u << 3,    /* made by the walker over vmStructs */
    STORE_WALKER_MENDED = 1u << 4, /* complete only after a retry on a mended register copy */
};

struct store_table;

struct store_config {
    const char *name;     /* for error messages */
    uint32_t max_entries; /* 1 .. STORE_MAX_ENTRIES; ids are 1 .. max_entries */
    size_t arena_bytes;   /* 8 bytes a frame, 16 a trace */
};

/* As struct dict_stats: what lies in the store now, and totals since store_open. */
struct store_stats {
    uint32_t trace_count; /* distinct traces */
    uint32_t max_entries;
    uint64_t frame_count; /* of those together */
    uint64_t arena_bytes; /* taken, waste and headers included */
    uint64_t arena_capacity_bytes;
    uint64_t arena_touched_bytes;
    uint64_t waste_bytes;   /* of the arena, that no trace has: of those who lost a race */
    uint64_t refused_count; /* STORE_NONE given */
    uint64_t traces_total;
    uint64_t frames_total;
    uint64_t waste_bytes_total;
    uint64_t refused_total;
    uint64_t clears_total;
};

/* One trace as it lies in the store. */
struct store_trace {
    const jw_frame *frames; /* innermost first; valid until the clear */
    uint32_t frame_count;
    uint32_t flags;
};

/* Reserves all memory; NULL and a filled `err` when the kernel refuses or `config` is unsound. */
JW_MUST_CHECK struct store_table *store_open(const struct store_config *config,
                                             struct jw_error *err);
void store_close(struct store_table *store);

/* Brings the part that a small load uses into memory, before anybody is inside. */
void store_warm(struct store_table *store);

/*
 * Id of this trace (`frame_count` may be 0), keeping it on first sight. STORE_NONE when it no
 * longer fits or has more than STORE_MAX_FRAMES: the store itself counts LOST_STORE_FULL, so the
 * caller gives the sample up and counts nothing.
 */
JW_SIGNAL_SAFE store_id store_put(struct store_table *store, const jw_frame *frames,
                                  uint32_t frame_count, uint32_t flags);

/*
 * The hash of a trace, made from its outermost frame inwards: what is known of the outer part of a stack is
 * gone on with for another inner part. Zeroed: of no frame. _before: of these frames before those.
 */
struct store_hash {
    uint64_t chains[4];
    uint32_t frame_count;
};
JW_SIGNAL_SAFE void store_hash_before(struct store_hash *hash, const jw_frame *frames,
                                      uint32_t frame_count);

/* As store_put, of a trace with this hash. */
JW_SIGNAL_SAFE store_id store_put_hashed(struct store_table *store, const jw_frame *frames,
                                         uint32_t frame_count, uint32_t flags,
                                         const struct store_hash *hash);

/* The same for a trace that no signal stands behind: STORE_NONE is not counted as a loss. */
JW_SIGNAL_SAFE store_id store_try_put_hashed(struct store_table *store, const jw_frame *frames,
                                             uint32_t frame_count, uint32_t flags,
                                             const struct store_hash *hash);

/* The trace of an id; false for what is no id of this store. */
JW_SIGNAL_SAFE bool store_get(const struct store_table *store, store_id id,
                              struct store_trace *out);

/* Highest id given so far, for arrays indexed by id; ids that lost a race included. */
JW_SIGNAL_SAFE uint32_t store_last_id(const struct store_table *store);

/* Calls back for each trace, by rising id; returns how many. Doubles as in dict_each. */
typedef void store_visit(store_id id, const struct store_trace *trace, void *arg);
uint32_t store_each(const struct store_table *store, store_visit *visit, void *arg);

/* Forgets all traces. Pages stay for the next life; after a spike they go back bit by bit. */
void store_clear(struct store_table *store);

/* As dict_seal. */
JW_MUST_CHECK bool store_seal(const struct store_table *store, bool is_sealed);

void store_stats(const struct store_table *store, struct store_stats *out);

#endif
