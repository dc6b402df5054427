/* Tasks that wait in queues: the first one first, each once, and the oldest one makes room. */
#include "context/context_queued.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>

#include "base/atomics.h"

static void open_queued(void)
{
    struct jw_error err = {0};

    cr_assert(context_queued_open(&err), "%s", err.message);
}

TestSuite(context_queued, .init = open_queued, .timeout = 300);

static bool put(uint64_t key, uint64_t begin_ns)
{
    return context_queued_put(key, &(struct context_queued){.begin_ns = begin_ns});
}

static uint64_t taken(uint64_t key)
{
    struct context_queued what;

    return context_queued_take(key, &what) ? what.begin_ns : 0;
}

Test(context_queued, a_task_is_taken_once)
{
    cr_assert(put(7, 100));
    cr_assert(put(8, 200));
    cr_assert(eq(u64, taken(7), 100));
    cr_assert(eq(u64, taken(7), 0));
    cr_assert(eq(u64, taken(8), 200));
    cr_assert(eq(u64, taken(9), 0));
}

Test(context_queued, one_that_is_handed_over_several_times_is_taken_in_that_order)
{
    for (uint64_t i = 1; i <= 1000; i++)
        cr_assert(put(7, i));
    context_queued_forget(7);
    for (uint64_t i = 1; i <= 999; i++)
        cr_assert(eq(u64, taken(7), i));
    cr_assert(eq(u64, taken(7), 0), "the last one was refused");
    context_queued_forget(7);
}

Test(context_queued, the_oldest_makes_room)
{
    uint64_t forgotten = 0, found = 0;

    for (uint64_t key = 1; key <= 2 * CONTEXT_QUEUED_MOST; key++)
        forgotten += put(key, key) ? 0 : 1;
    for (uint64_t key = 1; key <= 2 * CONTEXT_QUEUED_MOST; key++)
        found += taken(key) == key;
    cr_assert(eq(u64, found + forgotten, 2 * CONTEXT_QUEUED_MOST));
    cr_assert(eq(u64, found, CONTEXT_QUEUED_MOST));
    for (uint64_t i = 1; i <= CONTEXT_QUEUED_PART + 1; i++)
        cr_assert(eq(u64, put(7, i) ? 0 : 1, i > CONTEXT_QUEUED_PART ? 1 : 0));
    cr_assert(eq(u64, taken(7), 2));
}

Test(context_queued, a_session_begins_with_none)
{
    struct jw_error err = {0};

    cr_assert(put(7, 100));
    cr_assert(context_queued_open(&err));
    cr_assert(eq(u64, taken(7), 0));
    cr_assert(put(7, 200));
    cr_assert(eq(u64, taken(7), 200));
}

#define THREADS 4
#define ROUNDS  20000u

static _Atomic uint64_t all_taken;

static void *work(void *argument)
{
    const uint64_t own = (uint64_t)(uintptr_t)argument << 32;
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= ROUNDS; i++) {
        cr_assert(put(own + i % 64, i));
        cr_assert(put(5, i));
        sum += taken(own + i % 64) == i;
        sum += taken(5) != 0;
    }
    (void)jw_add_relaxed(&all_taken, sum);
    return NULL;
}

Test(context_queued, threads_take_each_task_once)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0));
    for (int i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_join(threads[i], NULL), 0));
    cr_assert(eq(u64, jw_load_relaxed(&all_taken), 2 * (uint64_t)THREADS * ROUNDS));
    cr_assert(eq(u64, taken(5), 0));
}
