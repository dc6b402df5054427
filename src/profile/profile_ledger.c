/* The CPU ledger of a profile: sums, and a row for all threads of one name; and what jaywalk took. Context: dump, tool. */
#include <string.h>

#include "profile/profile_internal.h"

#define PROFILE_GROUP_BYTES 128

void profile_ledger(struct profile *profile, const struct jw_ledger *ledger)
{
    struct jw_ledger *sums = &profile->ledger;

    profile->has_ledger = true;
    sums->process_ns += ledger->process_ns;
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        sums->lines_ns[line] += ledger->lines_ns[line];
    sums->live_threads += ledger->live_threads;
    sums->ended_threads += ledger->ended_threads;
    sums->short_threads += ledger->short_threads;
}

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

void profile_cost(struct profile *profile, const struct jw_cost_sums *cost)
{
    struct jw_cost_sums *sums = &profile->cost;

    profile->has_cost = true;
    sums->process_ns += cost->process_ns;
    sums->handlers_ns += cost->handlers_ns;
    sums->kernel_ns += cost->kernel_ns;
    sums->own_ns += cost->own_ns;
    sums->median_ns = larger(sums->median_ns, cost->median_ns);
    sums->high_ns = larger(sums->high_ns, cost->high_ns);
}

const struct jw_cost_sums *profile_cost_of(const struct profile *profile)
{
    return profile->has_cost ? &profile->cost : NULL;
}

/* Place of the first row whose name is not below this one. */
static size_t profile_cpu_place(const struct profile *profile, const char *name)
{
    size_t low = 0;
    size_t high = profile->cpu_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(profile->cpus[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The row of this name, adding it on first sight; NULL: out of memory. */
static struct profile_cpu *profile_cpu_at(struct profile *profile, const char *name)
{
    const size_t at = profile_cpu_place(profile, name);

    if (at < profile->cpu_count && strcmp(profile->cpus[at].name, name) == 0)
        return &profile->cpus[at];
    if (profile->cpu_count == profile->cpu_capacity) {
        const size_t capacity = profile->cpu_capacity == 0 ? 64 : profile->cpu_capacity * 2;
        void *cpus = jw_realloc(profile->cpus, jw_mul_bytes(capacity, sizeof *profile->cpus));

        if (cpus == NULL) {
            profile->is_out_of_memory = true;
            return NULL;
        }
        profile->cpus = cpus;
        profile->cpu_capacity = capacity;
    }
    memmove(&profile->cpus[at + 1], &profile->cpus[at],
            (profile->cpu_count - at) * sizeof *profile->cpus);
    profile->cpus[at] = (struct profile_cpu){.name = profile_text(profile, name)};
    profile->cpu_count++;
    return &profile->cpus[at];
}

void profile_thread_cpu(struct profile *profile, const struct profile_cpu *cpu)
{
    char name[PROFILE_GROUP_BYTES];

    (void)jw_ledger_group(cpu->name, strlen(cpu->name), name, sizeof name);

    struct profile_cpu *row = profile_cpu_at(profile, name);
    if (row == NULL)
        return;
    row->used_ns += cpu->used_ns;
    row->sampled_ns += cpu->sampled_ns;
    row->ended_threads += cpu->ended_threads;
}

const struct jw_ledger *profile_ledger_of(const struct profile *profile)
{
    return profile->has_ledger ? &profile->ledger : NULL;
}

const struct profile_cpu *profile_thread_cpus(const struct profile *profile, size_t *count)
{
    *count = profile->cpu_count;
    return profile->cpus;
}
