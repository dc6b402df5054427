/* File names from patterns. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options/options.h"

TestSuite(options_file, .timeout = 20);

static const uint64_t moment_ns = 1768471199ull * 1000000000; /* 2026-01-15 09:59:59 UTC */

static char name[64];

static const char *expand(const char *pattern)
{
    struct jw_error err = {""};

    cr_assert(options_file_name(pattern, 4711, moment_ns, name, sizeof name, &err), "%s",
              err.message);
    return name;
}

Test(options_file, patterns_become_process_and_time)
{
    setenv("TZ", "UTC0", 1);
    tzset();
    cr_assert(strcmp(expand("plain.jfr"), "plain.jfr") == 0);
    cr_assert(strcmp(expand("/tmp/%p.jfr"), "/tmp/4711.jfr") == 0);
    cr_assert(strcmp(expand("a-%p-%p"), "a-4711-4711") == 0);
    cr_assert(strcmp(expand("%t.html"), "20260115-095959.html") == 0);
    cr_assert(strcmp(expand("100%%"), "100%") == 0);
    cr_assert(strcmp(expand("%%p"), "%p") == 0);
    cr_assert(strcmp(expand("%"), "%") == 0, "what is no pattern stays as it is");
    cr_assert(strcmp(expand("%x%p"), "%x4711") == 0);
}

Test(options_file, the_time_is_local)
{
    setenv("TZ", "XXX-3", 1);
    tzset();
    cr_assert(strcmp(expand("%t"), "20260115-125959") == 0);
}

Test(options_file, any_moment_gives_fifteen_characters_that_no_path_separates)
{
    static const uint64_t moments_ns[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, 4102444800000000000};

    for (size_t i = 0; i < JW_COUNT_OF(moments_ns); i++) {
        cr_assert(options_file_name("%t", 1, moments_ns[i], name, sizeof name, NULL));
        cr_assert(strlen(name) == 15 && strspn(name, "0123456789-") == 15, "%s", name);
    }
}

Test(options_file, a_name_that_does_not_fit_is_refused)
{
    struct jw_error err = {""};
    char small[5];

    cr_assert(options_file_name("%p", 4711, 0, small, sizeof small, &err));
    cr_assert(!options_file_name("%px", 4711, 0, small, sizeof small, &err));
    cr_assert(strstr(err.message, "longer than 4 bytes") != NULL, "%s", err.message);
    jw_error_clear(&err);
    cr_assert(!options_file_name("", 1, 0, small, sizeof small, &err));
    cr_assert(strstr(err.message, "try file=profile.jfr") != NULL, "%s", err.message);
}
