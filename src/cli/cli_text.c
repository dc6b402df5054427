/* Texts for people and programs: numbers, shares, columns, paragraphs, strings of JSON. Context: tool. */
#include "cli/cli_text_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

#define CLI_CUT "..."

size_t cli_text_width(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Where the code point with this number begins. */
static const char *code_point_at(const char *text, size_t number)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80 && number-- == 0)
            break;
    }
    return text;
}

void cli_text_clean(const char *text, char out[CLI_CELL_BYTES])
{
    const size_t length = strlen(text);
    const size_t limit = CLI_CELL_BYTES - sizeof CLI_CUT - 8;
    size_t used = 0;

    for (size_t at = 0; at < length;) {
        size_t step = jw_utf8_length(text + at, length - at);
        const unsigned char byte = (unsigned char)text[at];
        const bool is_c1 = byte == 0xc2 && (unsigned char)text[at + 1] < 0xa0;

        if (used >= limit / 2 && length - at > limit / 2) {
            memcpy(out + used, CLI_CUT, sizeof CLI_CUT - 1);
            used += sizeof CLI_CUT - 1;
            at = length - limit / 2 + 8;
            while (at < length && ((unsigned char)text[at] & 0xc0) == 0x80)
                at++;
            continue;
        }
        if (step == 0 || byte < 0x20 || byte == 0x7f || is_c1) {
            out[used++] = step == 0 ? '?' : ' ';
            at += step == 0 ? 1 : step;
            continue;
        }
        for (; step > 0; step--)
            out[used++] = text[at++];
    }
    out[used] = '\0';
}

void cli_text_put_cell(const char *text, size_t columns, bool is_last, FILE *to)
{
    const size_t width = cli_text_width(text);

    if (columns == 0 || width <= columns) {
        fputs(text, to);
        for (size_t i = width; !is_last && i < columns + CLI_GAP; i++)
            fputc(' ', to);
        return;
    }

    const size_t kept = columns > sizeof CLI_CUT ? columns - (sizeof CLI_CUT - 1) : 1;
    const char *head_end = code_point_at(text, kept - kept / 2);
    fprintf(to, "%.*s" CLI_CUT "%s", (int)(head_end - text), text,
            code_point_at(text, width - kept / 2));
    if (!is_last)
        fprintf(to, "%*s", CLI_GAP, "");
}

void cli_text_digits(uint64_t number, char out[32])
{
    char digits[24];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

void cli_text_share(uint64_t part, uint64_t all, char out[CLI_SHARE_BYTES])
{
    const double exact = all == 0 ? 0 : (double)part * 10000.0 / (double)all + 0.5;
    const unsigned rounded = (unsigned)exact;
    const unsigned hundredths = rounded >= 10000 && part < all ? 9999 : rounded;

    snprintf(out, CLI_SHARE_BYTES, "%3u.%02u %%", hundredths / 100, hundredths % 100);
}

void cli_text_put_wrapped(const char *text, int column, FILE *to)
{
    int at = column;

    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");

        if (at > column && at + 1 + length > CLI_TEXT_COLUMNS) {
            fprintf(to, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(to, "%s%.*s", at > column ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

void cli_text_class(const char *name, char out[CLI_CELL_BYTES])
{
    static const char kinds[] = "BCDFIJSZ";
    static const char *const words[] = {"byte", "char", "double", "float",
                                        "int",  "long", "short",  "boolean"};
    size_t depth = 0, used;

    while (name[depth] == '[')
        depth++;
    const char *element = name + depth;
    const size_t length = strlen(element);
    const char *kind = depth == 0 || length != 1 ? NULL : strchr(kinds, element[0]);
    if (depth > 0 && element[0] == 'L' && length > 2)
        snprintf(out, CLI_CELL_BYTES, "%.*s", (int)(length - 2 < 900 ? length - 2 : 900),
                 element + 1);
    else
        snprintf(out, CLI_CELL_BYTES, "%.900s", kind == NULL ? element : words[kind - kinds]);
    for (char *at = strchr(out, '/'); at != NULL; at = strchr(at, '/'))
        *at = '.';
    for (used = strlen(out); depth > 0 && used + 3 < CLI_CELL_BYTES; depth--, used += 2)
        memcpy(out + used, "[]", 3);
}

void cli_text_json(const char *text, FILE *to)
{
    size_t left = strlen(text);

    fputc('"', to);
    while (left > 0) {
        const size_t step = jw_utf8_length(text, left);
        const unsigned char byte = (unsigned char)*text;

        if (step == 0)
            fputs("\\ufffd", to);
        else if (byte == '"' || byte == '\\')
            fprintf(to, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f || (step == 1 && strchr("<>&", byte) != NULL))
            fprintf(to, "\\u%04x", byte);
        else if (step == 2 && byte == 0xc2 && (unsigned char)text[1] < 0xa0)
            fprintf(to, "\\u%04x", (unsigned char)text[1]);
        else
            fprintf(to, "%.*s", (int)step, text);
        text += step == 0 ? 1 : step;
        left -= step == 0 ? 1 : step;
    }
    fputc('"', to);
}
