/* Methods that are traced, timed and counted: the agent's thread, but where a call is told: hook, on any Java thread. */
#include "agent/methods.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/counted.h"
#include "agent/told.h"
#include "base/clock.h"
#include "base/counters.h"
#include "instrument/instrument.h"
#include "options/options_value.h"
#include "probe/probe_own.h"
#include "recording/recording.h"
#include "sampler/sampler_hook.h"

/* What a session asks for by one of the options. */
struct asked {
    const char *name; /* of the option and of its probe */
    enum probe_own_kind kind;
    struct probe_own_pattern patterns[PROBE_OWN_LIMIT];
    uint32_t count;
    bool is_on;
};

static struct asked all[] = {
    {.name = "trace", .kind = PROBE_OWN_TRACE},
    {.name = "time", .kind = PROBE_OWN_TIME},
    {.name = "count", .kind = PROBE_OWN_COUNT},
    {.name = "event", .kind = PROBE_OWN_CALL},
};

/* Of those that are summed up. */
static struct counted times, tally;

static const char *texts_of(const struct asked *asked, const struct options *options)
{
    switch (asked->kind) {
    case PROBE_OWN_TRACE:
        return options->traces_of;
    case PROBE_OWN_TIME:
        return options->times_of;
    case PROBE_OWN_COUNT:
        return options->counts_of;
    case PROBE_OWN_CALL:
        return options->event == OPTIONS_EVENT_METHOD ? options->perf : "";
    case PROBE_OWN_LIMIT_OF_KINDS:
        break;
    }
    return "";
}

/* ---- what is asked for ---- */

/* "com.acme.Shop.buy:50ms"; of what is timed or counted there is no time. */
static bool read_pattern(const struct asked *asked, const char *text, struct probe_own_pattern *out,
                         struct jw_error *err)
{
    const char *colon = asked->kind == PROBE_OWN_TRACE ? strrchr(text, ':') : NULL;
    char rules[PROBE_OWN_RULES_BYTES];
    struct jw_error why = {{0}};

    *out = (struct probe_own_pattern){.text = text,
                                      .length_bytes =
                                          colon == NULL ? strlen(text) : (size_t)(colon - text),
                                      .least_ns = METHODS_LEAST_NS};
    if (colon != NULL) {
        const enum options_value_status status =
            options_value_duration(colon + 1, strlen(colon + 1), &out->least_ns);

        if (status != OPTIONS_VALUE_OK) {
            jw_error_set(err, "trace: the time '%.100s' %s; example: trace=com.acme.Shop.buy:50ms",
                         colon + 1, options_value_status_text(status));
            return false;
        }
    }
    if (probe_own_rules(text, out->length_bytes, rules, &why))
        return true;
    jw_error_set(err, "%s: %.380s", asked->name, why.message);
    return false;
}

static bool choose(const struct asked *asked, const struct options *options, struct jw_error *err)
{
    struct probe_own_pattern pattern;
    uint32_t count = 0;

    for (const char *at = texts_of(asked, options); *at != '\0'; at += strlen(at) + 1) {
        if (!read_pattern(asked, at, &pattern, err))
            return false;
        if (++count > PROBE_OWN_LIMIT) {
            jw_error_set(err, "%s: more than %u patterns; use stars", asked->name, PROBE_OWN_LIMIT);
            return false;
        }
    }
    return true;
}

bool methods_choose(const struct options *options, struct jw_error *err)
{
    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        if (!choose(&all[i], options, err))
            return false;
    }
    return true;
}

/* They point into the session's own options. */
static void read_all(struct asked *asked, const struct options *options)
{
    struct jw_error err = {{0}};

    asked->count = 0;
    for (const char *at = texts_of(asked, options); *at != '\0' && asked->count < PROBE_OWN_LIMIT;
         at += strlen(at) + 1) {
        if (!read_pattern(asked, at, &asked->patterns[asked->count], &err))
            continue; /* was looked at before */
        asked->patterns[asked->count].site = (int32_t)asked->count;
        asked->count++;
    }
}

/* ---- a traced call ---- */

static void told(int32_t site, uint64_t duration_ns)
{
    const uint64_t now_ns = jw_now_ns();
    const struct sampler_hook hook = {
        .kind = EVENT_METHOD_TRACE,
        .time_ns = duration_ns < now_ns ? now_ns - duration_ns : now_ns,
        .weight_ns = duration_ns < now_ns ? duration_ns : 0,
        .value = (uint64_t)site,
    };

    told_sample(&hook);
}

/* ---- a call that is sampled ---- */

static void called(uint64_t calls)
{
    const struct sampler_hook hook = {
        .kind = EVENT_COUNTER_SAMPLE, .flags = EVENT_BY_HOOK, .weight_ns = calls};

    told_sample(&hook);
}

/* ---- times ---- */

#define HISTOGRAM_BYTES (PROBE_OWN_COUNTS * 36u)

static const char *histogram_of(const int64_t *counts)
{
    static char text[HISTOGRAM_BYTES];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < PROBE_OWN_COUNTS; i++) {
        if (counts[i] != 0 && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu:%llu",
                                     used == 0 ? "" : " ", (unsigned long long)probe_own_step_ns(i),
                                     (unsigned long long)counts[i]);
    }
    return text;
}

static struct recording_text text_of(const char *text)
{
    return (struct recording_text){text, strlen(text)};
}

/* Of methods that were called since it was told last. `is_cut`: what is told is the end of it, and each begins anew. */
static void put_times(JNIEnv *jni, struct recording *recording, bool is_cut)
{
    struct instrument_times one;

    times.turned_ns = jw_now_ns();
    for (uint32_t i = 0; instrument_own_times(jni, i, &one); i++) {
        const bool is_news = one.count != times.told[i];

        times.told[i] = is_cut ? 0 : one.count;
        if (is_cut)
            (void)instrument_own_cut(jni, i); /* tell_losses says what that lost */
        if (!is_news)
            continue;

        const struct recording_times put = {.class_name = text_of(one.of.class_name),
                                            .name = text_of(one.of.method),
                                            .descriptor = text_of(one.of.descriptor),
                                            .count = one.count,
                                            .elapsed_ns = times.turned_ns - times.began_ns,
                                            .total_ns = one.total_ns,
                                            .least_ns = one.least_ns,
                                            .most_ns = one.most_ns,
                                            .histogram = histogram_of(one.counts)};

        recording_put_times(recording, &put);
    }
    if (is_cut)
        times.began_ns = times.turned_ns;
}

/* ---- counts ---- */

static void put_counts(JNIEnv *jni, struct recording *recording, bool is_cut)
{
    (void)counted_put(jni, INSTRUMENT_COUNTED_CALLS, &tally, recording, is_cut);
}

/* ---- both ---- */

static void tell_losses(const char *name, uint64_t methods, uint64_t calls)
{
    if (methods != 0)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: of %llu methods nothing is told: there are more than %u, or their names are "
                  "too long, or there was no memory for them; name fewer",
                  name, (unsigned long long)methods, PROBE_OWN_SITES);
    if (calls != 0)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: %llu calls are not counted: there was no memory or stack left for them",
                  name, (unsigned long long)calls);
}

static bool is_due(const struct counted *sums)
{
    return jw_now_ns() - sums->turned_ns >= METHODS_TURN_NS;
}

void methods_turn(JNIEnv *jni, struct recording *recording)
{
    if (all[PROBE_OWN_TIME].is_on && jni != NULL && is_due(&times))
        put_times(jni, recording, false);
    if (all[PROBE_OWN_COUNT].is_on && jni != NULL && is_due(&tally))
        put_counts(jni, recording, false);
}

void methods_look(JNIEnv *jni, struct recording *recording)
{
    if (all[PROBE_OWN_TIME].is_on && jni != NULL)
        put_times(jni, recording, false);
    if (all[PROBE_OWN_COUNT].is_on && jni != NULL)
        put_counts(jni, recording, false);
}

void methods_cut(JNIEnv *jni, struct recording *recording)
{
    if (all[PROBE_OWN_TIME].is_on && jni != NULL)
        put_times(jni, recording, true);
    if (all[PROBE_OWN_COUNT].is_on && jni != NULL)
        put_counts(jni, recording, true);
}

/* The last of both. NULL: nobody writes it any more. */
static void put_last(JNIEnv *jni, struct recording *recording, const bool was_on[])
{
    uint64_t methods, calls;

    if (was_on[PROBE_OWN_TIME]) {
        if (recording != NULL)
            put_times(jni, recording, false);
        instrument_own_losses(jni, &methods, &calls);
        tell_losses("time", methods, calls);
    }
    if (was_on[PROBE_OWN_COUNT]) {
        if (recording != NULL)
            put_counts(jni, recording, false);
        instrument_counts_losses(jni, INSTRUMENT_COUNTED_CALLS, &methods, &calls);
        tell_losses("count", methods, calls);
    }
}

/* ---- a session ---- */

static void say(void *context, const char *text)
{
    (void)context;
    agent_log(OPTIONS_LOGLEVEL_INFO, "%s", text);
}

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* Of a JVM that begins no class of the program is there: what is found is told at the end. */
static void begin(JNIEnv *jni, struct asked *asked, const struct options *options)
{
    struct jw_error err = {{0}};
    struct probe *probe;

    if (texts_of(asked, options)[0] == '\0' || asked->is_on)
        return;
    read_all(asked, options);
    probe = probe_own_open(asked->name, asked->kind, asked->patterns, asked->count, &err);
    asked->is_on = probe != NULL &&
                   instrument_attach_own(agent.java_vm, jni, probe,
                                         options->is_with_jvm ? say_nothing : say, NULL, &err);
    if (!asked->is_on)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", asked->name, err.message);
}

bool methods_are_asked(const struct options *options)
{
    bool is_any = false;

    for (size_t i = 0; i < JW_COUNT_OF(all); i++)
        is_any |= texts_of(&all[i], options)[0] != '\0';
    return is_any;
}

static void begin_sums(struct counted *sums, const struct asked *of)
{
    if (of->is_on)
        return; /* they go on since the file before */
    sums->began_ns = sums->turned_ns = jw_now_ns();
    memset(sums->told, 0, sizeof sums->told);
}

void methods_begin(JNIEnv *jni, const struct options *options)
{
    if (jni == NULL || !methods_are_asked(options))
        return;
    instrument_at_end(commands_end);
    instrument_set_told(told);
    instrument_set_called(called);
    if (options->event == OPTIONS_EVENT_METHOD)
        instrument_set_call_interval(options->interval_count);
    begin_sums(&times, &all[PROBE_OWN_TIME]);
    begin_sums(&tally, &all[PROBE_OWN_COUNT]);
    for (size_t i = 0; i < JW_COUNT_OF(all); i++)
        begin(jni, &all[i], options);
}

static void tell_unmet(const struct asked *asked)
{
    for (uint32_t i = 0; i < asked->count; i++) {
        uint64_t methods;

        if (instrument_own_methods(asked->name, probe_own_handlers(asked->kind) * i, &methods) &&
            methods == 0)
            agent_log(OPTIONS_LOGLEVEL_WARN,
                      "%s: no class that was loaded has a method %.*s with code of its own, which "
                      "native and abstract ones have not; nothing was told of it",
                      asked->name, (int)asked->patterns[i].length_bytes, asked->patterns[i].text);
    }
}

static void note_on(bool is_on[])
{
    for (size_t i = 0; i < JW_COUNT_OF(all); i++)
        is_on[i] = all[i].is_on;
}

void methods_leave(JNIEnv *jni, struct recording *recording)
{
    bool was_on[JW_COUNT_OF(all)];

    note_on(was_on);
    if (jni != NULL)
        put_last(jni, recording, was_on);
    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        if (all[i].is_on)
            tell_unmet(&all[i]);
        all[i].is_on = false;
    }
}

/* Classes are written back first: so each call that is over by then is counted. */
void methods_end(JNIEnv *jni, struct recording *recording)
{
    bool was_on[JW_COUNT_OF(all)];

    note_on(was_on);
    for (size_t i = 0; i < JW_COUNT_OF(all); i++) {
        struct jw_error err = {{0}};

        if (!all[i].is_on || jni == NULL)
            continue;
        tell_unmet(&all[i]);
        all[i].is_on = false;
        if (!instrument_detach_own(jni, all[i].name, say_nothing, NULL, &err))
            agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", all[i].name, err.message);
    }
    if (jni == NULL)
        return;
    put_last(jni, recording, was_on);
    if (was_on[PROBE_OWN_TIME])
        instrument_own_forget(jni);
    if (was_on[PROBE_OWN_COUNT])
        instrument_counts_forget(jni, INSTRUMENT_COUNTED_CALLS);
}
