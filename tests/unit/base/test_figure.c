/* Figures: what is counted between two clears, and what never falls. */
#include "base/figure.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>

TestSuite(figure, .timeout = 1800);

Test(figure, a_clear_forgets_nothing_of_the_total)
{
    struct jw_figure figure = {0};

    jw_figure_add(&figure, 3);
    cr_assert(eq(u64, jw_figure_now(&figure), 3));
    jw_figure_clear(&figure);
    cr_assert(eq(u64, jw_figure_now(&figure), 0));
    jw_figure_add(&figure, 4);
    cr_assert(eq(u64, jw_figure_now(&figure), 4));
    cr_assert(eq(u64, jw_figure_total(&figure), 7));
}

#define ADDERS 3
#define ROUNDS 100000

static struct jw_figure shared;

static void *add_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++)
        jw_figure_add(&shared, 2);
    return NULL;
}

Test(figure, adders_lose_nothing)
{
    pthread_t threads[ADDERS];

    shared = (struct jw_figure){0};
    for (int i = 0; i < ADDERS; i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, add_many, NULL), 0));
    for (int i = 0; i < ADDERS; i++)
        pthread_join(threads[i], NULL);
    cr_assert(eq(u64, jw_figure_total(&shared), 2ull * ADDERS * ROUNDS));
}

/* The dump thread adds (for others) and clears; this one looks. */
static void *add_and_clear(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        jw_figure_add(&shared, 5);
        jw_figure_clear(&shared);
    }
    return NULL;
}

Test(figure, who_looks_during_a_clear_sees_no_figure_that_never_was_and_no_falling_total)
{
    pthread_t thread;
    uint64_t total = 0;

    shared = (struct jw_figure){0};
    cr_assert(eq(int, pthread_create(&thread, NULL, add_and_clear, NULL), 0));
    while (total < 5ull * ROUNDS) {
        const uint64_t now = jw_figure_now(&shared);
        const uint64_t next = jw_figure_total(&shared);

        /* Several additions and clears may lie between its two loads, never a clear before an addition. */
        cr_assert(le(u64, now, 5ull * ROUNDS));
        cr_assert(eq(u64, now % 5, 0));
        cr_assert(ge(u64, next, total));
        total = next;
    }
    pthread_join(thread, NULL);
    cr_assert(eq(u64, jw_figure_now(&shared), 0));
}
