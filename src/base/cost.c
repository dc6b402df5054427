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

void jw_cost_measure(struct jw_cost_times *times, uint64_t elapsed_ns, uint64_t cpu_ns)
{
    struct jw_cost_measured *measured = &times->measured[jw_cost_octave(elapsed_ns)];

    measured->count++;
    measured->cpu_ns += cpu_ns;
}

struct jw_cost_measured jw_cost_measured_from(const struct jw_cost_times *times, uint32_t octave)
{
    struct jw_cost_measured sum = {0, 0};

    for (uint32_t i = octave; i < JW_COST_OCTAVES; i++) {
        sum.count += times->measured[i].count;
        sum.cpu_ns += times->measured[i].cpu_ns;
    }
    return sum;
}

/* Of one octave; elapsed_ns to the middle of each bucket, most_ns to the end of it. */
struct octave {
    double count, elapsed_ns, most_ns;
};

static struct octave octave_of(const struct jw_cost_times *times, uint32_t index)
{
    struct octave sum = {0, 0, 0};

    for (uint32_t i = index * JW_COST_STEPS; i < (index + 1) * JW_COST_STEPS; i++) {
        const double begin_ns = i == 0 ? 0 : (double)jw_cost_bucket_end_ns(i - 1);
        const double end_ns = (double)jw_cost_bucket_end_ns(i);

        sum.count += (double)times->buckets[i];
        sum.elapsed_ns += (double)times->buckets[i] * (begin_ns + end_ns) / 2;
        sum.most_ns += (double)times->buckets[i] * end_ns;
    }
    return sum;
}

static double smaller_of(double left, double right)
{
    return left < right ? left : right;
}

static double larger_of(double left, double right)
{
    return left > right ? left : right;
}

uint64_t jw_cost_cpu_ns(const struct jw_cost_times *times, uint64_t *doubt_ns)
{
    double cpu_ns = 0, count = 0, doubt = 0;

    for (uint32_t i = 0; i < JW_COST_OCTAVES; i++) {
        const struct octave octave = octave_of(times, i);
        const struct jw_cost_measured *measured = &times->measured[i];
        const double known_ns = (double)measured->cpu_ns;
        double took_ns = octave.elapsed_ns;

        if (measured->count > 0)
            took_ns = smaller_of(known_ns / (double)measured->count * octave.count, octave.most_ns);
        else if (i >= JW_COST_LONG_OCTAVE && count > 0)
            took_ns = cpu_ns / count * octave.count;
        /* What they may have taken at most, or what nobody has seen that they took, whichever is more. */
        if (i >= JW_COST_LONG_OCTAVE && measured->count < JW_COST_ENOUGH &&
            (double)measured->count < octave.count)
            doubt += larger_of(octave.elapsed_ns - took_ns,
                               measured->count > 0 ? took_ns - known_ns : 0);
        cpu_ns += took_ns;
        count += octave.count;
    }
    if (doubt_ns != NULL)
        *doubt_ns = (uint64_t)doubt;
    return cpu_ns < (double)times->elapsed_ns ? (uint64_t)cpu_ns : times->elapsed_ns;
}

uint64_t jw_cost_recent_ns(struct jw_cost_recent *recent, const struct jw_cost *cost)
{
    struct jw_cost_times all = cost->handlers[JW_COST_CPU];
    struct jw_cost_times lately;

    jw_cost_add(&all, &cost->handlers[JW_COST_WALL]);
    lately = all;
    jw_cost_since(&lately, &recent->before[0]);
    const uint64_t mean_ns = lately.count == 0 ? 0 : jw_cost_cpu_ns(&lately, NULL) / lately.count;
    if (jw_cost_measured_from(&all, 0).count - jw_cost_measured_from(&recent->before[1], 0).count >=
        JW_COST_RECENT) {
        recent->before[0] = recent->before[1];
        recent->before[1] = all;
    }
    return mean_ns;
}

void jw_cost_since(struct jw_cost_times *times, const struct jw_cost_times *before)
{
    times->count -= before->count;
    times->elapsed_ns -= before->elapsed_ns;
    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++)
        times->buckets[i] -= before->buckets[i];
    for (uint32_t i = 0; i < JW_COST_OCTAVES; i++) {
        times->measured[i].count -= before->measured[i].count;
        times->measured[i].cpu_ns -= before->measured[i].cpu_ns;
    }
}

void jw_cost_add(struct jw_cost_times *times, const struct jw_cost_times *other)
{
    times->count += other->count;
    times->elapsed_ns += other->elapsed_ns;
    if (other->longest_cpu_ns > times->longest_cpu_ns)
        times->longest_cpu_ns = other->longest_cpu_ns;
    for (uint32_t i = 0; i < JW_COST_BUCKETS; i++)
        times->buckets[i] += other->buckets[i];
    for (uint32_t i = 0; i < JW_COST_OCTAVES; i++) {
        times->measured[i].count += other->measured[i].count;
        times->measured[i].cpu_ns += other->measured[i].cpu_ns;
    }
}

/* No part is said to be more than is left of the whole. */
static uint64_t part_of(uint64_t part, uint64_t *left)
{
    const uint64_t taken = part < *left ? part : *left;

    *left -= taken;
    return taken;
}

void jw_cost_sum_up(const struct jw_cost *cost, struct jw_cost_sums *out)
{
    struct jw_cost_times all = cost->handlers[JW_COST_CPU];
    uint64_t handlers_ns = 0, doubt_ns = 0, left_ns = cost->process_ns;

    for (int clock = 0; clock < JW_COST_CLOCK_LIMIT; clock++) {
        uint64_t of_clock_ns;

        handlers_ns += jw_cost_cpu_ns(&cost->handlers[clock], &of_clock_ns);
        doubt_ns += of_clock_ns;
    }
    jw_cost_add(&all, &cost->handlers[JW_COST_WALL]);
    const struct jw_cost_times *shown = all.count > 0 ? &all : &cost->handlers[JW_COST_HOOK];
    *out = (struct jw_cost_sums){
        .process_ns = cost->process_ns,
        .own_ns = part_of(cost->agent_ns + cost->clock_ns, &left_ns),
        .median_ns = jw_cost_percentile_ns(shown, 500),
        .high_ns = jw_cost_percentile_ns(shown, 990),
    };
    out->doubt_ns = doubt_ns < left_ns ? doubt_ns : left_ns;
    out->handlers_ns = part_of(handlers_ns, &left_ns);
    out->kernel_ns = part_of(all.count * cost->signal_ns, &left_ns);
}

bool jw_cost_is_doubtful(const struct jw_cost_sums *sums)
{
    return sums->doubt_ns > sums->handlers_ns / 4 && sums->doubt_ns > sums->process_ns / 100;
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
    char all[16], handlers[16], kernel[16], own[16], median[24], high[24], doubt[16];
    char doubtful[40] = "";

    if (jw_cost_is_doubtful(sums))
        snprintf(doubtful, sizeof doubtful, "give or take %s %%, ",
                 share_text(sums->doubt_ns, whole, doubt));
    snprintf(
        text, room_bytes,
        "%s %% of the CPU time of the process: %s %% in handlers (%smedian %s, 99 %% below %s), "
        "%s %% for signals in the kernel (estimated), %s %% own threads",
        share_text(jw_cost_own_ns(sums), whole, all),
        share_text(sums->handlers_ns, whole, handlers), doubtful,
        time_text(sums->median_ns, median), time_text(sums->high_ns, high),
        share_text(sums->kernel_ns, whole, kernel), share_text(sums->own_ns, whole, own));
    return text;
}
