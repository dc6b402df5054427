/* Thread states: the names that recordings use. */
#include "base/thread_state.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(thread_state);

Test(thread_state, every_state_has_a_name_of_its_own)
{
    for (int a = 0; a < JW_STATE_LIMIT; a++) {
        const char *name = jw_thread_state_name((enum jw_thread_state)a);

        cr_assert_eq(strncmp(name, "STATE_", 6), 0, "%s", name);
        for (int b = 0; b < a; b++)
            cr_assert_str_neq(name, jw_thread_state_name((enum jw_thread_state)b));
    }
}

Test(thread_state, a_number_that_is_none_reads_as_unknown)
{
    cr_assert_str_eq(jw_thread_state_name(JW_STATE_LIMIT), "STATE_DEFAULT");
    cr_assert_str_eq(jw_thread_state_name((enum jw_thread_state) - 1), "STATE_DEFAULT");
}
