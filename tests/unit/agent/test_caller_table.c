/* Callers of places, by samples: exactly where all are taken, else within the error that is told; and what finds no room. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/caller_table.h"
#include "base/counters.h"

#define ROOM 12288u /* rows of methods */

static struct jw_error err;

static void begin(void)
{
    cr_assert(caller_table_begin(&err), "%s", err.message);
}

TestSuite(caller_table, .init = begin, .timeout = 1800);

static struct caller get(uint32_t site, uint32_t number, uint64_t acquisitions)
{
    struct caller caller;

    cr_assert(caller_table_get(site, number, acquisitions, &caller), "no caller %u", number);
    return caller;
}

static void look(void)
{
    cr_assert(caller_table_look());
}

Test(caller_table, all_that_is_taken_is_told_exactly)
{
    struct caller caller;

    for (int i = 0; i < 30; i++)
        caller_table_add(7, "com/acme/Shop", i < 20 ? "buy" : "sell", 1);
    caller_table_add(7, "com/acme/Shopb", "uy", 1);
    caller_table_add(8, "", "[none]", 1);
    look();
    const struct caller first = get(7, 0, 31);
    cr_expect_str_eq(first.class_name, "com/acme/Shop");
    cr_expect_str_eq(first.method, "buy");
    cr_expect(eq(u64, first.samples, 20));
    cr_expect(eq(u64, first.acquisitions, 20));
    cr_expect(eq(u64, first.error, 0));
    cr_expect(eq(u64, get(7, 1, 31).acquisitions, 10));
    cr_expect_str_eq(get(7, 2, 31).method, "uy");
    cr_expect_not(caller_table_get(7, 3, 31, &caller));
    cr_expect_str_eq(get(8, 0, 1).class_name, "");
    cr_expect_not(caller_table_get(6, 0, 1, &caller));
    cr_expect_not(caller_table_get(9, 0, 1, &caller));
}

Test(caller_table, what_was_told_before_is_not_told_again)
{
    struct caller caller;

    caller_table_add(1, "A", "one", 64);
    caller_table_add(1, "A", "other", 1);
    caller_table_begin_again();
    caller_table_add(1, "A", "one", 1);
    look();
    cr_expect(eq(u64, get(1, 0, 1).acquisitions, 1));
    cr_expect(eq(u64, get(1, 0, 1).error, 0));
    cr_expect_not(caller_table_get(1, 1, 1, &caller));
    begin();
    look();
    cr_expect_not(caller_table_get(1, 0, 1, &caller));
    caller_table_add(2, "A", "one", 1);
    look();
    cr_expect(eq(u64, get(2, 0, 5).acquisitions, 5));
}

static uint64_t state;

/* One of 2^64. Source: D. E. Knuth, MMIX. */
static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

/* One of so many is taken by chance, of callers of 5/8, 3/8 less one in a hundred, and that one; whether the truth lies within the error. */
static bool is_within(uint32_t site, uint64_t interval, uint64_t count, unsigned caller)
{
    static const char *const names[] = {"most", "some", "few"};
    uint64_t truth[3] = {0};
    struct caller found;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t turn = draw() % 800;
        const unsigned who = turn < 500 ? 0 : turn < 792 ? 1 : 2;

        truth[who]++;
        if (draw() % interval == 0)
            caller_table_add(site, "A", names[who], interval);
    }
    look();
    for (uint32_t i = 0; caller_table_get(site, i, count, &found); i++)
        if (strcmp(found.method, names[caller]) == 0)
            return found.acquisitions <= truth[caller] + found.error &&
                   truth[caller] <= found.acquisitions + found.error;
    return caller == 2; /* the least may have been seen by no sample */
}

/* 95 of 100; that fewer than 460 of 500 are so by chance is one in some hundreds of cases, and here it is the same case each time. */
Test(caller_table, the_truth_is_within_the_error)
{
    state = 42;
    for (unsigned caller = 0; caller < 3; caller++) {
        unsigned within = 0;

        for (unsigned i = 0; i < 500; i++) {
            within += is_within(i, 16, 6400, caller);
            if (i % 100 == 99)
                begin();
        }
        cr_expect(within >= 460, "caller %u: %u of 500", caller, within);
        cr_expect(caller == 2 || within < 500, "caller %u: an error that says nothing", caller);
    }
}

Test(caller_table, an_error_halves_with_four_times_as_many_samples)
{
    for (unsigned i = 0; i < 400; i++) {
        caller_table_add(1, "A", i % 2 == 0 ? "one" : "other", 100);
        if (i < 100)
            caller_table_add(2, "A", i % 2 == 0 ? "one" : "other", 100);
    }
    look();
    const double many = (double)get(1, 0, 1000000).error, few = (double)get(2, 0, 1000000).error;
    cr_expect(few > 1.95 * many && few < 2.05 * many, "%g and %g", few, many);
    /* 1.96 times the root of a quarter by 100. */
    cr_expect(few > 97000 && few < 99000, "%g of a million", few);
}

Test(caller_table, one_caller_of_some_samples_may_not_be_the_only_one)
{
    for (unsigned i = 0; i < 100; i++)
        caller_table_add(1, "A", "one", 1000);
    look();
    cr_expect(eq(u64, get(1, 0, 100000).acquisitions, 100000));
    cr_expect(eq(u64, get(1, 0, 100000).error, 3000));
}

Test(caller_table, what_has_no_row_is_anothers)
{
    char name[32];
    struct caller caller;
    uint64_t others = 0;

    for (uint32_t i = 0; i < ROOM + 1000; i++) {
        snprintf(name, sizeof name, "m%u", i);
        caller_table_add(i % 10, "A", name, 1);
    }
    look();
    for (uint32_t site = 0; site < 10; site++) {
        uint64_t sum = 0;

        for (uint32_t i = 0; caller_table_get(site, i, ROOM / 10 + 100, &caller); i++) {
            sum += caller.samples;
            if (strcmp(caller.method, CALLER_OTHERS) == 0)
                others += caller.samples;
        }
        cr_expect(ge(u64, sum, (ROOM + 1000) / 10));
    }
    cr_expect(eq(u64, others, 1000));
    cr_expect(eq(u64, caller_table_lost(), 0));
    for (uint32_t site = 0; site < 65536; site++)
        caller_table_add(site, "A", "more", 1);
    cr_expect(ge(u64, caller_table_lost(), 1));
    cr_expect(eq(u64, jw_counter(JW_COUNT_LOCK_CALLERS_LOST), caller_table_lost()));
}

#define THREADS 4
#define CALLS   20000

static void *add_all(void *argument)
{
    char name[32];

    (void)argument;
    for (unsigned i = 0; i < CALLS; i++) {
        snprintf(name, sizeof name, "m%u", i % 500);
        caller_table_add(i % 3, "A", name, 2);
    }
    return NULL;
}

Test(caller_table, threads_add_to_the_same_rows)
{
    pthread_t threads[THREADS];
    struct caller caller;
    uint64_t samples = 0;

    for (unsigned i = 0; i < THREADS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, add_all, NULL), 0));
    for (unsigned i = 0; i < 20; i++)
        look();
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    look();
    for (uint32_t site = 0; site < 3; site++)
        for (uint32_t i = 0; caller_table_get(site, i, 1, &caller); i++)
            samples += caller.samples;
    cr_expect(eq(u64, samples, (uint64_t)THREADS * CALLS));
    cr_expect(eq(u64, caller_table_lost(), 0));
}
