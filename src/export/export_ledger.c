/* Where the CPU time went: lines for texts and pages, and threads that samples tell least of. Context: dump,
 * tool. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "export/export_internal.h"

#define EXPORT_THREAD_COUNT 10u

/* Threads with less than such a part of the CPU time between clock and samples are not listed. */
#define EXPORT_NOTED_PART 1000

static uint64_t export_size(int64_t value)
{
    return value < 0 ? (uint64_t)-value : (uint64_t)value;
}

static void export_put_signed(struct export_out *out, int64_t duration_ns)
{
    if (duration_ns < 0)
        export_put_char(out, '-');
    export_put_value(out, export_size(duration_ns), "ns");
}

/* "1.2 s (12.3 %)", of the CPU time; no more than all of it. */
static void export_put_part(struct export_out *out, int64_t part_ns, const struct jw_ledger *ledger)
{
    const uint64_t whole = export_size(ledger->process_ns);

    export_put_signed(out, part_ns);
    export_put(out, " (");
    export_put_share(out, export_size(part_ns) < whole ? export_size(part_ns) : whole, whole);
    export_put_char(out, ')');
}

static void export_put_line(const struct export_job *job, const struct jw_ledger *ledger,
                            enum jw_ledger_line line)
{
    struct export_out *out = job->out;
    const int64_t part_ns = ledger->lines_ns[line];

    if (part_ns < 0 || (part_ns == 0 && line != JW_LEDGER_SAMPLED))
        return;
    export_put(out, line == JW_LEDGER_SAMPLED ? "Sampled   " : "Unsampled ");
    export_put_part(out, part_ns, ledger);
    if (line != JW_LEDGER_SAMPLED) {
        export_put_char(out, ' ');
        export_put(out, jw_ledger_infos[line].phrase);
    }
    if (line == JW_LEDGER_SHORT) {
        export_put(out, ", ");
        export_put_grouped(out, ledger->short_threads);
        export_put(out, " of them");
    }
    export_put_char(out, '\n');
}

void export_put_ledger(const struct export_job *job)
{
    const struct jw_ledger *ledger = profile_ledger_of(job->profile);
    int64_t excess_ns = 0;

    if (ledger == NULL)
        return;
    export_put(job->out, "CPU time  ");
    export_put_signed(job->out, ledger->process_ns);
    export_put(job->out, " by the clock of the process\n");
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        export_put_line(job, ledger, (enum jw_ledger_line)line);
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        excess_ns -= ledger->lines_ns[line] < 0 ? ledger->lines_ns[line] : 0;
    if (excess_ns > 0) {
        export_put(job->out, "Excess    ");
        export_put_part(job->out, excess_ns, ledger);
        export_put(job->out, " that samples stand for beyond what was used\n");
    }
}

void export_put_cost(const struct export_job *job)
{
    const struct jw_cost_sums *cost = profile_cost_of(job->profile);
    char text[256];

    if (cost == NULL)
        return;
    export_put(job->out, "Profiler  ");
    export_put(job->out, jw_cost_sentence(cost, text, sizeof text));
    export_put_char(job->out, '\n');
}

void export_put_cost_json(const struct export_job *job)
{
    const struct jw_cost_sums *cost = profile_cost_of(job->profile);
    char text[256];

    if (cost == NULL)
        return;
    export_put(job->out, ",\n\"cost\":\"");
    export_put_escaped(job->out, jw_cost_sentence(cost, text, sizeof text), EXPORT_ESCAPE_JSON);
    export_put_char(job->out, '"');
}

void export_put_ledger_json(const struct export_job *job)
{
    const struct jw_ledger *ledger = profile_ledger_of(job->profile);

    if (ledger == NULL)
        return;
    export_put_format(job->out, ",\n\"cpu\":{\"process\":%" PRId64 ",\"lines\":[",
                      ledger->process_ns);
    for (int line = 0; line < JW_LEDGER_LIMIT; line++) {
        export_put(job->out, line == 0 ? "[\"" : ",[\"");
        export_put_escaped(job->out, jw_ledger_infos[line].phrase, EXPORT_ESCAPE_JSON);
        export_put_format(job->out, "\",%" PRId64 "]", ledger->lines_ns[line]);
    }
    export_put_format(job->out, "],\"leftOut\":%" PRId64 "}", ledger->lines_ns[JW_LEDGER_LEFT_OUT]);
}

static int64_t export_unsampled(const struct profile_cpu *cpu)
{
    return cpu->used_ns - cpu->sampled_ns;
}

static int export_compare_cpus(const void *left, const void *right)
{
    const struct profile_cpu *a = left;
    const struct profile_cpu *b = right;
    const uint64_t size_a = export_size(export_unsampled(a));
    const uint64_t size_b = export_size(export_unsampled(b));

    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* "-12.34 ms" in so many columns, ending at the right. */
static void export_put_column_ns(struct export_out *out, int64_t duration_ns)
{
    const uint64_t ms = (export_size(duration_ns) + JW_NS_PER_MS / 2) / JW_NS_PER_MS;
    char text[32];

    /* Not by %f, which writes the host's decimal point. */
    snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", duration_ns < 0 && ms > 0 ? "-" : "",
             ms / 1000, (unsigned)(ms % 1000));
    export_put_format(out, "%9s s", text);
}

bool export_put_threads(const struct export_job *job)
{
    const struct jw_ledger *ledger = profile_ledger_of(job->profile);
    size_t count;
    const struct profile_cpu *cpus = profile_thread_cpus(job->profile, &count);
    struct export_out *out = job->out;
    size_t noted = 0;

    if (ledger == NULL || count == 0)
        return true;

    struct profile_cpu *sorted = jw_alloc(jw_mul_bytes(count, sizeof *sorted));
    if (sorted == NULL)
        return false;
    memcpy(sorted, cpus, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, export_compare_cpus);
    while (noted < count && noted < EXPORT_THREAD_COUNT &&
           export_size(export_unsampled(&sorted[noted])) * EXPORT_NOTED_PART >=
               export_size(ledger->process_ns))
        noted++;
    if (noted > 0)
        export_put_format(out,
                          "\nThreads by CPU time that no sample stands for (%zu of %zu names)\n\n"
                          "  unsampled   CPU time    sampled    ended  thread\n",
                          noted, count);
    for (size_t i = 0; i < noted; i++) {
        export_put_column_ns(out, export_unsampled(&sorted[i]));
        export_put_column_ns(out, sorted[i].used_ns);
        export_put_column_ns(out, sorted[i].sampled_ns);
        export_put_format(out, "  %7" PRIu64 "  ", sorted[i].ended_threads);
        export_put_escaped(out, sorted[i].name, EXPORT_ESCAPE_LINE);
        export_put_char(out, '\n');
    }
    jw_free(sorted);
    return true;
}
