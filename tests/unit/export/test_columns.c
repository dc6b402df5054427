/* Columns of the explorer page: packed, and unpacked by another reader. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/export_columns_internal.h"
#include "unit/export/inflate.h"

TestSuite(columns, .timeout = 1800);

static struct jw_error err;

static bool collect(void *context, const void *bytes, size_t length_bytes, struct jw_error *error)
{
    (void)error;
    return fwrite(bytes, 1, length_bytes, context) == length_bytes;
}

static void expect_packed(const unsigned char *bytes, size_t length, size_t most)
{
    struct export_out *out = jw_alloc(sizeof *out);
    char *text = NULL;
    size_t text_bytes, unpacked_bytes;
    FILE *to = open_memstream(&text, &text_bytes);

    *out = (struct export_out){.write = collect, .context = to, .err = &err};
    cr_assert(export_put_deflated(out, bytes, length) && export_finish(out));
    fclose(to);
    cr_expect(text_bytes <= most, "%zu bytes became %zu", length, text_bytes);

    unsigned char *unpacked = inflate_64(text, text_bytes, &unpacked_bytes);
    cr_expect(unpacked_bytes == length && (length == 0 || memcmp(unpacked, bytes, length) == 0));
    free(unpacked);
    free(text);
    export_out_free(out);
}

Test(columns, deflate_gives_every_byte_back)
{
    enum { LENGTH = 300000 };
    unsigned char *bytes = calloc(1, LENGTH);
    uint32_t state = 7;

    if (!export_can_pack())
        cr_skip_test("not run: this compiler links no libdeflate");
    expect_packed(bytes, 0, 100);
    expect_packed((const unsigned char *)"a", 1, 120);
    expect_packed((const unsigned char *)"abcabcabcabc", 12, 140);
    expect_packed(bytes, LENGTH, 700); /* zeros: matches of the longest kind */
    for (int i = 0; i < LENGTH; i++)   /* noise: nothing to gain, little to lose */
        bytes[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    expect_packed(bytes, LENGTH, LENGTH * 4 / 3 + 2000);
    for (int i = 0; i < LENGTH; i++) /* repeats from everywhere in the window, and beyond */
        bytes[i] = i % 40000 < 33000 ? bytes[i % 33000] : (unsigned char)(i % 7);
    expect_packed(bytes, LENGTH, LENGTH * 4 / 3);
    for (int i = 0, symbol = 0, left = 1; i < LENGTH;
         i++) { /* counts like 1, 2, 4 ...: a lopsided code */
        bytes[i] = (unsigned char)symbol;
        if (--left == 0 && symbol < 17)
            left = 1 << ++symbol;
    }
    expect_packed(bytes, LENGTH, LENGTH);
    free(bytes);
}
