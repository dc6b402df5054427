/* event=cpu-clock: events of the kernel where they can be had, timers elsewhere; the agent's thread. */
#include "agent/events.h"

#include <stdio.h>

#include "agent/agent.h"
#include "symbols/symbols_kernel.h"

static bool is_kernel_read; /* in this session, or tried */
static char reason[sizeof((struct jw_error *)0)->message];

static bool is_possible(const struct options *values, struct jw_error *err)
{
    if (values->overhead_ppm == 0)
        return engine_cpu_perf_check(err);
    jw_error_set(err, "overhead= makes intervals longer and shorter, and those of perf_events stay "
                      "as they were begun");
    return false;
}

void events_choose(const struct options *values)
{
    struct jw_error err = {{0}};

    reason[0] = '\0';
    is_kernel_read = false;
    if (values->event != OPTIONS_EVENT_CPU_CLOCK || is_possible(values, &err))
        return;
    snprintf(reason, sizeof reason, "%s", err.message);
    agent_log(OPTIONS_LOGLEVEL_WARN,
              "event=cpu-clock: no frames of the kernel, and timers in place of perf_events: %s",
              reason);
}

void events_read_kernel(void)
{
    struct jw_error err = {{0}};

    if (is_kernel_read)
        return;
    is_kernel_read = true;
    if (!symbols_kernel_read("/proc/kallsyms", &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s", err.message);
}

const char *events_reason(void)
{
    return reason;
}

const char *events_text(const struct options *values)
{
    return values->event != OPTIONS_EVENT_CPU_CLOCK ? "off" : reason[0] == '\0' ? "on" : reason;
}

enum sampler_cpu_engine events_engine(const struct options *values)
{
    switch ((enum options_event)values->event) {
    case OPTIONS_EVENT_ITIMER:
        return SAMPLER_CPU_ITIMER;
    case OPTIONS_EVENT_WALL:
        return SAMPLER_CPU_NONE;
    case OPTIONS_EVENT_CPU_CLOCK:
        if (reason[0] == '\0')
            return SAMPLER_CPU_PERF;
        break;
    case OPTIONS_EVENT_CPU:
    case OPTIONS_EVENT_LIMIT:
        break;
    }
    /* Its intervals may change, and each weight is what the thread's clock went on, whatever they are. */
    return values->overhead_ppm != 0 ? SAMPLER_CPU_FINE : sampler_cpu_for(values->interval_ns);
}
