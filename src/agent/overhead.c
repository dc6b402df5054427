/* overhead=: intervals as long as the budget wants them; decided on the agent's thread, and told; dump. */
#include <stdio.h>
#include <string.h>

#include "agent/session_internal.h"
#include "base/clock.h"
#include "base/cost.h"
#include "base/counters.h"
#include "sampler/sampler_pace.h"

#define DECIDE_NS  (900 * JW_NS_PER_MS) /* a turn; it may be asked more often */
#define LOOK_NS    (250 * JW_NS_PER_MS) /* the least, where a process that runs pays far too much */
#define STARTS     2                /* turns in which symbols and names are read that stay known */
#define LONGEST_NS JW_NS_PER_SECOND /* no interval is stretched beyond it */

/* While the process uses less than such a part of one processor, the budget is of that part. */
#define FLOOR_PART 20

/* Of the agent's thread. */
static struct {
    struct sampler_pace pace;
    struct jw_cost_recent recent;
    uint64_t asked_cpu_ns, asked_wall_ns;
    uint64_t decided_ns;
    uint64_t handlers, clock_ns, agent_ns, process_ns; /* then */
    uint32_t turns;
    bool is_on;
} overhead;

static uint64_t shorter_of(uint64_t left, uint64_t right)
{
    return left == 0 || (right != 0 && right < left) ? right : left;
}

static uint64_t stretched(uint64_t asked_ns)
{
    return sampler_pace_stretched_ns(asked_ns, overhead.pace.stretch, LONGEST_NS);
}

static void append(char *text, size_t room_bytes, const char *what, uint64_t from_ns,
                   uint64_t to_ns)
{
    size_t used_bytes = 0;

    while (text[used_bytes] != '\0')
        used_bytes++;
    if (from_ns != to_ns)
        snprintf(text + used_bytes, room_bytes - used_bytes, "%s%s every %llu us in place of %llu",
                 used_bytes == 0 ? "" : ", ", what, (unsigned long long)(to_ns / 1000),
                 (unsigned long long)(from_ns / 1000));
}

static void change(struct recording *recording, uint64_t now_ns)
{
    struct recording_interval_change told = {
        .time_ns = now_ns,
        .share_ppm = overhead.pace.share_ppm,
        .budget_ppm = overhead.pace.budget_ppm,
        .to_cpu_ns = stretched(overhead.asked_cpu_ns),
        .to_wall_ns = stretched(overhead.asked_wall_ns),
    };
    char text[160] = "";

    sampler_intervals(&told.from_cpu_ns, &told.from_wall_ns);
    const bool is_longer = told.to_cpu_ns > told.from_cpu_ns || told.to_wall_ns > told.from_wall_ns;
    sampler_set_intervals(told.to_cpu_ns, told.to_wall_ns);
    jw_count(is_longer ? JW_COUNT_INTERVALS_STRETCHED : JW_COUNT_INTERVALS_SHRUNK);
    recording_interval_change(recording, &told);
    append(text, sizeof text, "CPU time", told.from_cpu_ns, told.to_cpu_ns);
    append(text, sizeof text, "the wall clock", told.from_wall_ns, told.to_wall_ns);
    agent_log(OPTIONS_LOGLEVEL_INFO,
              "overhead: jaywalk took %llu.%02llu %% of the CPU time, of %llu.%02llu %% that it "
              "may: sampling %s",
              (unsigned long long)(told.share_ppm / 10000),
              (unsigned long long)(told.share_ppm / 100 % 100),
              (unsigned long long)(told.budget_ppm / 10000),
              (unsigned long long)(told.budget_ppm / 100 % 100), text);
}

void overhead_begin(struct recording *recording, uint64_t budget_ppm, bool goes_on)
{
    overhead.is_on = budget_ppm != 0;
    overhead.decided_ns = 0;
    overhead.turns = 0;
    memset(&overhead.recent, 0, sizeof overhead.recent);
    sampler_intervals(&overhead.asked_cpu_ns, &overhead.asked_wall_ns);
    if (goes_on && overhead.is_on) {
        if (overhead.pace.stretch != SAMPLER_PACE_ONE)
            change(recording, jw_now_ns());
        return;
    }
    const uint64_t shortest_ns = shorter_of(overhead.asked_cpu_ns, overhead.asked_wall_ns);
    sampler_pace_begin(&overhead.pace, budget_ppm,
                       shortest_ns == 0 ? 0 : LONGEST_NS * SAMPLER_PACE_ONE / shortest_ns);
}

/* Whether what came since the last decision is enough for another one. */
static bool is_due(uint64_t elapsed_ns, uint64_t steered_ns, uint64_t used_ns)
{
    return elapsed_ns >= DECIDE_NS ||
           (elapsed_ns >= LOOK_NS && used_ns >= elapsed_ns / FLOOR_PART &&
            sampler_pace_is_far(&overhead.pace, steered_ns, used_ns));
}

static void decide(struct recording *recording, const struct jw_cost *cost, uint64_t now_ns,
                   uint64_t steered_ns)
{
    const uint64_t elapsed_ns = now_ns - overhead.decided_ns;
    const uint64_t used_ns = cost->process_ns - overhead.process_ns;
    const uint64_t floor_ns = elapsed_ns / FLOOR_PART;
    const uint64_t fixed_ns = overhead.turns < STARTS ? 0 : cost->agent_ns - overhead.agent_ns;

    overhead.turns += elapsed_ns >= DECIDE_NS;
    if (sampler_pace_turn(&overhead.pace, steered_ns, fixed_ns,
                          used_ns > floor_ns ? used_ns : floor_ns))
        change(recording, now_ns);
}

void overhead_turn(struct recording *recording, const struct jw_cost *cost)
{
    const uint64_t now_ns = jw_now_ns();
    uint64_t handlers = 0;

    /* What the last turn of a session that stops finds is for nobody: its engines are at rest. */
    if (!overhead.is_on || !session.is_sampling)
        return;
    /* Hooks are not steered. */
    handlers += cost->handlers[JW_COST_CPU].count + cost->handlers[JW_COST_WALL].count;
    if (overhead.decided_ns != 0) {
        const uint64_t each_ns = jw_cost_recent_ns(&overhead.recent, cost) + cost->signal_ns;
        const uint64_t steered_ns =
            (handlers - overhead.handlers) * each_ns + cost->clock_ns - overhead.clock_ns;

        if (!is_due(now_ns - overhead.decided_ns, steered_ns,
                    cost->process_ns - overhead.process_ns))
            return;
        decide(recording, cost, now_ns, steered_ns);
    }
    overhead.decided_ns = now_ns;
    overhead.handlers = handlers;
    overhead.clock_ns = cost->clock_ns;
    overhead.agent_ns = cost->agent_ns;
    overhead.process_ns = cost->process_ns;
}
