/* Pools of records, and their lives; handler, but for open and close. */
#include "ids/ids_internal.h"

#include "base/memory.h"

struct ids_pool ids_classes, ids_methods, ids_blocks;

bool ids_pool_open(struct ids_pool *pool, uint32_t limit, uint32_t record_bytes)
{
    *pool = (struct ids_pool){.limit = limit, .record_bytes = record_bytes};
    pool->base = jw_memory_map(JW_MEMORY_IDS, jw_mul_bytes(limit, record_bytes));
    jw_store_relaxed(&pool->unused, 1);
    return pool->base != NULL;
}

void ids_pool_close(struct ids_pool *pool)
{
    if (pool->base != NULL)
        jw_memory_unmap(pool->base, jw_mul_bytes(pool->limit, pool->record_bytes));
    *pool = (struct ids_pool){0};
}

JW_SIGNAL_SAFE static _Atomic uint32_t *link_of(const struct ids_pool *pool, uint32_t record)
{
    return ids_pool_at(pool, record);
}

static JW_SIGNAL_SAFE uint32_t take_unused(struct ids_pool *pool)
{
    uint32_t record = jw_load_relaxed(&pool->unused);

    while (record < pool->limit) {
        if (jw_cas_relaxed(&pool->unused, &record, record + 1))
            return record;
    }
    return 0;
}

uint32_t ids_pool_take(struct ids_pool *pool)
{
    /* order IDS_POOL: acquires the link of the record. */
    uint64_t head = jw_load_acquire(&pool->free_at);
    uint32_t record;

    /* The count of pushes keeps a slow one from putting back an old head. */
    while ((record = (uint32_t)head) != 0) {
        const uint32_t next = jw_load_relaxed(link_of(pool, record));

        /* order IDS_POOL: acquires the link of the next record when it fails. */
        if (jw_cas_acq_rel(&pool->free_at, &head, (head >> 32 << 32) | next))
            break;
    }
    if (record == 0)
        record = take_unused(pool);
    if (record != 0)
        jw_add_relaxed(&pool->in_use, 1);
    return record;
}

void ids_pool_give(struct ids_pool *pool, uint32_t record)
{
    /* order IDS_POOL: acquires nothing that is needed. */
    uint64_t head = jw_load_acquire(&pool->free_at);

    jw_sub_relaxed(&pool->in_use, 1);
    do {
        jw_store_relaxed(link_of(pool, record), (uint32_t)head);
        /* order IDS_POOL: releases the link. */
    } while (!jw_cas_acq_rel(&pool->free_at, &head, ((head >> 32) + 1) << 32 | record));
}

/* ---- lives ---- */

static JW_SIGNAL_SAFE void *record_of(const struct ids_pool *pool, ids_id id)
{
    const uint32_t record = (uint32_t)id;

    return record == 0 || record >= pool->limit ? NULL : ids_pool_at(pool, record);
}

struct ids_class *ids_class_of(ids_id id)
{
    struct ids_class *klass = record_of(&ids_classes, id);

    /* order IDS_LIFE: acquires what the record holds in this life. */
    return klass != NULL && jw_load_acquire(&klass->version) == id >> 32 ? klass : NULL;
}

struct ids_method *ids_method_of(ids_id id)
{
    struct ids_method *method = record_of(&ids_methods, id);

    /* order IDS_LIFE: acquires what the record holds in this life. */
    return method != NULL && jw_load_acquire(&method->version) == id >> 32 ? method : NULL;
}

/*
 * A write that changes nothing: it comes before or behind the one that ends the life. If before, all that was read before it was
 * read before anything of the next life was written.
 */
bool ids_is_alive(_Atomic uint32_t *version, ids_id id)
{
    /* order IDS_LIFE: releases the reads before it. */
    return jw_add_acq_rel(version, 0) == id >> 32;
}

void ids_end_life(_Atomic uint32_t *version)
{
    /* order IDS_LIFE: acquires the reads of those who found it alive. */
    (void)jw_add_acq_rel(version, 1);
}
