/* Shards of fixed-size records: handlers reserve and commit, the one dump thread takes and clears. */
#include "event/event.h"

#include "base/arena.h"
#include "base/atomics.h"
#include "base/counters.h"
#include "base/hash.h"

#define PAGE_BYTES       4096
#define RECORDS_PER_PAGE (PAGE_BYTES / EVENT_RECORD_BYTES)

enum progress {
    PROGRESS_FILLING = 0,
    PROGRESS_COMMITTED,
    PROGRESS_TAKEN,
};

struct event_shard {
    struct jw_arena memory; /* of records; what is taken from it is reserved */
    /* Dump thread alone. */
    uint64_t all_taken_below; /* index: every record before it was taken */
    unsigned char padding[64];
};

struct event_ring {
    struct event_shard shards[EVENT_SHARDS];
    uint64_t capacity_count;
    _Atomic uint64_t refused_count; /* relaxed: a figure */
};

struct event_ring *event_open(size_t capacity_count, struct jw_error *err)
{
    const size_t most_count = SIZE_MAX / EVENT_RECORD_BYTES / 2;

    if (capacity_count == 0 || capacity_count > most_count) {
        jw_error_set(err, "event ring: %zu records are out of range; try 1 to %zu", capacity_count,
                     most_count);
        return NULL;
    }

    struct event_ring *ring = jw_alloc(sizeof *ring);
    if (ring == NULL) {
        jw_error_set(err, "event ring: no memory for %zu bytes; free some and start again",
                     sizeof *ring);
        return NULL;
    }

    const size_t per_page = EVENT_SHARDS * RECORDS_PER_PAGE;
    const size_t shard_pages = (capacity_count + per_page - 1) / per_page;
    for (uint32_t i = 0; i < EVENT_SHARDS; i++) {
        if (!jw_arena_open(&ring->shards[i].memory, shard_pages * PAGE_BYTES, "event records",
                           err)) {
            event_close(ring);
            return NULL;
        }
    }
    ring->capacity_count = shard_pages * per_page;
    return ring;
}

void event_close(struct event_ring *ring)
{
    if (ring == NULL)
        return;
    for (uint32_t i = 0; i < EVENT_SHARDS; i++)
        jw_arena_close(&ring->shards[i].memory);
    jw_free(ring);
}

void event_warm(struct event_ring *ring)
{
    for (uint32_t i = 0; i < EVENT_SHARDS; i++)
        jw_arena_warm(&ring->shards[i].memory, PAGE_BYTES);
}

static JW_SIGNAL_SAFE uint64_t shard_count(const struct event_shard *shard)
{
    return jw_arena_used_bytes(&shard->memory) / sizeof(struct event_record);
}

struct event_record *event_try_reserve(struct event_ring *ring)
{
    const uint64_t start = jw_hash_word((uintptr_t)__builtin_thread_pointer());

    for (uint32_t step = 0; step < EVENT_SHARDS; step++) {
        struct event_shard *shard = &ring->shards[(start + step) % EVENT_SHARDS];
        struct event_record *record = jw_arena_take(&shard->memory, sizeof *record);

        if (record != NULL)
            return record;
    }
    jw_add_relaxed(&ring->refused_count, 1);
    return NULL;
}

struct event_record *event_reserve(struct event_ring *ring)
{
    struct event_record *record = event_try_reserve(ring);

    if (record == NULL)
        jw_count(JW_COUNT_LOST_EVENTS_FULL);
    return record;
}

bool event_has_spare(const struct event_ring *ring)
{
    return event_reserved_count(ring) < event_capacity_count(ring) / 4 * 3;
}

struct event_record *event_spare_reserve(struct event_ring *ring)
{
    return event_has_spare(ring) ? event_try_reserve(ring) : NULL;
}

void event_commit(struct event_record *record)
{
    /* order EVENT_RECORD: releases the record, and the names and the trace that it refers to. */
    jw_store_release(&record->progress, PROGRESS_COMMITTED);
}

static struct event_record *record_at(const struct event_shard *shard, uint64_t index)
{
    return (struct event_record *)(void *)shard->memory.bytes + index;
}

static uint64_t take_shard(struct event_shard *shard, event_visit *visit, void *arg)
{
    const uint64_t end = shard_count(shard);
    uint64_t taken_count = 0;
    bool all_taken = true; /* from all_taken_below up to here */

    for (uint64_t i = shard->all_taken_below; i < end; i++) {
        struct event_record *record = record_at(shard, i);
        /* order EVENT_RECORD: acquires what event_commit released. */
        const uint32_t progress = jw_load_acquire(&record->progress);

        if (progress == PROGRESS_COMMITTED) {
            visit(record, arg);
            /* Relaxed: from its commit to the clear only the dump thread touches a record. */
            jw_store_relaxed(&record->progress, PROGRESS_TAKEN);
            taken_count++;
        } else if (progress == PROGRESS_FILLING) {
            all_taken = false;
        }
        if (all_taken)
            shard->all_taken_below = i + 1;
    }
    return taken_count;
}

uint64_t event_take(struct event_ring *ring, event_visit *visit, void *arg)
{
    uint64_t taken_count = 0;

    for (uint32_t i = 0; i < EVENT_SHARDS; i++)
        taken_count += take_shard(&ring->shards[i], visit, arg);
    return taken_count;
}

void event_look(const struct event_ring *ring, event_visit *visit, void *arg)
{
    for (uint32_t i = 0; i < EVENT_SHARDS; i++) {
        const struct event_shard *shard = &ring->shards[i];
        const uint64_t end = shard_count(shard);

        for (uint64_t at = shard->all_taken_below; at < end; at++) {
            const struct event_record *record = record_at(shard, at);

            /* order EVENT_RECORD: acquires what event_commit released. */
            if (jw_load_acquire(&record->progress) == PROGRESS_COMMITTED)
                visit(record, arg);
        }
    }
}

uint64_t event_clear(struct event_ring *ring)
{
    struct event_stats stats;
    event_stats(ring, &stats);

    for (uint32_t i = 0; i < EVENT_SHARDS; i++) {
        struct event_shard *shard = &ring->shards[i];

        jw_arena_reset(&shard->memory);
        shard->all_taken_below = 0;
    }
    jw_store_relaxed(&ring->refused_count, 0);
    return stats.reserved_count - stats.committed_count;
}

bool event_seal(const struct event_ring *ring, bool is_sealed)
{
    for (uint32_t i = 0; i < EVENT_SHARDS; i++)
        if (!jw_arena_seal(&ring->shards[i].memory, is_sealed))
            return false;
    return true;
}

uint64_t event_reserved_count(const struct event_ring *ring)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < EVENT_SHARDS; i++)
        count += shard_count(&ring->shards[i]);
    return count;
}

uint64_t event_capacity_count(const struct event_ring *ring)
{
    return ring->capacity_count;
}

void event_stats(const struct event_ring *ring, struct event_stats *out)
{
    *out = (struct event_stats){
        .capacity_count = ring->capacity_count,
        .refused_count = jw_load_relaxed(&ring->refused_count),
    };
    for (uint32_t i = 0; i < EVENT_SHARDS; i++) {
        const struct event_shard *shard = &ring->shards[i];
        const uint64_t count = shard_count(shard);

        out->reserved_count += count;
        for (uint64_t j = 0; j < count; j++) {
            /* Relaxed: counted, not read. */
            const uint32_t progress = jw_load_relaxed(&record_at(shard, j)->progress);

            out->committed_count += progress != PROGRESS_FILLING;
            out->taken_count += progress == PROGRESS_TAKEN;
        }
    }
}
