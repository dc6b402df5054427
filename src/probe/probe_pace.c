/* A straight line through sizes and times of batches, and the next size by it. Context: any. */
#include "probe/probe_pace.h"

#define FIRST_MOST     10u
#define FIRST_CLASS_NS 1000000u

#define KEPT   0.9 /* of a batch's weight, with each that follows */
#define GROWTH 4.0 /* at most, from one to the next */
#define SPREAD_LEAST                                                                               \
    0.05 /* variance of sizes by their mean's square: below it they are all alike */
#define UNKNOWN (-1.0)

uint32_t probe_pace_first(uint64_t budget_ns)
{
    const uint64_t count = budget_ns / FIRST_CLASS_NS;

    return count < 1 ? 1 : count > FIRST_MOST ? FIRST_MOST : (uint32_t)count;
}

/* What each class takes; UNKNOWN while all batches had the same size. And what an operation takes beside. */
static double line_of(const struct probe_pace *pace, double *fixed_ns)
{
    const double size = pace->sizes / pace->weight, time_ns = pace->times / pace->weight;
    const double variance = pace->squares / pace->weight - size * size;

    if (variance < SPREAD_LEAST * size * size)
        return UNKNOWN;

    const double slope = (pace->products / pace->weight - size * time_ns) / variance;
    const double each_ns = slope < 0 ? 0 : slope;
    *fixed_ns = time_ns - each_ns * size;
    if (*fixed_ns >= 0)
        return each_ns;
    *fixed_ns = 0;
    return time_ns / size;
}

static double wanted(const struct probe_pace *pace, double size, double took_ns, double budget_ns)
{
    double fixed_ns = 0;
    const double each_ns = line_of(pace, &fixed_ns);

    /* As if nothing were fixed; and where that is too long, another size, to learn what depends on it. */
    if (each_ns < 0 && took_ns <= budget_ns)
        return took_ns == 0 ? GROWTH * size : size * budget_ns / took_ns;
    if (each_ns < 0)
        return size < 2 ? GROWTH * size : size / 2;

    const double room_ns = budget_ns - fixed_ns > fixed_ns ? budget_ns - fixed_ns : fixed_ns;
    return each_ns * GROWTH * size < room_ns ? GROWTH * size : room_ns / each_ns;
}

uint32_t probe_pace_next(struct probe_pace *pace, uint32_t size, uint64_t took_ns,
                         uint64_t budget_ns)
{
    const double count = size, time_ns = (double)took_ns;

    pace->weight = pace->weight * KEPT + 1;
    pace->sizes = pace->sizes * KEPT + count;
    pace->times = pace->times * KEPT + time_ns;
    pace->squares = pace->squares * KEPT + count * count;
    pace->products = pace->products * KEPT + count * time_ns;

    double next = wanted(pace, count, time_ns, (double)budget_ns);
    if (next > GROWTH * count)
        next = GROWTH * count;
    if (next > PROBE_PACE_MOST)
        next = PROBE_PACE_MOST;
    return next < 1 ? 1 : (uint32_t)next;
}
