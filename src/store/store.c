/*
 * Traces by content: open addressing over an arena, insert only, as in dict. put and get run in
 * handlers; open, clear and close with nobody inside.
 */
#include "store/store.h"

#include <string.h>

#include "base/arena.h"
#include "base/atomics.h"
#include "base/counters.h"
#include "base/figure.h"
#include "base/hash.h"
#include "base/slots.h"

#define SLOT_BYTES       sizeof(uint64_t)
#define PAGE_BYTES       4096
#define PLACE_UNIT_BYTES 8
#define WARM_PLACE_BYTES 8192 /* a thousand ids */
#define FAR_KEEP_SHARE   8
#define WARM_ENTRY_BYTES 65536

struct store_entry {
    store_id id;
    uint32_t frame_count;
    uint32_t flags;
    uint32_t slot; /* read by store_clear alone */
    jw_frame frames[];
};

/* Where the trace of an id lies, in units of 8 bytes, plus 1; 0: nobody has this id. */
struct store_place {
    _Atomic uint64_t place;
};

struct store_table {
    /* Constant while the store is in use; apart from what inserts write. */
    _Atomic uint64_t *slots;
    struct store_place *places;
    unsigned char *entries;
    struct jw_slots layout;
    uint32_t max_entries;
    unsigned char padding[64];

    struct jw_arena slot_memory;  /* taken whole */
    struct jw_arena place_memory; /* one store_place for each id */
    struct jw_arena entry_memory;
    struct jw_figure traces;
    struct jw_figure frames;
    struct jw_figure waste_bytes;
    struct jw_figure refused;
    _Atomic uint64_t clears_total; /* relaxed: a figure */

    uint32_t
        far_touched_count; /* store_clear alone: far slots whose pages may be in memory, at most */
};

_Static_assert(sizeof(struct store_entry) == 16, "frames start on an 8-byte boundary");
_Static_assert(sizeof(struct store_place) == 8, "a piece of an arena is a multiple of 8");

struct store_table *store_open(const struct store_config *config, struct jw_error *err)
{
    /* 32 bits of a slot say where in the arena a trace lies, in units of 8 bytes. */
    const size_t most_arena_bytes = (size_t)UINT32_MAX * PLACE_UNIT_BYTES;

    if (config->max_entries == 0 || config->max_entries > STORE_MAX_ENTRIES ||
        config->arena_bytes < PAGE_BYTES || config->arena_bytes > most_arena_bytes) {
        jw_error_set(err,
                     "trace store %s: %u traces in %zu bytes are out of range; "
                     "try 1 to %u traces and at least %u bytes",
                     config->name, config->max_entries, config->arena_bytes, STORE_MAX_ENTRIES,
                     (unsigned)PAGE_BYTES);
        return NULL;
    }

    struct store_table *store = jw_alloc(sizeof *store);
    if (store == NULL) {
        jw_error_set(err, "trace store %s: no memory for %zu bytes; free some and start again",
                     config->name, sizeof *store);
        return NULL;
    }

    store->layout = jw_slots_for(config->max_entries, STORE_PROBES);
    if (!jw_arena_open(&store->slot_memory, jw_slots_count(store->layout) * SLOT_BYTES,
                       config->name, err) ||
        !jw_arena_open(&store->place_memory, config->max_entries * sizeof(struct store_place),
                       config->name, err) ||
        !jw_arena_open(&store->entry_memory, config->arena_bytes, config->name, err)) {
        store_close(store);
        return NULL;
    }
    store->slots = jw_arena_take(&store->slot_memory, store->slot_memory.capacity_bytes);
    store->places = (struct store_place *)(void *)store->place_memory.bytes;
    store->entries = store->entry_memory.bytes;
    store->max_entries = config->max_entries;
    return store;
}

void store_close(struct store_table *store)
{
    if (store == NULL)
        return;
    jw_arena_close(&store->entry_memory);
    jw_arena_close(&store->place_memory);
    jw_arena_close(&store->slot_memory);
    jw_free(store);
}

void store_warm(struct store_table *store)
{
    jw_arena_warm(&store->slot_memory, store->layout.near_count * SLOT_BYTES);
    jw_arena_warm(&store->place_memory, WARM_PLACE_BYTES);
    jw_arena_warm(&store->entry_memory, WARM_ENTRY_BYTES);
}

JW_SIGNAL_SAFE static uint64_t mix(uint64_t chain, uint64_t word)
{
    chain = (chain ^ word) * 0x9fb21c651e98df25ull;
    return chain ^ chain >> 29;
}

/* Four chains side by side: one alone waits for each multiplication, and stacks are long. The n-th frame from
 * the outermost one belongs to chain n % 4. */
void store_hash_before(struct store_hash *hash, const jw_frame *frames, uint32_t frame_count)
{
    uint64_t first = hash->chains[0], second = hash->chains[1];
    uint64_t third = hash->chains[2], fourth = hash->chains[3];
    uint32_t left = frame_count;

    if (hash->frame_count % 4 == 0) {
        for (; left >= 4; left -= 4) {
            first = mix(first, frames[left - 1]);
            second = mix(second, frames[left - 2]);
            third = mix(third, frames[left - 3]);
            fourth = mix(fourth, frames[left - 4]);
        }
        hash->chains[0] = first;
        hash->chains[1] = second;
        hash->chains[2] = third;
        hash->chains[3] = fourth;
        hash->frame_count += frame_count - left;
    }
    for (; left > 0; left--) {
        uint64_t *chain = &hash->chains[hash->frame_count++ % 4];

        *chain = mix(*chain, frames[left - 1]);
    }
}

/* One chain after the other: equal frames in another chain make another hash. */
JW_SIGNAL_SAFE static uint64_t finish(const struct store_hash *hash, uint32_t flags)
{
    uint64_t chain = (uint64_t)hash->frame_count << 32 | flags;

    for (int i = 0; i < 4; i++)
        chain = mix(chain, hash->chains[i]);
    return jw_hash_word(chain);
}

JW_SIGNAL_SAFE static struct store_entry *entry_at(const struct store_table *store, uint32_t place)
{
    return (struct store_entry *)(void *)(store->entries + (size_t)(place - 1) * PLACE_UNIT_BYTES);
}

JW_SIGNAL_SAFE static size_t entry_bytes(uint32_t frame_count)
{
    return sizeof(struct store_entry) + (size_t)frame_count * sizeof(jw_frame);
}

JW_SIGNAL_SAFE static bool is_same(const struct store_entry *entry, const jw_frame *frames,
                                   uint32_t frame_count, uint32_t flags)
{
    return entry->frame_count == frame_count && entry->flags == flags &&
           (frame_count == 0 ||
            memcmp(entry->frames, frames, (size_t)frame_count * sizeof(jw_frame)) == 0);
}

JW_SIGNAL_SAFE static store_id refuse(struct store_table *store)
{
    jw_figure_add(&store->refused, 1);
    return STORE_NONE;
}

/* A trace with an id of its own that no slot knows yet; its place, or 0 when there is no room. */
JW_SIGNAL_SAFE static uint32_t make_entry(struct store_table *store, const jw_frame *frames,
                                          uint32_t frame_count, uint32_t flags)
{
    /* Asked first, so that a store out of ids does not fill its arena too. */
    if (store_last_id(store) >= store->max_entries)
        return 0;

    size_t lost_bytes;
    struct store_entry *entry =
        jw_arena_take_or_lose(&store->entry_memory, entry_bytes(frame_count), &lost_bytes);
    if (entry == NULL) {
        if (lost_bytes != 0)
            jw_figure_add(&store->waste_bytes, lost_bytes);
        return 0;
    }

    struct store_place *place = jw_arena_take(&store->place_memory, sizeof *place);
    if (place == NULL) {
        jw_figure_add(&store->waste_bytes, entry_bytes(frame_count));
        return 0;
    }
    entry->id = (store_id)(place - store->places) + 1;
    entry->frame_count = frame_count;
    entry->flags = flags;
    if (frame_count != 0)
        memcpy(entry->frames, frames, (size_t)frame_count * sizeof(jw_frame));

    const size_t offset_bytes = (size_t)((unsigned char *)entry - store->entries);
    return (uint32_t)(offset_bytes / PLACE_UNIT_BYTES) + 1;
}

/* The id of a trace that lost its race, and its bytes, stay unused. */
JW_SIGNAL_SAFE static void waste_entry(struct store_table *store, uint32_t made)
{
    const struct store_entry *entry = entry_at(store, made);

    jw_figure_add(&store->waste_bytes, entry_bytes(entry->frame_count));
    /* order STORE_PLACE: releases nothing new; store_get and store_each skip the id from now on. */
    jw_store_release(&store->places[entry->id - 1].place, 0);
}

store_id store_put(struct store_table *store, const jw_frame *frames, uint32_t frame_count,
                   uint32_t flags)
{
    struct store_hash hash = {0};

    if (frame_count <= STORE_MAX_FRAMES)
        store_hash_before(&hash, frames, frame_count);
    return store_put_hashed(store, frames, frame_count, flags, &hash);
}

store_id store_put_hashed(struct store_table *store, const jw_frame *frames, uint32_t frame_count,
                          uint32_t flags, const struct store_hash *hash)
{
    const store_id id = store_try_put_hashed(store, frames, frame_count, flags, hash);

    if (id == STORE_NONE)
        jw_count(JW_COUNT_LOST_STORE_FULL);
    return id;
}

store_id store_try_put_hashed(struct store_table *store, const jw_frame *frames,
                              uint32_t frame_count, uint32_t flags,
                              const struct store_hash *of_frames)
{
    if (frame_count > STORE_MAX_FRAMES)
        return refuse(store);

    const uint64_t hash = finish(of_frames, flags);
    uint32_t made = 0; /* place of our own entry, once there is one */

    for (uint32_t probe = 0; probe < STORE_PROBES; probe++) {
        const uint32_t slot = jw_slots_at(store->layout, (uint32_t)hash, probe);
        /* order STORE_SLOT: acquires what the CAS below released, the trace. */
        uint64_t word = jw_load_acquire(&store->slots[slot]);

        if (word == 0) {
            if (made == 0)
                made = make_entry(store, frames, frame_count, flags);
            if (made == 0)
                return refuse(store);

            struct store_entry *own = entry_at(store, made);
            own->slot = slot;
            /* order STORE_PLACE: releases the trace to who comes by its id. */
            jw_store_release(&store->places[own->id - 1].place, made);
            /* order STORE_SLOT: releases the trace; or acquires that of the winner. */
            if (jw_cas_acq_rel(&store->slots[slot], &word, hash >> 32 << 32 | made)) {
                jw_figure_add(&store->traces, 1);
                jw_figure_add(&store->frames, frame_count);
                return own->id;
            }
        }
        if (word >> 32 != hash >> 32)
            continue;

        const struct store_entry *entry = entry_at(store, (uint32_t)word);
        if (is_same(entry, frames, frame_count, flags)) {
            if (made != 0)
                waste_entry(store, made);
            return entry->id;
        }
    }
    if (made != 0)
        waste_entry(store, made);
    return refuse(store);
}

bool store_get(const struct store_table *store, store_id id, struct store_trace *out)
{
    if (id == STORE_NONE || id > store_last_id(store))
        return false;

    /* order STORE_PLACE: acquires what store_put released, the trace. */
    const uint32_t place = (uint32_t)jw_load_acquire(&store->places[id - 1].place);
    if (place == 0)
        return false;

    const struct store_entry *entry = entry_at(store, place);
    out->frames = entry->frames;
    out->frame_count = entry->frame_count;
    out->flags = entry->flags;
    return true;
}

uint32_t store_last_id(const struct store_table *store)
{
    return (uint32_t)(jw_arena_used_bytes(&store->place_memory) / sizeof(struct store_place));
}

uint32_t store_each(const struct store_table *store, store_visit *visit, void *arg)
{
    const uint32_t last_id = store_last_id(store);
    uint32_t visited_count = 0;

    for (store_id id = 1; id <= last_id; id++) {
        struct store_trace trace;

        if (!store_get(store, id, &trace))
            continue;
        visit(id, &trace, arg);
        visited_count++;
    }
    return visited_count;
}

/* Empties the slots, and gives the pages of far ones back, as dict_clear does. */
static void clear_slots(struct store_table *store)
{
    const uint32_t id_count = store_last_id(store);
    uint32_t far_count = 0;

    for (uint32_t i = 0; i < id_count; i++) {
        const uint32_t place = (uint32_t)jw_load_relaxed(&store->places[i].place);

        if (place == 0)
            continue;
        const uint32_t slot = entry_at(store, place)->slot;

        jw_store_relaxed(&store->slots[slot], 0);
        far_count += slot >= store->layout.near_count;
    }
    if (far_count > store->far_touched_count) {
        store->far_touched_count = far_count;
    } else if (far_count < (store->far_touched_count + FAR_KEEP_SHARE - 1) / FAR_KEEP_SHARE) {
        jw_arena_drop(&store->slot_memory, store->layout.near_count * SLOT_BYTES);
        store->far_touched_count = 0;
    }
}

void store_clear(struct store_table *store)
{
    clear_slots(store);
    jw_arena_reset(&store->place_memory);
    jw_arena_reset(&store->entry_memory);
    jw_figure_clear(&store->traces);
    jw_figure_clear(&store->frames);
    jw_figure_clear(&store->waste_bytes);
    jw_figure_clear(&store->refused);
    jw_add_relaxed(&store->clears_total, 1);
}

bool store_seal(const struct store_table *store, bool is_sealed)
{
    return jw_arena_seal(&store->slot_memory, is_sealed) &&
           jw_arena_seal(&store->place_memory, is_sealed) &&
           jw_arena_seal(&store->entry_memory, is_sealed);
}

void store_stats(const struct store_table *store, struct store_stats *out)
{
    *out = (struct store_stats){
        .trace_count = (uint32_t)jw_figure_now(&store->traces),
        .max_entries = store->max_entries,
        .frame_count = jw_figure_now(&store->frames),
        .arena_bytes = jw_arena_used_bytes(&store->entry_memory),
        .arena_capacity_bytes = store->entry_memory.capacity_bytes,
        .arena_touched_bytes = jw_arena_touched_bytes(&store->entry_memory),
        .waste_bytes = jw_figure_now(&store->waste_bytes),
        .refused_count = jw_figure_now(&store->refused),
        .traces_total = jw_figure_total(&store->traces),
        .frames_total = jw_figure_total(&store->frames),
        .waste_bytes_total = jw_figure_total(&store->waste_bytes),
        .refused_total = jw_figure_total(&store->refused),
        .clears_total = jw_load_relaxed(&store->clears_total),
    };
}
