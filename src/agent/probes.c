/* Probes, as commands ask for them. Context: the agent's thread, unless probes.h says otherwise. */
#include "agent/probes.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/exceptions.h"
#include "agent/methods.h"
#include "agent/probe_contexts.h"
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

/* A text in pieces, which goes where long texts go. */
static struct {
    size_t used_bytes;
    char bytes[4096];
} text;

static void put_text(void)
{
    struct jw_error err = {0};

    text.bytes[text.used_bytes] = '\0';
    if (!answer_takes_text())
        agent_log_text(text.bytes);
    else if (!answer_show(NULL, text.bytes, text.used_bytes, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
    text.used_bytes = 0;
}

static void say_piece(void *context, const char *piece)
{
    (void)context;
    for (; *piece != '\0'; piece++) {
        if (text.used_bytes == sizeof text.bytes - 1)
            put_text();
        text.bytes[text.used_bytes++] = *piece;
    }
}

/* How far it is, for a command that waits for it: a line of three numbers, behind each batch. */
static bool is_progress_wanted;

static void show_progress(const struct instrument_progress *now)
{
    struct jw_error err = {0};
    char line[64];

    if (!is_progress_wanted)
        return;
    snprintf(line, sizeof line, "%u %u %u\n", now->written, now->all, now->batches);
    (void)answer_show(NULL, line, strlen(line), &err); /* nothing depends on it */
}

static bool attach(JNIEnv *jni, const char *path, const char *rules, struct jw_error *err)
{
    if (jni == NULL) {
        jw_error_set(err, "the JVM takes no further thread");
    } else if (path[0] == '\0') {
        jw_error_set(err, "no probe is named; example: probe-attach,probe=/tmp/slow.jar");
    } else {
        instrument_at_end(commands_end);
        instrument_set_events(&probe_events_calls);
        instrument_set_contexts(&probe_contexts_calls);
        instrument_set_progressed(show_progress);
    }
    if (err->message[0] != '\0' ||
        !instrument_attach(agent.java_vm, jni, path, rules, say_info, NULL, err))
        return false;
    if (instrument_has_dropped_code())
        agent_log(OPTIONS_LOGLEVEL_INFO,
                  "this JVM dropped its compiled code with the first attach; it does not where "
                  "probe= was named at its start");
    return true;
}

void probes_prepare(const struct options *options)
{
    struct jw_error err = {0};

    if ((options->probe[0] != '\0' || methods_are_asked(options) || options->endpoints != 0 ||
         options->queue_ns != 0 || options->io_ns != 0 || options->has_async_stacks ||
         exceptions_are_asked(options) || options->event == OPTIONS_EVENT_NEW) &&
        !instrument_prepare(agent.java_vm, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "probe: %s", err.message);
}

void probes_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {0};

    if (options->probe[0] == '\0' && options->rules[0] != '\0')
        agent_log(OPTIONS_LOGLEVEL_WARN, "rules=%s: they are for a probe, and no probe= is named",
                  options->rules);
    if (options->probe[0] != '\0' && !attach(jni, options->probe, options->rules, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "probe %s was not attached: %s", options->probe,
                  err.message);
}

static bool detach(JNIEnv *jni, const char *name, uint64_t pause_ns, struct jw_error *err)
{
    if (name[0] == '\0') {
        jw_error_set(err, "no probe is named; example: probe-detach,name=slow");
        return false;
    }
    return instrument_detach(jni, name, pause_ns, say_info, NULL, err);
}

bool probes_obey(JNIEnv *jni, const struct options *options, struct jw_error *err)
{
    if (options->action == OPTIONS_ACTION_PROBE_LIST) {
        instrument_list(jni, say_piece, NULL);
        put_text();
        return true;
    }
    is_progress_wanted = options->show[0] != '\0';
    if (options->action == OPTIONS_ACTION_PROBE_ATTACH)
        instrument_set_pause(options->pause_ns);

    const bool is_done = options->action == OPTIONS_ACTION_PROBE_ATTACH
                             ? attach(jni, options->probe, options->rules, err)
                             : detach(jni, options->name, options->pause_ns, err);
    is_progress_wanted = false;
    return is_done;
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
