/*
 * live_and_file - one input recorded twice, as JFR, which the command converts, and as the graph itself: equal, byte for byte.
 *
 * For      the tests of both.   Context  tool.
 */
#ifndef JW_TESTS_GOLDEN_LIVE_AND_FILE_H
#define JW_TESTS_GOLDEN_LIVE_AND_FILE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "golden/made_clock.h"
#include "options/options.h"

#define OPTION_LIMIT 16

static char directory[] = "/tmp/jaywalk-golden-XXXXXX";
static struct jw_error err;

static const char *in_directory(const char *name)
{
    static char full[4][64];
    static unsigned next;
    char *at = full[next++ % JW_COUNT_OF(full)];

    snprintf(at, sizeof full[0], "%s/%s", directory, name);
    return at;
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
}

static void tear_down(void)
{
    static const char *const names[] = {"in.jfr",    "live.html",  "live.collapsed", "live.txt",
                                        "live.tree", "live.pb.gz", "live.otlp",      "file"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++)
        (void)unlink(in_directory(names[i]));
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

/* ---- the input ---- */

/* Names that every format has to make harmless. */
static bool tell_odd_native(void *context, uintptr_t pc, struct recording_symbol *out)
{
    static const char odd[] = "cut\0short";

    if (!made_tell_native(context, pc, out))
        return false;
    if (pc == 0x1001)
        out->symbol = made_text("std::map<a::Key, int [2]>::operator<< [clone .part.0]; 7\n");
    if (pc == 0x1002)
        out->symbol = made_text("not utf8 \xff\xed\xa0\xbd\xed\xb4\xa5\xed\xa0\xbd </script>");
    if (pc == 0x1003)
        out->symbol = (struct recording_text){odd, sizeof odd - 1};
    return true;
}

static uint32_t fill_odd(struct generation *generation, unsigned kind, jw_frame *frames)
{
    const dict_id nameless = made_method(generation, "", "", "", 2, 9, true);
    const dict_id start =
        made_method(generation, "app/Hot", "main", "([Ljava/lang/String;)V", 2, 9, true);
    uint32_t count = 0;

    switch (kind) {
    case 0:
        frames[count++] = jw_frame_native(0x1001);
        frames[count++] = jw_frame_native(0x1002);
        frames[count++] = jw_frame_native(0x1003);
        break;
    case 1:
        frames[count++] = jw_frame_java(JW_FRAME_COMPILED, 0xffffff, 1);
        frames[count++] = jw_frame_java(JW_FRAME_COMPILED, nameless, 0);
        frames[count++] = jw_frame_java(JW_FRAME_INLINED, nameless, 20);
        frames[count++] = jw_frame_java(JW_FRAME_INTERPRETED, start, 3);
        break;
    case 2:
        frames[count++] = jw_frame_native(0x1000) + ((jw_frame)JW_FRAME_KERNEL << 56) -
                          ((jw_frame)JW_FRAME_NATIVE << 56);
        frames[count++] = jw_frame_java(JW_FRAME_INTERPRETED, start, 3);
        break;
    default: /* none */
        break;
    }
    return count;
}

#define ODD_KINDS 4u
#define ROUNDS    4u

/* `turn` runs before the record is committed: then it is a late one. */
static void odd_sample(struct generations *generations, unsigned kind, struct recording *turn)
{
    struct epoch_ticket ticket;
    struct generation *generation = generation_enter(generations, MADE_TID, &ticket);
    jw_frame frames[8];

    cr_assert_not_null(generation);
    jw_count(JW_COUNT_SIGNALS);

    const uint32_t count = fill_odd(generation, kind, frames);
    struct event_record *record = event_reserve(generation->events);
    cr_assert_not_null(record);
    record->kind = made_kind;
    record->thread_index = kind == 3 ? 9 : kind; /* 9: not known */
    record->thread_serial = record->thread_index + 1;
    record->time_ns = jw_now_ns();
    record->weight_ns = MADE_WEIGHT_NS * (kind + 1);
    record->trace = store_put(generation->traces, frames, count,
                              count == 0 ? STORE_TRUNCATED : STORE_WALKER_AGCT);
    if (turn != NULL)
        made_turn(generations, turn);
    event_commit(record);
    jw_count(JW_COUNT_SAMPLES);
    generation_leave(generations, &ticket);
}

static void lose_signals(void)
{
    jw_count(JW_COUNT_SIGNALS);
    jw_count(JW_COUNT_LOST_NO_CELL);
    for (int i = 0; i < 2; i++) {
        jw_count(JW_COUNT_SIGNALS);
        jw_count(JW_COUNT_LOST_STORE_FULL);
    }
    jw_count(JW_COUNT_SIGNALS); /* in flight at the end */
}

static bool with_wall;
static bool splits_wall; /* nobatch */

/* Threads that wait from one round to the next, through chunks; one on a sample that is late, one on a
 * sample that never comes. */
static void wall_round(struct generations *generations, struct recording *recording, unsigned round)
{
    struct made_wall wall = {.turns = 1,
                             .number = round + 1,
                             .time_ns = jw_now_ns(),
                             .weight_ns = MADE_WEIGHT_NS,
                             .state = JW_STATE_PARKED};

    made_wall(generations, &wall, 60);
    wall.thread = 1;
    wall.late_for = round == 1 ? recording : NULL;
    if (round < 2)
        made_wall(generations, &wall, 97);
    wall.late_for = NULL;
    wall.is_idle = true;
    wall.turns = 7;
    wall.weight_ns = 7 * MADE_WEIGHT_NS + 1;
    for (wall.thread = 0; wall.thread < 3; wall.thread++) {
        wall.number = wall.thread == 1 && round > 1 ? 2 : round + 1;
        made_wall(generations, &wall, 0);
    }
}

static void clocks_round(struct recording *recording, unsigned round)
{
    for (uint32_t index = 0; index <= MADE_SHORT_INDEX; index++)
        recording_thread_cpu(recording,
                             &(struct recording_thread_cpu){
                                 .index = index,
                                 .serial = index < MADE_SHORT_INDEX ? index + 1 : round + 1,
                                 .used_ns = 400 * MADE_WEIGHT_NS * (round + 1),
                                 .is_ended = index == MADE_SHORT_INDEX,
                                 .is_short = round % 2 == 0,
                                 .is_refused = index == 2,
                             });
    recording_process_cpu(recording, 1234567891ull * (round + 1));
}

static void feed(struct generations *generations, struct recording *recording)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        made_renamed = round >= ROUNDS / 2;
        for (unsigned kind = 0; kind < 100; kind++)
            made_sample(generations, kind);
        for (unsigned kind = 0; kind < ODD_KINDS; kind++)
            odd_sample(generations, kind, NULL);
        odd_sample(generations, round, recording);
        if (with_wall)
            wall_round(generations, recording, round);
        lose_signals();
        made_turn(generations, recording);
        clocks_round(recording, round);
        cr_assert(recording_flush(recording, &err), "%s", err.message);
        if (round % 2 == 0)
            cr_assert(recording_roll(recording, &err), "%s", err.message);
    }
}

static void record(const struct recording_config *config, bool is_empty)
{
    const struct generations_config memory = {0};
    struct generations *generations = generations_open(&memory, &err);

    cr_assert_not_null(generations, "%s", err.message);
    signals_before = jw_counter(JW_COUNT_SIGNALS);

    struct recording *recording = recording_open(config, &err);
    cr_assert_not_null(recording, "%s", err.message);
    if (!is_empty)
        feed(generations, recording);
    cr_assert(recording_close(recording, &err), "%s", err.message);
    generations_close(generations);
    /* What was in flight ends now, or it would be a part of the next recording. */
    for (unsigned round = 0; round < ROUNDS && !is_empty; round++)
        jw_count(JW_COUNT_LOST_STOPPED);
}

/* ---- both ways ---- */

/* One way to draw it: a title that only the agent is told, and options that both are. */
struct drawing {
    const char *title;
    const char *options[OPTION_LIMIT]; /* "name" or "name=value"; ends with NULL */
    const char *only;                  /* the one format that they suit; NULL: all */
    enum recording_clock shows;
    const char *event; /* that the session was about; NULL: its settings do not say */
    const char *asked; /* of the command alone: "--event=wall"; NULL: nothing */
};

static const struct {
    enum recording_format format;
    const char *name;
    const char *option;
    const char *agent;
} formats[] = {
    {RECORDING_HTML, "live.html", "--output=html", "flamegraph"},
    {RECORDING_COLLAPSED, "live.collapsed", "--output=collapsed", "collapsed"},
    {RECORDING_TEXT, "live.txt", "--output=text", "text"},
    {RECORDING_TREE, "live.tree", "--output=tree", "tree"},
    {RECORDING_PPROF, "live.pb.gz", "--output=pprof", "pprof"},
    {RECORDING_OTLP, "live.otlp", "--output=otlp", "otlp"},
};

/* What the agent reads in its string; its patterns must outlive the recording's opening. */
static const struct options *read_options(const struct drawing *drawing, const char *format)
{
    static struct options_result result;
    static char string[1024];

    snprintf(string, sizeof string, "start,%s", format);
    for (size_t i = 0; drawing->options[i] != NULL; i++) {
        strcat(string, ",");
        strcat(string, drawing->options[i]);
    }
    cr_assert(options_parse(string, strlen(string), &result), "%s: %s", string,
              result.errors.texts[0]);
    cr_assert_eq(result.warnings.count, 0, "%s: %s", string, result.warnings.texts[0]);
    return &result.values;
}

/* What both recordings of one input are told. */
static struct recording_config config_of(const struct drawing *drawing, const char *path,
                                         enum recording_format format)
{
    static struct recording_setting setting = {.name = "event"};
    struct recording_config config = made_config(path, format);

    config.title = drawing->title;
    config.splits_wall = splits_wall;
    config.sources.native_pc = tell_odd_native;
    config.shows = drawing->shows;
    if (drawing->shows == RECORDING_SHOWS_COUNTER) {
        config.counter = drawing->event;
        made_kind = EVENT_COUNTER_SAMPLE;
    }
    setting.value = drawing->event;
    if (drawing->event != NULL) {
        config.settings = &setting;
        config.setting_count = 1;
    }
    return config;
}

static char *slurp(const char *path, size_t *length_bytes)
{
    const size_t capacity = (size_t)1 << 20;
    char *text = malloc(capacity);
    FILE *file = fopen(path, "rb");

    cr_assert(text != NULL && file != NULL, "%s", path);
    *length_bytes = fread(text, 1, capacity - 1, file);
    cr_assert_lt(*length_bytes, capacity - 1, "%s is longer than this test reads", path);
    text[*length_bytes] = '\0';
    fclose(file);
    return text;
}

static void convert(const struct drawing *drawing, const char *format, const char *to)
{
    char *words[OPTION_LIMIT + 9] = {NULL};
    char word[128];
    int count = 0;

    words[count++] = strdup("jaywalk");
    words[count++] = strdup("convert");
    words[count++] = strdup("--quiet");
    words[count++] = strdup(format);
    if (drawing->asked != NULL)
        words[count++] = strdup(drawing->asked);
    for (size_t i = 0; drawing->options[i] != NULL; i++) {
        snprintf(word, sizeof word, "--%s", drawing->options[i]);
        words[count++] = strdup(word);
    }
    words[count++] = strdup(in_directory("in.jfr"));
    words[count++] = strdup(to);
    cr_assert_eq(cli_main(count, words), CLI_OK);
    for (int i = 0; i < count; i++)
        free(words[i]);
}

/* Draws both ways in all formats; each is equal, and says what is `wanted` of it where that is not NULL. */
static void expect_equal(const struct drawing *drawing, bool is_empty,
                         const char *const wanted[JW_COUNT_OF(formats)])
{
    if (access(in_directory("in.jfr"), F_OK) != 0) { /* once a test */
        const struct recording_config jfr =
            config_of(drawing, in_directory("in.jfr"), RECORDING_JFR);

        record(&jfr, is_empty);
    }
    for (size_t i = 0; i < JW_COUNT_OF(formats); i++) {
        if (drawing->only != NULL && strcmp(drawing->only, formats[i].agent) != 0)
            continue;

        const struct options *options = read_options(drawing, formats[i].agent);
        struct recording_config live =
            config_of(drawing, in_directory(formats[i].name), formats[i].format);
        live.tree = (struct profile_config){.split_lines = options->has_lines};
        live.is_by_thread = options->is_by_thread;
        live.splits_wall = splits_wall;
        live.part = (struct recording_part_config){
            .from = options->from[0] == '\0' ? NULL : options->from,
            .to = options->to[0] == '\0' ? NULL : options->to,
            .state =
                options->state == OPTIONS_STATE_ANY ? NULL : options_state_name(options->state),
            .threads = options->thread_patterns,
        };
        export_look(options, &live.look);
        size_t live_bytes;
        size_t file_bytes;
        size_t same_bytes = 0;

        record(&live, is_empty);
        convert(drawing, formats[i].option, in_directory("file"));
        char *live_text = slurp(in_directory(formats[i].name), &live_bytes);
        char *file_text = slurp(in_directory("file"), &file_bytes);

        while (same_bytes < live_bytes && live_text[same_bytes] == file_text[same_bytes])
            same_bytes++;
        cr_expect(live_bytes == file_bytes && same_bytes == live_bytes,
                  "%s differs at byte %zu of %zu and %zu:\nlive: %.200s\nfile: %.200s",
                  formats[i].name, same_bytes, live_bytes, file_bytes, live_text + same_bytes,
                  file_text + same_bytes);
        cr_expect(wanted[i] == NULL || strstr(live_text, wanted[i]), "no \"%s\" in %s", wanted[i],
                  formats[i].name);
        free(live_text);
        free(file_text);
    }
}

#endif
