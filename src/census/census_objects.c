/* Objects whose locks were taken, by site, busiest first. Context: any. */
#include "census/census_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WRITING

#define HASH_BITS 31u /* JaywalkObjectTable */
#define HASH_MASK ((UINT64_C(1) << HASH_BITS) - 1)

enum { KEY, COUNT, THREADS };                  /* of a row */
enum { OTHERS, OTHERS_COUNT, OTHERS_SEVERAL }; /* of a site */

static uint32_t threads_of(uint64_t word)
{
    return word >> (2 * HASH_BITS) != 0 ? 3 : word >> HASH_BITS != 0 ? 2 : 1;
}

/* ---- order ---- */

static int by_key(const void *left, const void *right)
{
    const struct census_object *a = left, *b = right;

    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static int by_count(const void *left, const void *right)
{
    const struct census_object *a = left, *b = right;

    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->acquisitions != b->acquisitions)
        return a->acquisitions > b->acquisitions ? -1 : 1;
    return by_key(left, right);
}

/* ---- a reading ---- */

static void forget_read(struct census_objects *all)
{
    jw_free(all->read);
    jw_free(all->told);
    jw_free(all->others);
    all->read = all->told = NULL;
    all->others = NULL;
    all->read_count = all->told_count = all->other_sites = 0;
}

static void fill_read(struct census_objects *all, const int64_t *rows, size_t row_longs)
{
    for (size_t at = 0; at + CENSUS_OBJECT_LONGS <= row_longs; at += CENSUS_OBJECT_LONGS) {
        const uint64_t key = (uint64_t)rows[at + KEY];

        if (key == 0 || rows[at + COUNT] <= 0)
            continue;
        all->read[all->read_count++] = (struct census_object){
            .site = (uint32_t)(key >> HASH_BITS) - 1,
            .hash = (uint32_t)(key & HASH_MASK),
            .acquisitions = (uint64_t)rows[at + COUNT],
            .threads = threads_of((uint64_t)rows[at + THREADS]),
        };
    }
}

/* What was read of it before; one that has less than that went and came back. */
static void fill_told(struct census_objects *all)
{
    for (size_t i = 0; i < all->read_count; i++) {
        const struct census_object *now = &all->read[i];
        const struct census_object *before =
            all->base_count == 0 ? NULL
                                 : bsearch(now, all->base, all->base_count, sizeof *now, by_key);
        struct census_object *told = &all->told[all->told_count];

        *told = *now;
        if (before != NULL && before->acquisitions <= now->acquisitions)
            told->acquisitions -= before->acquisitions;
        all->told_count += told->acquisitions != 0;
    }
}

bool census_objects_take(struct census_objects *all, const int64_t *rows, size_t row_longs,
                         const int64_t *others, size_t other_longs)
{
    const size_t most = row_longs / CENSUS_OBJECT_LONGS + 1;

    forget_read(all);
    all->read = jw_alloc(jw_mul_bytes(most, sizeof *all->read));
    all->told = jw_alloc(jw_mul_bytes(most, sizeof *all->told));
    all->others = jw_alloc(jw_mul_bytes(other_longs + 1, sizeof *all->others));
    if (all->read == NULL || all->told == NULL || all->others == NULL) {
        forget_read(all);
        return false;
    }
    fill_read(all, rows, row_longs);
    if (all->read_count > 0)
        qsort(all->read, all->read_count, sizeof *all->read, by_key);
    fill_told(all);
    if (all->told_count > 0)
        qsort(all->told, all->told_count, sizeof *all->told, by_count);
    all->other_sites = other_longs / CENSUS_OTHER_LONGS;
    for (size_t i = 0; i < all->other_sites * CENSUS_OTHER_LONGS; i++)
        all->others[i] = (uint64_t)others[i];
    return true;
}

void census_objects_begin_again(struct census_objects *all)
{
    if (all->read == NULL)
        return; /* the last reading failed: what was before it still holds */
    jw_free(all->base);
    jw_free(all->base_others);
    all->base = all->read;
    all->base_count = all->read_count;
    all->base_others = all->others;
    all->base_other_sites = all->other_sites;
    all->read = NULL;
    all->others = NULL;
    forget_read(all);
}

static void forget_rows(struct census_object *rows, size_t count, const bool *is_forgotten,
                        size_t limit)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].site < limit && is_forgotten[rows[i].site])
            rows[i].acquisitions = 0;
}

static void forget_others(uint64_t *others, size_t sites, uint32_t site)
{
    if (site < sites)
        memset(&others[site * CENSUS_OTHER_LONGS], 0, CENSUS_OTHER_LONGS * sizeof *others);
}

void census_objects_forget(struct census_objects *all, const uint32_t *sites, size_t count)
{
    size_t limit = 0;

    for (size_t i = 0; i < count; i++)
        limit = sites[i] >= limit ? sites[i] + (size_t)1 : limit;
    bool *is_forgotten = jw_alloc(limit + 1);
    if (is_forgotten == NULL) {
        forget_read(all); /* nothing is told rather than what another site had */
        return;
    }
    memset(is_forgotten, 0, limit + 1);
    for (size_t i = 0; i < count; i++) {
        is_forgotten[sites[i]] = true;
        forget_others(all->others, all->other_sites, sites[i]);
        forget_others(all->base_others, all->base_other_sites, sites[i]);
    }
    forget_rows(all->read, all->read_count, is_forgotten, limit);
    forget_rows(all->told, all->told_count, is_forgotten, limit);
    forget_rows(all->base, all->base_count, is_forgotten, limit);
    jw_free(is_forgotten);
}

void census_objects_close(struct census_objects *all)
{
    forget_read(all);
    jw_free(all->base);
    jw_free(all->base_others);
    *all = (struct census_objects){0};
}

/* ---- questions ---- */

/* The first of the site, or of one behind it. */
static size_t first_of(const struct census_objects *all, uint32_t site)
{
    size_t from = 0, to = all->told_count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (all->told[middle].site < site)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint64_t other_of(const struct census_objects *all, uint32_t site, size_t which)
{
    const size_t at = site * (size_t)CENSUS_OTHER_LONGS + which;
    const uint64_t now = site < all->other_sites ? all->others[at] : 0;
    const uint64_t before = site < all->base_other_sites ? all->base_others[at] : 0;

    return now > before ? now - before : 0;
}

bool census_objects_get(const struct census_objects *all, uint32_t site, size_t index,
                        struct census_object *out)
{
    const size_t at = first_of(all, site) + index;

    if (at >= all->told_count || all->told[at].site != site || all->told[at].acquisitions == 0)
        return false;
    *out = all->told[at];
    return true;
}

bool census_objects_sum_of(const struct census_objects *all, uint32_t site,
                           struct census_objects_sum *out)
{
    const size_t first = first_of(all, site);
    uint64_t reached = 0;

    *out = (struct census_objects_sum){
        .other_objects = other_of(all, site, OTHERS),
        .other_acquisitions = other_of(all, site, OTHERS_COUNT),
        .other_several = other_of(all, site, OTHERS_SEVERAL),
    };
    for (size_t i = first; i < all->told_count && all->told[i].site == site; i++) {
        out->acquisitions += all->told[i].acquisitions;
        out->objects += all->told[i].acquisitions != 0;
        out->alone += all->told[i].acquisitions != 0 && all->told[i].threads == 1;
    }
    for (size_t i = first; i < first + out->objects; i++) {
        if (reached >= out->acquisitions - out->acquisitions / 5)
            break;
        reached += all->told[i].acquisitions;
        out->four_fifths++;
    }
    return out->objects != 0 || out->other_objects != 0;
}
