/* Options that let a part of the samples into a graph: when they can be had, and why others cannot. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "options/options.h"

static struct options_result result;

TestSuite(options_part, .timeout = 1800);

static bool parse(const char *text)
{
    return options_parse(text, strlen(text), &result);
}

/* Refused with one error, in which `words` stand. */
static void refuse(const char *text, const char *words)
{
    cr_assert(!parse(text), "%s", text);
    cr_assert(result.errors.count == 1, "%s: %u errors", text, result.errors.count);
    cr_assert(strstr(result.errors.texts[0], words) != NULL, "%s: %s", text,
              result.errors.texts[0]);
}

Test(options_part, what_samples_are_counted_by_is_named_at_the_start_of_a_graph)
{
    static const char *const names[] = {"from=10s", "to=20s", "thread=http-*", "state=parked"};
    char text[64];

    cr_assert(parse("start,from=10s,to=20s,thread=http-*,thread=7,state=parked,file=x.html"));
    cr_assert(result.warnings.count == 0);
    cr_assert_str_eq(result.values.from, "10s");
    cr_assert_str_eq(result.values.to, "20s");
    cr_assert(memcmp(result.values.thread_patterns, "http-*\0007\0", 10) == 0);
    cr_assert(result.values.state == OPTIONS_STATE_PARKED);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text, "start,%s,file=x.jfr", names[i]);
        refuse(text, "a recording has all samples; 'jaywalk convert --");
        snprintf(text, sizeof text, "dump,%s,file=x.html", names[i]);
        refuse(text, "a graph has counted its samples by now");
        snprintf(text, sizeof text, "resume,%s", names[i]);
        refuse(text, "resume goes on with the part that the start named");
        snprintf(text, sizeof text, "stop,%s", names[i]);
        refuse(text, "a graph has counted its samples by now");
    }
    refuse("start,state=asleep", "state");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text, "%s,file=x.html", names[i]);
        cr_assert(parse(text), "%s", text);
        cr_assert(result.values.action == OPTIONS_ACTION_START, "%s is of a start", names[i]);
    }
}

Test(options_part, what_only_a_recording_can_tell_is_refused_with_the_reason)
{
    static const char *const names[] = {"endpoint", "attribute", "trace-id", "span-id",
                                        "latency",  "safepoint", "by"};
    char text[64], words[64];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text, "start,%s=x,file=x.html", names[i]);
        snprintf(words, sizeof words, "use 'jaywalk convert --%s'", names[i]);
        refuse(text, words);
        cr_assert_not_null(options_refusal(names[i]));
    }
    cr_assert_null(options_refusal("interval"));
    cr_assert_null(options_refusal("allkernel"));
}
