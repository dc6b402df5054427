/* Native stacks beside libunwind's, for log, status and recording; control, dump, any. */
#include "agent/nativecheck.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/counters.h"
#include "recording/recording.h"
#include "unwind/unwind.h"
#include "unwind/unwind_live.h"

/* Of the agent's thread: texts that a recording refers to. */
static struct {
    bool is_on;
    bool is_off_told, is_example_told, is_live_told;
    char interval[24];
    char off[sizeof(struct jw_error) + 8], example[sizeof(struct jw_error)],
        shorter[sizeof(struct jw_error)];
} live;

static void tell_off(struct recording *recording, const char *why)
{
    snprintf(live.off, sizeof live.off, "off: %s", why);
    recording_set_now(recording, "nativecheck", live.off);
    if (!live.is_off_told)
        agent_log(OPTIONS_LOGLEVEL_WARN, "nativecheck: native stacks are not compared: %s", why);
    live.is_off_told = true;
}

void nativecheck_open(const struct options *options, struct recording *recording)
{
    struct jw_error err = {{0}};

    unwind_check_close();
    live.is_on = options->nativecheck_ns != 0;
    if (live.is_on &&
        (options->cstack == OPTIONS_CSTACK_NO || options->cstack == OPTIONS_CSTACK_FP ||
         options->cstack == OPTIONS_CSTACK_LIBUNWIND)) {
        live.is_on = false;
        tell_off(recording, "with this cstack= no native frames are found by the tables of their "
                            "libraries; leave it out");
    }
    if (live.is_on && !unwind_check_open(options->nativecheck_ns, &err)) {
        live.is_on = false;
        tell_off(recording, err.message);
    }
}

void nativecheck_turn(struct recording *recording)
{
    struct unwind_texts texts;
    struct jw_error why;

    if (!live.is_live_told && unwind_live_is_off(&why)) {
        live.is_live_told = true;
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s", why.message);
    }
    if (!live.is_on)
        return;
    unwind_check_turn();
    unwind_check_tell(&texts);
    if (texts.off.message[0] != '\0') {
        live.is_on = false;
        tell_off(recording, texts.off.message);
    }
    if (strcmp(live.shorter, texts.shorter.message) != 0)
        agent_log(OPTIONS_LOGLEVEL_DEBUG, "a native stack ends where libunwind goes on: %s",
                  texts.shorter.message);
    memcpy(live.shorter, texts.shorter.message, sizeof live.shorter);
    if (strcmp(live.example, texts.different.message) == 0)
        return;
    memcpy(live.example, texts.different.message, sizeof live.example);
    recording_set(recording, "nativedifference", live.example);
    if (live.is_example_told)
        return;
    live.is_example_told = true;
    recording_set_now(recording, "nativedifference", live.example);
    agent_log(OPTIONS_LOGLEVEL_WARN,
              "a native stack is not as libunwind finds it, please report it: %s", live.example);
}

void nativecheck_close(struct recording *recording)
{
    nativecheck_turn(recording);
    unwind_check_close();
    live.is_on = false;
}

const char *nativecheck_text(const struct options *options)
{
    if (options->nativecheck_ns == 0)
        return "off";
    snprintf(live.interval, sizeof live.interval, "%llu",
             (unsigned long long)options->nativecheck_ns);
    return live.interval;
}

const char *nativecheck_example(void)
{
    return live.example;
}

void nativecheck_tell(void)
{
    const uint64_t checked = jw_counter(JW_COUNT_NATIVE_CHECKED);
    struct unwind_texts texts;
    struct jw_error why;

    if (unwind_live_is_off(&why))
        agent_log(OPTIONS_LOGLEVEL_INFO, "Native frames without libunwind: %s", why.message);
    unwind_check_tell(&texts);
    if (texts.off.message[0] != '\0')
        agent_log(OPTIONS_LOGLEVEL_INFO, "Native stacks are not compared with libunwind: %s",
                  texts.off.message);
    if (checked == 0)
        return;
    agent_log(OPTIONS_LOGLEVEL_INFO,
              "Compared with libunwind: %llu native stacks, %llu equal, %llu different, %llu ended "
              "sooner, %llu in part, %llu not comparable; %llu times one more was due and found no "
              "room%s%s",
              (unsigned long long)checked, (unsigned long long)jw_counter(JW_COUNT_NATIVE_EQUAL),
              (unsigned long long)jw_counter(JW_COUNT_NATIVE_DIFFERENT),
              (unsigned long long)jw_counter(JW_COUNT_NATIVE_SHORTER),
              (unsigned long long)(jw_counter(JW_COUNT_NATIVE_NO_WAY) +
                                   jw_counter(JW_COUNT_NATIVE_NO_COPY)),
              (unsigned long long)jw_counter(JW_COUNT_NATIVE_UNCHECKED),
              (unsigned long long)jw_counter(JW_COUNT_NATIVE_NO_ROOM),
              texts.different.message[0] == '\0' ? "" : "; the last: ", texts.different.message);
}
