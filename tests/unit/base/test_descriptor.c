/* Descriptors of methods, whole, cut and none. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "base/descriptor.h"

TestSuite(descriptor, .timeout = 1800);

static bool is_whole(const char *text)
{
    return jw_descriptor_is_whole((const unsigned char *)text, strlen(text));
}

static size_t parameters(const char *text)
{
    return jw_descriptor_parameters((const unsigned char *)text, strlen(text));
}

Test(descriptor, whole_ones)
{
    static const char *const texts[] = {"()V", "(I)V", "()Ljava/lang/Object;",
                                        "([[J[Ljava/util/List;BCDFISZ)[[D", "(La;Lb/c;)Z"};

    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        cr_assert(is_whole(texts[i]), "%s", texts[i]);
}

Test(descriptor, what_is_none)
{
    static const char *const texts[] = {
        "",       "V",        "(",       "()",     "(V)V",     "(I",    "(I)",  "(I)VV",
        "(L;)V",  "(Lab)V",   "(Lab;)L", "([)V",   "NestHost", "()[",   "()[V", "(Q)V",
        "(I)I)V", "(La(b;)V", "()L;",    "(I)Lab", "x(I)V",    "()La;I"};

    for (size_t i = 0; i < JW_COUNT_OF(texts); i++)
        cr_assert(not(is_whole(texts[i])), "%s", texts[i]);
}

Test(descriptor, every_prefix_of_one_tells_its_whole_parameters)
{
    static const char text[] = "(I[Lab/c;[[JLd;)Z";
    static const size_t wholes[] = {0, 1, 2, 2, 2, 2, 2, 2, 2, 9, 9, 9, 12, 12, 12, 15, 15, 15};

    for (size_t length = 0; length < sizeof text - 1; length++) {
        cr_assert(not(jw_descriptor_is_whole((const unsigned char *)text, length)));
        cr_assert(
            eq(sz, jw_descriptor_parameters((const unsigned char *)text, length), wholes[length]),
            "%zu bytes", length);
    }
    cr_assert(is_whole(text));
    cr_assert(eq(sz, parameters(text), 15));
}
