/* What a profile says of its run as a whole, as the command finds it in a recording that ends now; dump. */
#include <string.h>

#include "base/clock.h"
#include "base/perf_event.h"
#include "jfr/jfr_reader.h"
#include "recording/recording_internal.h"

const char *recording_shown(struct recording *recording, struct jfr_buffer *scratch,
                            struct jfr_text *place, struct recording_text text)
{
    if (text.bytes == NULL)
        return NULL;
    jfr_buffer_clear(scratch);
    jfr_put_clean_utf8(scratch, text.bytes, text.length_bytes);
    if (scratch->has_failed || !jfr_text_set(place, scratch->bytes, scratch->used_bytes)) {
        recording_fail_memory(recording);
        return NULL;
    }
    return place->text;
}

static const char *name_of(const struct recording *recording, enum recording_clock clock)
{
    switch (clock) {
    case RECORDING_SHOWS_CPU:
        return "cpu";
    case RECORDING_SHOWS_WALL:
        return "wall";
    case RECORDING_SHOWS_COUNTER:
        return recording->config.counter;
    case RECORDING_SHOWS_ALLOC:
        return "alloc";
    case RECORDING_SHOWS_LOCK:
        return "lock";
    case RECORDING_SHOWS_LIMIT:
        break;
    }
    return NULL;
}

/* The first of what is not shown; NULL: nothing else was sampled. */
static const char *left_out_of(const struct recording *recording)
{
    for (int clock = 0; clock < RECORDING_SHOWS_LIMIT; clock++)
        if (recording->graph.left_out[clock] != 0)
            return name_of(recording, (enum recording_clock)clock);
    return NULL;
}

/* The same as the command finds in a recording that ends now. */
void recording_graph_tell(struct recording *recording)
{
    struct profile *profile = recording->graph.profile;
    const char *title = recording->config.title;
    const enum recording_clock shows = recording->config.shows;
    const bool shows_counter = shows == RECORDING_SHOWS_COUNTER;
    struct jfr_buffer scratch = {0};
    struct jfr_text text = {0};
    uint64_t counts[JW_COUNT_LIMIT];
    uint64_t in_flight;
    struct profile_about about = {
        .title = title == NULL ? NULL
                               : recording_shown(recording, &scratch, &text,
                                                 (struct recording_text){title, strlen(title)}),
        .event = name_of(recording, shows),
        .left_out = left_out_of(recording),
        .unit = !recording->graph.has_shown      ? "samples"
                : shows_counter                  ? jw_perf_unit(recording->config.counter)
                : shows == RECORDING_SHOWS_ALLOC ? "bytes"
                                                 : "ns",
        .start_unix_ns = recording->opened_wall_ns,
        .duration_ns =
            recording_duration_ns(recording,
                                  recording->paused_ns != 0 ? recording->paused_ns : jw_now_ns()) -
            recording->idle_ns,
    };

    recording_part_cut(recording, &about);
    profile_set_about(profile, &about);
    jfr_buffer_close(&scratch);
    jfr_text_free(&text);
    recording_read_counters(recording, counts, &in_flight);
    profile_forget_counters(profile);
    profile_counters(profile, counts, in_flight);
    recording_ledger_tell_profile(recording);
    if (recording->has_cost) {
        struct jw_cost_sums sums;

        jw_cost_sum_up(&recording->cost, &sums);
        profile_cost(profile, &sums);
    }
}
