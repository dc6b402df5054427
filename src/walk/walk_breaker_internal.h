/* walk_breaker_internal - the breakers of the walkers, as those see them who judge and who tell. */
#ifndef JW_WALK_WALK_BREAKER_INTERNAL_H
#define JW_WALK_WALK_BREAKER_INTERNAL_H

#include "walk/walk_breaker.h"

/* Walks since it was begun. */
struct walk_batch {
    uint64_t begin_ns;
    uint64_t walks, bad;
    uint32_t thread_walks[WALK_ODD_THREADS], thread_bad[WALK_ODD_THREADS];
    uint64_t failures[WALK_CODE_COUNT][VM_PLACE_LIMIT]; /* as they were when it began */
};

struct walk_breaker {
    enum walk_standing standing;
    uint64_t since_ns; /* of the standing */
    uint64_t retry_ns; /* OUT: when it is tried again */
    uint64_t quiet_ns; /* how long it is OUT, or was the last time; 0: never was */
    uint32_t
        odd_pct; /* bad walks of a hundred in the last batch, which one thread is to blame for; or 0 */
    char reason[WALK_REASON_BYTES]; /* why it is OUT or ABSENT */
    struct walk_batch batch;
    uint64_t seen[WALK_ODD_THREADS]; /* what handlers had counted at the last look */
    uint64_t walks, bad;             /* since the process started */
};

/* As of the last turn. */
struct walk_breaker_view {
    enum walk_standing standing;
    bool is_in_use;
    uint32_t odd_pct;
    uint64_t since_ns, retry_ns;
    uint64_t walks, bad;
    char reason[WALK_REASON_BYTES];
};

void walk_breaker_view(enum walk_walker walker, struct walk_breaker_view *out);

/* "vm", "vm on trial", "none". */
const char *walk_breaker_name(enum walk_walker walker, enum walk_standing standing);

/* Why a batch is bad. */
void walk_breaker_reason(enum walk_walker walker, const struct walk_batch *batch, char *text,
                         size_t room_bytes);

#endif
