/* A straight line through sizes and times of batches, and the next size by it. Context: any. */
#include "probe/probe_pace.h"

#define FIRST_MOST     10u
#define FIRST_CLASS_NS 1000000u

#define KEPT        0.9 /* of a batch's weight, with each that follows */
#define GROWTH      4.0 /* at most, from one to the next */
#define GROWTH_NEAR 2.0 /* where one took more than half of the budget */
#define AIM         0.9 /* of the budget: some take longer than those before tell */
#define LEAST_ROOM  0.3 /* of the budget, for classes */
#define SPREAD_LEAST                                                                               \
    0.05 /* variance of sizes by their mean's square: below it they are all alike */

uint32_t probe_pace_first(uint64_t budget_ns)
{
    const uint64_t count = budget_ns / FIRST_CLASS_NS;

    return count < 1 ? 1 : count > FIRST_MOST ? FIRST_MOST : (uint32_t)count;
}

/* What an operation takes beside its classes. What each of these takes stays as it was known while sizes are alike. */
static double fixed_of(struct probe_pace *pace)
{
    const double size = pace->sizes / pace->weight, time_ns = pace->times / pace->weight;
    const double variance = pace->squares / pace->weight - size * size;

    if (variance >= SPREAD_LEAST * size * size) {
        const double slope = (pace->products / pace->weight - size * time_ns) / variance;

        pace->each_ns = slope < 0 ? 0 : slope;
        pace->is_known = true;
    }
    if (pace->each_ns * size <= time_ns)
        return time_ns - pace->each_ns * size;
    pace->each_ns = time_ns / size;
    return 0;
}

static double wanted(struct probe_pace *pace, double size, double took_ns, double budget_ns)
{
    const double aim_ns = budget_ns * AIM, fixed_ns = fixed_of(pace);
    const double growth = took_ns * 2 > budget_ns && fixed_ns < budget_ns ? GROWTH_NEAR : GROWTH;

    /* As if nothing were fixed; and where that is near, another size, to learn what depends on it. */
    if (!pace->is_known && took_ns * GROWTH_NEAR <= aim_ns)
        return took_ns * growth < aim_ns ? growth * size : size * aim_ns / took_ns;
    if (!pace->is_known)
        return size < 2 ? growth * size : size / 2;

    double room_ns = aim_ns - fixed_ns;
    if (room_ns < budget_ns * LEAST_ROOM)
        room_ns = fixed_ns > budget_ns ? fixed_ns : budget_ns * LEAST_ROOM;
    return pace->each_ns * growth * size < room_ns ? growth * size : room_ns / pace->each_ns;
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
    if (next > PROBE_PACE_MOST)
        next = PROBE_PACE_MOST;
    return next < 1 ? 1 : (uint32_t)next;
}
