/* Safepoints that were long waited for, for log, status and recording; control, dump, any. */
#include "agent/delays.h"

#include <stdio.h>

#include "agent/agent.h"
#include "base/counters.h"
#include "recording/recording.h"
#include "sampler/sampler_delays.h"
#include "vm/vm_poll.h"

/* Of the agent's thread: texts that a recording refers to. */
static struct {
    char threshold[24];
    char off[sizeof(struct jw_error) + 8];
    char window[112];
    bool has_window;
    bool has_said;         /* whether samples can be told apart */
    const char *told_poll; /* what was said last of polls */
} live;

static uint64_t tell_off(struct recording *recording, const char *why)
{
    snprintf(live.off, sizeof live.off, "off: %s", why);
    recording_set_now(recording, "ttsp", live.off);
    agent_log(OPTIONS_LOGLEVEL_WARN, "ttsp: safepoints are not watched: %s", why);
    return 0;
}

uint64_t delays_open(const struct options *options, struct recording *recording)
{
    struct jw_error err = {{0}};

    live.told_poll = vm_poll_told();
    live.has_said = vm_safepoint_finding() != VM_SAFEPOINT_SOUGHT;
    if (options->ttsp_ns == 0)
        return 0;
    if (recording_format_of(recording) != RECORDING_JFR)
        return tell_off(recording, "only a recording holds what is seen; name a file such as "
                                   "file=profile.jfr");
    return sampler_delays_check(&err) ? options->ttsp_ns : tell_off(recording, err.message);
}

const char *delays_text(const struct options *options)
{
    if (options->ttsp_ns == 0)
        return "off";
    snprintf(live.threshold, sizeof live.threshold, "%llu", (unsigned long long)options->ttsp_ns);
    return live.threshold;
}

const char *delays_samples_text(void)
{
    switch (vm_safepoint_finding()) {
    case VM_SAFEPOINT_SOUGHT:
        return "not yet: the JVM's symbols are being read";
    case VM_SAFEPOINT_FOUND:
        return "on";
    case VM_SAFEPOINT_MISSING:
        break;
    }
    return "off: this JVM was stripped of its symbols";
}

#define MISSING_WINDOW "closed for good: this JVM was stripped of its symbols, no sample is taken"

const char *delays_window_text(const struct options *options)
{
    static const char *const names[] = {
        [OPTIONS_MOMENT_ASKED] = "SafepointSynchronize::begin",
        [OPTIONS_MOMENT_REACHED] = "RuntimeService::record_safepoint_synchronized",
        [OPTIONS_MOMENT_LEFT] = "SafepointSynchronize::end",
    };

    live.has_window = options->window_begin != OPTIONS_MOMENT_NONE;
    if (!live.has_window)
        return "off";
    if (vm_safepoint_finding() == VM_SAFEPOINT_MISSING)
        return MISSING_WINDOW;
    snprintf(live.window, sizeof live.window, "from %s to %s", names[options->window_begin],
             names[options->window_end]);
    return live.window;
}

bool delays_choose(const struct options *options, struct jw_error *err)
{
    if (options->window_begin == OPTIONS_MOMENT_NONE ||
        vm_safepoint_finding() != VM_SAFEPOINT_MISSING)
        return true;
    jw_error_set(
        err, "begin: this JVM was stripped of its symbols, and does not tell when it comes to its "
             "safepoints; record all, without begin= and end=");
    return false;
}

static void tell_window(struct recording *recording)
{
    if (!live.has_window || vm_safepoint_finding() != VM_SAFEPOINT_MISSING)
        return;
    recording_set_now(recording, "window", MISSING_WINDOW);
    agent_log(OPTIONS_LOGLEVEL_WARN, "begin: the window stays " MISSING_WINDOW);
}

void delays_turn(struct recording *recording)
{
    vm_safepoint_find_symbols();
    if (live.told_poll != vm_poll_told()) {
        live.told_poll = vm_poll_told();
        recording_set_now(recording, "pollsamples", live.told_poll);
        agent_log(OPTIONS_LOGLEVEL_DEBUG, "polls look at the word %u of a thread: %s",
                  (unsigned)vm_poll_offset(), live.told_poll);
    }
    if (live.has_said || vm_safepoint_finding() == VM_SAFEPOINT_SOUGHT)
        return;
    live.has_said = true;
    recording_set_now(recording, "safepointsamples", delays_samples_text());
    tell_window(recording);
}

void delays_tell(void)
{
    const uint64_t slow = jw_counter(JW_COUNT_SAFEPOINTS_SLOW);

    if (slow != 0)
        agent_log(OPTIONS_LOGLEVEL_INFO, "Slow safepoints: %llu, without a culprit %llu",
                  (unsigned long long)slow,
                  (unsigned long long)(jw_counter(JW_COUNT_SAFEPOINTS_NOBODY) +
                                       jw_counter(JW_COUNT_SAFEPOINTS_UNTOLD)));
}

/* "3 1 1": how many threads still ran at each look. */
static const char *running_text(const struct sampler_delay *delay, char *text, size_t room_bytes)
{
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < delay->look_count && i < SAMPLER_DELAY_LOOKS_MAX; i++) {
        const int put = snprintf(text + length, room_bytes - length, "%s%u", i == 0 ? "" : " ",
                                 delay->running[i]);

        if (put < 0 || (size_t)put >= room_bytes - length)
            break;
        length += (size_t)put;
    }
    return text;
}

static const char *const nobody_texts[] = {
    [SAMPLER_DELAY_UNSEEN] = "",
    [SAMPLER_DELAY_AT_POLL] = "poll",
    [SAMPLER_DELAY_OF_VM_THREAD] = "VM thread",
    [SAMPLER_DELAY_UNWATCHED] = "unwatched",
};

static bool ask_delay(void *context, struct recording_delay *out)
{
    static char operation[RECORDING_OPERATION_BYTES], running[RECORDING_RUNNING_BYTES];
    static struct sampler_delay delay;

    (void)context;
    vm_poll_find();
    if (!sampler_delays_take(&delay))
        return false;
    if (delay.operation == 0 ||
        !vm_safepoint_operation_name(delay.operation, operation, sizeof operation))
        operation[0] = '\0';
    *out = (struct recording_delay){
        .number = delay.number,
        .begin_ns = delay.begin_ns,
        .reach_ns = delay.reach_ns,
        .inside_ns = delay.inside_ns,
        .late_record = SAMPLER_DELAY_VALUE(delay.number, delay.record),
        .nobody = nobody_texts[delay.nobody],
        .operation = operation,
        .running = running_text(&delay, running, sizeof running),
        .is_used_known = delay.facts.is_known,
        .cpu_ns = delay.facts.cpu_ns,
        .waited_ns = delay.facts.waited_ns,
        .minor_faults = delay.facts.minor_faults,
        .major_faults = delay.facts.major_faults,
    };
    return true;
}

void delays_fill(struct recording_sources *out)
{
    out->delay = ask_delay;
}
