/*
 * made - a recording with every feature, written without a JVM: what is in it is known, so that any
 * reader can be checked against it.
 *
 * For      make_recording and the unit tests of room recording.   Context  tool.
 *
 *   threads    main (Java, group main in system), worker (Java, renamed half-way), GC Thread#0 (native)
 *   clocks     main 20 ms a round more than its samples, worker 5 ms less, GC Thread#0 1 ms more; short-N,
 *              another one in each round, 3 ms without a sample; 2 ms of the process are of nobody
 *   stacks     Hot.spin <- Hot.main            60 of 100 samples, compiled and interpreted, with lines
 *              memcpy <- Hot.copy <- Hot.main  20, a native method
 *              clone3 <- Warm.up <- unknown    10, no Java: a method that is compiled
 *              [GC active]                      5, a failed walk
 *              Lambda <- ... 70 frames          5, truncated, a hidden class; on top the class of a receiver
 *   requests   with made_with_context: of four samples three serve requests 100 to 102, each of another
 *              tenant; attribute http.route is named after the first round. In each round each request is
 *              told, and a span of 1 ms of it
 */
#ifndef JW_TESTS_GOLDEN_MADE_H
#define JW_TESTS_GOLDEN_MADE_H

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/thread_state.h"
#include "generation/context_record.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording.h"

#define MADE_WEIGHT_NS   10000000ull
#define MADE_TID         4242u
#define MADE_SHORT_INDEX 4u
#define MADE_SHORT_NS    3000000ull
#define MADE_UNSEEN_NS   2000000ull

static int made_renamed;
static uint16_t made_kind = EVENT_CPU_SAMPLE; /* of made_sample */

/* Samples serve requests: trace, spans, attributes. How many attributes the application named so far. */
static bool made_with_context;
static unsigned made_attributes;

static inline const char *made_tell_attribute(void *context, unsigned number)
{
    static const char *const names[] = {"tenant", "http.route", "state"};

    (void)context;
    return number < made_attributes && number < JW_COUNT_OF(names) ? names[number] : NULL;
}

static inline struct recording_text made_text(const char *string)
{
    return (struct recording_text){string, strlen(string)};
}

static inline bool made_tell_thread(void *context, uint32_t index, uint32_t serial,
                                    struct recording_thread *out)
{
    (void)context;
    *out = (struct recording_thread){.os_tid = 1000 + index};
    if (index == MADE_SHORT_INDEX) {
        static char name[32];

        snprintf(name, sizeof name, "short-%u", serial);
        out->java_name = made_text(name);
        return true;
    }
    if (index > 2 || serial != index + 1)
        return false;
    if (index == 2) {
        out->os_name = made_text("GC Thread#0");
        return true;
    }
    out->os_name = made_text(index == 0 ? "java" : "worker");
    out->java_name = made_text(index == 0 ? "main" : made_renamed ? "worker \xc0\x80 2" : "worker");
    out->java_id = index == 0 ? 1 : 22;
    out->group = made_text("main");
    out->parent_group = made_text("system");
    return true;
}

static inline bool made_tell_loader(void *context, uint32_t loader, struct recording_loader *out)
{
    (void)context;
    *out = (struct recording_loader){{NULL, 0}, {NULL, 0}};
    if (loader == 1)
        out->name = made_text("bootstrap");
    if (loader == 2) {
        out->name = made_text("app");
        out->type = made_text("jdk/internal/loader/ClassLoaders$AppClassLoader");
    }
    return loader == 1 || loader == 2;
}

static inline bool made_tell_module(void *context, uint32_t loader, struct recording_text package,
                                    struct recording_module *out)
{
    (void)context;
    if (loader != 1 || package.length_bytes < 4 || memcmp(package.bytes, "java", 4) != 0)
        return false;
    *out = (struct recording_module){made_text("java.base"), made_text("25.0.3"),
                                     made_text("jrt:/java.base")};
    return true;
}

static inline bool made_tell_native(void *context, uintptr_t pc, struct recording_symbol *out)
{
    (void)context;
    *out = (struct recording_symbol){made_text("libc.so.6"), {NULL, 0}};
    if (pc == 0x1000)
        out->symbol = made_text("memcpy");
    if (pc == 0x2000)
        out->symbol = made_text("clone3");
    return pc <= 0x3000;
}

static inline bool made_tell_failure(void *context, uint32_t number,
                                     struct recording_walk_failure *out)
{
    (void)context;
    *out = (struct recording_walk_failure){-2, "GC active", "libjvm.so", "agct",
                                           jw_counter(JW_COUNT_WALK_FAILED)};
    return number == 0;
}

/* bci 0 is line 10, bci 8 line 12, bci 20 line 400. UNSIGNED5 with bias 1, as from JDK 21 on. */
static const unsigned char made_lines[] = {0xff, 0x01, 0x15, 0x42, 0xff, 0x19, 0xc9, 0x0a, 0x00};

static inline dict_id made_method(struct generation *generation, const char *class_name,
                                  const char *name, const char *signature, uint32_t loader,
                                  uint32_t modifiers, bool with_lines)
{
    static union {
        struct method_record record;
        unsigned char bytes[sizeof(struct method_record) + sizeof made_lines];
    } both;

    memset(&both, 0, sizeof both);
    both.record.class_name = dict_intern(generation->classes, class_name, strlen(class_name));
    both.record.name = dict_intern(generation->symbols, name, strlen(name));
    both.record.signature = dict_intern(generation->symbols, signature, strlen(signature));
    both.record.modifiers = modifiers;
    both.record.class_modifiers = 1;
    both.record.loader = loader;
    both.record.flags = strchr(class_name, '+') != NULL ? METHOD_HIDDEN : 0;
    if (with_lines) {
        both.record.line_table_bytes = sizeof made_lines;
        memcpy(both.bytes + sizeof both.record, made_lines, sizeof made_lines);
    }
    return method_record_intern(generation->methods, &both.record);
}

static inline uint32_t made_fill(struct generation *generation, unsigned kind, jw_frame *frames,
                                 uint32_t *flags)
{
    const dict_id spin = made_method(generation, "app/Hot", "spin", "(I)J", 2, 9, true);
    const dict_id start =
        made_method(generation, "app/Hot", "main", "([Ljava/lang/String;)V", 2, 9, true);
    uint32_t count = 0;

    *flags = STORE_WALKER_AGCT;
    if (kind < 60) {
        frames[count++] = jw_frame_java(kind < 50 ? JW_FRAME_COMPILED : JW_FRAME_INTERPRETED, spin,
                                        kind < 40 ? 8 : 21);
        frames[count++] = jw_frame_java(JW_FRAME_INTERPRETED, start, 3);
    } else if (kind < 80) {
        const dict_id copy = made_method(generation, "app/Hot", "copy", "()V", 2, 0x109, false);

        if (kind == 79)
            frames[count++] = jw_frame_address(0x7f31c80010a4);
        frames[count++] = jw_frame_native(0x1000);
        frames[count++] = jw_frame_native(0x3000);
        frames[count++] = jw_frame_java(JW_FRAME_JAVA_NATIVE, copy, JW_BCI_NATIVE);
        frames[count++] = jw_frame_java(JW_FRAME_INTERPRETED, start, 9);
    } else if (kind < 90) {
        const dict_id warm = made_method(generation, "app/Warm", "up", "()V", 2, 9, true);

        frames[count++] = jw_frame_native(0x2000);
        frames[count++] = jw_frame_java(JW_FRAME_COMPILING, warm, JW_BCI_UNKNOWN);
        frames[count++] = jw_frame_native(0x9000);
        *flags = 0;
    } else if (kind < 95) {
        frames[count++] = jw_frame_mark(JW_MARK_GC_ACTIVE);
        *flags = STORE_FAILED;
        jw_count(JW_COUNT_WALK_FAILED);
    } else {
        const dict_id lambda =
            made_method(generation, "app/Hot$$Lambda+0x00007f31c8000a00", "apply",
                        "(Ljava/lang/Object;)Ljava/lang/Object;", 2, 1, false);
        const dict_id list = made_method(generation, "java/util/ArrayList", "forEach",
                                         "(Ljava/util/function/Consumer;)V", 1, 1, true);

        frames[count++] =
            jw_frame_class(dict_intern(generation->classes, "app/Shape+0x00007f31c8000b00", 28));
        for (int i = 0; i < 70; i++)
            frames[count++] =
                jw_frame_java(JW_FRAME_INLINED, i % 2 == 0 ? lambda : list, i % 2 == 0 ? -1 : 0);
        *flags |= STORE_TRUNCATED;
        jw_count(JW_COUNT_TRUNCATED);
    }
    return count;
}

/* The request that a sample of this kind serves: of three, each with its own tenant; or none. */
static inline dict_id made_context(struct generation *generation, unsigned kind)
{
    static const char *const tenants[] = {"acme", "globex", "\"caf\xc3\xa9\" \xff\x01"};
    static const char *const routes[] = {"/orders/{id}", "/", "/search"};
    const unsigned request = kind % 4;
    struct context_record record = {.span_id = 0x8000000000000000u + kind,
                                    .root_span_id = 100 + request};

    if (!made_with_context || request == 3)
        return DICT_NONE;
    memset(record.trace_id, 0xa0 + (int)request, sizeof record.trace_id);
    if (made_attributes > 0)
        record.values[0] =
            dict_intern(generation->values, tenants[request], strlen(tenants[request]));
    if (made_attributes > 1)
        record.values[1] =
            dict_intern(generation->values, routes[request], strlen(routes[request]));
    return context_record_intern(generation->contexts, &record);
}

/* One request of each kind is told, and that it ended. */
static inline void made_requests(struct generations *generations)
{
    static const char *const endpoints[] = {"GET /orders/{id}", "GET /", "POST /search"};

    for (unsigned i = 0; i < 2 * JW_COUNT_OF(endpoints); i++) {
        const char *name = endpoints[i / 2];
        const bool is_span = i % 2 == 1;
        struct epoch_ticket ticket;
        struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
        struct event_record *record = event_reserve(generation->events);

        if (record != NULL) {
            record->kind = is_span ? EVENT_SPAN : EVENT_ENDPOINT;
            record->thread_index = i / 2 % 2;
            record->thread_serial = record->thread_index + 1;
            record->time_ns = jw_now_ns() - (is_span ? JW_NS_PER_MS : 0);
            record->weight_ns = is_span ? JW_NS_PER_MS : 0;
            record->value = 100 + i / 2;
            record->name = dict_intern(generation->endpoints, name, strlen(name));
            record->context = made_context(generation, i / 2);
            event_commit(record);
        }
        generation_leave(generations, &ticket);
    }
}

static inline void made_sample(struct generations *generations, unsigned kind)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t flags;

    jw_count(JW_COUNT_SIGNALS);
    if (generation == NULL)
        return;

    const uint32_t count = made_fill(generation, kind, frames, &flags);
    const store_id trace = store_put(generation->traces, frames, count, flags);
    struct event_record *record = trace == STORE_NONE ? NULL : event_reserve(generation->events);
    if (record != NULL) {
        record->kind = made_kind;
        record->thread_index = kind >= 80 && kind < 90 ? 2 : kind % 2;
        record->thread_serial = record->thread_index + 1;
        record->time_ns = jw_now_ns();
        record->weight_ns = MADE_WEIGHT_NS;
        record->trace = trace;
        record->context = made_context(generation, kind);
        event_commit(record);
        jw_count(JW_COUNT_SAMPLES);
    }
    generation_leave(generations, &ticket);
}

/* A record of the wall clock, whose sample has the stack of this kind. */
struct made_wall {
    uint32_t thread;
    uint64_t number;
    uint32_t turns;
    uint64_t time_ns;
    uint64_t weight_ns;
    enum jw_thread_state state;
    bool is_idle;
    struct recording *late_for; /* this recording is turned over before the record is committed */
};

static inline void made_turn(struct generations *generations, struct recording *recording);

static inline void made_wall(struct generations *generations, const struct made_wall *wall,
                             unsigned kind)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[80];
    uint32_t flags;

    if (!wall->is_idle)
        jw_count(JW_COUNT_SIGNALS);
    if (generation == NULL)
        return;

    struct event_record *record = event_reserve(generation->events);
    if (record != NULL) {
        record->kind = wall->is_idle ? EVENT_WALL_IDLE : EVENT_WALL_SAMPLE;
        record->thread_index = wall->thread;
        record->thread_serial = wall->thread + 1;
        record->time_ns = wall->time_ns;
        record->weight_ns = wall->weight_ns;
        record->value = wall->number;
        record->sample_count = wall->turns;
        record->state = (uint16_t)wall->state;
        if (!wall->is_idle) {
            const uint32_t count = made_fill(generation, kind, frames, &flags);

            record->trace = store_put(generation->traces, frames, count, flags);
            record->context = made_context(generation, wall->thread);
        }
        if (wall->late_for != NULL)
            made_turn(generations, wall->late_for);
        event_commit(record);
        if (!wall->is_idle)
            jw_count(JW_COUNT_SAMPLES);
    }
    generation_leave(generations, &ticket);
}

static inline bool made_take_late(struct generation *generation, void *recording)
{
    recording_take(recording, generation);
    return true;
}

static inline void made_turn(struct generations *generations, struct recording *recording)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        recording_take(recording, closed);
    generations_retire(generations, made_take_late, recording);
}

/* What the clocks say after so many rounds; in each, another thread lived shortly and was not sampled. */
static inline void made_clocks(struct recording *recording, unsigned long rounds)
{
    static const int64_t more_ns[] = {20000000, -5000000, 1000000};
    static const unsigned samples[] = {45, 45, 10};
    uint64_t used_ns = rounds * MADE_SHORT_NS;

    for (uint32_t i = 0; i < JW_COUNT_OF(samples); i++) {
        const struct recording_thread_cpu cpu = {
            .index = i,
            .serial = i + 1,
            .used_ns = rounds * (samples[i] * MADE_WEIGHT_NS + (uint64_t)more_ns[i]),
        };

        used_ns += cpu.used_ns;
        recording_thread_cpu(recording, &cpu);
    }
    recording_thread_cpu(recording, &(struct recording_thread_cpu){.index = MADE_SHORT_INDEX,
                                                                   .serial = (uint32_t)rounds,
                                                                   .used_ns = MADE_SHORT_NS,
                                                                   .is_ended = true,
                                                                   .is_short = true});
    recording_process_cpu(recording, used_ns + rounds * MADE_UNSEEN_NS);
}

static inline struct recording_config made_config(const char *path, enum recording_format format)
{
    static const struct recording_setting settings[] = {
        {"jdk.ExecutionSample", "enabled", "true"},
        {"jdk.ExecutionSample", "period", "10 ms"},
        {NULL, "event", "cpu"},
    };

    return (struct recording_config){
        .path = path,
        .format = format,
        .title = "made without a JVM",
        .settings = settings,
        .setting_count = JW_COUNT_OF(settings),
        .jvm = {.name = "OpenJDK 64-Bit Server VM",
                .version = "OpenJDK 64-Bit Server VM (25.0.3+9) for linux-amd64 JRE (25.0.3+9), "
                           "built on 2026-04-21",
                .arguments = "-Xmx1g",
                .java_arguments = "app.Hot",
                .start_ms = 1700000000000,
                .pid = 4242},
        .look = {.method_count = EXPORT_METHOD_COUNT, .stack_count = EXPORT_STACK_COUNT},
        .unsigned5_bias = 1,
        .sources = {.thread = made_tell_thread,
                    .loader = made_tell_loader,
                    .module = made_tell_module,
                    .native_pc = made_tell_native,
                    .walk_failure = made_tell_failure,
                    .attribute = made_tell_attribute},
    };
}

/* Of each thread a wall sample in the first round alone, which it waits on ever after. */
static inline void made_wall_round(struct generations *generations, unsigned long round)
{
    for (uint32_t thread = 0; thread < 3; thread++) {
        const struct made_wall wall = {
            .thread = thread,
            .number = 1,
            .turns = round == 0 ? 1 : 5,
            .time_ns = jw_now_ns(),
            .weight_ns = MADE_WEIGHT_NS,
            .state = round == 0 ? JW_STATE_PARKED : JW_STATE_UNKNOWN,
            .is_idle = round > 0,
        };

        made_wall(generations, &wall, 60 + 12 * thread);
    }
}

static bool made_with_wall;

/* Writes `chunks` chunks of `rounds` flushes of 100 samples. */
static inline bool made_recording(const struct recording_config *config, unsigned long chunks,
                                  unsigned long rounds, struct jw_error *err)
{
    const struct generations_config memory = {0};
    struct generations *generations = generations_open(&memory, err);
    struct recording *recording = generations == NULL ? NULL : recording_open(config, err);
    bool is_good = recording != NULL;

    for (unsigned long chunk = 0; is_good && chunk < chunks; chunk++) {
        for (unsigned long round = 0; is_good && round < rounds; round++) {
            made_renamed = 2 * (chunk * rounds + round) >= chunks * rounds;
            /* The second one comes in the middle of the first chunk. */
            made_attributes = made_with_context ? 1 + (chunk * rounds + round > 0) : 0;
            for (unsigned kind = 0; kind < 100; kind++)
                made_sample(generations, kind);
            if (made_with_wall)
                made_wall_round(generations, chunk * rounds + round);
            if (made_with_context)
                made_requests(generations);
            made_turn(generations, recording);
            made_clocks(recording, chunk * rounds + round + 1);
            is_good = recording_flush(recording, err);
        }
        if (is_good && chunk + 1 < chunks)
            is_good = recording_roll(recording, err);
    }
    if (recording != NULL) {
        made_turn(generations, recording);
        is_good = recording_close(recording, err) && is_good;
    }
    if (generations != NULL)
        generations_close(generations);
    return is_good;
}

#endif
