/* Rows of callers, and what is told of them. Context: see the header. */
#include "agent/caller_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/root.h"

/* It is for the file. */
#undef JW_MEMORY_HERE
#define JW_MEMORY_HERE JW_MEMORY_WRITING

#define ROWS     16384u /* a power of two */
#define ROWS_OF  (ROWS / 4 * 3)
#define ROWS_ALL (ROWS / 8 * 7) /* with those of others */

/* Both ends of a 95 % interval are so many standard deviations away; of what was never seen in n samples, 3/n bounds it as well. */
#define DEVIATIONS 1.96
#define UNSEEN     3.0

struct sums {
    uint64_t samples, weight;
    double spread; /* of squares of weights, less themselves */
};

struct row {
    _Atomic uint64_t key; /* 0: free */
    uint32_t site;
    char *text; /* class, NUL, method */
    /* Relaxed: figures, each right by itself. */
    _Atomic uint64_t samples, weight, spread; /* the latter: bits of a double */
    struct sums base;                         /* is not told any more; of the agent's thread */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct row *rows; /* under the lock; never freed, as threads look at them at any time */
    uint32_t count;   /* under the lock */
    _Atomic uint64_t lost;
} table;

/* order CALLER_ROWS: who sees the rows sees that they are free. */
static struct row *_Atomic shared_rows;

struct told {
    const struct row *row;
    struct sums sums;
};

/* Of the last look; in the order of sites. The agent's thread. */
static struct {
    struct told *all;
    size_t count;
    struct group {
        uint32_t site;
        size_t first, count;
        struct sums sums;
    } group; /* of the site that was asked for last; without any rows none was */
} look;

/* ---- rows ---- */

/* The row of the key, or the free one that it would have; NULL: there is none. */
static struct row *find(struct row *rows, uint64_t key)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        struct row *row = &rows[((uint32_t)(key >> 20) + i) & (ROWS - 1)];
        /* order CALLER_ROW: acquires what stands in it. */
        const uint64_t found = jw_load_acquire(&row->key);

        if (found == key || found == 0)
            return row;
    }
    return NULL;
}

static char *text_of(const char *class_name, const char *method)
{
    const size_t class_bytes = strlen(class_name) + 1, method_bytes = strlen(method) + 1;
    char *text = jw_alloc(class_bytes + method_bytes);

    if (text != NULL) {
        memcpy(text, class_name, class_bytes);
        memcpy(text + class_bytes, method, method_bytes);
    }
    return text;
}

/* NULL: there is no room. */
static struct row *take_row(struct row *rows, uint64_t key, uint32_t site, const char *class_name,
                            const char *method, bool is_of_others)
{
    char *text = text_of(class_name, method);

    if (text == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    struct row *row = find(rows, key);
    /* Relaxed: who takes rows has the lock. */
    const bool is_there = row != NULL && jw_load_relaxed(&row->key) == key;
    const bool is_taken = row != NULL && !is_there &&
                          table.count < (is_of_others ? (uint32_t)ROWS_ALL : (uint32_t)ROWS_OF);
    if (is_taken) {
        row->site = site;
        row->text = text;
        row->base = (struct sums){0};
        jw_store_relaxed(&row->samples, 0);
        jw_store_relaxed(&row->weight, 0);
        jw_store_relaxed(&row->spread, 0);
        table.count++;
        /* order CALLER_ROW: releases what stands in it. */
        jw_store_release(&row->key, key);
    }
    pthread_mutex_unlock(&lock);
    if (!is_taken)
        jw_free(text);
    return is_there || is_taken ? row : NULL;
}

static uint64_t key_of(uint32_t site, const char *class_name, const char *method)
{
    const uint64_t hash = jw_hash64(class_name, strlen(class_name)) + site;

    return jw_hash_word(jw_hash_word(hash) ^ jw_hash64(method, strlen(method))) | 1;
}

static struct row *need_row(struct row *rows, uint32_t site, const char *class_name,
                            const char *method)
{
    const bool is_of_others = strcmp(method, CALLER_OTHERS) == 0;
    const uint64_t key = key_of(site, class_name, method);
    struct row *row = find(rows, key);

    if (row != NULL && jw_load_relaxed(&row->key) == key)
        return row;
    row = take_row(rows, key, site, class_name, method, is_of_others);
    return row != NULL || is_of_others ? row : need_row(rows, site, "", CALLER_OTHERS);
}

static double double_of(uint64_t bits)
{
    double number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

static void add_spread(_Atomic uint64_t *to, double amount)
{
    uint64_t before = jw_load_relaxed(to), after;

    do {
        const double sum = double_of(before) + amount;

        memcpy(&after, &sum, sizeof after);
    } while (!jw_cas_relaxed(to, &before, after));
}

void caller_table_add(uint32_t site, const char *class_name, const char *method, uint64_t weight)
{
    /* order CALLER_ROWS: acquires that they are free. */
    struct row *rows = jw_load_acquire(&shared_rows);
    struct row *row = rows == NULL ? NULL : need_row(rows, site, class_name, method);

    if (row == NULL) {
        jw_add_relaxed(&table.lost, 1);
        jw_count(JW_COUNT_LOCK_CALLERS_LOST);
        return;
    }
    jw_add_relaxed(&row->samples, 1);
    jw_add_relaxed(&row->weight, weight);
    if (weight > 1)
        add_spread(&row->spread, (double)weight * (double)(weight - 1));
}

/* ---- begin ---- */

static void forget_look(void)
{
    jw_free(look.all);
    look.all = NULL;
    look.count = 0;
    look.group = (struct group){0};
}

/* A thread that stood still since an earlier census may add one sample to what comes. */
static void forget_rows(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct row *row = &table.rows[i];

        if (jw_load_relaxed(&row->key) == 0)
            continue;
        /* order CALLER_ROW: releases nothing; it is free. */
        jw_store_release(&row->key, 0);
        jw_free(row->text);
        row->text = NULL;
    }
    table.count = 0;
    pthread_mutex_unlock(&lock);
}

bool caller_table_begin(struct jw_error *err)
{
    forget_look();
    jw_store_relaxed(&table.lost, 0);
    if (table.rows != NULL) {
        forget_rows();
        return true;
    }
    table.rows = jw_alloc(jw_mul_bytes(ROWS, sizeof *table.rows));
    if (table.rows == NULL) {
        jw_error_set(err, "no memory for methods that call places of the JDK");
        return false;
    }
    /* order CALLER_ROWS: releases that they are free. */
    jw_store_release(&shared_rows, table.rows);
    return true;
}

static struct sums sums_of(const struct row *row)
{
    return (struct sums){jw_load_relaxed(&row->samples), jw_load_relaxed(&row->weight),
                         double_of(jw_load_relaxed(&row->spread))};
}

void caller_table_begin_again(void)
{
    for (uint32_t i = 0; table.rows != NULL && i < ROWS; i++) {
        struct row *row = &table.rows[i];

        /* order CALLER_ROW: acquires what stands in it. */
        if (jw_load_acquire(&row->key) != 0)
            row->base = sums_of(row);
    }
    forget_look();
}

/* ---- what is told ---- */

static int compare(const void *left, const void *right)
{
    const struct told *a = left, *b = right;

    if (a->row->site != b->row->site)
        return a->row->site < b->row->site ? -1 : 1;
    if (a->sums.weight != b->sums.weight)
        return a->sums.weight > b->sums.weight ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

bool caller_table_look(void)
{
    forget_look();
    if (table.rows == NULL)
        return true;
    look.all = jw_alloc(jw_mul_bytes(ROWS, sizeof *look.all));
    for (uint32_t i = 0; look.all != NULL && i < ROWS; i++) {
        const struct row *row = &table.rows[i];

        /* order CALLER_ROW: acquires what stands in it. */
        if (jw_load_acquire(&row->key) == 0)
            continue;
        const struct sums now = sums_of(row);
        if (now.samples > row->base.samples && now.weight > row->base.weight)
            look.all[look.count++] =
                (struct told){row,
                              {now.samples - row->base.samples, now.weight - row->base.weight,
                               now.spread > row->base.spread ? now.spread - row->base.spread : 0}};
    }
    if (look.count > 0)
        qsort(look.all, look.count, sizeof *look.all, compare);
    return look.all != NULL;
}

/* The part of all that `one` is, with its error. */
static double part_of(const struct sums *one, const struct sums *all, double *error)
{
    const double weight = (double)all->weight, part = (double)one->weight / weight;
    const double variance =
        one->spread * (1 - part) * (1 - part) +
        (all->spread > one->spread ? all->spread - one->spread : 0) * part * part;

    /* Samples that say as much, were their weights all the same: the square of the sum by the sum of squares. */
    const double samples = weight * weight / (all->spread + weight);
    const double seen = DEVIATIONS * jw_root(variance) / weight, unseen = UNSEEN / samples;
    *error = all->spread > 0 ? (seen > unseen ? seen : unseen) : 0;
    return part;
}

/* The first one that the site has in the look; `count` if it has none. */
static size_t first_of(uint32_t site)
{
    size_t low = 0, high = look.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (look.all[middle].row->site < site)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Once a site, which is then asked for all its rows. */
static const struct group *group_of(uint32_t site)
{
    struct group *group = &look.group;

    if (group->count > 0 && group->site == site)
        return group;
    *group = (struct group){.site = site, .first = first_of(site)};
    for (size_t i = group->first; i < look.count && look.all[i].row->site == site; i++) {
        group->count++;
        group->sums.weight += look.all[i].sums.weight;
        group->sums.spread += look.all[i].sums.spread;
    }
    return group;
}

bool caller_table_get(uint32_t site, uint32_t number, uint64_t acquisitions, struct caller *out)
{
    const struct group *group = group_of(site);
    double error;

    if (number >= group->count)
        return false;
    const struct told *told = &look.all[group->first + number];
    const double part = part_of(&told->sums, &group->sums, &error);

    out->class_name = told->row->text;
    out->method = told->row->text + strlen(told->row->text) + 1;
    out->samples = told->sums.samples;
    out->acquisitions = (uint64_t)(part * (double)acquisitions + 0.5);
    out->error = (uint64_t)((error < 1 ? error : 1) * (double)acquisitions + 0.5);
    return true;
}

uint64_t caller_table_lost(void)
{
    return jw_load_relaxed(&table.lost);
}
