/* Numbers of methods, and of classes that methods make: the same for the same, and what there is when there are too many. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "instrument/instrument_sites.h"
#include "probe/probe_own.h"

TestSuite(instrument_sites, .timeout = 1800);

#define BY_METHOD (PROBE_OWN_SITES / 4 * 3)

static struct classfile_text text_of(const char *text)
{
    return (struct classfile_text){text, (uint32_t)strlen(text)};
}

static void begin(enum instrument_sites_kind kind)
{
    struct jw_error err = {{0}};

    cr_assert(instrument_sites_begin(kind, &err), "%s", err.message);
}

static int32_t number(enum instrument_sites_kind kind, const char *made, const char *method)
{
    return instrument_sites_number(kind, text_of(made), text_of("com/acme/Shop"), text_of(method),
                                   text_of("()V"));
}

static int32_t number_of(enum instrument_sites_kind kind, const char *made, unsigned method)
{
    char name[16];

    snprintf(name, sizeof name, "m%u", method);
    return number(kind, made, name);
}

Test(instrument_sites, a_class_has_a_number_for_each_method_that_makes_it)
{
    struct instrument_site site;

    begin(INSTRUMENT_SITES_MADE);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "com/acme/Order", "buy"), 0);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "[I", "buy"), 1);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "com/acme/Order", "sell"), 2);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "com/acme/Order", "buy"), 0);
    cr_assert_str_eq(instrument_sites_made(INSTRUMENT_SITES_MADE, 1), "[I");
    cr_assert(instrument_sites_at(INSTRUMENT_SITES_MADE, 2, &site));
    cr_assert_str_eq(site.made, "com/acme/Order");
    cr_assert_str_eq(site.class_name, "com/acme/Shop");
    cr_assert_str_eq(site.method, "sell");
    cr_assert_str_eq(site.descriptor, "()V");
    cr_assert_not(instrument_sites_at(INSTRUMENT_SITES_MADE, 3, &site));
    cr_assert_eq(instrument_sites_lost(INSTRUMENT_SITES_MADE), 0);
}

Test(instrument_sites, beyond_most_of_them_a_class_has_one_for_all_methods)
{
    struct instrument_site site;

    begin(INSTRUMENT_SITES_MADE);
    for (unsigned i = 0; i < BY_METHOD; i++)
        cr_assert_eq(number_of(INSTRUMENT_SITES_MADE, "Order", i), (int32_t)i);
    cr_assert_eq(number_of(INSTRUMENT_SITES_MADE, "Order", BY_METHOD), BY_METHOD);
    cr_assert_eq(number_of(INSTRUMENT_SITES_MADE, "Order", BY_METHOD + 1), BY_METHOD);
    cr_assert_eq(number_of(INSTRUMENT_SITES_MADE, "Line", 0), BY_METHOD + 1);
    cr_assert_eq(number_of(INSTRUMENT_SITES_MADE, "Order", 7), 7, "what has one keeps it");
    cr_assert(instrument_sites_at(INSTRUMENT_SITES_MADE, BY_METHOD, &site));
    cr_assert_str_eq(site.made, "Order");
    cr_assert_str_eq(site.class_name, "");
    cr_assert_str_eq(site.method, "");
    cr_assert_eq(instrument_sites_lost(INSTRUMENT_SITES_MADE), 0);
}

Test(instrument_sites, what_finds_none_is_counted_once)
{
    char made[16];

    begin(INSTRUMENT_SITES_MADE);
    for (unsigned i = 0; i < PROBE_OWN_SITES; i++) {
        snprintf(made, sizeof made, "C%u", i);
        cr_assert_eq(number(INSTRUMENT_SITES_MADE, made, "buy"), (int32_t)i);
    }
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "Order", "buy"), -1);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "Order", "buy"), -1);
    cr_assert_eq(instrument_sites_lost(INSTRUMENT_SITES_MADE), 1);
    begin(INSTRUMENT_SITES_MADE);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "Order", "buy"), 0);
    cr_assert_eq(instrument_sites_lost(INSTRUMENT_SITES_MADE), 0);
}

Test(instrument_sites, a_name_that_is_too_long_leaves_the_class_alone_or_nothing)
{
    char name[600];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    begin(INSTRUMENT_SITES_MADE);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "Order", name), 0);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, "Order", "buy"), 1);
    cr_assert_eq(number(INSTRUMENT_SITES_MADE, name, "buy"), -1);
    cr_assert_eq(instrument_sites_lost(INSTRUMENT_SITES_MADE), 1);
    begin(INSTRUMENT_SITES_COUNTED);
    cr_assert_eq(number(INSTRUMENT_SITES_COUNTED, "", name), -1);
    cr_assert_eq(instrument_sites_lost(INSTRUMENT_SITES_COUNTED), 1);
}

Test(instrument_sites, methods_have_all_of_the_numbers_and_kinds_their_own)
{
    begin(INSTRUMENT_SITES_COUNTED);
    begin(INSTRUMENT_SITES_TIMED);
    for (unsigned i = 0; i < PROBE_OWN_SITES; i++)
        cr_assert_eq(number_of(INSTRUMENT_SITES_COUNTED, "", i), (int32_t)i);
    cr_assert_eq(number_of(INSTRUMENT_SITES_COUNTED, "", PROBE_OWN_SITES), -1);
    cr_assert_eq(number_of(INSTRUMENT_SITES_TIMED, "", 5), 0);
}
