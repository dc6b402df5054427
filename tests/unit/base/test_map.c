/* Bytes to a number: found again by content alone, also after growing, clearing and a refused put. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"

static struct jw_map map;

static void close_map(void)
{
    jw_alloc_fail_after(0);
    jw_map_close(&map);
}

TestSuite(map, .fini = close_map, .timeout = 1800);

static uint64_t *put(const char *text)
{
    return jw_map_put(&map, text, strlen(text));
}

Test(map, a_number_is_0_until_it_is_set_and_found_by_content)
{
    char copy[] = "one";
    uint64_t *number = put("one");

    cr_assert_not_null(number);
    cr_expect_eq(*number, 0);
    *number = 7;
    cr_expect_eq(*put(copy), 7);
    cr_expect_eq(*put("on"), 0, "no prefix");
    cr_expect_eq(*put(""), 0, "nothing is a key too");
}

Test(map, a_look_adds_nothing)
{
    cr_expect_eq(jw_map_get(&map, "one", 3), 0);
    cr_expect_eq(map.entry_count, 0);
    *put("one") = 7;
    cr_expect_eq(jw_map_get(&map, "one", 3), 7);
    cr_expect_eq(jw_map_get(&map, "two", 3), 0);
    cr_expect_eq(map.entry_count, 1);
    jw_map_clear(&map);
    cr_expect_eq(jw_map_get(&map, "one", 3), 0);
}

Test(map, keeps_all_numbers_while_it_grows)
{
    char text[16];

    for (uint64_t i = 1; i <= 5000; i++) {
        snprintf(text, sizeof text, "key %llu", (unsigned long long)i);
        uint64_t *number = put(text);
        cr_assert_not_null(number);
        cr_assert_eq(*number, 0);
        *number = i;
    }
    for (uint64_t i = 1; i <= 5000; i++) {
        snprintf(text, sizeof text, "key %llu", (unsigned long long)i);
        cr_assert_eq(*put(text), i);
    }
}

Test(map, forgets_all_when_cleared)
{
    *put("one") = 1;
    jw_map_clear(&map);
    cr_expect_eq(*put("one"), 0);
    jw_map_close(&map);
    cr_expect_eq(jw_map_bytes(&map), 0);
    cr_expect_eq(*put("one"), 0);
}

Test(map, a_refused_put_adds_nothing)
{
    bool is_refused = true;
    uint64_t nth = 0;

    while (is_refused) {
        is_refused = false;
        jw_map_close(&map);
        jw_alloc_fail_after(++nth);
        for (uint64_t i = 1; i <= 200; i++) {
            uint64_t *number = jw_map_put(&map, &i, sizeof i);

            if (number == NULL) {
                is_refused = true;
                jw_alloc_fail_after(0);
                number = jw_map_put(&map, &i, sizeof i);
                cr_assert_not_null(number);
            }
            cr_assert_eq(*number, 0);
            *number = i;
        }
        jw_alloc_fail_after(0);
        for (uint64_t i = 1; i <= 200; i++)
            cr_assert_eq(*jw_map_put(&map, &i, sizeof i), i);
    }
    cr_expect_gt(nth, 5, "slots, entries and bytes grew");
}
