/* Waits for locks, summed up: rows with percentiles, convoys, chains. Context: tool. */
#include <stdlib.h>

#include "cli/cli_contention_internal.h"

/* A wait as one table sees it. */
struct item {
    uint32_t lock, stack, thread;
    int64_t ns;
};

struct items {
    struct item *all;
    size_t count;
};

static int compare(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

static int by_row_and_time(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = compare(a->lock, b->lock);

    if (order == 0)
        order = compare(a->stack, b->stack);
    if (order == 0)
        order = compare(a->thread, b->thread);
    return order != 0 ? order : a->ns < b->ns ? -1 : a->ns > b->ns;
}

static bool is_of_row(const struct item *item, const struct contention_row *row)
{
    return item->lock == row->lock && item->stack == row->stack && item->thread == row->thread;
}

static int by_total(const void *left, const void *right)
{
    const struct contention_row *a = left, *b = right;
    int order = a->total_ns > b->total_ns ? -1 : a->total_ns < b->total_ns;

    if (order == 0)
        order = compare(a->lock, b->lock);
    if (order == 0)
        order = compare(a->stack, b->stack);
    return order != 0 ? order : compare(a->thread, b->thread);
}

/* The least one that so many per cent of them do not exceed. */
static int64_t percentile(const struct item *sorted, size_t count, unsigned percent)
{
    const size_t rank = (count * percent + 99) / 100;

    return sorted[rank == 0 ? 0 : rank - 1].ns;
}

static void fill_row(struct contention_row *row, const struct item *sorted, size_t count)
{
    row->count = count;
    for (size_t i = 0; i < count; i++)
        row->total_ns += sorted[i].ns;
    row->median_ns = percentile(sorted, count, 50);
    row->p95_ns = percentile(sorted, count, 95);
    row->p99_ns = percentile(sorted, count, 99);
    row->longest_ns = sorted[count - 1].ns;
}

/* Sorts the items. */
static bool make_table(struct items *items, struct contention_table *out)
{
    if (items->count == 0)
        return true;
    qsort(items->all, items->count, sizeof *items->all, by_row_and_time);
    size_t rows = 1;
    for (size_t i = 1; i < items->count; i++) {
        const struct contention_row before = {.lock = items->all[i - 1].lock,
                                              .stack = items->all[i - 1].stack,
                                              .thread = items->all[i - 1].thread};
        rows += !is_of_row(&items->all[i], &before);
    }
    out->rows = jw_alloc(jw_mul_bytes(rows, sizeof *out->rows));
    if (out->rows == NULL)
        return false;
    for (size_t begin = 0, end; begin < items->count; begin = end) {
        struct contention_row *row = &out->rows[out->count++];

        *row = (struct contention_row){.lock = items->all[begin].lock,
                                       .stack = items->all[begin].stack,
                                       .thread = items->all[begin].thread};
        for (end = begin; end < items->count && is_of_row(&items->all[end], row);)
            end++;
        fill_row(row, items->all + begin, end - begin);
    }
    qsort(out->rows, out->count, sizeof *out->rows, by_total);
    return true;
}

/* ---- waits by thread ---- */

static int by_thread_and_begin(const void *left, const void *right)
{
    const struct contention_wait *a = left, *b = right;
    const int order = compare(a->thread, b->thread);

    return order != 0 ? order : a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* The first wait of a thread, of all in that order, that ends behind this time; the number of all: none. */
static size_t first_behind(const struct contention *all, uint32_t thread, int64_t time_ns)
{
    size_t low = 0, high = all->wait_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct contention_wait *wait = &all->waits[middle];

        if (wait->thread < thread || (wait->thread == thread && wait->end_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the tables ---- */

static int64_t waited_ns(const struct contention_wait *wait)
{
    return wait->end_ns - wait->begin_ns;
}

enum table { TABLE_LOCKS, TABLE_SITES, TABLE_VICTIMS, TABLE_HOLDERS, TABLE_OTHERS };

/* False: the wait is not of this table. */
static bool item_of(const struct contention_wait *wait, enum table table, struct item *out)
{
    *out = (struct item){.ns = waited_ns(wait)};
    switch (table) {
    case TABLE_LOCKS:
        out->lock = wait->lock;
        return wait->is_for_lock;
    case TABLE_SITES:
        out->lock = wait->lock;
        out->stack = wait->stack;
        return wait->is_for_lock;
    case TABLE_VICTIMS:
        out->thread = wait->thread;
        return wait->is_for_lock;
    case TABLE_HOLDERS:
        out->lock = wait->lock;
        out->thread = wait->owner;
        return wait->is_for_lock && wait->owner != 0;
    case TABLE_OTHERS:
        out->lock = wait->lock;
        out->stack = wait->stack;
        return !wait->is_for_lock;
    }
    return false;
}

static bool fill_table(const struct contention *all, struct items *items, enum table table,
                       struct contention_table *out)
{
    items->count = 0;
    for (size_t i = 0; i < all->wait_count; i++)
        if (all->waits[i].is_wanted && item_of(&all->waits[i], table, &items->all[items->count]))
            items->count++;
    return make_table(items, out);
}

/* What an owner did is told by pieces of the wait, whose waits stand in the order of threads. */
static bool is_of_wanted(const struct contention *all, const struct contention_owner *owner)
{
    for (size_t i = first_behind(all, owner->other, owner->time_ns); i < all->wait_count; i++) {
        const struct contention_wait *wait = &all->waits[i];

        if (wait->thread != owner->other || wait->begin_ns > owner->time_ns)
            return false;
        if (wait->lock == owner->lock &&
            (wait->object != 0 ? wait->object == owner->object : wait->address == owner->address))
            return wait->is_wanted;
    }
    return false;
}

static bool fill_doings(const struct contention *all, struct contention_table *out)
{
    struct items items = {jw_alloc(jw_mul_bytes(all->owner_count + 1, sizeof *items.all)), 0};

    if (items.all == NULL)
        return false;
    for (size_t i = 0; i < all->owner_count; i++) {
        const struct contention_owner *owner = &all->owners[i];

        if (all->unwanted > 0 && !is_of_wanted(all, owner))
            continue;
        items.all[items.count++] =
            (struct item){owner->lock, owner->stack, owner->thread, owner->waited_ns};
    }
    const bool is_good = make_table(&items, out);
    jw_free(items.all);
    return is_good;
}

/* ---- convoys ---- */

static int by_lock_and_begin(const void *left, const void *right)
{
    const struct contention_wait *a = left, *b = right;
    int order = compare(a->is_for_lock, b->is_for_lock);

    if (order == 0)
        order = compare(a->lock, b->lock);
    if (order == 0)
        order = compare(a->object, b->object);
    if (order == 0 && a->object == 0)
        order = compare(a->address, b->address);
    return order != 0 ? order : a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

bool contention_is_same_lock(const struct contention_wait *one, const struct contention_wait *other)
{
    return one->is_for_lock == other->is_for_lock && one->lock == other->lock &&
           one->object == other->object && (one->object != 0 || one->address == other->address);
}

/* Who waits at one moment: ends of waits, the soonest on top. */
struct crowd {
    int64_t *ends_ns;
    size_t count;
};

static void swap(int64_t *one, int64_t *other)
{
    const int64_t kept = *one;

    *one = *other;
    *other = kept;
}

static void push(struct crowd *crowd, int64_t end_ns)
{
    size_t at = crowd->count++;

    crowd->ends_ns[at] = end_ns;
    for (; at > 0 && crowd->ends_ns[(at - 1) / 2] > crowd->ends_ns[at]; at = (at - 1) / 2)
        swap(&crowd->ends_ns[at], &crowd->ends_ns[(at - 1) / 2]);
}

static int64_t pop(struct crowd *crowd)
{
    const int64_t first_ns = crowd->ends_ns[0];
    size_t at = 0;

    crowd->ends_ns[0] = crowd->ends_ns[--crowd->count];
    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < crowd->count; child++)
            if (crowd->ends_ns[child] < crowd->ends_ns[least])
                least = child;
        if (least == at)
            return first_ns;
        swap(&crowd->ends_ns[at], &crowd->ends_ns[least]);
        at = least;
    }
}

/* Those that are over by then. */
static void let_go(struct crowd *crowd, int64_t now_ns, int64_t *since_ns,
                   struct contention_convoy *convoy)
{
    while (crowd->count > 0 && crowd->ends_ns[0] <= now_ns) {
        const int64_t end_ns = pop(crowd);

        if (crowd->count == CONTENTION_CROWD - 1)
            convoy->crowded_ns += end_ns - *since_ns;
    }
}

/* Of the owners of these waits the one that most of them name. */
static uint32_t usual_owner(const struct contention_wait *waits, size_t count)
{
    uint32_t likely = 0;
    size_t lead = 0;

    for (size_t i = 0; i < count; i++) {
        if (waits[i].owner == 0)
            continue;
        if (lead == 0)
            likely = waits[i].owner;
        lead += waits[i].owner == likely ? 1 : (size_t)-1;
    }
    return likely;
}

/* Waits for one lock, in the order of their begin. */
static void watch_lock(const struct contention_wait *waits, size_t count, struct crowd *crowd,
                       struct contention_convoy *convoy)
{
    int64_t since_ns = 0;

    *convoy = (struct contention_convoy){.lock = waits[0].lock,
                                         .address = waits[0].address,
                                         .object = waits[0].object,
                                         .waits = count,
                                         .owner = usual_owner(waits, count)};
    crowd->count = 0;
    for (size_t i = 0; i < count; i++) {
        let_go(crowd, waits[i].begin_ns, &since_ns, convoy);
        push(crowd, waits[i].end_ns);
        if (crowd->count == CONTENTION_CROWD) {
            since_ns = waits[i].begin_ns;
            convoy->episodes++;
        }
        if (crowd->count > convoy->most)
            convoy->most = crowd->count;
    }
    let_go(crowd, INT64_MAX, &since_ns, convoy);
}

static bool has_wanted(const struct contention_wait *waits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (waits[i].is_wanted)
            return true;
    return false;
}

static int by_crowded(const void *left, const void *right)
{
    const struct contention_convoy *a = left, *b = right;

    if (a->crowded_ns != b->crowded_ns)
        return a->crowded_ns > b->crowded_ns ? -1 : 1;
    return compare(a->lock, b->lock) != 0 ? compare(a->lock, b->lock)
                                          : compare(a->address, b->address);
}

static bool find_convoys(struct contention *all)
{
    struct crowd crowd = {jw_alloc(jw_mul_bytes(all->wait_count + 1, sizeof(int64_t))), 0};
    size_t locks = 0;

    qsort(all->waits, all->wait_count, sizeof *all->waits, by_lock_and_begin);
    for (size_t i = 0; i < all->wait_count; i++)
        locks += i == 0 || !contention_is_same_lock(&all->waits[i - 1], &all->waits[i]);
    all->convoys = jw_alloc(jw_mul_bytes(locks + 1, sizeof *all->convoys));
    if (crowd.ends_ns == NULL || all->convoys == NULL) {
        jw_free(crowd.ends_ns);
        return false;
    }
    for (size_t begin = 0, end; begin < all->wait_count; begin = end) {
        for (end = begin; end < all->wait_count &&
                          contention_is_same_lock(&all->waits[begin], &all->waits[end]);)
            end++;
        if (!all->waits[begin].is_for_lock)
            continue;
        watch_lock(&all->waits[begin], end - begin, &crowd, &all->convoys[all->convoy_count]);
        all->convoy_count += has_wanted(&all->waits[begin], end - begin) &&
                             all->convoys[all->convoy_count].episodes > 0;
    }
    jw_free(crowd.ends_ns);
    if (all->convoy_count > 0)
        qsort(all->convoys, all->convoy_count, sizeof *all->convoys, by_crowded);
    return true;
}

/* ---- chains ---- */

static bool add_chain(struct contention *all, struct jw_map *known_of, size_t *capacity,
                      const struct contention_chain *seen)
{
    const uint32_t key[] = {seen->lock, seen->owner, seen->next_lock, seen->next_owner};
    uint64_t *known = jw_map_put(known_of, key, sizeof key);

    if (known == NULL)
        return false;
    if (*known == 0) {
        if (all->chain_count == *capacity) {
            const size_t more = *capacity == 0 ? 64 : 2 * *capacity;
            void *chains = jw_realloc(all->chains, jw_mul_bytes(more, sizeof *all->chains));

            if (chains == NULL)
                return false;
            all->chains = chains;
            *capacity = more;
        }
        all->chains[all->chain_count++] = *seen;
        *known = all->chain_count;
        return true;
    }
    all->chains[*known - 1].count++;
    all->chains[*known - 1].total_ns += seen->total_ns;
    return true;
}

static int by_chain_total(const void *left, const void *right)
{
    const struct contention_chain *a = left, *b = right;

    return a->total_ns > b->total_ns ? -1 : a->total_ns < b->total_ns;
}

/*
 * A wait, of all from `at` on in the order of threads, that the owner of the wait's lock had meanwhile, for another lock; how long of it. NULL:
 * there is none any more.
 */
static const struct contention_wait *
next_of(const struct contention *all, const struct contention_wait *wait, size_t *at, int64_t *ns)
{
    while (*at < all->wait_count) {
        const struct contention_wait *next = &all->waits[(*at)++];

        if (next->thread != wait->owner || next->begin_ns >= wait->end_ns)
            break;
        if (!next->is_for_lock || contention_is_same_lock(next, wait))
            continue;
        const int64_t begin_ns = next->begin_ns > wait->begin_ns ? next->begin_ns : wait->begin_ns;
        const int64_t end_ns = next->end_ns < wait->end_ns ? next->end_ns : wait->end_ns;
        *ns = end_ns - begin_ns;
        return next;
    }
    return NULL;
}

/* What the owner of a wait's lock waited for meanwhile. */
static bool follow(struct contention *all, const struct contention_wait *wait,
                   struct jw_map *known_of, size_t *capacity)
{
    size_t at = first_behind(all, wait->owner, wait->begin_ns);
    const struct contention_wait *next;
    int64_t ns;

    while ((next = next_of(all, wait, &at, &ns)) != NULL) {
        const struct contention_chain seen = {.lock = wait->lock,
                                              .owner = wait->owner,
                                              .next_lock = next->lock,
                                              .next_owner = next->owner,
                                              .count = 1,
                                              .total_ns = ns};
        if (!add_chain(all, known_of, capacity, &seen))
            return false;
    }
    return true;
}

const struct contention_wait *contention_next_of(const struct contention *all,
                                                 const struct contention_wait *wait, int64_t *ns)
{
    size_t at = wait->owner == 0 ? all->wait_count : first_behind(all, wait->owner, wait->begin_ns);
    const struct contention_wait *longest = NULL, *next;
    int64_t next_ns;

    *ns = 0;
    while ((next = next_of(all, wait, &at, &next_ns)) != NULL) {
        if (next_ns <= *ns)
            continue;
        longest = next;
        *ns = next_ns;
    }
    return longest;
}

static bool find_chains(struct contention *all)
{
    struct jw_map known_of = {0};
    size_t capacity = 0;
    bool is_good = true;

    qsort(all->waits, all->wait_count, sizeof *all->waits, by_thread_and_begin);
    for (size_t i = 0; is_good && i < all->wait_count; i++) {
        const struct contention_wait *wait = &all->waits[i];

        if (!wait->is_for_lock || !wait->is_wanted || wait->owner == 0)
            continue;
        is_good = follow(all, wait, &known_of, &capacity);
    }
    jw_map_close(&known_of);
    if (all->chain_count > 0)
        qsort(all->chains, all->chain_count, sizeof *all->chains, by_chain_total);
    return is_good;
}

bool contention_settle(struct contention *all)
{
    struct items items = {jw_alloc(jw_mul_bytes(all->wait_count + 1, sizeof *items.all)), 0};

    for (size_t i = 0; i < all->wait_count; i++) {
        if (!all->waits[i].is_wanted)
            all->unwanted++;
        if (!all->waits[i].is_for_lock || !all->waits[i].is_wanted)
            continue;
        all->lock_waits++;
        all->total_ns += waited_ns(&all->waits[i]);
    }
    const bool is_good = items.all != NULL && fill_table(all, &items, TABLE_LOCKS, &all->locks) &&
                         fill_table(all, &items, TABLE_SITES, &all->sites) &&
                         fill_table(all, &items, TABLE_VICTIMS, &all->victims) &&
                         fill_table(all, &items, TABLE_HOLDERS, &all->holders) &&
                         fill_table(all, &items, TABLE_OTHERS, &all->others) &&
                         (all->wait_count == 0 ||
                          (find_convoys(all) && contention_find_holds(all) && find_chains(all))) &&
                         fill_doings(all, &all->doings) && contention_find_objects(all);
    jw_free(items.all);
    return is_good;
}
