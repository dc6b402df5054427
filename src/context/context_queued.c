/* Tasks that wait in queues: parts by their key, each with chains by key, in the order in which they came; any, hook. */
#include "context/context_queued.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

#define PART_LEAST 64u /* tasks of a part; a power of two */

/* Numbers are places in the part from 1 on; 0: none. */
struct task {
    uint64_t key;
    struct context_queued what;
    uint32_t next, previous; /* in its chain; `next` also of those that are free */
    uint32_t newer, older;   /* in the part */
};

struct chain {
    uint32_t first, last;
};

struct part {
    pthread_mutex_t lock;
    uint32_t free, fresh; /* `fresh`: so many were used at all */
    uint32_t newest, oldest;
    struct chain *chains; /* as many as tasks */
    struct task *tasks;   /* from 1 on */
};

/* CONTEXT_QUEUED_PARTS, made by the first session that wants it, before any task is told. */
static struct part *parts;
static uint32_t capacity; /* tasks of a part; a power of two, constant from then on */

/* ---- a part, whose lock is held ---- */

static struct chain *chain_of(struct part *part, uint64_t hash)
{
    return &part->chains[hash / CONTEXT_QUEUED_PARTS & (capacity - 1)];
}

static void append(struct part *part, struct chain *chain, uint32_t number)
{
    struct task *task = &part->tasks[number];

    task->next = 0;
    task->previous = chain->last;
    if (chain->last != 0)
        part->tasks[chain->last].next = number;
    else
        chain->first = number;
    chain->last = number;

    task->newer = 0;
    task->older = part->newest;
    if (part->newest != 0)
        part->tasks[part->newest].newer = number;
    else
        part->oldest = number;
    part->newest = number;
}

static void take_out(struct part *part, struct chain *chain, uint32_t number)
{
    struct task *task = &part->tasks[number];

    if (task->previous != 0)
        part->tasks[task->previous].next = task->next;
    else
        chain->first = task->next;
    if (task->next != 0)
        part->tasks[task->next].previous = task->previous;
    else
        chain->last = task->previous;

    if (task->older != 0)
        part->tasks[task->older].newer = task->newer;
    else
        part->oldest = task->newer;
    if (task->newer != 0)
        part->tasks[task->newer].older = task->older;
    else
        part->newest = task->older;

    task->next = part->free;
    part->free = number;
}

static uint32_t find_first(const struct part *part, const struct chain *chain, uint64_t key)
{
    uint32_t number = chain->first;

    while (number != 0 && part->tasks[number].key != key)
        number = part->tasks[number].next;
    return number;
}

static uint32_t find_last(const struct part *part, const struct chain *chain, uint64_t key)
{
    uint32_t number = chain->last;

    while (number != 0 && part->tasks[number].key != key)
        number = part->tasks[number].previous;
    return number;
}

/* False: another one was forgotten for it. */
static bool find_room(struct part *part, uint32_t *number)
{
    const bool is_full = part->free == 0 && part->fresh == capacity;

    if (part->free == 0 && !is_full) {
        *number = ++part->fresh;
        return true;
    }
    if (is_full)
        take_out(part, chain_of(part, jw_hash_word(part->tasks[part->oldest].key)), part->oldest);
    *number = part->free;
    part->free = part->tasks[*number].next;
    return !is_full;
}

/* ---- what is told ---- */

static size_t bytes_of_part(uint32_t tasks)
{
    return tasks * sizeof(struct chain) + (tasks + 1) * sizeof(struct task);
}

/* Parts of one size, as large as half of what contexts may have allows: the other half is for those. */
static bool make_parts(void)
{
    const uint64_t room_bytes = jw_memory_limit_of(JW_MEMORY_HERE, UINT64_MAX) / 2;
    unsigned char *memory = NULL;

    for (capacity = CONTEXT_QUEUED_PART; capacity >= PART_LEAST; capacity /= 2) {
        if (bytes_of_part(capacity) * CONTEXT_QUEUED_PARTS <= room_bytes)
            memory = jw_alloc(bytes_of_part(capacity) * CONTEXT_QUEUED_PARTS);
        if (memory != NULL)
            break;
    }
    struct part *made =
        memory == NULL ? NULL : jw_alloc(jw_mul_bytes(CONTEXT_QUEUED_PARTS, sizeof *made));
    if (made == NULL) {
        jw_free(memory);
        return false;
    }
    for (uint32_t i = 0; i < CONTEXT_QUEUED_PARTS; i++) {
        unsigned char *of_part = memory + i * bytes_of_part(capacity);

        (void)pthread_mutex_init(&made[i].lock, NULL);
        made[i].tasks = (struct task *)(void *)of_part;
        made[i].chains = (struct chain *)(void *)(of_part + (capacity + 1) * sizeof(struct task));
    }
    parts = made;
    return true;
}

bool context_queued_open(struct jw_error *err)
{
    const bool is_made = parts != NULL;

    if (!is_made && !make_parts()) {
        jw_error_set(err, "no memory for tasks that wait; raise memlimit=");
        return false;
    }
    for (uint32_t i = 0; is_made && i < CONTEXT_QUEUED_PARTS; i++) {
        struct part *part = &parts[i];

        pthread_mutex_lock(&part->lock);
        part->free = part->fresh = part->newest = part->oldest = 0;
        memset(part->chains, 0, capacity * sizeof *part->chains);
        pthread_mutex_unlock(&part->lock);
    }
    return true;
}

uint32_t context_queued_most(void)
{
    return parts == NULL ? 0 : CONTEXT_QUEUED_PARTS * capacity;
}

bool context_queued_put(uint64_t key, const struct context_queued *what)
{
    const uint64_t hash = jw_hash_word(key);
    struct part *part = &parts[hash & (CONTEXT_QUEUED_PARTS - 1)];
    uint32_t number;

    pthread_mutex_lock(&part->lock);
    const bool is_good = find_room(part, &number);
    part->tasks[number].key = key;
    part->tasks[number].what = *what;
    append(part, chain_of(part, hash), number);
    pthread_mutex_unlock(&part->lock);
    return is_good;
}

bool context_queued_take(uint64_t key, struct context_queued *out)
{
    const uint64_t hash = jw_hash_word(key);
    struct part *part = &parts[hash & (CONTEXT_QUEUED_PARTS - 1)];
    struct chain *chain = chain_of(part, hash);

    pthread_mutex_lock(&part->lock);
    const uint32_t number = find_first(part, chain, key);
    if (number != 0) {
        *out = part->tasks[number].what;
        take_out(part, chain, number);
    }
    pthread_mutex_unlock(&part->lock);
    return number != 0;
}

void context_queued_forget(uint64_t key)
{
    const uint64_t hash = jw_hash_word(key);
    struct part *part = &parts[hash & (CONTEXT_QUEUED_PARTS - 1)];
    struct chain *chain = chain_of(part, hash);

    pthread_mutex_lock(&part->lock);
    const uint32_t number = find_last(part, chain, key);
    if (number != 0)
        take_out(part, chain, number);
    pthread_mutex_unlock(&part->lock);
}
