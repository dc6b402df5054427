/* Patterns with stars, against any text. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/glob.h"

TestSuite(glob, .timeout = 1800);

Test(glob, stars_stand_for_anything)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},          {"", "a", false},           {"*", "", true},
        {"*", "abc", true},      {"a*c", "abbc", true},      {"a*c", "ab", false},
        {"**a**", "xax", true},  {"a*b*c", "a.b.b.c", true}, {"*ab", "aab", true},
        {"*ab", "aba", false},   {"/x/", "/x/", true},       {"a?c", "abc", false},
        {"GET *", "GET", false}, {"*.*.*", "a.b", false},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++)
        cr_expect_eq(jw_glob(cases[i].pattern, strlen(cases[i].pattern), cases[i].text),
                     cases[i].fits, "%s %s", cases[i].pattern, cases[i].text);
}

Test(glob, a_pattern_ends_where_it_is_said_to)
{
    cr_expect(jw_glob("ab*cd", 2, "ab"));
    cr_expect(jw_glob("ab*cd", 3, "abx"));
    cr_expect(!jw_glob("ab*cd", 2, "abx"));
    cr_expect(!jw_glob("ab*cd", 4, "abd"));
}
