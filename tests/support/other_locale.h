/*
 * other_locale - this process in a Turkish locale: numbers have a decimal comma, and I is no capital i.
 *
 * For      tests of what must not follow the host's locale.   Context  tool.
 *
 * mk/test.mk makes the locale, where localedef and its sources are there.
 */
#ifndef JW_TESTS_SUPPORT_OTHER_LOCALE_H
#define JW_TESTS_SUPPORT_OTHER_LOCALE_H

#include <criterion/criterion.h>

#include <locale.h>
#include <stdlib.h>

static inline void other_locale(void)
{
    const char *made = getenv("JW_LOCALES");

    setenv("LOCPATH", made == NULL ? "build/locales" : made, 1);
    if (setlocale(LC_ALL, "tr_TR.UTF-8") == NULL)
        cr_skip_test("there is no locale tr_TR here");
    cr_assert(localeconv()->decimal_point[0] == ',');
}

#endif
