/* Filters by number and name: what they let in, and what is refused. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "thread/thread.h"
#include "thread/thread_filter.h"

TestSuite(thread_filter, .timeout = 1800);

static struct jw_error err;

static bool lets_in(const char *filter, uint32_t tid, const char *name)
{
    cr_assert(thread_filter_set(filter, &err), "%s: %s", filter == NULL ? "none" : filter,
              err.message);
    return thread_filter_lets_in(tid, name);
}

Test(thread_filter, no_filter_lets_everybody_in)
{
    cr_assert(thread_filter_lets_in(1, "main"));
    cr_assert(lets_in(NULL, 1, "main"));
    cr_assert(lets_in("", THREAD_TID_LIMIT - 1, ""));
}

Test(thread_filter, numbers_and_ranges_mean_threads_of_the_system)
{
    cr_assert(lets_in("17", 17, "x"));
    cr_assert(not(lets_in("17", 18, "17")));
    cr_assert(lets_in("10-20;40", 10, "x"));
    cr_assert(lets_in("10-20;40", 20, "x"));
    cr_assert(lets_in("10-20/40", 40, "x"));
    cr_assert(not(lets_in("10-20;40", 9, "x")));
    cr_assert(not(lets_in("10-20;40", 21, "x")));
    cr_assert(lets_in("4194303", THREAD_TID_LIMIT - 1, "x"));
}

Test(thread_filter, stars_stand_for_any_text)
{
    static const struct {
        const char *filter, *name;
        bool fits;
    } cases[] = {
        {"main", "main", true},
        {"main", "main2", false},
        {"main", "Main", false},
        {"http-*", "http-nio-8080-exec-1", true},
        {"http-*", "http-", true},
        {"http-*", "http", false},
        {"*-exec-*", "a-exec-b", true},
        {"*-exec-*", "a-exe-b", false},
        {"*exec", "exec-exec", true},
        {"*exec", "exec-exec-", false},
        {"a*b*c", "aXbXbYc", true},
        {"a*b*c", "aXcXb", false},
        {"*", "", true},
        {"**", "x", true},
        {"GC Thread#*", "GC Thread#12", true},
        {"1-2-3", "1-2-3", true},
        {"-5", "-5", true},
        {"5-", "5-", true},
        {"*-5", "pool-5", true},
        {"a;*z", "buzz", true},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++)
        cr_assert(lets_in(cases[i].filter, 1, cases[i].name) == cases[i].fits, "%s %s",
                  cases[i].filter, cases[i].name);
}

Test(thread_filter, what_cannot_be_meant_is_refused_and_changes_nothing)
{
    static const struct {
        const char *filter, *says;
    } cases[] = {
        {"0", "from 1 to 4194303"},           {"20-10", "20-10: thread numbers"},
        {"4194304", "from 1 to 4194303"},     {"99999999999999999999", "from 1 to 4194303"},
        {"1-99999999999999999999", "from 1"}, {"main;", "nothing stands between"},
        {";main", "nothing stands between"},  {"a//b", "nothing stands between"},
    };

    cr_assert(thread_filter_set("kept", &err));
    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        err = (struct jw_error){0};
        cr_assert(not(thread_filter_set(cases[i].filter, &err)), "%s", cases[i].filter);
        cr_assert(strstr(err.message, cases[i].says) != NULL, "%s: %s", cases[i].filter,
                  err.message);
        cr_assert(thread_filter_lets_in(1, "kept") && !thread_filter_lets_in(1, "x"));
    }
}

Test(thread_filter, a_filter_has_an_end)
{
    char text[THREAD_FILTER_MAX_BYTES + 1];

    memset(text, 'a', sizeof text);
    text[THREAD_FILTER_MAX_BYTES] = '\0';
    cr_assert(not(thread_filter_check(text, &err)));
    text[THREAD_FILTER_MAX_BYTES - 1] = '\0';
    cr_assert(thread_filter_check(text, &err));
    for (int i = 1; i < 2 * THREAD_FILTER_ITEMS_MAX; i += 2)
        text[i] = ';';
    text[2 * THREAD_FILTER_ITEMS_MAX - 1] = '\0';
    cr_assert(thread_filter_check(text, &err), "%s", err.message);
    strcat(text, ";a");
    cr_assert(not(thread_filter_check(text, &err)));
}

Test(thread_filter, a_plus_is_whom_the_program_added)
{
    cr_assert(not(lets_in("+", 17, "+")));
    thread_filter_add(17);
    cr_assert(lets_in("+", 17, "main"));
    cr_assert(lets_in("http-*;+", 17, "main"));
    cr_assert(lets_in("http-*;+", 18, "http-1"));
    cr_assert(not(lets_in("+", 81, "main")));
    cr_assert(not(lets_in("18", 17, "main")), "added or not, the filter does not ask");
    thread_filter_remove(17);
    thread_filter_remove(17);
    cr_assert(not(lets_in("+", 17, "main")));
    thread_filter_add(THREAD_TID_LIMIT);
    thread_filter_remove(THREAD_TID_LIMIT);
    cr_assert(not(lets_in("+", THREAD_TID_LIMIT, "main")));
}
