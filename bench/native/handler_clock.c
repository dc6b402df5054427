/*
 * handler_clock - how long a profiler's signal handler runs, whoever's profiler it is.
 *
 * Preloaded into a JVM it stands in for sigaction(2) and puts clocks around the handler of SIGPROF.
 * At exit it writes, to the file that JW_HANDLER_CLOCK names, what each took in nanoseconds:
 *
 *     count N
 *     cpu median N p90 N p99 N p999 N max N mean N      of the CPU time of the thread
 *     wall median N p90 N p99 N p999 N max N mean N     of the time that went by
 *     warm median N ...
 *
 * Of the wall clock the mean and the high percentiles of a busy machine hold what other processes took; CPU time does not.
 * JW_HANDLER_REPEAT=n calls the handler n times more for each signal; the least of those times (by the wall clock) is what it takes
 * with all it needs in the caches, and that is `warm`. Samples are counted too often then, so this is for clocks alone.
 *
 * What the readings of the clocks cost themselves is measured and taken off.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TIMES          1000000
#define CALIBRATION_ROUNDS 10001

typedef int (*sigaction_function)(int, const struct sigaction *, struct sigaction *);

static struct sigaction real_action; /* of SIGPROF, as its owner believes it installed it */
static uint32_t cpu_ns[MAX_TIMES], wall_ns[MAX_TIMES], warm_ns[MAX_TIMES];
static unsigned repeat;
static atomic_uint time_count;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint32_t span_ns(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns - from_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)(to_ns - from_ns);
}

static uint32_t clocked_call(int signal_number, siginfo_t *info, void *context)
{
    const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);

    real_action.sa_sigaction(signal_number, info, context);
    return span_ns(start_ns, now_ns(CLOCK_MONOTONIC));
}

static void clocked_handler(int signal_number, siginfo_t *info, void *context)
{
    const uint64_t start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint32_t first_ns = clocked_call(signal_number, info, context);
    const uint32_t first_cpu_ns = span_ns(start_ns, now_ns(CLOCK_THREAD_CPUTIME_ID));
    uint32_t least_ns = repeat == 0 ? 0 : UINT32_MAX;

    for (unsigned i = 0; i < repeat; i++) {
        uint32_t took_ns = clocked_call(signal_number, info, context);

        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    unsigned index = atomic_fetch_add(&time_count, 1);
    if (index < MAX_TIMES) {
        cpu_ns[index] = first_cpu_ns;
        wall_ns[index] = first_ns;
        warm_ns[index] = least_ns;
    }
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *text = getenv("JW_HANDLER_REPEAT");

    repeat = text == NULL ? 0 : (unsigned)strtoul(text, NULL, 10);
}

__attribute__((visibility("default"))) int
sigaction(int signal_number, const struct sigaction *action, struct sigaction *old)
{
    static sigaction_function next;

    if (next == NULL)
        next = (sigaction_function)dlsym(RTLD_NEXT, "sigaction");
    if (signal_number != SIGPROF)
        return next(signal_number, action, old);

    struct sigaction before = real_action;
    if (action != NULL) {
        struct sigaction shown = *action;
        bool is_function = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;

        if (is_function && (action->sa_flags & SA_SIGINFO) != 0)
            shown.sa_sigaction = clocked_handler;
        real_action = *action;
        if (next(signal_number, &shown, NULL) != 0) {
            real_action = before;
            return -1;
        }
    }
    if (old != NULL)
        *old = before;
    return 0;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Medians of what the readings around a handler cost. */
static void clock_costs(uint32_t *cpu_cost_ns, uint32_t *wall_cost_ns)
{
    static uint32_t cpu_costs_ns[CALIBRATION_ROUNDS], wall_costs_ns[CALIBRATION_ROUNDS];

    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        const uint64_t cpu_start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
        wall_costs_ns[i] = span_ns(start_ns, now_ns(CLOCK_MONOTONIC));
        cpu_costs_ns[i] = span_ns(cpu_start_ns, now_ns(CLOCK_THREAD_CPUTIME_ID));
    }
    qsort(cpu_costs_ns, CALIBRATION_ROUNDS, sizeof cpu_costs_ns[0], compare);
    qsort(wall_costs_ns, CALIBRATION_ROUNDS, sizeof wall_costs_ns[0], compare);
    *cpu_cost_ns = cpu_costs_ns[CALIBRATION_ROUNDS / 2];
    *wall_cost_ns = wall_costs_ns[CALIBRATION_ROUNDS / 2];
}

static void report_times(FILE *file, const char *name, uint32_t *times_ns, unsigned count,
                         uint32_t cost_ns)
{
    static const struct {
        const char *name;
        unsigned per_mille;
    } quantiles[] = {{"median", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}, {"max", 1000}};
    uint64_t sum_ns = 0;

    qsort(times_ns, count, sizeof times_ns[0], compare);
    for (unsigned i = 0; i < count; i++) {
        times_ns[i] = times_ns[i] > cost_ns ? times_ns[i] - cost_ns : 0;
        sum_ns += times_ns[i];
    }
    fputs(name, file);
    for (unsigned i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        const uint64_t index = (uint64_t)count * quantiles[i].per_mille / 1000;

        fprintf(file, " %s %u", quantiles[i].name, times_ns[index < count ? index : count - 1]);
    }
    fprintf(file, " mean %llu\n", (unsigned long long)(sum_ns / count));
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("JW_HANDLER_CLOCK");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    unsigned count = atomic_load(&time_count);
    uint32_t cpu_cost_ns, wall_cost_ns;

    if (file == NULL)
        return;
    if (count > MAX_TIMES)
        count = MAX_TIMES;
    clock_costs(&cpu_cost_ns, &wall_cost_ns);
    fprintf(file, "count %u\n", count);
    if (count > 0) {
        report_times(file, "cpu", cpu_ns, count, cpu_cost_ns);
        report_times(file, "wall", wall_ns, count, wall_cost_ns);
        report_times(file, "warm", warm_ns, count, repeat == 0 ? 0 : wall_cost_ns);
    }
    fclose(file);
}
