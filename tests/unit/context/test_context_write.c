/* The owner's writes: attributes come, change and go, and never reach beyond the slot. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "context/context_internal.h"

static context_slot slot;

static void open_all(void)
{
    struct jw_error err = {0};
    char name[16];

    cr_assert(contexts_open(&err), "%s", err.message);
    for (int i = 0; i < (int)CONTEXT_ATTRIBUTES_MAX - 1; i++) {
        const int length = snprintf(name, sizeof name, "name.%d", i);

        cr_assert(eq(int, context_attribute(name, (size_t)length, &err), i));
    }
    slot = context_bind(7, false);
}

TestSuite(context_write, .init = open_all, .timeout = 1800);

static bool holds(const char *bytes, size_t length_bytes)
{
    const struct context_place *place = context_place_of(slot);

    return place->valid == 1 && place->attributes_bytes == length_bytes &&
           memcmp(place->attributes, bytes, length_bytes) == 0;
}

Test(context_write, an_attribute_set_again_has_one_value)
{
    cr_assert(context_attribute_set(slot, 3, "one", 3));
    cr_assert(context_attribute_set(slot, 4, "two", 3));
    cr_assert(context_attribute_set(slot, 3, "three", 5));
    cr_assert(holds("\4\3two\3\5three", 12));
    context_attribute_clear(slot, 4);
    cr_assert(holds("\3\5three", 7));
    context_attribute_clear(slot, 4);
    context_attribute_clear(slot, 3);
    cr_assert(holds("", 0));
}

Test(context_write, a_value_of_no_bytes_is_kept_as_such)
{
    cr_assert(context_attribute_set(slot, 0, NULL, 0));
    cr_assert(holds("\0\0", 2));
}

Test(context_write, what_there_is_not_is_refused_and_changes_nothing)
{
    static const char text[CONTEXT_VALUE_MAX_BYTES + 1];

    cr_assert(context_attribute_set(slot, 0, "one", 3));
    cr_assert(not(context_attribute_set(slot, CONTEXT_ATTRIBUTES_MAX - 1, "x", 1)), "has no name");
    cr_assert(not(context_attribute_set(slot, 1000, "x", 1)));
    cr_assert(not(context_attribute_set(slot, 1, text, sizeof text)));
    cr_assert(not(context_attribute_set(CONTEXT_NO_SLOT, 1, "x", 1)));
    context_attribute_clear(CONTEXT_NO_SLOT, 1);
    cr_assert(holds("\0\3one", 5));
}

Test(context_write, what_does_not_fit_beside_the_others_is_refused)
{
    static const char text[CONTEXT_VALUE_MAX_BYTES];

    cr_assert(context_attribute_set(slot, 0, text, 255));
    cr_assert(context_attribute_set(slot, 1, text, 255));
    cr_assert(not(context_attribute_set(slot, 2, text, 97)));
    cr_assert(context_attribute_set(slot, 2, text, 96));
    cr_assert(eq(u16, context_place_of(slot)->attributes_bytes, CONTEXT_ATTRIBUTES_BYTES));
    cr_assert(context_attribute_set(slot, 1, text, 255), "in place of the value that it had");
    cr_assert(not(context_attribute_set(slot, 3, NULL, 0)));
}

Test(context_write, bytes_of_another_writer_do_no_harm)
{
    struct context_place *place = context_place_of(slot);

    memset(place->attributes, 0xff, sizeof place->attributes);
    place->attributes_bytes = UINT16_MAX;
    cr_assert(context_attribute_set(slot, 0, "one", 3));
    cr_assert(holds("\0\3one", 5));
    place->attributes[1] = 200;
    cr_assert(context_attribute_set(slot, 1, "two", 3));
    cr_assert(holds("\1\3two", 5));
}

Test(context_write, clear_takes_everything)
{
    context_set(slot, &(struct context_ids){1, 2, 3, 4});
    cr_assert(context_attribute_set(slot, 0, "one", 3));
    context_set(slot, &(struct context_ids){1, 2, 5, 4});
    cr_assert(holds("\0\3one", 5));
    context_clear(slot);
    cr_assert(holds("", 0));
    cr_assert(eq(u64, context_place_of(slot)->root_span_id, 0));
    cr_assert(eq(u8, context_place_of(slot)->span_id[7], 0));
}
