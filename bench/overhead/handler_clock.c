/*
 * handler_clock - how long a profiler's signal handler runs, whoever's profiler it is.
 *
 * Preloaded into a JVM it stands in for sigaction(2) and puts a clock around the handler of SIGPROF.
 * At exit it writes, to the file that JW_HANDLER_CLOCK names, one line:
 *
 *     count median_ns mean_ns p90_ns p99_ns warm_ns
 *
 * JW_HANDLER_REPEAT=n calls the handler n times more for each signal; the least of those times is what it takes
 * with all it needs in the caches, and warm_ns the median of that over all signals (0 without). Samples are
 * counted too often then, so this is for clocks alone.
 *
 * What the two readings of the clock cost themselves is measured and taken off. Times are of the wall
 * clock, so the mean of a busy machine holds what other processes took; the median does not.
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
static uint32_t times_ns[MAX_TIMES], warm_ns[MAX_TIMES];
static unsigned repeat;
static atomic_uint time_count;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint32_t clocked_call(int signal_number, siginfo_t *info, void *context)
{
    uint64_t start_ns = now_ns();

    real_action.sa_sigaction(signal_number, info, context);

    uint64_t took_ns = now_ns() - start_ns;
    return took_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)took_ns;
}

static void clocked_handler(int signal_number, siginfo_t *info, void *context)
{
    uint32_t first_ns = clocked_call(signal_number, info, context);
    uint32_t least_ns = repeat == 0 ? 0 : UINT32_MAX;

    for (unsigned i = 0; i < repeat; i++) {
        uint32_t took_ns = clocked_call(signal_number, info, context);

        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    unsigned index = atomic_fetch_add(&time_count, 1);
    if (index < MAX_TIMES) {
        times_ns[index] = first_ns;
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

/* Median of what two readings of the clock take. */
static uint32_t clock_cost_ns(void)
{
    static uint32_t costs_ns[CALIBRATION_ROUNDS];

    for (int i = 0; i < CALIBRATION_ROUNDS; i++) {
        uint64_t start_ns = now_ns();
        costs_ns[i] = (uint32_t)(now_ns() - start_ns);
    }
    qsort(costs_ns, CALIBRATION_ROUNDS, sizeof costs_ns[0], compare);
    return costs_ns[CALIBRATION_ROUNDS / 2];
}

static uint32_t without_clock(uint32_t time_ns, uint32_t cost_ns)
{
    return time_ns > cost_ns ? time_ns - cost_ns : 0;
}

static unsigned quantile_index(unsigned count, unsigned percent)
{
    return (unsigned)((uint64_t)count * percent / 100);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("JW_HANDLER_CLOCK");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    unsigned count = atomic_load(&time_count);

    if (file == NULL)
        return;
    if (count > MAX_TIMES)
        count = MAX_TIMES;
    qsort(times_ns, count, sizeof times_ns[0], compare);
    qsort(warm_ns, count, sizeof warm_ns[0], compare);

    uint32_t cost_ns = clock_cost_ns();
    uint64_t sum_ns = 0;
    for (unsigned i = 0; i < count; i++)
        sum_ns += without_clock(times_ns[i], cost_ns);
    if (count > 0)
        fprintf(file, "%u %u %u %u %u %u\n", count,
                without_clock(times_ns[quantile_index(count, 50)], cost_ns),
                (unsigned)(sum_ns / count),
                without_clock(times_ns[quantile_index(count, 90)], cost_ns),
                without_clock(times_ns[quantile_index(count, 99)], cost_ns),
                without_clock(warm_ns[quantile_index(count, 50)], cost_ns));
    fclose(file);
}
