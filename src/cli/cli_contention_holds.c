/*
 * How long owners had a lock while others waited for it, between what is known at least and at most; context: tool.
 *
 * Of each lock the waits say at which moments who had it, who did not, and that nobody did. A thread that is seen to have it, and then again, with none of
 * the others in between, had it all that time as far as anybody could tell: that is the least. The most reaches from the last
 * moment before at which it was not his to the first one behind.
 */
#include <stdlib.h>

#include "cli/cli_contention_internal.h"

enum fact_kind {
    FACT_LACKS, /* it begins to wait, or comes back from a park, and so does not have it */
    FACT_FREE,  /* nobody has it */
    FACT_GOT,   /* it has it, from now on */
    FACT_HAS,   /* somebody who waits for it, or the agent, sees that it has it */
};

struct fact {
    int64_t time_ns;
    uint64_t who;
    uint32_t thread;
    enum fact_kind kind : 8;
    bool is_wanted; /* by a wait that is */
};

#define FACTS_OF_WAIT 4u

/* Of a thread: when it last did not have the lock, or had just got it. */
struct last {
    uint64_t group; /* of which lock */
    int64_t time_ns;
};

struct moment {
    uint64_t who; /* 0: nobody */
    int64_t time_ns;
};

struct hold {
    uint64_t who; /* 0: there is none */
    uint32_t lock, thread;
    int64_t first_ns, last_ns,
        since_ns; /* the latter: it cannot have begun before; INT64_MIN: not known */
    bool is_seen, is_wanted;
};

struct holds {
    struct contention *all;
    struct fact *facts;
    size_t count;
    struct jw_map threads; /* who -> number of its `last` + 1 */
    struct jw_map rows;    /* lock, thread -> number of the owner's row + 1 */
    struct last *last;
    size_t last_count;
    uint64_t group;
    struct hold hold;
    struct moment known[2]; /* the last one, and the last of anybody else */
};

static int by_time(const void *left, const void *right)
{
    const struct fact *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

static void add(struct holds *holds, const struct contention_wait *wait, enum fact_kind kind,
                int64_t time_ns)
{
    const bool is_owner = kind == FACT_HAS;

    holds->facts[holds->count++] = (struct fact){
        .time_ns = time_ns,
        .who = kind == FACT_FREE ? 0
               : is_owner        ? wait->owner_who
                                 : wait->who,
        .thread = is_owner ? wait->owner : wait->thread,
        .kind = kind,
        .is_wanted = wait->is_wanted,
    };
}

static void add_wait(struct holds *holds, const struct contention_wait *wait)
{
    if (wait->who != 0)
        add(holds, wait, FACT_LACKS, wait->begin_ns);
    if (wait->owner_who != 0 && wait->held_ns >= 0)
        add(holds, wait, FACT_HAS, wait->begin_ns);
    if (wait->owner_who != 0 && wait->held_ns > 0)
        add(holds, wait, FACT_HAS, wait->begin_ns + wait->held_ns);
    if (wait->kind == CONTENTION_PARK && wait->is_free)
        add(holds, wait, FACT_FREE, wait->end_ns);
    else if (wait->who != 0)
        add(holds, wait, wait->kind == CONTENTION_ENTER ? FACT_GOT : FACT_LACKS, wait->end_ns);
}

/* NULL: no memory. */
static struct last *last_of(struct holds *holds, uint64_t who)
{
    uint64_t *known = jw_map_put(&holds->threads, &who, sizeof who);

    if (known == NULL)
        return NULL;
    if (*known == 0)
        *known = ++holds->last_count;
    struct last *last = &holds->last[*known - 1];
    if (last->group != holds->group)
        *last = (struct last){.group = holds->group, .time_ns = INT64_MIN};
    return last;
}

static uint64_t row_key(uint32_t lock, uint32_t thread)
{
    return (uint64_t)lock << 32 | thread;
}

static struct contention_row *row_of(const struct holds *holds, const struct hold *hold)
{
    const uint64_t key = row_key(hold->lock, hold->thread);
    const uint64_t known = jw_map_get(&holds->rows, &key, sizeof key);

    return known == 0 ? NULL : &holds->all->holders.rows[known - 1];
}

static bool know_rows(struct holds *holds)
{
    const struct contention_table *table = &holds->all->holders;

    for (size_t i = 0; i < table->count; i++) {
        const uint64_t key = row_key(table->rows[i].lock, table->rows[i].thread);
        uint64_t *known = jw_map_put(&holds->rows, &key, sizeof key);

        if (known == NULL)
            return false;
        *known = i + 1;
    }
    return true;
}

/* It is over by then; INT64_MAX: nobody knows when. */
static void end_hold(struct holds *holds, int64_t until_ns)
{
    struct hold *hold = &holds->hold;
    struct contention_row *row =
        hold->who != 0 && hold->is_seen && hold->is_wanted ? row_of(holds, hold) : NULL;

    hold->who = 0;
    if (row == NULL)
        return;
    row->holds++;
    if (hold->last_ns - hold->first_ns > row->held_at_least_ns)
        row->held_at_least_ns = hold->last_ns - hold->first_ns;
    if (until_ns == INT64_MAX || hold->since_ns == INT64_MIN)
        return;
    row->bounded++;
    if (until_ns - hold->since_ns > row->held_at_most_ns)
        row->held_at_most_ns = until_ns - hold->since_ns;
}

static void note(struct holds *holds, uint64_t who, int64_t time_ns)
{
    if (holds->known[0].who != who)
        holds->known[1] = holds->known[0];
    holds->known[0] = (struct moment){who, time_ns};
}

/* The last moment at which it was somebody else's, or nobody's. */
static int64_t not_of(const struct holds *holds, uint64_t who)
{
    return holds->known[holds->known[0].who == who].time_ns;
}

static void begin_hold(struct holds *holds, const struct fact *fact, uint32_t lock,
                       int64_t since_ns)
{
    holds->hold = (struct hold){
        .who = fact->who,
        .lock = lock,
        .thread = fact->thread,
        .first_ns = fact->time_ns,
        .since_ns = since_ns,
    };
}

static bool ends(const struct hold *hold, const struct fact *fact)
{
    switch (fact->kind) {
    case FACT_LACKS:
        return hold->who == fact->who;
    case FACT_HAS:
        return hold->who != fact->who;
    case FACT_FREE:
    case FACT_GOT:
        break;
    }
    return true;
}

static bool take(struct holds *holds, const struct fact *fact, uint32_t lock)
{
    struct hold *hold = &holds->hold;
    struct last *last = fact->who == 0 ? NULL : last_of(holds, fact->who);

    if (fact->who != 0 && last == NULL)
        return false;
    if (ends(hold, fact))
        end_hold(holds, fact->time_ns);
    if (fact->kind == FACT_GOT)
        begin_hold(holds, fact, lock, fact->time_ns);
    else if (fact->kind == FACT_HAS && hold->who == 0)
        begin_hold(holds, fact, lock,
                   last->time_ns > not_of(holds, fact->who) ? last->time_ns
                                                            : not_of(holds, fact->who));
    if (fact->kind == FACT_HAS) {
        hold->is_seen = true;
        hold->is_wanted |= fact->is_wanted;
    } else if (last != NULL) {
        last->time_ns = fact->time_ns;
    }
    if (fact->kind != FACT_LACKS) {
        hold->last_ns = fact->time_ns;
        note(holds, fact->who, fact->time_ns);
    }
    return true;
}

/* Waits for one lock. */
static bool take_lock(struct holds *holds, const struct contention_wait *waits, size_t count)
{
    holds->group++;
    holds->count = 0;
    holds->hold = (struct hold){.who = 0};
    holds->known[0] = holds->known[1] = (struct moment){0, INT64_MIN};
    for (size_t i = 0; i < count; i++)
        add_wait(holds, &waits[i]);
    if (holds->count > 0)
        qsort(holds->facts, holds->count, sizeof *holds->facts, by_time);
    for (size_t i = 0; i < holds->count; i++)
        if (!take(holds, &holds->facts[i], waits->lock))
            return false;
    end_hold(holds, INT64_MAX);
    return true;
}

/* How many are for the lock of the first. */
static size_t of_lock(const struct contention_wait *waits, size_t count)
{
    size_t same = 1;

    while (same < count && contention_is_same_lock(waits, &waits[same]))
        same++;
    return same;
}

bool contention_find_holds(struct contention *all)
{
    struct holds holds = {.all = all};
    size_t most = 0;
    bool is_good = true;

    for (size_t at = 0, count; at < all->wait_count; at += count) {
        count = of_lock(&all->waits[at], all->wait_count - at);
        if (count > most)
            most = count;
    }
    holds.facts = jw_alloc(jw_mul_bytes(FACTS_OF_WAIT * most + 1, sizeof *holds.facts));
    /* Each wait names two threads. */
    holds.last = jw_alloc(jw_mul_bytes(2 * all->wait_count + 1, sizeof *holds.last));
    is_good = holds.facts != NULL && holds.last != NULL && know_rows(&holds);
    for (size_t at = 0, count; is_good && at < all->wait_count; at += count) {
        count = of_lock(&all->waits[at], all->wait_count - at);
        if (all->waits[at].is_for_lock && (all->waits[at].address | all->waits[at].object) != 0)
            is_good = take_lock(&holds, &all->waits[at], count);
    }
    jw_map_close(&holds.threads);
    jw_map_close(&holds.rows);
    jw_free(holds.facts);
    jw_free(holds.last);
    return is_good;
}
