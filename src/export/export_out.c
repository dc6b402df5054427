/* Buffered output and escaping. Context: dump, tool. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "export/export_internal.h"

static void export_flush(struct export_out *out)
{
    if (!out->has_failed && out->used_bytes > 0 &&
        !out->write(out->context, out->bytes, out->used_bytes, out->err))
        out->has_failed = true;
    out->used_bytes = 0;
}

void export_put_bytes(struct export_out *out, const char *bytes, size_t length_bytes)
{
    while (length_bytes > 0) {
        const size_t room_bytes = sizeof out->bytes - out->used_bytes;
        const size_t part_bytes = length_bytes < room_bytes ? length_bytes : room_bytes;

        memcpy(out->bytes + out->used_bytes, bytes, part_bytes);
        out->used_bytes += part_bytes;
        bytes += part_bytes;
        length_bytes -= part_bytes;
        if (out->used_bytes == sizeof out->bytes)
            export_flush(out);
    }
}

void export_put(struct export_out *out, const char *text)
{
    export_put_bytes(out, text, strlen(text));
}

void export_put_char(struct export_out *out, char character)
{
    export_put_bytes(out, &character, 1);
}

void export_put_number(struct export_out *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    export_put_bytes(out, digits + at, sizeof digits - at);
}

void export_put_grouped(struct export_out *out, uint64_t number)
{
    if (number >= 1000) {
        export_put_grouped(out, number / 1000);
        export_put_format(out, ",%03u", (unsigned)(number % 1000));
        return;
    }
    export_put_number(out, number);
}

void export_put_format(struct export_out *out, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        export_put_bytes(out, text,
                         (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static uint64_t export_rounded(uint64_t value, uint64_t divisor)
{
    const uint64_t rest = value % divisor;

    return value / divisor + (rest >= divisor - rest ? 1 : 0);
}

/*
 * By whole numbers: no locale, and no rounding up to 100 %. Nothing overflows: the whole is brought
 * below 2^49 first.
 */
void export_put_share(struct export_out *out, uint64_t part, uint64_t whole)
{
    if (part == whole && whole > 0) {
        export_put(out, "100 %");
        return;
    }
    while (whole >= 1ull << 49) {
        whole >>= 1;
        part >>= 1;
    }
    if (whole == 0 || part == 0) {
        export_put(out, "0 %");
        return;
    }

    const unsigned hundredths = (unsigned)export_rounded(part * 10000, whole);
    const unsigned tenths = (unsigned)export_rounded(part * 1000, whole);
    const unsigned shown = tenths >= 1000 && part < whole ? 999 : tenths;

    if (hundredths == 0)
        export_put(out, "< 0.01 %");
    else if (hundredths < 1000)
        export_put_format(out, "%u.%02u %%", hundredths / 100, hundredths % 100);
    else
        export_put_format(out, "%u.%u %%", shown / 10, shown % 10);
}

/* `value` divided by `divisor`, with three figures where there are that many. */
static void export_put_scaled(struct export_out *out, uint64_t value, uint64_t divisor,
                              const char *unit)
{
    const uint64_t whole = value / divisor;
    const uint64_t rest = value % divisor;

    const uint64_t hundredths =
        whole < 10 ? whole * 100 + export_rounded(rest * 100, divisor) : 1000;
    const uint64_t tenths = whole < 100 ? whole * 10 + export_rounded(rest * 10, divisor) : 1000;

    if (hundredths < 1000)
        export_put_format(out, "%u.%02u %s", (unsigned)(hundredths / 100),
                          (unsigned)(hundredths % 100), unit);
    else if (tenths < 1000)
        export_put_format(out, "%u.%u %s", (unsigned)(tenths / 10), (unsigned)(tenths % 10), unit);
    else
        export_put_format(out, "%" PRIu64 " %s", export_rounded(value, divisor), unit);
}

void export_put_value(struct export_out *out, uint64_t value, const char *unit)
{
    static const struct {
        const char *base;
        const char *unit;
        uint64_t divisor;
        uint64_t lower; /* divisor of the unit below */
    } scales[] = {
        {"ns", "s", 1000000000, 1000000},
        {"ns", "ms", 1000000, 1000},
        {"ns", "us", 1000, 1},
        {"bytes", "GiB", 1 << 30, 1 << 20},
        {"bytes", "MiB", 1 << 20, 1 << 10},
        {"bytes", "KiB", 1 << 10, 1},
    };

    for (size_t i = 0; i < JW_COUNT_OF(scales); i++) {
        /* 999.6 ms would round to 1000 ms: a second. */
        if (strcmp(scales[i].base, unit) == 0 && value >= scales[i].divisor - scales[i].lower / 2) {
            export_put_scaled(out, value, scales[i].divisor, scales[i].unit);
            return;
        }
    }
    export_put_grouped(out, value);
    export_put_char(out, ' ');
    export_put(out, unit);
}

static void export_put_reference(struct export_out *out, char character)
{
    switch (character) {
    case '&':
        export_put(out, "&amp;");
        return;
    case '<':
        export_put(out, "&lt;");
        return;
    case '>':
        export_put(out, "&gt;");
        return;
    case '"':
        export_put(out, "&quot;");
        return;
    case '\'':
        export_put(out, "&#39;");
        return;
    }
    export_put_char(out, character);
}

static void export_put_ascii(struct export_out *out, char character, enum export_escape escape)
{
    const bool is_control = (unsigned char)character < 0x20 || character == 0x7f;

    switch (escape) {
    case EXPORT_ESCAPE_LINE:
        export_put_char(out, is_control ? ' ' : character);
        return;
    case EXPORT_ESCAPE_COLLAPSED:
        export_put_char(out, is_control ? ' ' : character == ';' ? ':' : character);
        return;
    case EXPORT_ESCAPE_HTML:
        if (is_control)
            export_put_char(out, ' ');
        else
            export_put_reference(out, character);
        return;
    case EXPORT_ESCAPE_JSON:
        /* '<' too: "</script" and "<!--" end or change the element that the string stands in. */
        if (is_control || character == '"' || character == '\\' || character == '<')
            export_put_format(out, "\\u%04x", (unsigned)(unsigned char)character);
        else
            export_put_char(out, character);
        return;
    case EXPORT_ESCAPE_POOL:
        if (is_control)
            export_put_format(out, "\\x%02x", (unsigned)(unsigned char)character);
        else if (character == '\'' || character == '\\')
            export_put_format(out, "\\%c", character);
        else
            export_put_char(out, character);
        return;
    }
}

/* Could this '<' begin "</script", "<script" or "<!--"? Others stay readable: List<String>. */
static bool export_is_markup(const char *at)
{
    return at[0] == '<' && (at[1] == '/' || at[1] == '!' || (at[1] | 0x20) == 's');
}

/* Characters from 0x20 to 0x7e that some escape changes, or looks at what follows them. */
#define CHANGED(escape) (1u << (escape))
#define CHANGED_SCRIPT  (CHANGED(EXPORT_ESCAPE_JSON) | CHANGED(EXPORT_ESCAPE_POOL))
static const unsigned char export_changed[128] = {
    [';'] = CHANGED(EXPORT_ESCAPE_COLLAPSED),
    ['&'] = CHANGED(EXPORT_ESCAPE_HTML),
    ['<'] = CHANGED(EXPORT_ESCAPE_HTML) | CHANGED_SCRIPT,
    ['>'] = CHANGED(EXPORT_ESCAPE_HTML),
    ['"'] = CHANGED(EXPORT_ESCAPE_HTML) | CHANGED(EXPORT_ESCAPE_JSON),
    ['\''] = CHANGED(EXPORT_ESCAPE_HTML) | CHANGED(EXPORT_ESCAPE_POOL),
    ['\\'] = CHANGED_SCRIPT,
};

size_t export_plain_bytes(const char *text, size_t length_bytes, enum export_escape escape)
{
    size_t at = 0;

    while (at < length_bytes && text[at] >= 0x20 && text[at] < 0x7f &&
           (export_changed[(unsigned char)text[at]] & CHANGED(escape)) == 0)
        at++;
    return at;
}

void export_put_escaped(struct export_out *out, const char *text, enum export_escape escape)
{
    const bool is_script = escape == EXPORT_ESCAPE_JSON || escape == EXPORT_ESCAPE_POOL;
    size_t left_bytes = strlen(text);

    for (;;) {
        const size_t plain_bytes = export_plain_bytes(text, left_bytes, escape);

        export_put_bytes(out, text, plain_bytes);
        text += plain_bytes;
        left_bytes -= plain_bytes;
        if (left_bytes == 0)
            return;

        const size_t length_bytes = jw_utf8_length(text, left_bytes);
        const size_t step_bytes = length_bytes == 0 ? 1 : length_bytes;

        if (length_bytes == 0)
            export_put(out, JW_UTF8_REPLACEMENT);
        else if (escape == EXPORT_ESCAPE_POOL && export_is_markup(text))
            export_put(out, "\\x3c");
        else if (length_bytes == 1)
            export_put_ascii(out, text[0], escape);
        else if (is_script && memcmp(text, "\xe2\x80\xa8", 3) == 0)
            export_put(out, "\\u2028"); /* ends a line of a script in old browsers */
        else if (is_script && memcmp(text, "\xe2\x80\xa9", 3) == 0)
            export_put(out, "\\u2029");
        else if (length_bytes == 2 && text[0] == '\xc2' && (unsigned char)text[1] < 0xa0)
            export_put_char(out, ' '); /* C1 controls, some of which end lines */
        else
            export_put_bytes(out, text, length_bytes);
        text += step_bytes;
        left_bytes -= step_bytes;
    }
}

bool export_finish(struct export_out *out)
{
    export_flush(out);
    return !out->has_failed;
}

void export_text_add(struct export_text *text, const char *bytes, size_t length_bytes)
{
    const size_t wanted_bytes = text->length_bytes + length_bytes + 1;

    if (wanted_bytes > text->capacity_bytes) {
        const size_t capacity_bytes = wanted_bytes * 2;
        char *grown = jw_realloc(text->text, capacity_bytes);

        if (grown == NULL) {
            text->has_failed = true;
            return;
        }
        text->text = grown;
        text->capacity_bytes = capacity_bytes;
    }
    memcpy(text->text + text->length_bytes, bytes, length_bytes);
    text->length_bytes += length_bytes;
    text->text[text->length_bytes] = '\0';
}

void export_text_free(struct export_text *text)
{
    jw_free(text->text);
    *text = (struct export_text){0};
}
