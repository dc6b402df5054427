/* Types of events that probes declare: each has a name of its own, and is known again. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "agent/probe_events.h"

TestSuite(probe_types, .timeout = 1800);

static struct jw_error err;

/* The type that an event of that name and label has; a label that changes is a change of the event. */
static const char *declared(const char *name, const char *label)
{
    const struct probe probe = {.name = "till"};
    const struct probe_event event = {.name = name, .label = label, .description = ""};
    const uint32_t number = probe_events_calls.declare(&probe, &event, &err);

    cr_assert_neq(number, 0, "%s", err.message);
    return probe_events_calls.figures(number).type_name;
}

static void expect_all_apart(uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++) {
        for (uint32_t j = 1; j < i; j++)
            cr_expect_str_neq(probe_events_calls.figures(i).type_name,
                              probe_events_calls.figures(j).type_name);
    }
}

Test(probe_types, an_event_that_was_changed_gets_a_number_and_an_equal_one_is_the_same)
{
    cr_expect_str_eq(declared("Sale", "one"), "jaywalk.probe.Sale");
    cr_expect_str_eq(declared("Sale", "two"), "jaywalk.probe.Sale_2");
    cr_expect_str_eq(declared("Sale", "three"), "jaywalk.probe.Sale_3");
    cr_expect_str_eq(declared("Sale", "one"), "jaywalk.probe.Sale");
    cr_expect_str_eq(declared("Sale", "two"), "jaywalk.probe.Sale_2");
}

Test(probe_types, a_made_name_is_none_that_another_event_has)
{
    (void)declared("Sale", "one");
    cr_expect_str_eq(declared("Sale_2", "one"), "jaywalk.probe.Sale_2");
    cr_expect_str_eq(declared("Sale", "two"), "jaywalk.probe.Sale_3");
    expect_all_apart(3);
}

Test(probe_types, a_name_that_was_made_is_no_longer_free)
{
    (void)declared("Sale", "one");
    cr_expect_str_eq(declared("Sale", "two"), "jaywalk.probe.Sale_2");
    cr_expect_str_eq(declared("Sale_2", "one"), "jaywalk.probe.Sale_2_2");
    expect_all_apart(3);
}

Test(probe_types, long_names_that_end_in_different_ways_stay_apart)
{
    char name[PROBE_EVENT_NAME_BYTES], label[16];
    uint32_t count = 0;

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (char last = 'a'; last <= 'f'; last++) {
        name[sizeof name - 2] = last;
        for (unsigned i = 0; i < 12; i++, count++) {
            snprintf(label, sizeof label, "%u", i);
            cr_expect(strncmp(declared(name, label), JFR_DECLARED_PREFIX "xxx", 17) == 0);
        }
    }
    expect_all_apart(count);
}

Test(probe_types, a_chunk_has_each_of_them_and_for_a_while_those_that_were_released)
{
    static const char *const names[] = {"jaywalk.probe.Sale", "jaywalk.probe.Sale_2",
                                        "jaywalk.probe.Failed"};
    struct jfr_declared one = {.number = 0};
    uint32_t count = 0;

    (void)declared("Sale", "one");
    (void)declared("Sale", "two");
    (void)declared("Failed", "");
    probe_events_calls.release(1);
    probe_events_calls.release(3);
    for (uint32_t after = 0; probe_events_ask(NULL, after, &one); after = one.number, count++) {
        cr_assert(count < JW_COUNT_OF(names));
        cr_expect_str_eq(one.name, names[count]);
        cr_expect_eq(one.number, count + 1);
    }
    cr_expect_eq(count, 3);
}
