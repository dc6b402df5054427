/* Texts for people and programs: no text of others leaves its cell, its line or its string. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_text_internal.h"

TestSuite(cli_text, .timeout = 1800);

/* A cell, and what lies behind it. */
static struct {
    char cell[CLI_CELL_BYTES];
    char behind[CLI_CELL_BYTES];
} room;

static const char *cleaned(const char *text)
{
    memset(&room, '#', sizeof room);
    cli_text_clean(text, room.cell);
    for (size_t i = 0; i < sizeof room.behind; i++)
        cr_assert_eq(room.behind[i], '#', "byte %zu behind the cell", i);
    return room.cell;
}

Test(cli_text, control_characters_become_blanks)
{
    cr_expect_str_eq(cleaned("a\x1b[31mb\nc\td\x7f"), "a [31mb c d ");
    cr_expect_str_eq(cleaned("\xc2\x9b"
                             "2J \xff caf\xc3\xa9"),
                     " 2J ? caf\xc3\xa9");
}

Test(cli_text, a_long_text_loses_its_middle_whatever_its_characters)
{
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x92\xa9"};
    char text[6000];

    for (size_t i = 0; i < JW_COUNT_OF(characters); i++) {
        for (size_t before = 0; before < 4; before++) {
            memset(text, 'a', before);
            text[before] = '\0';
            while (strlen(text) < sizeof text - 8)
                strcat(text, characters[i]);
            cr_expect_not_null(strstr(cleaned(text), "..."), "%zu, %zu", i, before);
            cr_expect_leq(strlen(room.cell), sizeof room.cell - 1);
        }
    }
}

Test(cli_text, a_share_is_all_only_where_it_is)
{
    char share[CLI_SHARE_BYTES];

    cli_text_share(1, 1, share);
    cr_expect_str_eq(share, "100.00 %");
    cli_text_share(9999999, 10000000, share);
    cr_expect_str_eq(share, " 99.99 %");
    cli_text_share(1, 3, share);
    cr_expect_str_eq(share, " 33.33 %");
    cli_text_share(0, 0, share);
    cr_expect_str_eq(share, "  0.00 %");
}

Test(cli_text, classes_are_told_as_people_write_them)
{
    static const char *const cases[][2] = {
        {"java/lang/String", "java.lang.String"},
        {"[Ljava/lang/String;", "java.lang.String[]"},
        {"[[I", "int[][]"},
        {"[Z", "boolean[]"},
        {"I", "I"},
        {"[", "[]"},
        {"", ""},
    };
    char out[CLI_CELL_BYTES], nested[2 * CLI_CELL_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_text_class(cases[i][0], out);
        cr_expect_str_eq(out, cases[i][1]);
    }
    memset(nested, '[', sizeof nested - 1);
    nested[sizeof nested - 1] = '\0';
    cli_text_class(nested, out);
    cr_expect_lt(strlen(out), CLI_CELL_BYTES);
}
