/* Formats: what stands in them, and that no name can break out of its place. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/export_internal.h"
#include "profile/profile.h"
#include "profile/profile_moments.h"
#include "support/other_locale.h"

static struct profile *profile;
static char *output;
static size_t output_bytes;
static struct profile_moments *moments; /* none in them */
static struct jw_error err;

static void open_profile(void)
{
    profile = profile_open(&(struct profile_config){.split_lines = false}, &err);
    moments = profile_moments_open(&err);
    cr_assert(profile != NULL && moments != NULL);
}

static void close_profile(void)
{
    jw_alloc_fail_after(0);
    profile_close(profile);
    profile_moments_close(moments);
    free(output);
}

TestSuite(export, .init = open_profile, .fini = close_profile, .timeout = 1800);

static profile_frame_id frame(enum profile_frame_type type, const char *class_name,
                              const char *method)
{
    return profile_frame(
        profile, &(struct profile_frame){.type = type, .class_name = class_name, .method = method});
}

static void add(uint64_t weight, profile_frame_id root, profile_frame_id leaf)
{
    const profile_frame_id frames[] = {leaf, root};

    profile_add(profile, &(struct profile_stack){
                             .frames = frames, .frame_count = 2, .samples = 2, .weight = weight});
}

static bool collect(void *context, const void *bytes, size_t length_bytes, struct jw_error *error)
{
    (void)error;
    return fwrite(bytes, 1, length_bytes, context) == length_bytes;
}

static const char *written(enum export_format format, struct export_options options)
{
    free(output);
    output = NULL;
    FILE *to = open_memstream(&output, &output_bytes);
    const bool is_written = export_profile(profile, format, &options, collect, to, &err);
    fclose(to);
    cr_assert(is_written, "%s", err.message);
    return output;
}

static const char *collapsed(struct export_options options)
{
    return written(EXPORT_COLLAPSED, options);
}

Test(export, collapsed_lines_are_root_first_with_a_count)
{
    const profile_frame_id main = frame(PROFILE_FRAME_INTERPRETED, "a/Main", "main");

    add(10, main, frame(PROFILE_FRAME_COMPILED, "java/lang/String", "hashCode"));
    add(20, main, frame(PROFILE_FRAME_NATIVE, NULL, "write"));
    cr_expect_str_eq(collapsed((struct export_options){0}),
                     "a/Main.main;write 2\na/Main.main;java/lang/String.hashCode 2\n");
    cr_expect_str_eq(collapsed((struct export_options){.value = EXPORT_VALUE_WEIGHT,
                                                       .view = {.is_dotted = true}}),
                     "a.Main.main;write 20\na.Main.main;java.lang.String.hashCode 10\n");
    cr_expect_str_eq(collapsed((struct export_options){.is_annotated = true}),
                     "a/Main.main_[0];write 2\na/Main.main_[0];java/lang/String.hashCode_[j] 2\n");
}

Test(export, s17_no_name_breaks_a_collapsed_line)
{
    add(1, frame(PROFILE_FRAME_NATIVE, NULL, "a;b 7\nc"),
        frame(PROFILE_FRAME_NATIVE, NULL, "bad \xff\xfe utf8\r"));
    cr_expect_str_eq(collapsed((struct export_options){0}),
                     "a:b 7 c;bad \xef\xbf\xbd\xef\xbf\xbd utf8  2\n");
}

Test(export, plain_names_of_cpp_stay_whole_in_every_format)
{
    static const char name[] = "std::map<a::Key, int [2]>::operator<< [clone .part.0]";

    add(1, frame(PROFILE_FRAME_NATIVE, NULL, "(anonymous namespace)::f<(A)1; B>"),
        frame(PROFILE_FRAME_NATIVE, NULL, name));
    cr_expect_str_eq(collapsed((struct export_options){.view = {.is_dotted = true}}),
                     "(anonymous namespace)::f<(A)1: B>;std::map<a::Key, int [2]>::operator<< "
                     "[clone .part.0] 2\n");
    cr_expect_not_null(strstr(written(EXPORT_TEXT, (struct export_options){.stack_count = 1}),
                              "  [ 0] std::map<a::Key, int [2]>::operator<< [clone .part.0]\n"));
    const char *page = written(EXPORT_FLAMEGRAPH, (struct export_options){0});
    cr_expect_not_null(
        strstr(page, "<td>std::map&lt;a::Key, int [2]&gt;::operator&lt;&lt; [clone .part.0]</td>"));
}

Test(export, samples_without_frames_are_a_line_too)
{
    profile_add(profile, &(struct profile_stack){.samples = 3, .weight = 1});
    cr_expect_str_eq(collapsed((struct export_options){0}), "[no frames] 3\n");
}

Test(export, classes_read_as_in_source)
{
    static const char *const cases[][2] = {
        {"[B", "byte[]"},
        {"[[J", "long[][]"},
        {"[Ljava/lang/String;", "java/lang/String[]"},
        {"java/util/Map$Entry", "java/util/Map$Entry"},
        {"[", "[]"},
        {"[L", "L[]"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        char text[64];

        profile_title(&(struct profile_name){.kind = PROFILE_NAME_CLASS,
                                             .class_name = cases[i][0],
                                             .method = "",
                                             .signature = ""},
                      &(struct profile_view){.reverse = false}, text, sizeof text);
        cr_expect_str_eq(text, cases[i][1]);
    }
}

Test(export, s17_nothing_in_a_name_becomes_markup)
{
    static const char *const names[] = {
        "</script><img src=x>",
        "<!--",
        "<script>alert(1)</script>",
        "\"'&",
        "a\xe2\x80\xa8z",
        "{{data}}",
        "]];",
        "\x01\x02",
    };

    for (size_t i = 0; i < JW_COUNT_OF(names); i++)
        add(1, frame(PROFILE_FRAME_NATIVE, NULL, names[i]),
            frame(PROFILE_FRAME_COMPILED, names[i], names[i]));
    profile_signals(profile, 1, 0);
    profile_loss(profile, "</script>", "<b>text</b>", 1);
    const char *page =
        written(EXPORT_FLAMEGRAPH, (struct export_options){.title = "</title><script>"});
    const char *data = strstr(page, "id=\"data\"");
    cr_assert_not_null(data);
    /* In a script element "<img" is text, as it is in C++ templates. */
    cr_expect(strstr(page, "<img") == NULL || strstr(page, "<img") > data);
    cr_expect_null(strstr(page, "<script>"));
    cr_expect_null(strstr(page, "<!--"));
    cr_expect_null(strstr(page, "<b>"));
    cr_expect_null(strstr(data, "\xe2\x80\xa8"));
    cr_expect_eq(strlen(page), output_bytes, "a 0 byte");

    unsigned ends = 0;
    for (const char *at = page; (at = strstr(at, "</script")) != NULL; at++)
        ends++;
    cr_expect_eq(ends, 3, "data, meta and program end, nothing else: %u", ends);
}

Test(export, the_page_says_which_time_its_total_is)
{
    static const char *const words[][2] = {
        {"cpu", "1.50 s of CPU time, 2 samples"},
        {"wall", "1.50 s of wall-clock time, 2 samples"},
        {"lock", "1.50 s of time of waiting, 2 samples"},
        {"jdk.ThreadPark", "1.50 s of time in all, 2 samples"},
        {"jaywalk.QueueTime", "1.50 s of time in all, 2 samples"},
        {"profiler.Span", "1.50 s of time in all, 2 samples"},
        {"com.acme.Order", "1.50 s of time in all, 2 samples"},
        {"jdk.ExecutionSample", "1.50 s of CPU time, 2 samples"},
        {"jdk.CPUTimeSample", "1.50 s of CPU time, 2 samples"},
    };

    add(1500000000, frame(PROFILE_FRAME_COMPILED, "a/Main", "main"),
        frame(PROFILE_FRAME_COMPILED, "a/Hot", "spin"));
    for (size_t i = 0; i < JW_COUNT_OF(words); i++) {
        profile_set_about(profile, &(struct profile_about){.event = words[i][0], .unit = "ns"});
        const char *page = written(EXPORT_FLAMEGRAPH, (struct export_options){0});
        cr_expect(strstr(page, words[i][1]) != NULL, "%s: no '%s'", words[i][0], words[i][1]);
    }
}

Test(export, the_page_holds_title_totals_losses_and_the_hottest_methods)
{
    add(1500000000, frame(PROFILE_FRAME_COMPILED, "a/Main", "main"),
        frame(PROFILE_FRAME_COMPILED, "a/Hot", "spin"));
    profile_set_about(profile, &(struct profile_about){.event = "cpu", .unit = "ns"});
    profile_signals(profile, 3, 2);
    profile_loss(profile, "lostNoThread", "signals on a thread without a record", 1);
    const char *page = written(EXPORT_FLAMEGRAPH, (struct export_options){0});
    cr_expect_not_null(strstr(page, "<h1>CPU profile</h1>"));
    cr_expect_not_null(strstr(page, "1.50 s of CPU time, 2 samples"));
    cr_expect_not_null(strstr(page, "1 lost: signals on a thread without a record"));
    cr_expect_not_null(strstr(page, "<td>100 %</td><td>100 %</td><td>a.Hot.spin</td>"));
    cr_expect_null(strstr(page, "{{"));
    cr_expect_null(strstr(page, "http:"));
    cr_expect_null(strstr(page, "https:"));
}

Test(export, the_title_is_that_of_the_options_or_else_of_the_profile)
{
    profile_set_about(profile, &(struct profile_about){.title = "Checkout", .event = "cpu"});
    cr_expect_eq(strncmp(written(EXPORT_TEXT, (struct export_options){0}), "Checkout\n", 9), 0);
    cr_expect_eq(
        strncmp(written(EXPORT_TEXT, (struct export_options){.title = "Mine"}), "Mine\n", 5), 0);
}

/* The lines of frames, without pool and meta. */
static const char *frame_lines(struct export_options options)
{
    char *lines = strstr(written(EXPORT_FLAMEGRAPH, options), "unpack(cpool);\n\n");

    cr_assert_not_null(lines);
    lines += strlen("unpack(cpool);\n\n");
    *strstr(lines, "</script>") = '\0';
    return lines;
}

Test(export, lines_say_up_next_and_anywhere)
{
    const profile_frame_id a = frame(PROFILE_FRAME_NATIVE, NULL, "a");
    const profile_frame_id b = frame(PROFILE_FRAME_NATIVE, NULL, "b");
    const profile_frame_id c = frame(PROFILE_FRAME_INLINED, "x/Y", "c");

    add(30, a, b);
    add(10, a, c);
    add(20, b, c);
    /* Titles in order: all, a, b, x/Y.c; the common divisor is 10. */
    cr_expect_str_eq(frame_lines((struct export_options){0}),
                     "n(3,6)\nu(11,4)\nu(19,3)\nn(26,1,1)\nf(19,1,1,2)\nu(26,2,2)\n");
}

Test(export, what_is_too_narrow_is_folded_and_nothing_is_lost)
{
    const profile_frame_id a = frame(PROFILE_FRAME_NATIVE, NULL, "a");

    add(970, a, frame(PROFILE_FRAME_NATIVE, NULL, "wide"));
    add(10, a, frame(PROFILE_FRAME_NATIVE, NULL, "narrow"));
    add(20, a, frame(PROFILE_FRAME_NATIVE, NULL, "thin"));
    cr_expect_str_eq(frame_lines((struct export_options){.min_width_ppm = 50000}),
                     "n(3,100)\nu(11)\nu(19,97)\nn(27,3)\n");
    cr_expect_not_null(
        strstr(written(EXPORT_FLAMEGRAPH, (struct export_options){.min_width_ppm = 50000}),
               "\"foldedStacks\":2"));
}

Test(export, text_lists_methods_stacks_and_what_was_lost)
{
    add(700, frame(PROFILE_FRAME_COMPILED, "a/Main", "main"),
        frame(PROFILE_FRAME_COMPILED, "a/Hot", "spin"));
    add(300, frame(PROFILE_FRAME_COMPILED, "a/Main", "main"), PROFILE_FRAME_NONE);
    profile_signals(profile, 100, 90);
    profile_loss(profile, "lostReentry", "signals that found the thread inside", 10);
    const char *text =
        written(EXPORT_TEXT, (struct export_options){.method_count = 10, .stack_count = 10});
    cr_expect_not_null(strstr(text, "   70.00 %    70.00 %  compiled  a.Hot.spin\n"));
    cr_expect_not_null(strstr(text, "   30.00 %   100.00 %  compiled  a.Main.main\n"));
    cr_expect_not_null(strstr(text, "90.0 % became samples"));
    cr_expect_not_null(strstr(text, "10 (10.0 %) signals that found the thread inside\n"));
    cr_expect_not_null(strstr(text, "  [ 0] a.Hot.spin\n  [ 1] a.Main.main\n"));
    cr_expect_null(strstr(text, "MISMATCH"));
    profile_signals(profile, 1, 0);
    cr_expect_not_null(strstr(written(EXPORT_TEXT, (struct export_options){0}), "MISMATCH"));
}

static void tell_ledger(void)
{
    const struct jw_ledger ledger = {.process_ns = 10000000000,
                                     .lines_ns = {[JW_LEDGER_SAMPLED] = 8000000000,
                                                  [JW_LEDGER_SHORT] = 2030000000,
                                                  [JW_LEDGER_LIVE] = -30000000},
                                     .short_threads = 1234};

    profile_ledger(profile, &ledger);
    profile_thread_cpu(profile, &(struct profile_cpu){"short-1", 3000000000, 970000000, 1234});
    profile_thread_cpu(profile, &(struct profile_cpu){"main", 7000000000, 7030000000, 0});
    profile_thread_cpu(profile, &(struct profile_cpu){"idle", 9000000, 0, 0});
}

Test(export, text_says_where_the_cpu_time_went_and_which_threads_samples_tell_least_of)
{
    cr_expect_null(strstr(written(EXPORT_TEXT, (struct export_options){0}), "CPU time  "));
    tell_ledger();
    const char *text = written(EXPORT_TEXT, (struct export_options){0});
    cr_expect_not_null(strstr(text, "CPU time  10.0 s by the clock of the process\n"
                                    "Sampled   8.00 s (80.0 %)\n"
                                    "Unsampled 2.03 s (20.3 %) short-lived threads, 1,234 of them\n"
                                    "Excess    30.0 ms (0.30 %) that samples stand for beyond "
                                    "what was used\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "(2 of 3 names)"), "%s", text);
    cr_expect_not_null(strstr(text, "    2.030 s    3.000 s    0.970 s     1234  short-*\n"
                                    "   -0.030 s    7.000 s    7.030 s        0  main\n"),
                       "%s", text);
}

Test(export, m61_no_number_follows_the_locale)
{
    static const enum export_format formats[] = {EXPORT_TEXT, EXPORT_FLAMEGRAPH, EXPORT_COLLAPSED};
    char *before[JW_COUNT_OF(formats)];
    enum export_format named;

    tell_ledger();
    add(1234567, frame(PROFILE_FRAME_INTERPRETED, "a/Main", "main"),
        frame(PROFILE_FRAME_NATIVE, NULL, "write"));
    for (size_t i = 0; i < JW_COUNT_OF(formats); i++)
        before[i] = strdup(written(formats[i], (struct export_options){0}));
    other_locale();
    for (size_t i = 0; i < JW_COUNT_OF(formats); i++) {
        cr_expect_str_eq(written(formats[i], (struct export_options){0}), before[i]);
        free(before[i]);
    }
    cr_expect(export_format_by_name("FLAMEGRAPH", &named) && named == EXPORT_FLAMEGRAPH);
}

Test(export, the_page_holds_where_the_cpu_time_went)
{
    tell_ledger();
    const char *page = written(EXPORT_FLAMEGRAPH, (struct export_options){0});
    cr_expect_not_null(strstr(page, "\"cpu\":{\"process\":10000000000,\"lines\":"
                                    "[[\"sampled\",8000000000],[\"short-lived threads\","
                                    "2030000000],"));
    cr_expect_not_null(strstr(page, "[\"live threads\",-30000000]"));
}

Test(export, s17_a_name_in_the_ledger_stays_on_its_line)
{
    profile_ledger(profile, &(struct jw_ledger){.process_ns = 10});
    profile_thread_cpu(profile, &(struct profile_cpu){"a\nb\x1b", 10, 0, 0});
    cr_expect_not_null(strstr(written(EXPORT_TEXT, (struct export_options){0}), "  a b \n"));
}

Test(export, an_explorer_needs_samples_with_their_time)
{
    if (!export_can_pack())
        cr_skip_test("not run: this compiler links no libdeflate");
    cr_expect_not(
        export_profile(profile, EXPORT_EXPLORER, &(struct export_options){0}, collect, NULL, &err));
    cr_expect_not_null(strstr(err.message, "convert a recording"));
}

Test(export, a_page_with_a_baseline_holds_both_profiles)
{
    struct profile *base = profile_open(&(struct profile_config){0}, &err);

    cr_assert_not_null(base, "%s", err.message);

    const profile_frame_id only = profile_frame(
        base, &(struct profile_frame){
                  .type = PROFILE_FRAME_COMPILED, .class_name = "a/Gone", .method = "run"});
    profile_add(base, &(struct profile_stack){
                          .frames = &only, .frame_count = 1, .samples = 7, .weight = 70});

    const char *page = written(EXPORT_FLAMEGRAPH,
                               (struct export_options){.base = base, .base_name = "</script>.jfr"});
    cr_expect_not_null(strstr(page, "id=\"base-data\">"));
    cr_expect_not_null(strstr(page, "/Gone.run"));
    cr_expect_not_null(strstr(page, "\"name\":\"\\u003c/script>.jfr\""));
    cr_expect_null(strstr(written(EXPORT_FLAMEGRAPH, (struct export_options){0}), "base-data\""));
    profile_close(base);
}

Test(export, an_empty_profile_is_written_in_every_format)
{
    cr_expect_str_eq(collapsed((struct export_options){0}), "");
    cr_expect_not_null(strstr(written(EXPORT_TEXT, (struct export_options){0}), "No samples"));
    cr_expect_str_eq(frame_lines((struct export_options){0}), "n(3)\n");
}

static bool refuse(void *context, const void *bytes, size_t length_bytes, struct jw_error *error)
{
    unsigned *calls = context;

    (void)bytes;
    (void)length_bytes;
    ++*calls;
    jw_error_set(error, "disk full");
    return false;
}

Test(export, a_write_that_fails_is_told_once_and_not_tried_again)
{
    for (int format = 0; format < EXPORT_FORMAT_LIMIT; format++) {
        if (format == EXPORT_EXPLORER && !export_can_pack())
            continue; /* this compiler links no libdeflate */
        const struct export_options options = {.method_count = 1, .moments = moments};
        unsigned calls = 0;

        add(1, frame(PROFILE_FRAME_NATIVE, NULL, "a"), PROFILE_FRAME_NONE);
        jw_error_clear(&err);
        cr_expect_not(
            export_profile(profile, (enum export_format)format, &options, refuse, &calls, &err));
        cr_expect_str_eq(err.message, "disk full");
        cr_expect_eq(calls, 1);
    }
}

Test(export, every_allocation_may_fail)
{
    tell_ledger();
    add(1, frame(PROFILE_FRAME_NATIVE, NULL, "a"), frame(PROFILE_FRAME_COMPILED, "b/C", "d"));
    for (int format = 0; format < EXPORT_FORMAT_LIMIT; format++) {
        if (format == EXPORT_EXPLORER && !export_can_pack())
            continue; /* this compiler links no libdeflate */
        const struct export_options options = {
            .method_count = 9, .stack_count = 9, .moments = moments};

        for (uint64_t nth = 1;; nth++) {
            free(output);
            output = NULL;
            FILE *to = open_memstream(&output, &output_bytes);
            jw_error_clear(&err);
            jw_alloc_fail_after(nth);
            const bool is_written =
                export_profile(profile, (enum export_format)format, &options, collect, to, &err);
            jw_alloc_fail_after(0);
            fclose(to);
            if (is_written)
                break;
            cr_expect_neq(err.message[0], '\0');
            cr_assert_lt(nth, 100);
        }
    }
}

Test(export, formats_are_known_by_name_and_ending)
{
    enum export_format format;

    cr_expect(export_format_by_ending("/a.b/x.HTML", &format) && format == EXPORT_FLAMEGRAPH);
    cr_expect(export_format_by_ending("x.folded", &format) && format == EXPORT_COLLAPSED);
    cr_expect(export_format_by_ending("x.y.txt", &format) && format == EXPORT_TEXT);
    cr_expect(export_format_by_ending("a/x.explorer.html", &format) && format == EXPORT_EXPLORER);
    cr_expect(export_format_by_ending("x.Heatmap.html", &format) && format == EXPORT_EXPLORER);
    cr_expect(export_format_by_ending("explorer.html", &format) && format == EXPORT_FLAMEGRAPH);
    cr_expect_not(export_format_by_ending("/a.html/x", &format));
    cr_expect_not(export_format_by_ending("x.jfr", &format));
    cr_expect_not(export_format_by_ending("", &format));
    cr_expect(export_format_by_name("collapsed", &format) && format == EXPORT_COLLAPSED);
}

static const char *put_share(uint64_t part, uint64_t whole)
{
    static struct export_out out;

    out = (struct export_out){0};
    export_put_share(&out, part, whole);
    out.bytes[out.used_bytes] = '\0';
    return out.bytes;
}

static const char *put_value(uint64_t value, const char *unit)
{
    static struct export_out out;

    out = (struct export_out){0};
    export_put_value(&out, value, unit);
    out.bytes[out.used_bytes] = '\0';
    return out.bytes;
}

Test(export, shares_and_values_are_rounded_and_never_up_to_all)
{
    cr_expect_str_eq(put_share(2129, 100000), "2.13 %");
    cr_expect_str_eq(put_share(9996, 100000), "10.0 %");
    cr_expect_str_eq(put_share(7, 9), "77.8 %");
    cr_expect_str_eq(put_share(99999, 100000), "99.9 %");
    cr_expect_str_eq(put_share(UINT64_MAX, UINT64_MAX), "100 %");
    cr_expect_str_eq(put_share(UINT64_MAX / 3, UINT64_MAX), "33.3 %");
    cr_expect_str_eq(put_share(1, 1000000), "< 0.01 %");
    cr_expect_str_eq(put_value(14090000000, "ns"), "14.1 s");
    cr_expect_str_eq(put_value(9995000000, "ns"), "10.0 s");
    cr_expect_str_eq(put_value(999600000, "ns"), "1.00 s");
    cr_expect_str_eq(put_value(999400000, "ns"), "999 ms");
    cr_expect_str_eq(put_value(999, "ns"), "999 ns");
    cr_expect_str_eq(put_value(1048000, "bytes"), "1023 KiB");
    cr_expect_str_eq(put_value(1048570, "bytes"), "1.00 MiB");
}
