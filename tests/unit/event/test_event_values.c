/* Values of events of probes: what is put comes back, and bytes that make no sense are told and not read beyond. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_values.h"

TestSuite(event_values, .timeout = 1800);

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

/* ---- where texts are cut ---- */

static struct event_values put;

static const char *taken_back(void)
{
    static char text[EVENT_VALUES_TEXT_BYTES + 1];
    struct event_values_taker taker;
    size_t length;

    (void)event_values_taking(&taker, put.bytes, put.used_bytes);
    const char *bytes = event_values_take_text(&taker, &length);
    cr_assert(bytes != NULL && length < sizeof text && !taker.is_damaged && taker.left_bytes == 0);
    memcpy(text, bytes, length);
    text[length] = '\0';
    return text;
}

/* So many x, and that. */
static const char *behind(size_t count, const char *end)
{
    static char text[600];

    cr_assert(count + strlen(end) < sizeof text);
    memset(text, 'x', count);
    strcpy(text + count, end);
    return text;
}

static const char *text_put(const char *text)
{
    event_values_begin(&put, 1);
    event_values_put_text(&put, text, strlen(text));
    return taken_back();
}

static const char *class_put(const char *signature)
{
    event_values_begin(&put, 1);
    event_values_put_class(&put, signature);
    return taken_back();
}

/* So many x, and these. */
static const char *units_put(size_t count, const uint16_t *end, size_t end_count)
{
    uint16_t units[EVENT_VALUES_TEXT_BYTES + 8];

    cr_assert(count + end_count <= JW_COUNT_OF(units));
    for (size_t i = 0; i < count; i++)
        units[i] = 'x';
    memcpy(units + count, end, end_count * sizeof *end);
    event_values_begin(&put, 1);
    event_values_put_units(&put, units, count + end_count);
    return taken_back();
}

#define EURO      "\xe2\x82\xac"
#define AUML      "\xc3\xa4"
#define NOTE      "\xf0\x9f\x8e\xb5"
#define NOTE_HIGH "\xed\xa0\xbc" /* as the JVM has it: two surrogates of three bytes */
#define NOTE_LOW  "\xed\xbe\xb5"

static void expect(const char *is, size_t count, const char *end)
{
    cr_expect_str_eq(is, behind(count, end));
}

Test(event_values, a_text_of_200_bytes_is_whole_and_a_longer_one_is_cut_at_a_character)
{
    expect(text_put(behind(198, AUML)), 198, AUML);
    expect(text_put(behind(199, AUML)), 199, "");
    expect(text_put(behind(198, EURO)), 198, "");
    expect(text_put(behind(197, EURO "more")), 197, EURO);
    expect(text_put(behind(197, NOTE)), 197, "");
    expect(text_put(behind(194, NOTE_HIGH NOTE_LOW)), 194, NOTE_HIGH NOTE_LOW);
    for (size_t count = 195; count <= 199; count++)
        expect(text_put(behind(count, NOTE_HIGH NOTE_LOW "more")), count, "");
}

Test(event_values, units_are_cut_at_200_bytes_where_a_character_ends)
{
    static const uint16_t ascii[] = {'y', 'z'}, auml[] = {0xe4, 'z'}, euro[] = {0x20ac, 'z'},
                          note[] = {0xd83c, 0xdfb5, 'z'}, zero[] = {0, 'z'};

    expect(units_put(199, ascii, 1), 199, "y");
    expect(units_put(199, ascii, 2), 199, "y");
    expect(units_put(198, auml, 2), 198, AUML);
    expect(units_put(199, auml, 2), 199, "");
    expect(units_put(197, euro, 2), 197, EURO);
    expect(units_put(198, euro, 2), 198, "");
    expect(units_put(194, note, 3), 194, NOTE_HIGH NOTE_LOW);
    for (size_t count = 195; count <= 199; count++)
        expect(units_put(count, note, 3), count, "");
    expect(units_put(1, zero, 2), 1, "\xc0\x80z");
}

Test(event_values, a_class_of_any_length_is_one)
{
    char signature[700];

    cr_expect_str_eq(class_put("Lcom/acme/Shop;"), "com/acme/Shop");
    cr_expect_str_eq(class_put("[Lcom/acme/Shop;"), "[Lcom/acme/Shop;");
    cr_expect_str_eq(class_put("[[I"), "[[I");
    cr_expect_str_eq(class_put("I"), "I");
    snprintf(signature, sizeof signature, "L%s;", behind(199, AUML));
    expect(class_put(signature), 199, "");
    snprintf(signature, sizeof signature, "[L%s;", behind(197, ""));
    cr_expect_str_eq(class_put(signature), signature, "it has 200 bytes");
    snprintf(signature, sizeof signature, "[L%s;", behind(196, AUML AUML));
    cr_expect_eq(strncmp(class_put(signature), signature, 198), 0);
    cr_expect_str_eq(class_put(signature) + 198, ";");
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
