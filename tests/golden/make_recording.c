/*
 * Writes a recording with every feature, without a JVM: what is in it is known, so that any reader can
 * be checked against it. Usage: make_recording FILE [chunks [rounds]]. The ending of FILE chooses the
 * format.
 *
 *   threads    main (Java, group main in system), worker (Java, renamed half-way), GC Thread#0 (native)
 *   stacks     Hot.spin <- Hot.main            60 of 100 samples, compiled and interpreted, with lines
 *              memcpy <- Hot.copy <- Hot.main  20, a native method
 *              clone3 <- start_thread          10, no Java
 *              [GC active]                      5, a failed walk
 *              Lambda <- ... 70 frames          5, truncated, a hidden class
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/counters.h"
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording.h"

#define WEIGHT_NS 10000000ull
#define TID       4242u

static int renamed;

static struct recording_text text(const char *string)
{
    return (struct recording_text){string, strlen(string)};
}

static bool tell_thread(void *context, uint32_t index, uint32_t serial,
                        struct recording_thread *out)
{
    (void)context;
    *out = (struct recording_thread){.os_tid = 1000 + index};
    if (index > 2 || serial != index + 1)
        return false;
    if (index == 2) {
        out->os_name = text("GC Thread#0");
        return true;
    }
    out->os_name = text(index == 0 ? "java" : "worker");
    out->java_name = text(index == 0 ? "main" : renamed ? "worker \xc0\x80 2" : "worker");
    out->java_id = index == 0 ? 1 : 22;
    out->group = text("main");
    out->parent_group = text("system");
    return true;
}

static bool tell_loader(void *context, uint32_t loader, struct recording_loader *out)
{
    (void)context;
    *out = (struct recording_loader){{NULL, 0}, {NULL, 0}};
    if (loader == 1)
        out->name = text("bootstrap");
    if (loader == 2) {
        out->name = text("app");
        out->type = text("jdk/internal/loader/ClassLoaders$AppClassLoader");
    }
    return loader == 1 || loader == 2;
}

static bool tell_module(void *context, uint32_t loader, struct recording_text package,
                        struct recording_module *out)
{
    (void)context;
    if (loader != 1 || package.length_bytes < 4 || memcmp(package.bytes, "java", 4) != 0)
        return false;
    *out = (struct recording_module){text("java.base"), text("25.0.3"), text("jrt:/java.base")};
    return true;
}

static bool tell_native(void *context, uintptr_t pc, struct recording_symbol *out)
{
    (void)context;
    *out = (struct recording_symbol){text("libc.so.6"), {NULL, 0}};
    if (pc == 0x1000)
        out->symbol = text("memcpy");
    if (pc == 0x2000)
        out->symbol = text("clone3");
    return pc <= 0x3000;
}

static bool tell_failure(void *context, uint32_t number, struct recording_walk_failure *out)
{
    (void)context;
    *out = (struct recording_walk_failure){-2, "GC active", "libjvm.so",
                                           jw_counter(JW_COUNT_WALK_FAILED)};
    return number == 0;
}

/* bci 0 is line 10, bci 8 line 12, bci 20 line 400. UNSIGNED5 with bias 1, as from JDK 21 on. */
static const unsigned char lines[] = {0xff, 0x01, 0x15, 0x42, 0xff, 0x19, 0xc9, 0x0a, 0x00};

static dict_id method(struct generation *generation, const char *class_name, const char *name,
                      const char *signature, uint32_t loader, uint32_t modifiers, bool with_lines)
{
    static union {
        struct method_record record;
        unsigned char bytes[sizeof(struct method_record) + sizeof lines];
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
        both.record.line_table_bytes = sizeof lines;
        memcpy(both.bytes + sizeof both.record, lines, sizeof lines);
    }
    return method_record_intern(generation->methods, &both.record);
}

static uint32_t fill(struct generation *generation, unsigned kind, jw_frame *frames,
                     uint32_t *flags)
{
    const dict_id spin = method(generation, "app/Hot", "spin", "(I)J", 2, 9, true);
    const dict_id start =
        method(generation, "app/Hot", "main", "([Ljava/lang/String;)V", 2, 9, true);
    uint32_t count = 0;

    *flags = STORE_WALKER_AGCT;
    if (kind < 60) {
        frames[count++] = jw_frame_java(kind < 50 ? JW_FRAME_COMPILED : JW_FRAME_INTERPRETED, spin,
                                        kind < 40 ? 8 : 21);
        frames[count++] = jw_frame_java(JW_FRAME_INTERPRETED, start, 3);
    } else if (kind < 80) {
        const dict_id copy = method(generation, "app/Hot", "copy", "()V", 2, 0x109, false);

        frames[count++] = jw_frame_native(0x1000);
        frames[count++] = jw_frame_native(0x3000);
        frames[count++] = jw_frame_java(JW_FRAME_JAVA_NATIVE, copy, JW_BCI_NATIVE);
        frames[count++] = jw_frame_java(JW_FRAME_INTERPRETED, start, 9);
    } else if (kind < 90) {
        frames[count++] = jw_frame_native(0x2000);
        frames[count++] = jw_frame_native(0x9000);
        *flags = 0;
    } else if (kind < 95) {
        frames[count++] = jw_frame_mark(JW_MARK_GC_ACTIVE);
        *flags = STORE_FAILED;
        jw_count(JW_COUNT_WALK_FAILED);
    } else {
        const dict_id lambda = method(generation, "app/Hot$$Lambda+0x00007f31c8000a00", "apply",
                                      "(Ljava/lang/Object;)Ljava/lang/Object;", 2, 1, false);
        const dict_id list = method(generation, "java/util/ArrayList", "forEach",
                                    "(Ljava/util/function/Consumer;)V", 1, 1, true);

        for (int i = 0; i < 70; i++)
            frames[count++] =
                jw_frame_java(JW_FRAME_INLINED, i % 2 == 0 ? lambda : list, i % 2 == 0 ? -1 : 0);
        *flags |= STORE_TRUNCATED;
        jw_count(JW_COUNT_TRUNCATED);
    }
    return count;
}

static void sample(struct generations *generations, unsigned kind)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, TID, &ticket);
    jw_frame frames[80];
    uint32_t flags;

    jw_count(JW_COUNT_SIGNALS);
    if (generation == NULL)
        return;

    const uint32_t count = fill(generation, kind, frames, &flags);
    const store_id trace = store_put(generation->traces, frames, count, flags);
    struct event_record *record = trace == STORE_NONE ? NULL : event_reserve(generation->events);
    if (record != NULL) {
        record->kind = EVENT_CPU_SAMPLE;
        record->thread_index = kind >= 80 && kind < 90 ? 2 : kind % 2;
        record->thread_serial = record->thread_index + 1;
        record->time_ns = jw_now_ns();
        record->weight_ns = WEIGHT_NS;
        record->trace = trace;
        event_commit(record);
        jw_count(JW_COUNT_SAMPLES);
    }
    generation_leave(generations, &ticket);
}

static bool take_late(struct generation *generation, void *recording)
{
    recording_take(recording, generation);
    return true;
}

static void turn(struct generations *generations, struct recording *recording)
{
    struct generation *closed = generations_rotate(generations);

    if (closed != NULL)
        recording_take(recording, closed);
    generations_retire(generations, take_late, recording);
}

static enum recording_format format_of(const char *path)
{
    const char *ending = strrchr(path, '.');

    if (ending == NULL)
        return RECORDING_TEXT;
    return strcmp(ending, ".jfr") == 0         ? RECORDING_JFR
           : strcmp(ending, ".html") == 0      ? RECORDING_HTML
           : strcmp(ending, ".collapsed") == 0 ? RECORDING_COLLAPSED
                                               : RECORDING_TEXT;
}

int main(int argc, char **argv)
{
    static const struct recording_setting settings[] = {
        {"jdk.ExecutionSample", "enabled", "true"},
        {"jdk.ExecutionSample", "period", "10 ms"},
        {NULL, "event", "cpu"},
    };
    const unsigned long chunks = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
    const unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 4;
    const struct generations_config memory = {0};
    struct jw_error err = {{0}};

    if (argc < 2) {
        fprintf(stderr, "usage: make_recording FILE [chunks [rounds]]\n");
        return 2;
    }
    const struct recording_config config = {
        .path = argv[1],
        .format = format_of(argv[1]),
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
        .unsigned5_bias = 1,
        .sources = {.thread = tell_thread,
                    .loader = tell_loader,
                    .module = tell_module,
                    .native_pc = tell_native,
                    .walk_failure = tell_failure},
    };
    struct generations *generations = generations_open(&memory, &err);
    struct recording *recording = generations == NULL ? NULL : recording_open(&config, &err);
    bool is_good = recording != NULL;

    for (unsigned long chunk = 0; is_good && chunk < chunks; chunk++) {
        for (unsigned long round = 0; is_good && round < rounds; round++) {
            renamed = 2 * (chunk * rounds + round) >= chunks * rounds;
            for (unsigned kind = 0; kind < 100; kind++)
                sample(generations, kind);
            turn(generations, recording);
            is_good = recording_flush(recording, &err);
        }
        if (is_good && chunk + 1 < chunks)
            is_good = recording_roll(recording, &err);
    }
    turn(generations, recording);
    if (recording != NULL && !recording_close(recording, &err))
        is_good = false;
    if (generations != NULL)
        generations_close(generations);
    if (!is_good)
        fprintf(stderr, "make_recording: %s\n", err.message);
    return is_good ? 0 : 1;
}
