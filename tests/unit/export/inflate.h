/*
 * Unpacks what a page's column holds: raw deflate in base64. Where there is no libdeflate nothing is packed, and nobody comes here.
 */
#ifndef JW_TESTS_UNIT_EXPORT_INFLATE_H
#define JW_TESTS_UNIT_EXPORT_INFLATE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/jw.h"

#define INFLATED_BYTES_MAX ((size_t)16 << 20)

#if __has_include(<libdeflate.h>)
#include <libdeflate.h>

static unsigned char *inflate_all(const unsigned char *bytes, size_t length, size_t *out_length)
{
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    unsigned char *out = malloc(INFLATED_BYTES_MAX);

    cr_assert(decompressor != NULL && out != NULL);
    cr_assert_eq(libdeflate_deflate_decompress(decompressor, bytes, length, out, INFLATED_BYTES_MAX,
                                               out_length),
                 LIBDEFLATE_SUCCESS);
    libdeflate_free_decompressor(decompressor);
    return out;
}
#else
static unsigned char *inflate_all(const unsigned char *bytes, size_t length, size_t *out_length)
{
    (void)bytes;
    (void)length;
    *out_length = 0;
    return NULL;
}
#endif

static unsigned char *inflate_64(const char *text, size_t length, size_t *out_length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *bytes = malloc(length + 1);
    size_t used = 0;

    cr_assert(length % 4 == 0, "no whole groups");
    for (size_t i = 0; i < length; i += 4) {
        uint32_t group = 0;
        unsigned missing = 0;

        for (size_t n = 0; n < 4; n++) {
            const char *digit = text[i + n] == '=' ? digits : strchr(digits, text[i + n]);

            missing += text[i + n] == '=';
            cr_assert_not_null(digit);
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (unsigned n = 0; n < 3 - missing; n++)
            bytes[used++] = (unsigned char)(group >> (16 - 8 * n));
    }

    unsigned char *out = inflate_all(bytes, used, out_length);
    free(bytes);
    return out;
}

#endif
