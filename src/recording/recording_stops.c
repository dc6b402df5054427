/*
 * What a profiler would have said that samples where the JVM stops threads, beside what was sampled: of some samples, sums
 * by method and line; dump.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_internal.h"
#include "recording/recording_names_internal.h"

/* So many samples of a take, about: each costs some microseconds. */
#define TAKEN_MOST 256u

#define SLOTS      2048u /* a power of two, twice the rows */
#define ROWS_MOST  1024u
#define ROWS_TOLD  64u
#define NAME_BYTES 136
#define PUT_NS     (10 * JW_NS_PER_SECOND)

static const char others[] = "[other methods]";

/* A line of a method; the first is of all that have no row of their own. */
struct stop_row {
    uint32_t hash;
    int32_t line; /* -1: not known */
    uint32_t sampled, stopped;
    uint32_t name_bytes;
    char name[NAME_BYTES];
};

struct recording_stops {
    struct stop_row rows[ROWS_MOST];
    uint32_t row_count;
    uint16_t slots[SLOTS];      /* row + 1; 0: free */
    uint64_t seen, seen_before; /* samples of this take up to here, and of the last one */
    uint32_t taken;
    uint64_t put_ns;
    bool is_changed;
};

/* A frame's method and line. */
struct place {
    char name[NAME_BYTES];
    size_t name_bytes;
    int32_t line;
};

void recording_stops_begin_take(struct recording *recording)
{
    if (recording->stops == NULL)
        return;
    recording->stops->seen_before = recording->stops->seen;
    recording->stops->seen = 0;
    recording->stops->taken = 0;
}

/* Samples of a take are many or few; which of them are taken is in no step with what the program does. */
static bool is_chosen(struct recording_stops *stops)
{
    const uint64_t stride = 1 + stops->seen_before / TAKEN_MOST;

    return jw_hash_word(++stops->seen) % stride == 0 && stops->taken < TAKEN_MOST;
}

/* "java/lang/String" and "length" as java.lang.String.length. */
static void put_name(struct place *place, const char *class_name, size_t class_bytes,
                     const char *name, size_t name_bytes)
{
    const int length = snprintf(place->name, sizeof place->name, "%.*s.%.*s", (int)class_bytes,
                                class_name, (int)name_bytes, name);

    place->name_bytes =
        (size_t)length < sizeof place->name ? (size_t)length : sizeof place->name - 1;
    for (size_t i = 0; i < place->name_bytes; i++)
        place->name[i] = place->name[i] == '/' ? '.' : place->name[i];
}

/* Of a Java frame. False: its method has no name. */
static bool read_frame(const struct recording_take *take, jw_frame frame, struct place *out)
{
    const struct generation *generation = take->generation;
    const struct method_record *record =
        method_record_get(generation->methods, jw_frame_method(frame), NULL);
    size_t class_bytes, name_bytes;

    if (record == NULL)
        return false;
    const char *class_name = dict_text(generation->classes, record->class_name, &class_bytes);
    const char *name = dict_text(generation->symbols, record->name, &name_bytes);
    if (class_name == NULL || name == NULL)
        return false;
    put_name(out, class_name, class_bytes, name, name_bytes);
    out->line = recording_frame_of(take, frame).line;
    return true;
}

static bool read_code(const struct recording *recording, const struct recording_code *code,
                      struct place *out)
{
    if (code->class_name.bytes == NULL || code->name.bytes == NULL)
        return false;
    put_name(out, code->class_name.bytes, code->class_name.length_bytes, code->name.bytes,
             code->name.length_bytes);
    out->line = code->line_table.bytes == NULL
                    ? -1
                    : recording_line_of((const unsigned char *)code->line_table.bytes,
                                        code->line_table.length_bytes,
                                        recording->config.unsigned5_bias, code->bci);
    return true;
}

static bool is_same_method(const struct place *left, const struct place *right)
{
    return left->name_bytes == right->name_bytes &&
           memcmp(left->name, right->name, left->name_bytes) == 0;
}

static uint32_t weight_of(const struct stop_row *row)
{
    return row->sampled > row->stopped ? row->sampled : row->stopped;
}

static void add_slot(struct recording_stops *stops, uint32_t row)
{
    uint32_t slot = stops->rows[row].hash;

    while (stops->slots[slot & (SLOTS - 1)] != 0)
        slot++;
    stops->slots[slot & (SLOTS - 1)] = (uint16_t)(row + 1);
}

/* Rows with the least go into the first one, until half of the room is free. */
static void make_room(struct recording_stops *stops)
{
    for (uint32_t least = 1; stops->row_count > ROWS_MOST / 2; least *= 2) {
        uint32_t kept = 1;

        for (uint32_t i = 1; i < stops->row_count; i++) {
            const struct stop_row *row = &stops->rows[i];

            if (weight_of(row) > least) {
                stops->rows[kept++] = *row;
                continue;
            }
            stops->rows[0].sampled += row->sampled;
            stops->rows[0].stopped += row->stopped;
        }
        stops->row_count = kept;
    }
    memset(stops->slots, 0, sizeof stops->slots);
    for (uint32_t i = 1; i < stops->row_count; i++)
        add_slot(stops, i);
}

static struct stop_row *row_at(struct recording_stops *stops, const struct place *place)
{
    const uint32_t hash =
        jw_hash32(place->name, place->name_bytes) ^ ((uint32_t)place->line * 0x9e3779b1u);

    for (uint32_t slot = hash; stops->slots[slot & (SLOTS - 1)] != 0; slot++) {
        struct stop_row *row = &stops->rows[stops->slots[slot & (SLOTS - 1)] - 1];

        if (row->hash == hash && row->line == place->line && row->name_bytes == place->name_bytes &&
            memcmp(row->name, place->name, place->name_bytes) == 0)
            return row;
    }
    if (stops->row_count == ROWS_MOST)
        make_room(stops);
    struct stop_row *made = &stops->rows[stops->row_count];
    *made = (struct stop_row){
        .hash = hash, .line = place->line, .name_bytes = (uint32_t)place->name_bytes};
    memcpy(made->name, place->name, place->name_bytes + 1);
    add_slot(stops, stops->row_count++);
    return made;
}

static bool is_java(jw_frame frame)
{
    return jw_frame_kind_of(frame) <= JW_FRAME_JAVA_NATIVE;
}

/*
 * Where the thread would have stopped, in a stack whose Java frames begin at `top`. The compiled method must be that of the
 * stack: behind the methods that were inlined into it.
 */
static bool find_stop(const struct recording_take *take, const struct store_trace *trace,
                      uint32_t top, const struct recording_stop *stop, struct place *out)
{
    struct place root, known;
    uint32_t own = top;

    while (own < trace->frame_count && jw_frame_kind_of(trace->frames[own]) == JW_FRAME_INLINED)
        own++;
    if (own >= trace->frame_count || jw_frame_kind_of(trace->frames[own]) != JW_FRAME_COMPILED ||
        !read_frame(take, trace->frames[own], &known) ||
        !read_code(take->recording, &stop->root, &root) || !is_same_method(&known, &root))
        return false;
    switch (stop->kind) {
    case RECORDING_STOP_UNTOLD:
        return false;
    case RECORDING_STOP_AT:
        return read_code(take->recording, &stop->at, out);
    case RECORDING_STOP_CALLER:
        return own + 1 < trace->frame_count && is_java(trace->frames[own + 1]) &&
               read_frame(take, trace->frames[own + 1], out);
    }
    return false;
}

static void count(struct recording_stops *stops, const struct place *was, const struct place *stop,
                  bool is_here)
{
    row_at(stops, was)->sampled++;
    row_at(stops, stop)->stopped++;
    stops->is_changed = true;
    jw_count(JW_COUNT_STOPS_TOLD);
    if (is_here)
        jw_count(JW_COUNT_STOPS_AT_POLL);
    if (!is_same_method(was, stop))
        jw_count(JW_COUNT_STOPS_OTHER_METHOD);
    else if (was->line != stop->line)
        jw_count(JW_COUNT_STOPS_OTHER_LINE);
}

static void look(struct recording_take *take, const struct event_record *record)
{
    const struct recording_sources *sources = &take->recording->config.sources;
    struct recording_stop stop = {.kind = RECORDING_STOP_UNTOLD};
    struct store_trace trace;
    struct place was, at;
    uint32_t top = 0;

    if (!store_get(take->generation->traces, record->trace, &trace))
        return;
    while (top < trace.frame_count && !is_java(trace.frames[top]))
        top++;
    if (top == trace.frame_count || !read_frame(take, trace.frames[top], &was))
        return;
    /* Interpreted code, native methods and the JVM: a stop shows the same. */
    if (record->value == 0) {
        count(take->recording->stops, &was, &was, false);
        return;
    }
    if (sources->stop(sources->context, (uintptr_t)record->value, &stop) &&
        find_stop(take, &trace, top, &stop, &at))
        count(take->recording->stops, &was, &at, stop.is_here);
    else
        jw_count(JW_COUNT_STOPS_UNTOLD);
}

static struct recording_stops *new_stops(void)
{
    struct recording_stops *made = jw_alloc(sizeof *made);

    if (made == NULL)
        return NULL;
    made->rows[0] = (struct stop_row){.line = -1, .name_bytes = sizeof others - 1};
    memcpy(made->rows[0].name, others, sizeof others);
    made->row_count = 1;
    return made;
}

void recording_stops_take(struct recording_take *take, const struct event_record *record)
{
    struct recording *recording = take->recording;

    if (recording->config.sources.stop == NULL || (record->flags & EVENT_TOP_KNOWN) == 0)
        return;
    /* Where there is no memory for it, nothing is told of it. */
    if (recording->stops == NULL)
        recording->stops = new_stops();
    if (recording->stops == NULL || !is_chosen(recording->stops))
        return;
    recording->stops->taken++;
    look(take, record);
}

static void put_row(struct recording *recording, uint64_t now_ns, const struct stop_row *row)
{
    struct jfr_buffer *out = &recording->events;
    const size_t begin = recording_event(recording, JFR_TYPE_SAFEPOINT_BIAS, now_ns);

    jfr_put_string(out, row->name);
    jfr_put_int(out, row->line);
    jfr_put_varint(out, row->sampled);
    jfr_put_varint(out, row->stopped);
    jfr_event_end(out, begin);
}

/* Those with most, each found anew, and all others as one: together all samples that were looked at. */
void recording_stops_put(struct recording *recording, uint64_t now_ns, bool is_chunk_end)
{
    struct recording_stops *stops = recording->stops;
    bool is_put[ROWS_MOST] = {true};

    if (stops == NULL || !stops->is_changed || (!is_chunk_end && now_ns - stops->put_ns < PUT_NS))
        return;
    stops->put_ns = now_ns;
    stops->is_changed = false;
    struct stop_row rest = stops->rows[0];
    for (uint32_t n = 1; n < stops->row_count; n++) {
        uint32_t most = 0;

        for (uint32_t i = 1; i < stops->row_count && n < ROWS_TOLD; i++)
            if (!is_put[i] &&
                (most == 0 || weight_of(&stops->rows[i]) > weight_of(&stops->rows[most])))
                most = i;
        if (most == 0)
            break;
        is_put[most] = true;
        put_row(recording, now_ns, &stops->rows[most]);
    }
    for (uint32_t i = 1; i < stops->row_count; i++) {
        rest.sampled += is_put[i] ? 0 : stops->rows[i].sampled;
        rest.stopped += is_put[i] ? 0 : stops->rows[i].stopped;
    }
    if (rest.sampled + rest.stopped > 0)
        put_row(recording, now_ns, &rest);
}
