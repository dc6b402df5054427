/* What is said of probes. Context: the agent's thread; instrument_tell: any. */
#include "instrument/instrument_attach_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/counters.h"

static const char *const states[] = {[INSTRUMENT_ATTACHED] = "attached",
                                     [INSTRUMENT_DRAINING] = "draining",
                                     [INSTRUMENT_OUT] = "taken-out"};

#define LINES_BYTES 16384u

static struct {
    pthread_mutex_t lock;
    char progress[192];      /* "": nothing is under way */
    char lines[LINES_BYTES]; /* each ends with a NUL */
    size_t used_bytes;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static instrument_progressed *progressed; /* set before there is anything to tell */

void instrument_set_progressed(instrument_progressed *call)
{
    progressed = call;
}

void instrument_tell_progress(const struct instrument_attach *attach,
                              const struct instrument_batches *so_far)
{
    const struct instrument_progress now = {.name = attach->probe->name,
                                            .is_out = attach->state != INSTRUMENT_ATTACHED,
                                            .written = so_far->classes + so_far->refused,
                                            .all = so_far->wanted,
                                            .batches = so_far->batches};

    pthread_mutex_lock(&told.lock);
    snprintf(told.progress, sizeof told.progress,
             "Probe %s: %u of %u classes are written %s, in %u batches", now.name, now.written,
             now.all, now.is_out ? "back" : "again", now.batches);
    pthread_mutex_unlock(&told.lock);
    if (progressed != NULL)
        progressed(&now);
}

static const char *name_of(const struct probe_handler *handler)
{
    return handler->pattern != NULL ? handler->pattern : handler->method_name;
}

static void add_part(char *line, size_t *used, size_t room_bytes, bool *is_first, uint32_t number,
                     const char *text)
{
    if (number == 0 || *used >= room_bytes)
        return;
    *used += (size_t)snprintf(line + *used, room_bytes - *used, "%s%u %s", *is_first ? "" : "; ",
                              number, text);
    *is_first = false;
}

/* What is worth saying of a handler; "": nothing. Methods without such a place are so where there are none with one. */
static void tell_handler(const struct probe_handler *handler, const struct probe_woven *woven,
                         char *line, size_t room_bytes)
{
    char words[256];
    bool is_first = woven->methods != 0;
    size_t used = 0;

    line[0] = '\0';
    if (woven->methods != 0 && woven->unfit == 0 && woven->untold == 0 && woven->refused == 0 &&
        woven->misfits == 0 && woven->skipped == 0)
        return;
    (void)probe_place_words(handler, words, sizeof words);
    used = (size_t)snprintf(
        line, room_bytes, "%s (%s): %s", name_of(handler), words,
        woven->methods == 0 ? "no method of the classes that are loaded calls it" : "");
    if (woven->methods == 0)
        add_part(line, &used, room_bytes, &is_first, woven->placeless,
                 "methods that its rules take have no such place");
    add_part(line, &used, room_bytes, &is_first, woven->unfit,
             "methods that its rules take have not what it asks for");
    if (woven->untold != 0 && used < room_bytes) {
        used += (size_t)snprintf(
            line + used, room_bytes - used,
            "%sof %u methods its rules ask what is not known of a class that is loaded",
            is_first ? "" : "; ", woven->untold);
        is_first = false;
    }
    add_part(line, &used, room_bytes, &is_first, woven->refused, "methods cannot be written again");
    add_part(line, &used, room_bytes, &is_first, woven->misfits,
             "places have not what it asks for");
    add_part(line, &used, room_bytes, &is_first, woven->skipped,
             "places are left out, where a failing call would never end or hold a lock");
}

/* Whose rules it has; "": its own. */
static void tell_rules(const struct instrument_attach *attach, char *line, size_t room_bytes)
{
    const struct probe_replaced *replaced = &attach->replaced;

    line[0] = '\0';
    if (replaced->count != 0)
        snprintf(line, room_bytes, "%u of its rules are those of %.300s%s%s", replaced->count,
                 attach->rules_path,
                 replaced->kept[0] == '\0' ? "" : "; as the probe has them: ", replaced->kept);
}

void instrument_tell_attached(struct instrument_attach *attach,
                              const struct instrument_batches *batches, instrument_say *say,
                              void *context)
{
    const struct probe *probe = attach->probe;
    struct instrument_sums sums;
    unsigned long long methods = 0;
    char line[1024];

    instrument_sum(attach, &sums);
    for (uint32_t i = 0; i < probe->handler_count; i++)
        methods += sums.handlers[i].methods;
    snprintf(line, sizeof line, "attached %s: %u handlers, %llu methods of %llu classes",
             probe->name, probe->handler_count, methods, (unsigned long long)sums.classes);
    say(context, line);
    tell_rules(attach, line, sizeof line);
    if (line[0] != '\0')
        say(context, line);
    for (uint32_t i = 0; i < probe->handler_count; i++) {
        const struct probe_woven *woven = &sums.handlers[i];

        if (attach->is_own && probe->handlers[i].place == PROBE_THROW)
            continue; /* as where it returns */
        tell_handler(&probe->handlers[i], woven, line, sizeof line);
        if (line[0] != '\0')
            say(context, line);
    }
    if (batches->refused != 0) {
        snprintf(line, sizeof line, "%u classes stay as they are: the JVM refused them",
                 batches->refused);
        say(context, line);
    }
    if (batches->untold != 0) {
        jw_count_add(JW_COUNT_PROBE_CLASSES_REFUSED, batches->untold);
        snprintf(line, sizeof line,
                 "%u classes stay as they are: the JVM did not say what they are (JVMTI error %d)",
                 batches->untold, batches->untold_error);
        say(context, line);
    }
    if (sums.unroomed != 0) {
        snprintf(line, sizeof line,
                 "%u classes stay as they are: memlimit= left no memory to look at them",
                 sums.unroomed);
        say(context, line);
    }
    if (batches->classes != 0) {
        snprintf(line, sizeof line,
                 "%u classes were written again while the program ran, in %u batches; the longest "
                 "stopped it for %llu us",
                 batches->classes, batches->batches,
                 (unsigned long long)(batches->longest_ns / 1000));
        say(context, line);
    }
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

/* It was called, or a call was left out. */
static bool was_reached(const struct instrument_figures *figures)
{
    return figures->calls != 0 || figures->nested != 0 || figures->dropped != 0;
}

static void list_handler(const struct probe_handler *handler, const struct probe_woven *woven,
                         const struct instrument_figures *figures, bool is_own, instrument_say *say,
                         void *context)
{
    char text[512];

    say(context, "{\"method\":");
    say_text(say, context, name_of(handler));
    if (handler->of != NULL) {
        say(context, ",\"of\":");
        say_text(say, context, handler->of);
    }
    if (handler->line != 0) {
        snprintf(text, sizeof text, ",\"line\":%u", handler->line);
        say(context, text);
    }
    snprintf(text, sizeof text,
             ",\"place\":\"%s\",\"methods\":%u,\"places\":%u,\"calls\":%llu,\"throws\":%llu,"
             "\"ns_per_call\":%llu,\"unfit\":%u,\"untold\":%u,\"refused\":%u,"
             "\"placeless\":%u,\"misfits\":%u,\"skipped\":%u,\"nested\":%llu,\"dropped\":%llu",
             probe_place_word(handler->place), woven->methods, woven->places,
             (unsigned long long)figures->calls, (unsigned long long)figures->throws,
             (unsigned long long)mean_ns(figures), woven->unfit, woven->untold, woven->refused,
             woven->placeless, woven->misfits, woven->skipped, (unsigned long long)figures->nested,
             (unsigned long long)figures->dropped);
    say(context, text);
    if (!is_own) { /* whose calls are not counted */
        snprintf(text, sizeof text, ",\"linked\":%llu,\"missed\":%llu",
                 (unsigned long long)figures->linked, (unsigned long long)figures->missed);
        say(context, text);
    }
    say(context, "}");
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
    say(context, ",\"rules\":");
    say_text(say, context, attach->rules_path);
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
        list_handler(&attach->probe->handlers[i], &sums.handlers[i], &figures[i], attach->is_own,
                     say, context);
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
    char text[64];

    say(context, "{\"schema\":\"jaywalk.probes/1\",\"probes\":[");
    for (uint32_t i = 0; i < instrument_attach_count; i++) {
        if (i != 0)
            say(context, ",");
        list_one(jni, instrument_attaches[i], say, context);
    }
    snprintf(text, sizeof text, "],\"missed\":%llu}\n", (unsigned long long)instrument_missed(jni));
    say(context, text);
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

/* Calls of the agent's own are not counted by them. */
static void add_handler_line(const struct instrument_attach *attach, uint32_t number,
                             const struct instrument_figures *figures,
                             const struct probe_woven *woven)
{
    const struct probe_handler *handler = &attach->probe->handlers[number];
    char line[768], words[256], calls[80] = "";

    if (!attach->is_own && woven->places != 0 && !was_reached(figures) && figures->linked != 0)
        snprintf(calls, sizeof calls, "never called, though linked %llu times, from ",
                 (unsigned long long)figures->linked);
    else if (!attach->is_own && woven->places != 0 && !was_reached(figures))
        snprintf(calls, sizeof calls, "never called yet, from ");
    else if (!attach->is_own)
        snprintf(calls, sizeof calls, "%llu calls from ", (unsigned long long)figures->calls);
    (void)probe_place_words(handler, words, sizeof words);
    snprintf(line, sizeof line, "  %.300s (%s): %s%u places in %u methods", name_of(handler), words,
             calls, woven->places, woven->methods);
    add_line(line);
    if (figures->missed != 0) {
        snprintf(line, sizeof line, "    %llu places of another type do nothing",
                 (unsigned long long)figures->missed);
        add_line(line);
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
        add_handler_line(attach, i, &figures[i], &sums.handlers[i]);
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
    const uint64_t missed = instrument_missed(jni);

    pthread_mutex_lock(&told.lock);
    told.progress[0] = '\0';
    told.used_bytes = 0;
    for (uint32_t i = 0; i < instrument_attach_count; i++)
        add_attach(jni, instrument_attaches[i]);
    if (missed != 0) {
        char line[128];

        snprintf(line, sizeof line,
                 "%llu places of probes do nothing: no handler was theirs when "
                 "they were linked",
                 (unsigned long long)missed);
        add_line(line);
    }
    pthread_mutex_unlock(&told.lock);
}

void instrument_tell(instrument_say *say, void *context)
{
    pthread_mutex_lock(&told.lock);
    if (told.progress[0] != '\0')
        say(context, told.progress);
    for (size_t at = 0; at < told.used_bytes; at += strlen(told.lines + at) + 1)
        say(context, told.lines + at);
    pthread_mutex_unlock(&told.lock);
}
