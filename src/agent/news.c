/* Objects by their class: the agent's thread, but where one is told of: hook, on any Java thread. */
#include "agent/news.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/counted.h"
#include "agent/methods.h"
#include "agent/told.h"
#include "base/clock.h"
#include "instrument/instrument.h"
#include "probe/probe_news.h"
#include "probe/probe_own.h"
#include "probe/probe_throws.h"
#include "recording/recording.h"
#include "sampler/sampler_hook.h"

#define NAME "event" /* of the option, and of its probe */

static struct {
    bool is_on;
    char text[JW_PERF_NAME_BYTES]; /* as event= has it */
    struct counted counts;
} news;

static void tell(const char *class_name, uint64_t count)
{
    const struct sampler_hook hook = {.kind = EVENT_COUNTER_SAMPLE,
                                      .flags = EVENT_BY_HOOK | EVENT_OF_NEW,
                                      .weight_ns = count,
                                      .class_text = class_name,
                                      .class_bytes = strlen(class_name)};

    told_sample(&hook);
}

/* ---- counts ---- */

static uint64_t put_counts(JNIEnv *jni, struct recording *recording, bool is_cut)
{
    return counted_put(jni, INSTRUMENT_COUNTED_OBJECTS, &news.counts, recording, is_cut);
}

void news_turn(JNIEnv *jni, struct recording *recording)
{
    if (news.is_on && jni != NULL && jw_now_ns() - news.counts.turned_ns >= METHODS_TURN_NS)
        (void)put_counts(jni, recording, false);
}

void news_look(JNIEnv *jni, struct recording *recording)
{
    if (news.is_on && jni != NULL)
        (void)put_counts(jni, recording, false);
}

void news_cut(JNIEnv *jni, struct recording *recording)
{
    if (news.is_on && jni != NULL)
        (void)put_counts(jni, recording, true);
}

/* ---- a session ---- */

static bool is_asked(const struct options *options)
{
    return options->event == OPTIONS_EVENT_NEW;
}

bool news_choose(const struct options *options, struct jw_error *err)
{
    struct jw_error why = {{0}};

    if (!is_asked(options) || probe_news_check(options->perf, &why))
        return true;
    jw_error_set(err, "event=new: %.380s", why.message);
    return false;
}

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
void news_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {{0}};
    struct probe *probe;

    if (jni == NULL || !is_asked(options) || news.is_on)
        return;
    memcpy(news.text, options->perf, sizeof news.text - 1);
    instrument_at_end(commands_end);
    instrument_set_news(tell, options->interval_count);
    news.counts.began_ns = news.counts.turned_ns = jw_now_ns();
    memset(news.counts.told, 0, sizeof news.counts.told);
    probe = probe_news_open(NAME, news.text, &err);
    news.is_on = probe != NULL &&
                 instrument_attach_own(agent.java_vm, jni, probe,
                                       options->is_with_jvm ? say_nothing : say, NULL, &err);
    if (!news.is_on)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", NAME, err.message);
}

static void tell_unmet(const struct probe_throws_pattern *pattern)
{
    const bool has_package = memchr(pattern->bytes, '.', pattern->length_bytes) != NULL ||
                             memchr(pattern->bytes, '/', pattern->length_bytes) != NULL;
    const bool is_array = pattern->bytes[pattern->length_bytes - 1] == ']';
    const int shown = (int)pattern->length_bytes;

    if (has_package || pattern->has_stars || is_array)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: no class of the application that was loaded makes a %.*s; code of the JDK "
                  "is not looked at",
                  NAME, shown, pattern->bytes);
    else
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: no class of the application that was loaded makes a %.*s; classes are named "
                  "with their package, or as **.%.*s",
                  NAME, shown, pattern->bytes, shown, pattern->bytes);
}

static void tell_all_unmet(void)
{
    const char *at = probe_news_patterns(news.text);
    struct probe_throws_pattern pattern;
    uint64_t methods;

    for (uint32_t i = 0; probe_throws_next(&at, &pattern); i++) {
        if (instrument_own_methods(NAME, i, &methods) && methods == 0)
            tell_unmet(&pattern);
    }
}

/* The last counts. `recording` NULL: nobody writes it any more. */
static void put_last(JNIEnv *jni, struct recording *recording)
{
    const uint64_t objects = put_counts(jni, recording, false);
    uint64_t classes, lost;

    instrument_counts_losses(jni, INSTRUMENT_COUNTED_OBJECTS, &classes, &lost);
    agent_log(OPTIONS_LOGLEVEL_INFO, "%s: %llu objects were made", NAME,
              (unsigned long long)objects);
    if (classes != 0)
        agent_log(
            OPTIONS_LOGLEVEL_WARN,
            "%s: of %llu classes in methods nothing is told: there are more than %u, or their "
            "names are too long; name fewer",
            NAME, (unsigned long long)classes, PROBE_OWN_SITES);
    if (lost != 0)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%s: %llu objects are not counted: there was no memory or stack left for them",
                  NAME, (unsigned long long)lost);
}

void news_leave(JNIEnv *jni, struct recording *recording)
{
    if (!news.is_on)
        return;
    tell_all_unmet();
    if (jni != NULL)
        put_last(jni, recording);
    news.is_on = false;
}

/* Classes are written back first: so each object that was made by then is counted. */
void news_end(JNIEnv *jni, struct recording *recording)
{
    struct jw_error err = {{0}};

    if (!news.is_on || jni == NULL)
        return;
    tell_all_unmet();
    news.is_on = false;
    if (!instrument_detach_own(jni, NAME, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", NAME, err.message);
    put_last(jni, recording);
    instrument_counts_forget(jni, INSTRUMENT_COUNTED_OBJECTS);
}
