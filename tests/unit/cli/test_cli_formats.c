/*
 * Every option that cuts or shapes a conversion, with every format: it changes what comes out, or it is refused by its name.
 * What is found is the table of docs/reference/conversions.md; JW_UPDATE=1 writes it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "options/options.h"
#include "support/lines_check.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

#define START_NS 1700000000000000000ull
#define MS       1000000ull
#define PAGE     "docs/reference/conversions.md"

static struct maker maker;
static char path[192], out_path[192];

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-formats-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/in.jfr", directory);
    snprintf(out_path, sizeof out_path, "%s/out", directory);
}

static void remove_directory(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_formats, .init = make_directory, .fini = remove_directory, .timeout = 1800);

enum { THREAD = 20, TRACE = 21, FRAME_TYPE = 23, METHOD = 24, CLASS = 25, SYMBOL = 26, STATE = 27 };
enum {
    ENDPOINT = 32,
    SAMPLE = 101,
    ENDPOINT_EVENT = 102,
    SPAN = 103,
    PARK = 104,
    WAITED = 105,
    ASKED
};

static const char *const rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=boolean id=13",
    "    class name=java.lang.Thread id=20",
    "      field name=osName class=12",
    "      field name=osThreadId class=10",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=13",
    "      field name=frames class=22 dimension=1",
    "    class name=jdk.types.StackFrame id=22",
    "      field name=method class=24 constantPool=true",
    "      field name=lineNumber class=11",
    "      field name=bytecodeIndex class=11",
    "      field name=type class=23 constantPool=true",
    MAKER_NAME_ROWS,
    "    class name=jdk.types.ThreadState id=27 simpleType=true",
    "      field name=name class=12",
    "    class name=jaywalk.types.Endpoint id=32 simpleType=true",
    "      field name=name class=12",
    "    class name=jdk.jfr.Timespan id=33",
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=weight class=10",
    "      field name=spanId class=10",
    "      field name=localRootSpanId class=10",
    "    class name=jaywalk.Endpoint id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=localRootSpanId class=10",
    "      field name=endpoint class=32 constantPool=true",
    "    class name=profiler.Span id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=33 value=TICKS",
    "      field name=eventThread class=20 constantPool=true",
    "    class name=jdk.ThreadPark id=104 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=duration class=10",
    "        annotation class=33 value=TICKS",
    "      field name=eventThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "    class name=jaywalk.SafepointSample id=105 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=clock class=12",
    "    class name=jaywalk.PollSample id=106 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=clock class=12",
    "      field name=reason class=12",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

static void put_pools(void)
{
    static const char *const symbols[] = {"a/Main",    "main", "()V",
                                          "a/Work",    "run",  "a/Main$$Lambda+0x00007f0dc8000a08",
                                          "libc.so.6", "read"};
    static const char *const types[] = {"JIT compiled", "C++"};
    static const char *const states[] = {"STATE_RUNNABLE", "STATE_SLEEPING"};
    static const char *const endpoints[] = {"GET /a"};
    static const char *const threads[] = {"main", "worker"};
    const size_t at = maker_begin_checkpoint(&maker, 8);

    maker_text_pool(&maker, SYMBOL, 8, symbols);
    maker_text_pool(&maker, FRAME_TYPE, 2, types);
    maker_text_pool(&maker, STATE, 2, states);
    maker_text_pool(&maker, ENDPOINT, 1, endpoints);
    maker_pool(&maker, THREAD, 2);
    for (uint64_t i = 1; i <= 2; i++) {
        maker_varint(&maker, i);
        maker_text(&maker, threads[i - 1]);
        maker_varint(&maker, 10 + i);
    }
    maker_pool(&maker, CLASS, 4);
    MAKER_PUT(&maker, 1, 1, 2, 4, 3, 6, 4, 7);
    maker_pool(&maker, METHOD, 4); /* main, Work.run, the lambda, read */
    MAKER_PUT(&maker, 1, 1, 2, 3, 2, 2, 5, 3, 3, 3, 5, 3, 4, 4, 8, 3);
    maker_pool(&maker, TRACE, 4);
    MAKER_PUT(&maker, 1, 0, 2, 2, 5, 0, 1, 1, 7, 0, 1);
    MAKER_PUT(&maker, 2, 0, 2, 2, 6, 0, 1, 1, 7, 0, 1);
    MAKER_PUT(&maker, 3, 0, 2, 3, 1, 0, 1, 1, 8, 0, 1);
    MAKER_PUT(&maker, 4, 0, 2, 4, 0, 0, 2, 1, 9, 0, 1);
    maker_end_event(&maker, at);
}

/* Stands before the sample that is meant. */
static void put_asked(uint64_t type, uint64_t at_ns, uint64_t thread, uint64_t stack,
                      const char *reason)
{
    const size_t begin = maker_begin_event(&maker, type);

    MAKER_PUT(&maker, at_ns, thread, stack, 1);
    maker_text(&maker, "cpu");
    if (reason != NULL)
        maker_text(&maker, reason);
    maker_end_event(&maker, begin);
}

/* A second: samples of "main" each 10 ms, of "worker" some; 40 of the former inside of a span of 400 ms. A safepoint was waiting for three of
 * "main" on Work.run, for one of "worker", and for one whose sample is not there. */
static void make_recording(void)
{
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, rows);
    put_pools();
    for (uint64_t i = 0; i < 100; i++) {
        if (i == 30 || i == 33 || i == 60)
            put_asked(WAITED, i * 10 * MS, 1, 1, NULL);
        if (i == 40 || i == 41)
            put_asked(ASKED, i * 10 * MS, 1, 1 + i % 3,
                      i == 40 ? "handshake" : "by a later version");
        MAKER_EVENT(&maker, SAMPLE, i * 10 * MS, 1, 1 + i % 3, 1 + (i % 5 == 0), 10 * MS, 0, 0);
    }
    for (uint64_t i = 0; i < 10; i++) {
        if (i == 7)
            put_asked(WAITED, i * 100 * MS, 2, 1, NULL);
        if (i == 8)
            put_asked(WAITED, i * 100 * MS, 1, 1,
                      NULL); /* of another thread than the sample that follows */
        MAKER_EVENT(&maker, SAMPLE, i * 100 * MS, 2, 1, 1, 10 * MS, 8, 8);
    }
    MAKER_EVENT(&maker, SAMPLE, 990 * MS, 2, 4, 1, 10 * MS, 0, 0);
    MAKER_EVENT(&maker, ENDPOINT_EVENT, 0, 8, 1);
    MAKER_EVENT(&maker, SPAN, 200 * MS, 300 * MS, 1); /* two that overlap are one */
    MAKER_EVENT(&maker, SPAN, 300 * MS, 300 * MS, 1);
    MAKER_EVENT(&maker, SPAN, 0, 900 * MS, 2); /* of the other thread */
    MAKER_EVENT(&maker, SPAN, 700 * MS, 5 * MS, 1);
    MAKER_EVENT(&maker, PARK, 0, 50 * MS, 1, 4);
    MAKER_EVENT(&maker, PARK, 100 * MS, 150 * MS, 1, 4);
    MAKER_EVENT(&maker, PARK, 250 * MS, 20 * MS, 1, 4);
    maker_end_chunk(&maker, START_NS);

    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fwrite(maker.bytes, 1, maker.used_bytes, file) == maker.used_bytes &&
              fclose(file) == 0);
}

/* ---- --latency ---- */

static long lines_of(const char *event, const char *latency)
{
    cr_assert_eq(RUN("convert", "-o", "jsonl", "-e", event, "--latency", latency, path, "-"), 0,
                 "%s", err_text);
    return json_lines(out_text);
}

Test(cli_formats, latency_lets_in_samples_inside_of_long_spans_of_their_thread)
{
    make_recording();
    cr_assert_eq(lines_of("cpu", "100ms"),
                 40 + 9); /* 200 to 600 ms of one, 0 to 900 of the other */
    cr_assert_eq(lines_of("cpu", "100"), 40 + 9);
    cr_assert_eq(lines_of("cpu", "300ms"), 40 + 9);
    cr_assert_eq(lines_of("cpu", "301ms"), 9);
    cr_assert_eq(lines_of("cpu", "5ms"), 41 + 9);
    cr_assert_eq(lines_of("cpu", "1s"), 0);
    cr_assert_not_null(strstr(err_text, "nothing that is shown took --latency or longer"), "%s",
                       err_text);
    cr_assert_eq(RUN("convert", "-o", "collapsed", "--latency=301ms", path, "-"), 0);
    cr_assert_str_eq(out_text, "a/Main.main;a/Work.run 9\n");
}

Test(cli_formats, latency_lets_in_events_that_took_as_long_themselves)
{
    make_recording();
    cr_assert_eq(lines_of("jdk.ThreadPark", "10ms"), 3);
    cr_assert_eq(lines_of("jdk.ThreadPark", "100ms"), 2); /* one long, one inside of a span */
    cr_assert_eq(lines_of("jdk.ThreadPark", "310ms"), 0);
    cr_assert_eq(lines_of("profiler.Span", "300ms"), 3);
    cr_assert_eq(
        RUN("convert", "-o", "collapsed", "-e", "jdk.ThreadPark", "--latency=100ms", path, "-"), 0);
    cr_assert_str_eq(out_text, "a/Main.main;read 2\n");
}

Test(cli_formats, latency_that_is_no_time_is_refused)
{
    static const char *const texts[] = {"0", "fast", "-5ms", "10q", "99999999999999999999"};

    make_recording();
    for (size_t i = 0; i < JW_COUNT_OF(texts); i++) {
        cr_assert_eq(RUN("convert", "--latency", texts[i], path, out_path, "-o", "text"), 2, "%s",
                     texts[i]);
        cr_assert_not_null(strstr(err_text, "is no time that something could take"), "%s",
                           err_text);
    }
}

/* ---- --safepoint ---- */

Test(cli_formats, safepoint_lets_in_samples_that_one_was_waiting_for)
{
    make_recording();
    cr_assert_eq(RUN("convert", "-o", "collapsed", "--safepoint", path, "-"), 0, "%s", err_text);
    cr_assert_str_eq(out_text, "a/Main.main;a/Work.run 4\n");
    cr_assert_eq(RUN("convert", "-o", "collapsed", "--safepoint", "--thread=worker", path, "-"), 0);
    cr_assert_str_eq(out_text, "a/Main.main;a/Work.run 1\n");
    cr_assert_eq(RUN("convert", "-o", "jsonl", "-e", "cpu", "--safepoint", path, "-"), 0);
    cr_assert_eq(json_lines(out_text), 4);
    /* The events that say so are themselves of that kind. */
    cr_assert_eq(
        RUN("convert", "-o", "jsonl", "-e", "jaywalk.SafepointSample", "--safepoint", path, "-"),
        0);
    cr_assert_eq(json_lines(out_text), 5);
}

Test(cli_formats, safepoint_says_so_where_none_was_waiting)
{
    make_recording();
    cr_assert_eq(RUN("convert", "-o", "collapsed", "--safepoint", "--from=0.9s", path, "-"), 0);
    cr_assert_not_null(strstr(err_text, "--safepoint: no safepoint was waiting"), "%s", err_text);
    cr_assert_not_null(strstr(err_text, "safepointsamples"), "%s", err_text);
}

Test(cli_formats, an_explorer_page_has_what_asked_threads_to_stop)
{
    make_recording();
    if (RUN("convert", "-q", "-o", "explorer", path, "-") != 0)
        return; /* without libdeflate */
    cr_assert_not_null(strstr(out_text, "\"asked\""), "%s", out_text);
    cr_assert_not_null(strstr(out_text, "\"handshake\""), "%s", out_text);
}

/* ---- the table ---- */

static const char *const formats[] = {"html", "explorer", "collapsed", "text",  "flat", "traces",
                                      "tree", "pprof",    "otlp",      "jsonl", "csv"};

static const struct {
    const char *name;
    const char *word;
    bool lacks_flat; /* of methods alone, which have neither */
} options[] = {
    {"include", "--include=*Work*", false},
    {"exclude", "--exclude=*Work*", false},
    {"from", "--from=0.5s", false},
    {"to", "--to=0.5s", false},
    {"latency", "--latency=100ms", false},
    {"thread", "--thread=worker", false},
    {"endpoint", "--endpoint=GET*", false},
    {"state", "--state=sleeping", false},
    {"safepoint", "--safepoint", false},
    {"simple", "--simple", false},
    {"norm", "--norm", false},
    {"lines", "--lines", false},
    {"reverse", "--reverse", false},
    {"inverted", "--inverted", false},
    {"minwidth", "--minwidth=20", false},
    {"title", "--title=Mine", false},
    {"threads", "--threads", true},
    {"by", "--by=thread", true},
};

static size_t take_output(char *bytes, size_t room)
{
    FILE *file = fopen(out_path, "r");
    const size_t length = file == NULL ? 0 : fread(bytes, 1, room, file);

    if (file != NULL)
        fclose(file);
    unlink(out_path);
    cr_assert_lt(length, room);
    return length;
}

/* "yes": other bytes come out; "refused": by name; "": it has no effect. */
static const char *look(const char *format, const char *word, const char *name, const char *plain,
                        size_t plain_bytes)
{
    static char bytes[1 << 20];
    char option[40];
    const int status = RUN("convert", "-q", "-o", format, word, path, out_path);
    const size_t length = take_output(bytes, sizeof bytes);

    snprintf(option, sizeof option, "--%s", name);
    if (status == 2) {
        cr_assert_not_null(strstr(err_text, option), "%s with %s: %s", option, format, err_text);
        cr_assert_eq(length, 0);
        return "refused";
    }
    cr_assert_eq(status, 0, "%s with %s: %s", option, format, err_text);
    return length == plain_bytes && memcmp(bytes, plain, length) == 0 ? "" : "yes";
}

/* The same of commands that print: of the recording, twice where two are compared. */
static const struct command {
    const char *name;
    const char *without; /* "norm": names are so without being told */
} commands[] = {
    {"compare", "norm"},
    {"endpoints", NULL},
    {"summary", NULL},
};

/* The hottest frame of all is no lambda: names of lambdas are looked at without it. */
static int run_command(const struct command *command, const char *word, bool is_of_names)
{
    if (is_of_names && strcmp(command->name, "endpoints") == 0)
        return RUN(command->name, "-q", "-X", "*Work*", word, path);
    return strcmp(command->name, "compare") == 0
               ? RUN(command->name, "-q", "-o", "json", word, path, path)
               : RUN(command->name, "-q", word, path);
}

static void put_commands(FILE *page, size_t option)
{
    static char plain[sizeof out_text];
    const bool is_of_names = strcmp(options[option].name, "norm") == 0;

    for (size_t i = 0; i < JW_COUNT_OF(commands); i++) {
        const struct command *command = &commands[i];

        cr_assert_eq(run_command(command, "-q", is_of_names), 0, "%s", err_text);
        memcpy(plain, out_text, sizeof plain);
        const int status = run_command(command, options[option].word, is_of_names);
        const char *cell = status == 2                                   ? "refused"
                           : status == 0 && strcmp(plain, out_text) == 0 ? ""
                                                                         : "yes";

        if (status == 2)
            cr_assert_not_null(strstr(err_text, options[option].name), "%s", err_text);
        if (command->without != NULL && strcmp(command->without, options[option].name) == 0) {
            cr_assert_str_eq(cell, "", "%s is always so", options[option].name);
            cell = "always";
        }
        cr_assert_str_neq(cell, "", "--%s has no effect on %s, and is not refused",
                          options[option].name, command->name);
        fprintf(page, " %s |", cell);
    }
}

static void put_agent(FILE *page, const char *name)
{
    struct options_about about;

    fprintf(page, "| %s |",
            options_about(name, &about)     ? "yes"
            : options_refusal(name) != NULL ? "refused"
                                            : "");
    cr_assert(options_about(name, &about) || options_refusal(name) != NULL, "%s", name);
}

static void put_table(FILE *page)
{
    static char plain[JW_COUNT_OF(formats)][1 << 20];
    size_t lengths[JW_COUNT_OF(formats)];

    for (size_t f = 0; f < JW_COUNT_OF(formats); f++) {
        cr_assert_eq(RUN("convert", "-q", "-o", formats[f], path, out_path), 0, "%s", err_text);
        lengths[f] = take_output(plain[f], sizeof plain[f]);
    }
    for (size_t i = 0; i < JW_COUNT_OF(options); i++) {
        fprintf(page, "| `--%s` ", options[i].name);
        put_agent(page, options[i].name);
        for (size_t f = 0; f < JW_COUNT_OF(formats); f++) {
            const bool is_flat = strcmp(formats[f], "flat") == 0;
            const char *cell =
                look(formats[f], options[i].word, options[i].name, plain[f], lengths[f]);

            if (options[i].lacks_flat && is_flat)
                cr_assert_str_eq(cell, "", "%s has an effect on methods now", options[i].name);
            else
                cr_assert_str_neq(cell, "", "--%s has no effect on %s, and is not refused",
                                  options[i].name, formats[f]);
            fprintf(page, " %s |", cell[0] == '\0' ? "no stacks" : cell);
        }
        put_commands(page, i);
        fputc('\n', page);
    }
}

Test(cli_formats, each_option_has_its_effect_or_is_refused_by_each_format)
{
    static char made[20000], written[20000];
    char *text = NULL;
    size_t length = 0;

    make_recording();
    if (RUN("convert", "-q", "-o", "explorer", path, out_path) != 0 &&
        strstr(err_text, "libdeflate") != NULL)
        return; /* not linked; the table is of all formats */
    unlink(out_path);

    FILE *page = open_memstream(&text, &length);
    cr_assert_not_null(page);
    fputs("# Options of conversions, by format\n\n"
          "What `jaywalk convert` does with each option and format. *yes*: it changes what comes "
          "out; *refused*: the command says so and "
          "writes nothing. The agent\n"
          "has the options marked so for the graphs that it draws itself, and counts by them while "
          "samples come; the others need a recording, and it says why.\n"
          "The last columns are commands that print. Written by a test that tries each cell.\n\n"
          "| option | agent |",
          page);
    for (size_t f = 0; f < JW_COUNT_OF(formats); f++)
        fprintf(page, " `%s` |", formats[f]);
    for (size_t i = 0; i < JW_COUNT_OF(commands); i++)
        fprintf(page, " `jaywalk %s` |", commands[i].name);
    fputs("\n| --- | --- |", page);
    for (size_t f = 0; f < JW_COUNT_OF(formats) + JW_COUNT_OF(commands); f++)
        fputs(" --- |", page);
    fputc('\n', page);
    put_table(page);
    fputs("\n`--latency` lets in events that took at least as long, and samples that were taken on "
          "a thread inside of a span that did: "
          "`jaywalk.Span`,\n"
          "`jdk.MethodTrace` (JDK 25), `profiler.Span` (async-profiler). Spans of one thread that "
          "overlap are one.\n"
          "`flat` has methods and no stacks, so there is nothing to take apart by threads or "
          "endpoints.\n",
          page);
    cr_assert_eq(fclose(page), 0);
    snprintf(made, sizeof made, "%s", text);
    free(text);
    if (getenv("JW_UPDATE") != NULL) {
        FILE *file = fopen(PAGE, "w");

        cr_assert(file != NULL && fputs(made, file) >= 0 && fclose(file) == 0);
    }
    slurp(PAGE, written, sizeof written);
    cr_assert_str_eq(written, made, PAGE " is not what was found: run this test with JW_UPDATE=1");
}
