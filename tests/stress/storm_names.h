/*
 * storm_names - names that hold their own number, and the test's own account of which were interned.
 *
 * For      test_storm.c: a wrong, stale or torn text is noticed by its bytes, and the figures of a dictionary
 *          are held against bits that the test set itself.
 * Context  storm_intern, storm_intern_context: handler, hook, inside the generation.  storm_audit: dump, of a
 *          generation that is proved empty.  The rest: all.
 * Memory   static, one ledger for each buffer.
 */
#ifndef JW_TESTS_STRESS_STORM_NAMES_H
#define JW_TESTS_STRESS_STORM_NAMES_H

#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "generation/context_record.h"
#include "generation/generation.h"

#define STORM_NAMES      1000000u
#define STORM_NAME_BYTES 48
#define STORM_HEAD_BYTES 8 /* a letter and seven digits */
#define STORM_ATTRIBUTES 3u
#define STORM_TENANTS    64u

enum { STORM_CLASSES, STORM_ENDPOINTS, STORM_VALUES, STORM_CONTEXTS, STORM_DICTS };

/* What was interned in one life of a buffer. Relaxed: read when nobody can be inside. */
struct storm_ledger {
    _Atomic uint64_t seen[STORM_DICTS][(STORM_NAMES + 63) / 64];
    _Atomic uint64_t refused[STORM_DICTS];
};

static struct storm_ledger storm_ledgers[EPOCH_BUFFERS];
static _Atomic uint64_t storm_classes_ever[(STORM_NAMES + 63) / 64];

static struct dict_table *storm_dict(const struct generation *generation, int dict)
{
    switch (dict) {
    case STORM_CLASSES:
        return generation->classes;
    case STORM_ENDPOINTS:
        return generation->endpoints;
    case STORM_VALUES:
        return generation->values;
    default:
        return generation->contexts;
    }
}

/* The name of a number in a dictionary; its length. No two numbers share one. */
static size_t storm_name(int dict, uint32_t number, unsigned char *name)
{
    const size_t length_bytes =
        STORM_HEAD_BYTES + (number * 7 + (uint32_t)dict) % (STORM_NAME_BYTES - STORM_HEAD_BYTES);
    uint32_t left = number;

    name[0] = (unsigned char)('A' + dict);
    for (size_t i = STORM_HEAD_BYTES - 1; i > 0; i--, left /= 10)
        name[i] = (unsigned char)('0' + left % 10);
    for (size_t i = STORM_HEAD_BYTES; i < length_bytes; i++)
        name[i] = (unsigned char)('a' + (number + i * (uint32_t)(dict + 1)) % 26);
    return length_bytes;
}

static bool storm_is_name(const struct generation *generation, int dict, dict_id id,
                          uint32_t number)
{
    unsigned char name[STORM_NAME_BYTES];
    const size_t wanted_bytes = storm_name(dict, number, name);
    size_t length_bytes;
    const void *text = dict_text(storm_dict(generation, dict), id, &length_bytes);

    return text != NULL && length_bytes == wanted_bytes && memcmp(text, name, wanted_bytes) == 0;
}

/* One value of its own, one that few share, one that some share. */
static uint32_t storm_value(uint32_t number, uint32_t attribute)
{
    return attribute == 0 ? number : attribute == 1 ? number % STORM_TENANTS : number / 16;
}

static struct context_record storm_context(uint32_t number)
{
    struct context_record record = {.span_id = number + 1ull, .root_span_id = number / 8 + 1ull};

    for (size_t i = 0; i < sizeof record.trace_id; i++)
        record.trace_id[i] = (unsigned char)(number * 31 + i);
    return record;
}

static bool storm_is_context(const struct generation *generation, dict_id id, uint32_t number)
{
    struct context_record record;
    struct context_record wanted = storm_context(number);

    if (!context_record_get(generation->contexts, id, &record))
        return false;
    for (uint32_t i = 0; i < STORM_ATTRIBUTES; i++) {
        wanted.values[i] = record.values[i];
        if (!storm_is_name(generation, STORM_VALUES, record.values[i], storm_value(number, i)))
            return false;
    }
    return memcmp(&record, &wanted, sizeof record) == 0;
}

static void storm_note(struct storm_ledger *ledger, int dict, uint32_t number, dict_id id)
{
    if (id == DICT_NONE)
        jw_add_relaxed(&ledger->refused[dict], 1);
    else
        jw_or_relaxed(&ledger->seen[dict][number / 64], 1ull << number % 64);
}

static dict_id storm_intern(struct generation *generation, struct storm_ledger *ledger, int dict,
                            uint32_t number)
{
    unsigned char name[STORM_NAME_BYTES];
    const size_t length_bytes = storm_name(dict, number, name);
    const dict_id id = dict_intern(storm_dict(generation, dict), name, length_bytes);

    storm_note(ledger, dict, number, id);
    if (dict == STORM_CLASSES && id != DICT_NONE)
        jw_or_relaxed(&storm_classes_ever[number / 64], 1ull << number % 64);
    return id;
}

/* DICT_NONE when the context or one of its values was refused; `refused` grows by one for that. */
static dict_id storm_intern_context(struct generation *generation, struct storm_ledger *ledger,
                                    uint32_t number, uint64_t *refused)
{
    struct context_record record = storm_context(number);
    dict_id id = DICT_NONE;
    uint32_t i = 0;

    for (; i < STORM_ATTRIBUTES; i++) {
        record.values[i] = storm_intern(generation, ledger, STORM_VALUES, storm_value(number, i));
        if (record.values[i] == DICT_NONE)
            break;
    }
    if (i == STORM_ATTRIBUTES) {
        id = context_record_intern(generation->contexts, &record);
        storm_note(ledger, STORM_CONTEXTS, number, id);
    }
    *refused += id == DICT_NONE;
    return id;
}

/* What dict_each says, held against the ledger. */
struct storm_visit {
    const struct generation *generation;
    const struct storm_ledger *ledger;
    int dict;
    uint64_t wrong_count;
    uint64_t key_bytes;
};

static void storm_visit_key(dict_id id, const void *text, size_t length_bytes, void *arg)
{
    struct storm_visit *visit = arg;
    const unsigned char *bytes = text;
    uint32_t number = 0;
    bool is_right;

    visit->key_bytes += length_bytes;
    if (visit->dict == STORM_CONTEXTS) {
        struct context_record record;

        is_right = context_record_get(visit->generation->contexts, id, &record);
        number = (uint32_t)record.span_id - 1;
        is_right = is_right && storm_is_context(visit->generation, id, number);
    } else {
        for (size_t i = 1; i < STORM_HEAD_BYTES && i < length_bytes; i++)
            number = number * 10 + (uint32_t)(bytes[i] - '0');
        is_right = storm_is_name(visit->generation, visit->dict, id, number);
    }
    if (!is_right || number >= STORM_NAMES ||
        (jw_load_relaxed(&visit->ledger->seen[visit->dict][number / 64]) >> number % 64 & 1) == 0)
        visit->wrong_count++;
}

static bool storm_was_there(uint32_t number)
{
    return (jw_load_relaxed(&storm_classes_ever[number / 64]) >> number % 64 & 1) != 0;
}

static uint64_t storm_count_bits(const _Atomic uint64_t *words)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < (STORM_NAMES + 63) / 64; i++)
        count += (uint64_t)__builtin_popcountll(jw_load_relaxed(&words[i]));
    return count;
}

/*
 * Figures and keys of a generation against its ledger, which is empty afterwards; returns how many are wrong,
 * and tells of each.
 */
static uint64_t storm_audit(const struct generation *generation, struct storm_ledger *ledger)
{
    uint64_t wrong_count = 0;

    for (int dict = 0; dict < STORM_DICTS; dict++) {
        struct storm_visit visit = {.generation = generation, .ledger = ledger, .dict = dict};
        const uint64_t wanted_keys = storm_count_bits(ledger->seen[dict]);
        const uint64_t wanted_refused = jw_load_relaxed(&ledger->refused[dict]);
        struct dict_stats stats;

        dict_stats(storm_dict(generation, dict), &stats);
        const uint64_t visited = dict_each(storm_dict(generation, dict), storm_visit_key, &visit);
        const bool is_right =
            visit.wrong_count == 0 && visited == wanted_keys && stats.key_count == wanted_keys &&
            stats.key_bytes == visit.key_bytes && stats.refused_count == wanted_refused;
        if (!is_right)
            fprintf(stderr,
                    "generation %llu, dictionary %d: %llu keys wanted, %u told, %llu visited, %llu "
                    "of them "
                    "wrong; %llu refused, %llu told; %llu bytes, %llu told\n",
                    (unsigned long long)generation->number, dict, (unsigned long long)wanted_keys,
                    stats.key_count, (unsigned long long)visited,
                    (unsigned long long)visit.wrong_count, (unsigned long long)wanted_refused,
                    (unsigned long long)stats.refused_count, (unsigned long long)visit.key_bytes,
                    (unsigned long long)stats.key_bytes);
        wrong_count += !is_right;
        jw_store_relaxed(&ledger->refused[dict], 0);
        if (wanted_keys > 0)
            for (uint32_t i = 0; i < (STORM_NAMES + 63) / 64; i++)
                jw_store_relaxed(&ledger->seen[dict][i], 0);
    }
    return wrong_count;
}

#endif
