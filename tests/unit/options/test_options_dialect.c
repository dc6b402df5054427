/* What a dialect has no place for is not begun, and that is said. */
#include <criterion/criterion.h>
#include <string.h>

#include "options/options.h"

static struct options_result result;

TestSuite(options_dialect, .timeout = 1800);

static void parse(const char *text)
{
    cr_assert(options_parse(text, strlen(text), &result), "%s: %s", text, result.errors.texts[0]);
}

Test(options_dialect, without_a_place_for_the_census_waits_alone_are_told)
{
    static const char *const texts[] = {
        "start,locks=census,jfr=async-profiler,file=/x.jfr",
        "start,dialect=datadog,locks=objects,lock=1us,file=/x.jfr",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        parse(texts[i]);
        cr_assert(result.warnings.count == 1, "%s", texts[i]);
        cr_assert(strstr(result.warnings.texts[0], "no place for the census") != NULL);
        cr_assert(result.values.locks == OPTIONS_LOCKS_WAITS && result.values.lock_ns > 0);
    }
    parse("start,locks=census,jfr,file=/x.jfr");
    cr_assert(result.warnings.count == 0);
    cr_assert(result.values.locks == OPTIONS_LOCKS_CENSUS);
}
