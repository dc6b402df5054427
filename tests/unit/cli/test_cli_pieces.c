/*
 * One chunk that several threads read in pieces: the same bytes come out as by one thread, where what an event means hangs on those before it
 * (settings, the last counter, who was asked to stop), of few events and many, plain and packed, whole and damaged. Prints its seeds.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jw.h"
#include "run_cli.h"
#include "support/recording_maker.h"

enum {
    VALUE = 31,
    SAMPLE = 101,
    SETTING = 103,
    PARK = 104,
    SAFEPOINT = 105,
    POLL = 106,
    COUNTER = 107,
    DIAGNOSTICS = 108,
    WALL = 109,
    OTHER = 110,
};

#define COMMON_ROWS                                                                                \
    "root", "  metadata", "    class name=long id=10", "    class name=int id=11",                 \
        "    class name=java.lang.String id=12", "    class name=boolean id=13",                   \
        "    class name=java.lang.Thread id=20", "      field name=osName class=12",               \
        "      field name=osThreadId class=10", "      field name=javaName class=12",              \
        "      field name=javaThreadId class=10", "    class name=jdk.types.StackTrace id=21",     \
        "      field name=truncated class=13", "      field name=frames class=22 dimension=1",     \
        "    class name=jdk.types.StackFrame id=22",                                               \
        "      field name=method class=24 constantPool=true",                                      \
        "      field name=lineNumber class=11", "      field name=bytecodeIndex class=11",         \
        "      field name=type class=23 constantPool=true", MAKER_NAME_ROWS,                       \
        "    class name=jdk.types.ThreadState id=27 simpleType=true",                              \
        "      field name=name class=12",                                                          \
        "    class name=jaywalk.types.AttributeValue id=31 simpleType=true",                       \
        "      field name=value class=12", "    class name=jdk.jfr.Timespan id=33",                \
        "    class name=jaywalk.Attribute id=41 superType=java.lang.annotation.Annotation",        \
        "    class name=jdk.ActiveSetting id=103 superType=jdk.jfr.Event",                         \
        "      field name=startTime class=10", "      field name=name class=12",                   \
        "      field name=value class=12",                                                         \
        "    class name=jdk.ThreadPark id=104 superType=jdk.jfr.Event",                            \
        "      field name=startTime class=10", "      field name=duration class=10",               \
        "        annotation class=33 value=TICKS",                                                 \
        "      field name=eventThread class=20 constantPool=true",                                 \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "    class name=jaywalk.SafepointSample id=105 superType=jdk.jfr.Event",                   \
        "      field name=startTime class=10",                                                     \
        "      field name=sampledThread class=20 constantPool=true",                               \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "    class name=jaywalk.PollSample id=106 superType=jdk.jfr.Event",                        \
        "      field name=startTime class=10",                                                     \
        "      field name=sampledThread class=20 constantPool=true",                               \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "      field name=reason class=12",                                                        \
        "    class name=jaywalk.CounterSample id=107 superType=jdk.jfr.Event",                     \
        "      field name=startTime class=10",                                                     \
        "      field name=sampledThread class=20 constantPool=true",                               \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "      field name=counter class=12", "      field name=count class=10",                    \
        "    class name=jaywalk.Diagnostics id=108 superType=jdk.jfr.Event",                       \
        "      field name=startTime class=10", "      field name=signals class=10",                \
        "      field name=samples class=10", "      field name=lostNoThread class=10",             \
        "    class name=profiler.WallClockSample id=109 superType=jdk.jfr.Event",                  \
        "      field name=startTime class=10",                                                     \
        "      field name=sampledThread class=20 constantPool=true",                               \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "      field name=state class=27 constantPool=true", "      field name=samples class=11",  \
        "    class name=test.Other id=110 superType=jdk.jfr.Event",                                \
        "      field name=startTime class=10",                                                     \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",                       \
        "      field name=startTime class=10",                                                     \
        "      field name=sampledThread class=20 constantPool=true",                               \
        "      field name=stackTrace class=21 constantPool=true",                                  \
        "      field name=state class=27 constantPool=true", "      field name=spanId class=10",   \
        "      field name=localRootSpanId class=10"

#define ATTRIBUTE_ROW(name)                                                                        \
    "      field name=" name " class=31 constantPool=true", "        annotation class=41"

static const char *const few_rows[] = {COMMON_ROWS, ATTRIBUTE_ROW("tenant"), ATTRIBUTE_ROW("shop"),
                                       "  region locale=en_US gmtOffset=0", NULL};

/* More attributes than there are columns: which are left out depends on all samples before. */
static const char *const many_rows[] = {COMMON_ROWS,
                                        ATTRIBUTE_ROW("a0"),
                                        ATTRIBUTE_ROW("a1"),
                                        ATTRIBUTE_ROW("a2"),
                                        ATTRIBUTE_ROW("a3"),
                                        ATTRIBUTE_ROW("a4"),
                                        ATTRIBUTE_ROW("a5"),
                                        ATTRIBUTE_ROW("a6"),
                                        ATTRIBUTE_ROW("a7"),
                                        ATTRIBUTE_ROW("a8"),
                                        ATTRIBUTE_ROW("a9"),
                                        ATTRIBUTE_ROW("b0"),
                                        ATTRIBUTE_ROW("b1"),
                                        ATTRIBUTE_ROW("b2"),
                                        ATTRIBUTE_ROW("b3"),
                                        ATTRIBUTE_ROW("b4"),
                                        "  region locale=en_US gmtOffset=0",
                                        NULL};
#define MANY 15u

#define TEXTS 9u

static struct maker maker;
static char path[64];
static char packed_path[80];
static char *expected;
static char expected_err[sizeof err_text];

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/jaywalk-pieces-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    snprintf(packed_path, sizeof packed_path, "%s/packed.jfr.zst", directory);
}

static void end(void)
{
    char command[100];

    maker_close(&maker);
    free(expected);
    if (path[0] != '\0')
        unlink(path);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_pieces, .init = begin, .fini = end, .timeout = 1800);

static uint64_t any(uint64_t count)
{
    return (uint64_t)random() % count;
}

static void put_setting(uint64_t ticks, const char *name, const char *value)
{
    const size_t at = maker_begin_event(&maker, SETTING);

    maker_varint(&maker, ticks);
    maker_text(&maker, name);
    maker_text(&maker, value);
    maker_end_event(&maker, at);
}

static void put_any_setting(uint64_t ticks)
{
    static const char *const settings[][2] = {
        {"event", "wall"}, {"event", "cpu"},        {"wall", "20000000"},     {"wall", "0"},
        {"title", "one"},  {"interval", "7000000"}, {"event", "page-faults"}, {"title", "two"}};
    const size_t number = any(JW_COUNT_OF(settings));

    put_setting(ticks, settings[number][0], settings[number][1]);
}

static void put_sample(uint64_t ticks, unsigned attributes)
{
    const size_t at = maker_begin_event(&maker, SAMPLE);

    MAKER_PUT(&maker, ticks, 1 + any(2), any(4));
    MAKER_PUT(&maker, 1 + any(2), any(3), any(3));
    for (unsigned i = 0; i < attributes; i++)
        maker_varint(&maker, any(3) == 0 ? 1 + any(TEXTS) : 0);
    maker_end_event(&maker, at);
}

static void put_asked(uint64_t ticks)
{
    static const char *const reasons[] = {"handshake", "stack watermark", "something"};
    const uint64_t type = any(2) == 0 ? SAFEPOINT : POLL;
    const size_t at = maker_begin_event(&maker, type);

    MAKER_PUT(&maker, ticks, 1 + any(2), 1);
    if (type == POLL)
        maker_text(&maker, reasons[any(JW_COUNT_OF(reasons))]);
    maker_end_event(&maker, at);
}

static void put_counter(uint64_t ticks)
{
    static const char *const names[] = {"page-faults", "context-switches", "com.acme.Work.run"};
    const size_t at = maker_begin_event(&maker, COUNTER);

    MAKER_PUT(&maker, ticks, 1 + any(2), any(4));
    maker_text(&maker, names[any(JW_COUNT_OF(names))]);
    maker_varint(&maker, 1 + any(9));
    maker_end_event(&maker, at);
}

static void put_any_event(uint64_t ticks, unsigned attributes)
{
    switch (any(20)) {
    case 0:
        if (any(8) == 0)
            put_any_setting(ticks);
        break;
    case 1:
    case 2:
        put_asked(ticks);
        break;
    case 3:
    case 4:
        put_counter(ticks);
        break;
    case 5:
        MAKER_EVENT(&maker, PARK, ticks, any(5000000), 1 + any(2), any(4));
        break;
    case 6:
        MAKER_EVENT(&maker, WALL, ticks, 1 + any(2), any(4), 1 + any(2), any(9));
        break;
    case 7:
        MAKER_EVENT(&maker, OTHER, ticks, any(4));
        break;
    case 8:
        if (any(10) == 0)
            MAKER_EVENT(&maker, DIAGNOSTICS, ticks, 30 + any(9), any(50), any(5));
        break;
    default:
        put_sample(ticks, attributes);
    }
}

/* Constants and metadata in the midst of the events, as some recorders have them. */
static void put_chunk(unsigned events, bool has_many)
{
    static const char *const texts[TEXTS] = {"acme",  "Globex", "umbrella",  "",      "hooli",
                                             "stark", "wayne",  "cyberdyne", "tyrell"};

    maker_begin_chunk(&maker);
    for (unsigned i = 0; i < events; i++) {
        if (i == events / 3) {
            const size_t at = maker_begin_checkpoint(&maker, 1);

            maker_text_pool(&maker, VALUE, TEXTS, texts);
            maker_end_event(&maker, at);
        }
        if (i == events / 2)
            maker_usual_pools(&maker);
        put_any_event(i * 100000, has_many ? MANY : 2);
    }
    if (events == 0)
        maker_usual_pools(&maker);
    maker_metadata_from(&maker, has_many ? many_rows : few_rows);
    maker_end_chunk(&maker, 1000);
}

static void make_recording(unsigned seed, unsigned events, bool has_many)
{
    fprintf(stderr, "seed %u, %u events\n", seed, events);
    srandom(seed);
    maker_close(&maker);
    put_chunk(events, has_many);
    if (path[0] != '\0')
        unlink(path);
    cr_assert(maker_save(&maker, path));
}

/* With one thread, and then with several: status, output and complaints are the same. */
static void compare(const char *in, const char *option, const char *value, int wanted)
{
    static const char *const jobs[] = {"1", "2", "3", "7"};

    for (size_t i = 0; i < JW_COUNT_OF(jobs); i++) {
        const int status = RUN("convert", "--jobs", jobs[i], option, value, in, "-");

        if (i == 0) {
            free(expected);
            expected = strdup(out_text);
            strcpy(expected_err, err_text);
        }
        cr_assert_eq(status, wanted, "%s %s %s: %s", option, value, jobs[i], err_text);
        cr_assert_str_eq(out_text, expected, "%s %s --jobs %s", option, value, jobs[i]);
        cr_assert_str_eq(err_text, expected_err, "%s %s --jobs %s: \"%s\", not \"%s\"", option,
                         value, jobs[i], err_text, expected_err);
    }
}

static void compare_all(const char *in, int wanted)
{
    static const char *const formats[] = {"collapsed", "text", "explorer"};
    static const char *const events[] = {"--event=wall", "--event=page-faults", "--event=lock",
                                         "--event=test.Other", "--event=com.acme.Work.run"};

    for (size_t i = 0; i < JW_COUNT_OF(formats); i++)
        compare(in, "-o", formats[i], wanted);
    for (size_t i = 0; i < JW_COUNT_OF(events); i++)
        compare(in, events[i], "--output=explorer", wanted);
    compare(in, "--threads", "--output=collapsed", wanted);
    compare(in, "--by=attribute:tenant", "--output=collapsed", wanted);
    compare(in, "--safepoint", "--output=collapsed", wanted);
    compare(in, "--thread=m*", "--output=explorer", wanted);
}

Test(cli_pieces, give_what_one_thread_gives)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        make_recording(seed, 1500, false);
        compare_all(path, CLI_OK);
        cr_assert_geq(strlen(expected), 20, "%s", expected);
    }
}

Test(cli_pieces, of_a_chunk_with_more_attributes_than_columns_there_is_one)
{
    make_recording(30, 1500, true);
    compare(path, "-o", "explorer", CLI_OK);
    cr_assert_geq(strlen(expected), 20, "%s", expected);
    compare(path, "-o", "collapsed", CLI_OK);
}

Test(cli_pieces, of_a_packed_chunk_are_read_from_where_it_was_unpacked)
{
    make_recording(5, 1500, false);
    cr_assert_eq(RUN("convert", "-q", path, packed_path), CLI_OK, "%s", err_text);
    compare_all(packed_path, CLI_OK);
}

Test(cli_pieces, may_be_fewer_than_threads)
{
    for (unsigned events = 20; events < 200; events += 30) {
        make_recording(events, events, false);
        compare(path, "-o", "explorer", CLI_OK);
    }
}

/* Whoever asks first finds it: the same place of the same chunk. */
Test(cli_pieces, of_damage_tell_as_one_thread_does)
{
    for (unsigned seed = 10; seed < 16; seed++) {
        make_recording(seed, 1500, false);
        memset(maker.bytes + 68 + any(9000), 0xff, 12);
        unlink(path);
        cr_assert(maker_save(&maker, path));
        compare(path, "-o", "collapsed",
                RUN("convert", "--jobs", "1", "-o", "collapsed", path, "-"));
    }
}

/* Whichever allocation is the first that fails, in whichever thread: all end, and the command says that memory is out, or does without. */
Test(cli_pieces, end_where_memory_does)
{
    unsigned failed = 0, done = 0;

    make_recording(40, 1500, false);
    for (uint64_t nth = 1; done < 3; nth += 1 + nth / 24) {
        jw_alloc_fail_after(nth);
        const int status = RUN("convert", "-q", "--jobs", "3", "-o", "explorer", path, "-");
        jw_alloc_fail_after(0);

        cr_assert(status == CLI_OK || status == CLI_FAILED, "%u: %d, %s", (unsigned)nth, status,
                  err_text);
        cr_assert(status == CLI_OK || err_text[0] != '\0', "%u", (unsigned)nth);
        failed += status == CLI_FAILED;
        done = status == CLI_OK ? done + 1 : 0;
    }
    cr_assert_geq(failed, 20);
}
