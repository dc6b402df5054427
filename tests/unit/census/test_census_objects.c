/* Objects of sites: sums, order, what an earlier reading had. */
#include "census/census_objects.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define ROW(site, hash, count, threads)                                                            \
    ((int64_t)((site) + 1) << 31) | (hash), (count), (threads), 0
#define ONE  INT64_C(5)
#define TWO  (ONE | INT64_C(9) << 31)
#define MORE (TWO | INT64_C(1) << 62)

static struct census_objects all;
static struct census_objects_sum sum;
static struct census_object object;

static void close_all(void)
{
    census_objects_close(&all);
}

TestSuite(census_objects, .fini = close_all, .timeout = 1800);

static const int64_t rows[] = {ROW(7, 0x7fffffff, 90, MORE),
                               ROW(2, 1, 10, ONE),
                               0,
                               0,
                               0,
                               0,
                               ROW(7, 3, 5, ONE),
                               ROW(7, 2, 5, TWO),
                               ROW(65535, 8, 1, ONE),
                               ROW(9, 1, 0, ONE) /* forgotten */};
/* Of sites 0 to 7. */
static const int64_t others[8 * 3] = {[7 * 3] = 40, [7 * 3 + 1] = 400, [7 * 3 + 2] = 4};

static void take(void)
{
    cr_assert(census_objects_take(&all, rows, JW_COUNT_OF(rows), others, JW_COUNT_OF(others)));
}

static void expect_object(uint32_t site, size_t index, uint32_t hash, uint64_t acquisitions,
                          uint32_t threads)
{
    cr_assert(census_objects_get(&all, site, index, &object), "%u %zu", site, index);
    cr_expect(eq(u32, object.hash, hash));
    cr_expect(eq(u64, object.acquisitions, acquisitions));
    cr_expect(eq(u32, object.threads, threads));
}

Test(census_objects, of_a_site_come_busiest_first)
{
    take();
    expect_object(7, 0, 0x7fffffff, 90, 3);
    expect_object(7, 1, 2, 5, 2);
    expect_object(7, 2, 3, 5, 1);
    cr_expect(not(census_objects_get(&all, 7, 3, &object)));
    expect_object(65535, 0, 8, 1, 1);
    cr_expect(not(census_objects_get(&all, 65535, 1, &object)));
    cr_expect(not(census_objects_get(&all, 0, 0, &object)));
    cr_expect(not(census_objects_get(&all, 9, 0, &object)));
}

Test(census_objects, sums_have_those_that_found_no_room_apart)
{
    take();
    cr_assert(census_objects_sum_of(&all, 7, &sum));
    cr_expect(eq(u64, sum.objects, 3));
    cr_expect(eq(u64, sum.acquisitions, 100));
    cr_expect(eq(u64, sum.alone, 1));
    cr_expect(eq(u64, sum.four_fifths, 1));
    cr_expect(eq(u64, sum.other_objects, 40));
    cr_expect(eq(u64, sum.other_acquisitions, 400));
    cr_expect(eq(u64, sum.other_several, 4));
    cr_assert(census_objects_sum_of(&all, 2, &sum));
    cr_expect(sum.objects == 1 && sum.alone == 1 && sum.other_objects == 0);
    cr_expect(not(census_objects_sum_of(&all, 0, &sum)));
    cr_expect(not(census_objects_sum_of(&all, 9, &sum)));
}

Test(census_objects, alike_need_four_of_five_for_four_fifths)
{
    static const int64_t five[] = {ROW(1, 1, 10, ONE), ROW(1, 2, 10, ONE), ROW(1, 3, 10, ONE),
                                   ROW(1, 4, 10, ONE), ROW(1, 5, 10, ONE)};

    cr_assert(census_objects_take(&all, five, JW_COUNT_OF(five), NULL, 0));
    cr_assert(census_objects_sum_of(&all, 1, &sum));
    cr_expect(eq(u64, sum.four_fifths, 4));
}

Test(census_objects, what_an_earlier_file_had_is_not_told_again)
{
    static const int64_t later[] = {ROW(7, 0x7fffffff, 120, MORE), ROW(2, 1, 10, ONE),
                                    ROW(7, 3, 2, ONE), /* it went and came back */
                                    ROW(7, 6, 4, ONE)};

    take();
    census_objects_begin_again(&all);
    cr_expect(not(census_objects_sum_of(&all, 7, &sum)));
    cr_assert(census_objects_take(&all, later, JW_COUNT_OF(later), others, JW_COUNT_OF(others)));
    expect_object(7, 0, 0x7fffffff, 30, 3);
    expect_object(7, 1, 6, 4, 1);
    expect_object(7, 2, 3, 2, 1);
    cr_expect(not(census_objects_get(&all, 2, 0, &object)));
    cr_assert(census_objects_sum_of(&all, 7, &sum));
    cr_expect(eq(u64, sum.other_objects, 0));
}

Test(census_objects, of_a_site_that_is_another_one_now_nothing_is_told)
{
    static const uint32_t forgotten[] = {7, 65535, 3};

    take();
    census_objects_forget(&all, forgotten, JW_COUNT_OF(forgotten));
    cr_expect(not(census_objects_sum_of(&all, 7, &sum)));
    cr_expect(not(census_objects_get(&all, 65535, 0, &object)));
    expect_object(2, 0, 1, 10, 1);
}
