/* Records of threads: found by tid and number, outliving their thread, never two for one tid. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/memory.h"
#include "os/os_tasks.h"
#include "thread/thread.h"
#include "thread/thread_filter.h"

static void open_threads(void)
{
    struct jw_error err = {0};

    cr_assert(threads_open(&err), "%s", err.message);
}

TestSuite(thread_limits, .timeout = 1800);
TestSuite(thread, .init = open_threads, .fini = threads_close, .timeout = 1800);

static thread_index add(uint32_t tid)
{
    bool is_new;
    const thread_index index = thread_add(tid, &is_new);

    cr_assert(is_new);
    return index;
}

Test(thread, a_record_is_found_by_tid)
{
    const thread_index index = add(4711);

    cr_assert(eq(u32, thread_find(4711), index));
    cr_assert(eq(u32, thread_tid(index), 4711));
    cr_assert(thread_is_live(index));
    cr_assert(eq(u32, thread_find(4712), THREAD_NONE));
}

Test(thread, an_impossible_tid_gets_no_record)
{
    bool is_new;

    cr_assert(eq(u32, thread_add(0, &is_new), THREAD_NONE));
    cr_assert(eq(u32, thread_add(THREAD_TID_LIMIT, &is_new), THREAD_NONE));
    cr_assert(eq(u32, thread_find(UINT32_MAX), THREAD_NONE));
}

Test(thread, a_thread_that_is_added_again_keeps_its_record)
{
    const thread_index first = add(100);
    bool is_new = true;

    cr_assert(eq(u32, thread_add(100, &is_new), first));
    cr_assert(not(is_new));
    cr_assert(eq(u32, threads_live(), 1));
}

Test(thread, a_record_that_is_kept_is_not_reaped)
{
    const thread_index index = add(200);
    struct thread_info info;

    cr_assert(thread_keep(index));
    cr_assert(not(thread_keep(index))); /* one at a time */
    thread_end(index, 5);
    threads_reap(6);
    cr_assert(thread_info(index, &info));
    thread_let_go(index, 8); /* something was written into generation 8 on its behalf */
    threads_reap(8);
    cr_assert(thread_info(index, &info));
    threads_reap(9);
    cr_assert(not(thread_info(index, &info)));
    cr_assert(not(thread_keep(index)));
}

Test(thread, a_record_that_ended_can_be_kept_until_it_is_reaped)
{
    const thread_index index = add(201);

    thread_end(index, 5);
    cr_assert(thread_keep(index));
    thread_let_go(index, 0);
    threads_reap(5);
    cr_assert(thread_keep(index));
    thread_let_go(index, 5);
    threads_reap(6);
    cr_assert(not(thread_keep(index)));
    const thread_index again = add(202);
    cr_assert(eq(u32, again, index));
    cr_assert(thread_keep(again));
    thread_let_go(again, 0);
}

Test(thread, a_record_that_is_to_be_named_later_outlives_that_generation)
{
    const thread_index index = add(205);
    struct thread_info info;

    cr_assert(thread_info(index, &info));
    thread_outlive(index, (uint32_t)info.serial + 1, 9); /* another thread's */
    thread_outlive(index, (uint32_t)info.serial, 7);
    thread_end(index, 5);
    thread_outlive(THREAD_NONE, (uint32_t)info.serial, 7);
    threads_reap(7);
    cr_assert(thread_info(index, &info));
    thread_outlive(index, (uint32_t)info.serial, 8);
    threads_reap(8);
    cr_assert(thread_info(index, &info));
    threads_reap(9);
    cr_assert(not(thread_info(index, &info)));
}

Test(thread, a_record_that_is_kept_from_the_start_waits_for_its_keeper)
{
    struct thread_info info;

    threads_keep_new(true);
    const thread_index index = add(204);
    threads_keep_new(false);
    thread_end(index, 1);
    threads_reap(9);
    cr_assert(thread_info(index, &info));
    cr_assert(thread_keep(index));
    thread_let_go(index, 0);
    threads_reap(9);
    cr_assert(not(thread_info(index, &info)));
}

Test(thread, a_life_has_a_begin_and_an_end)
{
    const uint64_t before_ns = jw_now_ns();
    const thread_index index = add(203);
    const uint64_t begin_ns = thread_begin_ns(index);

    cr_assert(begin_ns >= before_ns && begin_ns <= jw_now_ns());
    cr_assert(thread_end_ns(index) == 0);
    thread_end_java(index);
    const uint64_t end_ns = thread_end_ns(index);
    cr_assert(end_ns >= begin_ns && end_ns <= jw_now_ns());
    thread_end(index, 1); /* what it told itself stands */
    cr_assert(eq(u64, thread_end_ns(index), end_ns));
}

Test(thread, the_filter_is_asked_with_each_name)
{
    struct jw_error err;
    const struct thread_java java = {.name = "http-1", .group = "main"};

    cr_assert(thread_filter_set("http-*;300", &err));
    const thread_index by_name = add(299), by_number = add(300);
    cr_assert(not(thread_is_wanted(by_name)));
    cr_assert(thread_is_wanted(by_number));
    thread_set_java(by_name, &java);
    cr_assert(thread_is_wanted(by_name));
    thread_rename(by_name, "other");
    thread_rename(by_number, "other");
    cr_assert(not(thread_is_wanted(by_name)));
    cr_assert(thread_is_wanted(by_number));
    cr_assert(thread_filter_set(NULL, &err));
}

Test(thread, a_tid_that_comes_again_gets_another_serial)
{
    const thread_index first = add(100);
    const uint64_t serial = thread_serial(first);

    thread_end(first, 1);
    const thread_index second = add(100);

    cr_assert(ne(u32, first, second));
    cr_assert(ne(u64, thread_serial(second), serial));
    cr_assert(not(thread_is_live(first)));
    cr_assert(eq(u32, thread_find(100), second));
}

Test(thread, the_name_of_the_kernel_is_kept)
{
    struct thread_info info;
    const thread_index index = add((uint32_t)os_gettid());
    char name[OS_TASK_NAME_BYTES];

    cr_assert(os_task_name(os_gettid(), name));
    cr_assert(thread_info(index, &info));
    cr_assert_str_eq(info.os_name, name);
    cr_assert_str_eq(info.java_name, "");
}

Test(thread, a_thread_whose_name_cannot_be_read_is_called_by_its_number)
{
    const uint64_t before = jw_counter(JW_COUNT_THREADS_UNNAMED);
    struct thread_info info;

    cr_assert(thread_info(add(THREAD_TID_LIMIT - 1), &info));
    cr_assert_str_eq(info.os_name, "tid 4194303");
    cr_assert_eq(jw_counter(JW_COUNT_THREADS_UNNAMED), before + 1);
}

static thread_index add_java(uint32_t tid, uint64_t java_id)
{
    const thread_index index = add(tid);

    thread_set_java(index, &(struct thread_java){.java_id = java_id, .name = "", .group = ""});
    return index;
}

Test(thread, a_java_thread_is_found_by_its_number_while_it_lives)
{
    enum { COUNT = 500 }; /* more than are remembered */
    thread_index each[COUNT];

    (void)add(1); /* no Java thread: it has no number */
    for (uint32_t i = 0; i < COUNT; i++)
        each[i] = add_java(100 + i, 1000 + i);
    for (unsigned turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            cr_assert(eq(u32, thread_find_java(1000 + i), each[i]));
            cr_assert(eq(u32, thread_find_java(1000 + i), each[i]), "as it is remembered");
        }
    }
    cr_assert(eq(u32, thread_find_java(0), THREAD_NONE));
    cr_assert(eq(u32, thread_find_java(999), THREAD_NONE));
}

Test(thread, a_number_that_is_remembered_is_none_of_another_thread)
{
    const thread_index first = add_java(100, 1000);

    cr_assert(eq(u32, thread_find_java(1000), first));
    thread_end(first, 1);
    cr_assert(eq(u32, thread_find_java(1000), THREAD_NONE));
    threads_reap(2);
    cr_assert(eq(u32, add_java(101, 2000), first), "it has the record of the first");
    cr_assert(eq(u32, thread_find_java(1000), THREAD_NONE));
    cr_assert(eq(u32, thread_find_java(2000), first));

    const thread_index again = add_java(102, 1000);
    cr_assert(eq(u32, thread_find_java(1000), again));
    threads_close();
    cr_assert(eq(u32, thread_find_java(1000), THREAD_NONE), "there are no records");
}

Test(thread, names_outlive_the_thread_until_it_is_reaped)
{
    const thread_index index = add(100);
    const struct thread_java java = {.java_id = 7, .name = "worker", .group = "main"};
    struct thread_info info;

    thread_set_java(index, &java);
    thread_end(index, 5);
    cr_assert(eq(u32, thread_find(100), THREAD_NONE));
    threads_reap(5); /* generation 5 is not cleared yet */
    cr_assert(thread_info(index, &info));
    cr_assert_str_eq(info.java_name, "worker");
    cr_assert_str_eq(info.group, "main");
    cr_assert(eq(u64, info.java_id, 7));
    threads_reap(6);
    cr_assert(not(thread_info(index, &info)));
}

Test(thread, a_record_with_a_timer_is_not_reaped)
{
    const thread_index index = add(100);
    struct thread_info info;

    cr_assert(not(thread_has_timer(index)));
    cr_assert(eq(int, thread_exchange_timer(index, 3), -1));
    cr_assert(thread_has_timer(index));
    thread_end(index, 1);
    threads_reap(100);
    cr_assert(thread_info(index, &info));
    cr_assert(eq(int, thread_exchange_timer(index, -1), 3));
    threads_reap(100);
    cr_assert(not(thread_info(index, &info)));
}

Test(thread, a_reaped_record_is_used_again)
{
    const thread_index index = add(100);

    thread_end(index, 1);
    threads_reap(2);
    cr_assert(eq(u32, add(101), index));
}

Test(thread, m06_the_jnienv_never_comes_back_once_it_is_gone)
{
    int dummy;
    const thread_index index = add(100);
    const struct thread_java java = {.env = &dummy, .name = "worker"};

    thread_set_java(index, &java);
    cr_assert(eq(ptr, thread_env(index), &dummy));
    thread_end_java(index);
    cr_assert(eq(ptr, thread_env(index), NULL));
    thread_set_java(index, &java);
    cr_assert(eq(ptr, thread_env(index), NULL));
}

Test(thread, a_renamed_thread_shows_its_new_name)
{
    const thread_index index = add(100);
    const struct thread_java java = {.name = "Thread-1"};
    struct thread_info info;

    thread_set_java(index, &java);
    thread_rename(index, "db-pool-1");
    cr_assert(thread_info(index, &info));
    cr_assert_str_eq(info.java_name, "db-pool-1");
}

Test(thread, a_long_name_is_cut_at_a_character)
{
    char name[THREAD_NAME_BYTES + 8];
    struct thread_java java = {.name = name};
    struct thread_info info;

    memset(name, 'x', sizeof name);
    memcpy(name + THREAD_NAME_BYTES - 2, "\xc3\xa9", 2); /* e with acute, across the limit */
    name[sizeof name - 1] = '\0';
    const thread_index index = add(100);
    thread_set_java(index, &java);
    cr_assert(thread_info(index, &info));
    cr_assert(eq(sz, strlen(info.java_name), THREAD_NAME_BYTES - 2));
}

Test(thread, debt_is_given_out_once)
{
    const thread_index index = add(100);

    thread_set_debt(index, 12345);
    cr_assert(eq(u64, thread_take_debt(index), 12345));
    cr_assert(eq(u64, thread_take_debt(index), 0));
}

Test(thread, a_full_table_refuses_and_counts)
{
    bool is_new;

    for (uint32_t tid = 1; tid <= THREAD_RECORDS_MAX; tid++)
        cr_assert(ne(u32, thread_add(tid, &is_new), THREAD_NONE));

    const uint64_t refused_before = jw_counter(JW_COUNT_THREAD_RECORDS_FULL);
    cr_assert(eq(u32, thread_add(THREAD_RECORDS_MAX + 1, &is_new), THREAD_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_THREAD_RECORDS_FULL), refused_before + 1));
    thread_end(thread_find(1), 1);
    threads_reap(2);
    cr_assert(ne(u32, thread_add(THREAD_RECORDS_MAX + 2, &is_new), THREAD_NONE));
}

Test(thread_limits, at_its_share_the_table_refuses_and_counts_and_goes_on_with_what_comes_free)
{
    struct jw_error err = {0};
    bool is_new;
    uint32_t tid = 1;

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    cr_assert(threads_open(&err), "%s", err.message);
    cr_assert(lt(u32, threads_capacity(), THREAD_RECORDS_MAX));
    for (; tid <= threads_capacity(); tid++)
        cr_assert(ne(u32, thread_add(tid, &is_new), THREAD_NONE));
    cr_assert(eq(u32, thread_add(tid, &is_new), THREAD_NONE));
    cr_assert(eq(u64, jw_counter(JW_COUNT_THREAD_RECORDS_FULL), 1));
    cr_assert(eq(u32, threads_limit(), threads_capacity()));
    thread_end(thread_find(1), 1);
    threads_reap(2);
    cr_assert(ne(u32, thread_add(tid, &is_new), THREAD_NONE));
    threads_close();
}

Test(thread_limits, m42_numbers_far_apart_are_paid_for_by_the_page)
{
    struct jw_memory_figures figures;
    struct jw_error err = {0};
    bool is_new;
    uint32_t refused = 0;

    jw_memory_share(JW_MEMORY_SMALLEST_BYTES);
    cr_assert(threads_open(&err), "%s", err.message);
    for (uint32_t tid = 1; tid < THREAD_TID_LIMIT; tid += THREAD_TID_LIMIT / 256)
        refused += thread_add(tid, &is_new) == THREAD_NONE;
    cr_assert(ne(u32, refused, 0));
    cr_assert(eq(u64, jw_counter(JW_COUNT_THREAD_RECORDS_FULL), refused));
    jw_memory_get(JW_MEMORY_THREADS, &figures);
    cr_assert(le(u64, figures.used_bytes, figures.charged_bytes));
    cr_assert(le(u64, figures.charged_bytes, figures.limit_bytes));
    threads_close();
    jw_memory_get(JW_MEMORY_THREADS, &figures);
    cr_assert(eq(u64, figures.charged_bytes, 0));
}

/* Two threads add the same tids at the same time, as a ThreadStart hook and the task scan do. */
#define RACE_TIDS 5000
static pthread_barrier_t race_start;
static thread_index kept[2][RACE_TIDS];

static void *add_all(void *argument)
{
    const int side = *(const int *)argument;
    bool is_new;

    pthread_barrier_wait(&race_start);
    for (uint32_t i = 0; i < RACE_TIDS; i++)
        kept[side][i] = thread_add(i + 1, &is_new);
    return NULL;
}

Test(thread, racing_adds_of_one_tid_agree_on_one_record)
{
    static int sides[2] = {0, 1};
    pthread_t threads[2];

    pthread_barrier_init(&race_start, NULL, 2);
    for (int i = 0; i < 2; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, add_all, &sides[i]), 0));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < RACE_TIDS; i++)
        cr_assert(eq(u32, kept[0][i], kept[1][i]));
    cr_assert(eq(u32, threads_live(), RACE_TIDS));
}

/* Threads come and go while the dump thread ends and reaps whatever it sees live. */
#define CHURN_TIDS   64
#define CHURN_ROUNDS 400

static void end_all(thread_index index, bool is_live, void *argument)
{
    if (is_live)
        thread_end(index, *(const uint64_t *)argument);
}

static void *add_over_and_over(void *argument)
{
    bool is_new;

    (void)argument;
    pthread_barrier_wait(&race_start);
    for (uint32_t round = 0; round < CHURN_ROUNDS; round++)
        for (uint32_t tid = 1; tid <= CHURN_TIDS; tid++)
            (void)thread_add(tid, &is_new);
    return NULL;
}

static void count_one(thread_index index, bool is_live, void *argument)
{
    (void)index;
    (void)is_live;
    ++*(uint32_t *)argument;
}

Test(thread, records_that_come_and_go_are_neither_lost_nor_given_twice)
{
    pthread_t threads[2];
    static bool is_taken[THREAD_RECORDS_MAX];
    uint64_t generation = 1;
    uint32_t left = 0;
    bool is_new;

    pthread_barrier_init(&race_start, NULL, 3);
    for (int i = 0; i < 2; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, add_over_and_over, NULL), 0));
    pthread_barrier_wait(&race_start);
    for (; generation < CHURN_ROUNDS; generation++) {
        threads_each(end_all, &generation);
        threads_reap(generation);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    threads_each(end_all, &generation);
    threads_reap(generation + 1);
    cr_assert(eq(u32, threads_live(), 0));
    threads_each(count_one, &left);
    cr_assert(eq(u32, left, 0));
    for (uint32_t tid = 1; tid <= THREAD_RECORDS_MAX; tid++) {
        const thread_index index = thread_add(tid, &is_new);

        cr_assert(index != THREAD_NONE, "record %u", tid);
        cr_assert(not(is_taken[index]));
        is_taken[index] = true;
    }
}

/* The sampler thread reads numbers of records that it does not keep. */
static _Atomic bool has_begun, is_over;

static void *read_number(void *argument)
{
    const thread_index index = *(const thread_index *)argument;

    while (!jw_load_relaxed(&is_over)) {
        const uint32_t tid = thread_tid(index);

        if (tid != 100 && tid != 101)
            return NULL;
        jw_store_relaxed(&has_begun, true);
    }
    return argument;
}

Test(thread, a_number_is_read_whole_while_its_record_goes_to_another_thread)
{
    thread_index index = add(100);
    pthread_t reader;
    void *result;

    cr_assert(eq(int, pthread_create(&reader, NULL, read_number, &index), 0));
    while (!jw_load_relaxed(&has_begun))
        sched_yield();
    for (uint64_t round = 1; round <= CHURN_ROUNDS; round++) {
        thread_end(index, round);
        threads_reap(round + 1);
        cr_assert(eq(u32, add(100 + (uint32_t)round % 2), index));
    }
    jw_store_relaxed(&is_over, true);
    pthread_join(reader, &result);
    cr_assert(result != NULL);
}

Test(thread, the_number_of_a_java_thread_is_told_once_it_is_known)
{
    const struct thread_java java = {.java_id = 21, .name = "main", .group = "main"};
    bool is_new;
    const thread_index index = thread_add(4711, &is_new);

    cr_assert(eq(u64, thread_java_id(index), 0));
    thread_set_java(index, &java);
    cr_assert(eq(u64, thread_java_id(index), 21));
}
