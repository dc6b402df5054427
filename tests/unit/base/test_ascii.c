/* Letters of our own names: the same in each locale. */
#include <criterion/criterion.h>

#include "base/ascii.h"
#include "support/other_locale.h"

TestSuite(ascii, .timeout = 1800);

static void expect_letters(void)
{
    cr_assert(jw_ascii_lower('I') == 'i' && jw_ascii_lower('i') == 'i');
    cr_assert(jw_ascii_lower('A') == 'a' && jw_ascii_lower('Z') == 'z');
    cr_assert(jw_ascii_lower('@') == '@' && jw_ascii_lower('[') == '[');
    cr_assert(jw_ascii_is_upper('I') && !jw_ascii_is_upper('i') && !jw_ascii_is_upper('\xdd'));
    cr_assert(jw_ascii_lower('\xdd') == '\xdd' && jw_ascii_lower('\0') == '\0');
    cr_assert(jw_ascii_equal("WaitIng", "waiting") && jw_ascii_equal("", ""));
    cr_assert(!jw_ascii_equal("wait", "waiting") && !jw_ascii_equal("waiting", "wait"));
    cr_assert(!jw_ascii_equal("a", "b") && !jw_ascii_equal("", "b"));
    cr_assert(jw_ascii_begins("STATE_RUNNABLE", "state_") && jw_ascii_begins("x", ""));
    cr_assert(!jw_ascii_begins("STATE", "state_") && !jw_ascii_begins("", "s"));
}

Test(ascii, capital_and_small_letters_are_told_apart_and_compared)
{
    expect_letters();
}

Test(ascii, m61_letters_are_the_same_in_another_locale)
{
    other_locale();
    expect_letters();
}
