/* Sums and texts of what jaywalk costs; any, dump, control, tool. */
#include "base/cost.h"

#include <stdio.h>

uint64_t jw_cost_bucket_end_ns(uint32_t bucket)
{
    const uint32_t octave = bucket / JW_COST_STEPS, step = bucket % JW_COST_STEPS;

    /* Below 4 ns there is no quarter of a power of two: such durations count as 4 ns. */
    return octave < 2 ? JW_COST_STEPS : (uint64_t)(JW_COST_STEPS + step + 1) << (octave - 2);
}

uint64_t jw_cost_percentile_ns(const struct jw_cost_times *times, uint32_t per_mille)
{
    uint64_t total = 0, passed = 0;

    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++)
        total += times->buckets[i];
    for (uint32_t i = 0; i < JW_COST_BUCKETS && total > 0; i++) {
        passed += times->buckets[i];
        if (times->buckets[i] > 0 && passed * 1000 >= total * per_mille)
            return jw_cost_bucket_end_ns(i);
    }
    return 0;
}

uint64_t jw_cost_cpu_ns(const struct jw_cost_times *times)
{
    if (times->measured_count == 0)
        return times->elapsed_ns;
    return (uint64_t)((double)times->measured_cpu_ns / (double)times->measured_count *
                      (double)times->count);
}

uint64_t jw_cost_recent_ns(struct jw_cost_recent *recent, const struct jw_cost *cost)
{
    struct jw_cost_times all = cost->handlers[JW_COST_CPU];

    jw_cost_add(&all, &cost->handlers[JW_COST_WALL]);
    if (all.measured_count == 0)
        return all.count == 0 ? 0 : all.elapsed_ns / all.count;

    const uint64_t mean_ns =
        (all.measured_cpu_ns - recent->cpu_ns[0]) / (all.measured_count - recent->count[0]);
    if (all.measured_count - recent->count[1] >= JW_COST_RECENT) {
        recent->count[0] = recent->count[1];
        recent->cpu_ns[0] = recent->cpu_ns[1];
        recent->count[1] = all.measured_count;
        recent->cpu_ns[1] = all.measured_cpu_ns;
    }
    return mean_ns;
}

void jw_cost_since(struct jw_cost_times *times, const struct jw_cost_times *before)
{
    times->count -= before->count;
    times->elapsed_ns -= before->elapsed_ns;
    times->measured_count -= before->measured_count;
    times->measured_cpu_ns -= before->measured_cpu_ns;
    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++)
        times->buckets[i] -= before->buckets[i];
}

void jw_cost_add(struct jw_cost_times *times, const struct jw_cost_times *other)
{
    times->count += other->count;
    times->elapsed_ns += other->elapsed_ns;
    times->measured_count += other->measured_count;
    times->measured_cpu_ns += other->measured_cpu_ns;
    if (other->longest_cpu_ns > times->longest_cpu_ns)
        times->longest_cpu_ns = other->longest_cpu_ns;
    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++)
        times->buckets[i] += other->buckets[i];
}

void jw_cost_sum_up(const struct jw_cost *cost, struct jw_cost_sums *out)
{
    struct jw_cost_times all = cost->handlers[JW_COST_CPU];
    uint64_t handlers_ns = 0;

    for (int clock = 0; clock < JW_COST_CLOCK_LIMIT; clock++)
        handlers_ns += jw_cost_cpu_ns(&cost->handlers[clock]);
    jw_cost_add(&all, &cost->handlers[JW_COST_WALL]);
    const struct jw_cost_times *shown = all.count > 0 ? &all : &cost->handlers[JW_COST_HOOK];
    *out = (struct jw_cost_sums){
        .process_ns = cost->process_ns,
        .handlers_ns = handlers_ns,
        .kernel_ns = all.count * cost->signal_ns,
        .own_ns = cost->agent_ns + cost->clock_ns,
        .median_ns = jw_cost_percentile_ns(shown, 500),
        .high_ns = jw_cost_percentile_ns(shown, 990),
    };
}

uint64_t jw_cost_own_ns(const struct jw_cost_sums *sums)
{
    return sums->handlers_ns + sums->kernel_ns + sums->own_ns;
}

/* "0.05", of a hundred. */
static const char *share_text(uint64_t part, uint64_t whole, char text[16])
{
    const double hundredths = whole == 0 ? 0 : (double)part * 10000.0 / (double)whole + 0.5;
    const unsigned shown = hundredths > 999999 ? 999999 : (unsigned)hundredths;

    snprintf(text, 16, "%u.%02u", shown / 100, shown % 100);
    return text;
}

/* "1.9 us", with two digits that count. */
static const char *time_text(uint64_t time_ns, char text[24])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    uint64_t tenths = time_ns * 10;
    size_t unit = 0;

    while (tenths >= 10000 && unit + 1 < JW_COUNT_OF(units)) {
        tenths /= 1000;
        unit++;
    }
    if (tenths < 100)
        snprintf(text, 24, "%llu.%llu %s", (unsigned long long)(tenths / 10),
                 (unsigned long long)(tenths % 10), units[unit]);
    else
        snprintf(text, 24, "%llu %s", (unsigned long long)(tenths / 10), units[unit]);
    return text;
}

const char *jw_cost_sentence(const struct jw_cost_sums *sums, char *text, size_t room_bytes)
{
    const uint64_t whole = sums->process_ns;
    char all[16], handlers[16], kernel[16], own[16], median[24], high[24];

    snprintf(text, room_bytes,
             "%s %% of the CPU time of the process: %s %% in handlers (median %s, 99 %% below %s), "
             "%s %% for signals in the kernel (estimated), %s %% own threads",
             share_text(jw_cost_own_ns(sums), whole, all),
             share_text(sums->handlers_ns, whole, handlers), time_text(sums->median_ns, median),
             time_text(sums->high_ns, high), share_text(sums->kernel_ns, whole, kernel),
             share_text(sums->own_ns, whole, own));
    return text;
}
