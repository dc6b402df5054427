/* The table, and the shapes of texts; any, dump, control, tool. */
#include "base/perf_event.h"

#include <string.h>

#include "base/ascii.h"

#define RAW_INTERVAL   1000u /* of the processor's own events: who knows how often they come */
#define RAW_MINIMUM    100u
#define RAW_DIGITS_MAX 16u

static const struct jw_perf_info infos[] = {
#define PERF(name, alias, type, config, interval, minimum, text)                                   \
    {name, alias, interval, minimum, text},
#include "base/perf_event.def"
#undef PERF
};

const struct jw_perf_info *jw_perf_at(size_t number)
{
    return number < JW_COUNT_OF(infos) ? &infos[number] : NULL;
}

static bool is_text(const char *text, size_t length_bytes, const char *name)
{
    return name != NULL && strlen(name) == length_bytes && memcmp(text, name, length_bytes) == 0;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(const char *text, size_t length_bytes)
{
    if (length_bytes == 0 || length_bytes > RAW_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length_bytes; i++) {
        const char byte = jw_ascii_lower(text[i]);

        if (!is_digit(byte) && (byte < 'a' || byte > 'f'))
            return false;
    }
    return true;
}

/* Without a digit it is a word: "read" is a function. */
static bool is_number(const char *text, size_t length_bytes)
{
    bool has_digit = false;

    for (size_t i = 0; i < length_bytes; i++)
        has_digit |= is_digit(text[i]);
    return has_digit && is_hex(text, length_bytes);
}

/* As C has them; `also`: further bytes that may stand in one. */
static bool is_identifier(const char *text, size_t length_bytes, const char *also)
{
    if (length_bytes == 0 || is_digit(text[0]))
        return false;
    for (size_t i = 0; i < length_bytes; i++) {
        const char byte = jw_ascii_lower(text[i]);

        if (byte != '_' && !is_digit(byte) && (byte < 'a' || byte > 'z') &&
            (byte == '\0' || strchr(also, byte) == NULL))
            return false;
    }
    return true;
}

/* Past "+0x..." at the end, if there is one. */
static size_t without_offset(const char *text, size_t length_bytes)
{
    const char *plus = memrchr(text, '+', length_bytes);
    const size_t at = plus == NULL ? length_bytes : (size_t)(plus - text);

    return plus != NULL && length_bytes - at > 3 && plus[1] == '0' && plus[2] == 'x' &&
                   is_hex(plus + 3, length_bytes - at - 3)
               ? at
               : length_bytes;
}

static bool is_kernel_place(const char *text, size_t length_bytes)
{
    return is_identifier(text, without_offset(text, length_bytes), ".");
}

/* It stands in quotes on the page of metrics, and in lines of the status. */
static bool is_quotable(const char *text, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f || text[i] == '"' || text[i] == '\\')
            return false;
    }
    return true;
}

static bool is_classes(const char *text, size_t length_bytes)
{
    return length_bytes != 0 && is_quotable(text, length_bytes);
}

/* "/path:symbol" or "/path+0xoff". */
static bool is_file_place(const char *text, size_t length_bytes)
{
    const size_t path_bytes = without_offset(text, length_bytes);
    const char *colon = memrchr(text, ':', length_bytes);

    if (length_bytes < 2 || text[0] != '/' || !is_quotable(text, length_bytes))
        return false;
    if (colon == NULL)
        return path_bytes < length_bytes && path_bytes > 1;
    const size_t symbol_bytes = length_bytes - (size_t)(colon + 1 - text);
    return colon - text > 1 &&
           is_identifier(colon + 1, without_offset(colon + 1, symbol_bytes), ".@$");
}

/* "CLASS.METHOD", with at least one dot. */
static bool is_method(const char *text, size_t length_bytes)
{
    const char *dot = memrchr(text, '.', length_bytes);

    for (size_t i = 0; i < length_bytes; i++) {
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f ||
            strchr(";#=!,:()[]\"\\", text[i]) != NULL)
            return false;
    }
    return dot != NULL && dot != text && dot != text + length_bytes - 1 && text[0] != '/' &&
           text[0] != '.' && !is_digit(text[0]) && length_bytes < JW_PERF_NAME_BYTES - 1;
}

static const struct {
    const char *begin;
    enum jw_perf_kind kind;
    bool (*is_place)(const char *text, size_t length_bytes);
} probes[] = {
    {"kprobe:", JW_PERF_KPROBE, is_kernel_place},
    {"kretprobe:", JW_PERF_KRETPROBE, is_kernel_place},
    {"uprobe:", JW_PERF_UPROBE, is_file_place},
    {"uretprobe:", JW_PERF_URETPROBE, is_file_place},
    {"exception:", JW_PERF_EXCEPTION, is_classes},
    {"new:", JW_PERF_NEW, is_classes},
};

enum jw_perf_kind jw_perf_kind_of(const char *text, size_t length_bytes, size_t *number)
{
    if (length_bytes == 0 || length_bytes >= JW_PERF_NAME_BYTES)
        return JW_PERF_NONE;
    for (size_t i = 0; i < JW_COUNT_OF(infos); i++) {
        if (!is_text(text, length_bytes, infos[i].name) &&
            !is_text(text, length_bytes, infos[i].alias))
            continue;
        if (number != NULL)
            *number = i;
        return JW_PERF_NAMED;
    }
    if (is_text(text, length_bytes, "exception"))
        return JW_PERF_EXCEPTION;
    if (is_text(text, length_bytes, "new"))
        return JW_PERF_NEW; /* of which classes is asked where patterns are looked at */
    if (text[0] == 'r' && is_number(text + 1, length_bytes - 1))
        return JW_PERF_RAW;
    for (size_t i = 0; i < JW_COUNT_OF(probes); i++) {
        const size_t begin_bytes = strlen(probes[i].begin);

        if (length_bytes > begin_bytes && memcmp(text, probes[i].begin, begin_bytes) == 0)
            return probes[i].is_place(text + begin_bytes, length_bytes - begin_bytes)
                       ? probes[i].kind
                       : JW_PERF_NONE;
    }
    const char *colon = memchr(text, ':', length_bytes);
    if (colon == NULL)
        return is_identifier(text, length_bytes, "") ? JW_PERF_FUNCTION
               : is_method(text, length_bytes)       ? JW_PERF_METHOD
                                                     : JW_PERF_NONE;
    return is_identifier(text, (size_t)(colon - text), "-") &&
                   is_identifier(colon + 1, length_bytes - (size_t)(colon + 1 - text), "-")
               ? JW_PERF_TRACEPOINT
               : JW_PERF_NONE;
}

uint64_t jw_perf_interval(const char *text, uint64_t *minimum)
{
    size_t number = 0;
    const enum jw_perf_kind kind = jw_perf_kind_of(text, strlen(text), &number);

    *minimum = kind == JW_PERF_NAMED ? infos[number].minimum
               : kind == JW_PERF_RAW ? RAW_MINIMUM
                                     : 1;
    return kind == JW_PERF_NAMED ? infos[number].interval : kind == JW_PERF_RAW ? RAW_INTERVAL : 1;
}

const char *jw_perf_unit(const char *text)
{
    size_t number = 0;

    switch (jw_perf_kind_of(text, strlen(text), &number)) {
    case JW_PERF_NAMED:
        return infos[number].name;
    case JW_PERF_METHOD:
        return "calls";
    case JW_PERF_EXCEPTION:
        return "exceptions";
    case JW_PERF_NEW:
        return "objects";
    case JW_PERF_NONE:
    case JW_PERF_RAW:
    case JW_PERF_TRACEPOINT:
    case JW_PERF_KPROBE:
    case JW_PERF_KRETPROBE:
    case JW_PERF_UPROBE:
    case JW_PERF_URETPROBE:
    case JW_PERF_FUNCTION:
        break;
    }
    return "events";
}
