/* File names from patterns. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options/options.h"

TestSuite(options_file, .timeout = 1800);

static const uint64_t moment_ns = 1768471199ull * 1000000000; /* 2026-01-15 09:59:59 UTC */

static char name[64];

static const char *expand(const char *pattern)
{
    struct jw_error err = {""};

    cr_assert(options_file_name(pattern, 4711, moment_ns, 7, name, sizeof name, &err), "%s",
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

Test(options_file, s09_any_moment_gives_fifteen_characters_that_no_path_separates)
{
    static const uint64_t moments_ns[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, 4102444800000000000};

    for (size_t i = 0; i < JW_COUNT_OF(moments_ns); i++) {
        cr_assert(options_file_name("%t", 1, moments_ns[i], 0, name, sizeof name, NULL));
        cr_assert(strlen(name) == 15 && strspn(name, "0123456789-") == 15, "%s", name);
    }
}

Test(options_file, a_name_that_does_not_fit_is_refused)
{
    struct jw_error err = {""};
    char small[5];

    cr_assert(options_file_name("%p", 4711, 0, 0, small, sizeof small, &err));
    cr_assert(!options_file_name("%px", 4711, 0, 0, small, sizeof small, &err));
    cr_assert(strstr(err.message, "longer than 4 bytes") != NULL, "%s", err.message);
    jw_error_clear(&err);
    cr_assert(!options_file_name("", 1, 0, 0, small, sizeof small, &err));
    cr_assert(strstr(err.message, "try file=profile.jfr") != NULL, "%s", err.message);
}

Test(options_file, the_number_of_the_file_may_begin_again)
{
    cr_assert(strcmp(expand("a-%n.jfr"), "a-7.jfr") == 0);
    cr_assert(strcmp(expand("a-%n{3}.jfr"), "a-1.jfr") == 0);
    cr_assert(strcmp(expand("a-%n{100}"), "a-7") == 0);
    cr_assert(strcmp(expand("a-%n{0}"), "a-%n{0}") == 0, "modulo 0 is no pattern");
    cr_assert(options_file_is_numbered("a-%n{3}.jfr") && options_file_is_numbered("%p-%t"));
    cr_assert(!options_file_is_numbered("n-t-%p-%%n"));
}

Test(options_file, s09_a_variable_never_leads_elsewhere)
{
    static const struct {
        const char *value;
        const char *part;
    } rows[] = {
        {"web-1.eu_west", "web-1.eu_west"},
        {"../../etc/passwd", ".__.__etc_passwd"},
        {"..", "._"},
        {"a b\n\"$\xc3\xa4", "a_b_____"},
    };
    char pattern[] = "/tmp/%{JW_TEST_PART}.jfr";
    char expected[80];

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++) {
        setenv("JW_TEST_PART", rows[i].value, 1);
        snprintf(expected, sizeof expected, "/tmp/%s.jfr", rows[i].part);
        cr_expect(strcmp(expand(pattern), expected) == 0, "%s gives %s", rows[i].value, name);
    }
}

Test(options_file, s09_a_long_variable_is_cut)
{
    char value[4 * OPTIONS_VARIABLE_BYTES];
    char whole[2 * OPTIONS_VARIABLE_BYTES];

    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    setenv("JW_TEST_PART", value, 1);
    cr_assert(options_file_name("%{JW_TEST_PART}", 1, 0, 0, whole, sizeof whole, NULL));
    cr_assert(strlen(whole) == OPTIONS_VARIABLE_BYTES);
}

Test(options_file, a_variable_that_is_not_set_is_refused_by_name)
{
    struct jw_error err = {""};

    unsetenv("JW_TEST_PART");
    cr_assert(!options_file_name("%{JW_TEST_PART}", 1, 0, 0, name, sizeof name, &err));
    cr_assert(strstr(err.message, "%{JW_TEST_PART}") != NULL, "%s", err.message);
}

Test(options_file, a_dialect_is_named_by_itself_or_with_the_format)
{
    static const struct {
        const char *text;
        uint64_t dialect, output;
    } cases[] = {
        {"start,file=x.jfr", OPTIONS_DIALECT_STANDARD, OPTIONS_OUTPUT_JFR},
        {"start,jfr,file=x.out", OPTIONS_DIALECT_STANDARD, OPTIONS_OUTPUT_JFR},
        {"start,jfr=async-profiler,file=x.out", OPTIONS_DIALECT_ASYNC_PROFILER, OPTIONS_OUTPUT_JFR},
        {"start,dialect=datadog,file=x.jfr", OPTIONS_DIALECT_DATADOG, OPTIONS_OUTPUT_JFR},
    };
    static struct options_result result;

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_assert(options_parse(cases[i].text, strlen(cases[i].text), &result), "%s",
                  cases[i].text);
        cr_expect_eq(result.warnings.count, 0u, "%s", cases[i].text);
        cr_expect_eq(result.values.dialect, cases[i].dialect, "%s", cases[i].text);
        cr_expect_eq(result.values.output, cases[i].output, "%s", cases[i].text);
    }
}
