/* Open addressing over copied bytes. Context: dump, tool. */
#include "base/map.h"

#include <string.h>

#include "base/hash.h"

#define FIRST_SLOTS   ((size_t)64)
#define FIRST_ENTRIES ((size_t)32)
#define FIRST_BYTES   ((size_t)1024)

struct jw_map_entry {
    uint64_t hash;
    uint64_t value;
    size_t begin; /* in `bytes` */
    size_t length_bytes;
};

static size_t slot_of(const struct jw_map *map, uint64_t hash, const void *bytes,
                      size_t length_bytes)
{
    size_t slot = (size_t)hash & (map->slot_count - 1);

    while (map->slots[slot] != 0) {
        const struct jw_map_entry *entry = &map->entries[map->slots[slot] - 1];

        if (entry->hash == hash && entry->length_bytes == length_bytes &&
            memcmp(map->bytes + entry->begin, bytes, length_bytes) == 0)
            break;
        slot = (slot + 1) & (map->slot_count - 1);
    }
    return slot;
}

/* At most half of the slots are taken, so that searches stay short and end. */
static bool grow_slots(struct jw_map *map)
{
    if (map->slot_count != 0 && (map->entry_count + 1) * 2 <= map->slot_count)
        return true;

    const size_t slot_count = map->slot_count == 0 ? FIRST_SLOTS : 2 * map->slot_count;
    uint32_t *slots = jw_alloc_for(map->part, jw_mul_bytes(slot_count, sizeof *slots));
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < map->entry_count; i++) {
        size_t slot = (size_t)map->entries[i].hash & (slot_count - 1);

        while (slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    jw_free(map->slots);
    map->slots = slots;
    map->slot_count = slot_count;
    return true;
}

static bool grow_entries(struct jw_map *map)
{
    if (map->entry_count < map->entry_capacity)
        return true;

    const size_t capacity = map->entry_capacity == 0 ? FIRST_ENTRIES : 2 * map->entry_capacity;
    struct jw_map_entry *entries =
        jw_realloc_for(map->part, map->entries, jw_mul_bytes(capacity, sizeof *entries));
    if (entries == NULL)
        return false;
    map->entries = entries;
    map->entry_capacity = capacity;
    return true;
}

static bool grow_bytes(struct jw_map *map, size_t more_bytes)
{
    size_t capacity_bytes = map->capacity_bytes == 0 ? FIRST_BYTES : map->capacity_bytes;

    while (capacity_bytes - map->used_bytes < more_bytes) {
        if (capacity_bytes > SIZE_MAX / 4)
            return false;
        capacity_bytes *= 2;
    }
    if (capacity_bytes == map->capacity_bytes)
        return true;

    unsigned char *bytes = jw_realloc_for(map->part, map->bytes, capacity_bytes);
    if (bytes == NULL)
        return false;
    map->bytes = bytes;
    map->capacity_bytes = capacity_bytes;
    return true;
}

uint64_t *jw_map_put(struct jw_map *map, const void *bytes, size_t length_bytes)
{
    const uint64_t hash = jw_hash64(bytes, length_bytes);

    if (map->slot_count != 0) {
        const size_t slot = slot_of(map, hash, bytes, length_bytes);

        if (map->slots[slot] != 0)
            return &map->entries[map->slots[slot] - 1].value;
    }
    if (!grow_slots(map) || !grow_entries(map) || !grow_bytes(map, length_bytes))
        return NULL;

    struct jw_map_entry *entry = &map->entries[map->entry_count];
    *entry =
        (struct jw_map_entry){.hash = hash, .begin = map->used_bytes, .length_bytes = length_bytes};
    memcpy(map->bytes + map->used_bytes, bytes, length_bytes);
    map->used_bytes += length_bytes;
    map->slots[slot_of(map, hash, bytes, length_bytes)] = (uint32_t)++map->entry_count;
    return &entry->value;
}

uint64_t jw_map_get(const struct jw_map *map, const void *bytes, size_t length_bytes)
{
    if (map->slot_count == 0)
        return 0;

    const size_t slot = slot_of(map, jw_hash64(bytes, length_bytes), bytes, length_bytes);
    return map->slots[slot] == 0 ? 0 : map->entries[map->slots[slot] - 1].value;
}

size_t jw_map_bytes(const struct jw_map *map)
{
    return map->slot_count * sizeof *map->slots + map->entry_capacity * sizeof *map->entries +
           map->capacity_bytes;
}

void jw_map_clear(struct jw_map *map)
{
    if (map->slots != NULL)
        memset(map->slots, 0, map->slot_count * sizeof *map->slots);
    map->entry_count = 0;
    map->used_bytes = 0;
}

void jw_map_close(struct jw_map *map)
{
    jw_free(map->slots);
    jw_free(map->entries);
    jw_free(map->bytes);
    *map = (struct jw_map){.part = map->part};
}
