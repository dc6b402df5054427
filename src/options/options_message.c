/* Texts about options: what is allowed, what was wrong; control, tool. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "options/options_internal.h"

/* "cpu (also ctimer), itimer" */
static void names_text(const struct options_name *names, char *text, size_t capacity_bytes)
{
    size_t used_bytes = 0;

    text[0] = '\0';
    for (; names->name != NULL && used_bytes < capacity_bytes; names++) {
        if (names->whose != NULL)
            continue;
        const int length_bytes =
            snprintf(text + used_bytes, capacity_bytes - used_bytes, "%s%s%s%s",
                     used_bytes == 0 || names->is_alias ? "" : ", ",
                     names->is_alias ? " (also " : "", names->name, names->is_alias ? ")" : "");
        used_bytes += (size_t)length_bytes;
    }
}

static const char *numbers_of(enum options_kind kind)
{
    switch (kind) {
    case OPTIONS_KIND_DURATION:
        return "a whole number with n, u, m or s after it (else nanoseconds)";
    case OPTIONS_KIND_PERIOD:
        return "a whole number with s, m, h or d after it (else seconds)";
    case OPTIONS_KIND_TIME:
        return "a whole number with s, m, h or d after it (else seconds), or a time of day "
               "HH:MM:SS";
    case OPTIONS_KIND_SIZE:
        return "a whole number with b, k, m or g after it (else bytes)";
    case OPTIONS_KIND_COUNT:
        return "a whole number";
    case OPTIONS_KIND_PERCENT:
        return "a percentage of at most 4 decimals";
    case OPTIONS_KIND_CHOICE:
    case OPTIONS_KIND_FLAG:
    case OPTIONS_KIND_ENUM:
    case OPTIONS_KIND_SET:
    case OPTIONS_KIND_FILE:
    case OPTIONS_KIND_PATH:
    case OPTIONS_KIND_TEXT:
    case OPTIONS_KIND_LIST:
        return "";
    }
    return "";
}

void options_allowed_text(const struct options_row *row, char *text, size_t capacity_bytes)
{
    char minimum[32];
    char maximum[32];

    if (options_is_numeric(row->kind)) {
        options_value_text(row, row->minimum, minimum, sizeof minimum);
        options_value_text(row, row->maximum, maximum, sizeof maximum);
        snprintf(text, capacity_bytes, "%s, from %s to %s%s", numbers_of(row->kind), minimum,
                 maximum, row->is_value_optional ? ", or none" : "");
    } else if (row->kind == OPTIONS_KIND_ENUM) {
        names_text(row->enum_names, text, capacity_bytes);
        if (row->takes_perf)
            strncat(text, ", or a counter", capacity_bytes - strlen(text) - 1);
    } else if (row->kind == OPTIONS_KIND_SET) {
        names_text(row->enum_names, text, capacity_bytes);
        strncat(text, "; several with + between them", capacity_bytes - strlen(text) - 1);
    } else if (row->kind == OPTIONS_KIND_CHOICE || row->kind == OPTIONS_KIND_FLAG) {
        snprintf(text, capacity_bytes, "no value");
    } else if (row->kind == OPTIONS_KIND_LIST) {
        snprintf(text, capacity_bytes, "%zu bytes in all, without control characters",
                 row->field_bytes - 2);
    } else {
        snprintf(text, capacity_bytes, "1 to %zu bytes without control characters%s",
                 row->field_bytes - 1,
                 row->kind == OPTIONS_KIND_FILE
                     ? "; of percent signs only %p, %t, %n, %n{MAX}, %{NAME} and %%; "
                       "not .svg"
                     : "");
    }
}

void options_quote(const char *text, size_t length_bytes, char *quoted, size_t capacity_bytes)
{
    static const char digits[] = "0123456789abcdef";
    static const char cut[] = "...";
    size_t used_bytes = 0;

    for (size_t i = 0; i < length_bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '\\';

        /* What comes next, at its longest, and the mark of a cut must still fit. */
        if (used_bytes + 4 + sizeof cut > capacity_bytes) {
            memcpy(quoted + used_bytes, cut, sizeof cut);
            return;
        }
        if (is_plain) {
            quoted[used_bytes++] = (char)byte;
            continue;
        }
        quoted[used_bytes++] = '\\';
        quoted[used_bytes++] = 'x';
        quoted[used_bytes++] = digits[byte >> 4];
        quoted[used_bytes++] = digits[byte & 15];
    }
    quoted[used_bytes] = '\0';
}

void options_add_message(struct options_messages *messages, const char *format, ...)
{
    va_list arguments;

    if (messages->count < OPTIONS_MESSAGES_KEPT) {
        va_start(arguments, format);
        vsnprintf(messages->texts[messages->count], OPTIONS_MESSAGE_BYTES, format, arguments);
        va_end(arguments);
    }
    messages->count++;
}

size_t options_messages_text(const struct options_messages *messages, const char *prefix,
                             char *text, size_t capacity_bytes)
{
    const uint32_t kept_count =
        messages->count < OPTIONS_MESSAGES_KEPT ? messages->count : OPTIONS_MESSAGES_KEPT;
    size_t used_bytes = 0;

    if (capacity_bytes == 0)
        return 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < kept_count && used_bytes < capacity_bytes; i++)
        used_bytes += (size_t)snprintf(text + used_bytes, capacity_bytes - used_bytes, "%s%s\n",
                                       prefix, messages->texts[i]);
    if (messages->count > kept_count && used_bytes < capacity_bytes)
        used_bytes +=
            (size_t)snprintf(text + used_bytes, capacity_bytes - used_bytes, "%sand %u more\n",
                             prefix, (unsigned)(messages->count - kept_count));
    return used_bytes < capacity_bytes ? used_bytes : capacity_bytes - 1;
}
