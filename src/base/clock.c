/* Reads the clocks; jw_now_ns in every context. */
#include "base/clock.h"

#include <time.h>

uint64_t jw_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * JW_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t jw_wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * JW_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}
