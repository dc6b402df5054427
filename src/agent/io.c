/* Files and sockets: the agent's thread, but where one is told of: hook, on any Java thread. */
#include "agent/io.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/told.h"
#include "base/clock.h"
#include "event/event_values.h"
#include "instrument/instrument.h"
#include "probe/probe_io.h"
#include "sampler/sampler_hook.h"
#include "vm/vm.h"

#define NAME "io" /* of the option, and of its probe */

/* Below it the streams of sockets are another's. Source: OpenJDK, JEP 353. */
#define MAJOR_OF_STREAMS 13

static bool is_on; /* the agent's thread */

/* ---- what is told ---- */

static void put_name(JNIEnv *jni, jstring name, struct event_values *values)
{
    jchar units[EVENT_VALUES_TEXT_BYTES + 1]; /* none of them has less than a byte */
    jsize length = name == NULL ? 0 : (*jni)->GetStringLength(jni, name);

    if (name == NULL) {
        event_values_put_text(values, NULL, 0);
        return;
    }
    if (length > (jsize)JW_COUNT_OF(units))
        length = (jsize)JW_COUNT_OF(units);
    (*jni)->GetStringRegion(jni, name, 0, length, units);
    event_values_put_units(values, units, (size_t)length);
}

/* Which file or socket it was lies apart from the rest, since many events are of the same one. */
static void tell(JNIEnv *jni, const struct instrument_io *io)
{
    const uint64_t now_ns = jw_now_ns();
    const uint64_t duration_ns = io->duration_ns < now_ns ? io->duration_ns : 0;
    struct event_values values;

    event_values_begin(&values, 0);
    put_name(jni, io->name, &values);
    event_values_put_text(&values, io->address, strlen(io->address));
    event_values_put_number(&values, io->port);
    const struct sampler_hook hook = {
        .kind = EVENT_IO,
        .flags = (uint16_t)(io->what | (io->is_end ? EVENT_IO_END : 0)),
        .time_ns = now_ns - duration_ns,
        .weight_ns = duration_ns,
        .value = io->bytes,
        .payload = values.bytes,
        .payload_bytes = values.used_bytes,
    };

    (void)told_sample(&hook);
}

/* ---- a session ---- */

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

void io_begin(JNIEnv *jni, const struct options *options)
{
    struct jw_error err = {{0}};
    struct probe *probe;

    if (jni == NULL || options->io_ns == 0 || is_on)
        return;
    instrument_at_end(commands_end);
    instrument_set_io(tell, options->io_ns);
    probe = probe_io_open(NAME, vm_major_version() < MAJOR_OF_STREAMS, &err);
    is_on =
        probe != NULL && instrument_attach_own(agent.java_vm, jni, probe, say_nothing, NULL, &err);
    if (!is_on)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: off: %s", NAME, err.message);
}

void io_leave(void)
{
    is_on = false;
}

void io_end(JNIEnv *jni)
{
    struct jw_error err = {{0}};

    if (!is_on || jni == NULL)
        return;
    io_leave();
    if (!instrument_detach_own(jni, NAME, say_nothing, NULL, &err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s: %s", NAME, err.message);
}
