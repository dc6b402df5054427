/* convert -o jsonl and -o csv: each event as it stands in the recording, and nothing that a program could take for another. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jw.h"
#include "cli/cli.h"
#include "support/lines_check.h"
#include "support/recording_maker.h"
#include "unit/cli/run_cli.h"

#define START_NS 1700000000000000000ull /* 2023-11-14T22:13:20Z */
#define SECOND   1000000000ull

static struct maker maker;
static char path[192], out_path[192];

static void make_directory(void)
{
    strcpy(directory, "/tmp/jaywalk-events-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/in.jfr", directory);
    snprintf(out_path, sizeof out_path, "%s/out.jsonl", directory);
}

static void remove_directory(void)
{
    char command[256];

    jw_alloc_fail_after(0);
    maker_close(&maker);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_events, .init = make_directory, .fini = remove_directory, .timeout = 1800);

static void save(void)
{
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fwrite(maker.bytes, 1, maker.used_bytes, file) == maker.used_bytes &&
              fclose(file) == 0);
}

static void usual(void)
{
    maker_usual_chunk(&maker, START_NS);
    save();
}

static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        found++;
    return found;
}

#define MAIN "{\"osName\":\"main\",\"osThreadId\":101,\"javaName\":\"main\",\"javaThreadId\":1}"

Test(cli_events, each_event_is_a_line_by_the_metadata_of_the_file)
{
    usual();
    cr_assert_eq(RUN("convert", "-o", "jsonl", path, "-"), 0);
    cr_assert_str_eq(err_text, "");
    cr_assert_eq(json_lines(out_text), 8);
    cr_assert_eq(strstr(out_text,
                        "{\"type\":\"jdk.ExecutionSample\",\"values\":{\"startTime\":"
                        "\"2023-11-14T22:13:20.000000000Z\",\"sampledThread\":" MAIN
                        ",\"stackTrace\":{\"truncated\":false,\"frames\":["
                        "{\"class\":\"com/acme/Work\",\"method\":\"run\",\"descriptor\":\"()V\","
                        "\"lineNumber\":12,\"bytecodeIndex\":3,\"type\":\"JIT compiled\"},"
                        "{\"class\":\"com/acme/Main\",\"method\":\"main\",\"descriptor\":\"()V\","
                        "\"lineNumber\":7,\"bytecodeIndex\":0,\"type\":\"Interpreted\"}]},"
                        "\"state\":\"STATE_RUNNABLE\",\"weight\":10000000}}\n"),
                 out_text, "%s", out_text);
    cr_assert_eq(count(out_text, "\"stackTrace\":null"), 1);
    cr_assert_eq(count(out_text, "\"truncated\":true"), 1);
    cr_assert_eq(count(out_text, "{\"type\":\"jaywalk.Diagnostics\",\"values\":{\"startTime\":"
                                 "\"2023-11-14T22:13:20.000000030Z\",\"signals\":9,\"samples\":7,"
                                 "\"lostNoThread\":2}}\n"),
                 1);
}

Test(cli_events, moments_are_iso_or_numbers_of_unix_time)
{
    usual();
    cr_assert_eq(RUN("convert", "-o", "jsonl", "--times", "ns", path, "-"), 0);
    cr_assert_eq(count(out_text, "\"startTime\":1700000000000000021,"), 1);
    cr_assert_eq(RUN("convert", "-o", "jsonl", "--times=ms", path, "-"), 0);
    cr_assert_eq(count(out_text, "\"startTime\":1700000000000,"), 8);
    cr_assert_eq(RUN("convert", "-o", "csv", "--times=ns", path, "-"), 0);
    cr_assert_eq(count(out_text, ",1700000000000000021,"), 1);
    cr_assert_eq(RUN("convert", "-o", "jsonl", "--times", "us", path, "-"), 2);
    cr_assert_not_null(strstr(err_text, "--times: 'us' is none of iso, ms, ns"), "%s", err_text);
    cr_assert_eq(RUN("convert", "--times", "ms", path, out_path, "-o", "text"), 2);
    cr_assert_not_null(strstr(err_text, "add -o jsonl or -o csv"), "%s", err_text);
}

Test(cli_events, endings_of_outputs_name_the_formats)
{
    char other[192];

    usual();
    cr_assert_eq(RUN("convert", path, out_path), 0);
    slurp(out_path, out_text, sizeof out_text);
    cr_assert_eq(json_lines(out_text), 8);
    snprintf(other, sizeof other, "%s/out.csv", directory);
    cr_assert_eq(RUN("convert", path, other), 0);
    slurp(other, out_text, sizeof out_text);
    cr_assert_eq(csv_rows(out_text), 9);
}

/* Fields of all kinds, whose annotations say what they are. */
static const char *const kinds[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=float id=14",
    "    class name=double id=15",
    "    class name=byte id=16",
    "    class name=char id=18",
    "    class name=jdk.jfr.Timestamp id=30",
    "    class name=jdk.jfr.Timespan id=31",
    "    class name=jdk.jfr.Unsigned id=32",
    "    class name=test.Node id=40",
    "      field name=name class=12",
    "      field name=parent class=40 constantPool=true",
    "    class name=test.List id=41 simpleType=true",
    "      field name=lists class=41 dimension=1 constantPool=true",
    "    class name=test.Kinds id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "        annotation class=30 value=TICKS",
    "      field name=duration class=10",
    "        annotation class=31 value=TICKS",
    "      field name=atMs class=10",
    "        annotation class=30 value=MILLISECONDS_SINCE_EPOCH",
    "      field name=spanMs class=10",
    "        annotation class=31 value=MILLISECONDS",
    "      field name=never class=10",
    "        annotation class=31 value=NANOSECONDS",
    "      field name=bytes class=10",
    "        annotation class=32",
    "      field name=small class=16",
    "        annotation class=32",
    "      field name=minus class=11",
    "      field name=half class=14",
    "      field name=tenth class=15",
    "      field name=nothing class=15",
    "      field name=letter class=18",
    "      field name=node class=40 constantPool=true",
    "      field name=missing class=40 constantPool=true",
    "      field name=text class=12",
    "    class name=test.Lists id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=list class=41 constantPool=true",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

static void put_real(uint64_t bits, unsigned count_bytes)
{
    for (unsigned i = count_bytes; i-- > 0;)
        maker_byte(&maker, (unsigned)(bits >> (8 * i)) & 0xff);
}

/* An event of test.Kinds with this text; `cut_bytes` of it are missing. */
static void put_kinds(const char *text, size_t cut_bytes)
{
    const size_t begin = maker_begin_event(&maker, 101);

    maker_varint(&maker, 5);             /* startTime */
    maker_varint(&maker, 1500);          /* duration */
    maker_varint(&maker, 1700000000123); /* atMs */
    maker_varint(&maker, 20);            /* spanMs */
    maker_varint(&maker, INT64_MAX);     /* never */
    maker_varint(&maker, UINT64_MAX);    /* bytes */
    maker_byte(&maker, 200);             /* small */
    maker_varint(&maker, (uint32_t)-7);  /* minus */
    put_real(0x3f000000, 4);             /* half */
    put_real(0x3fb999999999999aull, 8);  /* tenth */
    put_real(0x7ff8000000000000ull, 8);  /* nothing: not a number */
    maker_varint(&maker, 0xe9);          /* letter */
    maker_varint(&maker, 1);             /* node */
    maker_varint(&maker, 77);            /* missing */
    maker_text(&maker, text);
    maker.used_bytes -= cut_bytes;
    maker_end_event(&maker, begin);
}

static void begin_kinds(void)
{
    size_t begin;

    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, kinds);
    begin = maker_begin_checkpoint(&maker, 2);
    maker_pool(&maker, 40, 2);
    maker_varint(&maker, 1); /* "leaf" of node 2, which is its own parent */
    maker_text(&maker, "leaf");
    maker_varint(&maker, 2);
    maker_varint(&maker, 2);
    maker_text(&maker, "round");
    maker_varint(&maker, 2);
    maker_pool(&maker, 41, 1);
    maker_varint(&maker, 1); /* a list of 30 times itself */
    maker_varint(&maker, 30);
    for (int i = 0; i < 30; i++)
        maker_varint(&maker, 1);
    maker_end_event(&maker, begin);
}

static void kinds_with(const char *text, size_t cut_bytes)
{
    begin_kinds();
    put_kinds(text, cut_bytes);
    maker_end_chunk(&maker, START_NS);
    save();
}

Test(cli_events, numbers_are_what_their_annotations_say)
{
    kinds_with("plain", 0);
    cr_assert_eq(RUN("convert", "-o", "jsonl", path, "-"), 0);
    cr_assert_str_eq(
        out_text,
        "{\"type\":\"test.Kinds\",\"values\":{\"startTime\":\"2023-11-14T22:13:20.000000005Z\","
        "\"duration\":1500,\"atMs\":\"2023-11-14T22:13:20.123000000Z\",\"spanMs\":20000000,"
        "\"never\":null,\"bytes\":18446744073709551615,\"small\":200,\"minus\":-7,\"half\":0.5,"
        "\"tenth\":0.10000000000000001,\"nothing\":null,\"letter\":\"\\u00e9\","
        "\"node\":{\"name\":\"leaf\",\"parent\":\"round\"},\"missing\":null,\"text\":\"plain\"}}"
        "\n");
    cr_assert_not_null(strstr(err_text, "1 references lead to nothing"), "%s", err_text);
}

Test(cli_events, s17_no_text_ends_its_string_its_line_or_its_cell)
{
    kinds_with("=\"a\"\\\n\x1b[31m\x7f\xc2\x85\xe2\x80\xae\xe2\x80\xa8</script>\xc3\xa9", 0);
    cr_assert_eq(RUN("convert", "-o", "jsonl", path, "-"), 0);
    cr_assert_eq(json_lines(out_text), 1);
    cr_assert_not_null(
        strstr(out_text, "\"=\\u0022a\\u0022\\u005c\\u000a\\u001b[31m\\u007f\\u0085\\u202e\\u2028"
                         "</script>\xc3\xa9\""),
        "%s", out_text);
    cr_assert_eq(RUN("convert", "-o", "csv", "-e", "test.Kinds", path, "-"), 0);
    cr_assert_eq(csv_rows(out_text), 2);
    cr_assert_not_null(strstr(out_text, "\"'=\"\"a\"\"\\ "), "%s", out_text);
    cr_assert_eq(RUN("convert", "-o", "csv", path, "-"), 0);
    cr_assert_eq(csv_rows(out_text), 2);
}

Test(cli_events, csv_of_one_event_has_a_column_for_each_field_of_all_chunks)
{
    static const char *const more[] = {
        "root",
        "  metadata",
        "    class name=long id=10",
        "    class name=java.lang.String id=12",
        "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
        "      field name=startTime class=10",
        "      field name=tenant class=12",
        "  region locale=en_US gmtOffset=0",
        NULL,
    };
    size_t begin;

    maker_usual_chunk(&maker, START_NS);
    maker_begin_chunk(&maker);
    maker_metadata_from(&maker, more);
    begin = maker_begin_event(&maker, 101);
    maker_varint(&maker, 1);
    maker_text(&maker, "acme, \"inc\"");
    maker_end_event(&maker, begin);
    maker_end_chunk(&maker, START_NS + SECOND);
    save();
    cr_assert_eq(RUN("convert", "-o", "csv", "-e", "jdk.ExecutionSample", path, "-"), 0);
    cr_assert_eq(csv_rows(out_text), 9);
    cr_assert_eq(strstr(out_text,
                        "type,\"startTime\",\"sampledThread\",\"stackTrace\",\"state\",\"weight\","
                        "\"tenant\"\r\n\"jdk.ExecutionSample\",2023-11-14T22:13:20.000000000Z,"
                        "\"main\",\"com/acme/Main.main:7;com/acme/Work.run:12\","
                        "\"STATE_RUNNABLE\",10000000,\r\n"),
                 out_text, "%s", out_text);
    cr_assert_not_null(
        strstr(out_text, "2023-11-14T22:13:21.000000001Z,,,,,\"acme, \"\"inc\"\"\"\r\n"));
    cr_assert_eq(count(out_text, "\"worker; 2\""), 2);
}

Test(cli_events, csv_of_all_events_has_their_other_fields_as_json)
{
    usual();
    cr_assert_eq(RUN("convert", "-o", "csv", path, "-"), 0);
    cr_assert_eq(csv_rows(out_text), 9);
    cr_assert_eq(strstr(out_text, "type,startTime,duration,eventThread,stackTrace,values\r\n"),
                 out_text);
    cr_assert_not_null(strstr(out_text,
                              "\"com/acme/Main.main:8;libx.so.Foo::bar\",\"{\"\"state\"\":"
                              "\"\"STATE_RUNNABLE\"\",\"\"weight\"\":10000000}\"\r\n"),
                       "%s", out_text);
    cr_assert_not_null(strstr(
        out_text, ",,,,\"{\"\"signals\"\":9,\"\"samples\"\":7,\"\"lostNoThread\"\":2}\"\r\n"));
}

Test(cli_events, filters_let_in_the_events_that_a_conversion_would_count)
{
    static const struct {
        const char *option;
        unsigned events;
    } rows[] = {
        {"--event=cpu", 7},
        {"--event=jaywalk.Diagnostics", 1},
        {"--thread=worker*", 2},
        {"--state=sleeping", 1},
        {"--include=*Work*", 4},
        {"--exclude=*Work*", 4},
        {"--include=com.acme.Work.run", 4},
        {"--exclude=/main$/", 3},
        {"--from=0.5s", 0},
        {"--to=0.5s", 8},
        {"--include=Foo::bar", 2},
    };

    usual();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(RUN("convert", "-o", "jsonl", rows[i].option, path, "-"), 0, "%s: %s",
                     rows[i].option, err_text);
        cr_assert_eq(json_lines(out_text), rows[i].events, "%s: %s", rows[i].option, out_text);
        cr_assert_eq(RUN("convert", "-o", "csv", rows[i].option, path, "-"), 0);
        cr_assert_eq(csv_rows(out_text), rows[i].events + 1, "%s: %s", rows[i].option, out_text);
    }
    cr_assert_eq(RUN("convert", "-o", "jsonl", "--include=NoSuch", path, "-"), 0);
    cr_assert_not_null(strstr(err_text, "the filters left nothing of 8 events: --include='NoSuch'"),
                       "%s", err_text);
    cr_assert_not_null(strstr(err_text, "no frame is matched by --include='NoSuch'"));
}

Test(cli_events, what_has_no_sense_is_refused_and_nothing_is_written)
{
    static const char *const looks[] = {"--lines", "--norm",    "--simple",    "--reverse",
                                        "-i",      "--threads", "--title=x",   "--minwidth=1",
                                        "--total", "--dot",     "--by=thread", "--diff=x.jfr"};

    usual();
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        cr_assert_eq(RUN("convert", "-o", "jsonl", looks[i], path, out_path), 2, "%s", looks[i]);
        cr_assert_not_null(strstr(err_text, "as they stand"), "%s", err_text);
    }
    cr_assert_eq(RUN("convert", "-e", "jdk.Nothing", path, out_path), 1);
    cr_assert_not_null(strstr(err_text, "has no events of 'jdk.Nothing'"), "%s", err_text);
    cr_assert_eq(RUN("convert", "-s", "walking", path, out_path), 1);
    cr_assert_not_null(strstr(err_text, "'walking' is no state"), "%s", err_text);
    cr_assert_eq(RUN("convert", "--endpoint=x", path, out_path), 1);
    cr_assert_eq(RUN("convert", "-o", "jsonl", path, path), 2);
    cr_assert_eq(RUN("convert", "-o", "jsonl", "--include=/(/", path, out_path), 2);
    cr_assert_neq(access(out_path, F_OK), 0);
}

Test(cli_events, an_event_that_is_cut_is_an_error_and_no_file)
{
    kinds_with("plain", 3);
    cr_assert_eq(RUN("convert", path, out_path), 1);
    cr_assert_not_null(strstr(err_text, "damaged at byte"), "%s", err_text);
    cr_assert_not_null(strstr(err_text, "ends before its fields do"), "%s", err_text);
    cr_assert_neq(access(out_path, F_OK), 0);
    cr_assert_eq(RUN("convert", "-o", "csv", path, out_path), 1);
    cr_assert_neq(access(out_path, F_OK), 0);
}

Test(cli_events, s18_what_would_unfold_for_ever_is_refused)
{
    size_t begin;

    begin_kinds();
    begin = maker_begin_event(&maker, 102);
    maker_varint(&maker, 1);
    maker_varint(&maker, 1);
    maker_end_event(&maker, begin);
    maker_end_chunk(&maker, START_NS);
    save();
    cr_assert_eq(RUN("convert", path, out_path), 1);
    cr_assert_not_null(strstr(err_text, "leads to more than a million values"), "%s", err_text);
    cr_assert_neq(access(out_path, F_OK), 0);
}

Test(cli_events, whichever_allocation_fails_it_says_so_and_leaves_nothing)
{
    static const char *const formats[] = {"jsonl", "csv"};
    char whole[20000];

    usual();
    for (size_t f = 0; f < 2; f++) {
        int status = 1;

        cr_assert_eq(RUN("convert", "-q", "-o", formats[f], "--exclude=x", "-e", "cpu", path, "-"),
                     0);
        cr_assert_lt(strlen(out_text), sizeof whole);
        strcpy(whole, out_text);
        for (unsigned nth = 1; status != 0; nth++) {
            cr_assert_lt(nth, 1000u);
            jw_alloc_fail_after(nth);
            status =
                RUN("convert", "-q", "-o", formats[f], "--exclude=x", "-e", "cpu", path, out_path);
            jw_alloc_fail_after(0);
            if (status != 0)
                cr_assert(err_text[0] != '\0' && access(out_path, F_OK) != 0, "%u: %s", nth,
                          err_text);
        }
        slurp(out_path, out_text, sizeof out_text);
        cr_assert_str_eq(out_text, whole);
        unlink(out_path);
    }
}
