/*
 * Requests that go on elsewhere, from when that is known until they are over; any, hook.
 *
 * Other threads may go on with one before the method that took it in has ended, and be done with it: so it is here from the moment in which
 * it is said to be asynchronous, whoever goes on with it finds it as often as he looks, and who ends it takes it out. One that nobody
 * ends (its container says so on a thread that runs none of the methods known) is here until its key or its place is another's.
 */
#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "context/context_internal.h"

#define BINS 256u /* a power of two; memory is touched as requests are left there */
#define BIN  8u

struct suspended {
    uint64_t key;    /* 0: nothing is there */
    uint64_t number; /* of its coming: the smallest one is the oldest */
    struct context_suspended what;
};

/* For some instructions each time, once or twice an asynchronous request. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct suspended all[BINS][BIN];
static uint64_t count;

static struct suspended *bin_of(uint64_t key)
{
    return all[jw_hash_word(key) & (BINS - 1)];
}

/* The lock is held. NULL: it is not there. */
static struct suspended *find(uint64_t key)
{
    struct suspended *bin = bin_of(key);

    for (uint32_t i = 0; i < BIN; i++) {
        if (bin[i].key == key)
            return &bin[i];
    }
    return NULL;
}

/* The lock is held. A place that is free, or that of the oldest one. */
static struct suspended *place_for(uint64_t key)
{
    struct suspended *bin = bin_of(key), *oldest = bin;

    for (uint32_t i = 0; i < BIN; i++) {
        if (bin[i].key == 0)
            return &bin[i];
        if (bin[i].number < oldest->number)
            oldest = &bin[i];
    }
    return oldest;
}

void context_suspend(uint64_t key, const struct context_suspended *what)
{
    pthread_mutex_lock(&lock);
    struct suspended *one = find(key);
    if (one == NULL)
        one = place_for(key);
    *one = (struct suspended){.key = key, .number = ++count, .what = *what};
    pthread_mutex_unlock(&lock);
}

bool context_resume(uint64_t key, struct context_suspended *what)
{
    pthread_mutex_lock(&lock);
    const struct suspended *one = find(key);
    if (one != NULL)
        *what = one->what;
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

void context_end_suspended(uint64_t key, uint64_t root_span_id)
{
    pthread_mutex_lock(&lock);
    struct suspended *one = find(key);
    if (one != NULL && one->what.root_span_id == root_span_id)
        one->key = 0;
    pthread_mutex_unlock(&lock);
}
