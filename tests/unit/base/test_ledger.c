/* Texts of the ledger. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/ledger.h"

TestSuite(ledger, .timeout = 1800);

static char text[256];

static void expect_group(const char *name, size_t room_bytes, const char *expected)
{
    const size_t length_bytes = jw_ledger_group(name, strlen(name), text, room_bytes);

    cr_expect_str_eq(text, expected);
    cr_expect_eq(length_bytes, strlen(expected));
}

Test(ledger, numbers_in_names_become_stars)
{
    expect_group("pool-1-thread-12", sizeof text, "pool-*-thread-*");
    expect_group("main", sizeof text, "main");
    expect_group("", sizeof text, "");
    expect_group("007", sizeof text, "*");
    expect_group("pool-*-thread-*", sizeof text, "pool-*-thread-*");
}

Test(ledger, names_are_cut_at_a_character)
{
    expect_group("abc", 3, "ab");
    expect_group("a\xc3\xa9z", 3, "a");
    expect_group("a\xc3\xa9z", 4, "a\xc3\xa9");
    expect_group("a\xe2\x82\xac", 4, "a");
    expect_group("12345", 2, "*");
    expect_group("a", 1, "");
}

Test(ledger, only_as_much_of_a_name_is_read_as_there_is)
{
    cr_expect_eq(jw_ledger_group("ab12cd34", 4, text, sizeof text), 3);
    cr_expect_str_eq(text, "ab*");
}

static const struct jw_ledger some = {
    .process_ns = 12310000000,
    .lines_ns = {[JW_LEDGER_SAMPLED] = 12174590000,
                 [JW_LEDGER_SHORT] = 98480000,
                 [JW_LEDGER_LIVE] = -24620000,
                 [JW_LEDGER_UNSEEN] = 1},
};

Test(ledger, a_sentence_says_what_rounds_to_something)
{
    cr_expect_str_eq(jw_ledger_sentence(&some, text, sizeof text),
                     "CPU time 12.31 s: sampled 98.9 %, short-lived threads 0.8 %"
                     "; samples stand for 0.2 % more than was used");
}

/* A session of a few samples, each of which covers a whole interval. */
Test(ledger, no_share_is_above_all_or_below_nothing)
{
    const struct jw_ledger brief = {
        .process_ns = 148000000,
        .lines_ns = {[JW_LEDGER_SAMPLED] = 149000000,
                     [JW_LEDGER_LIVE] = -4000000,
                     [JW_LEDGER_OWN] = 3000000},
    };

    cr_expect_str_eq(jw_ledger_sentence(&brief, text, sizeof text),
                     "CPU time 0.14 s: sampled 100.0 %, jaywalk's own threads 2.0 %; "
                     "samples stand for 2.7 % more than was used");
    cr_expect_eq(jw_ledger_tenths(&brief, JW_LEDGER_SAMPLED), 1007);
    cr_expect_eq(jw_ledger_tenths(&brief, JW_LEDGER_LIVE), -27);
}

Test(ledger, a_sentence_is_cut_to_fit)
{
    char small[24];

    cr_expect_str_eq(jw_ledger_sentence(&some, small, sizeof small), "CPU time 12.31 s: sampl");
}

Test(ledger, no_time_is_no_share)
{
    const struct jw_ledger none = {.process_ns = 0};

    cr_expect_str_eq(jw_ledger_sentence(&none, text, sizeof text), "CPU time: none was used");
    cr_expect_eq(jw_ledger_tenths(&none, JW_LEDGER_SAMPLED), 0);
}

Test(ledger, sampled_is_said_even_when_it_is_nothing)
{
    const struct jw_ledger none = {.process_ns = 5000000, .lines_ns = {[JW_LEDGER_OWN] = 5000000}};

    cr_expect_str_eq(jw_ledger_sentence(&none, text, sizeof text),
                     "CPU time 0.00 s: sampled 0.0 %, jaywalk's own threads 100.0 %");
}

Test(ledger, every_line_has_a_field_and_a_phrase)
{
    for (int line = 0; line < JW_LEDGER_LIMIT; line++) {
        cr_expect_not_null(jw_ledger_infos[line].field);
        cr_expect_not_null(jw_ledger_infos[line].phrase);
    }
}
