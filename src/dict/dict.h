/*
 * dict - interned strings: bytes in, small stable id out.
 *
 * For      samples that must carry a class, symbol, method or endpoint name in four bytes.
 * Callers  generation (open, clear, close); sampler, vm, context (intern, find, text); recording
 *          (text, each).
 * Context  dict_intern, dict_intern_bounded, dict_find, dict_text: handler, hook, any, inside the
 *          generation of the table; dict_text also dump.  dict_each, dict_clear: dump.
 *          dict_open, dict_close: control, with all engines stopped.  dict_stats: any.
 * Memory   one table per generation, reserved whole by dict_open; nothing grows afterwards, and a
 *          page is touched when the first string needs it. Room `epoch` alone decides when a table
 *          is cleared: when nobody can be inside it.
 * Progress wait-free, all but open, close, each and clear: no call visits more than DICT_PROBES slots, or tries a
 *          slot twice. (Where the processor adds by a loop of its own, as aarch64 without LSE, intern is lock-free.)
 *
 * May these overlap?    intern/find/text    each    clear
 *   intern/find/text          yes            yes    never (epoch)
 *   each                      yes            yes    no (one dump thread)
 *
 *   slots     open addressing, one word each, at most half of them taken:
 *             | tag: 32 bits of the hash | place in the arena / 8 + 1 |      0: empty
 *   places    by id: where the entry of an id lies
 *   arena     entries: | id (4 bytes) | length (4) | bytes, from an 8-byte boundary |
 *
 * A slot is filled once and never changes until the clear, so equal bytes meet in one slot and get
 * one id. Who loses the race for a slot leaves his entry and his id behind as waste.
 */
#ifndef JW_DICT_DICT_H
#define JW_DICT_DICT_H

#include "base/jw.h"

typedef uint32_t dict_id;      /* means something only in the generation that gave it */
#define DICT_NONE ((dict_id)0) /* never the id of a string */

#define DICT_PROBES      64
#define DICT_MAX_BYTES   65536u     /* of one string */
#define DICT_INDEX_BYTES 40u        /* of slots and place for one entry, at most; for budgets */
#define DICT_MAX_ENTRIES (1u << 28) /* of one table */

struct dict_table;

struct dict_config {
    const char *name;     /* for error messages */
    uint32_t max_entries; /* 1 .. DICT_MAX_ENTRIES; ids are 1 .. max_entries */
    size_t arena_bytes;   /* strings, each with 8 bytes more and rounded up to 8 */
};

/*
 * Exact whenever nobody is just inserting. While they last: what lies in the table now, thus since the last
 * clear. The totals, since dict_open, never fall.
 *     arena_bytes = key_bytes, each string rounded up to 8 bytes, + 8 * key_count + waste_bytes
 */
struct dict_stats {
    uint32_t key_count;   /* distinct strings */
    uint32_t max_entries; /* as configured */
    uint64_t key_bytes;   /* their lengths together */
    uint64_t arena_bytes; /* taken from the arena, waste and headers included */
    uint64_t arena_capacity_bytes;
    uint64_t
        arena_touched_bytes; /* that may be in memory, those of a spike not given back yet included */
    uint64_t waste_bytes;    /* of the arena, that no string has: of those who lost a race */
    uint64_t refused_count; /* DICT_NONE given by intern */
    uint64_t keys_total;
    uint64_t key_bytes_total;
    uint64_t waste_bytes_total;
    uint64_t refused_total;
    uint64_t clears_total; /* lives that have ended */
};

/* Reserves all memory; NULL and a filled `err` when the kernel refuses or `config` is unsound. */
JW_MUST_CHECK struct dict_table *dict_open(const struct dict_config *config, struct jw_error *err);
void dict_close(struct dict_table *table);

/* Brings the part that a small load uses into memory, before anybody is inside. */
void dict_warm(struct dict_table *table);

/*
 * Id of these bytes (any bytes, no terminator needed, possibly none), adding them on first sight.
 * Equal bytes get equal ids within a generation; ids grow from 1, with a gap for each lost race.
 * DICT_NONE when the table or its arena is full or the string longer than DICT_MAX_BYTES, counted
 * as DICT_FULL; and when DICT_PROBES slots in a row are others', counted as DICT_PROBE_LIMIT.
 */
JW_SIGNAL_SAFE dict_id dict_intern(struct dict_table *table, const void *text, size_t length_bytes);

/*
 * The same, but adds nothing to a table of `max_keys` strings or more, counted as DICT_FULL; what is there is
 * found. Racing callers may pass the bound by one string each. With a bound of 0 it is a look-up that counts.
 */
JW_SIGNAL_SAFE dict_id dict_intern_bounded(struct dict_table *table, const void *text,
                                           size_t length_bytes, uint32_t max_keys);

/* Id of these bytes, DICT_NONE when they are not in the table. Never adds, counts nothing. */
JW_SIGNAL_SAFE dict_id dict_find(const struct dict_table *table, const void *text,
                                 size_t length_bytes);

/*
 * The bytes of an id, 8-byte aligned, not terminated, valid until the clear; NULL, length 0, for
 * what is no id of this table. The caller must have got the id through an acquire or from intern.
 */
JW_SIGNAL_SAFE const void *dict_text(const struct dict_table *table, dict_id id,
                                     size_t *length_bytes);

/* Highest id given so far, for arrays indexed by id; ids that lost a race included. */
JW_SIGNAL_SAFE uint32_t dict_last_id(const struct dict_table *table);

/*
 * Calls back for each string, by rising id; returns how many. While others intern, a string may
 * come a second time under an id that nobody holds: the entry of one who is just losing a race.
 */
typedef void dict_visit(dict_id id, const void *text, size_t length_bytes, void *arg);
uint32_t dict_each(const struct dict_table *table, dict_visit *visit, void *arg);

/* Forgets all strings. Pages stay for the next life; after a spike they go back bit by bit. */
void dict_clear(struct dict_table *table);

/* Makes a cleared table untouchable, or usable again: as jw_arena_seal. Context: dump, with nobody inside. */
JW_MUST_CHECK bool dict_seal(const struct dict_table *table, bool is_sealed);

void dict_stats(const struct dict_table *table, struct dict_stats *out);

#endif
