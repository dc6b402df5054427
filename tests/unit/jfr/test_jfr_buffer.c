/* Encodings, byte by byte. */
#include <criterion/criterion.h>
#include <string.h>

#include "jfr/jfr_buffer.h"

static struct jfr_buffer buffer;

static void close_buffer(void)
{
    jw_alloc_fail_after(0);
    jfr_buffer_close(&buffer);
}

TestSuite(jfr_buffer, .fini = close_buffer, .timeout = 1800);

#define EXPECT_BYTES(...)                                                                          \
    do {                                                                                           \
        const unsigned char wanted[] = {__VA_ARGS__};                                              \
        cr_expect_eq(buffer.used_bytes, sizeof wanted, "%zu bytes", buffer.used_bytes);            \
        cr_expect_arr_eq(buffer.bytes, wanted, sizeof wanted);                                     \
        jfr_buffer_clear(&buffer);                                                                 \
    } while (0)

Test(jfr_buffer, varints_take_seven_bits_a_byte_and_eight_in_the_ninth)
{
    jfr_put_varint(&buffer, 0);
    EXPECT_BYTES(0);
    jfr_put_varint(&buffer, 127);
    EXPECT_BYTES(0x7f);
    jfr_put_varint(&buffer, 128);
    EXPECT_BYTES(0x80, 0x01);
    jfr_put_varint(&buffer, 16384);
    EXPECT_BYTES(0x80, 0x80, 0x01);
    jfr_put_varint(&buffer, UINT64_MAX);
    EXPECT_BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
    jfr_put_varint(&buffer, 1ull << 56);
    EXPECT_BYTES(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
    jfr_put_varint(&buffer, (1ull << 56) - 1);
    EXPECT_BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
}

Test(jfr_buffer, negative_ints_are_not_extended_and_negative_longs_are)
{
    jfr_put_int(&buffer, -1);
    EXPECT_BYTES(0xff, 0xff, 0xff, 0xff, 0x0f);
    jfr_put_long(&buffer, -1);
    EXPECT_BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
    jfr_put_long(&buffer, INT64_MAX);
    EXPECT_BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
}

Test(jfr_buffer, padded_varints_have_the_length_asked_for)
{
    unsigned char five[5];
    const unsigned char wanted[] = {0x85, 0x80, 0x80, 0x80, 0x00};

    jfr_store_padded_varint(five, 5, sizeof five);
    cr_expect_arr_eq(five, wanted, sizeof wanted);
}

Test(jfr_buffer, floats_are_big_endian)
{
    jfr_put_float(&buffer, 0.5f);
    EXPECT_BYTES(0x3f, 0x00, 0x00, 0x00);
}

Test(jfr_buffer, null_empty_and_text_have_encodings_of_their_own)
{
    jfr_put_string(&buffer, NULL);
    EXPECT_BYTES(0);
    jfr_put_string(&buffer, "");
    EXPECT_BYTES(1);
    jfr_put_string(&buffer, "\xc3\xa9");
    EXPECT_BYTES(3, 2, 0xc3, 0xa9);
}

static void expect_clean(const char *in, size_t length_bytes, const char *wanted)
{
    char out[64];
    const size_t out_bytes = jfr_clean_utf8(in, length_bytes, out);

    cr_expect_eq(out_bytes, strlen(wanted), "%zu bytes", out_bytes);
    cr_expect_arr_eq(out, wanted, strlen(wanted));
    cr_expect_eq(jfr_clean_utf8(in, length_bytes, NULL), out_bytes);
}

Test(jfr_buffer, modified_utf8_becomes_plain)
{
    jfr_put_text(&buffer, "a\xc0\x80", 3);
    EXPECT_BYTES(3, 2, 'a', 0);
    expect_clean("x\xed\xa0\xbd\xed\xb8\x80y", 8, "x\xf0\x9f\x98\x80y");
    expect_clean("\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80");
}

Test(jfr_buffer, what_is_no_text_becomes_replacement_characters)
{
    expect_clean("\xff", 1, "\xef\xbf\xbd");
    expect_clean("a\x80z", 3, "a\xef\xbf\xbdz");
    expect_clean("\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd");
    expect_clean("\xed\xa0\xbd!", 4, "\xef\xbf\xbd!"); /* a high surrogate alone */
    expect_clean("\xed\xb8\x80", 3, "\xef\xbf\xbd");   /* a low one */
    expect_clean("\xed\xa0\xbd\xed\xa0\xbd", 6, "\xef\xbf\xbd\xef\xbf\xbd"); /* two high ones */
    expect_clean("\xed\xa0", 2, "\xef\xbf\xbd\xef\xbf\xbd");
}

Test(jfr_buffer, the_size_of_an_event_counts_itself)
{
    const size_t begin = jfr_event_begin(&buffer, 7);

    jfr_put_u8(&buffer, 9);
    jfr_event_end(&buffer, begin);
    EXPECT_BYTES(3, 7, 9);
}

Test(jfr_buffer, m55_the_size_of_an_event_grows_when_one_byte_is_too_small)
{
    static const size_t payloads[] = {125, 126, 127, 16380, 16381, 16382, 100000};
    unsigned char *zeroes = jw_alloc(100000);

    for (size_t i = 0; i < JW_COUNT_OF(payloads); i++) {
        jfr_put_u8(&buffer, 0x55);
        const size_t begin = jfr_event_begin(&buffer, 7);
        jfr_put_bytes(&buffer, zeroes, payloads[i]);
        jfr_event_end(&buffer, begin);

        size_t size = 0;
        size_t at = 1;
        for (unsigned shift = 0;; shift += 7) {
            size |= (size_t)(buffer.bytes[at] & 0x7f) << shift;
            if (buffer.bytes[at++] < 0x80)
                break;
        }
        cr_expect_eq(size, buffer.used_bytes - 1, "payload of %zu", payloads[i]);
        cr_expect_eq(buffer.bytes[at], 7);
        cr_expect_eq(buffer.used_bytes - at - 1, payloads[i]);
        jfr_buffer_clear(&buffer);
    }
    jw_free(zeroes);
}

Test(jfr_buffer, m55_out_of_memory_marks_the_buffer_and_adds_nothing)
{
    jw_alloc_fail_after(1);
    jfr_put_varint(&buffer, 1);
    jfr_put_string(&buffer, "text");
    jfr_event_end(&buffer, jfr_event_begin(&buffer, 3));
    cr_expect(buffer.has_failed);
    cr_expect_eq(buffer.used_bytes, 0);
    jw_alloc_fail_after(0);
    jfr_put_varint(&buffer, 1);
    cr_expect_eq(buffer.used_bytes, 0, "failure is sticky");
    jfr_buffer_clear(&buffer);
    jfr_put_varint(&buffer, 1);
    cr_expect(!buffer.has_failed);
    cr_expect_eq(buffer.used_bytes, 1);
}
