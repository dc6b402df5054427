/* Tasks that wait in queues: the first one first, each once, and the oldest one makes room. */
#include "context/context_queued.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>

#include "base/atomics.h"
#include "base/memory.h"

static void open_queued(void)
{
    struct jw_error err = {0};

    cr_assert(context_queued_open(&err), "%s", err.message);
}

TestSuite(context_queued, .init = open_queued, .timeout = 1800);

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

/* ---- with little memory ---- */

TestSuite(context_queued_small, .timeout = 1800);

Test(context_queued_small, with_the_smallest_memlimit_fewer_are_remembered)
{
    struct jw_memory_figures figures;
    uint64_t forgotten = 0, found = 0;

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    open_queued();
    const uint64_t most = context_queued_most();
    cr_assert(ge(u64, most, 1024));
    cr_assert(lt(u64, most, CONTEXT_QUEUED_MOST));
    jw_memory_get(JW_MEMORY_CONTEXTS, &figures);
    cr_assert(le(u64, figures.charged_bytes, figures.limit_bytes / 2 + 4096));
    for (uint64_t key = 1; key <= 3 * most; key++)
        forgotten += put(key, key) ? 0 : 1;
    for (uint64_t key = 1; key <= 3 * most; key++)
        found += taken(key) == key;
    cr_assert(eq(u64, found + forgotten, 3 * most));
    cr_assert(eq(u64, found, most));
    open_queued();
    cr_assert(eq(u64, context_queued_most(), most), "a later session has the same");
}

Test(context_queued_small, without_any_memory_it_says_so)
{
    struct jw_memory_figures figures;
    struct jw_error err = {0};

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    jw_memory_get(JW_MEMORY_CONTEXTS, &figures);
    cr_assert(jw_memory_charge(JW_MEMORY_CONTEXTS, figures.limit_bytes - figures.charged_bytes));
    cr_assert(not(context_queued_open(&err)));
    cr_assert_str_eq(err.message, "no memory for tasks that wait; raise memlimit=");
    cr_assert(eq(u32, context_queued_most(), 0));
    jw_memory_credit(JW_MEMORY_CONTEXTS, figures.limit_bytes - figures.charged_bytes);
    open_queued();
    cr_assert(ge(u32, context_queued_most(), 1024));
}
