/* The class that asks for the carrier of a virtual thread, made of the one that asks for the thread. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/jw.h"
#include "probe/probe_carrier.h"

TestSuite(probe_carrier, .timeout = 300);

static const char compiled[] = "head\x01\x00\x0d"
                               "currentThread\x01\x00\x03()Vtail";
static const char made[] = "head\x01\x00\x14"
                           "currentCarrierThread\x01\x00\x03()Vtail";

Test(probe_carrier, one_constant_is_another_and_the_rest_as_it_was)
{
    uint8_t out[sizeof made];

    cr_assert_eq(
        probe_carrier_class((const uint8_t *)compiled, sizeof compiled - 1, out, sizeof made - 1),
        sizeof made - 1);
    cr_expect_eq(memcmp(out, made, sizeof made - 1), 0);
}

Test(probe_carrier, without_room_or_the_constant_there_is_none)
{
    static const char other[] = "head\x01\x00\x0e"
                                "currentThreads\x01\x00\x03()Vtail";
    uint8_t out[sizeof made];

    cr_expect_eq(
        probe_carrier_class((const uint8_t *)compiled, sizeof compiled - 1, out, sizeof made - 2),
        0);
    cr_expect_eq(probe_carrier_class((const uint8_t *)other, sizeof other - 1, out, sizeof out), 0);
    cr_expect_eq(probe_carrier_class((const uint8_t *)compiled, 10, out, sizeof out), 0);
}
