/* Contents by hash, chained; dump. */
#include "recording/recording_kept_internal.h"

#include <string.h>

#include "base/hash.h"

/* What this file allocates for. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WAITING

#define FIRST_SLOTS ((size_t)256)

/* At most as many contents as slots. */
static bool grow_slots(struct recording_kept_table *table)
{
    if (table->count < table->slot_count)
        return true;

    const size_t slot_count = table->slot_count == 0 ? FIRST_SLOTS : 2 * table->slot_count;
    struct recording_kept **slots = jw_alloc(jw_mul_bytes(slot_count, sizeof(void *)));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < table->slot_count; i++) {
        struct recording_kept *next;

        for (struct recording_kept *kept = table->slots[i]; kept != NULL; kept = next) {
            struct recording_kept **slot = &slots[kept->hash & (slot_count - 1)];

            next = kept->next;
            kept->next = *slot;
            *slot = kept;
        }
    }
    jw_free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return true;
}

struct recording_kept *recording_keep(struct recording_kept_table *table, const void *bytes,
                                      size_t length_bytes, size_t limit_bytes)
{
    const uint64_t hash = jw_hash64(bytes, length_bytes);
    const size_t wanted_bytes = sizeof(struct recording_kept) + length_bytes;

    if (!grow_slots(table))
        return NULL;

    struct recording_kept **slot = &table->slots[hash & (table->slot_count - 1)];
    for (struct recording_kept *kept = *slot; kept != NULL; kept = kept->next) {
        if (kept->hash == hash && kept->length_bytes == length_bytes &&
            memcmp(recording_kept_bytes(kept), bytes, length_bytes) == 0) {
            kept->holder_count++;
            return kept;
        }
    }
    if (wanted_bytes > limit_bytes || table->used_bytes > limit_bytes - wanted_bytes)
        return NULL;

    struct recording_kept *made = jw_alloc(wanted_bytes);
    if (made == NULL)
        return NULL;
    *made = (struct recording_kept){
        .next = *slot, .hash = hash, .holder_count = 1, .length_bytes = (uint32_t)length_bytes};
    memcpy(made + 1, bytes, length_bytes);
    *slot = made;
    table->count++;
    table->used_bytes += wanted_bytes;
    return made;
}

bool recording_let_go(struct recording_kept_table *table, struct recording_kept *kept)
{
    if (--kept->holder_count > 0)
        return false;

    struct recording_kept **at = &table->slots[kept->hash & (table->slot_count - 1)];
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    table->count--;
    table->used_bytes -= sizeof *kept + kept->length_bytes;
    jw_free(kept);
    return true;
}

void recording_kept_close(struct recording_kept_table *table)
{
    for (size_t i = 0; i < table->slot_count; i++) {
        struct recording_kept *next;

        for (struct recording_kept *kept = table->slots[i]; kept != NULL; kept = next) {
            next = kept->next;
            jw_free(kept);
        }
    }
    jw_free(table->slots);
    *table = (struct recording_kept_table){0};
}
