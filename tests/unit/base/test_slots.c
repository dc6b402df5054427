/* Slots of a hash table: near ones first, far ones after, the same order for everybody. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/slots.h"

TestSuite(slots, .timeout = 1800);

Test(slots, a_small_table_has_no_near_part)
{
    const struct jw_slots slots = jw_slots_for(1000, 64);

    cr_assert(eq(u32, slots.near_count, 0));
    cr_assert(eq(sz, jw_slots_count(slots), 2048));
    cr_assert(eq(u32, jw_slots_at(slots, 2047, 1), 0));
}

Test(slots, a_large_table_is_tried_near_first)
{
    const struct jw_slots slots = jw_slots_for(100000, 64);

    cr_assert(eq(u32, slots.near_count, JW_NEAR_SLOTS));
    cr_assert(eq(sz, jw_slots_count(slots), JW_NEAR_SLOTS + 262144));
    for (uint32_t hash = 0; hash < 1000000; hash += 977) {
        for (uint32_t probe = 0; probe < 64; probe++) {
            const uint32_t slot = jw_slots_at(slots, hash, probe);

            cr_assert(lt(sz, slot, jw_slots_count(slots)));
            cr_assert(eq(int, slot < JW_NEAR_SLOTS, probe < JW_NEAR_PROBES));
        }
    }
}

Test(slots, no_slot_is_tried_twice_for_one_key)
{
    const struct jw_slots slots = jw_slots_for(100000, 64);

    for (uint32_t first = 0; first < 64; first++)
        for (uint32_t second = first + 1; second < 64; second++)
            cr_assert(ne(u32, jw_slots_at(slots, 0xfffffff0u, first),
                         jw_slots_at(slots, 0xfffffff0u, second)));
}
