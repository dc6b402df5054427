/* Reads numbers with units; control, tool. No strtol: it knows signs, blanks, octal and locales. */
#include "options/options_value.h"

#include <string.h>

#include "base/clock.h"
#include "options/options.h"

struct unit {
    const char *name; /* lower case */
    uint64_t factor;
};

static const struct unit duration_units[] = {
    {"", 1},
    {"n", 1},
    {"ns", 1},
    {"u", 1000},
    {"us", 1000},
    {"m", JW_NS_PER_MS},
    {"ms", JW_NS_PER_MS},
    {"s", JW_NS_PER_SECOND},
};

static const struct unit period_units[] = {
    {"", JW_NS_PER_SECOND},         {"s", JW_NS_PER_SECOND},         {"m", 60 * JW_NS_PER_SECOND},
    {"h", 3600 * JW_NS_PER_SECOND}, {"d", 86400 * JW_NS_PER_SECOND},
};

static const struct unit size_units[] = {
    {"", 1},        {"b", 1},        {"k", 1 << 10}, {"kb", 1 << 10},
    {"m", 1 << 20}, {"mb", 1 << 20}, {"g", 1 << 30}, {"gb", 1 << 30},
};

static const struct unit count_units[] = {{"", 1}};

const char *options_value_status_text(enum options_value_status status)
{
    switch (status) {
    case OPTIONS_VALUE_OK:
        return "is fine";
    case OPTIONS_VALUE_EMPTY:
        return "has no value";
    case OPTIONS_VALUE_NEGATIVE:
        return "is negative";
    case OPTIONS_VALUE_NO_NUMBER:
        return "is not a number";
    case OPTIONS_VALUE_BAD_UNIT:
        return "has something after its number that is no unit here";
    case OPTIONS_VALUE_OVERFLOW:
        return "is too large to be held";
    }
    return "";
}

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

/* Value of a digit in either case, 16 for what is none. */
static unsigned digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return (unsigned)(byte - '0');
    byte = lower(byte);
    return byte >= 'a' && byte <= 'f' ? (unsigned)(byte - 'a' + 10) : 16;
}

/* Takes digits off the front; their count is in `digit_count`. */
static enum options_value_status read_digits(const char *text, size_t length_bytes, unsigned base,
                                             uint64_t *number, size_t *digit_count)
{
    size_t at = 0;

    *number = 0;
    for (; at < length_bytes && digit_of(text[at]) < base; at++) {
        if (__builtin_mul_overflow(*number, base, number) ||
            __builtin_add_overflow(*number, digit_of(text[at]), number))
            return OPTIONS_VALUE_OVERFLOW;
    }
    *digit_count = at;
    return at == 0 ? OPTIONS_VALUE_NO_NUMBER : OPTIONS_VALUE_OK;
}

static bool is_unit(const char *text, size_t length_bytes, const char *name, bool is_case_free)
{
    if (length_bytes != strlen(name))
        return false;
    for (size_t i = 0; i < length_bytes; i++) {
        if ((is_case_free ? lower(text[i]) : text[i]) != name[i])
            return false;
    }
    return true;
}

static enum options_value_status read_with_unit(const char *text, size_t length_bytes,
                                                const struct unit *units, size_t unit_count,
                                                bool is_case_free, uint64_t *value)
{
    unsigned base = 10;
    uint64_t number;
    size_t digit_count;

    if (length_bytes == 0)
        return OPTIONS_VALUE_EMPTY;
    if (text[0] == '-')
        return OPTIONS_VALUE_NEGATIVE;
    if (length_bytes > 2 && text[0] == '0' && text[1] == 'x' && digit_of(text[2]) < 16) {
        base = 16;
        text += 2;
        length_bytes -= 2;
    }

    const enum options_value_status status =
        read_digits(text, length_bytes, base, &number, &digit_count);
    if (status != OPTIONS_VALUE_OK)
        return status;
    for (size_t i = 0; i < unit_count; i++) {
        if (!is_unit(text + digit_count, length_bytes - digit_count, units[i].name, is_case_free))
            continue;
        if (__builtin_mul_overflow(number, units[i].factor, &number))
            return OPTIONS_VALUE_OVERFLOW;
        *value = number;
        return OPTIONS_VALUE_OK;
    }
    return OPTIONS_VALUE_BAD_UNIT;
}

enum options_value_status options_value_duration(const char *text, size_t length_bytes,
                                                 uint64_t *value_ns)
{
    return read_with_unit(text, length_bytes, duration_units, JW_COUNT_OF(duration_units), false,
                          value_ns);
}

enum options_value_status options_value_period(const char *text, size_t length_bytes,
                                               uint64_t *value_ns)
{
    return read_with_unit(text, length_bytes, period_units, JW_COUNT_OF(period_units), false,
                          value_ns);
}

/* Two digits below `limit`, before `end` or a colon. */
static bool read_clock_part(const char *text, unsigned limit, uint64_t *number)
{
    const unsigned tens = digit_of(text[0]);
    const unsigned ones = digit_of(text[1]);

    *number = tens * 10 + ones;
    return tens < 10 && ones < 10 && *number < limit;
}

enum options_value_status options_value_time(const char *text, size_t length_bytes, uint64_t *value)
{
    uint64_t hours, minutes, seconds;

    if (memchr(text, ':', length_bytes) == NULL)
        return options_value_period(text, length_bytes, value);
    if (length_bytes != 8 || text[2] != ':' || text[5] != ':' ||
        !read_clock_part(text, 24, &hours) || !read_clock_part(text + 3, 60, &minutes) ||
        !read_clock_part(text + 6, 60, &seconds))
        return OPTIONS_VALUE_NO_NUMBER;
    *value = OPTIONS_TIME_OF_DAY | (hours * 3600 + minutes * 60 + seconds);
    return OPTIONS_VALUE_OK;
}

enum options_value_status options_value_size(const char *text, size_t length_bytes,
                                             uint64_t *value_bytes)
{
    return read_with_unit(text, length_bytes, size_units, JW_COUNT_OF(size_units), true,
                          value_bytes);
}

enum options_value_status options_value_count(const char *text, size_t length_bytes,
                                              uint64_t *value_count)
{
    return read_with_unit(text, length_bytes, count_units, JW_COUNT_OF(count_units), false,
                          value_count);
}

enum options_value_status options_value_percent(const char *text, size_t length_bytes,
                                                uint64_t *value_ppm)
{
    enum { DECIMALS = 4 };
    uint64_t whole;
    uint64_t part = 0;
    size_t digit_count;

    if (length_bytes == 0)
        return OPTIONS_VALUE_EMPTY;
    if (text[0] == '-')
        return OPTIONS_VALUE_NEGATIVE;

    enum options_value_status status = read_digits(text, length_bytes, 10, &whole, &digit_count);
    if (status != OPTIONS_VALUE_OK)
        return status;
    text += digit_count;
    length_bytes -= digit_count;
    if (length_bytes > 0 && text[0] == '.') {
        status = read_digits(text + 1, length_bytes - 1, 10, &part, &digit_count);
        if (status != OPTIONS_VALUE_OK || digit_count > DECIMALS)
            return OPTIONS_VALUE_BAD_UNIT;
        text += 1 + digit_count;
        length_bytes -= 1 + digit_count;
        for (size_t i = digit_count; i < DECIMALS; i++)
            part *= 10;
    }
    if (length_bytes > 1 || (length_bytes == 1 && text[0] != '%'))
        return OPTIONS_VALUE_BAD_UNIT;
    if (__builtin_mul_overflow(whole, 10000, &whole) || __builtin_add_overflow(whole, part, &whole))
        return OPTIONS_VALUE_OVERFLOW;
    *value_ppm = whole;
    return OPTIONS_VALUE_OK;
}
