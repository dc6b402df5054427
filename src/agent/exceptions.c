/* Exceptions by their class: the agent's thread, but where one is told of: hook, on any Java thread. */
#include "agent/exceptions.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/told.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "instrument/instrument.h"
#include "probe/probe_throws.h"
#include "sampler/sampler_hook.h"
#include "vm/vm_klass.h"

#define NAME    "event" /* of the option, and of its probe */
#define TURN_NS (10 * JW_NS_PER_SECOND)

static struct {
    bool is_on; /* the agent's thread */
    uint64_t turned_ns;
    /* As event= has them. A thread that stood still since an earlier session may read while it is written: the last byte stays 0, and what it finds
     * is of that session, of which nothing is told any more. */
    char text[JW_PERF_NAME_BYTES];
    /* Relaxed, each by itself: that pattern took a class. */
    _Atomic uint32_t has_taken[PROBE_THROWS_LIMIT];
} exceptions;

/* ---- an exception ---- */

/* "Ljava/lang/Error;" without what stands around it. */
static bool takes(const char *signature, bool is_above)
{
    const size_t length_bytes = strlen(signature);
    const char *at = probe_throws_patterns(exceptions.text);
    struct probe_throws_pattern pattern;
    bool is_taken = at == NULL;

    if (length_bytes < 2)
        return false;
    for (uint32_t i = 0; i < PROBE_THROWS_LIMIT && probe_throws_next(&at, &pattern); i++) {
        if (!probe_throws_takes(&pattern, signature + 1, length_bytes - 2, is_above))
            continue;
        jw_store_relaxed(&exceptions.has_taken[i], 1);
        is_taken = true;
    }
    return is_taken;
}

/* Once for each class, and again some seconds later. */
static bool is_wanted(JNIEnv *jni, jclass klass)
{
    jclass at = (*jni)->NewLocalRef(jni, klass);
    bool is_taken = false, is_above = false;

    while (at != NULL) {
        char *signature = NULL;

        if ((*agent.jvmti)->GetClassSignature(agent.jvmti, at, &signature, NULL) ==
                JVMTI_ERROR_NONE &&
            signature != NULL)
            is_taken |= takes(signature, is_above);
        (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);

        jclass above = (*jni)->GetSuperclass(jni, at);
        (*jni)->DeleteLocalRef(jni, at);
        at = above;
        is_above = true;
    }
    return is_taken;
}

static void tell(JNIEnv *jni, jclass klass, bool is_error, uint64_t count)
{
    struct sampler_hook hook = {
        .kind = EVENT_COUNTER_SAMPLE,
        .flags = EVENT_BY_HOOK | EVENT_OF_THROW | (is_error ? EVENT_OF_ERROR : 0),
        .weight_ns = count,
        .klass = vm_klass_of(jni, klass),
    };
    char *signature = NULL;

    /* By its signature, where the JVM does not let us at the class itself (-Xcheck:jni). */
    if (hook.klass == 0 &&
        (*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &signature, NULL) ==
            JVMTI_ERROR_NONE &&
        signature != NULL && strlen(signature) > 2) {
        hook.class_text = signature + 1;
        hook.class_bytes = strlen(signature) - 2;
    }
    told_sample(&hook);
    (void)(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
}

static const struct instrument_throws calls = {is_wanted, tell};

/* ---- a session ---- */

static bool is_asked(const struct options *options)
{
    return options->event == OPTIONS_EVENT_EXCEPTION;
}

bool exceptions_choose(const struct options *options, struct jw_error *err)
{
    struct jw_error why = {{0}};

    if (!is_asked(options) || probe_throws_check(options->perf, &why))
        return true;
    jw_error_set(err, "event=exception: %.380s", why.message);
    return false;
}

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

void exceptions_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {{0}};
    struct probe *probe;

    if (jni == NULL || !is_asked(options) || exceptions.is_on)
        return;
    memcpy(exceptions.text, options->perf, sizeof exceptions.text - 1);
    for (uint32_t i = 0; i < PROBE_THROWS_LIMIT; i++)
        jw_store_relaxed(&exceptions.has_taken[i], 0);
    exceptions.turned_ns = jw_now_ns();
    instrument_at_end(commands_end);
    instrument_set_throws(&calls, options->interval_count);
    probe = probe_throws_open(NAME, &err);
    exceptions.is_on =
        probe != NULL && instrument_attach_own(agent.java_vm, jni, probe, say_nothing, NULL, &err);
    if (!exceptions.is_on)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", NAME, err.message);
}

void exceptions_turn(JNIEnv *jni)
{
    const uint64_t now_ns = jw_now_ns();

    if (!exceptions.is_on || jni == NULL || now_ns - exceptions.turned_ns < TURN_NS)
        return;
    exceptions.turned_ns = now_ns;
    instrument_throws_forget(jni);
}

static void tell_unmet(void)
{
    const char *at = probe_throws_patterns(exceptions.text);
    struct probe_throws_pattern pattern;

    for (uint32_t i = 0; i < PROBE_THROWS_LIMIT && probe_throws_next(&at, &pattern); i++) {
        const bool has_package = memchr(pattern.bytes, '.', pattern.length_bytes) != NULL ||
                                 memchr(pattern.bytes, '/', pattern.length_bytes) != NULL;
        const int shown = (int)pattern.length_bytes;

        if (jw_load_relaxed(&exceptions.has_taken[i]) != 0)
            continue;
        if (has_package || pattern.has_stars)
            agent_log(OPTIONS_LOGLEVEL_WARN, "%s: no exception was made that %.*s takes", NAME,
                      shown, pattern.bytes);
        else
            agent_log(OPTIONS_LOGLEVEL_WARN,
                      "%s: no exception was made that %.*s takes; classes are named with their "
                      "package, or as **.%.*s",
                      NAME, shown, pattern.bytes, shown, pattern.bytes);
    }
}

void exceptions_leave(void)
{
    if (exceptions.is_on)
        tell_unmet();
    exceptions.is_on = false;
}

void exceptions_end(JNIEnv *jni)
{
    struct jw_error err = {{0}};

    if (!exceptions.is_on || jni == NULL)
        return;
    exceptions_leave();
    if (!instrument_detach_own(jni, NAME, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", NAME, err.message);
}
