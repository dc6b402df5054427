/*
 * made_clock - the clock is part of the input: jw_now_ns and jw_wall_ns here stand in for those of room base, and tell how many
 * signals there were since the recording began. It stands still while nobody samples, so nobody waits either: at its end a recording
 * looks some thousand times whether signals in flight have come.
 *
 * For      tests whose outputs are compared; each is a program of its own.   Context  tool.
 */
#ifndef JW_TESTS_GOLDEN_MADE_CLOCK_H
#define JW_TESTS_GOLDEN_MADE_CLOCK_H

#include <time.h>

#include "base/clock.h"
#include "base/counters.h"
#include "golden/made.h"

#define BEGIN_NS (1000 * JW_NS_PER_SECOND)
#ifndef BEGIN_WALL_NS
#define BEGIN_WALL_NS 1700000000123456789ull
#endif

static uint64_t signals_before;

static uint64_t elapsed_ns(void)
{
    return (jw_counter(JW_COUNT_SIGNALS) - signals_before) * MADE_WEIGHT_NS;
}

uint64_t jw_now_ns(void)
{
    return BEGIN_NS + elapsed_ns();
}

int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
    (void)wanted;
    (void)rest;
    return 0;
}

uint64_t jw_wall_ns(void)
{
    return BEGIN_WALL_NS + elapsed_ns();
}

#endif
