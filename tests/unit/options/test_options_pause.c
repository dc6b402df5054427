/* What a batch of classes may take that are written again, as options say it. */
#include <criterion/criterion.h>
#include <string.h>

#include "options/options.h"

TestSuite(options_pause, .timeout = 1800);

#define MS UINT64_C(1000000)

static struct options_result result;

/* The budget; a warning or an error has `words`, NULL: there is none. */
static uint64_t pause_of(const char *text, const char *words)
{
    const bool is_good = options_parse(text, strlen(text), &result);
    const struct options_messages *told = is_good ? &result.warnings : &result.errors;

    cr_assert_eq(told->count, words == NULL ? 0 : 1, "%s: %u messages", text, told->count);
    if (words != NULL)
        cr_assert(strstr(told->texts[0], words) != NULL, "%s: %s", text, told->texts[0]);
    return is_good ? result.values.pause_ns : UINT64_MAX;
}

Test(options_pause, ten_milliseconds_unless_another_one_is_named)
{
    cr_assert_eq(pause_of("probe-attach,probe=/tmp/slow.jar", NULL), 10 * MS);
    cr_assert_eq(pause_of("start,trace=com.acme.Shop.buy,pausebudget=500us,file=out.jfr", NULL),
                 MS / 2);
    cr_assert_eq(pause_of("probe-attach,probe=/tmp/slow.jar,pausebudget=1us", "100us is used"),
                 MS / 10);
    cr_assert_eq(pause_of("probe-attach,probe=/tmp/slow.jar,pausebudget=60s", "10s is used"),
                 10000 * MS);
    cr_assert_eq(pause_of("probe-attach,probe=/tmp/slow.jar,pausebudget=0", "is zero"), UINT64_MAX);
    (void)pause_of("stop,pausebudget=10ms", "has no effect on stop");
}

Test(options_pause, what_is_taken_out_goes_as_it_came_unless_one_is_named)
{
    cr_assert_eq(pause_of("probe-detach,name=slow", NULL), 0);
    cr_assert_eq(pause_of("probe-detach,name=slow,pausebudget=10ms", NULL), 10 * MS);
}
