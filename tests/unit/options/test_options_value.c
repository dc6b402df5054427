/* Numbers with units: what is read, what is refused, and why. */
#include "options/options_value.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "options/options.h"
#include "support/other_locale.h"

#define UNTOUCHED 12345678901234567ull

TestSuite(options_value, .timeout = 1800);

typedef enum options_value_status reader(const char *text, size_t length_bytes, uint64_t *value);

struct row {
    const char *text;
    enum options_value_status status;
    uint64_t value;
};

static void check_row(reader *read, const struct row *row)
{
    uint64_t value = UNTOUCHED;
    const enum options_value_status status = read(row->text, strlen(row->text), &value);

    cr_expect(status == row->status, "%s: status %d, not %d", row->text, status, row->status);
    cr_expect(value == (row->status == OPTIONS_VALUE_OK ? row->value : UNTOUCHED),
              "%s: value %" PRIu64, row->text, value);
}

#define CHECK_ROWS(read, rows)                                                                     \
    for (size_t row_index = 0; row_index < JW_COUNT_OF(rows); row_index++)                         \
    check_row(read, &rows[row_index])

#define OK       OPTIONS_VALUE_OK
#define EMPTY    OPTIONS_VALUE_EMPTY
#define NEGATIVE OPTIONS_VALUE_NEGATIVE
#define NO       OPTIONS_VALUE_NO_NUMBER
#define UNIT     OPTIONS_VALUE_BAD_UNIT
#define OVERFLOW OPTIONS_VALUE_OVERFLOW

Test(options_value, durations_take_the_units_of_async_profiler)
{
    static const struct row rows[] = {
        {"0", OK, 0},
        {"1", OK, 1},
        {"10000000", OK, 10000000},
        {"7n", OK, 7},
        {"7ns", OK, 7},
        {"100u", OK, 100000},
        {"100us", OK, 100000},
        {"10m", OK, 10000000},
        {"10ms", OK, 10000000},
        {"1s", OK, 1000000000},
        {"010ms", OK, 10000000},
        {"0x10", OK, 16},
        {"0x10m", OK, 16000000},
        {"0xFF", OK, 255},
        {"18446744073709551615", OK, UINT64_MAX},
        {"18446744073s", OK, 18446744073000000000ull},
        {"", EMPTY, 0},
        {"-1", NEGATIVE, 0},
        {"-0", NEGATIVE, 0},
        {"-", NEGATIVE, 0},
        {"+1", NO, 0},
        {" 1", NO, 0},
        {"ms", NO, 0},
        {"abc", NO, 0},
        {"\xc2\xb5s", NO, 0},
        {".5ms", NO, 0},
        {"1 ", UNIT, 0},
        {"1 ms", UNIT, 0},
        {"1.5ms", UNIT, 0},
        {"1,5", UNIT, 0},
        {"10MS", UNIT, 0},
        {"10M", UNIT, 0},
        {"10msx", UNIT, 0},
        {"10mss", UNIT, 0},
        {"10h", UNIT, 0},
        {"10k", UNIT, 0},
        {"1e3", UNIT, 0},
        {"0x", UNIT, 0},
        {"0xg", UNIT, 0},
        {"0X10", UNIT, 0},
        {"1-1", UNIT, 0},
        {"18446744073709551616", OVERFLOW, 0},
        {"99999999999999999999999", OVERFLOW, 0},
        {"0x10000000000000000", OVERFLOW, 0},
        {"18446744074s", OVERFLOW, 0},
        {"18446744073709551615u", OVERFLOW, 0},
    };

    CHECK_ROWS(options_value_duration, rows);
}

Test(options_value, periods_count_in_seconds)
{
    static const struct row rows[] = {
        {"5", OK, 5000000000},
        {"5s", OK, 5000000000},
        {"1m", OK, 60000000000},
        {"1h", OK, 3600000000000},
        {"2d", OK, 172800000000000},
        {"0x10h", OK, 57600000000000},
        {"1ms", UNIT, 0},
        {"1n", UNIT, 0},
        {"1w", UNIT, 0},
        {"1:00:00", UNIT, 0},
        {"", EMPTY, 0},
        {"-1h", NEGATIVE, 0},
        {"h", NO, 0},
        {"18446744074", OVERFLOW, 0},
        {"5124096d", OVERFLOW, 0},
    };

    CHECK_ROWS(options_value_period, rows);
}

Test(options_value, sizes_count_in_powers_of_1024)
{
    static const struct row rows[] = {
        {"0", OK, 0},
        {"512", OK, 512},
        {"512b", OK, 512},
        {"256k", OK, 262144},
        {"256K", OK, 262144},
        {"256kb", OK, 262144},
        {"256KB", OK, 262144},
        {"100m", OK, 104857600},
        {"100MB", OK, 104857600},
        {"2g", OK, 2147483648},
        {"2Gb", OK, 2147483648},
        {"0x10k", OK, 16384},
        {"0x10b", OK, 267}, /* b is a digit there */
        {"17179869183g", OK, 18446744072635809792ull},
        {"17179869184g", OVERFLOW, 0},
        {"1t", UNIT, 0},
        {"1kib", UNIT, 0},
        {"1ki", UNIT, 0},
        {"1.5m", UNIT, 0},
        {"k", NO, 0},
        {"-1k", NEGATIVE, 0},
        {"", EMPTY, 0},
    };

    CHECK_ROWS(options_value_size, rows);
}

Test(options_value, counts_take_no_unit)
{
    static const struct row rows[] = {
        {"0", OK, 0},         {"2048", OK, 2048}, {"0x800", OK, 2048}, {"007", OK, 7},
        {"2048/64", UNIT, 0}, {"2k", UNIT, 0},    {"1.0", UNIT, 0},    {"x", NO, 0},
        {"-1", NEGATIVE, 0},  {"", EMPTY, 0},
    };

    CHECK_ROWS(options_value_count, rows);
}

static void check_percentages(void)
{
    static const struct row rows[] = {
        {"0", OK, 0},
        {"1", OK, 10000},
        {"1%", OK, 10000},
        {"0.25", OK, 2500},
        {"0.25%", OK, 2500},
        {"0.0001", OK, 1},
        {"12.5", OK, 125000},
        {"100.0000", OK, 1000000},
        {"0.00001", UNIT, 0},
        {"1.", UNIT, 0},
        {"1.%", UNIT, 0},
        {"1,5", UNIT, 0},
        {"1%%", UNIT, 0},
        {"1.2.3", UNIT, 0},
        {"1e2", UNIT, 0},
        {"0x1", UNIT, 0},
        {".5", NO, 0},
        {"%", NO, 0},
        {"nan", NO, 0},
        {"-1", NEGATIVE, 0},
        {"", EMPTY, 0},
        {"18446744073709551615", OVERFLOW, 0},
        {"1844674407370955.1616", OVERFLOW, 0},
        {"1844674407370955.1615", OK, UINT64_MAX},
    };

    CHECK_ROWS(options_value_percent, rows);
}

Test(options_value, percentages_have_up_to_four_decimals)
{
    check_percentages();
}

Test(options_value, m61_decimals_are_read_alike_in_another_locale)
{
    other_locale();
    check_percentages();
}

Test(options_value, m52_each_unit_overflows_exactly_past_its_largest_number)
{
    static const struct {
        reader *read;
        const char *unit;
        uint64_t factor;
    } units[] = {
        {options_value_duration, "", 1},          {options_value_duration, "us", 1000},
        {options_value_duration, "ms", 1000000},  {options_value_duration, "s", 1000000000},
        {options_value_period, "m", 60000000000}, {options_value_period, "h", 3600000000000},
        {options_value_size, "k", 1024},          {options_value_size, "m", 1 << 20},
        {options_value_size, "g", 1 << 30},
    };

    for (size_t i = 0; i < JW_COUNT_OF(units); i++) {
        const uint64_t largest = UINT64_MAX / units[i].factor;
        char text[64];
        uint64_t value = 0;

        for (uint64_t below = 0; below < 20; below++) {
            const int length =
                snprintf(text, sizeof text, "%" PRIu64 "%s", largest - below, units[i].unit);
            cr_expect(units[i].read(text, (size_t)length, &value) == OK, "%s", text);
            cr_expect(value == (largest - below) * units[i].factor, "%s", text);
        }
        if (largest == UINT64_MAX)
            continue;
        const int length = snprintf(text, sizeof text, "%" PRIu64 "%s", largest + 1, units[i].unit);
        cr_expect(units[i].read(text, (size_t)length, &value) == OVERFLOW, "%s", text);
    }
}

Test(options_value, nothing_past_the_given_length_is_read)
{
    const char text[] = {'1', '0', 'm', 's'};
    uint64_t value = 0;

    cr_assert(options_value_duration(text, 2, &value) == OK && value == 10);
    cr_assert(options_value_duration(text, 3, &value) == OK && value == 10000000);
    cr_assert(options_value_duration(text, 0, &value) == EMPTY);
}

Test(options_value, times_are_long_or_of_the_day)
{
    static const struct row rows[] = {
        {"90", OPTIONS_VALUE_OK, 90000000000},
        {"2h", OPTIONS_VALUE_OK, 7200000000000},
        {"00:00:00", OPTIONS_VALUE_OK, OPTIONS_TIME_OF_DAY},
        {"23:59:59", OPTIONS_VALUE_OK, OPTIONS_TIME_OF_DAY | 86399},
        {"24:00:00", OPTIONS_VALUE_NO_NUMBER, 0},
        {"12:60:00", OPTIONS_VALUE_NO_NUMBER, 0},
        {"12:00:60", OPTIONS_VALUE_NO_NUMBER, 0},
        {"1:00:00", OPTIONS_VALUE_NO_NUMBER, 0},
        {"12:00", OPTIONS_VALUE_NO_NUMBER, 0},
        {"12:00:0a", OPTIONS_VALUE_NO_NUMBER, 0},
        {":::::::::", OPTIONS_VALUE_NO_NUMBER, 0},
        {"-1", OPTIONS_VALUE_NEGATIVE, 0},
        {"", OPTIONS_VALUE_EMPTY, 0},
    };

    for (size_t i = 0; i < JW_COUNT_OF(rows); i++)
        check_row(options_value_time, &rows[i]);
}
