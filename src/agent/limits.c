/* Rates and deadlines; control, dump. */
#include "agent/limits.h"

#include <time.h>

#include "base/clock.h"
#include "options/options.h"

#define STEP_NS (JW_NS_PER_SECOND / LIMITS_PER_SECOND)

bool limits_take(struct limits_rate *rate, uint64_t now_ns)
{
    const uint64_t from_ns = rate->full_ns > now_ns ? rate->full_ns : now_ns;

    if (from_ns + STEP_NS > now_ns + LIMITS_PER_SECOND * STEP_NS)
        return false;
    rate->full_ns = from_ns + STEP_NS;
    return true;
}

/* The next moment, strictly after `wall_ns`, at which local clocks show this second of a day. */
static uint64_t next_time_of_day(uint64_t second, uint64_t wall_ns)
{
    const time_t now = (time_t)(wall_ns / JW_NS_PER_SECOND);
    struct tm local;

    if (localtime_r(&now, &local) == NULL)
        return wall_ns + 86400 * JW_NS_PER_SECOND;
    for (int days = 0; days < 3; days++) {
        struct tm wanted = local;

        wanted.tm_mday += days;
        wanted.tm_hour = (int)(second / 3600);
        wanted.tm_min = (int)(second / 60 % 60);
        wanted.tm_sec = (int)(second % 60);
        wanted.tm_isdst = -1; /* that day may have another offset than this one */

        const time_t found = mktime(&wanted);
        if (found != (time_t)-1 && (uint64_t)found * JW_NS_PER_SECOND > wall_ns)
            return (uint64_t)found * JW_NS_PER_SECOND;
    }
    return wall_ns + 86400 * JW_NS_PER_SECOND;
}

struct limits_deadline limits_first(uint64_t when, uint64_t now_ns, uint64_t wall_ns)
{
    if (when == 0)
        return (struct limits_deadline){0};
    if ((when & OPTIONS_TIME_OF_DAY) != 0)
        return (struct limits_deadline){.at_wall_ns =
                                            next_time_of_day(when & ~OPTIONS_TIME_OF_DAY, wall_ns)};
    return (struct limits_deadline){.at_ns = now_ns + when};
}

struct limits_deadline limits_next(uint64_t when, const struct limits_deadline *last,
                                   uint64_t now_ns, uint64_t wall_ns)
{
    if (when == 0 || (when & OPTIONS_TIME_OF_DAY) != 0 || last->at_ns + when <= now_ns)
        return limits_first(when, now_ns, wall_ns);
    return (struct limits_deadline){.at_ns = last->at_ns + when};
}

bool limits_is_over(const struct limits_deadline *deadline, uint64_t now_ns, uint64_t wall_ns)
{
    return (deadline->at_ns != 0 && now_ns >= deadline->at_ns) ||
           (deadline->at_wall_ns != 0 && wall_ns >= deadline->at_wall_ns);
}
