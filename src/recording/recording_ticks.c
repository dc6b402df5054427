/* Times of a recording as ticks (docs/adr/0074); dump (choosing: control). */
#include "base/atomics.h"
#include "recording/recording_internal.h"

/* When the first recording of this process with coarse ticks began; 0: none has. */
static _Atomic uint64_t coarse_zero_ns;

void recording_choose_ticks(struct recording *recording)
{
    const bool has_declared = recording->declared != NULL && recording->declared->count > 0;

    if (!recording->config.has_coarse_ticks || has_declared)
        return;
    /* relaxed: one recording at a time is opened */
    if (jw_load_relaxed(&coarse_zero_ns) == 0)
        jw_store_relaxed(&coarse_zero_ns, recording->opened_ns);
    recording->tick_bits = JFR_COARSE_TICK_BITS;
    recording->tick_zero_ns = jw_load_relaxed(&coarse_zero_ns);
}

int64_t recording_ticks_at(const struct recording *recording, uint64_t time_ns)
{
    const int64_t tick_ns = (int64_t)1 << recording->tick_bits;
    const int64_t since_ns = (int64_t)(time_ns - recording->tick_zero_ns);

    return since_ns >= 0 ? since_ns / tick_ns : -((tick_ns - 1 - since_ns) / tick_ns);
}

void recording_put_time(struct recording *recording, uint64_t time_ns)
{
    jfr_put_long(&recording->events, recording_ticks_at(recording, time_ns));
}

void recording_put_length(struct recording *recording, uint64_t begin_ns, uint64_t length_ns)
{
    jfr_put_long(&recording->events, recording_ticks_at(recording, begin_ns + length_ns) -
                                         recording_ticks_at(recording, begin_ns));
}

void recording_put_ticks(struct recording *recording, int64_t length_ns)
{
    const bool is_none = length_ns == INT64_MIN;

    jfr_put_long(&recording->events,
                 is_none ? length_ns : length_ns / ((int64_t)1 << recording->tick_bits));
}
