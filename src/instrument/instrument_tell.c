/* What is said of probes. Context: the agent's thread; instrument_tell: any. */
#include "instrument/instrument_attach_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *const states[] = {[INSTRUMENT_ATTACHED] = "attached",
                                     [INSTRUMENT_DRAINING] = "draining",
                                     [INSTRUMENT_OUT] = "taken-out"};

#define LINES_BYTES 16384u

static struct {
    pthread_mutex_t lock;
    char lines[LINES_BYTES]; /* each ends with a NUL */
    size_t used_bytes;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

void instrument_tell_handler(const struct probe_handler *handler, const struct probe_woven *woven,
                             char *line, size_t room_bytes)
{
    size_t used = 0;

    line[0] = '\0';
    if (woven->methods != 0 && woven->unfit == 0 && woven->untold == 0 && woven->refused == 0)
        return;
    used = (size_t)snprintf(
        line, room_bytes, "%s (%s): %s", handler->method_name, probe_place_word(handler->place),
        woven->methods == 0 ? "no method of the classes that are loaded calls it" : "");
    if (woven->unfit != 0 && used < room_bytes)
        used += (size_t)snprintf(line + used, room_bytes - used,
                                 "%s%u methods that its rules take have not what it asks for",
                                 woven->methods == 0 ? "; " : "", woven->unfit);
    if (woven->untold != 0 && used < room_bytes)
        used += (size_t)snprintf(
            line + used, room_bytes - used,
            "%sof %u methods its rules ask what is not known of a class that is loaded",
            woven->methods == 0 || woven->unfit != 0 ? "; " : "", woven->untold);
    if (woven->refused != 0 && used < room_bytes)
        snprintf(line + used, room_bytes - used, "%s%u methods cannot be written again",
                 woven->methods == 0 || woven->unfit != 0 || woven->untold != 0 ? "; " : "",
                 woven->refused);
}

static void current_figures(JNIEnv *jni, const struct instrument_attach *attach,
                            struct instrument_figures *out)
{
    memcpy(out, attach->figures, sizeof attach->figures);
    if (attach->java != NULL && jni != NULL)
        (void)instrument_probe_figures(jni, attach->java, attach->probe->handler_count, out);
}

static uint64_t mean_ns(const struct instrument_figures *figures)
{
    return figures->measured_calls == 0 ? 0 : figures->measured_ns / figures->measured_calls;
}

/* ---- JSON ---- */

static void say_text(instrument_say *say, void *context, const char *text)
{
    char piece[8];

    say(context, "\"");
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '"' || byte == '\\')
            snprintf(piece, sizeof piece, "\\%c", byte);
        else if (byte < 0x20)
            snprintf(piece, sizeof piece, "\\u%04x", byte);
        else
            snprintf(piece, sizeof piece, "%c", byte);
        say(context, piece);
    }
    say(context, "\"");
}

static void list_handler(const struct probe_handler *handler, const struct probe_woven *woven,
                         const struct instrument_figures *figures, instrument_say *say,
                         void *context)
{
    char text[512];

    say(context, "{\"method\":");
    say_text(say, context, handler->method_name);
    snprintf(text, sizeof text,
             ",\"place\":\"%s\",\"methods\":%u,\"places\":%u,\"calls\":%llu,\"throws\":%llu,"
             "\"ns_per_call\":%llu,\"unfit\":%u,\"untold\":%u,\"refused\":%u,\"nested\":%llu,"
             "\"dropped\":%llu}",
             probe_place_word(handler->place), woven->methods, woven->places,
             (unsigned long long)figures->calls, (unsigned long long)figures->throws,
             (unsigned long long)mean_ns(figures), woven->unfit, woven->untold, woven->refused,
             (unsigned long long)figures->nested, (unsigned long long)figures->dropped);
    say(context, text);
}

static void list_event(const struct instrument_attach *attach, uint32_t event, instrument_say *say,
                       void *context)
{
    const struct instrument_event_figures figures = instrument_figures_of_event(attach, event);
    char text[128];

    say(context, "{\"name\":");
    say_text(say, context, attach->probe->events[event].name);
    say(context, ",\"type\":");
    say_text(say, context, figures.type_name == NULL ? "" : figures.type_name);
    snprintf(text, sizeof text, ",\"recorded\":%llu,\"lost\":%llu,\"idle\":%llu}",
             (unsigned long long)figures.recorded, (unsigned long long)figures.lost,
             (unsigned long long)figures.idle);
    say(context, text);
}

static void list_one(JNIEnv *jni, struct instrument_attach *attach, instrument_say *say,
                     void *context)
{
    static struct instrument_figures figures[PROBE_HANDLERS_LIMIT];
    static struct instrument_sums sums;
    unsigned long long methods = 0;
    char text[128];

    instrument_sum(attach, &sums);
    current_figures(jni, attach, figures);
    for (uint32_t i = 0; i < attach->probe->handler_count; i++)
        methods += sums.handlers[i].methods;
    say(context, "{\"name\":");
    say_text(say, context, attach->probe->name);
    say(context, ",\"class\":");
    say_text(say, context, attach->probe->class_name);
    say(context, ",\"file\":");
    say_text(say, context, attach->path);
    say(context, ",\"state\":");
    say_text(say, context, states[attach->state]);
    say(context, ",\"why\":");
    say_text(say, context, attach->why);
    snprintf(text, sizeof text, ",\"methods\":%llu,\"classes\":%llu,\"handlers\":[", methods,
             (unsigned long long)sums.classes);
    say(context, text);
    for (uint32_t i = 0; i < attach->probe->handler_count; i++) {
        if (i != 0)
            say(context, ",");
        list_handler(&attach->probe->handlers[i], &sums.handlers[i], &figures[i], say, context);
    }
    say(context, "],\"events\":[");
    for (uint32_t i = 0; i < attach->probe->event_count; i++) {
        if (i != 0)
            say(context, ",");
        list_event(attach, i, say, context);
    }
    say(context, "]}");
}

void instrument_list(JNIEnv *jni, instrument_say *say, void *context)
{
    say(context, "{\"schema\":\"jaywalk.probes/1\",\"probes\":[");
    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        if (i != 0)
            say(context, ",");
        list_one(jni, instrument_attaches[i], say, context);
    }
    say(context, "]}\n");
}

/* ---- status ---- */

static void add_line(const char *line)
{
    const size_t bytes = strlen(line) + 1;

    if (LINES_BYTES - told.used_bytes >= bytes) {
        memcpy(told.lines + told.used_bytes, line, bytes);
        told.used_bytes += bytes;
    }
}

static void add_attach(JNIEnv *jni, struct instrument_attach *attach)
{
    static struct instrument_figures figures[PROBE_HANDLERS_LIMIT];
    static struct instrument_sums sums;
    char line[512];

    instrument_sum(attach, &sums);
    current_figures(jni, attach, figures);
    snprintf(line, sizeof line, "Probe %s: %s%s%s", attach->probe->name, states[attach->state],
             attach->why[0] == '\0' ? "" : ", ", attach->why);
    add_line(line);
    for (uint32_t i = 0; i < attach->probe->handler_count; i++) {
        snprintf(line, sizeof line, "  %s (%s): %llu calls from %u places in %u methods",
                 attach->probe->handlers[i].method_name,
                 probe_place_word(attach->probe->handlers[i].place),
                 (unsigned long long)figures[i].calls, sums.handlers[i].places,
                 sums.handlers[i].methods);
        add_line(line);
    }
    for (uint32_t i = 0; i < attach->probe->event_count; i++) {
        const struct instrument_event_figures events = instrument_figures_of_event(attach, i);

        snprintf(line, sizeof line, "  %s: %llu recorded, %llu lost, %llu idle",
                 events.type_name == NULL ? "" : events.type_name,
                 (unsigned long long)events.recorded, (unsigned long long)events.lost,
                 (unsigned long long)events.idle);
        add_line(line);
    }
}

void instrument_refresh(JNIEnv *jni)
{
    pthread_mutex_lock(&told.lock);
    told.used_bytes = 0;
    for (uint32_t i = 0; i < instrument_attach_count; i++)
        add_attach(jni, instrument_attaches[i]);
    pthread_mutex_unlock(&told.lock);
}

void instrument_tell(instrument_say *say, void *context)
{
    pthread_mutex_lock(&told.lock);
    for (size_t at = 0; at < told.used_bytes; at += strlen(told.lines + at) + 1)
        say(context, told.lines + at);
    pthread_mutex_unlock(&told.lock);
}
