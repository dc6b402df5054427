/* Texts of constants of a class file that become others. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"
#include "probe/probe_renamed.h"

TestSuite(probe_renamed, .timeout = 1800);

#define HEAD    "\xca\xfe\xba\xbe\0\0\0\x34\0\x06"
#define NUMBERS "\x05\0\0\0\0\0\0\0\x01\x07\0\x01"
#define REST    "old, behind the constants"

static const char compiled[] = HEAD "\x01\0\x06(Lold;" NUMBERS "\x01\0\x0aold/oldold" REST;

static size_t rename_to(const char *to, uint8_t *out, size_t room_bytes)
{
    const struct probe_renaming renaming = {"old", to};

    return probe_renamed_class((const uint8_t *)compiled, sizeof compiled - 1, &renaming, out,
                               room_bytes);
}

Test(probe_renamed, texts_are_others_wherever_it_stands_and_the_rest_as_it_was)
{
    static const char longer[] =
        HEAD "\x01\0\x08(Lnewer;" NUMBERS "\x01\0\x10newer/newernewer" REST;
    static const char shorter[] = HEAD "\x01\0\x04(Ln;" NUMBERS "\x01\0\x04n/nn" REST;
    const struct probe_renaming to_longer = {"old", "newer"};
    uint8_t out[256];

    cr_assert_eq(rename_to("newer", out, sizeof longer - 1), sizeof longer - 1);
    cr_expect_eq(memcmp(out, longer, sizeof longer - 1), 0);
    cr_expect_geq(probe_renamed_room_bytes(sizeof compiled - 1, &to_longer), sizeof longer - 1);
    cr_assert_eq(rename_to("n", out, sizeof out), sizeof shorter - 1);
    cr_expect_eq(memcmp(out, shorter, sizeof shorter - 1), 0);
}

Test(probe_renamed, without_room_or_what_is_sought_there_is_none)
{
    static const struct probe_renaming other = {"older", "newer"};
    uint8_t out[256];

    for (size_t room_bytes = 0; room_bytes < sizeof compiled - 1; room_bytes++)
        cr_expect_eq(rename_to("new", out, room_bytes), 0);
    cr_expect_eq(rename_to("new", out, sizeof compiled - 1), sizeof compiled - 1);
    cr_expect_eq(probe_renamed_class((const uint8_t *)compiled, sizeof compiled - 1, &other, out,
                                     sizeof out),
                 0);
}

Test(probe_renamed, what_ends_early_or_is_no_constant_is_refused)
{
    static const struct probe_renaming renaming = {"old", "new"};
    const size_t constants_bytes = sizeof compiled - sizeof REST;
    uint8_t out[256], wrong[sizeof compiled];

    for (size_t length_bytes = 0; length_bytes < constants_bytes; length_bytes++) {
        uint8_t *exact = malloc(length_bytes + 1);

        memcpy(exact, compiled, length_bytes);
        cr_expect_eq(probe_renamed_class(exact, length_bytes, &renaming, out, sizeof out), 0,
                     "%zu bytes", length_bytes);
        free(exact);
    }
    memcpy(wrong, compiled, sizeof compiled - 1);
    wrong[sizeof HEAD - 1] = 2; /* a tag that there is not */
    cr_expect_eq(probe_renamed_class(wrong, sizeof compiled - 1, &renaming, out, sizeof out), 0);
}
