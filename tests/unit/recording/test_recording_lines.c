/* Compressed line tables. */
#include <criterion/criterion.h>

#include "recording/recording_names_internal.h"

TestSuite(recording_lines, .timeout = 1800);

/* (0, 10) (8, 12) (20, 400) in UNSIGNED5 with bias 0 and 1. */
static const unsigned char with_bias_0[] = {0xff, 0x00, 0x14, 0x42, 0xff, 0x18, 0xc8, 0x09, 0x00};
static const unsigned char with_bias_1[] = {0xff, 0x01, 0x15, 0x42, 0xff, 0x19, 0xc9, 0x0a, 0x00};

static int line_0(int bci)
{
    return recording_line_of(with_bias_0, sizeof with_bias_0, 0, bci);
}

static int line_1(int bci)
{
    return recording_line_of(with_bias_1, sizeof with_bias_1, 1, bci);
}

Test(recording_lines, a_bci_has_the_line_of_the_last_entry_at_or_before_it)
{
    cr_expect_eq(line_1(0), 10);
    cr_expect_eq(line_1(7), 10);
    cr_expect_eq(line_1(8), 12);
    cr_expect_eq(line_1(19), 12);
    cr_expect_eq(line_1(20), 400);
    cr_expect_eq(line_1(65000), 400);
}

Test(recording_lines, both_biases_are_understood)
{
    cr_expect_eq(line_0(0), 10);
    cr_expect_eq(line_0(8), 12);
    cr_expect_eq(line_0(20), 400);
}

Test(recording_lines, entries_may_come_out_of_order)
{
    /* (0, 10), then (20, 30), then back to (4, 20): steps of 20, 20 and of -16, -10. */
    const unsigned char table[] = {0xff, 0, 20, 0xff, 40, 40, 0xff, 31, 19, 0};

    cr_expect_eq(recording_line_of(table, sizeof table, 0, 3), 10);
    cr_expect_eq(recording_line_of(table, sizeof table, 0, 4), 20);
    cr_expect_eq(recording_line_of(table, sizeof table, 0, 19), 20);
    cr_expect_eq(recording_line_of(table, sizeof table, 0, 20), 30);
}

Test(recording_lines, no_table_a_cut_one_and_no_bci_give_no_line)
{
    const unsigned char cut[] = {0xff, 0xff, 0xff};
    const unsigned char late[] = {0xff, 16, 20, 0}; /* begins at bci 8 */

    cr_expect_eq(recording_line_of(NULL, 0, 0, 5), -1);
    cr_expect_eq(recording_line_of(cut, sizeof cut, 0, 5), -1);
    cr_expect_eq(recording_line_of(late, sizeof late, 0, 7), -1);
    cr_expect_eq(recording_line_of(late, sizeof late, 0, 8), 10);
    cr_expect_eq(line_1(-1), -1);
}

Test(recording_lines, rubbish_is_no_line_number)
{
    const unsigned char huge[] = {0xff, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0};

    cr_expect_eq(recording_line_of(huge, sizeof huge, 0, 5), -1);
}
