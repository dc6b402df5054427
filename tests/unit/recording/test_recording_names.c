/* Names that readers take apart. */
#include <criterion/criterion.h>
#include <string.h>

#include "recording/recording_names_internal.h"

TestSuite(recording_names, .timeout = 1800);

static struct recording_names names;

/* Of a method with this descriptor: the same for the same constants. */
static uint64_t key_of(const char *descriptor)
{
    const struct recording_method told = {
        .class_name = {"a/B", 3},
        .name = {"run", 3},
        .descriptor = {descriptor, strlen(descriptor)},
        .is_native = true, /* no package */
    };

    return recording_method_key(&names, &told);
}

Test(recording_names, a_descriptor_that_was_cut_keeps_its_whole_parameters)
{
    const uint64_t whole = key_of("(I[Lab/C;)V");

    cr_assert_eq(key_of("(I[Lab/C;Ljava/lang/Str"), whole);
    cr_assert_eq(key_of("(I[Lab/C;"), whole);
    cr_assert_eq(key_of("(I[Lab/C;)"), whole);
    cr_assert_neq(key_of("(I[Lab/C;)J"), whole);
    cr_assert_neq(key_of("(I[Lab/C;Z)V"), whole);
    recording_names_close(&names);
}

Test(recording_names, what_is_no_descriptor_has_no_parameters)
{
    const uint64_t none = key_of("()V");

    cr_assert_eq(key_of("NestHost"), none);
    cr_assert_eq(key_of("(Q)V"), none);
    cr_assert_eq(key_of("\x01\x02"), none);
    cr_assert_neq(key_of("(I)V"), none);
    recording_names_close(&names);
}

Test(recording_names, a_very_long_descriptor_that_was_cut_stays_readable)
{
    static char text[3 * 4096 + 2];

    text[0] = '(';
    for (size_t i = 0; i < 4096; i++)
        memcpy(text + 1 + 3 * i, "Lx;", 3);
    text[sizeof text - 1] = '\0';
    text[1 + 3 * ((4096 - 1) / 3)] = '\0';
    const size_t kept_bytes = strlen(text);
    char expected[4200];
    memcpy(expected, text, kept_bytes);
    memcpy(expected + kept_bytes, ")V", 3);
    text[kept_bytes] = 'L';
    cr_assert_eq(key_of(text), key_of(expected));
    recording_names_close(&names);
}
