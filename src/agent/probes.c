/* Probes, as commands ask for them. Context: the agent's thread, unless probes.h says otherwise. */
#include "agent/probes.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/probe_events.h"
#include "base/clock.h"
#include "instrument/instrument.h"

static void say_info(void *context, const char *text)
{
    (void)context;
    agent_log(OPTIONS_LOGLEVEL_INFO, "%s", text);
}

static void say_warning(void *context, const char *text)
{
    (void)context;
    agent_log(OPTIONS_LOGLEVEL_WARN, "%s", text);
}

static void say_piece(void *context, const char *text)
{
    (void)context;
    agent_log_text(text);
}

static bool attach(JNIEnv *jni, const char *path, struct jw_error *err)
{
    if (jni == NULL) {
        jw_error_set(err, "the JVM takes no further thread");
    } else if (path[0] == '\0') {
        jw_error_set(err, "no probe is named; example: probe-attach,probe=/tmp/slow.jar");
    } else {
        instrument_at_end(commands_end);
        instrument_set_events(&probe_events_calls);
    }
    return err->message[0] == '\0' &&
           instrument_attach(agent.java_vm, jni, path, say_info, NULL, err);
}

void probes_prepare(const struct options *options)
{
    struct jw_error err = {0};

    if (options->probe[0] != '\0' && !instrument_prepare(agent.java_vm, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "probe: %s", err.message);
}

void probes_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {0};

    if (options->probe[0] != '\0' && !attach(jni, options->probe, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "probe %s was not attached: %s", options->probe,
                  err.message);
}

bool probes_obey(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    if (options->action == OPTIONS_ACTION_PROBE_ATTACH)
        return attach(jni, options->probe, err);
    if (options->action == OPTIONS_ACTION_PROBE_LIST) {
        instrument_list(jni, say_piece, NULL);
        return true;
    }
    if (options->name[0] == '\0') {
        jw_error_set(err, "no probe is named; example: probe-detach,name=slow");
        return false;
    }
    return instrument_detach(jni, options->name, say_info, NULL, err);
}

void probes_turn(JNIEnv *jni)
{
    if (instrument_is_any())
        instrument_turn(jni, say_warning, NULL);
}

bool probes_are_any(void)
{
    return instrument_is_any();
}

void probes_tell(void)
{
    instrument_tell(say_info, NULL);
}
