/* Values of events of probes: what is put comes back, and bytes that make no sense are told and not read beyond. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_values.h"

TestSuite(event_values, .timeout = 60);

Test(event_values, what_is_put_comes_back_in_its_order)
{
    const struct event_values_thread platform = {.index = 0, .serial = 7};
    const struct event_values_thread virtual_one = {.virtual_number = 90};
    struct event_values values;
    struct event_values_taker taker;
    size_t length;

    event_values_begin(&values, 5);
    event_values_put_number(&values, INT64_MIN);
    event_values_put_text(&values, "bob", 3);
    event_values_put_text(&values, NULL, 0);
    event_values_put_text(&values, "", 0);
    event_values_put_thread(&values, &platform);
    event_values_put_thread(&values, &virtual_one);
    event_values_put_thread(&values, &(struct event_values_thread){.is_none = true});

    cr_expect_eq(event_values_taking(&taker, values.bytes, values.used_bytes), 5);
    cr_expect_eq(event_values_take_number(&taker), INT64_MIN);
    const char *text = event_values_take_text(&taker, &length);
    cr_expect(length == 3 && memcmp(text, "bob", 3) == 0);
    cr_expect_null(event_values_take_text(&taker, &length));
    cr_expect(event_values_take_text(&taker, &length) != NULL && length == 0);
    struct event_values_thread thread = event_values_take_thread(&taker);
    cr_expect(!thread.is_none && thread.index == 0 && thread.serial == 7 &&
              thread.virtual_number == 0);
    thread = event_values_take_thread(&taker);
    cr_expect(!thread.is_none && thread.virtual_number == 90);
    cr_expect(event_values_take_thread(&taker).is_none);
    cr_expect(!taker.is_damaged && taker.left_bytes == 0);
}

Test(event_values, the_longest_event_fits_and_longer_texts_are_cut)
{
    char text[EVENT_VALUES_TEXT_BYTES + 50];
    struct event_values values;
    struct event_values_taker taker;
    size_t length;

    memset(text, 'x', sizeof text);
    event_values_begin(&values, 1);
    for (int i = 0; i < 8; i++) {
        event_values_put_number(&values, i);
        event_values_put_text(&values, text, sizeof text);
    }
    (void)event_values_taking(&taker, values.bytes, values.used_bytes);
    for (int i = 0; i < 8; i++) {
        cr_expect_eq(event_values_take_number(&taker), i);
        cr_expect(event_values_take_text(&taker, &length) != NULL &&
                  length == EVENT_VALUES_TEXT_BYTES);
    }
    cr_expect(!taker.is_damaged && taker.left_bytes == 0);
}

Test(event_values, bytes_that_are_cut_are_told_and_nothing_is_read_behind_them)
{
    struct event_values values;
    struct event_values_taker taker;
    size_t length;

    event_values_begin(&values, 1);
    event_values_put_number(&values, 3);
    event_values_put_text(&values, "bob", 3);
    event_values_put_thread(&values, &(struct event_values_thread){.serial = 2});
    for (size_t cut = 0; cut < values.used_bytes; cut++) {
        unsigned char *bytes = malloc(cut == 0 ? 1 : cut); /* a sanitizer sees what lies behind */

        memcpy(bytes, values.bytes, cut);
        (void)event_values_taking(&taker, bytes, cut);
        (void)event_values_take_number(&taker);
        (void)event_values_take_text(&taker, &length);
        (void)event_values_take_thread(&taker);
        cr_expect(taker.is_damaged, "%zu bytes", cut);
        free(bytes);
    }
}
