/*
 * context_told - records with contexts into a recording, and what its file says of them.
 *
 * For      test_recording_context.c, test_recording_requests.c: each has its own.   Context  tool.
 */
#ifndef JW_TESTS_UNIT_RECORDING_CONTEXT_TOLD_H
#define JW_TESTS_UNIT_RECORDING_CONTEXT_TOLD_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generation/context_record.h"
#include "golden/made.h"
#include "jfr/jfr_context.h"
#include "os/os_output.h"
#include "recording/recording_internal.h"
#include "support/jfr_check.h"

#define NATIVE_KIND 60u
#define TRACE_TEXT  "0af7651916cd43dd8448eb211c80319c"

static const unsigned char trace_bytes[16] = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd,
                                              0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};

static char directory[] = "/tmp/jaywalk-context-XXXXXX";
static char path[64];
static struct jw_error err;
static struct jfr_check check;
static struct generations *generations;
static struct recording *recording;
static struct recording_config config;

/* What the application named so far. */
static const char *names[CONTEXT_ATTRIBUTES_MAX];

static inline const char *tell_attribute(void *context, unsigned number)
{
    (void)context;
    return number < CONTEXT_ATTRIBUTES_MAX ? names[number] : NULL;
}

/* A context as the application set it; a value of length 0 that is not NULL is empty. */
struct work {
    bool has_trace;
    uint64_t span_id;
    uint64_t root_span_id;
    struct recording_text values[CONTEXT_ATTRIBUTES_MAX];
    uint64_t virtual_thread;
    const char *virtual_name; /* NULL: not told */
};

static inline struct work work_for(uint64_t span_id, const char *tenant)
{
    return (struct work){.has_trace = true,
                         .span_id = span_id,
                         .root_span_id = 7,
                         .values = {{tenant, tenant == NULL ? 0 : strlen(tenant)}}};
}

static inline dict_id intern(struct generation *generation, const struct work *work)
{
    struct context_record record = {.span_id = work->span_id,
                                    .root_span_id = work->root_span_id,
                                    .virtual_thread = work->virtual_thread};

    if (work->virtual_name != NULL)
        record.virtual_name =
            dict_intern(generation->values, work->virtual_name, strlen(work->virtual_name));

    if (work->has_trace)
        memcpy(record.trace_id, trace_bytes, sizeof trace_bytes);
    for (size_t i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++)
        if (work->values[i].bytes != NULL)
            record.values[i] = dict_intern(generation->values, work->values[i].bytes,
                                           work->values[i].length_bytes);
    return context_record_intern(generation->contexts, &record);
}

/* A record of thread 0 or 1; late: the recording is turned over before it is committed. */
struct made_record {
    enum event_kind kind;
    uint32_t thread;
    unsigned stack; /* kind of made_fill */
    uint64_t number;
    uint64_t time_ns;
    uint64_t weight_ns;
    const char *name;
    const char *operation;
    bool is_late;
};

static inline dict_id intern_name(struct generation *generation, const char *name)
{
    return name == NULL ? DICT_NONE : dict_intern(generation->endpoints, name, strlen(name));
}

static inline void put_record(const struct made_record *made, const struct work *work)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    struct event_record *record = event_reserve(generation->events);
    jw_frame frames[80];
    uint32_t flags;

    record->kind = (uint16_t)made->kind;
    record->thread_index = made->thread;
    record->thread_serial = made->thread + 1;
    record->time_ns = made->time_ns == 0 ? jw_now_ns() : made->time_ns;
    record->weight_ns = made->weight_ns == 0 ? MADE_WEIGHT_NS : made->weight_ns;
    record->value = made->number;
    record->name = intern_name(generation, made->name);
    if (made->kind == EVENT_ENDPOINT)
        record->operation = intern_name(generation, made->operation);
    if (made->kind == EVENT_CPU_SAMPLE || made->kind == EVENT_WALL_SAMPLE) {
        const uint32_t count = made_fill(generation, made->stack, frames, &flags);

        record->trace = store_put(generation->traces, frames, count, flags);
    }
    if (made->kind == EVENT_WALL_SAMPLE || made->kind == EVENT_WALL_IDLE)
        record->sample_count = 1;
    if (work != NULL)
        record->context = intern(generation, work);
    if (made->is_late)
        made_turn(generations, recording);
    event_commit(record);
    generation_leave(generations, &ticket);
}

static inline void cpu_sample(const struct work *work)
{
    put_record(&(struct made_record){.kind = EVENT_CPU_SAMPLE}, work);
}

static inline void wall_sample(uint32_t thread, uint64_t number, const struct work *work)
{
    put_record(
        &(struct made_record){
            .kind = EVENT_WALL_SAMPLE, .thread = thread, .stack = NATIVE_KIND, .number = number},
        work);
}

static inline void wall_idle(uint32_t thread, uint64_t number)
{
    put_record(&(struct made_record){.kind = EVENT_WALL_IDLE, .thread = thread, .number = number},
               NULL);
}

static inline void set_up(void)
{
    const struct generations_config memory = {0};

    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    generations = generations_open(&memory, &err);
    cr_assert_not_null(generations);
    config = made_config(path, RECORDING_JFR);
    config.sources.attribute = tell_attribute;
    memset(names, 0, sizeof names);
}

static inline void tear_down(void)
{
    jw_alloc_fail_after(0);
    generations_close(generations);
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

static inline void open_it(void)
{
    recording = recording_open(&config, &err);
    cr_assert_not_null(recording, "%s", err.message);
}

static inline void turn(void)
{
    made_turn(generations, recording);
    cr_assert(recording_flush(recording, &err), "%s", err.message);
}

static inline void close_it(void)
{
    cr_assert(recording_close(recording, &err), "%s", err.message);
    recording = NULL;
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
}

/* ---- what the file says ---- */

struct told_value {
    const char *name;
    char text[300];
    size_t length_bytes;
    bool is_set;
};

struct told {
    char type[64];
    size_t chunk; /* from 1 */
    char trace[40];
    uint64_t span_id;
    uint64_t root_span_id;
    size_t count;
    char attribute_names[CONTEXT_ATTRIBUTES_MAX][70];
    char attribute_fields[CONTEXT_ATTRIBUTES_MAX][70];
    struct told_value values[CONTEXT_ATTRIBUTES_MAX];
    char endpoint[64];
    char operation[64];
    char thread[64];
    int64_t start_ticks;
    int64_t duration_ticks;
    int64_t chunk_start_ticks;
};

static struct told told[600];
static size_t told_count;

static inline void copy_text(const struct jfr_value *value, char *out, size_t capacity)
{
    struct jfr_text text = {0};

    out[0] = '\0';
    if (value->reader != NULL && jfr_value_text(value, &text))
        snprintf(out, capacity, "%s", text.text);
    jfr_text_free(&text);
}

static inline void tell_context(const struct jfr_context *context, struct told *out)
{
    copy_text(&context->trace_id, out->trace, sizeof out->trace);
    out->span_id = context->span_id;
    out->root_span_id = context->root_span_id;
    out->count = context->attribute_count;
    for (size_t i = 0; i < out->count; i++) {
        struct jfr_text text = {0};

        snprintf(out->attribute_names[i], sizeof out->attribute_names[i], "%s",
                 context->attributes[i].name);
        out->values[i].is_set = context->attributes[i].value.reader != NULL;
        if (out->values[i].is_set) {
            cr_assert(jfr_value_text(&context->attributes[i].value, &text));
            cr_assert_lt(text.length_bytes, sizeof out->values[i].text);
            memcpy(out->values[i].text, text.text, text.length_bytes + 1);
            out->values[i].length_bytes = text.length_bytes;
        }
        jfr_text_free(&text);
    }
}

static inline void tell_thread(const struct jfr_value *thread, struct told *out)
{
    struct jfr_value name;

    if (thread->reader != NULL && jfr_value_field(thread, "javaName", &name))
        copy_text(&name, out->thread, sizeof out->thread);
}

static inline bool tell(const struct jfr_reader_event *event, struct told *out)
{
    struct jfr_context context;
    struct jfr_endpoint endpoint;
    struct jfr_span span;

    *out = (struct told){.start_ticks = event->start_ticks};
    snprintf(out->type, sizeof out->type, "%s", event->type_name);
    if (jfr_span_read(event, &span)) {
        tell_context(&span.context, out);
        copy_text(&span.name, out->endpoint, sizeof out->endpoint);
        out->duration_ticks = span.duration_ticks;
        tell_thread(&span.thread, out);
        return true;
    }
    if (jfr_endpoint_read(event, &endpoint)) {
        copy_text(&endpoint.trace_id, out->trace, sizeof out->trace);
        copy_text(&endpoint.endpoint, out->endpoint, sizeof out->endpoint);
        copy_text(&endpoint.operation, out->operation, sizeof out->operation);
        out->root_span_id = endpoint.root_span_id;
        tell_thread(&endpoint.thread, out);
        return true;
    }
    if (!jfr_context_read(event, &context))
        return false;
    tell_context(&context, out);
    return true;
}

/* Reads all events with a context, all endpoints and spans. */
static inline void read_it(void)
{
    struct jfr_reader *reader = jfr_reader_open(path, &err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    size_t chunks = 0;

    told_count = 0;
    cr_assert_not_null(reader, "%s", err.message);
    while (jfr_reader_next_chunk(reader, &chunk, &err)) {
        chunks++;
        while (jfr_reader_next_event(reader, &event, &err)) {
            cr_assert_lt(told_count, JW_COUNT_OF(told));
            if (!tell(&event, &told[told_count]))
                continue;
            told[told_count].chunk = chunks;
            told[told_count++].chunk_start_ticks = chunk.start_ticks;
        }
    }
    cr_assert_str_eq(err.message, "");
    jfr_reader_close(reader);
}

static inline void finish(void)
{
    close_it();
    read_it();
}

static inline void expect_value(const struct told *of, size_t number, const char *text)
{
    cr_assert_lt(number, of->count);
    cr_assert(of->values[number].is_set, "attribute %zu is not set", number);
    cr_expect_str_eq(of->values[number].text, text);
}

#endif
