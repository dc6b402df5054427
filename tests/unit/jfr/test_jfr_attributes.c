/* Names of the fields that attributes get. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "jfr/jfr_attributes.h"

TestSuite(jfr_attributes, .timeout = 1800);

static struct jfr_attributes attributes;

static const char *field_of(const char *name)
{
    cr_assert(jfr_attributes_add(&attributes, name));
    const struct jfr_attribute *added = &attributes.each[attributes.count - 1];

    cr_expect_eq(strncmp(added->name, name, JFR_ATTRIBUTE_NAME_CAPACITY - 1), 0);
    return added->field;
}

Test(jfr_attributes, an_identifier_is_the_name_of_its_field)
{
    cr_expect_str_eq(field_of("tenant"), "tenant");
    cr_expect_str_eq(field_of("_Shard2"), "_Shard2");
    cr_expect_str_eq(field_of("invocations"), "invocations",
                     "a field of other types, not of such events");
}

Test(jfr_attributes, what_is_no_identifier_gets_a_made_name)
{
    cr_expect_str_eq(field_of("http.route"), "attribute0");
    cr_expect_str_eq(field_of("2nd"), "attribute1");
    cr_expect_str_eq(field_of("d\xc3\xa9p\xc3\xb4t"), "attribute2");
    cr_expect_str_eq(field_of("a b"), "attribute3");
    cr_expect_str_eq(field_of(""), "attribute4");
}

Test(jfr_attributes, names_that_fields_of_samples_or_spans_have_are_made)
{
    static const char *const taken[] = {"startTime",  "duration", "eventThread", "sampledThread",
                                        "stackTrace", "state",    "weight",      "samples",
                                        "name",       "traceId",  "spanId",      "localRootSpanId",
                                        "method"};

    for (size_t i = 0; i < JW_COUNT_OF(taken); i++) {
        char wanted[32];

        snprintf(wanted, sizeof wanted, "attribute%zu", i);
        cr_expect_str_eq(field_of(taken[i]), wanted);
    }
}

Test(jfr_attributes, a_name_like_a_made_one_cannot_meet_it)
{
    cr_expect_str_eq(field_of("attribute1"), "attribute0");
    cr_expect_str_eq(field_of("x.y"), "attribute1");
    cr_expect_str_eq(field_of("attributes"), "attributes");
}

Test(jfr_attributes, the_seventeenth_is_refused)
{
    char name[16];

    for (unsigned i = 0; i < JFR_ATTRIBUTES_MAX; i++) {
        snprintf(name, sizeof name, "a%u", i);
        cr_expect_str_eq(field_of(name), name);
    }
    cr_expect_not(jfr_attributes_add(&attributes, "more"));
    cr_expect_eq(attributes.count, JFR_ATTRIBUTES_MAX);
}

Test(jfr_attributes, a_name_that_is_too_long_is_cut)
{
    char name[200];

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    cr_expect_eq(strlen(field_of(name)), JFR_ATTRIBUTE_NAME_CAPACITY - 1);
}
