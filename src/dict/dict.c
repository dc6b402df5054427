/*
 * Open addressing over an arena, insert only: a slot goes from empty to full once, by one CAS.
 * intern, find and text run in handlers; open, clear and close with nobody inside.
 */
#include "dict/dict.h"

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

struct dict_entry {
    dict_id id;
    uint32_t length_bytes;
    unsigned char text[];
};

/* Where the entry of an id lies (in units of 8 bytes, plus 1; 0: nobody has this id) and its slot. */
struct dict_place {
    _Atomic uint32_t place;
    uint32_t slot; /* read by dict_clear alone */
};

struct dict_table {
    /* Constant while the table is in use; apart from what inserts write. */
    _Atomic uint64_t *slots;
    struct dict_place *places;
    unsigned char *entries;
    struct jw_slots layout;
    uint32_t max_entries;
    unsigned char padding[64];

    struct jw_arena slot_memory;  /* taken whole */
    struct jw_arena place_memory; /* one dict_place for each id: the n-th piece belongs to id n */
    struct jw_arena entry_memory;
    struct jw_figure keys;
    struct jw_figure key_bytes;
    struct jw_figure waste_bytes;
    struct jw_figure refused;
    _Atomic uint64_t clears_total; /* relaxed: a figure */

    uint32_t
        far_touched_count; /* dict_clear alone: far slots whose pages may be in memory, at most */
};

_Static_assert(sizeof(struct dict_entry) == 8, "text starts on an 8-byte boundary");
_Static_assert(sizeof(struct dict_place) == 8, "a piece of an arena is a multiple of 8");

struct dict_table *dict_open(const struct dict_config *config, struct jw_error *err)
{
    /* 32 bits of a slot say where in the arena an entry lies, in units of 8 bytes. */
    const size_t most_arena_bytes = (size_t)UINT32_MAX * PLACE_UNIT_BYTES;

    if (config->max_entries == 0 || config->max_entries > DICT_MAX_ENTRIES ||
        config->arena_bytes < PAGE_BYTES || config->arena_bytes > most_arena_bytes) {
        jw_error_set(err,
                     "dictionary %s: %u entries in %zu bytes are out of range; "
                     "try 1 to %u entries and at least %u bytes",
                     config->name, config->max_entries, config->arena_bytes, DICT_MAX_ENTRIES,
                     (unsigned)PAGE_BYTES);
        return NULL;
    }

    struct dict_table *table = jw_alloc(sizeof *table);
    if (table == NULL) {
        jw_error_set(err, "dictionary %s: no memory for %zu bytes; free some and start again",
                     config->name, sizeof *table);
        return NULL;
    }

    table->layout = jw_slots_for(config->max_entries, DICT_PROBES);
    if (!jw_arena_open(&table->slot_memory, jw_slots_count(table->layout) * SLOT_BYTES,
                       config->name, err) ||
        !jw_arena_open(&table->place_memory, config->max_entries * sizeof(struct dict_place),
                       config->name, err) ||
        !jw_arena_open(&table->entry_memory, config->arena_bytes, config->name, err)) {
        dict_close(table);
        return NULL;
    }
    table->slots = jw_arena_take(&table->slot_memory, table->slot_memory.capacity_bytes);
    table->places = (struct dict_place *)(void *)table->place_memory.bytes;
    table->entries = table->entry_memory.bytes;
    table->max_entries = config->max_entries;
    return table;
}

void dict_close(struct dict_table *table)
{
    if (table == NULL)
        return;
    jw_arena_close(&table->entry_memory);
    jw_arena_close(&table->place_memory);
    jw_arena_close(&table->slot_memory);
    jw_free(table);
}

void dict_warm(struct dict_table *table)
{
    jw_arena_warm(&table->slot_memory, table->layout.near_count * SLOT_BYTES);
    jw_arena_warm(&table->place_memory, WARM_PLACE_BYTES);
    jw_arena_warm(&table->entry_memory, WARM_ENTRY_BYTES);
}

JW_SIGNAL_SAFE static const struct dict_entry *entry_at(const struct dict_table *table,
                                                        uint32_t place)
{
    return (const struct dict_entry *)(const void *)(table->entries +
                                                     (size_t)(place - 1) * PLACE_UNIT_BYTES);
}

/* The entry of this slot if it is the one with these bytes, else NULL. */
JW_SIGNAL_SAFE static const struct dict_entry *entry_of_slot(const struct dict_table *table,
                                                             uint64_t word, uint64_t hash,
                                                             const void *text, size_t length_bytes)
{
    if (word >> 32 != hash >> 32)
        return NULL;

    const struct dict_entry *entry = entry_at(table, (uint32_t)word);
    if (entry->length_bytes != length_bytes)
        return NULL;
    if (length_bytes != 0 && memcmp(entry->text, text, length_bytes) != 0)
        return NULL;
    return entry;
}

JW_SIGNAL_SAFE static dict_id refuse(struct dict_table *table, enum jw_counter_id why)
{
    jw_figure_add(&table->refused, 1);
    jw_count(why);
    return DICT_NONE;
}

/* Of the arena, for a string of this length. */
JW_SIGNAL_SAFE static size_t entry_bytes(size_t length_bytes)
{
    return (sizeof(struct dict_entry) + length_bytes + 7) & ~(size_t)7;
}

/* An entry with an id of its own that no slot knows yet; its place, or 0 when there is no room. */
JW_SIGNAL_SAFE static uint32_t make_entry(struct dict_table *table, const void *text,
                                          size_t length_bytes)
{
    /* Asked first, so that a table out of ids does not fill its arena too. */
    if (dict_last_id(table) >= table->max_entries)
        return 0;

    size_t lost_bytes;
    struct dict_entry *entry =
        jw_arena_take_or_lose(&table->entry_memory, entry_bytes(length_bytes), &lost_bytes);
    if (entry == NULL) {
        if (lost_bytes != 0)
            jw_figure_add(&table->waste_bytes, lost_bytes);
        return 0;
    }

    struct dict_place *place = jw_arena_take(&table->place_memory, sizeof *place);
    if (place == NULL) {
        jw_figure_add(&table->waste_bytes, entry_bytes(length_bytes));
        return 0;
    }
    entry->id = (dict_id)(place - table->places) + 1;
    entry->length_bytes = (uint32_t)length_bytes;
    if (length_bytes != 0)
        memcpy(entry->text, text, length_bytes);

    const size_t offset_bytes = (size_t)((unsigned char *)entry - table->entries);
    return (uint32_t)(offset_bytes / PLACE_UNIT_BYTES) + 1;
}

/* The id of an entry that lost its race, and its bytes, stay unused. */
JW_SIGNAL_SAFE static void waste_entry(struct dict_table *table, uint32_t made)
{
    const struct dict_entry *entry = entry_at(table, made);

    jw_figure_add(&table->waste_bytes, entry_bytes(entry->length_bytes));
    /* order DICT_PLACE: releases nothing new; dict_text and dict_each skip the id from now on. */
    jw_store_release(&table->places[entry->id - 1].place, 0);
}

/* Tries each slot once and each CAS once: it ends for everybody, whatever others do. */
JW_SIGNAL_SAFE static dict_id publish(struct dict_table *table, uint64_t hash, const void *text,
                                      size_t length_bytes, uint32_t max_keys)
{
    uint32_t made = 0; /* place of our own entry, once there is one */

    for (uint32_t probe = 0; probe < DICT_PROBES; probe++) {
        const uint32_t slot = jw_slots_at(table->layout, (uint32_t)hash, probe);
        /* order DICT_SLOT: acquires what the CAS below released, the entry and its text. */
        uint64_t word = jw_load_acquire(&table->slots[slot]);

        if (word == 0) {
            if (made == 0) {
                if (jw_figure_now(&table->keys) >= max_keys)
                    return refuse(table, JW_COUNT_DICT_FULL);
                made = make_entry(table, text, length_bytes);
                if (made == 0)
                    return refuse(table, JW_COUNT_DICT_FULL);
            }
            const dict_id id = entry_at(table, made)->id;
            table->places[id - 1].slot = slot;
            /* order DICT_PLACE: releases the entry to who comes by its id. */
            jw_store_release(&table->places[id - 1].place, made);
            /* order DICT_SLOT: releases the entry; or acquires that of the winner. */
            if (jw_cas_acq_rel(&table->slots[slot], &word, hash >> 32 << 32 | made)) {
                jw_figure_add(&table->keys, 1);
                jw_figure_add(&table->key_bytes, length_bytes);
                return id;
            }
        }

        const struct dict_entry *entry = entry_of_slot(table, word, hash, text, length_bytes);
        if (entry != NULL) {
            if (made != 0)
                waste_entry(table, made);
            return entry->id;
        }
    }
    if (made != 0)
        waste_entry(table, made);
    return refuse(table, JW_COUNT_DICT_PROBE_LIMIT);
}

dict_id dict_intern(struct dict_table *table, const void *text, size_t length_bytes)
{
    return dict_intern_bounded(table, text, length_bytes, UINT32_MAX);
}

dict_id dict_intern_bounded(struct dict_table *table, const void *text, size_t length_bytes,
                            uint32_t max_keys)
{
    if (length_bytes > DICT_MAX_BYTES)
        return refuse(table, JW_COUNT_DICT_FULL);
    return publish(table, jw_hash64(text, length_bytes), text, length_bytes, max_keys);
}

dict_id dict_find(const struct dict_table *table, const void *text, size_t length_bytes)
{
    if (length_bytes > DICT_MAX_BYTES)
        return DICT_NONE;

    const uint64_t hash = jw_hash64(text, length_bytes);
    for (uint32_t probe = 0; probe < DICT_PROBES; probe++) {
        const uint32_t slot = jw_slots_at(table->layout, (uint32_t)hash, probe);
        /* order DICT_SLOT: acquires what dict_intern released, the entry and its text. */
        const uint64_t word = jw_load_acquire(&table->slots[slot]);

        if (word == 0)
            return DICT_NONE;

        const struct dict_entry *entry = entry_of_slot(table, word, hash, text, length_bytes);
        if (entry != NULL)
            return entry->id;
    }
    return DICT_NONE; /* intern looks no further either */
}

const void *dict_text(const struct dict_table *table, dict_id id, size_t *length_bytes)
{
    *length_bytes = 0;
    if (id == DICT_NONE || id > dict_last_id(table))
        return NULL;

    /* order DICT_PLACE: acquires what dict_intern released, the entry and its text. */
    const uint32_t place = jw_load_acquire(&table->places[id - 1].place);
    if (place == 0)
        return NULL;

    const struct dict_entry *entry = entry_at(table, place);
    *length_bytes = entry->length_bytes;
    return entry->text;
}

uint32_t dict_last_id(const struct dict_table *table)
{
    return (uint32_t)(jw_arena_used_bytes(&table->place_memory) / sizeof(struct dict_place));
}

uint32_t dict_each(const struct dict_table *table, dict_visit *visit, void *arg)
{
    const uint32_t last_id = dict_last_id(table);
    uint32_t visited_count = 0;

    for (dict_id id = 1; id <= last_id; id++) {
        size_t length_bytes;
        const void *text = dict_text(table, id, &length_bytes);

        if (text == NULL)
            continue;
        visit(id, text, length_bytes, arg);
        visited_count++;
    }
    return visited_count;
}

/*
 * Empties the slots. The far ones are touched all over, nearly a page a key: once a life needs an eighth of what
 * another one did, or none, their pages go back to the system.
 */
static void clear_slots(struct dict_table *table)
{
    const uint32_t id_count = dict_last_id(table);
    uint32_t far_count = 0;

    for (uint32_t i = 0; i < id_count; i++) {
        if (jw_load_relaxed(&table->places[i].place) == 0)
            continue;
        const uint32_t slot = table->places[i].slot;

        jw_store_relaxed(&table->slots[slot], 0);
        far_count += slot >= table->layout.near_count;
    }
    if (far_count > table->far_touched_count) {
        table->far_touched_count = far_count;
    } else if (far_count < (table->far_touched_count + FAR_KEEP_SHARE - 1) / FAR_KEEP_SHARE) {
        jw_arena_drop(&table->slot_memory, table->layout.near_count * SLOT_BYTES);
        table->far_touched_count = 0;
    }
}

void dict_clear(struct dict_table *table)
{
    clear_slots(table);
    jw_arena_reset(&table->place_memory);
    jw_arena_reset(&table->entry_memory);
    jw_figure_clear(&table->keys);
    jw_figure_clear(&table->key_bytes);
    jw_figure_clear(&table->waste_bytes);
    jw_figure_clear(&table->refused);
    jw_add_relaxed(&table->clears_total, 1);
}

bool dict_seal(const struct dict_table *table, bool is_sealed)
{
    return jw_arena_seal(&table->slot_memory, is_sealed) &&
           jw_arena_seal(&table->place_memory, is_sealed) &&
           jw_arena_seal(&table->entry_memory, is_sealed);
}

void dict_stats(const struct dict_table *table, struct dict_stats *out)
{
    *out = (struct dict_stats){
        .key_count = (uint32_t)jw_figure_now(&table->keys),
        .max_entries = table->max_entries,
        .key_bytes = jw_figure_now(&table->key_bytes),
        .arena_bytes = jw_arena_used_bytes(&table->entry_memory),
        .arena_capacity_bytes = table->entry_memory.capacity_bytes,
        .arena_touched_bytes = jw_arena_touched_bytes(&table->entry_memory),
        .waste_bytes = jw_figure_now(&table->waste_bytes),
        .refused_count = jw_figure_now(&table->refused),
        .keys_total = jw_figure_total(&table->keys),
        .key_bytes_total = jw_figure_total(&table->key_bytes),
        .waste_bytes_total = jw_figure_total(&table->waste_bytes),
        .refused_total = jw_figure_total(&table->refused),
        .clears_total = jw_load_relaxed(&table->clears_total),
    };
}
