/* Readings of clocks: of one life of a record, never going back. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>

#include "thread/thread_cpu.h"

static void open_threads(void)
{
    struct jw_error err = {0};

    cr_assert(threads_open(&err), "%s", err.message);
}

TestSuite(thread_cpu, .init = open_threads, .fini = threads_close, .timeout = 1800);

static thread_index add(uint32_t tid)
{
    bool is_new;
    const thread_index index = thread_add(tid, &is_new);

    cr_assert(is_new);
    return index;
}

static void expect(thread_index index, uint64_t base_ns, uint64_t clock_ns, uint32_t flags)
{
    struct thread_cpu found;

    cr_assert(thread_cpu_get(index, &found));
    cr_assert(eq(u64, found.base_ns, base_ns));
    cr_assert(eq(u64, found.clock_ns, clock_ns));
    cr_assert(eq(u32, found.flags, flags));
}

static void expect_nothing(thread_index index)
{
    struct thread_cpu found;

    cr_assert(not(thread_cpu_get(index, &found)));
}

Test(thread_cpu, nothing_is_known_before_it_was_begun)
{
    const thread_index index = add(100);

    expect_nothing(index);
    thread_cpu_look(index, 5);
    thread_cpu_mark(index, THREAD_CPU_OWN);
    expect_nothing(index);
}

Test(thread_cpu, a_look_only_raises_it)
{
    const thread_index index = add(100);

    thread_cpu_begin(index, 10, 30);
    thread_cpu_look(index, 50);
    thread_cpu_look(index, 40);
    expect(index, 10, 50, 0);
    thread_cpu_mark(index, THREAD_CPU_REFUSED);
    thread_cpu_mark(index, THREAD_CPU_OWN);
    expect(index, 10, 50, THREAD_CPU_REFUSED | THREAD_CPU_OWN);
}

Test(thread_cpu, what_is_forgotten_is_not_known)
{
    const thread_index index = add(100);

    thread_cpu_begin(index, 0, 30);
    thread_cpu_forget(index);
    thread_cpu_look(index, 50);
    expect_nothing(index);
}

Test(thread_cpu, a_record_that_ended_still_tells)
{
    const thread_index index = add(100);

    thread_cpu_begin(index, 1, 2);
    thread_end(index, 3);
    expect(index, 1, 2, 0);
    cr_assert(not(thread_is_done(index, 3)));
    cr_assert(thread_is_done(index, 4));
}

Test(thread_cpu, another_life_of_the_record_knows_nothing_of_the_one_before)
{
    const thread_index index = add(100);

    thread_cpu_begin(index, 1, 1000);
    thread_cpu_mark(index, THREAD_CPU_REFUSED);
    thread_end(index, 1);
    threads_reap(2);
    cr_assert(eq(u32, add(200), index));
    expect_nothing(index);
    thread_cpu_look(index, 2000);
    thread_cpu_begin(index, 0, 7);
    expect(index, 0, 7, 0);
}

static thread_index shared;

static void *look_often(void *argument)
{
    const uint64_t first = (uintptr_t)argument;

    for (uint64_t i = first; i <= 200000; i += 4)
        thread_cpu_look(shared, i);
    return NULL;
}

Test(thread_cpu, the_highest_of_many_readers_stays)
{
    pthread_t threads[4];

    shared = add(100);
    thread_cpu_begin(shared, 0, 0);
    for (uintptr_t i = 0; i < JW_COUNT_OF(threads); i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, look_often, (void *)(i + 1)), 0));
    for (size_t i = 0; i < JW_COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    expect(shared, 0, 200000, 0);
}
