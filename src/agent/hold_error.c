/* How far sums of holds may be off. Context: any. */
#include "agent/hold_error.h"

#include "base/root.h"
#include "instrument/instrument.h"

/* Both ends of a 95 % interval are so many standard deviations away. */
#define DEVIATIONS 1.96

/*
 * What was counted says how far holds are from their mean, as far as they were seen. Of what happens now and then as many as the square of the
 * deviations may have happened without one that is seen (a Poisson count of 0 is that far below them): so the longest one that was timed counts so often
 * more, with the weight of them all.
 */
uint64_t hold_error_ns(const struct instrument_lock_site *site)
{
    if (site->holds == 0 || site->weight <= site->holds)
        return 0;

    const double weight = (double)site->weight / (double)site->holds;
    const double off = (double)site->hold_most_ns - (double)site->hold_ns / (double)site->weight;
    const double unseen = DEVIATIONS * DEVIATIONS * weight * (weight - 1) * off * off;
    const double error = DEVIATIONS * jw_root(site->hold_variance + unseen) + 0.5;
    return error < (double)INT64_MAX ? (uint64_t)error : INT64_MAX;
}
