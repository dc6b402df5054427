/*
 * Three generations under one epoch. Entering and leaving run in handlers and hooks; rotating and
 * retiring on the one dump thread; opening and closing with all engines stopped.
 */
#include "generation/generation.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/memory.h"

/* Shares of one generation's bytes, in percent. */
#define TRACES_PCT    33
#define EVENTS_PCT    19
#define METHODS_PCT   17
#define SYMBOLS_PCT   13
#define CLASSES_PCT   6
#define CONTEXTS_PCT  5
#define VALUES_PCT    2
#define ENDPOINTS_PCT 2
#define PAYLOADS_PCT  3

/* Bytes that an entry is reckoned to need, with its slots and its place: what makes a table run
 * out of ids and of arena at about the same time. */
#define TRACE_BYTES    224 /* 25 frames: much is shared, so few samples bring a new trace */
#define METHOD_BYTES   144 /* record and line table */
#define SYMBOL_BYTES   72
#define CLASS_BYTES    80
#define CONTEXT_BYTES  120 /* two attributes */
#define VALUE_BYTES    72
#define ENDPOINT_BYTES 80
#define PAYLOAD_BYTES  144

/* Of a generation, before shares are taken: method cache, rounding of shards and tables to pages. */
#define FIXED_BYTES (DICT_CACHE_WORDS * sizeof(uint64_t) + ((size_t)128 << 10))

struct generations {
    struct epoch *epoch;
    struct generation buffers[EPOCH_BUFFERS];
    size_t reserved_bytes;
    bool is_free_sealed;
    _Atomic uint64_t abandoned_count; /* relaxed: a figure */
};

static struct dict_table *open_dict(const char *name, size_t share_bytes, size_t entry_bytes,
                                    struct jw_error *err)
{
    const size_t wanted_entries = share_bytes / entry_bytes;
    const uint32_t max_entries =
        wanted_entries < DICT_MAX_ENTRIES ? (uint32_t)wanted_entries : DICT_MAX_ENTRIES;
    const struct dict_config config = {
        .name = name,
        .max_entries = max_entries,
        .arena_bytes = share_bytes - (size_t)max_entries * DICT_INDEX_BYTES,
    };

    return dict_open(&config, err);
}

static struct store_table *open_store(size_t share_bytes, struct jw_error *err)
{
    const size_t wanted_entries = share_bytes / TRACE_BYTES;
    const uint32_t max_entries =
        wanted_entries < STORE_MAX_ENTRIES ? (uint32_t)wanted_entries : STORE_MAX_ENTRIES;
    const struct store_config config = {
        .name = "traces",
        .max_entries = max_entries,
        .arena_bytes = share_bytes - (size_t)max_entries * STORE_INDEX_BYTES,
    };

    return store_open(&config, err);
}

static bool open_buffer(struct generation *generation, size_t budget_bytes, struct jw_error *err)
{
    const size_t pct_bytes = (budget_bytes - FIXED_BYTES) / 100;

    generation->classes = open_dict("classes", CLASSES_PCT * pct_bytes, CLASS_BYTES, err);
    generation->symbols = open_dict("symbols", SYMBOLS_PCT * pct_bytes, SYMBOL_BYTES, err);
    generation->methods = open_dict("methods", METHODS_PCT * pct_bytes, METHOD_BYTES, err);
    generation->endpoints = open_dict("endpoints", ENDPOINTS_PCT * pct_bytes, ENDPOINT_BYTES, err);
    generation->values = open_dict("context values", VALUES_PCT * pct_bytes, VALUE_BYTES, err);
    generation->payloads = open_dict("payloads", PAYLOADS_PCT * pct_bytes, PAYLOAD_BYTES, err);
    generation->contexts = open_dict("contexts", CONTEXTS_PCT * pct_bytes, CONTEXT_BYTES, err);
    generation->method_cache = dict_cache_open(err);
    generation->traces = open_store(TRACES_PCT * pct_bytes, err);
    generation->events = event_open(EVENTS_PCT * pct_bytes / EVENT_RECORD_BYTES, err);
    return generation->classes != NULL && generation->symbols != NULL &&
           generation->methods != NULL && generation->endpoints != NULL &&
           generation->values != NULL && generation->payloads != NULL &&
           generation->contexts != NULL && generation->method_cache != NULL &&
           generation->traces != NULL && generation->events != NULL;
}

/* What a quiet program's second needs, some 600 KiB, so that its first samples do not pay for it. Not endpoints,
 * values, contexts and payloads: most programs name none. */
static void warm_buffer(struct generation *generation)
{
    dict_warm(generation->classes);
    dict_warm(generation->symbols);
    dict_warm(generation->methods);
    dict_cache_warm(generation->method_cache);
    store_warm(generation->traces);
    event_warm(generation->events);
}

static void close_buffer(struct generation *generation)
{
    event_close(generation->events);
    store_close(generation->traces);
    dict_cache_close(generation->method_cache);
    dict_close(generation->contexts);
    dict_close(generation->payloads);
    dict_close(generation->values);
    dict_close(generation->endpoints);
    dict_close(generation->methods);
    dict_close(generation->symbols);
    dict_close(generation->classes);
}

/* The method cache stays open: figures of it are asked for at any time. */
static bool seal_buffer(const struct generation *generation, bool is_sealed)
{
    return dict_seal(generation->classes, is_sealed) && dict_seal(generation->symbols, is_sealed) &&
           dict_seal(generation->methods, is_sealed) &&
           dict_seal(generation->endpoints, is_sealed) &&
           dict_seal(generation->values, is_sealed) && dict_seal(generation->payloads, is_sealed) &&
           dict_seal(generation->contexts, is_sealed) &&
           store_seal(generation->traces, is_sealed) && event_seal(generation->events, is_sealed);
}

struct generations *generations_open(const struct generations_config *config, struct jw_error *err)
{
    const size_t memory_bytes =
        config->memory_bytes != 0 ? config->memory_bytes : GENERATIONS_DEFAULT_BYTES;

    if (memory_bytes < GENERATIONS_MIN_BYTES || memory_bytes > GENERATIONS_MAX_BYTES) {
        jw_error_set(err, "memory budget of %zu bytes is out of range; try %zu to %zu",
                     memory_bytes, GENERATIONS_MIN_BYTES, GENERATIONS_MAX_BYTES);
        return NULL;
    }

    struct generations *generations = jw_alloc(sizeof *generations);
    if (generations == NULL) {
        jw_error_set(err, "generations: no memory for %zu bytes; free some and start again",
                     sizeof *generations);
        return NULL;
    }
    if (!jw_memory_charge(JW_MEMORY_SAMPLES, memory_bytes)) {
        jw_error_set(err, "memlimit leaves no room for %zu bytes of samples; try a larger one",
                     memory_bytes);
        goto fail;
    }
    generations->reserved_bytes = memory_bytes;
    generations->epoch = epoch_open(err);
    if (generations->epoch == NULL)
        goto fail;
    for (int i = 0; i < EPOCH_BUFFERS; i++)
        if (!open_buffer(&generations->buffers[i], memory_bytes / EPOCH_BUFFERS, err))
            goto fail;
    for (int i = 0; i < EPOCH_BUFFERS; i++)
        warm_buffer(&generations->buffers[i]);
    for (int i = 1; config->is_free_sealed && i < EPOCH_BUFFERS; i++)
        if (!seal_buffer(&generations->buffers[i], true)) {
            jw_error_set(err, "generations: the kernel refuses to protect free memory");
            goto fail;
        }
    generations->is_free_sealed = config->is_free_sealed;
    generations->buffers[0].number = 1;
    generations->buffers[0].start_ns = jw_now_ns();
    return generations;

fail:
    generations_close(generations);
    return NULL;
}

void generations_close(struct generations *generations)
{
    if (generations == NULL)
        return;
    for (int i = EPOCH_BUFFERS - 1; i >= 0; i--)
        close_buffer(&generations->buffers[i]);
    epoch_close(generations->epoch);
    jw_memory_credit(JW_MEMORY_SAMPLES, generations->reserved_bytes);
    jw_free(generations);
}

struct generation *generation_enter(struct generations *generations, uint32_t tid,
                                    struct epoch_ticket *out)
{
    if (!epoch_enter(generations->epoch, tid, out))
        return NULL;
    return &generations->buffers[out->buffer];
}

struct generation *generation_try_enter(struct generations *generations, uint32_t tid,
                                        struct epoch_ticket *out)
{
    if (!epoch_try_enter(generations->epoch, tid, out))
        return NULL;
    return &generations->buffers[out->buffer];
}

void generation_leave(struct generations *generations, const struct epoch_ticket *ticket)
{
    epoch_leave(generations->epoch, ticket);
}

struct generation *generations_rotate(struct generations *generations)
{
    struct epoch *epoch = generations->epoch;
    const int next = epoch_next(epoch);

    if (next != EPOCH_NONE) {
        if (generations->is_free_sealed && !seal_buffer(&generations->buffers[next], false)) {
            jw_count(JW_COUNT_ROTATION_PUT_OFF);
            return NULL;
        }
        /* Free, so nobody is inside; epoch_rotate publishes both with the buffer. */
        generations->buffers[next].number = epoch_generation(epoch, epoch_active(epoch)) + 1;
        generations->buffers[next].start_ns = jw_now_ns();
    }

    const int closed = epoch_rotate(epoch);
    return closed == EPOCH_NONE ? NULL : &generations->buffers[closed];
}

static uint64_t taken_count(const struct generation *generation)
{
    struct event_stats stats;

    event_stats(generation->events, &stats);
    return stats.taken_count;
}

/* False when records are left that nobody took: they would be lost unnamed. */
static bool clear_buffer(struct generations *generations, struct generation *generation)
{
    struct event_stats stats;

    event_stats(generation->events, &stats);
    if (stats.taken_count != stats.committed_count)
        return false;
    jw_add_relaxed(&generations->abandoned_count, event_clear(generation->events));
    store_clear(generation->traces);
    dict_cache_clear(generation->method_cache);
    dict_clear(generation->contexts);
    dict_clear(generation->payloads);
    dict_clear(generation->values);
    dict_clear(generation->endpoints);
    dict_clear(generation->methods);
    dict_clear(generation->symbols);
    dict_clear(generation->classes);
    return true;
}

static bool take_and_count(struct generation *generation, generations_take_late *take_late,
                           void *arg)
{
    const uint64_t taken_before = taken_count(generation);
    const bool may_clear = take_late(generation, arg);

    jw_count_add(JW_COUNT_LATE_RECORDS, taken_count(generation) - taken_before);
    return may_clear;
}

void generations_take_late_before(struct generations *generations, const struct generation *closed,
                                  generations_take_late *take_late, void *arg)
{
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        struct generation *generation = &generations->buffers[i];

        if (epoch_state(generations->epoch, i) == EPOCH_CLOSED && generation != closed)
            (void)take_and_count(generation, take_late, arg);
    }
}

uint32_t generations_retire(struct generations *generations, generations_take_late *take_late,
                            void *arg)
{
    uint32_t cleared_count = 0;

    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        struct generation *generation = &generations->buffers[i];

        if (!epoch_prove(generations->epoch, i))
            continue;

        if (!take_and_count(generation, take_late, arg) || !clear_buffer(generations, generation))
            continue;
        /* Refused by the kernel in part: the rest stays open, and is opened at the rotation like all. */
        if (generations->is_free_sealed)
            (void)!seal_buffer(generation, true);
        epoch_free(generations->epoch, i);
        cleared_count++;
    }
    return cleared_count;
}

static bool is_dict_half_full(const struct dict_table *table)
{
    struct dict_stats stats;

    dict_stats(table, &stats);
    return dict_last_id(table) >= stats.max_entries / 2 ||
           stats.arena_bytes >= stats.arena_capacity_bytes / 2;
}

bool generations_is_half_full(const struct generations *generations)
{
    const struct generation *active = &generations->buffers[epoch_active(generations->epoch)];
    struct store_stats traces;

    store_stats(active->traces, &traces);
    return event_reserved_count(active->events) >= event_capacity_count(active->events) / 2 ||
           store_last_id(active->traces) >= traces.max_entries / 2 ||
           traces.arena_bytes >= traces.arena_capacity_bytes / 2 ||
           is_dict_half_full(active->methods) || is_dict_half_full(active->symbols) ||
           is_dict_half_full(active->classes) || is_dict_half_full(active->endpoints) ||
           is_dict_half_full(active->values) || is_dict_half_full(active->contexts) ||
           is_dict_half_full(active->payloads);
}

bool generations_has_spare(const struct generations *generations)
{
    return event_has_spare(generations->buffers[epoch_active(generations->epoch)].events);
}

static void forget(const struct event_record *record, void *arg)
{
    (void)record;
    (void)arg;
}

void generations_forget(struct generations *generations)
{
    for (int i = 0; i < EPOCH_BUFFERS; i++)
        jw_count_add(JW_COUNT_RECORDS_FORGOTTEN,
                     event_take(generations->buffers[i].events, forget, NULL));
}

uint32_t generations_empty_dead_cells(struct generations *generations, epoch_is_alive *is_alive,
                                      void *arg)
{
    return epoch_empty_dead_cells(generations->epoch, is_alive, arg);
}

struct generation *generations_at(struct generations *generations, int buffer,
                                  enum epoch_state *state)
{
    *state = epoch_state(generations->epoch, buffer);
    return &generations->buffers[buffer];
}

static uint64_t dict_used_bytes(const struct dict_table *table)
{
    struct dict_stats stats;

    dict_stats(table, &stats);
    return stats.arena_bytes + (uint64_t)dict_last_id(table) * DICT_INDEX_BYTES;
}

static uint64_t used_bytes(const struct generation *generation)
{
    struct store_stats traces;

    store_stats(generation->traces, &traces);
    return dict_used_bytes(generation->classes) + dict_used_bytes(generation->symbols) +
           dict_used_bytes(generation->methods) + dict_used_bytes(generation->endpoints) +
           dict_used_bytes(generation->values) + dict_used_bytes(generation->contexts) +
           dict_used_bytes(generation->payloads) + traces.arena_bytes +
           (uint64_t)store_last_id(generation->traces) * STORE_INDEX_BYTES +
           event_reserved_count(generation->events) * EVENT_RECORD_BYTES +
           (uint64_t)dict_cache_count(generation->method_cache) * sizeof(uint64_t);
}

uint64_t generations_number(const struct generations *generations)
{
    return epoch_generation(generations->epoch, epoch_active(generations->epoch));
}

void generations_stats(const struct generations *generations, struct generations_stats *out)
{
    const struct epoch *epoch = generations->epoch;

    *out = (struct generations_stats){
        .number = epoch_generation(epoch, epoch_active(epoch)),
        .cells_taken = epoch_cells_taken(epoch),
        .reserved_bytes = generations->reserved_bytes,
        .abandoned_count = jw_load_relaxed(&generations->abandoned_count),
    };
    for (int i = 0; i < EPOCH_BUFFERS; i++) {
        const enum epoch_state state = epoch_state(epoch, i);

        out->free_count += state == EPOCH_FREE;
        out->closed_count += state == EPOCH_CLOSED;
        out->used_bytes += used_bytes(&generations->buffers[i]);
    }
}
