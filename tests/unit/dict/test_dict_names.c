/* Names that are no text, too long, or of another life. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "dict/dict.h"

static struct dict_table *table;

static void open_table(void)
{
    const struct dict_config config = {"test", 1000, 1 << 20};
    struct jw_error err = {0};

    table = dict_open(&config, &err);
    cr_assert(table != NULL, "%s", err.message);
}

static void close_table(void)
{
    dict_close(table);
}

static struct dict_stats stats_now(void)
{
    struct dict_stats stats;

    dict_stats(table, &stats);
    return stats;
}

TestSuite(dict_names, .init = open_table, .fini = close_table, .timeout = 1800);

/* Bytes are bytes: what is no UTF-8, or ends too soon for a C string, is a name as any other. */
Test(dict_names, names_are_bytes_and_come_back_as_they_were)
{
    static const struct {
        const char *bytes;
        size_t length_bytes;
    } names[] = {
        {"", 0},
        {"\0", 1},
        {"a\0b", 3},
        {"a\0c", 3},
        {"a", 1},
        {"\xff\xfe", 2},
        {"\xc3", 1},
        {"\xc0\x80", 2},
        {"\xed\xa0\x80", 3},
        {"\xf4\x90\x80\x80", 4},
        {"GET /\xc3\xa9", 7},
        {"GET /\xc3", 6},
    };

    for (uint32_t i = 0; i < JW_COUNT_OF(names); i++)
        cr_assert(eq(u32, dict_intern(table, names[i].bytes, names[i].length_bytes), i + 1));
    for (uint32_t i = 0; i < JW_COUNT_OF(names); i++) {
        size_t length_bytes;
        const void *text = dict_text(table, i + 1, &length_bytes);

        cr_assert(eq(u32, dict_find(table, names[i].bytes, names[i].length_bytes), i + 1));
        cr_assert(eq(sz, length_bytes, names[i].length_bytes));
        cr_assert(eq(int, memcmp(text, names[i].bytes, length_bytes), 0));
    }
}

/* It is another's, or nobody's; what it says is a string of this life or none, never memory of an earlier one. */
Test(dict_names, an_id_of_an_earlier_life_says_nothing_of_that_life)
{
    size_t length_bytes;

    for (unsigned i = 0; i < 500; i++)
        cr_assert(eq(u32, dict_intern(table, &i, sizeof i), i + 1));
    dict_clear(table);
    for (dict_id id = 1; id <= 500; id++)
        cr_assert(dict_text(table, id, &length_bytes) == NULL);
    cr_assert(eq(u32, dict_intern(table, "new", 3), 1));
    cr_assert(eq(int, memcmp(dict_text(table, 1, &length_bytes), "new", 3), 0));
    cr_assert(eq(sz, length_bytes, 3));
    for (dict_id id = 2; id <= 500; id++)
        cr_assert(dict_text(table, id, &length_bytes) == NULL);
}

Test(dict_names, a_name_that_is_too_long_is_refused_by_every_call)
{
    static char text[4 * DICT_MAX_BYTES];

    cr_assert(eq(u32, dict_intern(table, text, sizeof text), DICT_NONE));
    cr_assert(eq(u32, dict_intern_bounded(table, text, sizeof text, 10), DICT_NONE));
    cr_assert(eq(u32, dict_find(table, text, sizeof text), DICT_NONE));
    cr_assert(eq(u32, dict_intern(table, text, SIZE_MAX), DICT_NONE));
    cr_assert(eq(u64, stats_now().refused_count, 3), "a look-up refuses nothing");
    cr_assert(eq(u64, stats_now().arena_bytes, 0));
}
