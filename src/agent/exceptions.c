/* Exceptions by their class: the agent's thread, but where one is told of: hook, on any Java thread. */
#include "agent/exceptions.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/told.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "instrument/instrument.h"
#include "probe/probe_throws.h"
#include "recording/recording.h"
#include "sampler/sampler_hook.h"
#include "vm/vm_klass.h"

#define NAME      "event" /* of the option, and of the probe whichever option asks for it */
#define FORGET_NS (10 * JW_NS_PER_SECOND)

static struct {
    bool is_on;         /* this and the next three: the agent's thread */
    const char *option; /* that asked for them */
    uint64_t turned_ns, told_ns;
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

#define BEGIN "exception:" /* of the event */

static bool is_event(const struct options *options)
{
    return options->event == OPTIONS_EVENT_EXCEPTION;
}

bool exceptions_are_asked(const struct options *options)
{
    return is_event(options) || options->throws_of[0] != '\0';
}

/* As the event has it, whichever option asks for them. */
static void read_text(const struct options *options, char text[JW_PERF_NAME_BYTES])
{
    _Static_assert(sizeof options->throws_of + sizeof BEGIN - 1 <= JW_PERF_NAME_BYTES,
                   "patterns of either option have room");
    if (is_event(options))
        snprintf(text, JW_PERF_NAME_BYTES, "%s", options->perf);
    else
        snprintf(text, JW_PERF_NAME_BYTES, BEGIN "%s", options->throws_of);
}

bool exceptions_choose(const struct options *options, struct jw_error *err)
{
    char text[JW_PERF_NAME_BYTES];
    struct jw_error why = {{0}};

    if (!exceptions_are_asked(options))
        return true;
    read_text(options, text);
    if (probe_throws_check(text, &why))
        return true;
    jw_error_set(err, "%s: %.380s", is_event(options) ? "event=exception" : "exceptions",
                 why.message);
    return false;
}

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

void exceptions_begin(JNIEnv *jni, const struct options *options)
{
    char text[JW_PERF_NAME_BYTES];
    struct jw_error err = {{0}};
    struct probe *probe;

    if (jni == NULL || !exceptions_are_asked(options) || exceptions.is_on)
        return;
    read_text(options, text);
    memset(exceptions.text, 0, sizeof exceptions.text);
    memcpy(exceptions.text, text, strlen(text));
    for (uint32_t i = 0; i < PROBE_THROWS_LIMIT; i++)
        jw_store_relaxed(&exceptions.has_taken[i], 0);
    exceptions.option = is_event(options) ? NAME : "exceptions";
    exceptions.turned_ns = exceptions.told_ns = jw_now_ns();
    instrument_at_end(commands_end);
    instrument_set_throws(&calls, is_event(options) ? options->interval_count : 1);
    probe = probe_throws_open(NAME, &err);
    exceptions.is_on =
        probe != NULL && instrument_attach_own(agent.java_vm, jni, probe, say_nothing, NULL, &err);
    if (!exceptions.is_on)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", exceptions.option, err.message);
}

/* How many there were in all. NULL: nobody writes it any more. */
static void put_all(JNIEnv *jni, struct recording *recording)
{
    uint64_t count;

    if (recording != NULL && instrument_throws_all(jni, &count))
        recording_put_exceptions(recording, count);
}

void exceptions_turn(JNIEnv *jni, struct recording *recording)
{
    const uint64_t now_ns = jw_now_ns();

    if (!exceptions.is_on || jni == NULL)
        return;
    if (now_ns - exceptions.told_ns >= JW_NS_PER_SECOND) {
        exceptions.told_ns = now_ns;
        put_all(jni, recording);
    }
    if (now_ns - exceptions.turned_ns >= FORGET_NS) {
        exceptions.turned_ns = now_ns;
        instrument_throws_forget(jni);
    }
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
            agent_log(OPTIONS_LOGLEVEL_WARN, "%s: no exception was made that %.*s takes",
                      exceptions.option, shown, pattern.bytes);
        else
            agent_log(OPTIONS_LOGLEVEL_WARN,
                      "%s: no exception was made that %.*s takes; classes are named with their "
                      "package, or as **.%.*s",
                      exceptions.option, shown, pattern.bytes, shown, pattern.bytes);
    }
}

void exceptions_leave(JNIEnv *jni, struct recording *recording)
{
    if (!exceptions.is_on)
        return;
    tell_unmet();
    if (jni != NULL)
        put_all(jni, recording);
    exceptions.is_on = false;
}

void exceptions_end(JNIEnv *jni, struct recording *recording)
{
    struct jw_error err = {{0}};

    if (!exceptions.is_on || jni == NULL)
        return;
    tell_unmet();
    exceptions.is_on = false;
    if (!instrument_detach_own(jni, NAME, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", exceptions.option, err.message);
    put_all(jni, recording);
}
