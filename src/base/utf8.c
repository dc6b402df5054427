/* UTF-8, checked and written. Source: RFC 3629, section 4. Context: any, dump, tool. */
#include "base/utf8.h"

#include <string.h>

size_t jw_utf8_length(const char *bytes, size_t left_bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;

    if (left_bytes == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;

    const size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || left_bytes < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    /* The second byte rules out overlong forms, surrogates and what lies beyond U+10FFFF. */
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

size_t jw_utf8_put(char out[4], uint32_t code_point)
{
    if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff)) {
        memcpy(out, JW_UTF8_REPLACEMENT, 3);
        return 3;
    }
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }

    const size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code_point & 0x3f));
        code_point >>= 6;
    }
    out[0] = (char)(first[length] | code_point);
    return length;
}
