/* What jaywalk takes of the process: readings at each turn, to the recording and to who asks; dump, any. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/tell_internal.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/cost.h"
#include "os/os_thread.h"
#include "os/os_timer.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "sampler/sampler_delays.h"

/* A look reads all clocks and buckets: so often at the most. */
#define LOOK_NS (100 * JW_NS_PER_MS)

/* The agent's thread alone, but for `last`. */
static struct jw_cost zero;   /* readings when the session began, or went on */
static struct jw_cost before; /* sums of the time before a pause */
static struct jw_cost now;    /* since it began */
static struct {
    uint64_t count, sum_ns, max_ns;
} rotations; /* likewise: of the last one before a pause, too, whose turn was told without it */

static struct {
    pthread_mutex_t lock;
    struct jw_cost cost;
    bool is_known;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Asked once; relaxed: a figure. */
static uint64_t signal_ns(void)
{
    static _Atomic uint64_t known_ns;
    uint64_t ns = jw_load_relaxed(&known_ns);

    if (ns == 0) {
        ns = os_system_call_ns() * JW_COST_CALLS_A_SIGNAL;
        jw_store_relaxed(&known_ns, ns);
    }
    return ns;
}

static void read_all(struct jw_cost *out)
{
    out->process_ns = os_process_cpu_ns();
    out->agent_ns = os_thread_own_cpu_ns(AGENT_THREAD_NAME);
    out->clock_ns = os_thread_own_cpu_ns(SAMPLER_CLOCK_THREAD_NAME) +
                    os_thread_own_cpu_ns(SAMPLER_DELAYS_THREAD_NAME);
    for (int i = 0; i < JW_COST_CLOCK_LIMIT; i++)
        sampler_cost((enum jw_cost_clock)i, &out->handlers[i]);
}

void cost_forget(void)
{
    now = (struct jw_cost){0};
    memset(&rotations, 0, sizeof rotations);
}

void cost_begin(void)
{
    before = now;
    sampler_cost_begin();
    read_all(&zero);
    pthread_mutex_lock(&last.lock);
    last.is_known = false;
    pthread_mutex_unlock(&last.lock);
}

void cost_rotated(uint64_t begin_ns)
{
    const uint64_t took_ns = jw_now_ns() - begin_ns;

    rotations.count++;
    rotations.sum_ns += took_ns;
    if (took_ns > rotations.max_ns)
        rotations.max_ns = took_ns;
}

static void read_now(void)
{
    read_all(&now);
    now.process_ns += before.process_ns - zero.process_ns;
    now.agent_ns += before.agent_ns - zero.agent_ns;
    now.clock_ns += before.clock_ns - zero.clock_ns;
    for (int i = 0; i < JW_COST_CLOCK_LIMIT; i++) {
        jw_cost_since(&now.handlers[i], &zero.handlers[i]);
        jw_cost_add(&now.handlers[i], &before.handlers[i]);
    }
    now.signal_ns = signal_ns();
    now.rotations = rotations.count;
    now.rotation_ns = rotations.sum_ns;
    now.rotation_max_ns = rotations.max_ns;
}

void cost_look(struct recording *recording)
{
    static uint64_t looked_ns;
    const uint64_t now_ns = jw_now_ns();

    if (now_ns - looked_ns < LOOK_NS)
        return;
    looked_ns = now_ns;
    read_now();
    overhead_turn(recording, &now);
}

void cost_turn(struct recording *recording)
{
    read_now();
    overhead_turn(recording, &now);
    sampler_intervals(&now.interval_ns, &now.wall_interval_ns);
    recording_cost(recording, &now);
    pthread_mutex_lock(&last.lock);
    last.cost = now;
    last.is_known = true;
    pthread_mutex_unlock(&last.lock);
}

void cost_tell(void)
{
    struct jw_cost_sums sums;
    uint64_t longest_ns = 0;
    char text[256];

    pthread_mutex_lock(&last.lock);
    const bool is_known = last.is_known;
    if (is_known)
        jw_cost_sum_up(&last.cost, &sums);
    for (int i = 0; is_known && i < JW_COST_CLOCK_LIMIT; i++)
        if (last.cost.handlers[i].longest_cpu_ns > longest_ns)
            longest_ns = last.cost.handlers[i].longest_cpu_ns;
    pthread_mutex_unlock(&last.lock);
    if (!is_known || sums.process_ns == 0)
        return;
    (void)jw_cost_sentence(&sums, text, sizeof text);
    if (longest_ns > 0)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Cost: %s; no handler used more than %llu us of CPU time",
                  text, (unsigned long long)((longest_ns + 999) / 1000));
    else
        agent_log(OPTIONS_LOGLEVEL_INFO, "Cost: %s", text);
}

/* ---- metrics: since the process started ---- */

#define FIRST_OCTAVE 8  /* 256 ns */
#define LAST_OCTAVE  27 /* 134 ms */

/* Seconds in full, without a locale. */
static void put_seconds(struct tell_page *page, const char *labels, uint64_t time_ns)
{
    tell_put(page, "%s %llu.%09llu\n", labels, (unsigned long long)(time_ns / JW_NS_PER_SECOND),
             (unsigned long long)(time_ns % JW_NS_PER_SECOND));
}

static void put_handlers(struct tell_page *page, const char *clock,
                         const struct jw_cost_times *times)
{
    char labels[96];
    uint64_t passed = 0;
    uint32_t bucket = 0;

    for (uint32_t octave = FIRST_OCTAVE; octave <= LAST_OCTAVE; octave++) {
        for (; bucket < octave * JW_COST_STEPS; bucket++)
            passed += times->buckets[bucket];
        tell_put(page, "jaywalk_handler_seconds_bucket{clock=\"%s\",le=\"%llu.%09llu\"} %llu\n",
                 clock, 0ull, 1ull << octave, (unsigned long long)passed);
    }
    tell_put(page, "jaywalk_handler_seconds_bucket{clock=\"%s\",le=\"+Inf\"} %llu\n", clock,
             (unsigned long long)times->count);
    snprintf(labels, sizeof labels, "jaywalk_handler_seconds_sum{clock=\"%s\"}", clock);
    put_seconds(page, labels, times->elapsed_ns);
    tell_put(page, "jaywalk_handler_seconds_count{clock=\"%s\"} %llu\n", clock,
             (unsigned long long)times->count);
}

void cost_metrics(struct tell_page *page)
{
    struct jw_cost cost = {0};
    struct jw_cost_sums sums;

    read_all(&cost);
    cost.signal_ns = signal_ns();
    jw_cost_sum_up(&cost, &sums);
    tell_put(page, "# HELP jaywalk_handler_seconds time in handlers of profiling signals, and in "
                   "hooks, elapsed\n"
                   "# TYPE jaywalk_handler_seconds histogram\n");
    put_handlers(page, "cpu", &cost.handlers[JW_COST_CPU]);
    put_handlers(page, "wall", &cost.handlers[JW_COST_WALL]);
    put_handlers(page, "hook", &cost.handlers[JW_COST_HOOK]);
    tell_put_head(page, "cost_seconds_total",
                  "CPU time that jaywalk took; kernel: an estimate for signals");
    put_seconds(page, "jaywalk_cost_seconds_total{part=\"handlers\"}", sums.handlers_ns);
    put_seconds(page, "jaywalk_cost_seconds_total{part=\"kernel\"}", sums.kernel_ns);
    put_seconds(page, "jaywalk_cost_seconds_total{part=\"agent_thread\"}", cost.agent_ns);
    put_seconds(page, "jaywalk_cost_seconds_total{part=\"clock_thread\"}", cost.clock_ns);
    tell_put_head(page, "handlers_doubt_seconds",
                  "by so much the CPU time in handlers and hooks may be wrong");
    put_seconds(page, "jaywalk_handlers_doubt_seconds", sums.doubt_ns);
    tell_put_head(page, "process_cpu_seconds_total", "CPU time of the process");
    put_seconds(page, "jaywalk_process_cpu_seconds_total", cost.process_ns);
    tell_put_head(page, "handler_longest_cpu_seconds",
                  "no handler used more CPU time since the last start or resume");
    put_seconds(page, "jaywalk_handler_longest_cpu_seconds{clock=\"cpu\"}",
                cost.handlers[JW_COST_CPU].longest_cpu_ns);
    put_seconds(page, "jaywalk_handler_longest_cpu_seconds{clock=\"wall\"}",
                cost.handlers[JW_COST_WALL].longest_cpu_ns);
}
