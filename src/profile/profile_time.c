/* Moments as options say them. Context: dump, tool. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "profile/profile_part.h"

#define DAY_NS        (86400ull * JW_NS_PER_SECOND)
#define LONGEST_NS    (3650ull * DAY_NS)
#define UNIX_MS_LEAST 12 /* digits: from March 1973 on, where no offset has so many */

/* Some decimal digits; false: there are none, or too many. */
static bool read_digits(const char **text, unsigned least, unsigned most, uint64_t *value)
{
    unsigned count = 0;

    *value = 0;
    while (**text >= '0' && **text <= '9' && count < most) {
        *value = *value * 10 + (uint64_t)(**text - '0');
        (*text)++;
        count++;
    }
    return count >= least;
}

/* ".25" as so many ns of a unit. */
static uint64_t read_fraction(const char **text, uint64_t unit_ns)
{
    uint64_t sum_ns = 0;

    if (**text != '.')
        return 0;
    for ((*text)++; **text >= '0' && **text <= '9'; (*text)++) {
        unit_ns /= 10;
        sum_ns += unit_ns * (uint64_t)(**text - '0');
    }
    return sum_ns;
}

/* The longest first. */
static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ms", JW_NS_PER_MS},           {"us", 1000},
    {"s", JW_NS_PER_SECOND},        {"m", 60 * JW_NS_PER_SECOND},
    {"h", 3600 * JW_NS_PER_SECOND},
};

static uint64_t read_unit(const char **text)
{
    for (size_t i = 0; i < JW_COUNT_OF(units); i++) {
        const size_t length = strlen(units[i].name);

        if (strncmp(*text, units[i].name, length) == 0) {
            *text += length;
            return units[i].ns;
        }
    }
    return **text == '\0' ? JW_NS_PER_SECOND : 0;
}

/* "90", "2.5s", "1m30s", and with a minus before it. */
static bool read_offset(const char *text, struct profile_time *out)
{
    const bool is_negative = text[0] == '-';
    uint64_t sum_ns = 0;
    bool is_first = true; /* which alone may lack its unit */

    text += is_negative;
    do {
        uint64_t number;

        if (!read_digits(&text, 1, 9, &number))
            return false;
        const char *fraction = text;
        text += *text == '.' ? 1 + strspn(text + 1, "0123456789") : 0;
        if (text == fraction + 1) /* a point and nothing behind it */
            return false;
        const bool has_unit = *text != '\0';
        const uint64_t unit_ns = read_unit(&text);
        if (unit_ns == 0 || !(has_unit || is_first) || number > LONGEST_NS / unit_ns)
            return false;
        is_first = false;
        sum_ns += number * unit_ns + read_fraction(&fraction, unit_ns);
    } while (*text != '\0');
    out->kind = is_negative ? PROFILE_TIME_BEFORE_END : PROFILE_TIME_AFTER_START;
    out->ns = sum_ns;
    return sum_ns <= LONGEST_NS;
}

/* "14:05", "14:05:30.25": ns since midnight. */
static bool read_clock(const char **text, uint64_t *ns)
{
    uint64_t hour, minute, second = 0, fraction_ns = 0;

    if (!read_digits(text, 1, 2, &hour) || **text != ':')
        return false;
    (*text)++;
    if (!read_digits(text, 2, 2, &minute))
        return false;
    if (**text == ':') {
        (*text)++;
        if (!read_digits(text, 2, 2, &second))
            return false;
        fraction_ns = read_fraction(text, JW_NS_PER_SECOND);
    }
    *ns = ((hour * 60 + minute) * 60 + second) * JW_NS_PER_SECOND + fraction_ns;
    return hour < 24 && minute < 60 && second <= 60;
}

/* "2026-01-31T14:05:30", of this place, or with a Z of Greenwich. */
static bool read_date(const char *text, struct profile_time *out)
{
    uint64_t year, month, day, clock_ns;

    if (!read_digits(&text, 4, 4, &year) || *text++ != '-' || !read_digits(&text, 2, 2, &month) ||
        *text++ != '-' || !read_digits(&text, 2, 2, &day) || (*text != 'T' && *text != ' '))
        return false;
    text++;
    if (!read_clock(&text, &clock_ns) || month < 1 || month > 12 || day < 1 || day > 31)
        return false;

    const uint64_t second = clock_ns / JW_NS_PER_SECOND;
    struct tm moment = {.tm_year = (int)year - 1900,
                        .tm_mon = (int)month - 1,
                        .tm_mday = (int)day,
                        .tm_hour = (int)(second / 3600),
                        .tm_min = (int)(second / 60 % 60),
                        .tm_sec = (int)(second % 60),
                        .tm_isdst = -1};
    const bool is_utc = *text == 'Z';
    const time_t unix_s = is_utc ? timegm(&moment) : mktime(&moment);

    text += is_utc;
    if (unix_s < 0 || *text != '\0')
        return false;
    out->kind = PROFILE_TIME_UNIX;
    out->ns = (uint64_t)unix_s * JW_NS_PER_SECOND + clock_ns % JW_NS_PER_SECOND;
    return true;
}

static bool read_unix_ms(const char *text, struct profile_time *out)
{
    const size_t length = strlen(text);
    uint64_t ms;

    if (length < UNIX_MS_LEAST || !read_digits(&text, UNIX_MS_LEAST, 13, &ms) || *text != '\0')
        return false;
    out->kind = PROFILE_TIME_UNIX;
    out->ns = ms * JW_NS_PER_MS;
    return true;
}

bool profile_time_read(const char *name, const char *text, bool has_end, struct profile_time *out,
                       struct jw_error *err)
{
    const char *clock = text;

    *out = (struct profile_time){.text = text};
    if (read_unix_ms(text, out) || read_date(text, out) || read_offset(text, out))
        return true;
    if (read_clock(&clock, &out->ns) && *clock == '\0') {
        out->kind = PROFILE_TIME_OF_DAY;
        return true;
    }
    jw_error_set(err,
                 "%s: '%.100s' is no time; give one since the start (90s, 1m30s)%s, a time of day "
                 "(14:05:30), or a date with it (2026-01-31T14:05:30, with a Z for UTC)",
                 name, text, has_end ? ", one before the end (-30s)" : "");
    return false;
}

static uint64_t distance(uint64_t moment_ns, uint64_t start_ns, uint64_t end_ns)
{
    return moment_ns < start_ns ? start_ns - moment_ns
           : moment_ns > end_ns ? moment_ns - end_ns
                                : 0;
}

/* `is_dst` as in struct tm; where it is told, false: the clock does not show this then. */
static bool find_of_day(uint64_t clock_ns, time_t near_s, int day, int is_dst, uint64_t *unix_ns)
{
    struct tm moment;

    if (localtime_r(&near_s, &moment) == NULL)
        return false;
    moment.tm_mday += day;
    moment.tm_hour = (int)(clock_ns / (3600 * JW_NS_PER_SECOND));
    moment.tm_min = (int)(clock_ns / (60 * JW_NS_PER_SECOND) % 60);
    moment.tm_sec = (int)(clock_ns / JW_NS_PER_SECOND % 60);
    moment.tm_isdst = is_dst;

    const time_t unix_s = mktime(&moment);
    *unix_ns = (uint64_t)unix_s * JW_NS_PER_SECOND + clock_ns % JW_NS_PER_SECOND;
    return unix_s >= 0 && (is_dst < 0 || moment.tm_isdst == is_dst);
}

/* Of the day of the start, the one before and the one after: that which lies in the recording, or nearest to it. */
static uint64_t of_day(uint64_t clock_ns, uint64_t start_ns, uint64_t end_ns)
{
    const time_t start_s = (time_t)(start_ns / JW_NS_PER_SECOND);
    uint64_t best_ns = 0;

    for (int day = -1; day <= 1; day++) {
        uint64_t moment_ns;

        if (!find_of_day(clock_ns, start_s, day, -1, &moment_ns))
            continue;
        if (best_ns == 0 ||
            distance(moment_ns, start_ns, end_ns) < distance(best_ns, start_ns, end_ns))
            best_ns = moment_ns;
    }
    return best_ns;
}

uint64_t profile_time_at(const struct profile_time *time, uint64_t start_ns, uint64_t end_ns,
                         uint64_t otherwise_ns)
{
    switch (time->kind) {
    case PROFILE_TIME_ANY:
        break;
    case PROFILE_TIME_AFTER_START:
        return start_ns + time->ns;
    case PROFILE_TIME_BEFORE_END:
        return end_ns > time->ns ? end_ns - time->ns : 0;
    case PROFILE_TIME_OF_DAY:
        return of_day(time->ns, start_ns, end_ns);
    case PROFILE_TIME_UNIX:
        return time->ns;
    }
    return otherwise_ns;
}

/* Where clocks go back an hour comes twice, summer time first; an hour that is left out is where mktime takes it to be. */
uint64_t profile_time_next(const struct profile_time *time, uint64_t least_ns)
{
    static const int dsts[] = {1, 0, -1};
    const time_t near_s = (time_t)(least_ns / JW_NS_PER_SECOND);
    uint64_t unix_ns;

    for (int day = 0; day <= 1; day++)
        for (size_t i = 0; i < JW_COUNT_OF(dsts); i++)
            if (find_of_day(time->ns, near_s, day, dsts[i], &unix_ns) && unix_ns >= least_ns)
                return unix_ns;
    return least_ns + DAY_NS;
}
