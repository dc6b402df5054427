/* What viewers show of the process and the machine around the samples: properties, libraries, threads that come and go,
 * the network; dump. */
#include <string.h>

#include "base/clock.h"
#include "recording/recording_internal.h"

#define NETWORK_NS        (5 * JW_NS_PER_SECOND)
#define SWITCHES_NS       (10 * JW_NS_PER_SECOND)
#define LIFE_ROWS_MAX     8192 /* starts and ends in a chunk */
#define FIRST_LIVES       256
#define BITS_PER_BYTE     8
#define LIFE_SERIAL_SHIFT 2 /* below: what was told */
#define LIFE_BEGUN        1u
#define LIFE_ENDED        2u

/* ---- once a chunk ---- */

static void put_text_or_null(struct jfr_buffer *out, struct recording_text text)
{
    if (text.bytes == NULL)
        jfr_put_string(out, NULL);
    else
        jfr_put_text(out, text.bytes, text.length_bytes);
}

static void put_pairs(struct recording *recording, uint64_t now_ns, enum jfr_type type,
                      bool (*pair)(void *context, uint32_t number, struct recording_pair *out))
{
    struct jfr_buffer *out = &recording->events;
    struct recording_pair told;

    for (uint32_t i = 0; pair != NULL && pair(recording->config.sources.context, i, &told); i++) {
        const size_t begin = recording_event(recording, type, now_ns);

        put_text_or_null(out, told.key);
        put_text_or_null(out, told.value);
        jfr_event_end(out, begin);
    }
}

void recording_host_new_chunk(struct recording *recording, uint64_t now_ns)
{
    struct recording_host *host = &recording->host;

    host->libraries.part = JW_MEMORY_NAMES;
    jw_map_clear(&host->libraries);
    host->look = 0;
    host->life_rows = 0;
    put_pairs(recording, now_ns, JFR_TYPE_SYSTEM_PROPERTY, recording->config.sources.property);
    put_pairs(recording, now_ns, JFR_TYPE_ENVIRONMENT_VARIABLE, recording->config.sources.variable);
    recording_put_flags(recording, now_ns);
}

/* ---- libraries ---- */

struct library_closure {
    struct recording *recording;
    uint64_t now_ns;
};

/* One without room to be remembered is told again at the next look. */
static bool is_new_library(struct recording *recording, const struct recording_library *library)
{
    struct jfr_buffer *question = &recording->names.scratch;
    bool is_new = true;

    jfr_put_be64(question, library->base);
    jfr_put_bytes(question, library->path.bytes, library->path.length_bytes);
    if (question->has_failed) {
        recording->names.has_failed = true;
    } else {
        uint64_t *known =
            jw_map_put(&recording->host.libraries, question->bytes, question->used_bytes);

        if (known != NULL) {
            is_new = *known == 0;
            *known = 1;
        } else {
            jw_count(JW_COUNT_NAMES_UNKEPT);
        }
    }
    jfr_buffer_clear(question);
    return is_new;
}

static void put_library(void *closure, const struct recording_library *library)
{
    const struct library_closure *to = closure;
    struct jfr_buffer *out = &to->recording->events;

    if (library->path.bytes == NULL || !is_new_library(to->recording, library))
        return;

    const size_t begin = recording_event(to->recording, JFR_TYPE_NATIVE_LIBRARY, to->now_ns);
    jfr_put_text(out, library->path.bytes, library->path.length_bytes);
    jfr_put_varint(out, library->base);
    jfr_put_varint(out, library->top);
    jfr_event_end(out, begin);
}

static void put_libraries(struct recording *recording, uint64_t now_ns)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct library_closure closure = {recording, now_ns};

    if (sources->libraries != NULL)
        sources->libraries(sources->context, &recording->host.look, put_library, &closure);
}

/* ---- now and then ---- */

static void put_resident(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;
    struct os_resident resident;

    if (!os_resident(&resident))
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_RESIDENT_SET_SIZE, now_ns);
    jfr_put_varint(out, resident.size_bytes);
    jfr_put_varint(out, resident.peak_bytes);
    jfr_event_end(out, begin);
}

static uint64_t per_second(uint64_t count, uint64_t span_ns)
{
    return (uint64_t)((double)count * (double)JW_NS_PER_SECOND / (double)span_ns);
}

static const struct os_interface *find_interface(const struct recording_host *host,
                                                 const char *name)
{
    for (size_t i = 0; i < host->interface_count; i++)
        if (strcmp(host->interfaces[i].name, name) == 0)
            return &host->interfaces[i];
    return NULL;
}

/* An interface that came up anew counts from zero: nothing is said of it until the next reading. */
static void put_interface(struct recording *recording, uint64_t now_ns,
                          const struct os_interface *before, const struct os_interface *now)
{
    const uint64_t span_ns = now_ns - recording->host.interfaces_ns;
    struct jfr_buffer *out = &recording->events;

    if (before == NULL || now->received_bytes < before->received_bytes ||
        now->sent_bytes < before->sent_bytes)
        return;
    const uint64_t received_bytes = now->received_bytes - before->received_bytes;
    const uint64_t sent_bytes = now->sent_bytes - before->sent_bytes;
    if (received_bytes == 0 && sent_bytes == 0)
        return;

    const uint64_t name =
        recording_simple(&recording->names, JFR_TYPE_NETWORK_INTERFACE, now->name);
    const size_t begin = recording_event(recording, JFR_TYPE_NETWORK_UTILIZATION, now_ns);
    jfr_put_varint(out, name);
    jfr_put_varint(out, per_second(received_bytes * BITS_PER_BYTE, span_ns));
    jfr_put_varint(out, per_second(sent_bytes * BITS_PER_BYTE, span_ns));
    jfr_event_end(out, begin);
}

static void put_network(struct recording *recording, uint64_t now_ns)
{
    struct recording_host *host = &recording->host;
    struct os_interface now[RECORDING_INTERFACES_MAX];

    if (host->interfaces_ns != 0 && now_ns - host->interfaces_ns < NETWORK_NS)
        return;
    const size_t count = os_interfaces(now, RECORDING_INTERFACES_MAX);
    for (size_t i = 0; host->interfaces_ns != 0 && i < count; i++)
        put_interface(recording, now_ns, find_interface(host, now[i].name), &now[i]);
    memcpy(host->interfaces, now, count * sizeof now[0]);
    host->interface_count = count;
    host->interfaces_ns = now_ns;
}

static void put_switches(struct recording *recording, uint64_t now_ns)
{
    struct recording_host *host = &recording->host;
    struct jfr_buffer *out = &recording->events;
    const uint64_t span_ns = now_ns - host->switches_ns;
    uint64_t switches;

    if ((host->switches_ns != 0 && span_ns < SWITCHES_NS) || !os_switches(&switches))
        return;
    if (host->switches_ns != 0 && switches >= host->switches) {
        const size_t begin = recording_event(recording, JFR_TYPE_CONTEXT_SWITCH_RATE, now_ns);

        jfr_put_float(out, (float)((double)(switches - host->switches) * (double)JW_NS_PER_SECOND /
                                   (double)span_ns));
        jfr_event_end(out, begin);
    }
    host->switches = switches;
    host->switches_ns = now_ns;
}

void recording_put_host(struct recording *recording, uint64_t now_ns)
{
    put_libraries(recording, now_ns);
    recording_put_jvm(recording, now_ns);
    put_resident(recording, now_ns);
    put_network(recording, now_ns);
    put_switches(recording, now_ns);
}

/* ---- threads that come and go ---- */

static uint64_t *life_of(struct recording_host *host, uint32_t index)
{
    size_t capacity = host->life_count == 0 ? FIRST_LIVES : host->life_count;

    while (capacity <= index)
        capacity *= 2;
    if (capacity != host->life_count) {
        uint64_t *lives = jw_realloc(host->lives, jw_mul_bytes(capacity, sizeof *lives));

        if (lives == NULL)
            return NULL;
        memset(lives + host->life_count, 0, (capacity - host->life_count) * sizeof *lives);
        host->lives = lives;
        host->life_count = capacity;
    }
    return &host->lives[index];
}

static void put_life(struct recording *recording, const struct recording_life *life, bool is_end)
{
    struct jfr_buffer *out = &recording->events;

    if (recording->host.life_rows == LIFE_ROWS_MAX) {
        jw_count(JW_COUNT_THREADS_UNTOLD);
        return;
    }
    recording->host.life_rows++;
    const uint64_t key = recording_thread_key(&recording->names, life->index, life->serial);
    const size_t begin =
        recording_event(recording, is_end ? JFR_TYPE_THREAD_END : JFR_TYPE_THREAD_START,
                        is_end ? life->end_ns : life->begin_ns);
    jfr_put_varint(out, key);
    if (!is_end)
        jfr_put_varint(out, 0); /* stackTrace: of who started it, which nobody tells */
    jfr_put_varint(out, key);
    if (!is_end)
        jfr_put_varint(out, 0); /* parentThread */
    jfr_event_end(out, begin);
}

void recording_thread_life(struct recording *recording, const struct recording_life *life,
                           uint64_t since_ns)
{
    const uint64_t serial = (uint64_t)life->serial << LIFE_SERIAL_SHIFT;

    if (recording->file == NULL || recording->has_failed)
        return;
    uint64_t *told = life_of(&recording->host, life->index);
    if (told == NULL) {
        recording_fail_memory(recording);
        return;
    }
    if (*told >> LIFE_SERIAL_SHIFT != life->serial)
        *told = serial;
    if ((*told & LIFE_BEGUN) == 0 && life->begin_ns > since_ns)
        put_life(recording, life, false);
    *told |= LIFE_BEGUN;
    if ((*told & LIFE_ENDED) == 0 && life->end_ns > since_ns) {
        put_life(recording, life, true);
        *told |= LIFE_ENDED;
    }
}

void recording_thread_load(struct recording *recording, const struct recording_thread_load *load)
{
    struct jfr_buffer *out = &recording->events;

    if (recording->file == NULL || recording->has_failed)
        return;
    const uint64_t key = recording_thread_key(&recording->names, load->index, load->serial);
    const size_t begin = recording_event(recording, JFR_TYPE_THREAD_CPU_LOAD, jw_now_ns());
    jfr_put_varint(out, key);
    jfr_put_float(out, (float)load->user);
    jfr_put_float(out, (float)load->system);
    jfr_event_end(out, begin);
    recording_relieve(recording);
}

void recording_shutdown(struct recording *recording, const char *reason)
{
    struct jfr_buffer *out = &recording->events;

    if (recording->file == NULL || recording->has_failed)
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_SHUTDOWN, jw_now_ns());
    jfr_put_varint(out, 0); /* eventThread */
    jfr_put_varint(out, 0); /* stackTrace */
    jfr_put_string(out, reason);
    jfr_event_end(out, begin);
}

void recording_host_close(struct recording *recording)
{
    jw_map_close(&recording->host.libraries);
    jw_free(recording->host.lives);
}
