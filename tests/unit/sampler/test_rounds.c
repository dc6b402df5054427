/* Who is looked at in a turn: those that ran, new ones, and all others by and by. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "sampler/rounds_internal.h"
#include "sampler/sampler_internal.h"

#define THREADS_COUNT 1000
#define FIRST_TID     4000000 /* of nobody */

static struct rounds rounds;
static bool runs[THREADS_COUNT], is_gone[THREADS_COUNT];
static uint32_t looks[THREADS_COUNT];
static uint32_t looks_in_turn;

static void open_rounds(void)
{
    struct jw_error err;
    bool is_new;

    cr_assert(threads_open(&err), "%s", err.message);
    cr_assert(rounds_open(&rounds, &err), "%s", err.message);
    rounds_reset(&rounds);
    for (uint32_t i = 0; i < THREADS_COUNT; i++)
        cr_assert(eq(u32, thread_add(FIRST_TID + i, &is_new), i));
}

TestSuite(rounds, .init = open_rounds, .timeout = 1800);

static enum rounds_found visit(thread_index thread)
{
    if (is_gone[thread])
        return ROUNDS_NOTHING;
    looks[thread]++;
    looks_in_turn++;
    return runs[thread] ? ROUNDS_RAN : ROUNDS_STILL;
}

static void turn(uint32_t readings)
{
    looks_in_turn = 0;
    rounds_turn(&rounds, readings, visit);
    cr_assert(le(u32, looks_in_turn, readings));
}

static void clear_looks(void)
{
    for (uint32_t i = 0; i < THREADS_COUNT; i++)
        looks[i] = 0;
}

Test(rounds, with_readings_enough_each_thread_is_looked_at_once_a_turn)
{
    for (uint32_t i = 0; i < THREADS_COUNT; i += 3)
        runs[i] = true;
    for (uint32_t t = 1; t <= 50; t++) {
        turn(2 * THREADS_COUNT);
        for (uint32_t i = 0; i < THREADS_COUNT; i++)
            cr_assert(eq(u32, looks[i], t));
    }
}

Test(rounds, threads_that_ran_are_looked_at_each_turn_and_the_others_in_a_sweep)
{
    const uint32_t readings = 100, running = 20;

    for (uint32_t i = 0; i < running; i++)
        runs[i * 7] = true;
    for (uint32_t t = 0; t < 2 * THREADS_COUNT / readings; t++)
        turn(readings); /* all are known by now */
    clear_looks();
    for (uint32_t t = 0; t < 100; t++)
        turn(readings);
    for (uint32_t i = 0; i < THREADS_COUNT; i++) {
        if (runs[i])
            cr_assert(eq(u32, looks[i], 100));
        else /* 80 a turn sweep over 980, each comes eight times */
            cr_assert(looks[i] >= 7 && looks[i] <= 9, "%u looks at %u", looks[i], i);
    }
}

Test(rounds, more_running_threads_than_readings_are_looked_at_alike)
{
    const uint32_t readings = 100, turns = 2000;

    for (uint32_t i = 0; i < THREADS_COUNT; i++)
        runs[i] = true;
    for (uint32_t t = 0; t < turns; t++)
        turn(readings);
    for (uint32_t i = 0; i < THREADS_COUNT; i++)
        cr_assert(looks[i] > turns * readings / THREADS_COUNT / 2, "%u looks at %u", looks[i], i);
}

Test(rounds, a_new_thread_is_looked_at_in_the_next_turn)
{
    turn(100);
    clear_looks();
    rounds_note(&rounds, 777);
    rounds_note(&rounds, 777);
    turn(100);
    cr_assert(eq(u32, looks[777], 1));
}

Test(rounds, a_thread_that_stopped_running_is_left_to_the_sweep)
{
    runs[500] = true;
    for (int t = 0; t < 20; t++)
        turn(100);
    runs[500] = false;
    clear_looks();
    for (int t = 0; t < 1000; t++)
        turn(100);
    cr_assert(looks[500] > 90 && looks[500] < 130, "%u looks", looks[500]);
}

Test(rounds, threads_that_are_gone_cost_no_reading_and_leave)
{
    for (uint32_t i = 0; i < THREADS_COUNT; i++)
        runs[i] = true;
    turn(2 * THREADS_COUNT);
    for (uint32_t i = 0; i < THREADS_COUNT; i++)
        is_gone[i] = i != 3;
    for (int t = 0; t < 10; t++)
        turn(2 * THREADS_COUNT);
    cr_assert(eq(u32, looks_in_turn, 1));
    cr_assert(eq(u32, looks[3], 11));
}

/* Threads that run, stop, go and come again in any order: nobody is looked at twice in a turn. */
Test(rounds, whatever_threads_do_a_turn_looks_at_each_once_at_most)
{
    for (uint32_t t = 1; t <= 500; t++) {
        clear_looks();
        for (uint32_t i = 0; i < THREADS_COUNT; i++) {
            const uint64_t random = rounds_random(&rounds);

            runs[i] = random % 4 == 0;
            is_gone[i] = random % 9 == 0;
            if (random % 97 == 0)
                rounds_note(&rounds, i);
        }
        turn(1 + (uint32_t)(rounds_random(&rounds) % (2 * THREADS_COUNT)));
        for (uint32_t i = 0; i < THREADS_COUNT; i++)
            cr_assert(le(u32, looks[i], 1));
    }
}
