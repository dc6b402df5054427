/* What is said of the objects that were waited for: one of them, some, all alike. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "cli/cli_locks_internal.h"

#define ITEMS 256u

static struct contention_item items[ITEMS];
static size_t count;
static struct contention_objects objects;

static void add(uint32_t group, uint64_t object, uint32_t thread, uint32_t owner, int64_t ns)
{
    cr_assert(lt(sz, count, ITEMS));
    items[count++] = (struct contention_item){
        .object = object, .group = group, .thread = thread, .owner = owner, .ns = ns};
}

static void sum(void)
{
    contention_close_objects(&objects);
    cr_assert(contention_sum_objects(items, count, &objects));
    count = 0;
}

static void tear_down(void)
{
    contention_close_objects(&objects);
    jw_alloc_fail_after(0);
}

TestSuite(contention_objects, .fini = tear_down, .timeout = 1800);

static void expect_words(const char *words)
{
    char spread[CONTENTION_SPREAD_BYTES];

    contention_spread(&objects.groups[0], spread);
    cr_expect_str_eq(spread, words);
}

Test(contention_objects, each_has_its_waits_threads_and_owners)
{
    for (uint32_t i = 0; i < 6; i++)
        add(7, 11, i % 2, 1 + i % 3, 10 + i);
    add(7, 12, 4, 0, 500);
    add(7, 0, 4, 1, 9000);
    add(3, 11, 4, 1, 1);
    sum();
    cr_assert(eq(sz, objects.group_count, 2));
    cr_assert(eq(u32, objects.groups[0].group, 3));
    const struct contention_group *group = &objects.groups[1];
    cr_assert(eq(u32, group->group, 7));
    cr_assert(eq(sz, group->count, 2));
    cr_assert(eq(u64, group->unnumbered, 1));
    cr_assert(eq(u64, group->waits, 7));
    cr_assert(eq(i64, group->total_ns, 575));
    const struct contention_object *busiest = &group->objects[0], *other = &group->objects[1];
    cr_assert(eq(u64, busiest->object, 12));
    cr_assert(eq(u64, busiest->owners, 0));
    cr_assert(eq(u64, other->waits, 6));
    cr_assert(eq(u64, other->threads, 2));
    cr_assert(eq(u64, other->owners, 3));
    cr_assert(eq(u32, other->owner, 3));
    cr_assert(eq(i64, other->owner_ns, 12 + 15));
    cr_assert(eq(i64, other->longest_ns, 15));
}

Test(contention_objects, of_none_with_a_number_nothing_is_told)
{
    add(1, 0, 1, 1, 5);
    sum();
    cr_assert(eq(sz, objects.group_count, 0));
    sum();
    cr_assert(eq(sz, objects.group_count, 0));
}

Test(contention_objects, one_stands_out_or_some_do_or_none)
{
    add(1, 5, 1, 1, 100);
    sum();
    expect_words("one object, for which all of them wait");
    for (uint32_t i = 0; i < 50; i++)
        add(1, 5 + i, 1, 1, i == 7 ? 400 : 20);
    sum();
    expect_words("1 of 50 objects takes 29.0 % of the time: look at that one first");
    for (uint32_t i = 0; i < 50; i++)
        add(1, 5 + i, 1, 1, i < 10 ? 400 : 20);
    sum();
    expect_words("10 of 50 objects take four fifths of the time: look at what these have in "
                 "common");
    for (uint32_t i = 0; i < 50; i++)
        add(1, 5 + i, 1, 1, 20 + i);
    sum();
    expect_words("50 objects much alike, of which the busiest takes 3.1 % of the time: look at "
                 "what each does while it is held");
}

/* Waits of no time at all are some. */
Test(contention_objects, without_time_nobody_stands_out)
{
    add(1, 5, 1, 1, 0);
    add(1, 6, 1, 1, 0);
    sum();
    char spread[CONTENTION_SPREAD_BYTES];
    contention_spread(&objects.groups[0], spread);
    cr_expect_not_null(strstr(spread, "0.0 %"));
}

Test(contention_objects, what_is_split_already_is_not_split_further)
{
    char empty[] = "", follows[LOCKS_FOLLOWS_BYTES];
    struct locks_site site = {.place = empty,
                              .kind = empty,
                              .thread = empty,
                              .acquisitions = 100,
                              .waits = 50,
                              .verdict = LOCKS_CONTENDED};

    locks_follows(&site, follows);
    cr_expect_str_eq(follows,
                     "many wait for short holds: split it, or use something without a lock");
    for (uint32_t i = 0; i < 8; i++)
        add(0, 5 + i, 1, 1, 20 + i);
    sum();
    site.objects = &objects.groups[0];
    locks_follows(&site, follows);
    cr_expect_str_eq(follows, "many wait for short holds, of one object as of another: take them "
                              "less often, or use something without a lock");
    add(0, 5, 1, 1, 20);
    sum();
    site.objects = &objects.groups[0];
    locks_follows(&site, follows);
    cr_expect_str_eq(follows,
                     "many wait for short holds: split it, or use something without a lock");
}

Test(contention_objects, no_memory_is_told)
{
    for (unsigned fail_at = 1; fail_at < 3; fail_at++) {
        add(1, 5, 1, 1, 100);
        jw_alloc_fail_after(fail_at);
        cr_assert(not(contention_sum_objects(items, count, &objects)));
        jw_alloc_fail_after(0);
        contention_close_objects(&objects);
        count = 0;
    }
}
