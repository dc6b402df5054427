/*
 * slots - which slots of a hash table a key may lie in, near ones first.
 *
 * For      dict and store: tables with room for a hundred thousand keys that hold a few hundred as a rule.
 * Context  all.
 *
 *     | near: 4096 slots, eight pages | far: two for each key the table may hold |
 *
 * A key is tried in JW_NEAR_PROBES near slots and then in far ones. A slot, once filled, stays filled
 * until the table is cleared; so whoever finds the near ones of a key taken by others finds it so for
 * ever, and all who look for one key look at the same slots in the same order. A small load touches eight
 * pages instead of one for each key. Small tables have no near part.
 */
#ifndef JW_BASE_SLOTS_H
#define JW_BASE_SLOTS_H

#include "base/jw.h"

#define JW_NEAR_SLOTS  4096u
#define JW_NEAR_PROBES 8u

struct jw_slots {
    uint32_t near_count; /* JW_NEAR_SLOTS or 0 */
    uint32_t far_mask;   /* count of far slots, a power of two, less one */
};

/* For a table of `max_keys`: at most half of the far slots are ever taken. */
static inline struct jw_slots jw_slots_for(uint32_t max_keys, uint32_t min_count)
{
    uint32_t far_count = min_count;

    while (far_count < 2 * max_keys)
        far_count *= 2;
    return (struct jw_slots){far_count >= 4 * JW_NEAR_SLOTS ? JW_NEAR_SLOTS : 0, far_count - 1};
}

static inline size_t jw_slots_count(struct jw_slots slots)
{
    return (size_t)slots.near_count + slots.far_mask + 1;
}

/* Slot of the n-th try, n from 0, of a key with this hash. */
JW_SIGNAL_SAFE static inline uint32_t jw_slots_at(struct jw_slots slots, uint32_t hash,
                                                  uint32_t probe)
{
    if (slots.near_count == 0)
        return (hash + probe) & slots.far_mask;
    if (probe < JW_NEAR_PROBES)
        return (hash + probe) & (JW_NEAR_SLOTS - 1);
    return JW_NEAR_SLOTS + ((hash + probe) & slots.far_mask);
}

#endif
