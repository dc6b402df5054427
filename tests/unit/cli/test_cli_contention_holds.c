/* How long owners had locks, at least and at most, of waits that say who had them when. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "cli/cli_contention_internal.h"

#define MS INT64_C(1000000)

enum { OWNER = 1, ONE, TWO }; /* texts, and threads */

static struct contention all;
static char names[3][8] = {"owner", "one", "two"};
static char *texts[3] = {names[0], names[1], names[2]};
static struct contention_wait waits[16];

static void set_up(void)
{
    memset(&all, 0, sizeof all);
    all.texts.texts = texts;
    all.texts.count = 3;
    all.waits = waits;
}

static void tear_down(void)
{
    all.waits = NULL;
    all.texts.texts = NULL;
    all.texts.count = 0;
    contention_close(&all);
}

TestSuite(cli_contention_holds, .init = set_up, .fini = tear_down, .timeout = 1800);

/* A wait for the lock at this address, of a class that is named as the first thread is. */
static struct contention_wait *put(enum contention_kind kind, uint32_t thread, int64_t from_ms,
                                   int64_t to_ms, uint32_t owner, int64_t held_ms)
{
    struct contention_wait *wait = &waits[all.wait_count++];

    *wait = (struct contention_wait){
        .begin_ns = from_ms * MS,
        .end_ns = to_ms * MS,
        .address = 0x1000,
        .lock = OWNER,
        .thread = thread,
        .owner = owner,
        .kind = kind,
        .who = thread,
        .owner_who = owner,
        .held_ns = held_ms * MS,
        .is_for_lock = true,
        .is_wanted = true,
    };
    return wait;
}

static const struct contention_row *row_of(uint32_t thread)
{
    cr_assert(contention_settle(&all));
    for (size_t i = 0; i + 1 < all.holders.count; i++)
        if (all.holders.rows[i].thread == thread)
            return &all.holders.rows[i];
    cr_assert(ge(sz, all.holders.count, 1));
    cr_assert(eq(u32, all.holders.rows[all.holders.count - 1].thread, thread), "no such owner");
    return &all.holders.rows[all.holders.count - 1];
}

static void expect_held(uint32_t thread, uint64_t holds, int64_t least_ms, uint64_t bounded,
                        int64_t most_ms)
{
    const struct contention_row *row = row_of(thread);

    cr_expect(eq(u64, row->holds, holds));
    cr_expect(eq(i64, row->held_at_least_ns, least_ms * MS));
    cr_expect(eq(u64, row->bounded, bounded));
    cr_expect(eq(i64, row->held_at_most_ns, most_ms * MS));
}

Test(cli_contention_holds, it_is_held_from_when_it_was_seen_to_when_it_was_last_seen)
{
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, 5);
    put(CONTENTION_ENTER, TWO, 20, 41, OWNER, 12);
    expect_held(OWNER, 1, 22, 0, 0); /* nobody knows since when */
}

Test(cli_contention_holds, at_most_it_lies_between_two_others)
{
    put(CONTENTION_ENTER, TWO, 1, 5, ONE, 0);
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, 5);
    expect_held(OWNER, 1, 5, 1, 35);
}

Test(cli_contention_holds, from_its_own_wait_on_it_is_its_own)
{
    put(CONTENTION_ENTER, OWNER, 1, 8, TWO, 0);
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, 0);
    expect_held(OWNER, 1, 2, 1, 32);
}

Test(cli_contention_holds, who_waits_for_it_again_has_given_it_back)
{
    put(CONTENTION_ENTER, OWNER, 1, 8, TWO, 0);
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, 6);
    put(CONTENTION_ENTER, OWNER, 20, 50, TWO, 0);
    expect_held(OWNER, 1, 8, 1, 12);
}

Test(cli_contention_holds, two_times_are_two_and_the_longest_counts)
{
    put(CONTENTION_ENTER, ONE, 10, 20, OWNER, 3);
    put(CONTENTION_ENTER, ONE, 30, 50, OWNER, 9);
    expect_held(OWNER, 2, 9, 1, 30);
}

Test(cli_contention_holds, a_park_that_found_it_free_is_an_end_and_another_one_is_not)
{
    put(CONTENTION_PARK, ONE, 10, 20, OWNER, 4); /* it was interrupted */
    put(CONTENTION_PARK, ONE, 21, 40, OWNER, 6)->is_free = true;
    put(CONTENTION_PARK, TWO, 45, 60, OWNER, 10)->is_free = true;
    expect_held(OWNER, 2, 17, 1, 20);
}

Test(cli_contention_holds, threads_of_one_name_are_not_one)
{
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, 0);
    put(CONTENTION_ENTER, TWO, 30, 41, OWNER, 0)->owner_who = 77;
    expect_held(OWNER, 2, 0, 1, 30); /* the other one had it between 10 and 40 at most */
}

Test(cli_contention_holds, other_locks_are_others)
{
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, 5);
    put(CONTENTION_ENTER, TWO, 30, 41, OWNER, 2)->address = 0x2000;
    expect_held(OWNER, 2, 5, 0, 0);
}

Test(cli_contention_holds, what_recordings_of_others_do_not_say_is_not_known)
{
    put(CONTENTION_ENTER, TWO, 1, 5, ONE, -1);
    put(CONTENTION_ENTER, ONE, 10, 40, OWNER, -1);
    expect_held(OWNER, 0, 0, 0, 0);
}

Test(cli_contention_holds, a_part_has_those_that_its_waits_saw)
{
    put(CONTENTION_ENTER, ONE, 10, 20, OWNER, 3);
    put(CONTENTION_ENTER, TWO, 30, 50, OWNER, 9)->is_wanted = false;
    expect_held(OWNER, 1, 3, 0, 0);
}
