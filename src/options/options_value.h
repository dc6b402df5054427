/*
 * options_value - numbers with units, read strictly and without regard to any locale.
 *
 * For      values of the agent string and of the command line.
 * Callers  options, cli.
 * Context  control, tool.
 * Memory   none; `text` needs no terminator.
 *
 * Numbers are decimal, or hexadecimal after 0x; a leading zero means nothing. No sign, no blanks, no
 * fraction (but in a percentage), nothing after the unit. On failure `value` is left alone.
 */
#ifndef JW_OPTIONS_OPTIONS_VALUE_H
#define JW_OPTIONS_OPTIONS_VALUE_H

#include "base/jw.h"

enum options_value_status {
    OPTIONS_VALUE_OK,
    OPTIONS_VALUE_EMPTY,
    OPTIONS_VALUE_NEGATIVE,
    OPTIONS_VALUE_NO_NUMBER,
    OPTIONS_VALUE_BAD_UNIT, /* the unit is none of the allowed, or something follows it */
    OPTIONS_VALUE_OVERFLOW,
};

/* "is empty", "is negative": what to say of a value, after its text. */
const char *options_value_status_text(enum options_value_status status);

/* Short times: n, ns, u, us, m, ms, s; without a unit nanoseconds. */
JW_MUST_CHECK enum options_value_status
options_value_duration(const char *text, size_t length_bytes, uint64_t *value_ns);

/* Long times: s, m (minutes), h, d; without a unit seconds. */
JW_MUST_CHECK enum options_value_status options_value_period(const char *text, size_t length_bytes,
                                                             uint64_t *value_ns);

/* A long time, or HH:MM:SS, a time of day: then with bit OPTIONS_TIME_OF_DAY. */
JW_MUST_CHECK enum options_value_status options_value_time(const char *text, size_t length_bytes,
                                                           uint64_t *value);

/* b, k, m, g in either case, also kb, mb, gb; powers of 1024; without a unit bytes. */
JW_MUST_CHECK enum options_value_status options_value_size(const char *text, size_t length_bytes,
                                                           uint64_t *value_bytes);

JW_MUST_CHECK enum options_value_status options_value_count(const char *text, size_t length_bytes,
                                                            uint64_t *value_count);

/* "0.25" or "0.25%", at most four decimals; in millionths, so 1 % is 10000. */
JW_MUST_CHECK enum options_value_status options_value_percent(const char *text, size_t length_bytes,
                                                              uint64_t *value_ppm);

#endif
