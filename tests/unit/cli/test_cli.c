/* The command: words, help, complaints, and what convert makes of a recording. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "cli/cli_internal.h"
#include "jfr/jfr_packed.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

static char path[64];
static struct maker maker;

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-cli-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
}

static void remove_directory(void)
{
    char command[256];

    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, path);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static const char *in_directory(const char *name)
{
    static char full[4][192];
    static unsigned next;
    char *at = full[next++ % 4];

    snprintf(at, sizeof full[0], "%s/%s", directory, name);
    return at;
}

static void save_usual(void)
{
    maker_usual_chunk(&maker, 1700000000000000000);
    cr_assert(maker_save(&maker, path));
}

Test(cli, help_and_version_go_to_stdout)
{
    cr_expect_eq(RUN("--help"), CLI_OK);
    cr_expect_not_null(strstr(out_text, "convert"));
    cr_expect_str_eq(err_text, "");
    cr_expect_eq(RUN("help", "convert"), CLI_OK);
    cr_expect_not_null(strstr(out_text, "--minwidth=PERCENT"));
    cr_expect_eq(RUN("help", "help"), CLI_OK);
    cr_expect_not_null(strstr(out_text, "Commands:"));
    cr_expect_eq(RUN("convert", "--help"), CLI_OK);
    cr_expect_not_null(strstr(out_text, "--minwidth=PERCENT"));
    cr_expect_eq(RUN("--version"), CLI_OK);
    cr_expect_eq(strncmp(out_text, "jaywalk ", 8), 0);
}

Test(cli, mistakes_are_told_with_the_nearest_spelling)
{
    static const struct {
        const char *words[6];
        const char *said;
    } cases[] = {
        {{"convrt"}, "did you mean 'convert'?"},
        {{"help", "covert"}, "did you mean 'convert'?"},
        {{"convert"}, "a recording and an output are needed"},
        {{"convert", "a.jfr"}, "a recording and an output are needed"},
        {{"convert", "a.jfr", "b.html", "c.html"}, "only one recording"},
        {{"convert", "a.jfr", "b.svg"}, "names no format"},
        {{"convert", "a.jfr", "-"}, "names no format"},
        {{"convert", "--treads", "a.jfr", "b.html"}, "did you mean '--threads'?"},
        {{"convert", "--output=htlm", "a.jfr", "b"}, "did you mean 'html'?"},
        {{"convert", "--lib", "a.jfr", "b.pb.gz"}, "has no effect on pprof output"},
        {{"convert", "--reverse", "a.jfr", "b.otlp"}, "has no effect on otlp output"},
        {{"convert", "-o", "jfr", "a.jfr", "b.html"}, "without --output"},
        {{"convert", "-o", "html=3", "a.jfr", "b.html"}, "takes no value"},
        {{"convert", "--minwidth=x", "a.jfr", "b.html"}, "--minwidth=x: is not a number"},
        {{"convert", "--minwidth=101", "a.jfr", "b.html"}, "is too large"},
        {{"convert", "--minwidth=-1", "a.jfr", "b.html"}, "is negative"},
        {{"convert", "--flat=-3", "a.jfr", "b.txt"}, "is negative"},
        {{"convert", "--flat=99999999999999999999", "a.jfr", "b.txt"}, "is too large"},
        {{"convert", "--flat=3", "a.jfr", "b.html"}, "has no effect on flamegraph output"},
        {{"convert", "--reverse", "a.jfr", "b.txt"}, "has no effect on text output"},
        {{"convert", "a.jfr", "b.html", "--title"}, "needs a value"},
        {{"convert", "a.jfr", "b.html", "--title="}, "empty value"},
        {{"convert", "--threads=yes", "a.jfr", "b.html"}, "takes no value"},
        {{"convert", "--include=/(/", "a.jfr", "b.html"}, "--include=/(/: no regular expression"},
        {{"convert", "--samples", "--total", "a.jfr", "b.html"}, "in place of the earlier samples"},
        {{"convert", "--diff=b.jfr", "a.jfr", "b.txt"}, "--diff: only html and explorer"},
        {{"convert", "-e", "cpu,wall", "a.jfr", "b.html"}, "'cpu,wall' are several"},
        {{"convert", "--mirror", "a.jfr", "b.html"}, "is no option"},
        {{"help", "stat"}, "did you mean 'start'?"},
        {{"convert", "-o", "colapsed", "a.jfr", "b"}, "did you mean 'collapsed'?"},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cases); i++) {
        cr_expect_eq(run(cases[i].words), CLI_USAGE, "case %zu", i);
        cr_expect_not_null(strstr(err_text, cases[i].said), "'%s' does not say '%s'", err_text,
                           cases[i].said);
        cr_expect_str_eq(out_text, "", "case %zu", i);
    }
    cr_expect_eq(run((const char *const[]){NULL}), CLI_USAGE);
}

static const char *converted(const char *name, const char *const *options)
{
    const char *words[16] = {"convert"};
    size_t count = 1;

    for (; options[count - 1] != NULL; count++)
        words[count] = options[count - 1];
    words[count] = path;
    words[count + 1] = in_directory(name);
    cr_assert_eq(run(words), CLI_OK, "%s", err_text);
    slurp(in_directory(name), out_text, sizeof out_text);
    return out_text;
}

#define CONVERTED(name, ...) converted(name, (const char *const[]){__VA_ARGS__, NULL})

Test(cli, a_recording_becomes_collapsed_stacks)
{
    save_usual();
    cr_expect_str_eq(CONVERTED("x.collapsed", "--quiet"),
                     "[no frames] 1\n[truncated];com/acme/Work.run 1\n"
                     "com/acme/Main.main;Foo::bar 2\ncom/acme/Main.main;com/acme/Work.run 3\n");
    cr_expect_str_eq(CONVERTED("x.folded", "--total", "--include=*Main*", "--exclude", "Foo*"),
                     "com/acme/Main.main;com/acme/Work.run 30000000\n");
    cr_expect_str_eq(CONVERTED("x.txt", "--state=sleeping", "--format=collapsed", "-q"),
                     "[truncated];com/acme/Work.run 1\n");
    cr_expect_str_eq(CONVERTED("y.collapsed", "--threads", "-I", "*bar"),
                     "[worker: 2 tid=102];com/acme/Main.main;Foo::bar 2\n");
    cr_expect_str_eq(CONVERTED("z.collapsed", "--reverse", "--include", "/^com.acme.Work/"),
                     "com/acme/Work.run;[truncated] 1\ncom/acme/Work.run;com/acme/Main.main 3\n");
    cr_expect_str_eq(CONVERTED("l.collapsed", "--lines", "--sig", "--dot", "--include=*.run()V:*"),
                     "[truncated];com.acme.Work.run()V:13 1\n"
                     "com.acme.Main.main()V:7;com.acme.Work.run()V:12 3\n");
}

Test(cli, text_and_page_tell_time_and_losses)
{
    save_usual();
    const char *text = CONVERTED("x.txt", "--title=Of mine");
    cr_expect_eq(strncmp(text, "Of mine\n", 8), 0);
    cr_expect_not_null(strstr(text, "70.0 ms in 7 samples"));
    cr_expect_not_null(strstr(text, "2023-11-14 22:13:20 UTC"));
    cr_expect_not_null(strstr(text, "9, of which 77.8 % became samples"));
    cr_expect_not_null(strstr(text, "2 (22.2 %) signals on a thread without a record"));
    cr_expect_not_null(strstr(err_text, "1 of 7 samples have no stack"));
    cr_expect_not_null(strstr(CONVERTED("x.html", "-q"), "<h1>CPU profile</h1>"));
    cr_expect_str_eq(err_text, "");
}

Test(cli, a_recording_alone_is_answered_with_how_to_see_it)
{
    char wanted[512];
    const char *name = in_directory("7.jfr");

    save_usual();
    cr_assert_eq(rename(path, name), 0);
    cr_expect_eq(RUN(name), CLI_USAGE);
    snprintf(wanted, sizeof wanted, "jaywalk convert %s flamegraph.html", name);
    cr_expect_not_null(strstr(err_text, wanted), "%s", err_text);
    cr_assert_eq(unlink(name), 0);
    cr_expect_eq(RUN(name), CLI_USAGE);
    cr_expect_null(strstr(err_text, "jaywalk convert"), "%s", err_text);
}

Test(cli, standard_output_is_named_by_a_dash)
{
    save_usual();
    cr_expect_eq(RUN("convert", "--quiet", "--format=collapsed", "-I", "*bar", path, "-"), CLI_OK);
    cr_expect_str_eq(out_text, "com/acme/Main.main;Foo::bar 2\n");
}

Test(cli, two_recordings_in_one_file_add_up)
{
    maker_usual_chunk(&maker, 1);
    maker_usual_chunk(&maker, 2000000001);
    cr_assert(maker_save(&maker, path));
    const char *text = CONVERTED("x.txt", "-q");
    cr_expect_not_null(strstr(text, "140 ms in 14 samples"));
    cr_expect_not_null(strstr(text, "Length    3.00 s"));
}

Test(cli, samples_without_a_weight_among_weighted_ones_make_all_count_as_one)
{
    maker_usual_chunk(&maker, 1);
    maker_begin_chunk(&maker);
    maker_sample(&maker, 1, 0, 0, 0, 0);
    maker_metadata(&maker);
    maker_end_chunk(&maker, 2);
    cr_assert(maker_save(&maker, path));
    cr_expect_not_null(strstr(CONVERTED("x.txt", "--flat=3"), "Total     8 samples"));
    cr_expect_not_null(strstr(err_text, "all count as one"));
}

Test(cli, an_event_that_is_not_there_is_told_with_those_that_are)
{
    save_usual();
    cr_expect_neq(CONVERTED("x.collapsed", "--event=jdk.ExecutionSample")[0], '\0');
    cr_expect_eq(RUN("convert", "--event=wall", path, in_directory("x.collapsed")), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "no samples of 'wall'; it has stacks of jdk.Execution"));
    slurp(in_directory("x.collapsed"), out_text, sizeof out_text);
    cr_expect_neq(out_text[0], '\0', "the old output is gone");
    cr_expect_eq(RUN("convert", "-q", "-e", "nope", path, in_directory("y.html")), CLI_FAILED);
    cr_expect_neq(access(in_directory("y.html"), F_OK), 0);
}

/* Of files, of events in a recording, of processes: words of others stand in complaints, too. */
Test(cli, s17_a_complaint_shows_what_a_terminal_would_obey)
{
    const char *hostile = "/no/\x1b]0;owned\x07\x9b"
                          "2J\xc2\x9b.jfr";

    cr_expect_eq(RUN("convert", hostile, in_directory("x.html")), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "/no/\\x1b]0;owned\\x07\\x9b2J\\xc2\\x9b.jfr"), "%s",
                       err_text);
    cr_expect_null(strpbrk(err_text, "\x1b\x07\x9b"), "%s", err_text);
    save_usual();
    cr_expect_eq(RUN("convert", "-e", "\x1b[2J", path, in_directory("x.html")), CLI_FAILED);
    cr_expect_null(strchr(err_text, '\x1b'), "%s", err_text);
}

Test(cli, filters_that_leave_nothing_are_named)
{
    save_usual();
    cr_expect_not_null(strstr(CONVERTED("x.html", "-I", "zzzz", "-X", "Q"), "\"filtered\":7,"));
    cr_expect_not_null(strstr(err_text, "the filters left nothing of 7 samples of 'cpu': "
                                        "--include='zzzz' --exclude='Q'"),
                       "%s", err_text);
    cr_expect_not_null(strstr(CONVERTED("x.txt", "-s", "parked"), "filters left nothing of 7."));
    cr_expect_not_null(strstr(err_text, "--state='parked'"), "%s", err_text);
    cr_expect_null(strstr(CONVERTED("x.txt", "-s", "STATE_RUN"), "No samples"));
}

Test(cli, patterns_that_match_no_frame_are_told_with_what_they_may_lack)
{
    save_usual();
    CONVERTED("x.html", "-X", "Foo", "-X", "com/acme/.*x", "-X", "/^zz/", "-X", "zz*");
    cr_expect_not_null(strstr(err_text, "no frame is matched by --exclude='Foo'; a part of a name "
                                        "stands between stars\n"),
                       "%s", err_text);
    cr_expect_not_null(strstr(err_text, "--exclude='com/acme/.*x'; a regular expression stands "
                                        "between slashes: '/com/acme/.*x/'\n"),
                       "%s", err_text);
    cr_expect_not_null(strstr(err_text, "--exclude='/^zz/'\n"), "%s", err_text);
    cr_expect_not_null(strstr(err_text, "--exclude='zz*'\n"), "%s", err_text);
    CONVERTED("x.html", "-I", "com/acme/*", "-I", "/^Foo/");
    cr_expect_null(strstr(err_text, "matched"), "%s", err_text);
}

Test(cli, formats_are_named_as_the_agent_names_them)
{
    save_usual();
    cr_expect_not_null(strstr(CONVERTED("a", "-o", "flat=2"), "\nHottest methods, by self (2 of"));
    cr_expect_null(strstr(out_text, "Hottest stacks"));
    cr_expect_not_null(strstr(CONVERTED("b.html", "-o", "traces"), "\nHottest stacks ("));
    cr_expect_not_null(strstr(CONVERTED("c", "--output=flamegraph"), "<h1>CPU profile</h1>"));
    cr_expect_not_null(strstr(CONVERTED("d.txt", "-s", "runnable", "-l", "-a", "--simple", "-n"),
                              "  [ 1] Main.main_["));
}

Test(cli, a_state_that_nobody_knows_is_refused_with_those_known)
{
    save_usual();
    cr_expect_eq(RUN("convert", "-s", "bogus", path, in_directory("x.html")), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "'bogus' is no state of a thread; there are running, sl"));
    cr_expect_neq(access(in_directory("x.html"), F_OK), 0);
}

Test(cli, help_of_the_agent_string_is_there_too)
{
    cr_expect_eq(RUN("help", "agent"), CLI_OK);
    cr_expect_not_null(strstr(out_text, "start,event=cpu,interval=10ms,file=profile.jfr"));
    cr_expect_not_null(strstr(out_text, "\n  include=PATTERN "));
    cr_expect_eq(RUN("help", "agnt"), CLI_USAGE);
}

Test(cli, what_cannot_be_read_or_written_fails_and_leaves_no_file)
{
    cr_expect_eq(RUN("convert", "/nonexistent.jfr", in_directory("x.html")), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "cannot be opened"));
    cr_expect_neq(access(in_directory("x.html"), F_OK), 0);
    save_usual();
    cr_expect_eq(RUN("convert", path, "/nonexistent/x.html"), CLI_FAILED);
    cr_expect_eq(mkdir(in_directory("dir.html"), 0700), 0);
    cr_expect_eq(RUN("convert", path, in_directory("dir.html")), CLI_FAILED);
    cr_expect_eq(RUN("convert", "--format=text", path, path), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "the recording itself"));
}

Test(cli, a_failed_conversion_leaves_the_old_output_as_it_was)
{
    save_usual();
    CONVERTED("x.collapsed", "-q");
    maker.used_bytes /= 2;
    unlink(path);
    cr_assert(maker_save(&maker, path));
    cr_expect_eq(RUN("convert", path, in_directory("x.collapsed")), CLI_FAILED);
    slurp(in_directory("x.collapsed"), out_text, sizeof out_text);
    cr_expect_neq(out_text[0], '\0');
}

Test(cli, a_torn_tail_is_converted_with_a_remark)
{
    maker_usual_chunk(&maker, 1);
    const size_t whole_bytes = maker.used_bytes;
    maker_usual_chunk(&maker, 2);
    maker.used_bytes = whole_bytes + 300;
    cr_assert(maker_save(&maker, path));
    CONVERTED("x.collapsed", "--sig");
    cr_expect_not_null(strstr(err_text, "the last 300 of"), "%s", err_text);
    cr_expect_not_null(strstr(out_text, "Foo::bar 2"));
}

Test(cli, words_behind_two_dashes_are_no_options)
{
    cr_expect_eq(RUN("convert", "--", "--threads", "b.html"), CLI_FAILED);
    cr_expect_not_null(strstr(err_text, "--threads: cannot be opened"));
}

Test(cli, every_allocation_may_fail)
{
    save_usual();
    for (uint64_t nth = 1;; nth++) {
        jw_alloc_fail_after(nth);
        const int status = RUN("convert", "-q", "--threads", path, in_directory("x.html"));
        jw_alloc_fail_after(0);
        if (status == CLI_OK && err_text[0] == '\0')
            break;
        cr_expect_eq(status, CLI_FAILED);
        cr_assert_lt(nth, 500);
    }
}

Test(cli, a_recording_is_packed_and_unpacked_byte_for_byte)
{
    const char *packed = in_directory("x.jfr.zst");
    const char *unpacked = in_directory("y.jfr");
    static char whole[64 << 10], again[64 << 10], text[sizeof out_text];

    save_usual();
    if (!jfr_can_pack()) {
        cr_expect_eq(RUN("convert", path, packed), CLI_FAILED);
        cr_expect_not_null(strstr(err_text, "built without zstd"), "%s", err_text);
        return;
    }
    maker_usual_chunk(&maker, 1700000001000000000);
    unlink(path);
    cr_assert(maker_save(&maker, path));
    cr_expect_eq(RUN("convert", path, packed), CLI_OK);
    cr_expect_str_eq(err_text, "");
    cr_expect_eq(RUN("convert", packed, unpacked), CLI_OK);
    slurp(path, whole, sizeof whole);
    slurp(unpacked, again, sizeof again);
    cr_expect_arr_eq(whole, again, sizeof whole);

    cr_expect_eq(RUN("convert", "-o", "text", path, "-"), CLI_OK);
    strcpy(text, out_text);
    cr_expect_eq(RUN("convert", "-o", "text", packed, "-"), CLI_OK);
    cr_expect_str_eq(out_text, text);

    cr_expect_eq(RUN("convert", "--threads", path, packed), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "as it is"), "%s", err_text);
    cr_expect_eq(RUN("convert", "--latency=1ms", path, packed), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "as it is"), "%s", err_text);
    cr_expect_eq(RUN("convert", packed, packed), CLI_USAGE);
    cr_expect_eq(RUN(packed), CLI_USAGE);
    cr_expect_not_null(strstr(err_text, "is a recording"), "%s", err_text);
    cr_expect_eq(truncate(path, (off_t)maker.used_bytes - 9), 0);
    cr_expect_eq(RUN("convert", path, unpacked), CLI_OK);
    cr_expect_not_null(strstr(err_text, "are left out"), "%s", err_text);
}

Test(cli, as_many_options_as_there_is_room_for)
{
    const char *words[2 * CLI_LIST_LIMIT + 3] = {"endpoints"};
    size_t count = 1;

    for (size_t i = 0; i < CLI_LIST_LIMIT; i++) {
        words[count++] = "-I";
        words[count++] = "*run*";
    }
    words[count] = "none.jfr";
    /* The command adds one of its own. */
    cr_expect_neq(run(words), CLI_OK);
    cr_expect_not_null(strstr(err_text, "include"), "%s", err_text);
}
