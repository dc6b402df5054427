/* Which samples a part of a profile lets in. */
#include <criterion/criterion.h>

#include "base/jw.h"
#include "profile/profile_part.h"

TestSuite(profile_part, .timeout = 60);

Test(profile_part, stars_stand_for_anything)
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
        cr_expect_eq(profile_glob(cases[i].pattern, cases[i].text), cases[i].fits, "%s %s",
                     cases[i].pattern, cases[i].text);
}
