/* What jaywalk takes of the process, as events and for graphs; dump. */
#include "base/clock.h"
#include "recording/recording_internal.h"

static const char *const clock_names[JW_COST_CLOCK_LIMIT] = {
    [JW_COST_CPU] = "cpu",
    [JW_COST_WALL] = "wall",
    [JW_COST_HOOK] = "hook",
};

void recording_cost(struct recording *recording, const struct jw_cost *cost)
{
    recording->cost = *cost;
    recording->has_cost = true;
}

void recording_note_write(struct recording *recording, uint64_t begin_ns, uint64_t length_bytes)
{
    const uint64_t took_ns = jw_now_ns() - begin_ns;

    recording->writes++;
    recording->write_ns += took_ns;
    recording->written_bytes += length_bytes;
    if (took_ns > recording->write_max_ns)
        recording->write_max_ns = took_ns;
}

void recording_interval_change(struct recording *recording,
                               const struct recording_interval_change *change)
{
    struct jfr_buffer *out = &recording->events;

    if (recording->file == NULL || recording->has_failed)
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_INTERVAL_CHANGE, change->time_ns);

    jfr_put_varint(out, change->from_cpu_ns);
    jfr_put_varint(out, change->to_cpu_ns);
    jfr_put_varint(out, change->from_wall_ns);
    jfr_put_varint(out, change->to_wall_ns);
    jfr_put_float(out, (float)change->share_ppm / 1e6f);
    jfr_put_float(out, (float)change->budget_ppm / 1e6f);
    jfr_event_end(out, begin);
}

static void put_sums(struct recording *recording, uint64_t now_ns)
{
    const struct jw_cost *cost = &recording->cost;
    struct jfr_buffer *out = &recording->events;
    struct jw_cost_sums sums;

    jw_cost_sum_up(cost, &sums);
    const uint64_t own_ns = jw_cost_own_ns(&sums);
    const size_t begin = recording_event(recording, JFR_TYPE_SELF_COST, now_ns);

    jfr_put_varint(out, sums.process_ns);
    jfr_put_varint(out, sums.handlers_ns);
    jfr_put_varint(out, sums.kernel_ns);
    jfr_put_varint(out, cost->agent_ns);
    jfr_put_varint(out, cost->clock_ns);
    jfr_put_float(out,
                  sums.process_ns == 0 ? 0 : (float)((double)own_ns / (double)sums.process_ns));
    jfr_put_varint(out, cost->handlers[JW_COST_CPU].count + cost->handlers[JW_COST_WALL].count);
    jfr_put_varint(out, sums.median_ns);
    jfr_put_varint(out, sums.high_ns);
    jfr_put_varint(out, cost->interval_ns);
    jfr_put_varint(out, cost->wall_interval_ns);
    jfr_put_varint(out, cost->rotations);
    jfr_put_varint(out, cost->rotation_ns);
    jfr_put_varint(out, cost->rotation_max_ns);
    jfr_put_varint(out, recording->writes);
    jfr_put_varint(out, recording->write_ns);
    jfr_put_varint(out, recording->write_max_ns);
    jfr_put_varint(out, recording->written_bytes);
    jfr_put_varint(out, sums.doubt_ns);
    jfr_event_end(out, begin);
}

static void put_times(struct recording *recording, uint64_t now_ns, enum jw_cost_clock clock)
{
    const struct jw_cost_times *times = &recording->cost.handlers[clock];
    const struct jw_cost_measured measured = jw_cost_measured_from(times, 0);
    const struct jw_cost_measured longer = jw_cost_measured_from(times, JW_COST_LONG_OCTAVE);
    struct jfr_buffer *out = &recording->events;
    const size_t begin = recording_event(recording, JFR_TYPE_HANDLER_TIME, now_ns);

    jfr_put_string(out, clock_names[clock]);
    jfr_put_varint(out, times->count);
    jfr_put_varint(out, times->elapsed_ns);
    jfr_put_varint(out, jw_cost_percentile_ns(times, 500));
    jfr_put_varint(out, jw_cost_percentile_ns(times, 900));
    jfr_put_varint(out, jw_cost_percentile_ns(times, 990));
    jfr_put_varint(out, jw_cost_percentile_ns(times, 999));
    jfr_put_varint(out, jw_cost_percentile_ns(times, 1000));
    jfr_put_varint(out, measured.count);
    jfr_put_varint(out, measured.cpu_ns);
    jfr_put_varint(out, times->longest_cpu_ns);
    jfr_put_varint(out, longer.count);
    jfr_put_varint(out, longer.cpu_ns);
    jfr_put_varint(out, jw_cost_cpu_ns(times, NULL));
    jfr_event_end(out, begin);
}

static void put_buckets(struct recording *recording, uint64_t now_ns, enum jw_cost_clock clock)
{
    const struct jw_cost_times *times = &recording->cost.handlers[clock];
    struct jfr_buffer *out = &recording->events;

    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++) {
        if (times->buckets[i] == 0)
            continue;

        const size_t begin = recording_event(recording, JFR_TYPE_HANDLER_TIME_BUCKET, now_ns);
        jfr_put_string(out, clock_names[clock]);
        jfr_put_varint(out, jw_cost_bucket_end_ns(i));
        jfr_put_varint(out, times->buckets[i]);
        jfr_event_end(out, begin);
    }
}

void recording_put_cost(struct recording *recording, uint64_t now_ns, bool is_chunk_end)
{
    if (!recording->has_cost)
        return;
    put_sums(recording, now_ns);
    for (int i = 0; i < JW_COST_CLOCK_LIMIT; i++) {
        const enum jw_cost_clock clock = (enum jw_cost_clock)i;

        if (recording->cost.handlers[clock].count == 0)
            continue;
        put_times(recording, now_ns, clock);
        if (is_chunk_end)
            put_buckets(recording, now_ns, clock);
    }
}
