/* Windows of samples: what begins one and what ends it, together. */
#include <criterion/criterion.h>
#include <string.h>

#include "options/options.h"

static struct options_result result;

TestSuite(options_window, .timeout = 1800);

/* Accepted without a word. */
static void parse_quietly(const char *text)
{
    cr_assert(options_parse(text, strlen(text), &result), "%s: %s", text, result.errors.texts[0]);
    cr_assert(result.warnings.count == 0, "%s: %s", text, result.warnings.texts[0]);
}

/* Refused with one error, in which `words` stand. */
static void refuse(const char *text, const char *words)
{
    cr_assert(!options_parse(text, strlen(text), &result), "%s", text);
    cr_assert(result.errors.count == 1, "%s: %u errors", text, result.errors.count);
    cr_assert(strstr(result.errors.texts[0], words) != NULL, "%s: %s", text,
              result.errors.texts[0]);
}

Test(options_window, a_window_has_a_begin_and_an_end)
{
    parse_quietly("start,event=cpu");
    cr_assert(result.values.window_begin == OPTIONS_MOMENT_NONE);
    parse_quietly("start,event=cpu,begin=ttsp");
    cr_assert(result.values.window_begin == OPTIONS_MOMENT_ASKED);
    cr_assert(result.values.window_end == OPTIONS_MOMENT_REACHED);
    parse_quietly("alloc=64k,end=SafepointSynchronize::end,begin=SafepointSynchronize::begin");
    cr_assert(result.values.window_begin == OPTIONS_MOMENT_ASKED);
    cr_assert(result.values.window_end == OPTIONS_MOMENT_LEFT);
    refuse("start,begin=SafepointSynchronize::begin", "needs an end");
    refuse("start,end=SafepointSynchronize::end", "needs a begin");
    refuse("start,begin=ttsp,end=SafepointSynchronize::end", "leave out end=");
    refuse("start,begin=SafepointSynchronize::end,end=SafepointSynchronize::end", "no sample");
    refuse("start,begin=ttsp,wall", "not for the wall clock");
    refuse("start,event=wall,begin=ttsp", "not for the wall clock");
    refuse("start,begin=Java_app_Main_call,end=SafepointSynchronize::end", "allowed: ttsp");
}

/* Names of functions are longer than those of options. */
Test(options_window, a_name_that_is_nearly_right_is_told_which_one_it_may_be)
{
    refuse("start,begin=SafepointSynchronise::end,end=SafepointSynchronize::begin",
           "did you mean SafepointSynchronize::end?");
    refuse("start,begin=SafepointSynchronize::end,end=Safepointsynchronise::bgin",
           "did you mean SafepointSynchronize::begin?");
    refuse("start,begin=SafepointSynchronize::end,end=SafepointSynchroniz", "is unknown");
    refuse(
        "start,begin=SafepointSynchronize::end,end=RuntimeServices::record_safepoint_synchronised",
        "did you mean RuntimeService::record_safepoint_synchronized?");
}
